// RUN: loopc-opt %s --loop-hoist-checks --canonicalize | FileCheck %s

// One check of all iterations; the index is the iteration's number.
// CHECK-LABEL: func @gather(
// CHECK-SAME: %[[N:[^:]+]]: i64, %[[X:[^:]+]]: tensor<?x4xf32>, %[[E:[^:]+]]: index
// CHECK: %[[OK:.*]] = arith.cmpi ule, %[[TRIPS:.*]], %[[E]] : index
// CHECK: loop.check guarded %[[OK]], "index {} is out of range for {}"(%[[E]], %[[E]] : index, index) iteration
// CHECK: loop.loop (%[[I:[^ ]+]] : i64
// CHECK-NEXT: %[[AT:.*]] = arith.index_cast %[[I]]
// CHECK-NEXT: tensor.extract_slice %[[X]][%[[AT]], 0]
// CHECK-NOT: loop.check
func.func @gather(%n: i64, %x: tensor<?x4xf32>, %extent: index, %s0: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %before = arith.subi %extent, %c1 : index
  %last = arith.maxsi %before, %c0 : index
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%s = %s0 : tensor<4xf32>) {
    %p = arith.index_cast %i : i64 to index
    %negative = arith.cmpi slt, %p, %c0 : index
    %wrapped = arith.addi %p, %extent : index
    %q = arith.select %negative, %wrapped, %p : index
    %ok = arith.cmpi ult, %q, %extent : index
    loop.check %ok, "index {} is out of range for {}"(%p, %extent : index, index)
    %at = arith.minui %q, %last : index
    %y = tensor.extract_slice %x[%at, 0] [1, 4] [1, 1] : tensor<?x4xf32> to tensor<4xf32>
    loop.yield while(%c : i1) carried(%y : tensor<4xf32>)
  }
  return %r : tensor<4xf32>
}

// Of two checks that fail the first that an iteration comes to is the error:
// the first one holds where the other extent is smaller, and where it does not
// hold the run ends before the second.
// CHECK-LABEL: func @two(
// CHECK-SAME: %[[N:[^:]+]]: i64, %[[A:[^:]+]]: index, %[[B:[^:]+]]: index
// CHECK: %[[FIRST:.*]] = arith.cmpi ule, %{{.*}}, %[[A]]
// CHECK: %[[EARLIER:.*]] = arith.cmpi ult, %[[B]], %[[A]]
// CHECK: %[[OK:.*]] = arith.ori %[[FIRST]], %[[EARLIER]]
// CHECK: loop.check guarded %[[OK]], "a {}"
// CHECK: %[[SECOND:.*]] = arith.cmpi ule, %{{.*}}, %[[B]]
// CHECK-NEXT: %[[AT:.*]] = arith.index_cast %[[B]]
// CHECK-NEXT: loop.check guarded %[[SECOND]], "b {}"
func.func @two(%n: i64, %a: index, %b: index, %s0: i64) -> i64 {
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%s = %s0 : i64) {
    %p = arith.index_cast %i : i64 to index
    %ok = arith.cmpi ult, %p, %a : index
    loop.check %ok, "a {}"(%p : index)
    %ok2 = arith.cmpi ult, %p, %b : index
    loop.check %ok2, "b {}"(%p : index)
    %t = arith.addi %s, %i : i64
    loop.yield while(%c : i1) carried(%t : i64)
  }
  return %r : i64
}

// An iteration that may not happen, or another check, keeps it where it is.
// CHECK-LABEL: func @left_alone(
// CHECK: loop.loop
// CHECK: loop.check
// CHECK: loop.loop
// CHECK: loop.check
// CHECK: loop.check
func.func @left_alone(%n: i64, %go: i1, %a: index, %b: tensor<?xi1>, %s0: i64) -> (i64, i64) {
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) while(%go : i1) carried(%s = %s0 : i64) {
    %p = arith.index_cast %i : i64 to index
    %ok = arith.cmpi ult, %p, %a : index
    loop.check %ok, "a {}"(%p : index)
    %t = arith.addi %s, %i : i64
    loop.yield while(%c : i1) carried(%t : i64)
  }
  %q = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%s = %s0 : i64) {
    %p = arith.index_cast %i : i64 to index
    %ok = arith.cmpi ult, %p, %a : index
    loop.check %ok, "a {}"(%p : index)
    %other = tensor.extract %b[%p] : tensor<?xi1>
    loop.check %other, "b {}"(%p : index)
    %t = arith.addi %s, %i : i64
    loop.yield while(%c : i1) carried(%t : i64)
  }
  return %r, %q : i64, i64
}

