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

// A cast hides strides, until it is folded.
// CHECK-LABEL: func @cast(
// CHECK-SAME: %[[X:[^:]+]]: memref<?x5xf32, strided<[8, 1]>>, %[[Y:[^:]+]]: memref<?x?xf32>)
func.func @cast(%x: memref<?x5xf32, strided<[8, 1]>>, %y: memref<?x?xf32>) {
  // CHECK-NOT: memref.copy
  // CHECK: linalg.generic {{.*}} ins(%[[X]] : {{.*}} outs(%[[Y]]
  %cast = memref.cast %x : memref<?x5xf32, strided<[8, 1]>> to memref<?x?xf32, strided<[?, ?], offset: ?>>
  memref.copy %cast, %y : memref<?x?xf32, strided<[?, ?], offset: ?>> to memref<?x?xf32>
  return
}

// CHECK-LABEL: func @cast_to_no_layout(
func.func @cast_to_no_layout(%x: memref<?x5x2xf32, strided<[10, 2, 1]>>, %y: memref<?x?x?xf32>) {
  // CHECK-NOT: memref.copy
  %cast = memref.cast %x : memref<?x5x2xf32, strided<[10, 2, 1]>> to memref<?x?x?xf32>
  memref.copy %cast, %y : memref<?x?x?xf32> to memref<?x?x?xf32>
  return
}

// Such a copy is in code that never runs: MLIR does not say what it does, and
// its verifier refuses it where the casts are folded.
// CHECK-LABEL: func @contradiction(
func.func @contradiction(%x: memref<2xf32>, %y: memref<3xf32>) {
  // CHECK-NOT: memref.copy
  %from = memref.cast %x : memref<2xf32> to memref<?xf32>
  %to = memref.cast %y : memref<3xf32> to memref<?xf32>
  memref.copy %from, %to : memref<?xf32> to memref<?xf32>
  return
}
