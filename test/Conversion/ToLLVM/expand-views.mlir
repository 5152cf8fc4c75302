// RUN: loopc-opt %s --loopc-expand-views | FileCheck %s

// Two run-time extents in a group: strides grow from the source's.
// CHECK-LABEL: func @two_in_group(
// CHECK-SAME: %[[X:[^:]+]]: memref<?xf32>, %[[M:[^:]+]]: index, %[[N:[^:]+]]: index)
func.func @two_in_group(%x: memref<?xf32>, %m: index, %n: index) -> memref<?x?xf32> {
  // CHECK: %[[BASE:[^,]+]], %{{.*}} = memref.extract_strided_metadata %[[X]]
  // CHECK: memref.reinterpret_cast %[[BASE]] to offset: [0], sizes: [%[[M]], %[[N]]], strides: [%{{.*}}, 1]
  // CHECK-NOT: memref.expand_shape
  %r = memref.expand_shape %x [[0, 1]] output_shape [%m, %n] : memref<?xf32> into memref<?x?xf32>
  return %r : memref<?x?xf32>
}

// CHECK-LABEL: func @rank_0(
func.func @rank_0(%x: memref<f32>) -> memref<1x1xf32> {
  // CHECK: memref.reinterpret_cast %{{.*}} to offset: [0], sizes: [1, 1], strides: [1, 1]
  %r = memref.expand_shape %x [] output_shape [1, 1] : memref<f32> into memref<1x1xf32>
  return %r : memref<1x1xf32>
}
