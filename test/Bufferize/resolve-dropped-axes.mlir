// RUN: loopc-opt %s --buffer-resolve-dropped-axes | FileCheck %s

// The slice of axis 2 of five; MLIR's passes would leave out axis 1.
// CHECK-LABEL: func @ambiguous(
// CHECK-SAME: %[[X:[^:]+]]: memref<?x1x?x?x?xf32>, %[[I:[^:]+]]: index, %[[A:[^:]+]]: index, %[[B:[^:]+]]: index, %[[C:[^:]+]]: index
// CHECK: %{{[^,]+}}, %[[OFFSET:[^,]+]], %{{[^:]+}}:5, %[[STRIDES:[^:]+]]:5 = memref.extract_strided_metadata %[[X]]
// CHECK: %[[FROM:.*]] = arith.muli %[[I]], %[[STRIDES]]#3
// CHECK: %[[PLACE:.*]] = arith.addi %{{.*}}, %[[FROM]]
// CHECK: memref.reinterpret_cast %[[X]] to offset: [%{{.*}}], sizes: [%[[A]], 1, %[[B]], %[[C]]]
// CHECK-SAME: : memref<?x1x?x?x?xf32> to memref<?x1x?x?xf32, strided<[?, ?, ?, 1], offset: ?>>
func.func @ambiguous(%x: memref<?x1x?x?x?xf32>, %i: index, %a: index, %b: index, %c: index) -> memref<?x1x?x?xf32, strided<[?, ?, ?, 1], offset: ?>> {
  %v = memref.subview %x[0, 0, 0, %i, 0] [%a, 1, %b, 1, %c] [1, 1, 1, 1, 1]
      : memref<?x1x?x?x?xf32> to memref<?x1x?x?xf32, strided<[?, ?, ?, 1], offset: ?>>
  return %v : memref<?x1x?x?xf32, strided<[?, ?, ?, 1], offset: ?>>
}

// One axis only, strides that tell, nothing left out.
// CHECK-LABEL: func @clear(
// CHECK-COUNT-3: memref.subview
// CHECK-NOT: memref.reinterpret_cast
func.func @clear(%x: memref<?x?x?xf32>, %y: memref<2x1x3x4x5xf32>, %i: index, %a: index)
    -> (memref<?x?xf32, strided<[?, 1], offset: ?>>, memref<2x1x3x5xf32, strided<[60, 60, 20, 1], offset: ?>>, memref<1x?x1xf32, strided<[?, ?, 1], offset: ?>>) {
  %v = memref.subview %x[0, %i, 0] [%a, 1, %a] [1, 1, 1] : memref<?x?x?xf32> to memref<?x?xf32, strided<[?, 1], offset: ?>>
  %w = memref.subview %y[0, 0, 0, %i, 0] [2, 1, 3, 1, 5] [1, 1, 1, 1, 1]
      : memref<2x1x3x4x5xf32> to memref<2x1x3x5xf32, strided<[60, 60, 20, 1], offset: ?>>
  %u = memref.subview %x[%i, 0, 0] [1, %a, 1] [1, 1, 1] : memref<?x?x?xf32> to memref<1x?x1xf32, strided<[?, ?, 1], offset: ?>>
  return %v, %w, %u : memref<?x?xf32, strided<[?, 1], offset: ?>>, memref<2x1x3x5xf32, strided<[60, 60, 20, 1], offset: ?>>, memref<1x?x1xf32, strided<[?, ?, 1], offset: ?>>
}

// Upstream looks for the buffer's strides among the view's, which has others.
// CHECK-LABEL: func @steps(
// CHECK: memref.reinterpret_cast %{{.*}} to offset: [%{{.*}}], sizes: [1], strides: [-1]
// CHECK: memref.reinterpret_cast %{{.*}} to offset: [%{{.*}}], sizes: [1, 4], strides: [8, 8]
func.func @steps(%x: memref<12x16xf32>, %y: memref<4x6x64xf32, strided<[512, 8, 1]>>, %i: index)
    -> (memref<1xf32, strided<[-1], offset: ?>>, memref<1x4xf32, strided<[8, 8], offset: ?>>) {
  %v = memref.subview %x[%i, %i] [1, 1] [1, -1] : memref<12x16xf32> to memref<1xf32, strided<[-1], offset: ?>>
  %w = memref.subview %y[%i, %i, 0] [1, 1, 4] [1, 1, 8]
      : memref<4x6x64xf32, strided<[512, 8, 1]>> to memref<1x4xf32, strided<[8, 8], offset: ?>>
  return %v, %w : memref<1xf32, strided<[-1], offset: ?>>, memref<1x4xf32, strided<[8, 8], offset: ?>>
}
