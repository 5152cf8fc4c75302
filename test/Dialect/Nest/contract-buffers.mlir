// RUN: loopc-opt %s --split-input-file --nest-contract-buffers --canonicalize | FileCheck %s

// Each row is written and read by one iteration: one row is left, for all images.

// CHECK-LABEL: func.func @rows
// CHECK: %[[ROW:.*]] = memref.alloc() {alignment = 64 : i64, loopc.private} : memref<1x1x128x128xf32>
// CHECK: scf.for
// CHECK: scf.for
// CHECK: memref.store %{{.*}}, %[[ROW]][%c0, %c0, %{{.*}}, %{{.*}}]
// CHECK: vector.load %[[ROW]][%c0, %c0, %{{.*}}, %{{.*}}]
// CHECK: memref.dealloc %[[ROW]]
func.func @rows(%x: memref<?x128x128x128xf32>, %y: memref<?x128x128x128xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c128 = arith.constant 128 : index
  %sums = memref.alloc(%n) {alignment = 64 : i64} : memref<?x128x128x128xf32>
  scf.for %b = %c0 to %n step %c1 {
    scf.for %i = %c0 to %c128 step %c1 {
      scf.for %j = %c0 to %c128 step %c1 {
        scf.for %k = %c0 to %c128 step %c1 {
          %0 = memref.load %x[%b, %i, %j, %k] : memref<?x128x128x128xf32>
          %1 = arith.addf %0, %0 : f32
          memref.store %1, %sums[%b, %i, %j, %k] : memref<?x128x128x128xf32>
        } {loopc.parallel}
      } {loopc.parallel}
      scf.for %j = %c0 to %c128 step %c1 {
        scf.for %k = %c0 to %c128 step %c8 {
          %0 = vector.load %sums[%b, %i, %j, %k] : memref<?x128x128x128xf32>, vector<8xf32>
          vector.store %0, %y[%b, %i, %j, %k] : memref<?x128x128x128xf32>, vector<8xf32>
        } {loopc.parallel}
      } {loopc.parallel}
    } {loopc.parallel}
  } {loopc.parallel}
  memref.dealloc %sums : memref<?x128x128x128xf32>
  return
}

// -----

// The loop over %t comes back to each row.

// CHECK-LABEL: func.func @comes_back
// CHECK: memref.alloc(%{{.*}}) : memref<?x128xf32>
func.func @comes_back(%y: memref<?x128xf32>, %n: index, %v: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  %sums = memref.alloc(%n) : memref<?x128xf32>
  scf.for %t = %c0 to %n step %c1 {
    scf.for %i = %c0 to %n step %c1 {
      scf.for %k = %c0 to %c128 step %c1 {
        %0 = memref.load %sums[%i, %k] : memref<?x128xf32>
        %1 = arith.addf %0, %v : f32
        memref.store %1, %sums[%i, %k] : memref<?x128xf32>
      }
    }
  }
  memref.dealloc %sums : memref<?x128xf32>
  return
}

// -----

// Another iteration reads the row before.

// CHECK-LABEL: func.func @neighbour
// CHECK: memref.alloc(%{{.*}}) : memref<?x128xf32>
func.func @neighbour(%x: memref<?x128xf32>, %y: memref<?x128xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  %sums = memref.alloc(%n) : memref<?x128xf32>
  scf.for %i = %c1 to %n step %c1 {
    %before = arith.subi %i, %c1 : index
    scf.for %k = %c0 to %c128 step %c1 {
      %0 = memref.load %x[%i, %k] : memref<?x128xf32>
      memref.store %0, %sums[%i, %k] : memref<?x128xf32>
      %1 = memref.load %sums[%before, %k] : memref<?x128xf32>
      memref.store %1, %y[%i, %k] : memref<?x128xf32>
    }
  }
  memref.dealloc %sums : memref<?x128xf32>
  return
}

// -----

// Not all of a row that is read is seen to be written: threads could not have a
// row each.

// CHECK-LABEL: func.func @in_part
// CHECK: memref.alloc(%{{.*}}) : memref<?x128xf32>
func.func @in_part(%x: memref<?x128xf32>, %y: memref<?x128xf32>, %n: index, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  %sums = memref.alloc(%n) : memref<?x128xf32>
  scf.for %i = %c0 to %n step %c1 {
    scf.for %k = %c0 to %m step %c1 {
      %0 = memref.load %x[%i, %k] : memref<?x128xf32>
      memref.store %0, %sums[%i, %k] : memref<?x128xf32>
    }
    scf.for %k = %c0 to %c128 step %c1 {
      %1 = memref.load %sums[%i, %k] : memref<?x128xf32>
      memref.store %1, %y[%i, %k] : memref<?x128xf32>
    }
  } {loopc.parallel}
  memref.dealloc %sums : memref<?x128xf32>
  return
}

