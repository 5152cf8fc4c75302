// RUN: loopc-opt %s --loopc-outline-nests=min-ops=1 --split-input-file \
// RUN:   | FileCheck %s

// What a branch yields may be the memory that was allocated: the function that
// writes to it must not take it for another.
// CHECK-LABEL: func.func @yielded(
// CHECK: func.func private @yielded_nest(
// CHECK-NOT: llvm.noalias
// CHECK: memref.store
func.func @yielded(%c: i1) -> memref<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %x = memref.alloc() : memref<8xf32>
  %z = memref.alloc() : memref<8xf32>
  %y = scf.if %c -> memref<8xf32> {
    scf.yield %x : memref<8xf32>
  } else {
    scf.yield %z : memref<8xf32>
  }
  scf.for %i = %c0 to %c8 step %c1 {
    %a = memref.load %y[%c0] : memref<8xf32>
    memref.store %a, %x[%i] : memref<8xf32>
  }
  return %x : memref<8xf32>
}

// -----

// Equal nests are one function. It knows of its memory what holds at each call:
// %y is reached through one argument at one of them only.
// CHECK-LABEL: func.func @once_private(
// CHECK: call @once_private_nest(
// CHECK: call @once_private_nest(
// CHECK: func.func private @once_private_nest(
// CHECK-NOT: llvm.noalias
// CHECK: memref.store
func.func @once_private(%x: memref<8xf32>, %z: memref<8xf32>) -> memref<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %y = memref.alloc() : memref<8xf32>
  scf.for %i = %c0 to %c8 step %c1 {
    %a = memref.load %x[%i] : memref<8xf32>
    memref.store %a, %y[%i] : memref<8xf32>
  }
  scf.for %i = %c0 to %c8 step %c1 {
    %a = memref.load %x[%i] : memref<8xf32>
    memref.store %a, %z[%i] : memref<8xf32>
  }
  return %y : memref<8xf32>
}
