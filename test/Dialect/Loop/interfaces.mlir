// What upstream's passes make of loop.loop and loop.scan through their
// interfaces: right, or nothing.

// RUN: loopc-opt %s -split-input-file -sccp | FileCheck %s --check-prefix=SCCP
// RUN: loopc-opt %s -split-input-file -loop-invariant-code-motion | FileCheck %s --check-prefix=LICM
// RUN: loopc-opt %s -split-input-file -int-range-optimizations | FileCheck %s --check-prefix=RANGE
// RUN: loopc-opt %s -split-input-file -remove-dead-values | FileCheck %s --check-prefix=DEAD
// RUN: loopc-opt %s -split-input-file -cse | FileCheck %s --check-prefix=CSE

// Carried values flow from init to body, body to body, and both to the result.
// SCCP-LABEL: func @carried_constants(
// SCCP-DAG: %[[ONE:[^ ]+]] = arith.constant 1 : i32
// SCCP: %[[R:[^ ]+]]:3 = loop.loop
// SCCP: %[[Y:[^ ]+]] = arith.addi
// SCCP: loop.yield while(%{{[^ ]+}} : i1) carried(%[[ONE]], %[[Y]] : i32, i32) collect(%[[ONE]] : i32)
// SCCP: return %[[ONE]], %[[R]]#1, %[[R]]#2
func.func @carried_constants(%m: i64, %y0: i32)
    -> (i32, i32, tensor<?xi32>) {
  %one = arith.constant 1 : i32
  %r:3 = loop.loop (%i : i64, %c : i1) trips(%m : i64)
      carried(%x = %one : i32, %y = %y0 : i32) collect(tensor<?xi32> axis 0) {
    %z = arith.muli %x, %one : i32
    %w = arith.addi %y, %z : i32
    loop.yield while(%c : i1) carried(%z, %w : i32, i32) collect(%z : i32)
  }
  return %r#0, %r#1, %r#2 : i32, i32, tensor<?xi32>
}

// -----

// loop_zero: with a trip count that is not known, or a condition, the result
// may be the init; a loop that runs surely yields. loop_args: number, condition
// and slices are no constants.
// SCCP-LABEL: func @entry(
// SCCP-DAG: %[[TWO:[^ ]+]] = arith.constant 2 : i32
// SCCP: %[[A:[^ ]+]] = loop.loop
// SCCP: %[[B:[^ ]+]] = loop.loop
// SCCP: %[[D:[^ ]+]]:4 = loop.loop (%[[I:[^ ]+]] : i64, %[[C:[^ ]+]] : i1)
// SCCP: loop.yield while(%[[C]] : i1) carried(%{{[^ ]+}} : i32) collect(%[[I]], %[[C]], %{{[^ ]+}} : i64, i1, i32)
// SCCP: return %[[A]], %[[B]], %[[TWO]]
func.func @entry(%m: i64, %c0: i1, %v: tensor<?xi32>)
    -> (i32, i32, i32, tensor<?xi64>, tensor<?xi1>, tensor<?xi32>) {
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %three = arith.constant 3 : i64
  %a = loop.loop (%i : i64, %c : i1) trips(%m : i64) carried(%x = %one : i32) {
    loop.yield while(%c : i1) carried(%two : i32)
  }
  %b = loop.loop (%i : i64, %c : i1) trips(%three : i64) while(%c0 : i1)
      carried(%x = %one : i32) {
    loop.yield while(%c : i1) carried(%two : i32)
  }
  %d:4 = loop.loop (%i : i64, %c : i1) trips(%three : i64)
      carried(%x = %one : i32) slices(%s = %v : tensor<?xi32> axis 0 -> i32)
      collect(tensor<?xi64> axis 0, tensor<?xi1> axis 0, tensor<?xi32> axis 0) {
    loop.yield while(%c : i1) carried(%two : i32)
        collect(%i, %c, %s : i64, i1, i32)
  }
  return %a, %b, %d#0, %d#1, %d#2, %d#3
      : i32, i32, i32, tensor<?xi64>, tensor<?xi1>, tensor<?xi32>
}

// -----

