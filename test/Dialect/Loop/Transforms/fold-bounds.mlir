// RUN: loopc-opt %s --loop-fold-bounds --canonicalize --cse | FileCheck %s

// A window that moves with the iterations has its extent, though both of its
// ends are held to the tensor.
// CHECK-LABEL: func @window(
func.func @window(%x: tensor<?xf32>) -> tensor<?xf32> {
  // CHECK: loop.loop
  // CHECK-NOT: arith.minsi
  // CHECK-NOT: loop.check
  // CHECK: tensor.extract_slice %{{.*}}[%{{.*}}] [5] [1]
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  %c4_i64 = arith.constant 4 : i64
  %c5_i64 = arith.constant 5 : i64
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %n64 = arith.index_cast %n : index to i64
  %trips = arith.subi %n64, %c4_i64 : i64
  %r = loop.loop (%i : i64, %c : i1) trips(%trips : i64) collect(tensor<?xf32> axis 0) {
    %behind = arith.addi %i, %c5_i64 : i64
    %last = arith.index_cast %behind : i64 to index
    %end = arith.minsi %last, %n : index
    %first = arith.index_cast %i : i64 to index
    %above = arith.maxsi %first, %c0 : index
    %begin = arith.minsi %above, %n : index
    %rows = arith.subi %end, %begin : index
    %extent = arith.maxsi %rows, %c0 : index
    %holds = arith.cmpi uge, %extent, %c5 : index
    loop.check %holds, "{}"(%extent : index)
    %w = tensor.extract_slice %x[%begin] [%extent] [1] : tensor<?xf32> to tensor<?xf32>
    %last1 = arith.subi %extent, %c5 : index
    %e = tensor.extract %w[%last1] : tensor<?xf32>
    loop.yield while(%c : i1) collect(%e : f32)
  }
  return %r : tensor<?xf32>
}

// What moves with both loops: extents that are equal sums are one value.
// CHECK-LABEL: func @triangle(
func.func @triangle(%x: tensor<?xf32>, %r0: i1) -> i1 {
  // CHECK: loop.loop
  // CHECK: loop.loop
  // CHECK-NOT: arith.cmpi
  // CHECK: loop.yield while(%{{.*}}) carried(%true : i1)
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : i64
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %n64 = arith.index_cast %n : index to i64
  %trips = arith.subi %n64, %c1 : i64
  %r = loop.loop (%l : i64, %c : i1) trips(%trips : i64) carried(%a = %r0 : i1) {
    %rest = arith.subi %trips, %l : i64
    %s = loop.loop (%i : i64, %d : i1) trips(%rest : i64) carried(%b = %a : i1) {
      %sum = arith.addi %i, %l : i64
      %j = arith.addi %sum, %c1 : i64
      %end = arith.minsi %j, %n64 : i64
      %one = arith.subi %end, %i : i64
      %next = arith.addi %i, %c1 : i64
      %begin = arith.minsi %next, %n64 : i64
      %behind = arith.addi %j, %c1 : i64
      %other = arith.subi %behind, %begin : i64
      %same = arith.cmpi eq, %one, %other : i64
      loop.yield while(%d : i1) carried(%same : i1)
    }
    loop.yield while(%c : i1) carried(%s : i1)
  }
  return %r : i1
}

// What follows from there being an iteration does not hold in front of the
// loop, where invariants may go: neither the bound nor the branch is folded.
// CHECK-LABEL: func @no_trips(
func.func @no_trips(%x: tensor<?xf32>, %s0: index) -> index {
  // CHECK: loop.loop
  // CHECK: arith.maxsi
  // CHECK: arith.cmpi
  // CHECK: scf.if
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : i64
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %n64 = arith.index_cast %n : index to i64
  %trips = arith.subi %n64, %c4 : i64
  %at = arith.index_cast %trips : i64 to index
  %s = loop.loop (%i : i64, %c : i1) trips(%trips : i64) carried(%a = %s0 : index) {
    %extent = arith.maxsi %at, %c0 : index
    %some = arith.cmpi sgt, %at, %c0 : index
    %b = scf.if %some -> index {
      %e = arith.muli %extent, %a : index
      scf.yield %e : index
    } else {
      scf.yield %a : index
    }
    loop.yield while(%c : i1) carried(%b : index)
  }
  return %s : index
}

