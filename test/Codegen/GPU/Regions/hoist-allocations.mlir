// RUN: loopc-opt %s --loopc-hoist-allocations | FileCheck %s

// As much as the last iteration needs, in bytes.
// CHECK-LABEL: func.func @grow
// CHECK-SAME: %[[N:[a-z0-9]+]]: index
// CHECK: %[[AT_LEAST:.+]] = arith.maxsi %[[N]]
// CHECK: arith.muli %[[AT_LEAST]], %c4
// CHECK: %[[ALL:.+]] = memref.alloc(%{{.+}}) : memref<?xi8>
// CHECK: scf.for %[[T:.+]] = %c0 to %[[N]]
// CHECK-NEXT: %[[VIEW:.+]] = memref.view %[[ALL]][%{{.+}}][%[[T]]]
// CHECK: memref.store %{{.+}}, %[[VIEW]]
// CHECK: memref.dealloc %[[ALL]]
// CHECK-NEXT: return
func.func @grow(%x: memref<?xf32>, %n: index, %f: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %t = %c0 to %n step %c1 {
    %a = memref.alloc(%t) : memref<?xf32>
    scf.for %i = %c0 to %t step %c1 {
      memref.store %f, %a[%i] : memref<?xf32>
    } {loopc.parallel}
    scf.for %i = %c0 to %t step %c1 {
      %e = memref.load %a[%i] : memref<?xf32>
      memref.store %e, %x[%i] : memref<?xf32>
    } {loopc.parallel}
    memref.dealloc %a : memref<?xf32>
  }
  return
}

// Eight bits of a number are another one, which may be larger.
// CHECK-LABEL: func.func @fewerBits(
// CHECK: scf.for
// CHECK: memref.alloc
func.func @fewerBits(%x: memref<?xf32>, %n: index, %m: index, %f: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %t = %c0 to %n step %c1 {
    %byte = arith.index_cast %m : index to i8
    %size = arith.index_cast %byte : i8 to index
    %a = memref.alloc(%size) : memref<?xf32>
    scf.for %i = %c0 to %size step %c1 {
      memref.store %f, %a[%i] : memref<?xf32>
    } {loopc.parallel}
    scf.for %i = %c0 to %size step %c1 {
      %e = memref.load %a[%i] : memref<?xf32>
      memref.store %e, %x[%i] : memref<?xf32>
    } {loopc.parallel}
    memref.dealloc %a : memref<?xf32>
  }
  return
}