// No number is below a negative one; but a loop without iterations has none.
// CHECK-LABEL: func @below_a_number_of_data(
// CHECK-SAME: %[[N:[^:]+]]: i64, %[[EXTENT:[^:]+]]: index
func.func @below_a_number_of_data(%n: i64, %extent: index, %x: tensor<?xf32>) -> tensor<?xf32> {
  // CHECK: %[[TRIPS:.*]] = arith.index_cast
  // CHECK: %[[LEAST:.*]] = arith.maxsi %[[EXTENT]]
  // CHECK: %[[OK:.*]] = arith.cmpi sle, %[[TRIPS]], %[[LEAST]]
  // CHECK: loop.check guarded %[[OK]], "{} of {}"(%[[LEAST]], %[[EXTENT]]
  // CHECK: loop.loop
  // CHECK-NOT: loop.check
  %y = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%a = %x : tensor<?xf32>) {
    %k = arith.index_cast %i : i64 to index
    %ok = arith.cmpi slt, %k, %extent : index
    loop.check %ok, "{} of {}"(%k, %extent : index, index)
    %v = tensor.extract %x[%k] : tensor<?xf32>
    %b = tensor.insert %v into %a[%k] : tensor<?xf32>
    loop.yield while(%c : i1) carried(%b : tensor<?xf32>)
  }
  return %y : tensor<?xf32>
}

// The element behind that of the iteration: the extent is as much smaller. What
// is said is what would have been said in the first iteration that fails.
// CHECK-LABEL: func @next(
// CHECK-SAME: %[[N:[^:]+]]: i64, %[[X:[^:]+]]: tensor<?xf32>
func.func @next(%n: i64, %x: tensor<?xf32>, %s0: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i64
  %extent = tensor.dim %x, %c0 : tensor<?xf32>
  // CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
  // CHECK-DAG: %[[E:.*]] = tensor.dim %[[X]]
  // CHECK: %[[HAS_ONE:.*]] = arith.cmpi sgt, %[[E]], %[[C1]]
  // CHECK: %[[LESS:.*]] = arith.subi %[[E]], %[[C1]]
  // CHECK: %[[FIRST:.*]] = arith.select %[[HAS_ONE]], %[[LESS]], %{{.*}}
  // CHECK: %[[OK:.*]] = arith.cmpi sle, %{{.*}}, %[[FIRST]]
  // CHECK: %[[I:.*]] = arith.index_cast %[[FIRST]] : index to i64
  // CHECK: %[[NEXT:.*]] = arith.addi %[[I]], %{{.*}} : i64
  // CHECK: loop.check guarded %[[OK]], "{} of {}"(%[[NEXT]], %[[E]] : i64, index) iteration
  // CHECK: loop.loop
  // CHECK-NOT: loop.check
  // CHECK-NOT: arith.select
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%s = %s0 : f32) {
    %next = arith.addi %i, %one : i64
    %p = arith.index_cast %next : i64 to index
    %negative = arith.cmpi slt, %p, %c0 : index
    %wrapped = arith.addi %p, %extent : index
    %q = arith.select %negative, %wrapped, %p : index
    %ok = arith.cmpi ult, %q, %extent : index
    loop.check %ok, "{} of {}"(%next, %extent : i64, index)
    %v = tensor.extract %x[%q] : tensor<?xf32>
    %t = arith.addf %s, %v : f32
    loop.yield while(%c : i1) carried(%t : f32)
  }
  return %r : f32
}

