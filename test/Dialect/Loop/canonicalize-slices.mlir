// RUN: loopc-opt %s --canonicalize | FileCheck %s

// Slices that leave out dimensions of extent 1: which ones, their types say, and
// not always the first ones. The dialect has to be there for its patterns to be.

// CHECK-LABEL: @extract_at_constant
// CHECK: extract_slice %{{.*}}[0, 0, 1] [1, 4, 1] [1, 1, 1] : tensor<1x4x4xf32> to tensor<1x4xf32>
func.func @extract_at_constant(%x: tensor<1x4x4xf32>) -> tensor<1x4xf32> {
  %c1 = arith.constant 1 : index
  %row = tensor.extract_slice %x[0, 0, %c1] [1, 4, 1] [1, 1, 1]
      : tensor<1x4x4xf32> to tensor<1x4xf32>
  return %row : tensor<1x4xf32>
}

// CHECK-LABEL: @extract_constant_size
// CHECK: %[[ROW:.*]] = tensor.extract_slice %{{.*}}[0, 0, 1] [1, 4, 1] [1, 1, 1] : tensor<1x4x4xf32> to tensor<1x4xf32>
// CHECK: tensor.cast %[[ROW]] : tensor<1x4xf32> to tensor<1x?xf32>
func.func @extract_constant_size(%x: tensor<1x4x4xf32>) -> tensor<1x?xf32> {
  %c4 = arith.constant 4 : index
  %row = tensor.extract_slice %x[0, 0, 1] [1, %c4, 1] [1, 1, 1]
      : tensor<1x4x4xf32> to tensor<1x?xf32>
  return %row : tensor<1x?xf32>
}

// CHECK-LABEL: @extract_of_cast
// CHECK-SAME: (%[[X:.*]]: tensor<1x4x4xf32>, %[[I:.*]]: index)
// CHECK: extract_slice %[[X]][0, 0, %[[I]]] [1, 4, 1] [1, 1, 1] : tensor<1x4x4xf32> to tensor<1x4xf32>
func.func @extract_of_cast(%x: tensor<1x4x4xf32>, %i: index) -> tensor<1x4xf32> {
  %cast = tensor.cast %x : tensor<1x4x4xf32> to tensor<?x?x?xf32>
  %row = tensor.extract_slice %cast[0, 0, %i] [1, 4, 1] [1, 1, 1]
      : tensor<?x?x?xf32> to tensor<1x4xf32>
  return %row : tensor<1x4xf32>
}

// CHECK-LABEL: @insert_at_constant
// CHECK-SAME: (%[[ROW:.*]]: tensor<1x4xf32>, %[[ALL:.*]]: tensor<1x4x4xf32>)
// CHECK: insert_slice %[[ROW]] into %[[ALL]][0, 0, 1] [1, 4, 1] [1, 1, 1] : tensor<1x4xf32> into tensor<1x4x4xf32>
func.func @insert_at_constant(%row: tensor<1x4xf32>, %all: tensor<1x4x4xf32>)
    -> tensor<1x4x4xf32> {
  %c1 = arith.constant 1 : index
  %next = tensor.insert_slice %row into %all[0, 0, %c1] [1, 4, 1] [1, 1, 1]
      : tensor<1x4xf32> into tensor<1x4x4xf32>
  return %next : tensor<1x4x4xf32>
}

func.func @dialect(%same: i1) {
  loop.check %same, "not the same"
  return
}

// -----

// What fills a tensor is the tensor; a part of it, or of another one, is not.
// CHECK-LABEL: func @whole(
// CHECK-SAME: %[[X:[^:]+]]: tensor<?x4xf32>
// CHECK-NEXT: return %[[X]]
func.func @whole(%x: tensor<?x4xf32>, %n: index) -> tensor<?x4xf32> {
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %y = tensor.insert_slice %x into %e[0, 0] [%n, 4] [1, 1] : tensor<?x4xf32> into tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// CHECK-LABEL: func @part(
// CHECK: tensor.insert_slice
func.func @part(%x: tensor<?x4xf32>, %n: index, %m: index) -> tensor<?x4xf32> {
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %y = tensor.insert_slice %x into %e[0, 0] [%m, 4] [1, 1] : tensor<?x4xf32> into tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}