// loop_cond: without a given condition the argument is true at first, then what
// was yielded.
// SCCP-LABEL: func @condition(
// SCCP: loop.loop (%{{[^ ]+}} : i64, %[[C:[^ ]+]] : i1)
// SCCP: collect(%[[C]] : i1)
func.func @condition(%m: i64) -> tensor<?xi1> {
  %false = arith.constant false
  %r = loop.loop (%i : i64, %c : i1) trips(%m : i64)
      collect(tensor<?xi1> axis 0) {
    loop.yield while(%false : i1) collect(%c : i1)
  }
  return %r : tensor<?xi1>
}

// -----

// loop_order, loop_cancel: what cannot fail and ends is hoisted; what might fail
// or not end stays where it may not happen.
// LICM-LABEL: func @hoist(
// LICM: arith.mulf
// LICM: loop.loop {{.*}} trips(%{{[^ ]+}} : i64) carried({{.*}}) {
// LICM: loop.loop {{.*}} slices({{.*}}) {
// LICM: loop.loop {{.*}} while({{.*}} collect(tensor<?xi32> axis 0) {
// LICM-NEXT: arith.divsi
// LICM-NEXT: loop.loop {{.*}} while(
// LICM: loop.loop {{.*}} slices(
// LICM: loop.loop {{.*}} collect(tensor<?x?xf32> axis 0)
// LICM: loop.loop {{.*}} length(
// LICM: loop.scan
func.func @hoist(%m: i64, %n: i64, %c0: i1, %x0: tensor<4xf32>,
                 %a: tensor<4xf32>, %v: tensor<8x4xf32>, %w: tensor<?xf32>,
                 %d: i32, %e: i32) -> (tensor<4xf32>, tensor<?xi32>) {
  %c5 = arith.constant 5 : i64
  %c0i = arith.constant 0 : index
  %r, %o = loop.loop (%i : i64, %c : i1) trips(%m : i64) while(%c0 : i1)
      carried(%x = %x0 : tensor<4xf32>) collect(tensor<?xi32> axis 0) {
    %inv = arith.mulf %a, %a : tensor<4xf32>
    // Division by zero.
    %q = arith.divsi %d, %e : i32
    // Ends, cannot fail.
    %ends = loop.loop (%j : i64, %k : i1) trips(%n : i64)
        carried(%y = %a : tensor<4xf32>) {
      %z = arith.addf %y, %inv : tensor<4xf32>
      loop.yield while(%k : i1) carried(%z : tensor<4xf32>)
    }
    // May not end.
    %endless = loop.loop (%j : i64, %k : i1) while(%c0 : i1)
        carried(%y = %a : tensor<4xf32>) {
      %z = arith.addf %y, %inv : tensor<4xf32>
      loop.yield while(%k : i1) carried(%z : tensor<4xf32>)
    }
    // loop_slice: may read past the end.
    %past = loop.loop (%j : i64, %k : i1) trips(%n : i64)
        carried(%y = %a : tensor<4xf32>)
        slices(%s = %v : tensor<8x4xf32> axis 0 -> tensor<4xf32>) {
      %z = arith.addf %y, %s : tensor<4xf32>
      loop.yield while(%k : i1) carried(%z : tensor<4xf32>)
    }
    // Five of eight rows.
    %inside = loop.loop (%j : i64, %k : i1) trips(%c5 : i64)
        carried(%y = %a : tensor<4xf32>)
        slices(%s = %v : tensor<8x4xf32> axis 0 -> tensor<4xf32>) {
      %z = arith.addf %y, %s : tensor<4xf32>
      loop.yield while(%k : i1) carried(%z : tensor<4xf32>)
    }
    // loop_collect_shape: shapes may differ.
    %shapes:2 = loop.loop (%j : i64, %k : i1) trips(%n : i64)
        carried(%y = %a : tensor<4xf32>) collect(tensor<?x?xf32> axis 0) {
      loop.yield while(%k : i1) carried(%inv : tensor<4xf32>)
          collect(%w : tensor<?xf32>)
    }
    // loop_collect_length: may be too short.
    %long:2 = loop.loop (%j : i64, %k : i1) trips(%n : i64)
        carried(%y = %a : tensor<4xf32>)
        collect(tensor<?x4xf32> axis 0 length(%m : i64)) {
      loop.yield while(%k : i1) carried(%inv : tensor<4xf32>)
          collect(%y : tensor<4xf32>)
    }
    // scan_lengths: may differ.
    %scanned = loop.scan states(%y = %a : tensor<4xf32>)
        inputs(%s = %v : tensor<8x4xf32> axis 0 -> tensor<4xf32>,
               %t = %w : tensor<?xf32> axis 0 -> tensor<f32>) {
      %z = arith.addf %y, %s : tensor<4xf32>
      loop.yield carried(%z : tensor<4xf32>)
    }
    %1 = arith.addf %x, %ends : tensor<4xf32>
    %2 = arith.addf %1, %endless : tensor<4xf32>
    %3 = arith.addf %2, %past : tensor<4xf32>
    %4 = arith.addf %3, %inside : tensor<4xf32>
    %5 = arith.addf %4, %shapes#0 : tensor<4xf32>
    %6 = arith.addf %5, %long#0 : tensor<4xf32>
    %7 = arith.addf %6, %scanned : tensor<4xf32>
    %8 = tensor.dim %shapes#1, %c0i : tensor<?x?xf32>
    %9 = arith.index_cast %8 : index to i32
    %10 = tensor.dim %long#1, %c0i : tensor<?x4xf32>
    %11 = arith.index_cast %10 : index to i32
    %12 = arith.addi %9, %11 : i32
    %13 = arith.addi %12, %q : i32
    loop.yield while(%c : i1) carried(%7 : tensor<4xf32>) collect(%13 : i32)
  }
  return %r, %o : tensor<4xf32>, tensor<?xi32>
}

