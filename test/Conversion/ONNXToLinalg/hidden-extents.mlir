// RUN: loopc-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(convert-onnx-to-linalg{channels-last=true}))' | FileCheck %s

// A cast hides extents that what it is made of has. Slices have sizes, which
// are followed to there, and types: operands get back what is known of them.

// CHECK-LABEL: func.func @transposed(
// CHECK: tensor.insert_slice {{.*}} : tensor<1x?x3xf32> into tensor<1x?x9xf32>
func.func @transposed(%x: tensor<?x3xf32>, %w: tensor<1x2x4xf32>, %b: tensor<2xf32>) -> tensor<1x2x?xf32> {
  %open = tensor.cast %x : tensor<?x3xf32> to tensor<?x?xf32>
  %three = onnx.node "Unsqueeze"(%open) since 11 {axes = array<i64: 0>} : (tensor<?x?xf32>) -> tensor<1x?x?xf32>
  %y = onnx.node "ConvTranspose"(%three, %w, %b) since 11 {kernel_shape = array<i64: 4>, pads = array<i64: 0, 1>} : (tensor<1x?x?xf32>, tensor<1x2x4xf32>, tensor<2xf32>) -> tensor<1x2x?xf32>
  return %y : tensor<1x2x?xf32>
}

// -----

// CHECK-LABEL: func.func @convolution(
// CHECK: tensor.insert_slice {{.*}} : tensor<?x3x6xf32> into tensor<?x3x8xf32>
func.func @convolution(%x: tensor<?x3x6xf32>, %w: tensor<4x3x3xf32>) -> tensor<?x4x?xf32> {
  %open = tensor.cast %x : tensor<?x3x6xf32> to tensor<?x?x?xf32>
  %y = onnx.node "Conv"(%open, %w) since 11 {pads = array<i64: 1, 1>} : (tensor<?x?x?xf32>, tensor<4x3x3xf32>) -> tensor<?x4x?xf32>
  return %y : tensor<?x4x?xf32>
}

// -----

// CHECK-LABEL: func.func @pool(
// CHECK: tensor.insert_slice {{.*}} : tensor<1x3x?xf32> into tensor<1x3x?xf32>
func.func @pool(%x: tensor<1x3x?xf32>) -> tensor<?x3x?xf32> {
  %open = tensor.cast %x : tensor<1x3x?xf32> to tensor<?x3x?xf32>
  %y = onnx.node "MaxPool"(%open) since 12 {kernel_shape = array<i64: 3>, pads = array<i64: 1, 1>} : (tensor<?x3x?xf32>) -> tensor<?x3x?xf32>
  return %y : tensor<?x3x?xf32>
}

// -----

