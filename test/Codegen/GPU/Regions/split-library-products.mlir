// RUN: loopc-opt %s --loopc-set-target='chip=sm_80 cublas=on' --loopc-split-library-products | FileCheck %s
// RUN: loopc-opt %s --loopc-set-target='chip=sm_80 cublas=off' --loopc-split-library-products | FileCheck %s --check-prefix=OFF

// The product alone, then what is made of it.
// CHECK-LABEL: func.func @product
// CHECK: %[[SUMS:.+]] = memref.alloc() : memref<64x64xf32>
// CHECK: %[[SUM:.+]] = scf.for
// CHECK: memref.store %[[SUM]], %[[SUMS]]
// CHECK: } {loopc.parallel}
// CHECK: %[[LOADED:.+]] = memref.load %[[SUMS]]
// CHECK: math.tanh
// CHECK: } {loopc.parallel}
// CHECK: memref.dealloc %[[SUMS]]
// OFF-LABEL: func.func @product
// OFF-NOT: memref.alloc
func.func @product(%x: memref<64x64xf32>, %w: memref<64x64xf32>, %y: memref<64x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %c64 step %c1 {
    scf.for %j = %c0 to %c64 step %c1 {
      %s = scf.for %k = %c0 to %c64 step %c1 iter_args(%a = %zero) -> f32 {
        %e = memref.load %x[%i, %k] : memref<64x64xf32>
        %v = memref.load %w[%k, %j] : memref<64x64xf32>
        %p = arith.mulf %e, %v fastmath<contract> : f32
        %b = arith.addf %a, %p fastmath<reassoc,contract> : f32
        scf.yield %b : f32
      }
      %t = math.tanh %s : f32
      memref.store %t, %y[%i, %j] : memref<64x64xf32>
    } {loopc.parallel}
  } {loopc.parallel}
  return
}
