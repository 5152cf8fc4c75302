// RUN: loopc-opt %s --loopc-lower-buffer-copies | FileCheck %s

// CHECK-LABEL: func @contiguous(
func.func @contiguous(%x: memref<?x4xf32>, %y: memref<?x4xf32>) {
  // CHECK: memref.copy
  memref.copy %x, %y : memref<?x4xf32> to memref<?x4xf32>
  return
}

// CHECK-LABEL: func @strided(
// CHECK-SAME: %[[X:[^:]+]]: memref<4x4xf32, strided<[8, 1]>>, %[[Y:[^:]+]]: memref<4x4xf32>)
func.func @strided(%x: memref<4x4xf32, strided<[8, 1]>>, %y: memref<4x4xf32>) {
  // CHECK-NOT: memref.copy
  // CHECK: linalg.generic {{.*}} ins(%[[X]] : {{.*}} outs(%[[Y]]
  // CHECK: linalg.yield %{{.*}} : f32
  memref.copy %x, %y : memref<4x4xf32, strided<[8, 1]>> to memref<4x4xf32>
  return
}
