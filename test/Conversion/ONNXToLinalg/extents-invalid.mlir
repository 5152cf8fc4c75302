// RUN: loopc-opt %s -split-input-file -convert-onnx-to-linalg -verify-diagnostics

// The same in a branch is an error of the run (extents.mlir).
func.func @at_the_top(%x: tensor<2xf32>) -> tensor<3xf32> {
  // expected-error @below {{LC0303: result #0 has type 'tensor<2xf32>' but was inferred to have type 'tensor<3xf32>'}}
  %n = onnx.node "Neg"(%x) since 13 : (tensor<2xf32>) -> tensor<3xf32>
  return %n : tensor<3xf32>
}
