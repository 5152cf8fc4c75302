// RUN: loopc-opt %s --split-input-file --loopc-parallelize-nests \
// RUN:   --remark-format=emitRemark --remarks-filter=loop 2>&1 | FileCheck %s

// That iterations of these loops are independent is only said: no two may write
// to one place, nor one read what another one writes.

// Two iterations have one half.
// CHECK: remark: {{.*}}it does not run on several threads: iterations may write to one place
func.func @half(%run: !rt.run, %x: memref<?xf32>) {
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
// CHECK: remark: {{.*}}it does not run on several threads: iterations may write to one place
func.func @remainder(%run: !rt.run, %x: memref<?xf32>) {
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
// CHECK: remark: {{.*}}it does not run on several threads: iterations may write to one place
func.func @looked_up(%run: !rt.run, %x: memref<?xf32>, %p: memref<?xindex>) {
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
func.func @before(%run: !rt.run, %x: memref<?xf32>) {
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
func.func @before_by_views(%run: !rt.run, %x: memref<?xf32>) {
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
func.func @first(%run: !rt.run, %x: memref<?xf32>) {
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
func.func @two(%run: !rt.run, %x: memref<?xf32>) {
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
func.func @vectors(%run: !rt.run, %x: memref<?xf32>) {
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
func.func @in_place(%run: !rt.run, %x: memref<?xf32>) {
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
func.func @clamped(%run: !rt.run, %x: memref<?xf32>) {
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
func.func @divided(%run: !rt.run, %x: memref<?x8xf32>) {
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

// Two neighbours, the second counted on from quotient and remainder of the first.
// CHECK: remark: {{.*}}its iterations run on the threads of the run
func.func @successor(%run: !rt.run, %x: memref<?x?xf32>, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = arith.constant 16777216 : index
  %f = arith.constant 1.0 : f32
  scf.for %i = %c0 to %n step %c2 {
    %q = arith.divui %i, %m : index
    %r = arith.remui %i, %m : index
    memref.store %f, %x[%q, %r] : memref<?x?xf32>
    %next = arith.addi %r, %c1 : index
    %behind = arith.cmpi eq, %next, %m : index
    %r1 = arith.select %behind, %c0, %next : index
    %up = arith.addi %q, %c1 : index
    %q1 = arith.select %behind, %up, %q : index
    memref.store %f, %x[%q1, %r1] : memref<?x?xf32>
  } {loopc.parallel}
  return
}

// -----

// The remainder of one number with the quotient of another one is no number.
// CHECK: remark: {{.*}}it does not run on several threads: iterations may write to one place
func.func @successor_of_other(%run: !rt.run, %x: memref<?x?xf32>, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = arith.constant 16777216 : index
  %f = arith.constant 1.0 : f32
  scf.for %i = %c0 to %n step %c2 {
    %q = arith.divui %i, %m : index
    %r = arith.remui %i, %m : index
    memref.store %f, %x[%q, %r] : memref<?x?xf32>
    %next = arith.addi %r, %c1 : index
    %behind = arith.cmpi eq, %next, %m : index
    %r1 = arith.select %behind, %c0, %next : index
    %up = arith.addi %q, %c1 : index
    %q1 = arith.select %behind, %up, %q : index
    memref.store %f, %x[%q, %r1] : memref<?x?xf32>
  } {loopc.parallel}
  return
}

// -----

// The third of three neighbours is the next iteration's first.
// CHECK: remark: {{.*}}it does not run on several threads: iterations may write to one place
func.func @three_of_two(%run: !rt.run, %x: memref<?x?xf32>, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = arith.constant 16777216 : index
  %f = arith.constant 1.0 : f32
  scf.for %i = %c0 to %n step %c2 {
    %q = arith.divui %i, %m : index
    %r = arith.remui %i, %m : index
    memref.store %f, %x[%q, %r] : memref<?x?xf32>
    %next = arith.addi %r, %c1 : index
    %behind = arith.cmpi eq, %next, %m : index
    %r1 = arith.select %behind, %c0, %next : index
    %up = arith.addi %q, %c1 : index
    %q1 = arith.select %behind, %up, %q : index
    %next2 = arith.addi %r1, %c1 : index
    %behind2 = arith.cmpi eq, %next2, %m : index
    %r2 = arith.select %behind2, %c0, %next2 : index
    %up2 = arith.addi %q1, %c1 : index
    %q2 = arith.select %behind2, %up2, %q1 : index
    memref.store %f, %x[%q2, %r2] : memref<?x?xf32>
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
func.func @inner(%run: !rt.run, %x: memref<?x?x4xf32>) {
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
// CHECK: remark: {{.*}}it does not run on several threads: iterations may write to one place
func.func @zero_times(%run: !rt.run, %x: memref<?x8xf32>) {
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
func.func @doubled(%run: !rt.run, %x: memref<?xf32>) {
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
// CHECK: remark: {{.*}}it does not run on several threads: iterations may write to one place
func.func @doubled_quotients(%run: !rt.run, %x: memref<?xf32>) {
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

// -----

// Windows of eight that begin one behind the other.
// CHECK: remark: {{.*}}it does not run on several threads: iterations may write to one place
func.func @windows(%run: !rt.run, %x: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %n = arith.constant 16777216 : index
  %f = arith.constant 1.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %c8 step %c1 {
      %k = arith.addi %i, %j : index
      memref.store %f, %x[%k] : memref<?xf32>
    }
  } {loopc.parallel}
  return
}

// -----

// Fine: windows of four that begin four behind one another.
// CHECK: remark: {{.*}}its iterations run on the threads of the run
func.func @tiles(%run: !rt.run, %x: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %n = arith.constant 16777216 : index
  %f = arith.constant 1.0 : f32
  scf.for %i = %c0 to %n step %c4 {
    scf.for %j = %c0 to %c4 step %c1 {
      %k = arith.addi %i, %j : index
      memref.store %f, %x[%k] : memref<?xf32>
    }
  } {loopc.parallel}
  return
}

// -----

// Fine: the same up to the end, and tiles of tiles whose size is no multiple of theirs.
// CHECK: remark: {{.*}}its iterations run on the threads of the run
func.func @tiles_of_tiles(%run: !rt.run, %x: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %n = arith.constant 16777216 : index
  %f = arith.constant 1.0 : f32
  %c3 = arith.constant 3 : index
  scf.for %i = %c0 to %n step %c8 {
    %end = affine.min affine_map<(d0)[s0] -> (d0 + 8, s0)>(%i)[%n]
    scf.for %j = %i to %end step %c3 {
      %last = affine.min affine_map<(d0, d1) -> (d0 + 3, d1)>(%j, %end)
      scf.for %k = %j to %last step %c1 {
        memref.store %f, %x[%k] : memref<?xf32>
      }
    }
  } {loopc.parallel}
  return
}

// -----

// Fine: what is left is less than a step, as the branch says.
// CHECK: remark: {{.*}}its iterations run on the threads of the run
func.func @rest(%run: !rt.run, %x: memref<?xf32>, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %n = arith.constant 16777216 : index
  %f = arith.constant 1.0 : f32
  scf.for %i = %c0 to %n step %c4 {
    %end = arith.addi %i, %c4 : index
    %isWhole = arith.cmpi ule, %end, %m : index
    scf.if %isWhole {
    } else {
      scf.for %k = %i to %m step %c1 {
        memref.store %f, %x[%k] : memref<?xf32>
      }
    }
  } {loopc.parallel}
  return
}

// -----

// Fine: one of two conditions says the same.
// CHECK: remark: {{.*}}its iterations run on the threads of the run
func.func @rest_of_two(%run: !rt.run, %x: memref<?xf32>, %m: index, %q: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %n = arith.constant 16777216 : index
  %f = arith.constant 1.0 : f32
  scf.for %i = %c0 to %n step %c4 {
    %end = arith.addi %i, %c4 : index
    %isRest = arith.cmpi slt, %m, %end : index
    %both = arith.andi %isRest, %q : i1
    scf.if %both {
      scf.for %k = %i to %m step %c1 {
        memref.store %f, %x[%k] : memref<?xf32>
      }
    }
  } {loopc.parallel}
  return
}

// -----

// Nothing says how far it is to the end.
// CHECK: remark: {{.*}}it does not run on several threads: iterations may write to one place
func.func @no_rest(%run: !rt.run, %x: memref<?xf32>, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %n = arith.constant 16777216 : index
  %f = arith.constant 1.0 : f32
  scf.for %i = %c0 to %n step %c4 {
    scf.for %k = %i to %m step %c1 {
      memref.store %f, %x[%k] : memref<?xf32>
    }
  } {loopc.parallel}
  return
}

// -----

// Fine: rows one behind the other, whose length the run knows.
// CHECK: remark: {{.*}}its iterations run on the threads of the run
func.func @rows(%run: !rt.run, %x: memref<?xf32>, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %n = arith.constant 16777216 : index
  %f = arith.constant 1.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    %row = arith.muli %i, %m : index
    scf.for %j = %c0 to %m step %c1 {
      %k = arith.addi %row, %j : index
      memref.store %f, %x[%k] : memref<?xf32>
    }
  } {loopc.parallel}
  return
}

// -----

// These may have no elements: all begin at one place.
// CHECK: remark: {{.*}}it does not run on several threads: iterations may write to one place
func.func @begins(%run: !rt.run, %x: memref<?xf32>, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %n = arith.constant 16777216 : index
  %f = arith.constant 1.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    %row = arith.muli %i, %m : index
    memref.store %f, %x[%row] : memref<?xf32>
  } {loopc.parallel}
  return
}

// -----

// The row may be longer than it is far to the next one.
// CHECK: remark: {{.*}}it does not run on several threads: iterations may write to one place
func.func @long_rows(%run: !rt.run, %x: memref<?xf32>, %m: index, %l: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %n = arith.constant 16777216 : index
  %f = arith.constant 1.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    %row = arith.muli %i, %m : index
    scf.for %j = %c0 to %l step %c1 {
      %k = arith.addi %row, %j : index
      memref.store %f, %x[%k] : memref<?xf32>
    }
  } {loopc.parallel}
  return
}

// -----

// Quotient and remainder tell the iteration, but it reads another one's place.
// CHECK: remark: {{.*}}it does not run on several threads: an iteration may read what another one writes
func.func @divided_before(%run: !rt.run, %x: memref<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %n = arith.constant 16777216 : index
  %f = arith.constant 1.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    %q = arith.divui %i, %c8 : index
    %r = arith.remui %i, %c8 : index
    %p = arith.addi %q, %c1 : index
    %a = memref.load %x[%p, %r] : memref<?x8xf32>
    memref.store %a, %x[%q, %r] : memref<?x8xf32>
  } {loopc.parallel}
  return
}

// -----

// Each place is near the one that is written, but not near each other: [i + 2]
// of one iteration is [i - 2] of another one.
// CHECK: remark: {{.*}}it does not run on several threads: an iteration may read what another one writes
func.func @apart(%run: !rt.run, %x: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %n = arith.constant 16777216 : index
  %f = arith.constant 1.0 : f32
  scf.for %i = %c0 to %n step %c4 {
    %p = arith.addi %i, %c2 : index
    %q = arith.subi %i, %c2 : index
    %a = memref.load %x[%q] : memref<?xf32>
    memref.store %f, %x[%i] : memref<?xf32>
    memref.store %a, %x[%p] : memref<?xf32>
  } {loopc.parallel}
  return
}

// -----

// A vector of indices may be any.
// CHECK: remark: {{.*}}it does not run on several threads: an iteration may read what another one writes
func.func @gathered(%run: !rt.run, %x: memref<?xf32>, %k: vector<4xindex>, %m: vector<4xi1>, %p: vector<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %n = arith.constant 16777216 : index
  %f = arith.constant 1.0 : f32
  scf.for %i = %c0 to %n step %c4 {
    %a = vector.gather %x[%c0] [%k], %m, %p : memref<?xf32>, vector<4xindex>, vector<4xi1>, vector<4xf32> into vector<4xf32>
    vector.store %a, %x[%i] : memref<?xf32>, vector<4xf32>
  } {loopc.parallel}
  return
}

// -----

// Another view of the same buffer.
// CHECK: remark: {{.*}}it does not run on several threads: an iteration may read what another one writes
func.func @other_view(%run: !rt.run, %x: memref<?x8xf32>, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %n = arith.constant 16777216 : index
  %f = arith.constant 1.0 : f32
  %y = memref.collapse_shape %x [[0, 1]] : memref<?x8xf32> into memref<?xf32>
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.load %y[%c0] : memref<?xf32>
    memref.store %a, %x[%i, %c0] : memref<?x8xf32>
  } {loopc.parallel}
  return
}

// -----

// Fine: each iteration has a view of its own, as long as it is far to the next one.
// CHECK: remark: {{.*}}its iterations run on the threads of the run
func.func @own_views(%run: !rt.run, %x: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %n = arith.constant 16777216 : index
  %f = arith.constant 1.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    %o = arith.muli %i, %c4 : index
    %v = memref.reinterpret_cast %x to offset: [%o], sizes: [4], strides: [1] : memref<?xf32> to memref<4xf32, strided<[1], offset: ?>>
    memref.store %f, %v[%c2] : memref<4xf32, strided<[1], offset: ?>>
  } {loopc.parallel}
  return
}

// -----

// These overlap.
// CHECK: remark: {{.*}}it does not run on several threads: iterations may write to one place
func.func @overlapping_views(%run: !rt.run, %x: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %n = arith.constant 16777216 : index
  %f = arith.constant 1.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    %o = arith.muli %i, %c4 : index
    %v = memref.reinterpret_cast %x to offset: [%o], sizes: [8], strides: [1] : memref<?xf32> to memref<8xf32, strided<[1], offset: ?>>
    scf.for %j = %c0 to %c8 step %c1 {
      memref.store %f, %v[%j] : memref<8xf32, strided<[1], offset: ?>>
    }
  } {loopc.parallel}
  return
}

// -----

// Fine: groups of 28 channels, each by four vectors, as one axis.
// CHECK: remark: {{.*}}its iterations run on the threads of the run
func.func @groups(%run: !rt.run, %x: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c24 = arith.constant 24 : index
  %n = arith.constant 16777216 : index
  %f = arith.constant dense<1.0> : vector<4xf32>
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %c24 step %c8 {
      %k = affine.linearize_index [%i, %j] by (16777216, 28) : index
      %l = affine.apply affine_map<(d0) -> (d0 + 8)>(%k)
      vector.store %f, %x[%k] : memref<?xf32>, vector<4xf32>
      vector.store %f, %x[%l] : memref<?xf32>, vector<4xf32>
    }
  } {loopc.parallel}
  return
}

// -----

// Channels of all groups.
// CHECK: remark: {{.*}}it does not run on several threads: iterations may write to one place
func.func @groups_mixed(%run: !rt.run, %x: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c24 = arith.constant 24 : index
  %n = arith.constant 16777216 : index
  %f = arith.constant dense<1.0> : vector<4xf32>
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %c24 step %c8 {
      %k = affine.linearize_index [%j, %i] by (16777216, 28) : index
      %l = affine.apply affine_map<(d0) -> (d0 + 8)>(%k)
      vector.store %f, %x[%k] : memref<?xf32>, vector<4xf32>
      vector.store %f, %x[%l] : memref<?xf32>, vector<4xf32>
    }
  } {loopc.parallel}
  return
}

// -----

// Fine: what is beyond the end is the last one, where the end is the least of
// two numbers.
// CHECK: remark: {{.*}}its iterations run on the threads of the run
func.func @clamped_to_least(%run: !rt.run, %x: memref<?xf32>, %m: index, %l: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = arith.minsi %m, %l : index
  %f = arith.constant 1.0 : f32
  scf.for %i = %c0 to %n step %c2 {
    %k = arith.addi %i, %c1 : index
    %last = arith.subi %n, %c1 : index
    %at = arith.minsi %k, %last : index
    memref.store %f, %x[%i] : memref<?xf32>
    memref.store %f, %x[%at] : memref<?xf32>
  } {loopc.parallel}
  return
}
