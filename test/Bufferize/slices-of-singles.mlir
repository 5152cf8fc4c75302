// RUN: loopc-opt %s --loopc-bufferize | FileCheck %s

// Strides of axes with one element say nothing. Those of 0 would be strides of
// the view, by which MLIR looks for the axis that is left out.
// CHECK-LABEL: func @left_out(
// CHECK: memref.subview %{{.*}}[1, 0, 1, 0] [1, 1, 1, 1] [1, 1, 1, 1] : memref<4x1x4x1xf32> to memref<1x1x1xf32, strided<[4, 4, 1], offset: 5>>
func.func @left_out(%x: tensor<4x1x4x1xf32>) -> tensor<1x1x1xf32> {
  %0 = tensor.extract_slice %x[1, 0, 1, 0] [1, 1, 1, 1] [2, 0, 1, 0] : tensor<4x1x4x1xf32> to tensor<1x1x1xf32>
  return %0 : tensor<1x1x1xf32>
}

// One that a run brings goes, too; those of axes with several elements stay.
// CHECK-LABEL: func @some(
// CHECK: memref.subview %{{.*}}[1, 0, 1, 0] [2, 1, 3, 1] [1, 1, 0, 1] : memref<4x1x4x1xf32> to memref<2x3xf32, strided<[4, 0], offset: 5>>
func.func @some(%x: tensor<4x1x4x1xf32>, %s: index) -> tensor<2x3xf32> {
  %0 = tensor.extract_slice %x[1, 0, 1, 0] [2, 1, 3, 1] [1, 0, 0, %s] : tensor<4x1x4x1xf32> to tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func @put(
// CHECK: memref.subview %{{.*}}[1, 0, 1, 0] [1, 1, 1, 1] [1, 1, 1, 1] : memref<4x1x4x1xf32> to memref<1x1x1xf32, strided<[4, 4, 1], offset: 5>>
func.func @put(%x: tensor<4x1x4x1xf32>, %y: tensor<1x1x1xf32>, %s: index) -> tensor<4x1x4x1xf32> {
  %0 = tensor.insert_slice %y into %x[1, 0, 1, 0] [1, 1, 1, 1] [0, %s, 1, 0] : tensor<1x1x1xf32> into tensor<4x1x4x1xf32>
  return %0 : tensor<4x1x4x1xf32>
}
