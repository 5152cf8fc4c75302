// RUN: loopc-opt --buffer-place-deallocations --split-input-file --verify-diagnostics %s

// The pass comes behind bufferization, and says so.
func.func @tensors(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{tensors must be bufferized before buffer-place-deallocations}}
  %y = arith.negf %x : tensor<2xf32>
  return %y : tensor<2xf32>
}

// -----

// A result must be the caller's own: of what has no known rank there is no copy.
func.func @no_rank(%x: memref<*xf32>) -> memref<*xf32> {
  // expected-error @+1 {{the rank of 'memref<*xf32>' is not known: it cannot be copied}}
  return %x : memref<*xf32>
}

// -----

// The last use is that of a block.
// expected-error @+1 {{has branches between blocks, and only structured control flow can be compiled}}
func.func @blocks(%x: memref<4xf32>, %p: i1) {
  cf.cond_br %p, ^end, ^more
^more:
  cf.br ^end
^end:
  return
}

// -----

func.func @scope(%p: i1) -> memref<4xf32> {
  // expected-error @+1 {{results in a buffer or list that nobody is known to own}}
  %r = memref.alloca_scope -> (memref<4xf32>) {
    %a = memref.alloc() : memref<4xf32>
    memref.alloca_scope.return %a : memref<4xf32>
  }
  return %r : memref<4xf32>
}

// -----

func.func @layout() {
  // expected-error @+1 {{gives 'memref<5x8xf32, affine_map<(d0, d1) -> (d1, d0)>>', whose layout is no strides}}
  %a = memref.alloc() : memref<5x8xf32, affine_map<(i, j) -> (j, i)>>
  return
}

// -----

func.func @longer() {
  %a = memref.alloc() : memref<4xf32>
  // expected-error @+1 {{ends a buffer that may be its result}}
  %b = memref.realloc %a : memref<4xf32> to memref<8xf32>
  return
}
