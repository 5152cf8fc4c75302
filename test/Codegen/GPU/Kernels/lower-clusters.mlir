// RUN: loopc-opt %s -split-input-file --pass-pipeline='builtin.module(gpu.module(loopc-lower-kernels))' | FileCheck %s

// Where there are launches of clusters, blocks that are one wait by its barrier;
// one block by its own, and others by what they count in device memory.
// CHECK-LABEL: gpu.module @with
// CHECK: llvm.func internal @loopc_barrier
// CHECK-DAG: %[[BLOCKS:.+]] = nvvm.read.ptx.sreg.nctaid.x
// CHECK-DAG: %[[SIZE:.+]] = nvvm.read.ptx.sreg.cluster.nctaid.x
// CHECK-DAG: %[[SEVERAL:.+]] = llvm.icmp "ne" %[[BLOCKS]],
// CHECK-DAG: %[[WHOLE:.+]] = llvm.icmp "eq" %[[BLOCKS]], %[[SIZE]]
// CHECK: %[[IS:.+]] = llvm.and %[[SEVERAL]], %[[WHOLE]]
// CHECK: llvm.cond_br %[[IS]], ^[[CLUSTER:.+]], ^[[OTHER:.+]]
// CHECK: ^[[CLUSTER]]:
// CHECK-NEXT: nvvm.cluster.arrive {aligned}
// CHECK-NEXT: nvvm.cluster.wait {aligned}
// CHECK: ^[[OTHER]]:
// CHECK: nvvm.barrier
// CHECK: llvm.atomicrmw add
gpu.module @with attributes {loopc.clusters} {
  gpu.func @wait(%control: !llvm.ptr) kernel {
    device.barrier
    gpu.return
  }
}

// -----

// CHECK-LABEL: gpu.module @without
// CHECK-NOT: cluster
gpu.module @without {
  gpu.func @wait(%control: !llvm.ptr) kernel {
    device.barrier
    gpu.return
  }
}
