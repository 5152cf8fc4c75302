// RUN: loopc-opt %s -split-input-file -verify-diagnostics

func.func @two_loops(%x: memref<?xf32>, %n: index, %f: f32) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  // expected-error@+1 {{expects one 'scf.for' or 'scf.while', and a 'device.yield'}}
  device.region {
    scf.for %i = %zero to %n step %one {
      memref.store %f, %x[%i] : memref<?xf32>
    } {loopc.parallel}
    scf.for %i = %zero to %n step %one {
      memref.store %f, %x[%i] : memref<?xf32>
    } {loopc.parallel}
    device.yield
  }
  return
}

// -----

func.func @no_loop(%x: memref<?xf32>, %n: index, %f: f32) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  // expected-error@+1 {{expects one 'scf.for' or 'scf.while', and a 'device.yield'}}
  device.region {
    memref.store %f, %x[%zero] : memref<?xf32>
    device.yield
  }
  return
}

// -----

func.func @foreign_result(%x: memref<?xf32>, %n: index, %f: f32) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  // expected-error@+1 {{yields what is no result of its loop}}
  %r = device.region {
    scf.for %i = %zero to %n step %one {
      memref.store %f, %x[%i] : memref<?xf32>
    } {loopc.parallel}
    device.yield %f : f32
  } : f32
  return
}

// -----

func.func @types(%x: memref<?xf32>, %n: index, %f: f32) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  // expected-error@+1 {{yields other types than those of its results}}
  %r = device.region {
    scf.for %i = %zero to %n step %one {
      memref.store %f, %x[%i] : memref<?xf32>
    } {loopc.parallel}
    device.yield
  } : f32
  return
}

// -----

func.func @allocates(%x: memref<?xf32>, %n: index, %f: f32) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  // expected-error@+1 {{holds 'memref.alloc', which no kernel can}}
  device.region {
    scf.for %i = %zero to %n step %one {
      %a = memref.alloc() : memref<4xf32>
      memref.store %f, %a[%zero] : memref<4xf32>
    }
    device.yield
  }
  return
}

// -----

func.func @calls(%x: memref<?xf32>, %n: index, %f: f32) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  // expected-error@+1 {{holds 'func.call', which no kernel can}}
  device.region {
    scf.for %i = %zero to %n step %one {
      func.call @other() : () -> ()
    }
    device.yield
  }
  return
}
func.func private @other()

// -----

func.func @nested(%x: memref<?xf32>, %n: index, %f: f32) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  // expected-error@+1 {{holds 'device.region', which no kernel can}}
  device.region {
    scf.for %i = %zero to %n step %one {
      device.region {
        scf.for %j = %zero to %n step %one {
        }
        device.yield
      }
    }
    device.yield
  }
  return
}

// -----

func.func @no_kernel(%x: memref<?xf32>, %n: index, %f: f32) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  // expected-error@+1 {{says how a kernel is launched, but names none}}
  device.region given(%x : memref<?xf32>) {
    scf.for %i = %zero to %n step %one {
      memref.store %f, %x[%i] : memref<?xf32>
    } {loopc.parallel}
    device.yield
  }
  return
}

// -----

func.func @half_grid(%x: memref<?xf32>, %n: index, %f: f32) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  // expected-error@+1 {{has a grid of 1 numbers, expected blocks and threads}}
  device.region kernel @k::@f given(%x : memref<?xf32>) grid(%n) {
    scf.for %i = %zero to %n step %one {
      memref.store %f, %x[%i] : memref<?xf32>
    } {loopc.parallel}
    device.yield
  }
  return
}

// -----

func.func @unknown(%x: memref<?xf32>, %n: index, %f: f32) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  // expected-error@+1 {{names @k::@g, which is no kernel}}
  device.region kernel @k::@g given(%x : memref<?xf32>) {
    scf.for %i = %zero to %n step %one {
      memref.store %f, %x[%i] : memref<?xf32>
    } {loopc.parallel}
    device.yield
  }
  return
}
gpu.module @k {
  gpu.func @f(%run: !llvm.ptr, %x: memref<?xf32>) kernel {
    gpu.return
  }
}

// -----

func.func @given(%x: memref<?xf32>, %n: index, %f: f32) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  // expected-error@+1 {{is given other types than those of @k::@f}}
  device.region kernel @k::@f given(%n : index) {
    scf.for %i = %zero to %n step %one {
      memref.store %f, %x[%i] : memref<?xf32>
    } {loopc.parallel}
    device.yield
  }
  return
}
gpu.module @k {
  gpu.func @f(%run: !llvm.ptr, %x: memref<?xf32>) kernel {
    gpu.return
  }
}

// -----

func.func @results(%x: memref<?xf32>, %n: index, %f: f32) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  // expected-error@+1 {{has results, which those of a kernel are loaded from memory}}
  %r = device.region kernel @k::@f given(%x : memref<?xf32>) {
    %s = scf.for %i = %zero to %n step %one iter_args(%a = %f) -> f32 {
      scf.yield %a : f32
    }
    device.yield %s : f32
  } : f32
  return
}
gpu.module @k {
  gpu.func @f(%run: !llvm.ptr, %x: memref<?xf32>) kernel {
    gpu.return
  }
}

// -----

func.func @words(%x: memref<?xf32>, %w: memref<4xindex>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  // expected-error@+1 {{reads 4 words for a buffer of rank 2}}
  %r = device.buffer %w of %x : memref<4xindex>, memref<?xf32> -> memref<?x?xf32>
  return
}
