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

// A check that asks for what was computed stays behind it: the part does, too.
// CHECK-LABEL: func @checked_by_result
// CHECK-NOT:     tensor.extract_slice
// CHECK:         linalg.generic
// CHECK:         loop.check
// CHECK:         tensor.insert_slice
func.func @checked_by_result(%x: tensor<?xi1>, %y: tensor<?x?xi1>, %n: index) -> tensor<?x?xi1> {
  %c0 = arith.constant 0 : index
  %size = tensor.dim %x, %c0 : tensor<?xi1>
  %empty = tensor.empty(%size) : tensor<?xi1>
  %true = arith.constant true
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<?xi1>) outs(%empty : tensor<?xi1>) {
  ^bb0(%in: i1, %out: i1):
    %s = arith.xori %in, %true : i1
    linalg.yield %s : i1
  } -> tensor<?xi1>
  %fits = tensor.extract %r[%c0] : tensor<?xi1>
  loop.check %fits, "more than {}"(%n : index)
  %all = tensor.insert_slice %r into %y[0, 3] [%size, 1] [1, 1] : tensor<?xi1> into tensor<?x?xi1>
  return %all : tensor<?x?xi1>
}
