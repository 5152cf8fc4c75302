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

// Rows that a head collects, as views by strides: of each step it has its own.
// CHECK-LABEL: func.func @rows_of_heads
// CHECK: loopc.parallel
// CHECK: return
func.func @rows_of_heads(%x: memref<?x4x64xf32>, %steps: index, %f: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  scf.for %head = %c0 to %c4 step %c1 {
    scf.for %step = %c0 to %steps step %c1 {
      %row = arith.muli %step, %c256 : index
      %begin = arith.muli %head, %c64 : index
      %at = arith.addi %row, %begin : index
      %view = memref.reinterpret_cast %x to offset: [%at], sizes: [1, 64], strides: [256, 1] : memref<?x4x64xf32> to memref<1x64xf32, strided<[256, 1], offset: ?>>
      scf.for %j = %c0 to %c64 step %c4 {
        scf.for %k = %j to %c64 step %c1 {
          memref.store %f, %view[%c0, %k] : memref<1x64xf32, strided<[256, 1], offset: ?>>
        }
      }
    }
  } {loopc.parallel}
  return
}

// The last of five heads has the next step's first row.
// CHECK-LABEL: func.func @too_many_heads
// CHECK-NOT: loopc.parallel
// CHECK: return
func.func @too_many_heads(%x: memref<?x4x64xf32>, %steps: index, %f: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  scf.for %head = %c0 to %c5 step %c1 {
    scf.for %step = %c0 to %steps step %c1 {
      %row = arith.muli %step, %c256 : index
      %begin = arith.muli %head, %c64 : index
      %at = arith.addi %row, %begin : index
      %view = memref.reinterpret_cast %x to offset: [%at], sizes: [1, 64], strides: [256, 1] : memref<?x4x64xf32> to memref<1x64xf32, strided<[256, 1], offset: ?>>
      scf.for %k = %c0 to %c64 step %c1 {
        memref.store %f, %view[%c0, %k] : memref<1x64xf32, strided<[256, 1], offset: ?>>
      }
    }
  } {loopc.parallel}
  return
}

// Rows that are longer than a head's reach into the next head's.
// CHECK-LABEL: func.func @too_long_rows
// CHECK-NOT: loopc.parallel
// CHECK: return
func.func @too_long_rows(%x: memref<?x4x64xf32>, %steps: index, %f: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %c65 = arith.constant 65 : index
  %c256 = arith.constant 256 : index
  scf.for %head = %c0 to %c4 step %c1 {
    scf.for %step = %c0 to %steps step %c1 {
      %row = arith.muli %step, %c256 : index
      %begin = arith.muli %head, %c64 : index
      %at = arith.addi %row, %begin : index
      %view = memref.reinterpret_cast %x to offset: [%at], sizes: [1, 65], strides: [256, 1] : memref<?x4x64xf32> to memref<1x65xf32, strided<[256, 1], offset: ?>>
      scf.for %k = %c0 to %c65 step %c1 {
        memref.store %f, %view[%c0, %k] : memref<1x65xf32, strided<[256, 1], offset: ?>>
      }
    }
  } {loopc.parallel}
  return
}

// Of a block that is a view all places in it are its own, whatever they are.
// CHECK-LABEL: func.func @masked_rest
// CHECK: loopc.parallel
// CHECK: return
func.func @masked_rest(%x: memref<?xf32>, %blocks: index, %n: index, %f: vector<16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %blocks step %c1 {
    %at = arith.muli %i, %c64 : index
    %left = arith.subi %n, %at : index
    %size = arith.minsi %left, %c64 : index
    %block = memref.subview %x[%at] [%size] [1] : memref<?xf32> to memref<?xf32, strided<[1], offset: ?>>
    %rest = arith.remui %size, %c16 : index
    %end = arith.subi %size, %rest : index
    scf.for %j = %c0 to %end step %c16 {
      vector.store %f, %block[%j] : memref<?xf32, strided<[1], offset: ?>>, vector<16xf32>
    }
    %mask = vector.create_mask %rest : vector<16xi1>
    vector.maskedstore %block[%end], %mask, %f : memref<?xf32, strided<[1], offset: ?>>, vector<16xi1>, vector<16xf32>
  } {loopc.parallel}
  return
}

// Blocks that are longer than the way to the next one.
// CHECK-LABEL: func.func @overlapping_blocks
// CHECK-NOT: loopc.parallel
// CHECK: return
func.func @overlapping_blocks(%x: memref<?xf32>, %blocks: index, %n: index, %f: f32, %at_any: memref<?xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c65 = arith.constant 65 : index
  scf.for %i = %c0 to %blocks step %c1 {
    %at = arith.muli %i, %c64 : index
    %left = arith.subi %n, %at : index
    %size = arith.minsi %left, %c65 : index
    %block = memref.subview %x[%at] [%size] [1] : memref<?xf32> to memref<?xf32, strided<[1], offset: ?>>
    %j = memref.load %at_any[%i] : memref<?xindex>
    memref.store %f, %block[%j] : memref<?xf32, strided<[1], offset: ?>>
  } {loopc.parallel}
  return
}

// Elements of axes that were put together: one loop counts them.
// CHECK-LABEL: func.func @joined_axes
// CHECK: } {loopc.parallel}
// CHECK-NEXT: } {loopc.parallel}
func.func @joined_axes(%x: memref<?x30x51xf32>, %n: index, %f: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c1530 = arith.constant 1530 : index
  %y = memref.collapse_shape %x [[0], [1, 2]] : memref<?x30x51xf32> into memref<?x1530xf32>
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %c1530 step %c1 {
      memref.store %f, %y[%i, %j] : memref<?x1530xf32>
    } {loopc.parallel}
  } {loopc.parallel}
  return
}

