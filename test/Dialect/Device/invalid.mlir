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

// -----

func.func @graph(%n: index, %w: i64) {
  // expected-error @below {{has a node in the body of condition 0, which is not in front of it}}
  device.graph [@k::@a] nodes [0, -1, 0, 1] handles 0 words 0 blocks(%n) args()
  return
}

// -----

func.func @graph(%n: index, %w: i64) {
  // expected-error @below {{has a node that is kernel 1 of 1}}
  device.graph [@k::@a] nodes [-1, -1, 1, 1] handles 0 words 0 blocks(%n) args()
  return
}

// -----

func.func @graph(%n: index, %w: i64) {
  // expected-error @below {{has condition 1, where number 0 is next}}
  device.graph [@k::@a] nodes [-1, 1, 0, 0] handles 1 words 1 blocks() args()
  return
}

// -----

func.func @graph(%n: index, %w: i64) {
  // expected-error @below {{has 1 nodes that are kernels and 0 counts of blocks}}
  device.graph [@k::@a] nodes [-1, -1, 0, 1] handles 0 words 0 blocks() args()
  return
}

// -----

func.func @graph(%n: index, %w: i64) {
  // expected-error @below {{has a state of 1 words for 1 handles and 1 arguments}}
  device.graph [@k::@a] nodes [-1, -1, 0, 1, -1, 0, 1, 0] handles 1 words 1 blocks(%n) args(%w)
  return
}

// -----

func.func @graph(%n: index, %w: i64) {
  // expected-error @below {{has 1 conditions and handles for 2}}
  device.graph [@k::@a] nodes [-1, 0, 1, 0] handles 2 words 2 blocks() args()
  return
}

// -----

func.func @graph(%n: index, %w: i64) {
  // expected-error @below {{has nodes that are not four numbers each}}
  device.graph [@k::@a] nodes [-1, 0, 1] handles 0 words 0 blocks() args()
  return
}

// -----

gpu.module @kernels {
  gpu.func @waits_in_part(%control: !llvm.ptr, %ok: i1) kernel {
    // expected-error@+1 {{'device.part' op holds 'gpu.barrier', where threads wait for others that may have left}}
    device.part {
      loop.check %ok, "it fails"
      // expected-note@+1 {{waits here}}
      gpu.barrier
      device.yield
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @not_last(%control: !llvm.ptr) kernel {
    // expected-error@+1 {{'device.part' op is not the last operation of a kernel}}
    device.part last {
      loop.poll
      device.yield
    }
    gpu.barrier
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @last_waits(%control: !llvm.ptr) kernel {
    // expected-error@+1 {{'device.part' op is the last of its kernel, and nobody of a block waits behind it}}
    device.part block last {
      loop.poll
      device.yield
    }
    gpu.return
  }
}

// -----

func.func @no_barriers(%x: memref<?xf32>, %n: index, %f: f32) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  // expected-error@+1 {{has a shape without barriers, and a kernel whose blocks wait for one another}}
  device.region kernel @k::@f given (%x : memref<?xf32>) shape <barriers = false, tiles = false, splits = false> {
    scf.for %i = %zero to %n step %one {
      memref.store %f, %x[%i] : memref<?xf32>
    }
    device.yield
  }
  return
}
gpu.module @k {
  gpu.func @f(%run: !llvm.ptr, %x: memref<?xf32>) kernel {
    // expected-note@+1 {{wait here}}
    device.poll
    gpu.return
  }
}

// -----

func.func @any_block(%x: memref<?xf32>, %n: index, %f: f32) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  // expected-error@+1 {{has tiles, for blocks of a fixed size, and a kernel for blocks of any}}
  device.region kernel @k::@f given (%x : memref<?xf32>) shape <barriers = true, tiles = true, splits = false> {
    scf.for %i = %zero to %n step %one {
      memref.store %f, %x[%i] : memref<?xf32>
    }
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

gpu.module @k {
  llvm.func @a(!llvm.ptr, !llvm.ptr) attributes {gpu.kernel}
}
func.func @graph_of_what_does_not_say(%n: index) {
  // expected-error @+1 {{names @k::@a, which does not say by 'loopc.conditions' which conditions it sets}}
  device.graph [@k::@a] nodes [-1, -1, 0, 1] handles 0 words 0 blocks(%n) args()
  return
}

// -----

gpu.module @k {
  llvm.func @a(!llvm.ptr, !llvm.ptr) attributes {gpu.kernel, loopc.conditions = array<i32: 1>}
}
func.func @graph_of_another_condition(%n: index) {
  // expected-error @+1 {{names @k::@a, which sets condition 1 of 1}}
  device.graph [@k::@a] nodes [-1, -1, 0, 1, -1, 0, 1, 0] handles 1 words 1 blocks(%n) args()
  return
}

// -----

gpu.module @k {
  llvm.func @a(!llvm.ptr, !llvm.ptr) attributes {gpu.kernel, loopc.conditions = array<i32>}
}
func.func @graph_without_end(%n: index) {
  // expected-error @+1 {{has condition 0, which no kernel sets}}
  device.graph [@k::@a] nodes [-1, -1, 0, 1, -1, 0, 1, 0] handles 1 words 1 blocks(%n) args()
  return
}

// -----

func.func @graph_of_nothing(%n: index) {
  // expected-error @+1 {{names @k::@a, which is no kernel}}
  device.graph [@k::@a] nodes [-1, -1, 0, 1] handles 0 words 0 blocks(%n) args()
  return
}
