// RUN: loopc-opt %s --loopc-set-target='chip=sm_90 min-work=0' --loopc-to-kernels | FileCheck %s
// RUN: loopc-opt %s --loopc-set-target='chip=sm_80 min-work=0' --loopc-to-kernels | FileCheck %s --check-prefix=OLD
// RUN: loopc-opt %s --loopc-set-target='chip=sm_90 min-work=0 loops=cluster' --loopc-to-kernels | FileCheck %s --check-prefix=ALL
// RUN: loopc-opt %s --loopc-set-target='chip=sm_80 min-work=0 loops=cluster' --loopc-to-kernels | FileCheck %s --check-prefix=OLD
// RUN: loopc-opt %s --loopc-set-target='chip=sm_90 min-work=0' --loopc-to-kernels --convert-scf-to-cf --convert-launches-to-llvm | FileCheck %s --check-prefix=LLVM

// Little work is one block's, more that of a cluster of at most 8 blocks, and
// much the whole device's. The kernels of a module with clusters know of them.
// CHECK-LABEL: func.func @loopc_entry
// CHECK: gpu.launch_func @loopc_kernels::@loop_0 blocks in (%[[ONE:.+]], %{{.+}}, %{{.+}})
// CHECK-NOT: loopc.cluster
// CHECK: gpu.launch_func @loopc_kernels::@loop_1
// CHECK-SAME: {loopc.cluster, loopc.cooperative}
// CHECK: gpu.launch_func @loopc_kernels::@loop_2
// CHECK-NOT: loopc.cluster}
// CHECK: gpu.module @loopc_kernels attributes {loopc.clusters}

// OLD-NOT: loopc.cluster

// ALL: gpu.launch_func @loopc_kernels::@loop_0
// ALL-SAME: {loopc.cluster, loopc.cooperative}
// ALL: gpu.launch_func @loopc_kernels::@loop_1
// ALL-SAME: {loopc.cluster, loopc.cooperative}
// ALL: gpu.launch_func @loopc_kernels::@loop_2
// ALL-SAME: {loopc.cluster, loopc.cooperative}

// The flags of the launches: LOOPC_CUDA_COOPERATIVE, and LOOPC_CUDA_CLUSTER.
// LLVM: llvm.call @loopc_rt_cuda_launch(
// LLVM: %[[BOTH:.+]] = llvm.mlir.constant(3 : i32) : i32
// LLVM: llvm.call @loopc_rt_cuda_launch(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[BOTH]], %{{.*}})
// LLVM-NOT: llvm.mlir.constant(3 : i32)
// LLVM: llvm.call @loopc_rt_cuda_launch(
func.func @loopc_entry(%run: !rt.run, %in: !llvm.ptr, %out: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c100 = arith.constant 100 : index
  %small = arith.constant 1000 : index
  %medium = arith.constant 100000 : index
  %large = arith.constant 10000000 : index
  %ok = llvm.mlir.constant(0 : i32) : i32
  %x = memref.alloc() : memref<10000000xf32>
  %y = memref.alloc() : memref<10000000xf32>
  scf.for %t = %c0 to %c100 step %c1 {
    scf.for %i = %c0 to %small step %c1 {
      %v = memref.load %x[%i] : memref<10000000xf32>
      memref.store %v, %y[%i] : memref<10000000xf32>
    } {loopc.parallel}
    scf.for %i = %c0 to %small step %c1 {
      %j = arith.addi %i, %c1 : index
      %v = memref.load %y[%j] : memref<10000000xf32>
      memref.store %v, %x[%i] : memref<10000000xf32>
    } {loopc.parallel}
  }
  scf.for %t = %c0 to %c100 step %c1 {
    scf.for %i = %c0 to %medium step %c1 {
      %v = memref.load %x[%i] : memref<10000000xf32>
      memref.store %v, %y[%i] : memref<10000000xf32>
    } {loopc.parallel}
    scf.for %i = %c0 to %medium step %c1 {
      %j = arith.addi %i, %c1 : index
      %v = memref.load %y[%j] : memref<10000000xf32>
      memref.store %v, %x[%i] : memref<10000000xf32>
    } {loopc.parallel}
  }
  scf.for %t = %c0 to %c100 step %c1 {
    scf.for %i = %c0 to %large step %c1 {
      %v = memref.load %x[%i] : memref<10000000xf32>
      memref.store %v, %y[%i] : memref<10000000xf32>
    } {loopc.parallel}
    scf.for %i = %c0 to %large step %c1 {
      %j = arith.addi %i, %c1 : index
      %v = memref.load %y[%j] : memref<10000000xf32>
      memref.store %v, %x[%i] : memref<10000000xf32>
    } {loopc.parallel}
  }
  return %ok : i32
}
