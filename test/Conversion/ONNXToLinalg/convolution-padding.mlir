// RUN: loopc-opt %s -split-input-file -pass-pipeline='builtin.module(func.func(convert-onnx-to-linalg{channels-last=true},canonicalize,cse))' | FileCheck %s

// Where most of what a kernel reads is padding each of its elements is a
// product of its own, over the part of the image that it reads: nothing is
// padded.
// CHECK-LABEL: @mostly_padding
// CHECK: %[[IMAGE:.*]] = linalg.generic {{.*}} outs({{.*}} : tensor<1x10x10x64xf32>)
// CHECK: tensor.extract_slice %[[IMAGE]][0, 0, 0, 0] [1, 4, 3, 64] [1, 1, 1, 1]
// CHECK: tensor.extract_slice {{.*}}[0, 6, 7, 0] [1, 4, 3, 64] [1, 1, 1, 1]
// CHECK: linalg.generic {{.*}}"reduction"
// CHECK: tensor.insert_slice {{.*}}[0, 6, 7, 0] [1, 4, 3, 64] [1, 1, 1, 1]
// CHECK-COUNT-7: tensor.insert_slice
// CHECK-NOT: tensor.insert_slice
func.func @mostly_padding(%x: tensor<1x64x10x10xf32>, %w: tensor<64x64x3x3xf32>) -> tensor<1x64x10x10xf32> {
  %r = onnx.node "Conv"(%x, %w) since 11 {pads = array<i64: 6, 7, 6, 7>, dilations = array<i64: 6, 7>} : (tensor<1x64x10x10xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x10x10xf32>
  return %r : tensor<1x64x10x10xf32>
}

// -----

// Elements that read nothing but padding are left out.
// CHECK-LABEL: @one_element
// CHECK-COUNT-1: linalg.generic {{.*}}"reduction"
// CHECK-NOT: "reduction"
func.func @one_element(%x: tensor<1x64x5x5xf32>, %w: tensor<64x64x3x3xf32>) -> tensor<1x64x5x5xf32> {
  %r = onnx.node "Conv"(%x, %w) since 11 {pads = array<i64: 5, 5, 5, 5>, dilations = array<i64: 5, 5>} : (tensor<1x64x5x5xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x5x5xf32>
  return %r : tensor<1x64x5x5xf32>
}

// -----

// Of a large image little is padding.
// CHECK-LABEL: @little_padding
// CHECK-COUNT-1: linalg.generic {{.*}}"reduction"
// CHECK-NOT: "reduction"
func.func @little_padding(%x: tensor<1x64x40x40xf32>, %w: tensor<64x64x3x3xf32>) -> tensor<1x64x40x40xf32> {
  %r = onnx.node "Conv"(%x, %w) since 11 {pads = array<i64: 2, 2, 2, 2>, dilations = array<i64: 2, 2>} : (tensor<1x64x40x40xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x40x40xf32>
  return %r : tensor<1x64x40x40xf32>
}

// -----

// Of an open image, too, where elements are far apart and channels many.
// CHECK-LABEL: @open_image
// CHECK-COUNT-9: tensor.insert_slice {{.*}} tensor<1x?x?x64xf32> into tensor<1x?x?x64xf32>
// CHECK-NOT: tensor.insert_slice
// CHECK: return
func.func @open_image(%x: tensor<1x128x?x?xf32>, %w: tensor<64x128x3x3xf32>) -> tensor<1x64x?x?xf32> {
  %r = onnx.node "Conv"(%x, %w) since 11 {pads = array<i64: 12, 12, 12, 12>, dilations = array<i64: 12, 12>} : (tensor<1x128x?x?xf32>, tensor<64x128x3x3xf32>) -> tensor<1x64x?x?xf32>
  return %r : tensor<1x64x?x?xf32>
}