// Elements counted from the end, one of them behind it: nothing is left to
// check in loops of known trips, inner ones first. The element before the first
// is the last one, as it was.
// CHECK-LABEL: func @known(
// CHECK-NOT: loop.check
// CHECK: loop.loop (%[[I:[^ ]+]] : i64
// CHECK: loop.loop (%[[J:[^ ]+]] : i64
// CHECK: arith.cmpi slt
// CHECK: arith.select
// CHECK-NOT: arith.minui
func.func @known(%x: tensor<10x20xf32>, %s0: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c10 = arith.constant 10 : index
  %c20 = arith.constant 20 : index
  %c19 = arith.constant 19 : index
  %one = arith.constant 1 : i64
  %nine = arith.constant 9 : i64
  %n = arith.constant 10 : i64
  %m = arith.constant 20 : i64
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%s = %s0 : f32) {
    %fromEnd = arith.subi %nine, %i : i64
    %row = arith.index_cast %fromEnd : i64 to index
    %rowOk = arith.cmpi ult, %row, %c10 : index
    %inner = loop.loop (%j : i64, %d : i1) trips(%m : i64) carried(%t = %s : f32) {
      loop.check %rowOk, "row {}"(%row : index)
      %before = arith.subi %j, %one : i64
      %p = arith.index_cast %before : i64 to index
      %negative = arith.cmpi slt, %p, %c0 : index
      %wrapped = arith.addi %p, %c20 : index
      %q = arith.select %negative, %wrapped, %p : index
      %ok = arith.cmpi ult, %q, %c20 : index
      loop.check %ok, "column {}"(%p : index)
      %at = arith.minui %q, %c19 : index
      %v = tensor.extract %x[%row, %at] : tensor<10x20xf32>
      %u = arith.addf %t, %v : f32
      loop.yield while(%d : i1) carried(%u : f32)
    }
    loop.yield while(%c : i1) carried(%inner : f32)
  }
  return %r : f32
}

// What does not change is checked where there is an iteration.
// CHECK-LABEL: func @unchanged(
// CHECK-SAME: %[[N:[^:]+]]: i64, %[[OK:[^:]+]]: i1
// CHECK: %[[LEAST:.*]] = arith.maxsi %[[N]], %{{.*}} : i64
// CHECK: %[[TRIPS:.*]] = arith.index_cast %[[LEAST]]
// CHECK: %[[NONE:.*]] = arith.cmpi sle, %[[TRIPS]], %{{.*}}
// CHECK: %[[HOLDS:.*]] = arith.ori %[[OK]], %[[NONE]]
// CHECK: loop.check guarded %[[HOLDS]], "no"
// CHECK: loop.loop
// CHECK-NOT: loop.check
func.func @unchanged(%n: i64, %ok: i1, %s0: i64) -> i64 {
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%s = %s0 : i64) {
    loop.check %ok, "no"
    %t = arith.addi %s, %i : i64
    loop.yield while(%c : i1) carried(%t : i64)
  }
  return %r : i64
}

// Numbers of a message are computed even where the loop makes no trip and for
// an iteration that does not happen: a remainder may be one by 0 there, and an
// element beyond the end.
// CHECK-LABEL: func @numbers_of_messages(
// CHECK-NOT: loop.check
// CHECK: loop.loop
// CHECK: arith.remsi
// CHECK: loop.check %{{.*}}, "row {}"
// CHECK-LABEL: func @elements_of_messages(
// CHECK-NOT: loop.check
// CHECK: loop.loop
// CHECK: loop.check %{{.*}}, "row {}"
func.func @numbers_of_messages(%n: i64, %d: i64, %extent: index, %s0: i64) -> i64 {
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%s = %s0 : i64) {
    %p = arith.index_cast %i : i64 to index
    %row = arith.remsi %i, %d : i64
    %ok = arith.cmpi ult, %p, %extent : index
    loop.check %ok, "row {}"(%row : i64)
    %t = arith.addi %s, %row : i64
    loop.yield while(%c : i1) carried(%t : i64)
  }
  return %r : i64
}

