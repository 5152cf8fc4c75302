// RUN: loopc-opt %s --loopc-outline-kernels --loopc-distribute-kernels --loopc-launch-kernels --canonicalize | FileCheck %s
// RUN: not loopc-opt %s --loopc-outline-kernels --loopc-launch-kernels 2>&1 | FileCheck %s --check-prefix=EARLY

// EARLY: error: 'device.region' op has a kernel that is not dealt out to threads yet
// Four warps' work is one block's.
// CHECK-LABEL: func.func @sums
// CHECK-NOT: device.region
// CHECK: gpu.launch_func {{ *}}@loopc_kernels::@nest_0 blocks in (%c1, %c1, %c1) threads in (%c256, %c1, %c1) {{ *}}args(
// CHECK-NOT: device.region
// CHECK: return
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
