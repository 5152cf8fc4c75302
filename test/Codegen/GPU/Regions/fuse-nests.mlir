// RUN: loopc-opt %s --loopc-fuse-nests | FileCheck %s

// What is handed on is in a register.
// CHECK-LABEL: func.func @fill
// CHECK: scf.for
// CHECK-NOT: memref.load
// CHECK: memref.store
// CHECK: memref.store
// CHECK-NEXT: } {loopc.parallel}
// CHECK-NOT: scf.for
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
