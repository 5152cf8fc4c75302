// RUN: loopc-opt %s --loopc-verify-stage=stage=llvm --verify-diagnostics --split-input-file

llvm.func @loopc_rt_alloc(!llvm.ptr, i64) -> !llvm.ptr
llvm.func @tanhf(f32) -> f32
llvm.func @holds(%run: !llvm.ptr, %n: i64) -> !llvm.ptr {
  %p = llvm.call @loopc_rt_alloc(%run, %n) : (!llvm.ptr, i64) -> !llvm.ptr
  llvm.return %p : !llvm.ptr
}
llvm.func internal @nest(%x: f32) -> f32 attributes {loopc.nest, loopc.outlined} {
  %y = llvm.call @tanhf(%x) : (f32) -> f32
  llvm.return %y : f32
}
gpu.module @kernels {
  llvm.func @__nv_tanhf(f32) -> f32
  llvm.func @wait() {
    nvvm.barrier0
    llvm.return
  }
}

// -----

// expected-error @+2 {{stage llvm: 'llvm.func' op declares 'memrefCopy', which neither the runtime nor libm has}}
// expected-note @+1 {{please report it}}
llvm.func @memrefCopy(i64, !llvm.ptr, !llvm.ptr)

// -----

// The types are those of loopc-rt/runtime.h.
// expected-error @+2 {{stage llvm: 'llvm.func' op declares 'loopc_rt_alloc' of '!llvm.func<ptr (i64)>', and the runtime has it of '!llvm.func<ptr (ptr, i64)>'}}
// expected-note @+1 {{please report it}}
llvm.func @loopc_rt_alloc(i64) -> !llvm.ptr

// -----

gpu.module @kernels {
  // expected-error @+2 {{stage llvm: 'llvm.func' op declares 'tanhf', which neither libdevice nor CUDA has}}
  // expected-note @+1 {{please report it}}
  llvm.func @tanhf(f32) -> f32
}

// -----

llvm.func @cast(%p: !llvm.ptr) {
  // expected-error @+2 {{stage llvm: 'builtin.unrealized_conversion_cast' op is not of the LLVM dialect}}
  // expected-note @+1 {{please report it}}
  %0 = builtin.unrealized_conversion_cast %p : !llvm.ptr to index
  llvm.return
}

// -----

llvm.func @other() {
  // expected-error @+2 {{stage llvm: 'arith.constant' op is not of the LLVM dialect}}
  // expected-note @+1 {{please report it}}
  %0 = arith.constant 1 : i32
  llvm.return
}

// -----

// What is the device's stays there.
llvm.func @device() {
  // expected-error @+2 {{stage llvm: 'nvvm.barrier0' op is not of the LLVM dialect}}
  // expected-note @+1 {{please report it}}
  nvvm.barrier0
  llvm.return
}

// -----

// expected-error @+2 {{stage llvm: 'llvm.func' op is marked 'loopc.outlined', and is not internal}}
// expected-note @+1 {{please report it}}
llvm.func @outlined() attributes {loopc.outlined} {
  llvm.return
}

// -----

llvm.func @loopc_rt_poll(!llvm.ptr) -> i32
llvm.func internal @nest(%run: !llvm.ptr) -> i32 attributes {loopc.nest} {
  // expected-error @+2 {{stage llvm: 'llvm.call' op calls 'loopc_rt_poll' in a function that is marked 'loopc.nest'}}
  // expected-note @+1 {{please report it}}
  %status = llvm.call @loopc_rt_poll(%run) : (!llvm.ptr) -> i32
  llvm.return %status : i32
}
