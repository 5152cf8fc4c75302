// RUN: loopc-opt %s -split-input-file -verify-diagnostics --loopc-prove-kernel-marks

// Blocks have no slices that read one another's elements.

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @steps(%run: !llvm.ptr, %s: memref<8x16xf32>) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c7 = arith.constant 7 : index
      %c10 = arith.constant 10 : index
      %c16 = arith.constant 16 : index
      // expected-error @below {{is marked 'loopc.slices', and that is not proved: an iteration may read what another one writes}}
      scf.for %b = %c0 to %c7 step %c1 {
        %next = arith.addi %b, %c1 : index
        scf.for %t = %c0 to %c10 step %c1 {
          scf.for %i = %c0 to %c16 step %c1 {
            %v = memref.load %s[%next, %i] : memref<8x16xf32>
            memref.store %v, %s[%b, %i] : memref<8x16xf32>
          } {loopc.parallel}
        }
      } {loopc.slices}
      gpu.return
    }
  }
  func.func @host(%s: memref<8x16xf32>, %f: f32) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    device.region kernel @kernels::@steps given(%s : memref<8x16xf32>) {
      scf.for %i = %c0 to %c1 step %c1 {
        memref.store %f, %s[%c0, %c0] : memref<8x16xf32>
      }
      device.yield
    }
    return
  }
}

// -----

// A value of a slice is not one of the whole loop.

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @steps(%run: !llvm.ptr, %s: memref<8x16xf32>, %last: memref<1xf32>) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      %c10 = arith.constant 10 : index
      %zero = arith.constant 0.0 : f32
      // expected-error @below {{is marked 'loopc.slices', and that is not proved: iterations result in different values}}
      %r = scf.for %b = %c0 to %c8 step %c1 iter_args(%a = %zero) -> f32 {
        %sum = scf.for %t = %c0 to %c10 step %c1 iter_args(%c = %zero) -> f32 {
          %v = memref.load %s[%b, %t] : memref<8x16xf32>
          %d = arith.addf %c, %v : f32
          scf.yield %d : f32
        }
        scf.yield %sum : f32
      } {loopc.slices}
      memref.store %r, %last[%c0] : memref<1xf32>
      gpu.return
    }
  }
  func.func @host(%s: memref<8x16xf32>, %last: memref<1xf32>, %f: f32) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    device.region kernel @kernels::@steps given(%s, %last : memref<8x16xf32>, memref<1xf32>) {
      scf.for %i = %c0 to %c1 step %c1 {
        memref.store %f, %s[%c0, %c0] : memref<8x16xf32>
      }
      device.yield
    }
    return
  }
}

// -----

// A kernel does not write to what its loop only reads.

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @copy(%run: !llvm.ptr, %x: memref<8xf32>, %y: memref<8xf32>, %word: memref<1xf32>) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      scf.for %i = %c0 to %c8 step %c1 {
        %v = memref.load %y[%i] : memref<8xf32>
        memref.store %v, %x[%i] : memref<8xf32>
        memref.store %v, %word[%c0] : memref<1xf32>
      }
      gpu.return
    }
  }
  func.func @host(%x: memref<8xf32>, %y: memref<8xf32>, %word: memref<1xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    // expected-error @below {{has a kernel that writes to what it is given as #0, which its loop does not write to}}
    device.region kernel @kernels::@copy given(%x, %y, %word : memref<8xf32>, memref<8xf32>, memref<1xf32>) {
      scf.for %i = %c0 to %c8 step %c1 {
        %v = memref.load %x[%i] : memref<8xf32>
        memref.store %v, %y[%i] : memref<8xf32>
      }
      device.yield
    }
    return
  }
}

// -----

// However it does so.

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @count(%run: !llvm.ptr, %x: memref<8xf32>, %y: memref<8xf32>) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      scf.for %i = %c0 to %c8 step %c1 {
        %v = memref.load %y[%i] : memref<8xf32>
        %w = memref.atomic_rmw addf %v, %x[%c0] : (f32, memref<8xf32>) -> f32
      }
      gpu.return
    }
  }
  func.func @host(%x: memref<8xf32>, %y: memref<8xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    // expected-error @below {{has a kernel that writes to what it is given as #0, which its loop does not write to}}
    device.region kernel @kernels::@count given(%x, %y : memref<8xf32>, memref<8xf32>) {
      scf.for %i = %c0 to %c8 step %c1 {
        %v = memref.load %x[%i] : memref<8xf32>
        memref.store %v, %y[%i] : memref<8xf32>
      }
      device.yield
    }
    return
  }
}
