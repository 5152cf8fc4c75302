// RUN: loopc-opt %s -split-input-file --loopc-distribute-kernels -verify-diagnostics

// What holds: a block goes through its iterations together, and all of them get
// the same of a reduction, wherever the threads of a block differ alone.
gpu.module @kernels {
  gpu.func @holds(%control: !llvm.ptr, %x: memref<?xf32>, %n: index) kernel {
    %zero = arith.constant 0.0 : f32
    %block = gpu.block_id x
    %blocks = gpu.grid_dim x
    %thread = gpu.thread_id x
    %here = memref.load %x[%thread] : memref<?xf32>
    %sum = gpu.all_reduce add %here {} : (f32) -> f32
    %more = arith.cmpf ogt, %sum, %zero : f32
    scf.for %i = %block to %n step %blocks {
      gpu.barrier
    }
    scf.if %more {
      device.barrier
      loop.check %more, "it fails for all"
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @some_threads(%control: !llvm.ptr, %n: index) kernel {
    %thread = gpu.thread_id x
    %some = arith.cmpi ult, %thread, %n : index
    scf.if %some {
      // expected-error@+1 {{is not reached by all threads that wait for one another there}}
      gpu.barrier
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @some_blocks(%control: !llvm.ptr, %n: index) kernel {
    %block = gpu.block_id x
    %blocks = gpu.grid_dim x
    scf.for %i = %block to %n step %blocks {
      // expected-error@+1 {{is not reached by all threads that wait for one another there}}
      device.poll
    }
    gpu.return
  }
}

// -----

// A value that a loop of a number of iterations of its own leaves, through
// memory of its own.
gpu.module @kernels {
  gpu.func @own_count(%control: !llvm.ptr) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c9 = arith.constant 9 : index
    %thread = gpu.thread_id x
    %own = memref.alloca() : memref<1xindex>
    %last = scf.for %i = %c0 to %thread step %c1 iter_args(%a = %c0) -> index {
      %b = arith.addi %a, %c1 : index
      scf.yield %b : index
    }
    memref.store %last, %own[%c0] : memref<1xindex>
    %count = memref.load %own[%c0] : memref<1xindex>
    scf.while (%k = %c0) : (index) -> index {
      %goes = arith.cmpi ult, %k, %count : index
      scf.condition(%goes) %k : index
    } do {
    ^bb0(%k: index):
      // expected-error@+1 {{is not reached by all threads that wait for one another there}}
      gpu.barrier
      %next = arith.addi %k, %c1 : index
      scf.yield %next : index
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @own_check(%control: !llvm.ptr, %n: index) kernel {
    %thread = gpu.thread_id x
    %inside = arith.cmpi ult, %thread, %n : index
    // expected-error@+1 {{may fail for some threads only, and is in no 'device.part'}}
    loop.check %inside, "it fails for some"
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @own_poll(%control: !llvm.ptr) kernel {
    // expected-error@+1 {{is in no 'device.part', where a thread may leave alone}}
    loop.poll
    gpu.return
  }
}
