// RUN: loopc-opt %s -split-input-file -verify-diagnostics -convert-onnx-to-linalg

func.func @label(%a: tensor<2x3xf32>) -> tensor<2xf32> {
  // expected-error @below {{LC0300: Einsum: the output's 'k' is no label of an operand}}
  %r = onnx.node "Einsum"(%a) since 12 {equation = "ij->k"} : (tensor<2x3xf32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}

// -----

func.func @terms(%a: tensor<2x3xf32>) -> tensor<2xf32> {
  // expected-error @below {{LC0300: Einsum: the equation has 2 terms for 1 operands}}
  %r = onnx.node "Einsum"(%a) since 12 {equation = "ij,jk->ik"} : (tensor<2x3xf32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}

// -----

func.func @activation(%x: tensor<4x2x3xf32>, %w: tensor<1x5x3xf32>, %r: tensor<1x5x5xf32>) -> tensor<4x1x2x5xf32> {
  // expected-error @below {{LC0300: RNN: unknown activation 'Sine'}}
  %y, %h = onnx.node "RNN"(%x, %w, %r) since 14 {activations = ["Sine"], hidden_size = 5 : i64} : (tensor<4x2x3xf32>, tensor<1x5x3xf32>, tensor<1x5x5xf32>) -> (tensor<4x1x2x5xf32>, tensor<1x2x5xf32>)
  return %y : tensor<4x1x2x5xf32>
}

// -----

func.func @strides(%x: tensor<1x2x5x5xf32>, %w: tensor<2x2x3x3xf32>) -> tensor<1x2x3x3xf32> {
  // expected-error @below {{LC0300: Conv: 'strides' has 3 values, expected 2}}
  %r = onnx.node "Conv"(%x, %w) since 11 {strides = array<i64: 1, 1, 1>} : (tensor<1x2x5x5xf32>, tensor<2x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  return %r : tensor<1x2x3x3xf32>
}
