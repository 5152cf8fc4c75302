// RUN: loopc-opt %s --loopc-expand-views=only-collapsed | FileCheck %s
// RUN: loopc-opt %s --loopc-expand-views | FileCheck %s --check-prefix=ALL

// Elements are read in what the views are of; what is no buffer stays as it is.
// CHECK-LABEL: func @view_of_view(
// CHECK-SAME: %[[X:[^:]+]]: memref<8x8xf32>, %[[I:[^:]+]]: index)
// ALL-LABEL: func @view_of_view(
func.func @view_of_view(%x: memref<8x8xf32>, %i: index) -> (f32, i32) {
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  // CHECK: arith.addi
  // ALL: arith.addi
  %sum = arith.addi %c1, %c2 : i32
  // ALL-NOT: memref.subview
  // ALL: memref.reinterpret_cast
  %rows = memref.subview %x[4, 0] [4, 8] [1, 1] : memref<8x8xf32> to memref<4x8xf32, strided<[8, 1], offset: 32>>
  %part = memref.subview %rows[%i, 2] [1, 4] [1, 1] : memref<4x8xf32, strided<[8, 1], offset: 32>> to memref<4xf32, strided<[1], offset: ?>>
  // CHECK: memref.load %[[X]][%{{[^,]+}}, %{{[^]]+}}]
  %element = memref.load %part[%i] : memref<4xf32, strided<[1], offset: ?>>
  return %element, %sum : f32, i32
}

// CHECK-LABEL: func @collapsed(
// CHECK-SAME: %[[X:[^:]+]]: memref<4x8xf32>, %[[I:[^:]+]]: index)
func.func @collapsed(%x: memref<4x8xf32>, %i: index) -> f32 {
  // CHECK: %[[FLAT:.*]] = memref.reinterpret_cast %[[X]] to offset: [0], sizes: [32], strides: [1]
  // CHECK: memref.load %[[FLAT]][%[[I]]]
  %flat = memref.collapse_shape %x [[0, 1]] : memref<4x8xf32> into memref<32xf32>
  %element = memref.load %flat[%i] : memref<32xf32>
  return %element : f32
}

// A vector is not loaded from what has no axis.
// CHECK-LABEL: func @expanded_scalar(
// CHECK-SAME: %[[X:[^:]+]]: memref<f32>, %[[I:[^:]+]]: index)
func.func @expanded_scalar(%x: memref<f32>, %i: index) -> vector<4xf32> {
  // CHECK: %[[VIEW:.*]] = memref.reinterpret_cast {{.*}} sizes: [1], strides: [1]
  // CHECK: vector.load %[[VIEW]][%[[I]]]
  %row = memref.expand_shape %x [] output_shape [1] : memref<f32> into memref<1xf32>
  %part = vector.load %row[%i] : memref<1xf32>, vector<4xf32>
  return %part : vector<4xf32>
}

// Nothing is read of what has no elements: nothing divides by its extents.
// CHECK-LABEL: func @collapsed_empty(
// CHECK-SAME: %[[X:[^:]+]]: memref<1x1x0xf32, strided<[0, 0, 1], offset: ?>>, %[[I:[^:]+]]: index)
// ALL-LABEL: func @collapsed_empty(
func.func @collapsed_empty(%x: memref<1x1x0xf32, strided<[0, 0, 1], offset: ?>>, %i: index) -> f32 {
  // CHECK: %[[FLAT:.*]] = memref.reinterpret_cast %[[X]] to offset: [{{.*}}], sizes: [1, 0], strides: [0, 1]
  // CHECK: memref.load %[[FLAT]][%[[I]], %[[I]]]
  %flat = memref.collapse_shape %x [[0], [1, 2]] : memref<1x1x0xf32, strided<[0, 0, 1], offset: ?>> into memref<1x0xf32, strided<[0, 1], offset: ?>>
  %element = memref.load %flat[%i, %i] : memref<1x0xf32, strided<[0, 1], offset: ?>>
  return %element : f32
}

// A part of a buffer, whose strides are known: nothing divides to find the
// elements of its rows.
// CHECK-LABEL: func @collapsed_part(
// CHECK-SAME: %[[X:[^:]+]]: memref<8x4x4xf32>, %[[I:[^:]+]]: index)
func.func @collapsed_part(%x: memref<8x4x4xf32>, %i: index) -> f32 {
  // CHECK: %[[PART:.*]] = memref.subview %[[X]]
  // CHECK: %{{[^,]*}}, %[[OFFSET:[^,]*]], {{.*}} = memref.extract_strided_metadata %[[PART]]
  // CHECK: %[[ROWS:.*]] = memref.reinterpret_cast %[[PART]] to offset: [%[[OFFSET]]], sizes: [2, 16], strides: [16, 1]
  // CHECK-NOT: affine.delinearize_index
  // CHECK: memref.load %[[ROWS]][%[[I]], %[[I]]]
  %part = memref.subview %x[%i, 0, 0] [2, 4, 4] [1, 1, 1] : memref<8x4x4xf32> to memref<2x4x4xf32, strided<[16, 4, 1], offset: ?>>
  %rows = memref.collapse_shape %part [[0], [1, 2]] : memref<2x4x4xf32, strided<[16, 4, 1], offset: ?>> into memref<2x16xf32, strided<[16, 1], offset: ?>>
  %element = memref.load %rows[%i, %i] : memref<2x16xf32, strided<[16, 1], offset: ?>>
  return %element : f32
}