// -----

// loop_m: INT64_MAX trips never end either.
// LICM-LABEL: func @hoist_no_limit(
// LICM: loop.loop {{.*}} while(
// LICM: loop.loop
func.func @hoist_no_limit(%c0: i1, %x0: f32) -> f32 {
  %max = arith.constant 9223372036854775807 : i64
  %r = loop.loop (%i : i64, %c : i1) while(%c0 : i1) carried(%x = %x0 : f32) {
    %s = loop.loop (%j : i64, %d : i1) trips(%max : i64)
        carried(%y = %x0 : f32) {
      %z = arith.addf %y, %y : f32
      loop.yield while(%d : i1) carried(%z : f32)
    }
    %t = arith.addf %s, %x : f32
    loop.yield while(%c : i1) carried(%t : f32)
  }
  return %r : f32
}

// -----

// Ranges of number, condition, slices and collected values are not known; those
// of carried values come from both ends.
// RANGE-LABEL: func @ranges(
// RANGE-SAME: %{{[^ ]+}}: i64, %{{[^ ]+}}: tensor<?xi32>, %[[C0:[^ ]+]]: i1
// RANGE-DAG: %[[TRUE:[^ ]+]] = arith.constant true
// RANGE-DAG: %[[LT:[^ ]+]] = arith.cmpi slt
// RANGE-DAG: %[[NEG:[^ ]+]] = arith.cmpi slt
// RANGE-DAG: %[[D:[^ ]+]] = arith.xori %{{[^ ]+}}, %[[C0]]
// RANGE: loop.yield while(%[[D]] : i1) carried(%{{[^ ]+}} : i32) collect(%[[LT]], %[[NEG]], %[[TRUE]], %[[D]] : i1, i1, i1, i1)
func.func @ranges(%m: i64, %v: tensor<?xi32>, %c0: i1)
    -> (tensor<?xi1>, tensor<?xi1>, tensor<?xi1>, tensor<?xi1>) {
  %two = arith.constant 2 : i32
  %hundred = arith.constant 100 : i32
  %zero = arith.constant 0 : i64
  %r:5 = loop.loop (%i : i64, %c : i1) trips(%m : i64) carried(%x = %two : i32)
      slices(%a = %v : tensor<?xi32> axis 0 -> i32)
      collect(tensor<?xi1> axis 0, tensor<?xi1> axis 0, tensor<?xi1> axis 0,
              tensor<?xi1> axis 0) {
    %lt = arith.cmpi slt, %a, %hundred : i32
    %neg = arith.cmpi slt, %i, %zero : i64
    %small = arith.cmpi slt, %x, %hundred : i32
    %d = arith.xori %c, %c0 : i1
    %y = arith.remui %a, %hundred : i32
    loop.yield while(%d : i1) carried(%y : i32)
        collect(%lt, %neg, %small, %d : i1, i1, i1, i1)
  }
  return %r#1, %r#2, %r#3, %r#4
      : tensor<?xi1>, tensor<?xi1>, tensor<?xi1>, tensor<?xi1>
}

