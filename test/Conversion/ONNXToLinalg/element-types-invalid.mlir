// RUN: loopc-opt %s -split-input-file -convert-onnx-to-linalg -verify-diagnostics

func.func @round_mode(%x: tensor<4xf32>) -> tensor<4xf8E8M0FNU> {
  // expected-error @below {{Cast: 'round_mode' is 'sideways', expected 'up', 'down' or 'nearest'}}
  %r = onnx.node "Cast"(%x) since 25 {round_mode = "sideways", to = 24 : i64} : (tensor<4xf32>) -> tensor<4xf8E8M0FNU>
  return %r : tensor<4xf8E8M0FNU>
}

// -----

func.func @scale_rank(%x: tensor<4x6xf32>, %s: tensor<4x2xf32>) -> tensor<4x6xui8> {
  // expected-error @below {{QuantizeLinear: the scale of rank 2 does not fit an input of rank 2 without 'block_size'}}
  %r = onnx.node "QuantizeLinear"(%x, %s) since 25 : (tensor<4x6xf32>, tensor<4x2xf32>) -> tensor<4x6xui8>
  return %r : tensor<4x6xui8>
}

// -----

func.func @precision(%x: tensor<4xf32>, %s: tensor<f32>) -> tensor<4xui8> {
  // expected-error @below {{QuantizeLinear: 'precision' is 7, not the type of a division}}
  %r = onnx.node "QuantizeLinear"(%x, %s) since 25 {precision = 7 : i64} : (tensor<4xf32>, tensor<f32>) -> tensor<4xui8>
  return %r : tensor<4xui8>
}
