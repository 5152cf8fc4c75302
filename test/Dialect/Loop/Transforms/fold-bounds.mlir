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
