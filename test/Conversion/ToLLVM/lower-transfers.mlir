// RUN: loopc-opt %s --loopc-lower-transfers | FileCheck %s

// Several axes: a loop over all but the last one.
// CHECK-LABEL: func.func @two_axes(
// CHECK: scf.for
// CHECK: vector.transfer_write {{.*}} : vector<8xf32>, memref<?x?xf32>
// CHECK-NOT: vector<4x8xf32>, memref<?x?xf32>
func.func @two_axes(%v: vector<4x8xf32>, %x: memref<?x?xf32>, %i: index) {
  vector.transfer_write %v, %x[%i, %i] : vector<4x8xf32>, memref<?x?xf32>
  return
}

// Nothing else is simplified.
// CHECK-LABEL: func.func @no_transfer(
// CHECK: %[[ZERO:.*]] = arith.constant 0
// CHECK: arith.addi %{{.*}}, %[[ZERO]]
func.func @no_transfer(%i: index) -> index {
  %zero = arith.constant 0 : index
  %sum = arith.addi %i, %zero : index
  return %sum : index
}
