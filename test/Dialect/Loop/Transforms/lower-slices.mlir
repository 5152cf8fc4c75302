// RUN: loopc-opt %s --loop-lower-slices | FileCheck %s

// loop_slice: all trips will be run, so that one check before the loop does.
// CHECK-LABEL: func @checked_once(
// CHECK-SAME: %[[TRIPS:[^:]+]]: i64, %[[VALUE:[^:]+]]: tensor<?x4xf32>
func.func @checked_once(%n: i64, %x: tensor<?x4xf32>, %s: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: %[[EXTENT:.*]] = tensor.dim %[[VALUE]]
  // CHECK: %[[ATLEAST0:.*]] = arith.maxsi %[[TRIPS]]
  // CHECK: %[[NEEDED:.*]] = arith.index_cast %[[ATLEAST0]]
  // CHECK: %[[OK:.*]] = arith.cmpi sle, %[[NEEDED]], %[[EXTENT]]
  // CHECK: loop.check %[[OK]], "lower-slices.mlir:{{[0-9:]+}}: {} iterations over the slices of a value with extent {}"(%[[NEEDED]], %[[EXTENT]] : index, index)
  // CHECK: loop.loop (%[[I:[^ ]+]] : i64
  // CHECK-NOT: slices
  // CHECK-NOT: loop.check
  // CHECK: %[[AT:.*]] = arith.index_cast %[[I]]
  // CHECK: %[[SLICE:.*]] = tensor.extract_slice %[[VALUE]][%[[AT]], 0] [1, 4] [1, 1] : tensor<?x4xf32> to tensor<4xf32>
  // CHECK: loop.yield {{.*}} carried(%[[SLICE]]
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64)
      carried(%a = %s : tensor<4xf32>)
      slices(%p = %x : tensor<?x4xf32> axis 0 -> tensor<4xf32>) {
    loop.yield while(%c : i1) carried(%p : tensor<4xf32>)
  }
  return %r : tensor<4xf32>
}

// loop_order: what may end the run in an earlier iteration is told first. Of a
// value that is read backwards the first iteration's slice is the one beyond it.
// CHECK-LABEL: func @checked_in_order(
// CHECK-SAME: %[[TRIPS:[^:]+]]: i64, %[[VALUE:[^:]+]]: tensor<?x4xf32>, %[[OTHER:[^:]+]]: tensor<?x4xf32>
func.func @checked_in_order(%n: i64, %x: tensor<?x4xf32>, %y: tensor<?x4xf32>, %s: tensor<4xf32>, %ok: i1) -> tensor<4xf32> {
  // CHECK-DAG: %[[EXTENT:.*]] = tensor.dim %[[VALUE]]
  // CHECK-DAG: %[[BACK:.*]] = tensor.dim %[[OTHER]]
  // CHECK: loop.check {{.*}}iterations over the slices of a value{{.*}}, %[[BACK]] : index, index)
  // CHECK-NOT: loop.check
  // CHECK: loop.loop (%[[I:[^ ]+]] : i64
  // CHECK: %[[AT:.*]] = arith.index_cast %[[I]]
  // CHECK: %[[IN:.*]] = arith.cmpi slt, %[[AT]], %[[EXTENT]]
  // CHECK: loop.check %[[IN]], "{{.*}}: slice {} of a value with extent {}"(%[[AT]], %[[EXTENT]] : index, index)
  // CHECK-NOT: slice {}
  // CHECK: loop.check %{{.*}}, "its own"
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64)
      carried(%a = %s : tensor<4xf32>)
      slices(%p = %x : tensor<?x4xf32> axis 0 -> tensor<4xf32>, %q = %y : tensor<?x4xf32> axis 0 reverse -> tensor<4xf32>) {
    loop.check %ok, "its own"
    loop.yield while(%c : i1) carried(%q : tensor<4xf32>)
  }
  return %r : tensor<4xf32>
}

