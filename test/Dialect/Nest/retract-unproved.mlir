// RUN: loopc-opt %s --nest-retract-unproved | FileCheck %s
// RUN: loopc-opt %s --pass-pipeline='builtin.module(func.func(nest-retract-unproved))' \
// RUN:   --remark-format=emitRemark --remarks-filter=loop 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: loopc-opt %s --loopc-set-target=chip=sm_80 --nest-retract-unproved | FileCheck %s --check-prefix=KERNEL

// Rows are independent, windows in them are not, as they overlap.
// REMARK: remark: {{.*}}its iterations are said to be independent, and that is not proved: iterations may write to one place
// CHECK-LABEL: func.func @rows
// CHECK: scf.for
// CHECK: scf.for
// CHECK: scf.for
// CHECK: memref.store
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: } {loopc.parallel}
func.func @rows(%x: memref<?x?xf32>, %n: index, %f: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      scf.for %k = %c0 to %c8 step %c1 {
        %at = arith.addi %j, %k : index
        memref.store %f, %x[%i, %at] : memref<?x?xf32>
      }
    } {loopc.parallel}
  } {loopc.parallel}
  return
}

// A buffer that an iteration has not written before it reads it is not its own;
// then the loop is not independent, either.
// REMARK: remark: {{.*}}the buffer is said to be each iteration's own, and that is not proved: 'memref.load' reads more of a buffer that is marked 'loopc.private' than its iteration is known to have written
// CHECK-LABEL: func.func @private(
// CHECK: memref.alloc() : memref<4xf32>
// CHECK: memref.alloc() {loopc.private} : memref<4xf32>
// CHECK: scf.for
// CHECK-NOT: loopc.parallel
// CHECK: scf.for
// CHECK: } {loopc.parallel}
// CHECK: return
func.func @private(%x: memref<64xf32>, %y: memref<64xf32>, %z: memref<64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %part = memref.alloc() {loopc.private} : memref<4xf32>
  %own = memref.alloc() {loopc.private} : memref<4xf32>
  scf.for %j = %c0 to %c64 step %c1 {
    %0 = memref.load %x[%j] : memref<64xf32>
    memref.store %0, %part[%c0] : memref<4xf32>
    %1 = memref.load %part[%c1] : memref<4xf32>
    memref.store %1, %y[%j] : memref<64xf32>
  } {loopc.parallel}
  scf.for %j = %c0 to %c64 step %c1 {
    %0 = memref.load %x[%j] : memref<64xf32>
    memref.store %0, %own[%c1] : memref<4xf32>
    %1 = memref.load %own[%c1] : memref<4xf32>
    memref.store %1, %z[%j] : memref<64xf32>
  } {loopc.parallel}
  return
}

// Threads of a run can allocate memory, those of a kernel cannot.
// CHECK-LABEL: func.func @allocates(
// CHECK: } {loopc.parallel}
// KERNEL-LABEL: func.func @allocates(
// KERNEL-NOT: loopc.parallel
// KERNEL: return
func.func @allocates(%x: memref<64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.for %j = %c0 to %c64 step %c1 {
    %own = memref.alloc() : memref<1xf32>
    %0 = memref.load %x[%j] : memref<64xf32>
    memref.store %0, %own[%c0] : memref<1xf32>
    %1 = memref.load %own[%c0] : memref<1xf32>
    memref.store %1, %x[%j] : memref<64xf32>
    memref.dealloc %own : memref<1xf32>
  } {loopc.parallel}
  return
}

// Axes of an iteration's own memory, and of what no iteration writes, may be
// divided or put together. For a kernel they are a place and strides by then.
// CHECK-LABEL: func.func @divided_views(
// CHECK: memref.expand_shape
// CHECK: } {loopc.parallel}
// CHECK: return
// KERNEL-LABEL: func.func @divided_views(
// KERNEL-NOT: loopc.parallel
// KERNEL: return
func.func @divided_views(%x: memref<64x8xf32>, %y: memref<64x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c64 step %c1 {
    %own = memref.alloc() : memref<8xf32>
    %parts = memref.expand_shape %own [[0, 1]] output_shape [2, 4] : memref<8xf32> into memref<2x4xf32>
    %row = memref.subview %x[%i, 0] [1, 8] [1, 1] : memref<64x8xf32> to memref<8xf32, strided<[1], offset: ?>>
    %given = memref.expand_shape %row [[0, 1]] output_shape [2, 4] : memref<8xf32, strided<[1], offset: ?>> into memref<2x4xf32, strided<[4, 1], offset: ?>>
    %0 = memref.load %given[%c1, %c0] : memref<2x4xf32, strided<[4, 1], offset: ?>>
    memref.store %0, %parts[%c1, %c0] : memref<2x4xf32>
    %1 = memref.load %own[%c1] : memref<8xf32>
    memref.store %1, %y[%i, %c0] : memref<64x8xf32>
    memref.dealloc %own : memref<8xf32>
  } {loopc.parallel}
  return
}

