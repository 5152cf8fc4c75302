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

// -----

// expected-error@+1 {{LC0503: argument of type 'memref<4xvector<2xf32>>' at the border of a model}}
func.func @main(%x: memref<4xvector<2xf32>>) {
  return
}

// -----

// What the caller gives is dense; strides that a run knows may be those.
// expected-error@+1 {{LC0503: argument of type 'memref<4xf32, strided<[2], offset: 3>>' at the border of a model}}
func.func @main(%x: memref<4xf32, strided<[2], offset: 3>>) {
  return
}

// -----

func.func @main(%x: memref<4xf32, strided<[?], offset: ?>>, %y: memref<?x4xf32, strided<[4, 1]>>) {
  return
}

// -----

// expected-error@+1 {{LC0503: result of type 'memref<4xtf32>' at the border of a model}}
func.func @main() -> memref<4xtf32> {
  %e = memref.alloc() : memref<4xtf32>
  return %e : memref<4xtf32>
}

// -----

// expected-error@+1 {{LC0604: the model's function has branches between blocks, and only structured control flow can be compiled}}
func.func @main(%x: memref<4xf32>) {
  cf.br ^next
^next:
  return
}

// -----

// expected-error@+1 {{LC0604: the model's function calls itself}}
func.func @main(%x: memref<4xf32>) {
  call @main(%x) : (memref<4xf32>) -> ()
  return
}

// -----

func.func @main(%x: memref<4xf32>) {
  call @other(%x) : (memref<4xf32>) -> ()
  return
}

// expected-error@+1 {{LC0604: function 'other' is not the model's, and a model is one function: calls must be inlined}}
func.func private @other(%x: memref<4xf32>) {
  return
}
