// RUN: loopc-opt %s --split-input-file --loopc-parallelize-nests \
// RUN:   --remark-format=emitRemark --remarks-filter=loop 2>&1 | FileCheck %s

// That iterations of these loops are independent is only said: no two may write
// to one place, nor one read what another one writes.

// Two iterations have one half.
// CHECK: remark: {{.*}}it does not run on several threads: all iterations write to one place
func.func @half(%run: !llvm.ptr, %x: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = arith.constant 16777216 : index
  %f = arith.constant 1.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    %k = arith.divui %i, %c2 : index
    memref.store %f, %x[%k] : memref<?xf32>
  } {loopc.parallel}
  return
}

// -----

// Each eighth iteration has one remainder.
// CHECK: remark: {{.*}}it does not run on several threads: all iterations write to one place
func.func @remainder(%run: !llvm.ptr, %x: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %n = arith.constant 16777216 : index
  %f = arith.constant 1.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    %k = arith.remui %i, %c8 : index
    memref.store %f, %x[%k] : memref<?xf32>
  } {loopc.parallel}
  return
}

// -----

// What is looked up may be the same twice.
// CHECK: remark: {{.*}}it does not run on several threads: all iterations write to one place
func.func @looked_up(%run: !llvm.ptr, %x: memref<?xf32>, %p: memref<?xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 16777216 : index
  %f = arith.constant 1.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    %k = memref.load %p[%i] : memref<?xindex>
    memref.store %f, %x[%k] : memref<?xf32>
  } {loopc.parallel}
  return
}

// -----

// The element before is another iteration's.
// CHECK: remark: {{.*}}it does not run on several threads: an iteration may read what another one writes
func.func @before(%run: !llvm.ptr, %x: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 16777216 : index
  scf.for %i = %c0 to %n step %c1 {
    %k = arith.subi %i, %c1 : index
    %a = memref.load %x[%k] : memref<?xf32>
    %b = math.tanh %a : f32
    memref.store %b, %x[%i] : memref<?xf32>
  } {loopc.parallel}
  return
}

// -----

// The same by views.
// CHECK: remark: {{.*}}it does not run on several threads: an iteration may read what another one writes
func.func @before_by_views(%run: !llvm.ptr, %x: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 16777216 : index
  scf.for %i = %c0 to %n step %c1 {
    %k = affine.apply affine_map<(d0) -> (d0 - 1)>(%i)
    %v = memref.subview %x[%k] [1] [1] : memref<?xf32> to memref<1xf32, strided<[1], offset: ?>>
    %w = memref.subview %x[%i] [1] [1] : memref<?xf32> to memref<1xf32, strided<[1], offset: ?>>
    %a = memref.load %v[%c0] : memref<1xf32, strided<[1], offset: ?>>
    %b = math.tanh %a : f32
    memref.store %b, %w[%c0] : memref<1xf32, strided<[1], offset: ?>>
  } {loopc.parallel}
  return
}

// -----

// The first element is one iteration's.
// CHECK: remark: {{.*}}it does not run on several threads: an iteration may read what another one writes
func.func @first(%run: !llvm.ptr, %x: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 16777216 : index
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.load %x[%c0] : memref<?xf32>
    %b = math.tanh %a : f32
    memref.store %b, %x[%i] : memref<?xf32>
  } {loopc.parallel}
  return
}

// -----

// An iteration writes to the next one's place, too.
// CHECK: remark: {{.*}}it does not run on several threads: iterations may write to one place
func.func @two(%run: !llvm.ptr, %x: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 16777216 : index
  %f = arith.constant 1.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    %k = arith.addi %i, %c1 : index
    memref.store %f, %x[%i] : memref<?xf32>
    memref.store %f, %x[%k] : memref<?xf32>
  } {loopc.parallel}
  return
}

// -----

// A vector reaches further than a step.
// CHECK: remark: {{.*}}it does not run on several threads: iterations may write to one place
func.func @vectors(%run: !llvm.ptr, %x: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %n = arith.constant 16777216 : index
  %f = arith.constant 1.0 : f32
  scf.for %i = %c0 to %n step %c4 {
    %v = vector.broadcast %f : f32 to vector<8xf32>
    vector.store %v, %x[%i] : memref<?xf32>, vector<8xf32>
  } {loopc.parallel}
  return
}

// -----