// Where the view is another one in each iteration, an index of it tells none:
// row `63 - i` at column `i` of this one is one place of `y`.
// CHECK-LABEL: func.func @view_that_moves(
// CHECK-NOT: loopc.parallel
// CHECK: return
func.func @view_that_moves(%y: memref<128xf32>, %f: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c63 = arith.constant 63 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c64 step %c1 {
    %at = arith.subi %c63, %i : index
    %part = memref.subview %y[%at] [64] [1] : memref<128xf32> to memref<64xf32, strided<[1], offset: ?>>
    %view = memref.expand_shape %part [[0, 1]] output_shape [64, 1] : memref<64xf32, strided<[1], offset: ?>> into memref<64x1xf32, strided<[1, 1], offset: ?>>
    memref.store %f, %view[%i, %c0] : memref<64x1xf32, strided<[1, 1], offset: ?>>
  } {loopc.parallel}
  return
}

// Numbers of 8 bits wrap around: iterations `i` and `i + 256` are one place.
// CHECK-LABEL: func.func @narrow_place(
// CHECK-NOT: loopc.parallel
// CHECK: return
func.func @narrow_place(%x: memref<?xf32>, %n: index, %f: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %short = arith.index_cast %i : index to i8
    %at = arith.index_castui %short : i8 to index
    memref.store %f, %x[%at] : memref<?xf32>
  } {loopc.parallel}
  return
}

// CHECK-LABEL: func.func @narrow_product(
// CHECK-NOT: loopc.parallel
// CHECK: return
func.func @narrow_product(%x: memref<?xf32>, %f: f32) {
  %c0 = arith.constant 0 : i8
  %c1 = arith.constant 1 : i8
  %c64 = arith.constant 64 : i8
  scf.for %i = %c0 to %c64 step %c1 : i8 {
    %product = arith.muli %i, %c64 : i8
    %at = arith.index_castui %product : i8 to index
    memref.store %f, %x[%at] : memref<?xf32>
  } {loopc.parallel}
  return
}

// By 4, -1 and 3 both have the quotient 0 towards zero and the remainder 3 of
// the number below; numbers that are not negative have one quotient.
// CHECK-LABEL: func.func @two_roundings(
// CHECK-NOT: loopc.parallel
// CHECK: memref.store
// CHECK-NEXT: }
// CHECK-NOT: loopc.parallel
// CHECK: memref.store
// CHECK-NEXT: } {loopc.parallel}
func.func @two_roundings(%x: memref<?x4xf32>, %y: memref<?x4xf32>, %n: index, %f: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %n step %c1 {
    %before = arith.subi %i, %c4 : index
    %q = arith.divsi %before, %c4 : index
    %r = affine.apply affine_map<(d0) -> (d0 mod 4)>(%before)
    memref.store %f, %x[%q, %r] : memref<?x4xf32>
  } {loopc.parallel}
  scf.for %i = %c0 to %n step %c1 {
    %q = arith.divui %i, %c4 : index
    %r = affine.apply affine_map<(d0) -> (d0 mod 4)>(%i)
    memref.store %f, %y[%q, %r] : memref<?x4xf32>
  } {loopc.parallel}
  return
}

// A view that goes backwards begins at its last place in memory.
// CHECK-LABEL: func.func @backwards(
// CHECK: memref.store
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: return
func.func @backwards(%x: memref<?xf32>, %n: index, %f: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %n step %c1 {
    %first = arith.muli %i, %c2 : index
    %view = memref.reinterpret_cast %x to offset: [%first], sizes: [4], strides: [-1] : memref<?xf32> to memref<4xf32, strided<[-1], offset: ?>>
    scf.for %j = %c0 to %c4 step %c1 {
      memref.store %f, %view[%j] : memref<4xf32, strided<[-1], offset: ?>>
    }
  } {loopc.parallel}
  return
}

// What a loop of one iteration carries is not the number of the iteration: all
// of these write to place 63.
// CHECK-LABEL: func.func @carried_number(
// CHECK-NOT: loopc.parallel
// CHECK: return
func.func @carried_number(%x: memref<64xf32>, %f: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c63 = arith.constant 63 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c64 step %c1 {
    %rest = arith.subi %c63, %i : index
    %0 = scf.for %j = %c0 to %c1 step %c1 iter_args(%carried = %rest) -> (index) {
      %at = arith.addi %i, %carried : index
      memref.store %f, %x[%at] : memref<64xf32>
      scf.yield %carried : index
    }
  } {loopc.parallel}
  return
}

