// RUN: loopc-opt %s --loopc-split-sums | FileCheck %s

// 256 parts, what is left over, and the sum of the parts.
// CHECK-LABEL: func.func @norm
// CHECK: %[[PARTS:.+]] = memref.alloc() : memref<256xf32>
// CHECK: scf.for
// CHECK: scf.for %[[P:.+]] = %{{.+}} to %c256
// CHECK: %[[SUM:.+]] = scf.for
// CHECK: memref.store %[[SUM]], %[[PARTS]][%[[P]]]
// CHECK-NEXT: } {loopc.parallel}
// CHECK: %[[REST:.+]] = scf.for %{{.+}} = %c99840 to %c100000
// CHECK: scf.for {{.+}} iter_args(%{{.+}} = %[[REST]])
// CHECK: memref.load %[[PARTS]]
// CHECK: memref.dealloc %[[PARTS]]
func.func @norm(%x: memref<100000xf32>, %s: memref<f32>, %n: index, %zero: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %many = arith.constant 100000 : index
  scf.for %t = %c0 to %n step %c1 {
    %sum = scf.for %k = %c0 to %many step %c1 iter_args(%a = %zero) -> f32 {
      %e = memref.load %x[%k] : memref<100000xf32>
      %b = arith.addf %a, %e : f32
      scf.yield %b : f32
    }
    scf.for %i = %c0 to %many step %c1 {
      memref.store %sum, %x[%i] : memref<100000xf32>
    } {loopc.parallel}
  }
  return
}