// Fine: each iteration has a part of its own, and stays there.
// CHECK: remark: {{.*}}its iterations run on the threads of the run
func.func @in_place(%run: !llvm.ptr, %x: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %n = arith.constant 16777216 : index
  %f = arith.constant 1.0 : f32
  scf.for %i = %c0 to %n step %c2 {
    %k = affine.apply affine_map<(d0) -> (d0 + 1)>(%i)
    %a = memref.load %x[%k] : memref<?xf32>
    %b = math.tanh %a : f32
    memref.store %b, %x[%i] : memref<?xf32>
    memref.store %f, %x[%k] : memref<?xf32>
  } {loopc.parallel}
  return
}

// -----

// Fine: what is behind the end is the last one, which the iteration has.
// CHECK: remark: {{.*}}its iterations run on the threads of the run
func.func @clamped(%run: !llvm.ptr, %x: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %n = arith.constant 16777216 : index
  %f = arith.constant 1.0 : f32
  scf.for %i = %c0 to %n step %c2 {
    %k = affine.apply affine_map<(d0) -> (d0 + 1)>(%i)
    %last = affine.apply affine_map<()[s0] -> (s0 - 1)>()[%n]
    %at = arith.minsi %k, %last : index
    memref.store %f, %x[%i] : memref<?xf32>
    memref.store %f, %x[%at] : memref<?xf32>
  } {loopc.parallel}
  return
}

// -----

// Fine: quotient and remainder tell the iteration.
// CHECK: remark: {{.*}}its iterations run on the threads of the run
func.func @divided(%run: !llvm.ptr, %x: memref<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %n = arith.constant 16777216 : index
  %f = arith.constant 1.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    %q = arith.divui %i, %c8 : index
    %r = arith.remui %i, %c8 : index
    memref.store %f, %x[%q, %r] : memref<?x8xf32>
  } {loopc.parallel}
  return
}

// -----

// The loop in it is shared out with it only if its iterations are independent.
// CHECK: remark: {{.*}}its iterations run on the threads of the run
// CHECK: func.func @inner(
// CHECK: func.func private @inner_parallel(
// CHECK: scf.for %[[I:.*]] = %arg1 to %arg2
// CHECK-NOT: arith.remui
// CHECK: scf.for %[[J:[^ ]*]] =
// CHECK: arith.divui %[[J]], %
func.func @inner(%run: !llvm.ptr, %x: memref<?x?x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %n = arith.constant 32 : index
  %m = arith.constant 1048576 : index
  %f = arith.constant 1.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %m step %c1 {
      %k = arith.divui %j, %c2 : index
      scf.for %l = %c0 to %c4 step %c1 {
        memref.store %f, %x[%i, %k, %l] : memref<?x?x4xf32>
      }
    } {loopc.parallel}
  } {loopc.parallel}
  return
}

// -----

// A quotient times zero is zero: only the remainder is left.
// CHECK: remark: {{.*}}it does not run on several threads: all iterations write to one place
func.func @zero_times(%run: !llvm.ptr, %x: memref<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %n = arith.constant 16777216 : index
  %f = arith.constant 1.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    %q = arith.divui %i, %c8 : index
    %z = arith.muli %q, %c0 : index
    %r = arith.remui %i, %c8 : index
    memref.store %f, %x[%z, %r] : memref<?x8xf32>
  } {loopc.parallel}
  return
}

// -----

