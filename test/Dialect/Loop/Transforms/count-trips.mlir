// RUN: loopc-opt %s --loop-count-trips --canonicalize | FileCheck %s
// RUN: loopc-opt %s --loop-count-trips --remark-format=emitRemark \
// RUN:   --remarks-filter=loop 2>&1 | FileCheck %s --check-prefix=REMARK

// `i + 1 < n` is tested after iteration i: 1 + max(0, n - 1) trips where the
// first condition holds (loop_test).
// CHECK-LABEL: func @while_less(
// CHECK-SAME: %[[N:[^:]+]]: i64, %[[FIRST:[^:]+]]: i1)
// CHECK: %[[SOME:.*]] = arith.cmpi sgt, %[[N]], %c1_i64
// CHECK: %[[LESS:.*]] = arith.subi %[[N]], %c1_i64
// CHECK: %[[LIMITED:.*]] = arith.minui %[[LESS]], %{{.*}}
// CHECK: %[[MORE:.*]] = arith.select %[[SOME]], %[[LIMITED]], %c0_i64
// CHECK: %[[FITS:.*]] = arith.minsi %[[MORE]], %{{.*}}
// CHECK: %[[ALL:.*]] = arith.addi %[[FITS]], %c1_i64
// CHECK: %[[TRIPS:.*]] = arith.select %[[FIRST]], %[[ALL]], %c0_i64
// CHECK: loop.loop ({{.*}}) trips(%[[TRIPS]] : i64) collect
// CHECK: loop.yield while(%true : i1)
// REMARK: remark: {{.*}}its condition is that of a count
func.func @while_less(%n: i64, %c0: i1) -> tensor<?xi64> {
  %one = arith.constant 1 : i64
  %r = loop.loop (%i : i64, %c : i1) while(%c0 : i1) collect(tensor<?xi64> axis 0) {
    %j = arith.addi %i, %one : i64
    %go = arith.cmpi slt, %j, %n : i64
    loop.yield while(%go : i1) collect(%i : i64)
  }
  return %r : tensor<?xi64>
}

// A carried number that shrinks; the trip count stays a limit.
// CHECK-LABEL: func @down(
// CHECK: loop.loop (%{{[^ ]+}} : i64, %{{[^ ]+}} : i1) trips(%{{[^ ]+}} : i64) carried
// REMARK: remark: {{.*}}its condition is that of a count
func.func @down(%n: i32, %m: i64, %c0: i1) -> i32 {
  %two = arith.constant 2 : i32
  %zero = arith.constant 0 : i32
  %r = loop.loop (%i : i64, %c : i1) trips(%m : i64) while(%c0 : i1)
      carried(%x = %n : i32) {
    %y = arith.subi %x, %two : i32
    %go = arith.cmpi sgt, %y, %zero : i32
    loop.yield while(%go : i1) carried(%y : i32)
  }
  return %r : i32
}

// What would wrap around before it reaches the bound keeps its condition.
// CHECK-LABEL: func @wraps(
// CHECK: loop.loop ({{.*}}) while(%{{.*}} : i1) carried
// REMARK: remark: {{.*}}not counted: its condition depends on what it computes
func.func @wraps(%n: i32, %bound: i32, %c0: i1) -> i32 {
  %two = arith.constant 2 : i32
  %r = loop.loop (%i : i64, %c : i1) while(%c0 : i1) carried(%x = %n : i32) {
    %y = arith.addi %x, %two : i32
    %go = arith.cmpi slt, %y, %bound : i32
    loop.yield while(%go : i1) carried(%y : i32)
  }
  return %r : i32
}

// A number that is doubled does not count.
// CHECK-LABEL: func @doubled(
// CHECK: loop.loop ({{.*}}) while(%{{.*}} : i1) carried
func.func @doubled(%n: i64, %c0: i1) -> i64 {
  %one = arith.constant 1 : i64
  %r = loop.loop (%i : i64, %c : i1) while(%c0 : i1) carried(%x = %one : i64) {
    %y = arith.addi %x, %x : i64
    %go = arith.cmpi slt, %y, %n : i64
    loop.yield while(%go : i1) carried(%y : i64)
  }
  return %r : i64
}