// What is read there as several axes may be another iteration's.
// CHECK-LABEL: func.func @joined_and_apart
// CHECK-NOT: loopc.parallel
// CHECK: return
func.func @joined_and_apart(%x: memref<30x51xf32>, %y: memref<1530xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c1530 = arith.constant 1530 : index
  %all = memref.collapse_shape %x [[0, 1]] : memref<30x51xf32> into memref<1530xf32>
  scf.for %j = %c0 to %c1530 step %c1 {
    %f = memref.load %x[%c0, %c1] : memref<30x51xf32>
    memref.store %f, %all[%j] : memref<1530xf32>
  } {loopc.parallel}
  return
}

// Two results that are put together: each iteration writes one element of
// either half, one of them by a view with an axis of one element more.
// CHECK-LABEL: func @halves(
// CHECK: loopc.parallel
func.func @halves(%x: memref<64xf32>, %y: memref<64xf32>, %w: memref<128xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %low = memref.subview %w[0] [64] [1] : memref<128xf32> to memref<64xf32, strided<[1]>>
  %high = memref.subview %w[64] [64] [1] : memref<128xf32> to memref<64xf32, strided<[1], offset: 64>>
  %column = memref.expand_shape %high [[0, 1]] output_shape [64, 1] : memref<64xf32, strided<[1], offset: 64>> into memref<64x1xf32, strided<[1, 1], offset: 64>>
  scf.for %i = %c0 to %c64 step %c1 {
    %a = memref.load %x[%i] : memref<64xf32>
    %b = memref.load %y[%i] : memref<64xf32>
    memref.store %a, %low[%i] : memref<64xf32, strided<[1]>>
    memref.store %b, %column[%i, %c0] : memref<64x1xf32, strided<[1, 1], offset: 64>>
  } {loopc.parallel}
  return
}

// Parts that overlap by one element.
// CHECK-LABEL: func @overlap(
// CHECK-NOT: loopc.parallel
func.func @overlap(%x: memref<64xf32>, %y: memref<64xf32>, %w: memref<128xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %low = memref.subview %w[0] [64] [1] : memref<128xf32> to memref<64xf32, strided<[1]>>
  %high = memref.subview %w[63] [64] [1] : memref<128xf32> to memref<64xf32, strided<[1], offset: 63>>
  scf.for %i = %c0 to %c64 step %c1 {
    %a = memref.load %x[%i] : memref<64xf32>
    %b = memref.load %y[%i] : memref<64xf32>
    memref.store %a, %low[%i] : memref<64xf32, strided<[1]>>
    memref.store %b, %high[%i] : memref<64xf32, strided<[1], offset: 63>>
  } {loopc.parallel}
  return
}

// Blocks of rows, which are written through a view of them whose axes, of open
// extents, are one: each is within its own rows.
// CHECK-LABEL: func @blocks_as_one(
// CHECK: loopc.parallel
func.func @blocks_as_one(%w: memref<?x?xf32>, %n: index, %m: index, %f: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %blocks = arith.ceildivui %n, %c32 : index
  scf.for %b = %c0 to %blocks step %c1 {
    %first = arith.muli %b, %c32 : index
    %left = arith.subi %n, %first : index
    %size = arith.minsi %left, %c32 : index
    %part = memref.subview %w[%first, 0] [%size, %m] [1, 1] : memref<?x?xf32> to memref<?x?xf32, strided<[?, 1], offset: ?>>
    %rows = memref.cast %part : memref<?x?xf32, strided<[?, 1], offset: ?>> to memref<?x4xf32, strided<[4, 1], offset: ?>>
    %all = memref.collapse_shape %rows [[0, 1]] : memref<?x4xf32, strided<[4, 1], offset: ?>> into memref<?xf32, strided<[1], offset: ?>>
    %count = memref.dim %all, %c0 : memref<?xf32, strided<[1], offset: ?>>
    scf.for %k = %c0 to %count step %c1 {
      memref.store %f, %all[%k] : memref<?xf32, strided<[1], offset: ?>>
    }
  } {loopc.parallel}
  return
}

// Of blocks that overlap by a row.
// CHECK-LABEL: func @overlapping_as_one(
// CHECK-NOT: loopc.parallel
func.func @overlapping_as_one(%w: memref<?x4xf32>, %n: index, %f: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c31 = arith.constant 31 : index
  %c32 = arith.constant 32 : index
  scf.for %b = %c0 to %n step %c1 {
    %first = arith.muli %b, %c31 : index
    %left = arith.subi %n, %first : index
    %size = arith.minsi %left, %c32 : index
    %part = memref.subview %w[%first, 0] [%size, 4] [1, 1] : memref<?x4xf32> to memref<?x4xf32, strided<[4, 1], offset: ?>>
    %all = memref.collapse_shape %part [[0, 1]] : memref<?x4xf32, strided<[4, 1], offset: ?>> into memref<?xf32, strided<[1], offset: ?>>
    %count = memref.dim %all, %c0 : memref<?xf32, strided<[1], offset: ?>>
    scf.for %k = %c0 to %count step %c1 {
      memref.store %f, %all[%k] : memref<?xf32, strided<[1], offset: ?>>
    }
  } {loopc.parallel}
  return
}
