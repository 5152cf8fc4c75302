// RUN: loopc-opt %s -loopc-eliminate-empty-tensors | FileCheck %s

// What is inserted behind a check is computed in its place, once the check is
// in front of it: a part that is not in its result is never written.

#id = affine_map<(d0) -> (d0)>
// CHECK-LABEL: func @checked
// CHECK:         loop.check
// CHECK:         %[[PART:.*]] = tensor.extract_slice
// CHECK:         linalg.generic {{.*}} outs(%[[PART]] :
func.func @checked(%x: tensor<?xi32>, %y: tensor<?x?xi32>, %fits: i1, %n: index) -> tensor<?x?xi32> {
  %c0 = arith.constant 0 : index
  %size = tensor.dim %x, %c0 : tensor<?xi32>
  %empty = tensor.empty(%size) : tensor<?xi32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<?xi32>) outs(%empty : tensor<?xi32>) {
  ^bb0(%in: i32, %out: i32):
    %s = arith.addi %in, %in : i32
    linalg.yield %s : i32
  } -> tensor<?xi32>
  loop.check %fits, "more than {}"(%n : index)
  %all = tensor.insert_slice %r into %y[0, 3] [%size, 1] [1, 1] : tensor<?xi32> into tensor<?x?xi32>
  return %all : tensor<?x?xi32>
}

// A check that asks for what was computed stays behind it. Where it may hold the
// part to the result, that is made behind it as well.
// CHECK-LABEL: func @held_by_result
// CHECK-NOT:     tensor.extract_slice
// CHECK:         linalg.generic
// CHECK:         loop.check
// CHECK:         tensor.insert_slice
func.func @held_by_result(%x: tensor<?xindex>, %y: tensor<?x?xindex>) -> tensor<?x?xindex> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %size = tensor.dim %x, %c0 : tensor<?xindex>
  %columns = tensor.dim %y, %c1 : tensor<?x?xindex>
  %empty = tensor.empty(%size) : tensor<?xindex>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<?xindex>) outs(%empty : tensor<?xindex>) {
  ^bb0(%in: index, %out: index):
    %s = arith.addi %in, %c1 : index
    linalg.yield %s : index
  } -> tensor<?xindex>
  %least = tensor.extract %r[%c0] : tensor<?xindex>
  %fits = arith.cmpi ult, %least, %columns : index
  loop.check %fits, "{} of {}"(%least, %columns : index, index)
  %all = tensor.insert_slice %r into %y[0, 3] [%size, 1] [1, 1] : tensor<?xindex> into tensor<?x?xindex>
  return %all : tensor<?x?xindex>
}

// A check of something else is none of its business.
// CHECK-LABEL: func @other_check
// CHECK:         tensor.extract_slice
// CHECK:         linalg.generic
// CHECK:         loop.check
// CHECK:         tensor.insert_slice
func.func @other_check(%x: tensor<?xindex>, %y: tensor<?x?xindex>, %n: index) -> tensor<?x?xindex> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %size = tensor.dim %y, %c0 : tensor<?x?xindex>
  %empty = tensor.empty(%size) : tensor<?xindex>
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%empty : tensor<?xindex>) {
  ^bb0(%out: index):
    %i = linalg.index 0 : index
    linalg.yield %i : index
  } -> tensor<?xindex>
  %some = tensor.extract %x[%c1] : tensor<?xindex>
  %fits = arith.cmpi ult, %some, %n : index
  loop.check %fits, "{} of {}"(%some, %n : index, index)
  %least = tensor.extract %r[%c0] : tensor<?xindex>
  %isLess = arith.cmpi ult, %least, %n : index
  loop.check %isLess, "{} of {}"(%least, %n : index, index)
  %all = tensor.insert_slice %r into %y[0, 0] [%size, 1] [1, 1] : tensor<?xindex> into tensor<?x?xindex>
  return %all : tensor<?x?xindex>
}