// CHECK-LABEL: func.func @lp_pool(
// CHECK: tensor.insert_slice {{.*}} : tensor<1x?x5xf32> into tensor<1x?x7xf32>
func.func @lp_pool(%x: tensor<1x?x5xf32>) -> tensor<?x?x?xf32> {
  %open = tensor.cast %x : tensor<1x?x5xf32> to tensor<?x?x?xf32>
  %y = onnx.node "LpPool"(%open) since 18 {kernel_shape = array<i64: 3>, pads = array<i64: 1, 1>} : (tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  return %y : tensor<?x?x?xf32>
}

// -----

// CHECK-LABEL: func.func @pad(
// CHECK: tensor.insert_slice {{.*}} : tensor<2x?xf32> into tensor<4x?xf32>
func.func @pad(%x: tensor<2x?xf32>) -> tensor<?x?xf32> {
  %open = tensor.cast %x : tensor<2x?xf32> to tensor<?x?xf32>
  %pads = onnx.constant dense<[1, 0, 1, 0]> : tensor<4xi64>
  %y = onnx.node "Pad"(%open, %pads) since 13 : (tensor<?x?xf32>, tensor<4xi64>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// -----

// CHECK-LABEL: func.func @pad_by_edge(
// CHECK: tensor.insert_slice {{.*}} : tensor<2x3xf32> into tensor<4x3xf32>
func.func @pad_by_edge(%x: tensor<2x3xf32>) -> tensor<?x3xf32> {
  %open = tensor.cast %x : tensor<2x3xf32> to tensor<?x3xf32>
  %pads = onnx.constant dense<[1, 0, 1, 0]> : tensor<4xi64>
  %y = onnx.node "Pad"(%open, %pads) since 13 {mode = "edge"} : (tensor<?x3xf32>, tensor<4xi64>) -> tensor<?x3xf32>
  return %y : tensor<?x3xf32>
}

// -----

// CHECK-LABEL: func.func @concatenation(
// CHECK: tensor.insert_slice {{.*}} : tensor<?x3xf32> into tensor<?x3xf32>
// CHECK: tensor.insert_slice {{.*}} : tensor<4x3xf32> into tensor<?x3xf32>
func.func @concatenation(%x: tensor<?x3xf32>, %y: tensor<4x?xf32>) -> tensor<?x?xf32> {
  %open = tensor.cast %x : tensor<?x3xf32> to tensor<?x?xf32>
  %z = onnx.node "Concat"(%open, %y) since 13 {axis = 0 : i64} : (tensor<?x?xf32>, tensor<4x?xf32>) -> tensor<?x?xf32>
  return %z : tensor<?x?xf32>
}

// -----

// CHECK-LABEL: func.func @scatter(
// CHECK: tensor.insert_slice {{.*}} : tensor<4xf32> into tensor<?x4xf32>
func.func @scatter(%x: tensor<?x4xf32>, %i: tensor<3x1xi64>, %u: tensor<3x4xf32>) -> tensor<?x?xf32> {
  %open = tensor.cast %x : tensor<?x4xf32> to tensor<?x?xf32>
  %rows = tensor.cast %u : tensor<3x4xf32> to tensor<3x?xf32>
  %z = onnx.node "ScatterND"(%open, %i, %rows) since 16 : (tensor<?x?xf32>, tensor<3x1xi64>, tensor<3x?xf32>) -> tensor<?x?xf32>
  return %z : tensor<?x?xf32>
}

// -----

// CHECK-LABEL: func.func @resize(
// CHECK: linalg.generic {{.*}} outs({{.*}} : tensor<?x8xf32>)
func.func @resize(%x: tensor<?x4xf32>) -> tensor<?x?xf32> {
  %open = tensor.cast %x : tensor<?x4xf32> to tensor<?x?xf32>
  %none = onnx.none
  %scales = onnx.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %z = onnx.node "Resize"(%open, %none, %scales) since 13 {mode = "linear"} : (tensor<?x?xf32>, none, tensor<2xf32>) -> tensor<?x?xf32>
  return %z : tensor<?x?xf32>
}

// -----

// CHECK-LABEL: func.func @kept(
// CHECK: tensor.insert_slice {{.*}} : tensor<1x4xf32> into tensor<?x4xf32>
func.func @kept(%x: tensor<?x4xf32>, %c: tensor<?xi1>) -> tensor<?x?xf32> {
  %open = tensor.cast %x : tensor<?x4xf32> to tensor<?x?xf32>
  %z = onnx.node "Compress"(%open, %c) since 11 {axis = 0 : i64} : (tensor<?x?xf32>, tensor<?xi1>) -> tensor<?x?xf32>
  return %z : tensor<?x?xf32>
}

// -----

// CHECK-LABEL: func.func @recurrent(
// CHECK: loop.loop
func.func @recurrent(%x: tensor<?x1x3xf32>, %w: tensor<1x4x3xf32>, %r: tensor<1x4x4xf32>) -> tensor<?x1x?x?xf32> {
  %open = tensor.cast %x : tensor<?x1x3xf32> to tensor<?x?x?xf32>
  %rows = tensor.cast %w : tensor<1x4x3xf32> to tensor<1x4x?xf32>
  %back = tensor.cast %r : tensor<1x4x4xf32> to tensor<1x?x4xf32>
  %z, %last = onnx.node "RNN"(%open, %rows, %back) since 14 {hidden_size = 4 : i64} : (tensor<?x?x?xf32>, tensor<1x4x?xf32>, tensor<1x?x4xf32>) -> (tensor<?x1x?x?xf32>, none)
  return %z : tensor<?x1x?x?xf32>
}
