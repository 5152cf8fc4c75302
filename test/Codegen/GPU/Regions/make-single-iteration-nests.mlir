// RUN: loopc-opt %s --loopc-set-target='chip=sm_80 min-work=0' --loopc-make-single-iteration-nests | FileCheck %s

// The host would wait for the element.
// CHECK-LABEL: func.func @mean
// CHECK: } {loopc.parallel}
// CHECK-NOT: memref.load
// CHECK: scf.for
// CHECK-NEXT: memref.load
// CHECK-NEXT: %[[MEAN:.+]] = arith.mulf
// CHECK-NEXT: memref.store %[[MEAN]], %{{.+}}[] : memref<f32>
// CHECK-NEXT: } {loopc.parallel}
func.func @mean(%x: memref<1000xf32>, %m: memref<f32>, %f: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 1000 : index
  %d = arith.constant 1.0e-3 : f32
  scf.for %i = %c0 to %n step %c1 {
    memref.store %f, %x[%i] : memref<1000xf32>
  } {loopc.parallel}
  %e = memref.load %x[%c0] : memref<1000xf32>
  %s = arith.mulf %e, %d : f32
  memref.store %s, %m[] : memref<f32>
  return
}