// Each number is used twice: it is looked at once. After 40 doublings it is the
// number times 2^40, and tells the iteration.
// CHECK: remark: {{.*}}its iterations run on the threads of the run
func.func @doubled(%run: !llvm.ptr, %x: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 16777216 : index
  %f = arith.constant 1.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    %d0 = arith.addi %i, %i : index
    %d1 = arith.addi %d0, %d0 : index
    %d2 = arith.addi %d1, %d1 : index
    %d3 = arith.addi %d2, %d2 : index
    %d4 = arith.addi %d3, %d3 : index
    %d5 = arith.addi %d4, %d4 : index
    %d6 = arith.addi %d5, %d5 : index
    %d7 = arith.addi %d6, %d6 : index
    %d8 = arith.addi %d7, %d7 : index
    %d9 = arith.addi %d8, %d8 : index
    %d10 = arith.addi %d9, %d9 : index
    %d11 = arith.addi %d10, %d10 : index
    %d12 = arith.addi %d11, %d11 : index
    %d13 = arith.addi %d12, %d12 : index
    %d14 = arith.addi %d13, %d13 : index
    %d15 = arith.addi %d14, %d14 : index
    %d16 = arith.addi %d15, %d15 : index
    %d17 = arith.addi %d16, %d16 : index
    %d18 = arith.addi %d17, %d17 : index
    %d19 = arith.addi %d18, %d18 : index
    %d20 = arith.addi %d19, %d19 : index
    %d21 = arith.addi %d20, %d20 : index
    %d22 = arith.addi %d21, %d21 : index
    %d23 = arith.addi %d22, %d22 : index
    %d24 = arith.addi %d23, %d23 : index
    %d25 = arith.addi %d24, %d24 : index
    %d26 = arith.addi %d25, %d25 : index
    %d27 = arith.addi %d26, %d26 : index
    %d28 = arith.addi %d27, %d27 : index
    %d29 = arith.addi %d28, %d28 : index
    %d30 = arith.addi %d29, %d29 : index
    %d31 = arith.addi %d30, %d30 : index
    %d32 = arith.addi %d31, %d31 : index
    %d33 = arith.addi %d32, %d32 : index
    %d34 = arith.addi %d33, %d33 : index
    %d35 = arith.addi %d34, %d34 : index
    %d36 = arith.addi %d35, %d35 : index
    %d37 = arith.addi %d36, %d36 : index
    %d38 = arith.addi %d37, %d37 : index
    %d39 = arith.addi %d38, %d38 : index
    memref.store %f, %x[%d39] : memref<?xf32>
  } {loopc.parallel}
  return
}

// -----

// The same of quotients, of which several are added: nothing is known of them.
// CHECK: remark: {{.*}}it does not run on several threads: all iterations write to one place
func.func @doubled_quotients(%run: !llvm.ptr, %x: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %n = arith.constant 16777216 : index
  %f = arith.constant 1.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    %d0 = arith.divui %i, %c8 : index
    %d1 = arith.addi %d0, %d0 : index
    %d2 = arith.addi %d1, %d1 : index
    %d3 = arith.addi %d2, %d2 : index
    %d4 = arith.addi %d3, %d3 : index
    %d5 = arith.addi %d4, %d4 : index
    %d6 = arith.addi %d5, %d5 : index
    %d7 = arith.addi %d6, %d6 : index
    %d8 = arith.addi %d7, %d7 : index
    %d9 = arith.addi %d8, %d8 : index
    %d10 = arith.addi %d9, %d9 : index
    %d11 = arith.addi %d10, %d10 : index
    %d12 = arith.addi %d11, %d11 : index
    %d13 = arith.addi %d12, %d12 : index
    %d14 = arith.addi %d13, %d13 : index
    %d15 = arith.addi %d14, %d14 : index
    %d16 = arith.addi %d15, %d15 : index
    %d17 = arith.addi %d16, %d16 : index
    %d18 = arith.addi %d17, %d17 : index
    %d19 = arith.addi %d18, %d18 : index
    %d20 = arith.addi %d19, %d19 : index
    %d21 = arith.addi %d20, %d20 : index
    %d22 = arith.addi %d21, %d21 : index
    %d23 = arith.addi %d22, %d22 : index
    %d24 = arith.addi %d23, %d23 : index
    %d25 = arith.addi %d24, %d24 : index
    %d26 = arith.addi %d25, %d25 : index
    %d27 = arith.addi %d26, %d26 : index
    %d28 = arith.addi %d27, %d27 : index
    %d29 = arith.addi %d28, %d28 : index
    %d30 = arith.addi %d29, %d29 : index
    %d31 = arith.addi %d30, %d30 : index
    %d32 = arith.addi %d31, %d31 : index
    %d33 = arith.addi %d32, %d32 : index
    %d34 = arith.addi %d33, %d33 : index
    %d35 = arith.addi %d34, %d34 : index
    %d36 = arith.addi %d35, %d35 : index
    %d37 = arith.addi %d36, %d36 : index
    %d38 = arith.addi %d37, %d37 : index
    %d39 = arith.addi %d38, %d38 : index
    %d40 = arith.addi %d39, %d39 : index
    memref.store %f, %x[%d40] : memref<?xf32>
  } {loopc.parallel}
  return
}