// A number that may be anything may wrap around.
// CHECK-LABEL: func @wraps(
func.func @wraps(%m: i64, %s0: i64) -> i64 {
  // CHECK: loop.loop
  // CHECK: arith.maxsi
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %s = loop.loop (%i : i64, %c : i1) trips(%m : i64) carried(%a = %s0 : i64) {
    %above = arith.maxsi %m, %a : i64
    %next = arith.addi %above, %c1 : i64
    %most = arith.maxsi %next, %m : i64
    loop.yield while(%c : i1) carried(%most : i64)
  }
  return %s : i64
}

// A number that each iteration adds to counts, too; a remainder of it is not
// negative, and below the divisor.
// CHECK-LABEL: func @ring(
func.func @ring(%m: i64, %x: tensor<?xf32>) -> tensor<?xi64> {
  // CHECK: loop.loop
  // CHECK: %[[AT:.*]] = arith.remsi
  // CHECK-NOT: arith.select
  // CHECK-NOT: loop.check
  // CHECK: collect(%[[AT]] : i64)
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i64
  %c2 = arith.constant 2 : i64
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %n64 = arith.index_cast %n : index to i64
  %p, %r = loop.loop (%i : i64, %c : i1) trips(%m : i64) carried(%a = %zero : i64) collect(tensor<?xi64> axis 0) {
    %at = arith.remsi %a, %n64 : i64
    %below = arith.cmpi slt, %at, %zero : i64
    %up = arith.addi %at, %n64 : i64
    %place = arith.select %below, %up, %at : i64
    %inside = arith.cmpi ult, %place, %n64 : i64
    loop.check %inside, "{}"(%place : i64)
    %next = arith.addi %a, %c2 : i64
    loop.yield while(%c : i1) carried(%next : i64) collect(%place : i64)
  }
  return %r : tensor<?xi64>
}

// Iterations that begin anywhere may be so near to the largest number that what
// is added to them wraps around.
// CHECK-LABEL: func @begins_anywhere(
func.func @begins_anywhere(%m: i64, %from: i64, %to: i64, %s0: i64) -> i64 {
  // CHECK: loop.loop
  // CHECK: scf.for
  // CHECK: arith.maxsi
  // CHECK: scf.for
  // CHECK-NOT: arith.maxsi
  // CHECK: return
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %s = loop.loop (%i : i64, %c : i1) trips(%m : i64) carried(%a = %s0 : i64) {
    %any = scf.for %k = %from to %to step %c1 iter_args(%b = %a) -> (i64) : i64 {
      %next = arith.addi %k, %c1 : i64
      %most = arith.maxsi %next, %k : i64
      %sum = arith.xori %b, %most : i64
      scf.yield %sum : i64
    }
    %counted = scf.for %k = %c0 to %to step %c1 iter_args(%b = %any) -> (i64) : i64 {
      %next = arith.addi %k, %c1 : i64
      %most = arith.maxsi %next, %k : i64
      %sum = arith.xori %b, %most : i64
      scf.yield %sum : i64
    }
    loop.yield while(%c : i1) carried(%counted : i64)
  }
  return %s : i64
}

// What a branch guards must not move before a loop without iterations, whether
// numbers are compared as signed or as unsigned ones.
// CHECK-LABEL: func @guarded(
// CHECK: loop.loop
// CHECK: arith.cmpi ult
// CHECK: scf.if
// CHECK: tensor.extract
func.func @guarded(%n: i64, %x: tensor<?xf32>) -> f32 {
  %zero = arith.constant 0.0 : f32
  %c1 = arith.constant 1 : i64
  %m = arith.subi %n, %c1 : i64
  %k = arith.index_cast %m : i64 to index
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%a = %zero : f32) {
    %in = arith.cmpi ult, %i, %n : i64
    %v = scf.if %in -> f32 {
      %w = tensor.extract %x[%k] : tensor<?xf32>
      scf.yield %w : f32
    } else {
      scf.yield %zero : f32
    }
    %b = arith.addf %a, %v : f32
    loop.yield while(%c : i1) carried(%b : f32)
  }
  return %r : f32
}

