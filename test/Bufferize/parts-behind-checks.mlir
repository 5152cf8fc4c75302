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

// What a check asks for may be elements that are computed of what the size of
// the part is, or is asked in a branch that is taken if the part is too large.
// CHECK-LABEL: func @held_by_elements
// CHECK-NOT:     tensor.extract_slice
// CHECK:         loop.check
// CHECK:         tensor.insert_slice
func.func @held_by_elements(%sizes: tensor<1xindex>, %most: index, %y: tensor<?xf32>, %x: f32) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %size = tensor.extract %sizes[%c0] : tensor<1xindex>
  %empty = tensor.empty(%size) : tensor<?xf32>
  %r = linalg.fill ins(%x : f32) outs(%empty : tensor<?xf32>) -> tensor<?xf32>
  %truth = tensor.empty() : tensor<1xi1>
  %all = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%sizes : tensor<1xindex>) outs(%truth : tensor<1xi1>) {
  ^bb0(%in: index, %out: i1):
    %s = arith.cmpi ule, %in, %most : index
    linalg.yield %s : i1
  } -> tensor<1xi1>
  %fits = tensor.extract %all[%c0] : tensor<1xi1>
  loop.check %fits, "too many"
  %whole = tensor.insert_slice %r into %y[0] [%size] [1] : tensor<?xf32> into tensor<?xf32>
  return %whole : tensor<?xf32>
}

// CHECK-LABEL: func @held_in_branch
// CHECK-NOT:     tensor.extract_slice
// CHECK:         loop.check
// CHECK:         tensor.insert_slice
func.func @held_in_branch(%size: index, %y: tensor<?xf32>, %x: f32) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %false = arith.constant false
  %most = tensor.dim %y, %c0 : tensor<?xf32>
  %empty = tensor.empty(%size) : tensor<?xf32>
  %r = linalg.fill ins(%x : f32) outs(%empty : tensor<?xf32>) -> tensor<?xf32>
  %isTooLarge = arith.cmpi ugt, %size, %most : index
  scf.if %isTooLarge {
    loop.check %false, "too many"
  }
  %whole = tensor.insert_slice %r into %y[0] [%size] [1] : tensor<?xf32> into tensor<?xf32>
  return %whole : tensor<?xf32>
}

// A size that a loop counts.
// CHECK-LABEL: func @held_by_count
// CHECK:         linalg.fill
// CHECK:         loop.check
// CHECK-NOT:     tensor.extract_slice
// CHECK:         tensor.insert_slice
func.func @held_by_count(%n: index, %most: index, %y: tensor<?xindex>) -> tensor<?xindex> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %size = scf.for %i = %c0 to %n step %c1 iter_args(%k = %c0) -> index {
    %next = arith.addi %k, %c1 : index
    scf.yield %next : index
  }
  %empty = tensor.empty(%size) : tensor<?xindex>
  %r = linalg.fill ins(%most : index) outs(%empty : tensor<?xindex>) -> tensor<?xindex>
  %e = tensor.extract %r[%c0] : tensor<?xindex>
  %fits = arith.cmpi ule, %n, %most : index
  loop.check %fits, "too many, {}"(%e : index)
  %whole = tensor.insert_slice %r into %y[0] [%size] [1] : tensor<?xindex> into tensor<?xindex>
  return %whole : tensor<?xindex>
}

// What an iteration carries is counted as it is: a check of the one holds the
// other. A row of the iteration's number is in what has a row for each.
// CHECK-LABEL: func @rows
// CHECK:         loop.loop (%[[I:.*]] : index,
// CHECK:           %[[AT:.*]] = tensor.extract_slice %{{.*}}[%[[I]], 0] [1, 4] [1, 1]
// CHECK-NOT:       tensor.extract_slice
// CHECK:           loop.check
// CHECK:           tensor.insert_slice
// CHECK:           tensor.insert_slice
func.func @rows(%n: index, %x: f32, %y: tensor<8x4xf32>) -> (tensor<?x4xf32>, tensor<8x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %most = arith.maxsi %n, %c0 : index
  %all = tensor.empty(%most) : tensor<?x4xf32>
  %r:3 = loop.loop (%i : index, %c : i1) trips(%n : index)
      carried(%a = %all : tensor<?x4xf32>, %b = %y : tensor<8x4xf32>, %k = %c0 : index) {
    %e = tensor.empty() : tensor<4xf32>
    %u = linalg.fill ins(%x : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    %f = tensor.empty() : tensor<4xf32>
    %z = linalg.exp ins(%u : tensor<4xf32>) outs(%f : tensor<4xf32>) -> tensor<4xf32>
    %first = tensor.extract %z[%c0] : tensor<4xf32>
    %fits = arith.cmpi ult, %i, %c8 : index
    %is = arith.cmpf oeq, %first, %first : f32
    %both = arith.andi %fits, %is : i1
    loop.check %both, "more than eight"
    %next = tensor.insert_slice %u into %a[%i, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<?x4xf32>
    %other = tensor.insert_slice %z into %b[%k, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<8x4xf32>
    %l = arith.addi %k, %c1 : index
    loop.yield while(%c : i1) carried(%next, %other, %l : tensor<?x4xf32>, tensor<8x4xf32>, index)
  }
  return %r#0, %r#1 : tensor<?x4xf32>, tensor<8x4xf32>
}

// The part is read element by element, and written over: it is one slice.
// CHECK-LABEL: func @read_and_written
// CHECK:         %[[PART:.*]] = tensor.extract_slice
// CHECK-NOT:     tensor.extract_slice
// CHECK:         linalg.generic {{.*}} ins(%[[PART]], %{{.*}}) outs(%[[PART]] :
func.func @read_and_written(%x: tensor<64xf32>, %f: tensor<8xf32>, %at: index) -> tensor<64xf32> {
  %part = tensor.extract_slice %x[%at] [8] [1] : tensor<64xf32> to tensor<8xf32>
  %empty = tensor.empty() : tensor<8xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%part, %f : tensor<8xf32>, tensor<8xf32>) outs(%empty : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %all = tensor.insert_slice %r into %x[%at] [8] [1] : tensor<8xf32> into tensor<64xf32>
  return %all : tensor<64xf32>
}
