// RUN: loopc-opt %s -split-input-file -pass-pipeline='builtin.module(func.func(convert-onnx-to-linalg{channels-last=true},canonicalize,cse))' | FileCheck %s

// Both phases of the kernel are channels of one convolution; no loop over the
// kernel adds to slices of the result.
// CHECK-LABEL: @phases
// CHECK-NOT: scf.for
// CHECK-NOT: loop.loop
// CHECK: linalg.generic {{.*}}"reduction"
// CHECK-NOT: linalg.generic {{.*}}"reduction"
// CHECK: tensor<1x8x2x{{[0-9]+}}xf32>
// CHECK: return
func.func @phases(%x: tensor<1x16x7xf32>, %w: tensor<16x8x4xf32>) -> tensor<1x8x14xf32> {
  %r = onnx.node "ConvTranspose"(%x, %w) since 11 {strides = array<i64: 2>, pads = array<i64: 1, 1>} : (tensor<1x16x7xf32>, tensor<16x8x4xf32>) -> tensor<1x8x14xf32>
  return %r : tensor<1x8x14xf32>
}

// -----

// Three phases of two elements and two of one: a convolution for each number.
// CHECK-LABEL: @uneven
// CHECK-NOT: scf.for
// CHECK-NOT: loop.loop
// CHECK-COUNT-2: linalg.generic {{.*}}"reduction"
// CHECK-NOT: linalg.generic {{.*}}"reduction"
// CHECK: return
func.func @uneven(%x: tensor<1x16x7xf32>, %w: tensor<16x8x8xf32>) -> tensor<1x8x38xf32> {
  %r = onnx.node "ConvTranspose"(%x, %w) since 11 {strides = array<i64: 5>} : (tensor<1x16x7xf32>, tensor<16x8x8xf32>) -> tensor<1x8x38xf32>
  return %r : tensor<1x8x38xf32>
}

// -----

// Vectors of few channels run along positions, so that those of a phase stay
// neighbours until the phases are put in order. The image is padded once for
// all of them.
// CHECK-LABEL: @few_channels
// CHECK-SAME: %[[X:.*]]: tensor<1x16x?x?xf32> {{.*}}, %{{.*}}: tensor<16x8x3x3xf32>
// CHECK: %[[PADDED:.*]] = tensor.insert_slice %[[X]] into
// CHECK-NOT: %[[X]] into
// CHECK-COUNT-4: linalg.generic {{.*}}"reduction"
// CHECK-NOT: tensor.insert_slice {{.*}} [1, 1, 2, 2]
// CHECK: return
func.func @few_channels(%x: tensor<1x16x?x?xf32>, %w: tensor<16x8x3x3xf32>) -> tensor<1x8x?x?xf32> {
  %r = onnx.node "ConvTranspose"(%x, %w) since 11 {strides = array<i64: 2, 2>} : (tensor<1x16x?x?xf32>, tensor<16x8x3x3xf32>) -> tensor<1x8x?x?xf32>
  return %r : tensor<1x8x?x?xf32>
}

// -----

// Phases that the kernel does not reach are not computed.
// CHECK-LABEL: @sparse
// CHECK: linalg.generic {{.*}}"reduction"
// CHECK-NOT: linalg.generic {{.*}}"reduction"
// CHECK: tensor.insert_slice {{.*}} [1, 2, 1, 4] [1, 1, 1, 1] : {{.*}} into tensor<1x2x4x4xf32>
func.func @sparse(%x: tensor<1x2x4xf32>, %w: tensor<2x2x1xf32>) -> tensor<1x2x13xf32> {
  %r = onnx.node "ConvTranspose"(%x, %w) since 11 {strides = array<i64: 4>} : (tensor<1x2x4xf32>, tensor<2x2x1xf32>) -> tensor<1x2x13xf32>
  return %r : tensor<1x2x13xf32>
}

// -----

// Too many phases, each of which would have to be put in place.
// CHECK-LABEL: @many
// CHECK: scf.for
func.func @many(%x: tensor<1x2x4x4xf32>, %w: tensor<2x2x10x10xf32>) -> tensor<1x2x37x37xf32> {
  %r = onnx.node "ConvTranspose"(%x, %w) since 11 {strides = array<i64: 9, 9>} : (tensor<1x2x4x4xf32>, tensor<2x2x10x10xf32>) -> tensor<1x2x37x37xf32>
  return %r : tensor<1x2x37x37xf32>
}

// -----

// An image of one element is multiplied with all of the weights at once, not
// with each of its places behind the other.
// CHECK-LABEL: @one_element
// CHECK-NOT: tensor.pad
// CHECK-NOT: scf.for
// CHECK: linalg.generic {{.*}}"reduction"{{.*}} outs(%{{.*}} : tensor<?x1x1x128xf32>)
// CHECK-NOT: tensor.pad
// CHECK: return
func.func @one_element(%x: tensor<?x100x1x1xf32>, %w: tensor<100x8x4x4xf32>) -> tensor<?x8x4x4xf32> {
  %r = onnx.node "ConvTranspose"(%x, %w) since 11 : (tensor<?x100x1x1xf32>, tensor<100x8x4x4xf32>) -> tensor<?x8x4x4xf32>
  return %r : tensor<?x8x4x4xf32>
}