// Groups of 8 rows of `n` elements, by whole vectors, where there are rows: the
// last vector ends where the next group begins. Of 7 rows it may end behind.
// CHECK-LABEL: func.func @groups_of_rows(
// CHECK: vector.store
// CHECK-NEXT: } {loopc.parallel}
// CHECK-NEXT: } {loopc.parallel}
// CHECK: vector.store
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: return
func.func @groups_of_rows(%x: memref<?xf32>, %y: memref<?xf32>, %rows: index, %n: index, %f: vector<8xf32>) {
  %c0 = arith.constant 0 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %some = arith.cmpi ne, %rows, %c0 : index
  %eight = arith.muli %n, %c8 : index
  %elements = arith.select %some, %eight, %c0 : index
  scf.for %i = %c0 to %rows step %c8 {
    %first = arith.muli %i, %n : index
    scf.for %j = %c0 to %elements step %c8 {
      %at = arith.addi %first, %j : index
      vector.store %f, %x[%at] : memref<?xf32>, vector<8xf32>
    } {loopc.parallel}
  } {loopc.parallel}
  %seven = arith.muli %n, %c7 : index
  %fewer = arith.select %some, %seven, %c0 : index
  scf.for %i = %c0 to %rows step %c7 {
    %first = arith.muli %i, %n : index
    scf.for %j = %c0 to %fewer step %c8 {
      %at = arith.addi %first, %j : index
      vector.store %f, %y[%at] : memref<?xf32>, vector<8xf32>
    }
  } {loopc.parallel}
  return
}

// Of vectors of 4 lanes at most 3 are stored, where the next iteration begins.
// CHECK-LABEL: func.func @masked(
// CHECK: vector.maskedstore
// CHECK-NEXT: } {loopc.parallel}
// CHECK: vector.maskedstore
// CHECK-NEXT: }
// CHECK-NEXT: return
func.func @masked(%x: memref<?xf32>, %y: memref<?xf32>, %n: index, %f: vector<4xf32>) {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %n step %c3 {
    %left = arith.subi %n, %i : index
    %three = arith.minsi %left, %c3 : index
    %some = arith.maxsi %three, %c0 : index
    %mask = vector.create_mask %some : vector<4xi1>
    vector.maskedstore %x[%i], %mask, %f : memref<?xf32>, vector<4xi1>, vector<4xf32>
  } {loopc.parallel}
  scf.for %i = %c0 to %n step %c3 {
    %left = arith.subi %n, %i : index
    %four = arith.minsi %left, %c4 : index
    %some = arith.maxsi %four, %c3 : index
    %mask = vector.create_mask %some : vector<4xi1>
    vector.maskedstore %y[%i], %mask, %f : memref<?xf32>, vector<4xi1>, vector<4xf32>
  } {loopc.parallel}
  return
}

// What is read behind the loop is what the last iteration has written: a buffer
// of each thread's own would not have it.
// REMARK: remark: {{.*}}'memref.load' reads a buffer that is marked 'loopc.private' behind the iterations that write it
// CHECK-LABEL: func.func @read_behind
// CHECK: memref.alloc() : memref<1xf32>
// CHECK: scf.for
// CHECK-NOT: loopc.parallel
// CHECK: return
func.func @read_behind(%x: memref<64xf32>, %y: memref<1xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %last = memref.alloc() {loopc.private} : memref<1xf32>
  scf.for %i = %c0 to %c64 step %c1 {
    %0 = memref.load %x[%i] : memref<64xf32>
    memref.store %0, %last[%c0] : memref<1xf32>
  } {loopc.parallel}
  %1 = memref.load %last[%c0] : memref<1xf32>
  memref.store %1, %y[%c0] : memref<1xf32>
  return
}

// Nor may another nest read what the iterations of the first one have written.
// CHECK-LABEL: func.func @read_by_another
// CHECK: memref.alloc() : memref<8xf32>
// CHECK: scf.for
// CHECK: } {loopc.parallel}
// CHECK: scf.for
// CHECK: } {loopc.parallel}
func.func @read_by_another(%x: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %all = memref.alloc() {loopc.private} : memref<8xf32>
  scf.for %i = %c0 to %c8 step %c1 {
    %0 = memref.load %x[%i] : memref<8xf32>
    memref.store %0, %all[%i] : memref<8xf32>
  } {loopc.parallel}
  scf.for %i = %c0 to %c8 step %c1 {
    %0 = memref.load %all[%i] : memref<8xf32>
    memref.store %0, %x[%i] : memref<8xf32>
  } {loopc.parallel}
  return
}

// Sections are independent where each has memory of its own, and not where one
// writes what another one reads.
// CHECK-LABEL: func.func @sections(
// CHECK: scf.for
// CHECK: scf.index_switch
// CHECK: } {loopc.parallel}
// CHECK: scf.for
// CHECK-NOT: loopc.parallel
// CHECK: return
func.func @sections(%f: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %x = memref.alloc() : memref<4xf32>
  %y = memref.alloc() : memref<4xf32>
  scf.for %k = %c0 to %c2 step %c1 {
    scf.index_switch %k
    case 0 {
      memref.store %f, %x[%c0] : memref<4xf32>
      scf.yield
    }
    default {
      memref.store %f, %y[%c0] : memref<4xf32>
    }
  } {loopc.parallel}
  scf.for %k = %c0 to %c2 step %c1 {
    scf.index_switch %k
    case 0 {
      memref.store %f, %x[%c0] : memref<4xf32>
      scf.yield
    }
    default {
      %0 = memref.load %x[%c1] : memref<4xf32>
      memref.store %0, %y[%c0] : memref<4xf32>
    }
  } {loopc.parallel}
  return
}
