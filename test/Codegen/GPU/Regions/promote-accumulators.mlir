// RUN: loopc-opt %s --loopc-promote-accumulators | FileCheck %s

// CHECK-LABEL: func.func @sums
// CHECK: device.region
// CHECK: scf.for
// CHECK-NEXT: %[[FIRST:.+]] = memref.load
// CHECK-NEXT: %[[SUM:.+]] = scf.for {{.+}} iter_args(%{{.+}} = %[[FIRST]])
// CHECK-NOT: memref.store
// CHECK: scf.yield
// CHECK: memref.store %[[SUM]]
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

// What is written in each iteration is read there by another operation than a
// load: it stays in memory.
// CHECK-LABEL: func.func @read_otherwise
// CHECK: scf.for
// CHECK-NEXT: scf.for
// CHECK: memref.store
// CHECK: memref.atomic_rmw
func.func @read_otherwise(%x: memref<4x8xf32>, %s: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  device.region {
    scf.for %i = %c0 to %c4 step %c1 {
      scf.for %k = %c0 to %c8 step %c1 {
        %e = memref.load %x[%i, %k] : memref<4x8xf32>
        memref.store %e, %s[%i] : memref<4xf32>
        %view = memref.cast %s : memref<4xf32> to memref<?xf32>
        %r = memref.atomic_rmw addf %e, %view[%i] : (f32, memref<?xf32>) -> f32
      }
    } {loopc.parallel}
    device.yield
  }
  return
}
