// RUN: loopc-opt %s --loopc-set-target='chip=sm_80 loops=graph' --loopc-outline-kernels --loopc-make-loop-graphs | FileCheck %s

// What begins the loop, and an iteration.
// CHECK-LABEL: func.func @steps
// CHECK-NOT: device.region
// CHECK: device.graph [@loopc_kernels::@loop_0_k0, @loopc_kernels::@loop_0_k1]
// CHECK-LABEL: gpu.func @loop_0_k0
// CHECK-SAME: loopc.conditions = array<i32: 0>
// CHECK-LABEL: gpu.func @loop_0_k1
func.func @steps(%x: memref<64x8xf32>, %y: memref<64x8xf32>, %zero: f32, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  device.region {
    scf.for %t = %c0 to %n step %c1 {
      scf.for %i = %c0 to %c64 step %c1 {
        scf.for %j = %c0 to %c8 step %c1 {
          %s = scf.for %k = %c0 to %c8 step %c1 iter_args(%a = %zero) -> f32 {
            %e = memref.load %x[%i, %k] : memref<64x8xf32>
            %b = arith.addf %a, %e : f32
            scf.yield %b : f32
          }
          memref.store %s, %y[%i, %j] : memref<64x8xf32>
        } {loopc.parallel}
      } {loopc.parallel}
      scf.for %i = %c0 to %c64 step %c1 {
        scf.for %j = %c0 to %c8 step %c1 {
          %e = memref.load %y[%i, %j] : memref<64x8xf32>
          memref.store %e, %x[%i, %j] : memref<64x8xf32>
        } {loopc.parallel}
      } {loopc.parallel}
    }
    device.yield
  }
  return
}
