// RUN: loopc-opt %s --nest-mark-independent --nest-retract-unproved | FileCheck %s
// RUN: loopc-opt %s --nest-mark-independent | FileCheck %s --check-prefix=MARK
// RUN: loopc-opt %s --loopc-set-target=chip=sm_80 --nest-mark-independent | FileCheck %s --check-prefix=KERNEL

// A loop that only collects is a map: what it needs is each iteration's own.
// KERNEL-NOT: loopc.parallel
// CHECK-LABEL: func.func @collects(
// CHECK: memref.alloc() {loopc.private} : memref<64xf32>
// CHECK: memref.load
// CHECK: } {loopc.parallel}
// CHECK: return
func.func @collects(%x: memref<?x64xf32>, %y: memref<?x64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %row = memref.alloc() : memref<64xf32>
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %c64 step %c1 {
      %0 = memref.load %x[%i, %j] : memref<?x64xf32>
      %1 = math.exp %0 : f32
      memref.store %1, %row[%j] : memref<64xf32>
    }
    scf.for %j = %c0 to %c64 step %c1 {
      %0 = memref.load %row[%c0] : memref<64xf32>
      %1 = memref.load %row[%j] : memref<64xf32>
      %2 = arith.divf %1, %0 : f32
      memref.store %2, %y[%i, %j] : memref<?x64xf32>
    }
  }
  memref.dealloc %row : memref<64xf32>
  return
}

// Strips, between which the run is polled.
// CHECK-LABEL: func.func @strips(
// CHECK: scf.for
// CHECK: scf.for
// CHECK: } {loopc.parallel}
// CHECK: return
func.func @strips(%x: memref<?x64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %f = arith.constant 1.0 : f32
  scf.for %k = %c0 to %n step %c32 {
    %left = arith.subi %n, %k : index
    %size = arith.minsi %left, %c32 : index
    %end = arith.addi %k, %size : index
    scf.for %i = %k to %end step %c1 {
      scf.for %j = %c0 to %c32 step %c1 {
        memref.store %f, %x[%i, %j] : memref<?x64xf32>
      }
    }
    %whole = arith.cmpi eq, %size, %c32 : index
    scf.if %whole {
      loop.poll
    }
  }
  return
}

// An iteration reads what the one before it has left in the row, another one
// what that has written; few iterations are left to what is in them.
// CHECK-LABEL: func.func @depend(
// CHECK-NOT: loopc.p
// CHECK: return
func.func @depend(%x: memref<?x64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %f = arith.constant 1.0 : f32
  %row = memref.alloc() : memref<64xf32>
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %c64 step %c1 {
      %0 = memref.load %row[%j] : memref<64xf32>
      memref.store %0, %x[%i, %j] : memref<?x64xf32>
      memref.store %f, %row[%j] : memref<64xf32>
    }
  }
  memref.dealloc %row : memref<64xf32>
  scf.for %i = %c1 to %n step %c1 {
    %before = arith.subi %i, %c1 : index
    scf.for %j = %c0 to %c64 step %c1 {
      %0 = memref.load %x[%before, %j] : memref<?x64xf32>
      memref.store %0, %x[%i, %j] : memref<?x64xf32>
    }
  }
  scf.for %i = %c0 to %c4 step %c1 {
    scf.for %j = %c0 to %c64 step %c1 {
      %0 = math.exp %f : f32
      memref.store %0, %x[%i, %j] : memref<?x64xf32>
    }
  }
  return
}

// An iteration reads what another one has left, though the buffer is marked: it
// may be private to iterations of other loops.
// MARK-LABEL: func.func @marked_already(
// MARK-NOT: loopc.parallel
// MARK: return
func.func @marked_already(%x: memref<4096xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c4096 = arith.constant 4096 : index
  %row = memref.alloc() {loopc.private} : memref<64xf32>
  scf.for %i = %c0 to %c4096 step %c1 {
    %0 = memref.load %row[%c0] : memref<64xf32>
    memref.store %0, %x[%i] : memref<4096xf32>
    scf.for %j = %c0 to %c64 step %c1 {
      %1 = math.exp %0 : f32
      memref.store %1, %row[%j] : memref<64xf32>
    }
  }
  memref.dealloc %row : memref<64xf32>
  return
}