// What counts on the inner loop to run stays in it: the number of the outer
// loop's iteration does not keep it there.
// CHECK-LABEL: func @inner(
// CHECK: loop.loop
// CHECK: loop.loop
// CHECK: arith.cmpi slt
// CHECK: arith.select
func.func @inner(%n: i64, %x: tensor<?xf32>) -> i64 {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %dim = tensor.dim %x, %c0 : tensor<?xf32>
  %m = arith.index_cast %dim : index to i64
  %less = arith.subi %m, %c1 : i64
  %r = loop.loop (%j : i64, %c : i1) trips(%n : i64) carried(%a = %zero : i64) {
    %s = loop.loop (%i : i64, %d : i1) trips(%m : i64) carried(%e = %a : i64) {
      %rest = arith.subi %m, %i : i64
      %end = arith.addi %j, %rest : i64
      %in = arith.cmpi slt, %j, %end : i64
      %last = arith.select %in, %less, %zero : i64
      %f = arith.muli %e, %last : i64
      loop.yield while(%d : i1) carried(%f : i64)
    }
    loop.yield while(%c : i1) carried(%s : i64)
  }
  return %r : i64
}

// Blocks one behind the other, of which there are as many as the tensor has, and
// of a number that is known.
// CHECK-LABEL: func @blocks(
func.func @blocks(%x: tensor<?xf32>) -> tensor<?xf32> {
  // CHECK: loop.loop
  // CHECK-NOT: arith.minsi
  // CHECK-NOT: loop.check
  // CHECK: tensor.extract_slice %{{.*}}[%{{.*}}] [8] [1]
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c7 = arith.constant 7 : index
  %c8_i64 = arith.constant 8 : i64
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %n64 = arith.index_cast %n : index to i64
  %trips = arith.divsi %n64, %c8_i64 : i64
  %r = loop.loop (%i : i64, %c : i1) trips(%trips : i64) collect(tensor<?xf32> axis 0) {
    %from = arith.muli %i, %c8_i64 : i64
    %to = arith.addi %from, %c8_i64 : i64
    %last = arith.index_cast %to : i64 to index
    %end = arith.minsi %last, %n : index
    %first = arith.index_cast %from : i64 to index
    %above = arith.maxsi %first, %c0 : index
    %begin = arith.minsi %above, %n : index
    %rows = arith.subi %end, %begin : index
    %extent = arith.maxsi %rows, %c0 : index
    %holds = arith.cmpi uge, %extent, %c8 : index
    loop.check %holds, "{}"(%extent : index)
    %w = tensor.extract_slice %x[%begin] [%extent] [1] : tensor<?xf32> to tensor<?xf32>
    %e = tensor.extract %w[%c7] : tensor<?xf32>
    loop.yield while(%c : i1) collect(%e : f32)
  }
  return %r : tensor<?xf32>
}

// One block more than there are is not in the tensor, nor is one that is longer.
// CHECK-LABEL: func @blocks_beyond(
func.func @blocks_beyond(%x: tensor<?xf32>) -> tensor<?xf32> {
  // CHECK: loop.loop
  // CHECK: arith.minsi
  // CHECK: arith.minsi
  %c9 = arith.constant 9 : i64
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : i64
  %c8_i64 = arith.constant 8 : i64
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %n64 = arith.index_cast %n : index to i64
  %whole = arith.divsi %n64, %c8_i64 : i64
  %trips = arith.addi %whole, %c1 : i64
  %r = loop.loop (%i : i64, %c : i1) trips(%trips : i64) collect(tensor<?xi64> axis 0) {
    %from = arith.muli %i, %c8_i64 : i64
    %to = arith.addi %from, %c8_i64 : i64
    %end = arith.minsi %to, %n64 : i64
    loop.yield while(%c : i1) collect(%end : i64)
  }
  %s = loop.loop (%i : i64, %c : i1) trips(%whole : i64) collect(tensor<?xi64> axis 0) {
    %from = arith.muli %i, %c8_i64 : i64
    %to = arith.addi %from, %c9 : i64
    %end = arith.minsi %to, %n64 : i64
    loop.yield while(%c : i1) collect(%end : i64)
  }
  %t = tensor.dim %s, %c0 : tensor<?xi64>
  %u = tensor.extract %s[%c0] : tensor<?xi64>
  %v = arith.sitofp %u : i64 to f32
  %w = tensor.dim %r, %c0 : tensor<?xi64>
  %p = tensor.extract %r[%c0] : tensor<?xi64>
  %q = arith.sitofp %p : i64 to f32
  %o = tensor.from_elements %v, %q : tensor<2xf32>
  %z = tensor.cast %o : tensor<2xf32> to tensor<?xf32>
  return %z : tensor<?xf32>
}
