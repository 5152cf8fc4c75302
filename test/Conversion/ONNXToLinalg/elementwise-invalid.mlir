// RUN: loopc-opt %s -split-input-file -verify-diagnostics -convert-onnx-to-linalg

func.func @old_operands_differ(%a: tensor<2x3xf32>, %b: tensor<3xf32>) -> tensor<2x3xf32> {
  // expected-error @below {{LC0300: Add: the operands have ranks 2 and 1 without 'broadcast'}}
  %r = onnx.node "Add"(%a, %b) since 6 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----

func.func @slope(%x: tensor<2x3xf32>, %s: tensor<2xf32>) -> tensor<2x3xf32> {
  // expected-error @below {{LC0300: PRelu: the slope does not broadcast: dimension 2 against 3}}
  %r = onnx.node "PRelu"(%x, %s) since 16 : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----

func.func @random(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @below {{LC0501: Dropout: training mode ('is_test' is 0) is not supported}}
  %r = onnx.node "Dropout"(%x) since 6 : (tensor<2xf32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}

// -----

func.func @axis(%x: tensor<2x3xf32>, %a: tensor<1xi64>) -> tensor<*xf32> {
  %axes = onnx.constant dense<[1, -1]> : tensor<2xi64>
  // expected-error @below {{LC0300: ReduceSum: 'axes' names axis 1 twice}}
  %r = onnx.node "ReduceSum"(%x, %axes) since 13 : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

func.func @rank(%x: tensor<2x3xf32>, %axes: tensor<?xi64>) -> tensor<*xf32> {
  // expected-error @below {{LC0501: ReduceSum: the rank of the result is not known at compile time}}
  %r = onnx.node "ReduceSum"(%x, %axes) since 13 {keepdims = 0 : i64} : (tensor<2x3xf32>, tensor<?xi64>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}
