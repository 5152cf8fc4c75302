// Parts of a concatenation are copied to places that are counted on from one to
// the next: no map of all extents before it, which would be simplified again
// with each of them that becomes known.
// RUN: loopc-opt %s --one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" --split-input-file | FileCheck %s

// CHECK-NOT: affine
// CHECK-LABEL: @open
// CHECK-SAME: (%[[A:.*]]: memref<?x4xf32>, %[[B:.*]]: memref<2x4xf32>, %[[C:.*]]: memref<?x4xf32>)
func.func @open(%a: tensor<?x4xf32>, %b: tensor<2x4xf32>,
                %c: tensor<?x4xf32>) -> tensor<?x4xf32> {
  // CHECK: %[[ROWS_A:.*]] = memref.dim %[[A]]
  // CHECK: %[[BEHIND_B:.*]] = arith.addi %[[ROWS_A]], %{{.*}}
  // CHECK: %[[ROWS_C:.*]] = memref.dim %[[C]]
  // CHECK: %[[ALL:.*]] = arith.addi %[[BEHIND_B]], %[[ROWS_C]]
  // CHECK: %[[WHOLE:.*]] = memref.alloc(%[[ALL]]) {{.*}} : memref<?x4xf32>
  // CHECK: %[[PART_A:.*]] = memref.subview %[[WHOLE]][0, 0] [%[[ROWS_A]], 4]
  // CHECK: memref.copy %[[A]], %[[PART_A]]
  // CHECK: %[[PART_B:.*]] = memref.subview %[[WHOLE]][%[[ROWS_A]], 0] [2, 4]
  // CHECK: memref.copy %[[B]], %[[PART_B]]
  // CHECK: %[[PART_C:.*]] = memref.subview %[[WHOLE]][%[[BEHIND_B]], 0] [%[[ROWS_C]], 4]
  // CHECK: memref.copy %[[C]], %[[PART_C]]
  // CHECK: return %[[WHOLE]]
  %joined = tensor.concat dim(0) %a, %b, %c
      : (tensor<?x4xf32>, tensor<2x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return %joined : tensor<?x4xf32>
}

// -----

// What has no element is not copied; extents that are known stay constants.
// CHECK-LABEL: @fixed
// CHECK-SAME: (%[[A:.*]]: memref<4x0xf32>, %[[B:.*]]: memref<4x2xf32>, %[[C:.*]]: memref<4x3xf32>)
func.func @fixed(%a: tensor<4x0xf32>, %b: tensor<4x2xf32>,
                 %c: tensor<4x3xf32>) -> tensor<4x5xf32> {
  // CHECK: %[[WHOLE:.*]] = memref.alloc() {{.*}} : memref<4x5xf32>
  // CHECK-NOT: memref.copy %[[A]]
  // CHECK: %[[PART_B:.*]] = memref.subview %[[WHOLE]][0, 0] [4, 2]
  // CHECK: memref.copy %[[B]], %[[PART_B]]
  // CHECK: %[[PART_C:.*]] = memref.subview %[[WHOLE]][0, 2] [4, 3]
  // CHECK: memref.copy %[[C]], %[[PART_C]]
  %joined = tensor.concat dim(1) %a, %b, %c
      : (tensor<4x0xf32>, tensor<4x2xf32>, tensor<4x3xf32>) -> tensor<4x5xf32>
  return %joined : tensor<4x5xf32>
}

// -----

// An axis that is known from another part.
// CHECK-LABEL: @known_from_another
// CHECK-SAME: (%[[A:.*]]: memref<2x?xf32>, %[[B:.*]]: memref<2x4xf32>)
func.func @known_from_another(%a: tensor<2x?xf32>, %b: tensor<2x4xf32>)
    -> tensor<4x4xf32> {
  // CHECK: memref.alloc() {{.*}} : memref<4x4xf32>
  %joined = tensor.concat dim(0) %a, %b
      : (tensor<2x?xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  return %joined : tensor<4x4xf32>
}
