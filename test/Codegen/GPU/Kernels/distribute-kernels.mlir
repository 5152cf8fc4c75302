// RUN: loopc-opt %s --loopc-outline-kernels --loopc-distribute-kernels | FileCheck %s
// RUN: not loopc-opt %s --loopc-distribute-kernels 2>&1 | FileCheck %s --check-prefix=EARLY
// RUN: not loopc-opt %s --loopc-outline-kernels --loopc-distribute-kernels --loopc-distribute-kernels 2>&1 | FileCheck %s --check-prefix=TWICE

// EARLY: error: 'device.region' op has no kernel yet
// TWICE: error: 'device.region' op has a kernel that is dealt out to threads already
// A warp sums up a row, side by side.
// CHECK-LABEL: func.func @sums
// CHECK: device.region kernel @loopc_kernels::@nest_0
// CHECK-SAME: shape <barriers = false, tiles = false, splits = false>
// CHECK-LABEL: gpu.func @nest_0
// CHECK: gpu.thread_id {{ *}}x
// CHECK: gpu.subgroup_reduce {{ *}}add
// CHECK-NOT: loopc.parallel
// CHECK: gpu.return
func.func @sums(%x: memref<4x8xf32>, %s: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  device.region {
    scf.for %i = %c0 to %c4 step %c1 {
      scf.for %k = %c0 to %c8 step %c1 {
        %a = memref.load %s[%i] : memref<4xf32>
        %e = memref.load %x[%i, %k] : memref<4x8xf32>
        %b = arith.addf %a, %e : f32
        memref.store %b, %s[%i] : memref<4xf32>
      }
    } {loopc.parallel}
    device.yield
  }
  return
}
