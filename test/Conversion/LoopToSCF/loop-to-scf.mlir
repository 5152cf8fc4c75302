// RUN: loopc-opt %s --convert-loop-to-scf | FileCheck %s

// loop_test: trips known on entry; none where the count is negative. A check
// gets the number of the iteration; the poll runs once in a strip (loop_cancel).
// CHECK-LABEL: func @counted(
// CHECK-SAME: %[[N:[^:]+]]: i64, %[[X0:[^:]+]]: f32)
func.func @counted(%n: i64, %x0: f32) -> f32 {
  // CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : i64
  // CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : i64
  // CHECK: %[[TRIPS:.*]] = arith.maxsi %[[N]], %[[ZERO]]
  // CHECK: %[[STRIP:.*]] = arith.constant 1024
  // CHECK: scf.for %[[BEGIN:.*]] = %[[ZERO]] to %[[TRIPS]] step %[[STRIP]] iter_args({{.*}}%[[XS:[^ ]+]] = %[[X0]])
  // CHECK: %[[LEFT:.*]] = arith.subi %[[TRIPS]], %[[BEGIN]]
  // CHECK: %[[SIZE:.*]] = arith.minsi %[[LEFT]], %
  // CHECK: %[[END:.*]] = arith.addi %[[BEGIN]], %[[SIZE]]
  // CHECK: scf.for %[[I:.*]] = %[[BEGIN]] to %[[END]] step %[[ONE]] iter_args({{.*}}%[[X:[^ ]+]] = %[[XS]])
  // CHECK: %[[Y:.*]] = arith.addf %[[X]], %[[X]]
  // CHECK: loop.check %{{.*}}, "not smaller" iteration %[[I]] : i64
  // CHECK: scf.yield {{.*}}%[[Y]]
  // CHECK: %[[NOW:.*]] = arith.cmpi eq, %[[SIZE]], %
  // CHECK: scf.if %[[NOW]]
  // CHECK-NEXT: loop.poll
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%x = %x0 : f32) {
    %y = arith.addf %x, %x : f32
    %ok = arith.cmpf olt, %y, %x : f32
    loop.check %ok, "not smaller"
    loop.yield while(%c : i1) carried(%y : f32)
  }
  return %r : f32
}

// CHECK-LABEL: func @counted_while(
// CHECK-SAME: %[[N:[^:]+]]: i64, %[[GO:[^:]+]]: i1, %[[X0:[^:]+]]: f32)
func.func @counted_while(%n: i64, %go: i1, %x0: f32) -> f32 {
  // CHECK: %[[ZERO:.*]] = arith.constant 0 : i64
  // CHECK: %[[R:.*]]:3 = scf.while (%[[I:.*]] = %[[ZERO]], %[[C:.*]] = %[[GO]], %[[X:.*]] = %[[X0]])
  // CHECK: %[[BELOW:.*]] = arith.cmpi slt, %[[I]], %[[N]]
  // CHECK: %[[BOTH:.*]] = arith.andi %[[BELOW]], %[[C]]
  // CHECK: scf.condition(%[[BOTH]]) %[[I]], %[[C]], %[[X]]
  // CHECK: ^bb0(%[[J:.*]]: i64, %{{.*}}: i1, %{{.*}}: f32):
  // CHECK: loop.poll
  // CHECK: %[[MORE:.*]] = arith.cmpf
  // CHECK: %[[NEXT:.*]] = arith.addi %[[J]]
  // CHECK: scf.yield %[[NEXT]], %[[MORE]]
  // CHECK: return %[[R]]#2
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) while(%go : i1) carried(%x = %x0 : f32) {
    %y = arith.addf %x, %x : f32
    %more = arith.cmpf olt, %y, %x0 : f32
    loop.yield while(%more : i1) carried(%y : f32)
  }
  return %r : f32
}

// loop_cond_ignored: without a condition the yielded one ends nothing; what the
// body sees of it is what was yielded last.
// CHECK-LABEL: func @condition_read(
func.func @condition_read(%n: i64, %x0: i1) -> i1 {
  // CHECK: scf.for {{.*}} iter_args(%[[CS:[^ ]+]] = %true{{[^,]*}}, %{{[^ ]+}} = %{{[^ ]+}}) -> (i1, i1)
  // CHECK: scf.for {{.*}} iter_args(%[[C:[^ ]+]] = %[[CS]], %{{[^ ]+}} = %{{[^ ]+}}) -> (i1, i1)
  // CHECK: %[[NOT:.*]] = arith.xori %[[C]]
  // CHECK: scf.yield %[[NOT]], %[[C]]
  %true = arith.constant true
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%x = %x0 : i1) {
    %d = arith.xori %c, %true : i1
    loop.yield while(%d : i1) carried(%c : i1)
  }
  return %r : i1
}

// loop_cancel: neither a count nor a condition: only a poll ends it.
// CHECK-LABEL: func @endless(
func.func @endless(%x0: f32) -> f32 {
  // CHECK: scf.while
  // CHECK: scf.condition(%{{.*}})
  // CHECK: loop.poll
  %true = arith.constant true
  %r = loop.loop (%i : i64, %c : i1) carried(%x = %x0 : f32) {
    %y = arith.addf %x, %x : f32
    loop.yield while(%true : i1) carried(%y : f32)
  }
  return %r : f32
}

// A short loop ends by itself.
// CHECK-LABEL: func @short(
func.func @short(%x0: f32) -> f32 {
  // CHECK-NOT: loop.poll
  // CHECK: return
  %n = arith.constant 8 : i64
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%x = %x0 : f32) {
    %y = arith.addf %x, %x : f32
    loop.yield while(%c : i1) carried(%y : f32)
  }
  return %r : f32
}

// An iteration that holds a loop polls in that loop where it is long: both are
// polled by strips.
// CHECK-LABEL: func @nested(
func.func @nested(%n: i64, %x0: f32) -> f32 {
  // CHECK: scf.for
  // CHECK: scf.for
  // CHECK-NOT: loop.poll
  // CHECK: scf.for
  // CHECK: scf.for
  // CHECK: scf.if
  // CHECK-NEXT: loop.poll
  // CHECK: scf.yield
  // CHECK: scf.if
  // CHECK-NEXT: loop.poll
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%x = %x0 : f32) {
    %s = loop.loop (%j : i64, %d : i1) trips(%n : i64) carried(%y = %x : f32) {
      %z = arith.addf %y, %x : f32
      loop.yield while(%d : i1) carried(%z : f32)
    }
    loop.yield while(%c : i1) carried(%s : f32)
  }
  return %r : f32
}

// An iteration that holds a short loop is short: polled by strips.
// CHECK-LABEL: func @short_inside(
func.func @short_inside(%n: i64, %x: memref<8xf32>) {
  // CHECK: scf.for
  // CHECK: scf.for
  // CHECK-NOT: loop.poll
  // CHECK: scf.for
  // CHECK-NOT: loop.poll
  // CHECK: scf.if
  // CHECK-NEXT: loop.poll
  %true = arith.constant true
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  loop.loop (%i : i64, %c : i1) trips(%n : i64) {
    scf.for %k = %c0 to %c8 step %c1 {
      %v = memref.load %x[%k] : memref<8xf32>
      %w = arith.addf %v, %v : f32
      memref.store %w, %x[%k] : memref<8xf32>
    }
    loop.yield while(%true : i1)
  }
  return
}