// Float numbers do not count either.
// CHECK-LABEL: func @floats(
// CHECK: loop.loop ({{.*}}) while(%{{.*}} : i1) carried
func.func @floats(%n: f32, %c0: i1) -> f32 {
  %one = arith.constant 1.0 : f32
  %r = loop.loop (%i : i64, %c : i1) while(%c0 : i1) carried(%x = %one : f32) {
    %y = arith.addf %x, %one : f32
    %go = arith.cmpf olt, %y, %n : f32
    loop.yield while(%go : i1) carried(%y : f32)
  }
  return %r : f32
}

// The same in every iteration: never, or once.
// CHECK-LABEL: func @invariant(
// CHECK: loop.loop (%{{[^ ]+}} : i64, %{{[^ ]+}} : i1) trips(%{{[^ ]+}} : i64) carried
func.func @invariant(%n: i64, %m: i64, %go: i1, %c0: i1) -> i64 {
  %r = loop.loop (%i : i64, %c : i1) trips(%m : i64) while(%c0 : i1)
      carried(%x = %n : i64) {
    %y = arith.addi %x, %x : i64
    loop.yield while(%go : i1) carried(%y : i64)
  }
  return %r : i64
}

// loop_slice: the slice begins at element 4 of %x, and at the last of %y,
// wherever the condition ends the loop: neither may depend on a new count.
// CHECK-LABEL: func @reversed_slices(
// CHECK: loop.loop {{.*}} trips(%c5_i64 : i64) while(
// CHECK: loop.loop {{.*}} : i1) while(
// REMARK: remark: {{.*}}its trip count says where a reversed slice begins
func.func @reversed_slices(%x: tensor<8xf32>, %y: tensor<?xf32>, %c0: i1)
    -> (tensor<?xf32>, tensor<?xf32>) {
  %five = arith.constant 5 : i64
  %one = arith.constant 1 : i64
  %r = loop.loop (%i : i64, %c : i1) trips(%five : i64) while(%c0 : i1)
      slices(%s = %x : tensor<8xf32> axis 0 reverse -> f32) collect(tensor<?xf32> axis 0) {
    %go = arith.cmpi slt, %i, %one : i64
    loop.yield while(%go : i1) collect(%s : f32)
  }
  %q = loop.loop (%i : i64, %c : i1) while(%c0 : i1)
      slices(%s = %y : tensor<?xf32> axis 0 reverse -> f32) collect(tensor<?xf32> axis 0) {
    %go = arith.cmpi slt, %i, %one : i64
    loop.yield while(%go : i1) collect(%s : f32)
  }
  return %r, %q : tensor<?xf32>, tensor<?xf32>
}

// One whose condition holds in all iterations keeps its count.
// CHECK-LABEL: func @reversed_slices_of_all(
// CHECK: %[[TRIPS:.*]] = arith.select %{{.*}}, %{{.*}}, %c0_i64
// CHECK: loop.loop (%{{[^ ]+}} : i64, %{{[^ ]+}} : i1) trips(%[[TRIPS]] : i64) slices
func.func @reversed_slices_of_all(%x: tensor<8xf32>, %n: i64, %c0: i1) -> tensor<?xf32> {
  %true = arith.constant true
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) while(%c0 : i1)
      slices(%s = %x : tensor<8xf32> axis 0 reverse -> f32) collect(tensor<?xf32> axis 0) {
    loop.yield while(%true : i1) collect(%s : f32)
  }
  return %r : tensor<?xf32>
}

// A sum that is in another one several times: 2 * (%x + i) < 100, and the same
// test twice in what both must hold.
// CHECK-LABEL: func @shared_sums(
// CHECK-SAME: %[[X:[^:]+]]: i64
// CHECK: %[[TWICE:.*]] = arith.muli %[[X]], %c2_i64
// CHECK: arith.cmpi slt, %[[TWICE]], %c100_i64
// CHECK-NOT: arith.muli
// CHECK: loop.loop ({{.*}}) trips(%{{.*}} : i64) collect
// REMARK: remark: {{.*}}its condition is that of a count
func.func @shared_sums(%x: i64, %p: i1, %c0: i1) -> tensor<?xi64> {
  %hundred = arith.constant 100 : i64
  %r = loop.loop (%i : i64, %c : i1) while(%c0 : i1) collect(tensor<?xi64> axis 0) {
    %sum = arith.addi %i, %x : i64
    %twice = arith.addi %sum, %sum : i64
    %less = arith.cmpi slt, %twice, %hundred : i64
    %both = arith.andi %less, %p : i1
    %go = arith.andi %both, %less : i1
    loop.yield while(%go : i1) collect(%twice : i64)
  }
  return %r : tensor<?xi64>
}
