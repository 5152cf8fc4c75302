// RUN: loopc-opt %s --loop-hoist-checks --canonicalize | FileCheck %s

// One check of all iterations; the index is the iteration's number.
// CHECK-LABEL: func @gather(
// CHECK-SAME: %[[N:[^:]+]]: i64, %[[X:[^:]+]]: tensor<?x4xf32>, %[[E:[^:]+]]: index
// CHECK: %[[OK:.*]] = arith.cmpi ule, %[[TRIPS:.*]], %[[E]] : index
// CHECK: loop.check %[[OK]], "index {} is out of range for {}"(%[[E]], %[[E]] : index, index) iteration
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
// the later one holds where the other extent is smaller.
// CHECK-LABEL: func @two(
// CHECK-SAME: %[[N:[^:]+]]: i64, %[[A:[^:]+]]: index, %[[B:[^:]+]]: index
// CHECK: %[[FIRST:.*]] = arith.cmpi ule, %{{.*}}, %[[A]]
// CHECK: %[[EARLIER:.*]] = arith.cmpi ult, %[[B]], %[[A]]
// CHECK: %[[OK:.*]] = arith.ori %[[FIRST]], %[[EARLIER]]
// CHECK: loop.check %[[OK]], "a {}"
// CHECK: %[[SECOND:.*]] = arith.cmpi ule, %{{.*}}, %[[B]]
// CHECK: %[[BEFORE:.*]] = arith.cmpi ule, %[[A]], %[[B]]
// CHECK: %[[OK2:.*]] = arith.ori %[[SECOND]], %[[BEFORE]]
// CHECK: loop.check %[[OK2]], "b {}"
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
  // CHECK: loop.check %[[OK]], "{} of {}"(%[[LEAST]], %[[EXTENT]]
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
