// RUN: loopc-opt %s --loopc-to-llvm --split-input-file --verify-diagnostics

// Operations of other dialects are named, with what to do.
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // expected-error@+1 {{LC0500: 'tosa.erf' is an operation on tensors that is not compiled: lower it to linalg}}
  %y = tosa.erf %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// -----

// A vector is no fault of the compiler's.
// expected-error@+1 {{LC0503: argument of type 'vector<2xf32>' at the border of a model}}
func.func @main(%x: vector<2xf32>) -> vector<2xf32> {
  return %x : vector<2xf32>
}
