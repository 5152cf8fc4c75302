// RUN: loopc-opt %s -split-input-file --loopc-set-target='chip=sm_80 min-work=0' --loopc-select-kernels | FileCheck %s
// RUN: loopc-opt %s -split-input-file --loopc-select-kernels | FileCheck %s --check-prefix=SMALL
// RUN: loopc-opt %s -split-input-file --loopc-set-target='chip=sm_80 min-work=0 loops=host' --loopc-select-kernels | FileCheck %s --check-prefix=HOST

// CHECK-LABEL: func.func @fill
// CHECK: device.region {
// CHECK-NEXT: scf.for
// CHECK: } {loopc.parallel}
// CHECK-NEXT: device.yield
// CHECK: device.region {
// CHECK: return
func.func @fill(%x: memref<?xf32>, %y: memref<?xf32>, %n: index, %f: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    memref.store %f, %x[%i] : memref<?xf32>
  } {loopc.parallel}
  scf.for %i = %c0 to %n step %c1 {
    %e = memref.load %x[%i] : memref<?xf32>
    %s = arith.addf %e, %e : f32
    memref.store %s, %y[%i] : memref<?xf32>
  } {loopc.parallel}
  return
}

// -----

// Little work is the host's.
// SMALL-LABEL: func.func @little
// SMALL-NOT: device.region
// SMALL: return
func.func @little(%x: memref<4xf32>, %f: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    memref.store %f, %x[%i] : memref<4xf32>
  } {loopc.parallel}
  return
}

// -----

// A loop is one with the nests in it, unless the host drives it.
// CHECK-LABEL: func.func @loop
// CHECK: device.region {
// CHECK-NEXT: scf.for
// CHECK-NEXT: scf.for
// HOST-LABEL: func.func @loop
// HOST: scf.for
// HOST-NEXT: device.region {
func.func @loop(%x: memref<?xf32>, %n: index, %f: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %t = %c0 to %n step %c1 {
    scf.for %i = %c0 to %n step %c1 {
      memref.store %f, %x[%i] : memref<?xf32>
    } {loopc.parallel}
  }
  return
}