// -----

// Two nests write a row, up to column 96 and from there on.

// CHECK-LABEL: func.func @in_two_parts
// CHECK: memref.alloc() {loopc.private} : memref<1x128xf32>
func.func @in_two_parts(%x: memref<?x128xf32>, %y: memref<?x128xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c96 = arith.constant 96 : index
  %c128 = arith.constant 128 : index
  %sums = memref.alloc(%n) : memref<?x128xf32>
  scf.for %i = %c0 to %n step %c1 {
    scf.for %k = %c96 to %c128 step %c1 {
      %0 = memref.load %x[%i, %k] : memref<?x128xf32>
      memref.store %0, %sums[%i, %k] : memref<?x128xf32>
    } {loopc.parallel}
    scf.for %k = %c0 to %c96 step %c32 {
      %0 = vector.load %x[%i, %k] : memref<?x128xf32>, vector<32xf32>
      vector.store %0, %sums[%i, %k] : memref<?x128xf32>, vector<32xf32>
    } {loopc.parallel}
    scf.for %k = %c0 to %c128 step %c1 {
      %1 = memref.load %sums[%i, %k] : memref<?x128xf32>
      memref.store %1, %y[%i, %k] : memref<?x128xf32>
    } {loopc.parallel}
  } {loopc.parallel}
  memref.dealloc %sums : memref<?x128xf32>
  return
}

// -----

// Column 95 is not written.

// CHECK-LABEL: func.func @with_a_gap
// CHECK: memref.alloc(%{{.*}}) : memref<?x128xf32>
func.func @with_a_gap(%x: memref<?x128xf32>, %y: memref<?x128xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c95 = arith.constant 95 : index
  %c96 = arith.constant 96 : index
  %c128 = arith.constant 128 : index
  %sums = memref.alloc(%n) : memref<?x128xf32>
  scf.for %i = %c0 to %n step %c1 {
    scf.for %k = %c0 to %c95 step %c1 {
      %0 = memref.load %x[%i, %k] : memref<?x128xf32>
      memref.store %0, %sums[%i, %k] : memref<?x128xf32>
    } {loopc.parallel}
    scf.for %k = %c96 to %c128 step %c1 {
      %0 = memref.load %x[%i, %k] : memref<?x128xf32>
      memref.store %0, %sums[%i, %k] : memref<?x128xf32>
    } {loopc.parallel}
    scf.for %k = %c0 to %c128 step %c1 {
      %1 = memref.load %sums[%i, %k] : memref<?x128xf32>
      memref.store %1, %y[%i, %k] : memref<?x128xf32>
    } {loopc.parallel}
  } {loopc.parallel}
  memref.dealloc %sums : memref<?x128xf32>
  return
}

// -----

// Somebody else reads the buffer, or it is small.

// CHECK-LABEL: func.func @read_behind
// CHECK: memref.alloc(%{{.*}}) : memref<?x128xf32>
// CHECK: memref.alloc() : memref<16x128xf32>
func.func @read_behind(%x: memref<?x128xf32>, %y: memref<?x128xf32>, %n: index) -> memref<?x128xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c128 = arith.constant 128 : index
  %sums = memref.alloc(%n) : memref<?x128xf32>
  %small = memref.alloc() : memref<16x128xf32>
  scf.for %i = %c0 to %n step %c1 {
    scf.for %k = %c0 to %c128 step %c1 {
      %0 = memref.load %x[%i, %k] : memref<?x128xf32>
      memref.store %0, %sums[%i, %k] : memref<?x128xf32>
    }
  } {loopc.parallel}
  scf.for %i = %c0 to %c16 step %c1 {
    scf.for %k = %c0 to %c128 step %c1 {
      %0 = memref.load %x[%i, %k] : memref<?x128xf32>
      memref.store %0, %small[%i, %k] : memref<16x128xf32>
      %1 = memref.load %small[%i, %k] : memref<16x128xf32>
      memref.store %1, %y[%i, %k] : memref<?x128xf32>
    }
  } {loopc.parallel}
  memref.dealloc %small : memref<16x128xf32>
  return %sums : memref<?x128xf32>
}
