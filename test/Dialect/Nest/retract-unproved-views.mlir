// RUN: loopc-opt %s --nest-retract-unproved | FileCheck %s

// Iteration i writes element i of a view that begins at 63 - i: all iterations
// write to one place. That the indices differ says nothing.
// CHECK-LABEL: func.func @moving_view
// CHECK-NOT: loopc.parallel
// CHECK: return
func.func @moving_view(%x: memref<64xf32>, %f: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c63 = arith.constant 63 : index
  scf.for %i = %c0 to %c32 step %c1 {
    %from = arith.subi %c63, %i : index
    %view = memref.reinterpret_cast %x to offset: [%from], sizes: [32], strides: [1]
        : memref<64xf32> to memref<32xf32, strided<[1], offset: ?>>
    memref.store %f, %view[%i] : memref<32xf32, strided<[1], offset: ?>>
  } {loopc.parallel}
  return
}

// The view is the same in all iterations: places are where the indices are.
// CHECK-LABEL: func.func @one_view
// CHECK: } {loopc.parallel}
func.func @one_view(%x: memref<64xf32>, %n: index, %f: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %view = memref.reinterpret_cast %x to offset: [%n], sizes: [32], strides: [1]
      : memref<64xf32> to memref<32xf32, strided<[1], offset: ?>>
  scf.for %i = %c0 to %c32 step %c1 {
    memref.store %f, %view[%i] : memref<32xf32, strided<[1], offset: ?>>
  } {loopc.parallel}
  return
}