// A condition may end the loop before it reads too far: checked in the body.
// Counted back from the trips, the place itself is what must be inside.
// CHECK-LABEL: func @reverse_of_trips(
// CHECK-SAME: %[[TRIPS:[^:]+]]: i64, %{{[^:]+}}: i1, %[[VALUE:[^:]+]]: tensor<4x?xf32>
func.func @reverse_of_trips(%n: i64, %go: i1, %x: tensor<4x?xf32>, %s: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: %[[EXTENT:.*]] = tensor.dim %[[VALUE]]
  // CHECK: loop.loop
  // CHECK: %[[AT:.*]] = arith.subi
  // CHECK: %[[PLACE:.*]] = arith.subi %[[AT]]
  // CHECK: %[[OK:.*]] = arith.cmpi slt, %[[PLACE]], %[[EXTENT]]
  // CHECK: loop.check %[[OK]]
  // CHECK: tensor.extract_slice %[[VALUE]][0, %[[PLACE]]] [4, 1] [1, 1] : tensor<4x?xf32> to tensor<4xf32>
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) while(%go : i1)
      carried(%a = %s : tensor<4xf32>)
      slices(%p = %x : tensor<4x?xf32> axis 1 reverse -> tensor<4xf32>) {
    loop.yield while(%c : i1) carried(%p : tensor<4xf32>)
  }
  return %r : tensor<4xf32>
}

// Counted back from the extent, the number of the iteration must be below it.
// CHECK-LABEL: func @reverse_of_extent(
// CHECK-SAME: %{{[^:]+}}: i1, %[[VALUE:[^:]+]]: tensor<?x4xf32>
func.func @reverse_of_extent(%go: i1, %x: tensor<?x4xf32>, %s: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: %[[EXTENT:.*]] = tensor.dim %[[VALUE]]
  // CHECK: loop.loop (%[[I:[^ ]+]] : i64
  // CHECK: %[[NUMBER:.*]] = arith.index_cast %[[I]]
  // CHECK: %[[LAST:.*]] = arith.subi %[[EXTENT]], %{{.*}}
  // CHECK: %[[PLACE:.*]] = arith.subi %[[LAST]], %[[NUMBER]]
  // CHECK: %[[OK:.*]] = arith.cmpi slt, %[[NUMBER]], %[[EXTENT]]
  // CHECK: loop.check %[[OK]]
  // CHECK: tensor.extract_slice %[[VALUE]][%[[PLACE]], 0]
  %r = loop.loop (%i : i64, %c : i1) while(%go : i1)
      carried(%a = %s : tensor<4xf32>)
      slices(%p = %x : tensor<?x4xf32> axis 0 reverse -> tensor<4xf32>) {
    loop.yield while(%c : i1) carried(%p : tensor<4xf32>)
  }
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func @fits(
func.func @fits(%x: tensor<3x4xf32>, %s: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NOT: loop.check
  // CHECK: return
  %n = arith.constant 3 : i64
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64)
      carried(%a = %s : tensor<4xf32>)
      slices(%p = %x : tensor<3x4xf32> axis 0 -> tensor<4xf32>) {
    loop.yield while(%c : i1) carried(%p : tensor<4xf32>)
  }
  return %r : tensor<4xf32>
}

// A scalar stands for a slice of rank 0.
// CHECK-LABEL: func @scalars(
// CHECK-SAME: %[[VALUE:[^:]+]]: tensor<?xf32>
func.func @scalars(%x: tensor<?xf32>, %n: i64, %s: f32) -> f32 {
  // CHECK: loop.loop (%[[I:[^ ]+]] : i64
  // CHECK: %[[AT:.*]] = arith.index_cast %[[I]]
  // CHECK: %[[SLICE:.*]] = tensor.extract %[[VALUE]][%[[AT]]] : tensor<?xf32>
  // CHECK: loop.yield {{.*}} carried(%[[SLICE]] : f32)
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%a = %s : f32)
      slices(%p = %x : tensor<?xf32> axis 0 -> f32) {
    loop.yield while(%c : i1) carried(%p : f32)
  }
  return %r : f32
}
