// RUN: loopc-opt %s --pass-pipeline="builtin.module(gpu.module(loopc-lower-kernels))" -split-input-file -verify-diagnostics

// A kernel that fails clears the conditions that it is said to set: one that is
// not named would let a loop of a graph go on without end.
gpu.module @kernels {
  llvm.func @cudaGraphSetConditional(i64, i32)
  // expected-error @+1 {{sets 1 conditions, and attribute 'loopc.conditions' names 0}}
  gpu.func @dropped(%control: !llvm.ptr, %state: !llvm.ptr) kernel {
    %handle = llvm.load %state : !llvm.ptr -> i64
    %one = llvm.mlir.constant(1 : i32) : i32
    llvm.call @cudaGraphSetConditional(%handle, %one) : (i64, i32) -> ()
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @branch(%control: !llvm.ptr, %some: i1) kernel {
    scf.if %some {
      // expected-error @+1 {{stands in 'scf.if', which has to be lowered before}}
      loop.check %some, "it fails"
    }
    gpu.return
  }
}
