// RUN: loopc-opt %s --loopc-place-buffers -verify-diagnostics

// Nobody knows where this buffer is.
func.func @unknown(%x: memref<8xf32>, %f: f32) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %eight = arith.constant 8 : index
  device.region {
    scf.for %i = %zero to %eight step %one {
      // expected-error @+1 {{is in a kernel and uses a buffer that is neither allocated, an input, nor a constant of the model}}
      memref.store %f, %x[%i] : memref<8xf32>
    } {loopc.parallel}
    device.yield
  }
  memref.store %f, %x[%zero] : memref<8xf32>
  return
}
