// RUN: loopc-opt %s --loopc-fold-kernel-views | FileCheck %s

// An iteration that writes a row says which one.
// CHECK-LABEL: func.func @rows
// CHECK-SAME: (%[[X:.+]]: memref<4x8xf32>,
// CHECK: scf.for %[[I:.+]] =
// CHECK-NOT: memref.reinterpret_cast
// CHECK: scf.for %[[J:.+]] =
// CHECK: memref.store %{{.+}}, %[[X]][%[[I]], %[[J]]] : memref<4x8xf32>
func.func @rows(%x: memref<4x8xf32>, %f: f32) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c4 step %c1 {
    %o = arith.muli %i, %c8 : index
    %row = memref.reinterpret_cast %x to offset: [%o], sizes: [8], strides: [1]
        : memref<4x8xf32> to memref<8xf32, strided<[1], offset: ?>>
    scf.for %j = %c0 to %c8 step %c1 {
      memref.store %f, %row[%j] : memref<8xf32, strided<[1], offset: ?>>
    } {loopc.parallel}
  }
  return %c8 : index
}