// -----

// What the condition needs lives, though it is no result; the condition itself
// lives where nobody reads its argument.
// DEAD-LABEL: func @dead(
// DEAD-SAME: %{{[^ ]+}}: i64, %[[C0:[^ ]+]]: i1, %{{[^ ]+}}: i32, %[[Y0:[^ ]+]]: i32, %[[V:[^ ]+]]: tensor<?xi32>)
// DEAD: %[[R:[^ ]+]]:2 = loop.loop {{.*}} while(%[[C0]] : i1) carried(%[[Y:[^ ]+]] = %[[Y0]] : i32) slices(%[[A:[^ ]+]] = %[[V]] : tensor<?xi32> axis 0 -> i32) collect(tensor<?xi32> axis 0) {
// DEAD-NEXT: %[[Y1:[^ ]+]] = arith.addi %[[Y]]
// DEAD-NEXT: %[[GO:[^ ]+]] = arith.cmpi slt, %[[Y1]]
// DEAD-NEXT: loop.yield while(%[[GO]] : i1) carried(%[[Y1]] : i32) collect(%[[A]] : i32)
// DEAD: return %[[R]]#1
func.func @dead(%m: i64, %c0: i1, %x0: i32, %y0: i32, %v: tensor<?xi32>)
    -> tensor<?xi32> {
  %k = arith.constant 7 : i32
  %r:4 = loop.loop (%i : i64, %c : i1) trips(%m : i64) while(%c0 : i1)
      carried(%x = %x0 : i32, %y = %y0 : i32)
      slices(%a = %v : tensor<?xi32> axis 0 -> i32)
      collect(tensor<?xi32> axis 0, tensor<?xi32> axis 0) {
    %x1 = arith.addi %x, %k : i32
    %y1 = arith.addi %y, %k : i32
    %go = arith.cmpi slt, %y1, %k : i32
    loop.yield while(%go : i1) carried(%x1, %y1 : i32, i32)
        collect(%a, %x : i32, i32)
  }
  return %r#2 : tensor<?xi32>
}

// -----

// ... and a loop that runs never is left whole or goes whole.
// DEAD-LABEL: func @dead_never(
// DEAD-SAME: %[[X0:[^ ]+]]: i32
// DEAD: return %[[X0]]
func.func @dead_never(%x0: i32) -> i32 {
  %zero = arith.constant 0 : i64
  %r = loop.loop (%i : i64, %c : i1) trips(%zero : i64) carried(%x = %x0 : i32) {
    %y = arith.addi %x, %x : i32
    loop.yield while(%c : i1) carried(%y : i32)
  }
  return %r : i32
}

// -----

// Two loops that say the same are one; a direction makes a difference.
// CSE-LABEL: func @common(
// CSE-COUNT-2: loop.loop
// CSE-NOT: loop.loop
// CSE: return %[[A:[^ ,]+]], %[[A]], %[[B:[^ ,]+]]
func.func @common(%m: i64) -> (tensor<?xi64>, tensor<?xi64>, tensor<?xi64>) {
  %a = loop.loop (%i : i64, %c : i1) trips(%m : i64)
      collect(tensor<?xi64> axis 0) {
    loop.yield while(%c : i1) collect(%i : i64)
  }
  %b = loop.loop (%i : i64, %c : i1) trips(%m : i64)
      collect(tensor<?xi64> axis 0) {
    loop.yield while(%c : i1) collect(%i : i64)
  }
  %d = loop.loop (%i : i64, %c : i1) trips(%m : i64)
      collect(tensor<?xi64> axis 0 reverse) {
    loop.yield while(%c : i1) collect(%i : i64)
  }
  return %a, %b, %d : tensor<?xi64>, tensor<?xi64>, tensor<?xi64>
}
