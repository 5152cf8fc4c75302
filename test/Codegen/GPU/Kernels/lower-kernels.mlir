// RUN: loopc-opt %s --pass-pipeline='builtin.module(gpu.module(loopc-lower-kernels))' | FileCheck %s

// CHECK: gpu.module @loopc_kernels attributes {loopc.messages = ["index {} is out of range"]}
gpu.module @loopc_kernels {
  // What only some threads compute goes on behind the part, where all learn of
  // it; one that finds the run failed at its beginning returns.
  // CHECK-LABEL: gpu.func @part
  // CHECK: llvm.call @loopc_barrier(%arg0)
  // CHECK: cf.cond_br %arg1, ^[[CHECK:.+]], ^[[BEHIND:.+]]
  // CHECK: ^[[CHECK]]:
  // CHECK: cf.cond_br %arg1, ^[[REST:.+]], ^[[FAIL:.+]]
  // CHECK: ^[[FAIL]]:
  // CHECK: llvm.cmpxchg
  // CHECK: cf.cond_br %{{.*}}, ^[[RECORD:.+]], ^[[END:.+]]
  // CHECK: ^[[RECORD]]:
  // CHECK: llvm.store
  // CHECK: cf.br ^[[END]]
  // CHECK: ^[[REST]]:
  // CHECK: cf.br ^[[BEHIND]]
  // CHECK: ^[[BEHIND]]:
  // CHECK: cf.br ^[[END]]
  // CHECK: ^[[END]]:
  // CHECK: llvm.call @loopc_barrier(%arg0)
  gpu.func @part(%control: !llvm.ptr, %ok: i1, %i: index) kernel {
    device.part {
      cf.cond_br %ok, ^check, ^behind
    ^check:
      loop.check %ok, "index {} is out of range" (%i : index)
      cf.br ^behind
    ^behind:
      device.yield
    }
    gpu.return
  }
  // CHECK-LABEL: gpu.func @wait
  // CHECK: llvm.call @loopc_barrier(%arg0)
  // CHECK-NOT: device.barrier
  gpu.func @wait(%control: !llvm.ptr) kernel {
    device.barrier
    gpu.return
  }
  // Blocks that do not wait for one another look by themselves: the first thread
  // does, and a barrier tells the others.
  // CHECK-LABEL: gpu.func @separate
  // CHECK-NOT: llvm.call @loopc_barrier
  // CHECK: nvvm.read.ptx.sreg.tid.x
  // CHECK: cf.cond_br %{{.*}}, ^[[LOOK:.+]], ^[[MEET:.+]](%{{.+}} : i32)
  // CHECK: ^[[LOOK]]:
  // CHECK: cf.br ^[[MEET]](%{{.+}} : i32)
  // CHECK: ^[[MEET]](%[[FOUND:.+]]: i32):
  // CHECK: nvvm.barrier #nvvm.reduction<or> %[[FOUND]] -> i32
  // CHECK-NOT: llvm.call @loopc_barrier
  gpu.func @separate(%control: !llvm.ptr) kernel {
    device.poll block
    gpu.return
  }
  // Behind the last part nothing follows: who fails in it returns.
  // CHECK-LABEL: gpu.func @last
  // CHECK-NOT: llvm.call @loopc_barrier
  // CHECK: cf.cond_br %{{.*}}, ^[[WORK:.+]], ^[[RETURN:.+]]
  // CHECK: ^[[WORK]]:
  // CHECK: cf.cond_br %{{.*}}, ^{{.+}}, ^[[RETURN]]
  // CHECK-NOT: llvm.call @loopc_barrier
  // CHECK: ^[[RETURN]]:
  // CHECK-NEXT: gpu.return
  gpu.func @last(%control: !llvm.ptr) kernel {
    device.part last {
      loop.poll
      device.yield
    }
    gpu.return
  }
  // CHECK-LABEL: gpu.func @sum
  // CHECK-NOT: gpu.all_reduce
  // CHECK: gpu.shuffle
  // CHECK: gpu.return
  gpu.func @sum(%control: !llvm.ptr, %x: f32, %y: memref<1xf32>) kernel {
    %c0 = arith.constant 0 : index
    %s = gpu.all_reduce add %x uniform {} : (f32) -> f32
    memref.store %s, %y[%c0] : memref<1xf32>
    gpu.return
  }
  // Reductions, with a barrier between, have one buffer for each type.
  // CHECK-LABEL: gpu.func @sums
  // CHECK-SAME: workgroup(%[[F32:[^ ]+]] : memref<32xf32, {{[^,]+}}>, %[[OTHER:[^ ]+]] : memref<32xf32, {{[^,]+}}>, %[[F64:[^ ]+]] : memref<32xf64,
  // CHECK-NOT: %[[OTHER]][
  // CHECK: memref.store %{{.*}}, %[[F64]][
  // CHECK-NOT: %[[OTHER]][
  // CHECK: gpu.return
  gpu.func @sums(%control: !llvm.ptr, %x: f32, %z: f64, %y: memref<1xf32>) kernel {
    %c0 = arith.constant 0 : index
    %s = gpu.all_reduce add %x uniform {} : (f32) -> f32
    gpu.barrier
    %t = gpu.all_reduce add %s uniform {} : (f32) -> f32
    %u = gpu.all_reduce add %z uniform {} : (f64) -> f64
    %v = arith.truncf %u : f64 to f32
    %w = arith.addf %t, %v : f32
    memref.store %w, %y[%c0] : memref<1xf32>
    gpu.return
  }
  // Kernels of a graph do not begin by looking at the host's word. One that sets
  // conditions and ends before its time lets nothing more begin.
  // CHECK-LABEL: gpu.func @latch
  // CHECK-SAME: (%arg0: !llvm.ptr, %[[STATE:.+]]: !llvm.ptr)
  // CHECK: %[[FAILED:.+]] = llvm.load volatile %{{.*}} -> i32
  // CHECK-NEXT: llvm.getelementptr %arg0[288]
  // CHECK-NEXT: %[[WORD:.+]] = llvm.load volatile %{{.*}} -> i32
  // CHECK-NEXT: llvm.or %[[FAILED]], %[[WORD]]
  // CHECK: cf.cond_br %{{.*}}, ^{{.*}}, ^[[END:.+]]
  // CHECK: ^[[END]]:
  // CHECK: %[[THREAD:.+]] = nvvm.read.ptx.sreg.tid.x
  // CHECK: %[[IS:.+]] = llvm.icmp "eq" %[[THREAD]],
  // CHECK: cf.cond_br %[[IS]], ^[[CLEAR:.+]], ^[[REST:.+]]
  // CHECK: ^[[CLEAR]]:
  // CHECK: %[[PLACE:.+]] = llvm.getelementptr %[[STATE]][2]
  // CHECK: %[[HANDLE:.+]] = llvm.load %[[PLACE]]
  // CHECK: llvm.call @cudaGraphSetConditional(%[[HANDLE]], %{{.*}})
  // CHECK-NEXT: cf.br ^[[REST]]
  llvm.func @cudaGraphSetConditional(i64, i32)
  gpu.func @latch(%control: !llvm.ptr, %state: !llvm.ptr) kernel attributes {loopc.conditions = array<i32: 2>} {
    %place = llvm.getelementptr %state[2] : (!llvm.ptr) -> !llvm.ptr, i64
    %handle = llvm.load %place : !llvm.ptr -> i64
    %one = llvm.mlir.constant(1 : i32) : i32
    llvm.call @cudaGraphSetConditional(%handle, %one) : (i64, i32) -> ()
    gpu.return
  }
  // CHECK: llvm.func internal @loopc_barrier
}
