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

// Axes of one element were left out of a view: the others are where they were.
// CHECK-LABEL: func.func @collapsed
// CHECK: } {loopc.parallel}
// CHECK: } {loopc.parallel}
func.func @collapsed(%x: memref<?x1x?xf32>, %rows: index, %columns: index, %f: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %rows step %c1 {
    %part = memref.subview %x[%i, 0, 0] [1, 1, %columns] [1, 1, 1]
        : memref<?x1x?xf32> to memref<1x1x?xf32, strided<[?, ?, 1], offset: ?>>
    %row = memref.collapse_shape %part [[0], [1, 2]]
        : memref<1x1x?xf32, strided<[?, ?, 1], offset: ?>> into memref<1x?xf32, strided<[?, ?], offset: ?>>
    scf.for %j = %c0 to %columns step %c1 {
      memref.store %f, %row[%c0, %j] : memref<1x?xf32, strided<[?, ?], offset: ?>>
    } {loopc.parallel}
  } {loopc.parallel}
  return
}

// Columns of two axes were put together: where a place is nobody knows.
// CHECK-LABEL: func.func @columns_of_two
// CHECK-NOT: loopc.parallel
// CHECK: return
func.func @columns_of_two(%x: memref<8x4x4xf32>, %f: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    %part = memref.subview %x[0, 0, 0] [8, 4, 4] [1, 1, 1]
        : memref<8x4x4xf32> to memref<8x4x4xf32, strided<[16, 4, 1]>>
    %rows = memref.collapse_shape %part [[0, 1], [2]]
        : memref<8x4x4xf32, strided<[16, 4, 1]>> into memref<32x4xf32, strided<[4, 1]>>
    memref.store %f, %rows[%i, %c0] : memref<32x4xf32, strided<[4, 1]>>
    %next = arith.addi %i, %c1 : index
    memref.store %f, %rows[%next, %c0] : memref<32x4xf32, strided<[4, 1]>>
  } {loopc.parallel}
  return
}

// A block of `size` places begins at a multiple of `size`. The tiles in it end
// where a branch says so, and go on one by one behind it.
// CHECK-LABEL: func.func @guarded_tiles
// CHECK: scf.if
// CHECK: } {loopc.parallel}
// CHECK-NEXT: return
func.func @guarded_tiles(%x: memref<?xf32>, %blocks: index, %size: index, %n: index, %f: vector<4xf32>, %g: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %blocks step %c1 {
    %at = arith.muli %i, %size : index
    %rest = arith.subi %n, %at : index
    %length = arith.minsi %size, %rest : index
    %part = memref.subview %x[%at] [%length] [1] : memref<?xf32> to memref<?xf32, strided<[1], offset: ?>>
    scf.for %j = %c0 to %length step %c4 {
      %end = arith.addi %j, %c4 : index
      %whole = arith.cmpi ule, %end, %length : index
      scf.if %whole {
        vector.store %f, %part[%j] : memref<?xf32, strided<[1], offset: ?>>, vector<4xf32>
      } else {
        scf.for %k = %j to %length step %c1 {
          memref.store %g, %part[%k] : memref<?xf32, strided<[1], offset: ?>>
        }
      }
    }
  } {loopc.parallel}
  return
}

// Without the branch the last tile reaches into the next block.
// CHECK-LABEL: func.func @reaching_tiles
// CHECK-NOT: loopc.parallel
// CHECK: return
func.func @reaching_tiles(%x: memref<?xf32>, %blocks: index, %size: index, %f: vector<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %blocks step %c1 {
    %at = arith.muli %i, %size : index
    scf.for %j = %c0 to %size step %c4 {
      %place = arith.addi %at, %j : index
      vector.store %f, %x[%place] : memref<?xf32>, vector<4xf32>
    }
  } {loopc.parallel}
  return
}
