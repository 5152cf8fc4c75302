// RUN: loopc-opt --loop-place-deallocations --split-input-file --verify-diagnostics %s

// The pass comes behind bufferization, and says so.
func.func @tensors(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{tensors must be bufferized before loop-place-deallocations}}
  %y = arith.negf %x : tensor<2xf32>
  return %y : tensor<2xf32>
}

// -----

// A result must be the caller's own: of what has no known rank there is no copy.
func.func @no_rank(%x: memref<*xf32>) -> memref<*xf32> {
  // expected-error @+1 {{the rank of 'memref<*xf32>' is not known: it cannot be copied}}
  return %x : memref<*xf32>
}
