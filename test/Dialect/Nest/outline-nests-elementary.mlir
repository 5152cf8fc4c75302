// RUN: loopc-opt %s --loopc-outline-nests=min-ops=60 | FileCheck %s

// A function of few operations is large where they are elementary functions.

// CHECK-LABEL: func.func @sines(
// CHECK-NOT: scf.for
// CHECK: call @sines_nest(
func.func @sines(%x: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    %0 = memref.load %x[%i] : memref<8xf32>
    %1 = math.sin %0 : f32
    %2 = math.sin %1 : f32
    %3 = math.sin %2 : f32
    %4 = math.sin %3 : f32
    memref.store %4, %x[%i] : memref<8xf32>
  }
  return
}

// CHECK-LABEL: func.func @roots(
// CHECK: scf.for
func.func @roots(%x: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    %0 = memref.load %x[%i] : memref<8xf32>
    %1 = math.sqrt %0 : f32
    %2 = math.sqrt %1 : f32
    %3 = math.sqrt %2 : f32
    %4 = math.sqrt %3 : f32
    memref.store %4, %x[%i] : memref<8xf32>
  }
  return
}
