// RUN: loopc-opt %s --loopc-make-entry-point --split-input-file --verify-diagnostics

// expected-error@+1 {{LC0604: no function 'main' to compile}}
module {
}

// -----

// expected-error@+1 {{LC0503: argument of type 'f32' at the border of a model}}
func.func @main(%x: f32) {
  return
}

// -----

// expected-error@+1 {{LC0503: result of type 'tensor<4xf32>' at the border of a model}}
func.func @main() -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  return %e : tensor<4xf32>
}
