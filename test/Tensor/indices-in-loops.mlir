// RUN: loopc-opt %s --tensor-fuse-elementwise --cse | FileCheck %s

#id = affine_map<(d0) -> (d0)>
#none = affine_map<(d0) -> ()>

// Places that are counted on from the number of the iteration: who scatters to
// them computes them, and sees that they are in the tensor.
// CHECK-LABEL: func.func @overlap_add(
// CHECK: loop.loop
// CHECK-NOT: linalg.generic
// CHECK: scf.for %[[J:.*]] = %{{.*}} to %c4 step %c1
// CHECK-NOT: select
// CHECK: %[[AT:.*]] = arith.index_cast %{{.*}} : i64 to index
// CHECK-NOT: select
// CHECK: tensor.extract %{{.*}}[%[[AT]]] : tensor<40xf32>
// CHECK: tensor.insert %{{.*}} into %{{.*}}[%[[AT]]] : tensor<40xf32>
func.func @overlap_add(%y: tensor<40xf32>, %f: f32) -> tensor<40xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c39 = arith.constant 39 : index
  %c40 = arith.constant 40 : index
  %two = arith.constant 2 : i64
  %trips = arith.constant 8 : i64
  %r = loop.loop (%i : i64, %c : i1) trips(%trips : i64) carried(%t = %y : tensor<40xf32>) {
    %begin = arith.muli %i, %two : i64
    %b = tensor.from_elements %begin : tensor<i64>
    %e = tensor.empty() : tensor<4xi64>
    %at = linalg.generic {indexing_maps = [#none, #id], iterator_types = ["parallel"]}
        ins(%b : tensor<i64>) outs(%e : tensor<4xi64>) {
    ^bb0(%in: i64, %out: i64):
      %k = linalg.index 0 : index
      %n = arith.index_cast %k : index to i64
      %s = arith.addi %n, %in : i64
      linalg.yield %s : i64
    } -> tensor<4xi64>
    %u = scf.for %j = %c0 to %c4 step %c1 iter_args(%a = %t) -> (tensor<40xf32>) {
      %raw = tensor.extract %at[%j] : tensor<4xi64>
      %p = arith.index_cast %raw : i64 to index
      %negative = arith.cmpi slt, %p, %c0 : index
      %end = arith.addi %p, %c40 : index
      %place = arith.select %negative, %end, %p : index
      %held = arith.minui %place, %c39 : index
      %old = tensor.extract %a[%held] : tensor<40xf32>
      %new = arith.addf %old, %f : f32
      %next = tensor.insert %new into %a[%held] : tensor<40xf32>
      scf.yield %next : tensor<40xf32>
    }
    loop.yield while(%c : i1) carried(%u : tensor<40xf32>)
  }
  return %r : tensor<40xf32>
}