func.func @elements_of_messages(%n: i64, %x: tensor<?xi64>, %extent: index, %s0: i64) -> i64 {
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%s = %s0 : i64) {
    %p = arith.index_cast %i : i64 to index
    %row = tensor.extract %x[%p] : tensor<?xi64>
    %ok = arith.cmpi ult, %p, %extent : index
    loop.check %ok, "row {}"(%row : i64)
    %t = arith.addi %s, %row : i64
    loop.yield while(%c : i1) carried(%t : i64)
  }
  return %r : i64
}

// An index that counts from the number of an outer loop is not negative, so that
// nothing counts from the end.
// CHECK-LABEL: func @counts_on(
// CHECK: loop.loop (%[[I:[^ ]+]] : index
// CHECK: loop.loop (%[[J:[^ ]+]] : index
// CHECK: %[[AT:.*]] = arith.addi %[[J]], %[[I]]
// CHECK-NOT: arith.select
// CHECK: tensor.extract %{{.*}}[%[[AT]]]
func.func @counts_on(%n: index, %x: tensor<?xi64>, %s0: i64) -> i64 {
  %c0 = arith.constant 0 : index
  %extent = tensor.dim %x, %c0 : tensor<?xi64>
  %r = loop.loop (%i : index, %c : i1) trips(%n : index) carried(%s = %s0 : i64) {
    %t = loop.loop (%j : index, %d : i1) trips(%i : index) carried(%u = %s : i64) {
      %k = arith.addi %j, %i : index
      %isNegative = arith.cmpi slt, %k, %c0 : index
      %fromEnd = arith.addi %k, %extent : index
      %at = arith.select %isNegative, %fromEnd, %k : index
      %ok = arith.cmpi ult, %at, %extent : index
      loop.check %ok, "index {}"(%k : index)
      %e = tensor.extract %x[%at] : tensor<?xi64>
      %v = arith.addi %u, %e : i64
      loop.yield while(%d : i1) carried(%v : i64)
    }
    loop.yield while(%c : i1) carried(%t : i64)
  }
  return %r : i64
}

// Behind a check of an index that data tell, the index needs no bound. One of a
// known extent keeps it: what it reads may be moved in front of the check.
// CHECK-LABEL: func @looked_up(
// CHECK-SAME: %[[X:.*]]: tensor<?xi64>, %[[Y:.*]]: tensor<8xi64>
// CHECK: loop.loop (%{{.*}} : index, %{{.*}} : i1) {{.*}} carried(%[[S:[^ ]+]] =
// CHECK: loop.check {{.*}}, "index {}"(%[[S]] : index)
// CHECK: tensor.extract %[[X]][%[[S]]]
// CHECK: loop.check {{.*}}, "known {}"(%[[S]] : index)
// CHECK: %[[SAFE:.*]] = arith.minui %[[S]]
// CHECK: tensor.extract %[[Y]][%[[SAFE]]]
func.func @looked_up(%x: tensor<?xi64>, %y: tensor<8xi64>, %n: index, %s0: index) -> index {
  %c0 = arith.constant 0 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %c-1 = arith.constant -1 : index
  %extent = tensor.dim %x, %c0 : tensor<?xi64>
  %before = arith.addi %extent, %c-1 : index
  %last = arith.maxsi %before, %c0 : index
  %r = loop.loop (%i : index, %c : i1) trips(%n : index) carried(%s = %s0 : index) {
    %ok = arith.cmpi ult, %s, %extent : index
    loop.check %ok, "index {}"(%s : index)
    %safe = arith.minui %s, %last : index
    %e = tensor.extract %x[%safe] : tensor<?xi64>
    %known = arith.cmpi ult, %s, %c8 : index
    loop.check %known, "known {}"(%s : index)
    %bound = arith.minui %s, %c7 : index
    %f = tensor.extract %y[%bound] : tensor<8xi64>
    %g = arith.addi %e, %f : i64
    %next = arith.index_cast %g : i64 to index
    loop.yield while(%c : i1) carried(%next : index)
  }
  return %r : index
}
