// RUN: loopc-opt %s -verify-diagnostics --pass-pipeline='builtin.module(func.func(onnx-lower-unranked))'

// Only what conversion leaves behind is known to have two parts.
func.func @not_from_conversion(%x: tensor<*xf32>, %s: tensor<1xi64>) -> tensor<?xf32> {
  // expected-error @below {{'tensor.reshape' on a value whose rank is not known at compile time is not supported}}
  %y = tensor.reshape %x(%s) : (tensor<*xf32>, tensor<1xi64>) -> tensor<?xf32>
  return %y : tensor<?xf32>
}
