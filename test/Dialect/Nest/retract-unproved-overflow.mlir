// RUN: loopc-opt %s --nest-retract-unproved | FileCheck %s

// In iteration 16 of the inner loop the place is 16 in front of the first one,
// as numbers of 64 bits wrap around: the iteration before writes there. As a
// number without end it would be the last iteration's that is the largest.
// CHECK-LABEL: func.func @wraps(
// CHECK: scf.for
// CHECK: scf.for
// CHECK: memref.store
// CHECK-NOT: loopc.parallel
// CHECK: return
func.func @wraps(%x: memref<?xf32>, %n: index, %f: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c33 = arith.constant 33 : index
  %far = arith.constant 1152921504606846975 : index
  scf.for %i = %c1 to %n step %c1 {
    scf.for %j = %c0 to %c33 step %c1 {
      %isOne = arith.cmpi eq, %j, %c16 : index
      scf.if %isOne {
        %part = arith.muli %i, %c16 : index
        %way = arith.muli %j, %far : index
        %at = arith.addi %part, %way : index
        memref.store %f, %x[%at] : memref<?xf32>
      }
    }
  } {loopc.parallel}
  return
}

// The end of the farther part is no number of 64 bits.
// CHECK-LABEL: func.func @far(
// CHECK: scf.for
// CHECK: memref.store
// CHECK-NOT: loopc.parallel
// CHECK: return
func.func @far(%x: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %far = arith.constant 9223372036854775807 : index
  scf.for %i = %c0 to %n step %c1 {
    %at = arith.addi %i, %far : index
    %0 = memref.load %x[%at] : memref<?xf32>
    memref.store %0, %x[%i] : memref<?xf32>
  } {loopc.parallel}
  return
}
