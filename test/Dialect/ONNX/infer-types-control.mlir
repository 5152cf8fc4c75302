// RUN: loopc-opt %s -split-input-file -onnx-infer-types | FileCheck %s

// A carried value that grows (loop_carried).
// CHECK-LABEL: func.func @grow
// CHECK-SAME: %[[X:[^:]*]]: tensor<0xf32>) -> tensor<?xf32>
func.func @grow(%m: tensor<i64>, %x: tensor<0xf32>) -> tensor<0xf32> {
  // CHECK: %[[INIT:.*]] = tensor.cast %[[X]] : tensor<0xf32> to tensor<?xf32>
  // CHECK: loop.loop {{.*}} carried(%[[A:.*]] = %[[INIT]] : tensor<?xf32>)
  %r = loop.loop (%i : tensor<i64>, %d : tensor<i1>) trips(%m : tensor<i64>)
      carried(%a = %x : tensor<0xf32>) {
    %one = onnx.constant dense<1.0> : tensor<1xf32>
    // CHECK: onnx.node "Concat"(%[[A]], {{.*}} (tensor<?xf32>, tensor<1xf32>) -> tensor<?xf32>
    %b = onnx.node "Concat"(%a, %one) since 13 {axis = 0 : i64} : (tensor<0xf32>, tensor<1xf32>) -> tensor<0xf32>
    loop.yield while(%d : tensor<i1>) carried(%b : tensor<0xf32>)
  }
  return %r : tensor<0xf32>
}

// -----

// A carried value that keeps its shape: the init's, whatever was declared; the
// casts that were there for the declared types go.
// CHECK-LABEL: func.func @keep
// CHECK-SAME: -> (tensor<2x3xf32>, tensor<5x2x3xf32>)
func.func @keep(%x: tensor<2x3xf32>) -> (tensor<?x?xf32>, tensor<*xf32>) {
  %m = onnx.constant dense<5> : tensor<i64>
  %w = tensor.cast %x : tensor<2x3xf32> to tensor<?x?xf32>
  // CHECK-NOT: tensor.cast
  // CHECK: loop.loop {{.*}} carried(%{{.*}} : tensor<2x3xf32>) collect(tensor<5x2x3xf32> axis 0)
  %r, %k = loop.loop (%i : tensor<i64>, %d : tensor<i1>) trips(%m : tensor<i64>)
      carried(%a = %w : tensor<?x?xf32>) collect(tensor<*xf32> axis 0) {
    %b = onnx.node "Neg"(%a) since 13 : (tensor<?x?xf32>) -> tensor<?x?xf32>
    loop.yield while(%d : tensor<i1>) carried(%b : tensor<?x?xf32>) collect(%b : tensor<?x?xf32>)
  }
  return %r, %k : tensor<?x?xf32>, tensor<*xf32>
}

// -----

// A rank that changes: unknown.
// CHECK-LABEL: func.func @rank
// CHECK-SAME: -> tensor<*xf32>
func.func @rank(%m: tensor<i64>, %x: tensor<2xf32>) -> tensor<2xf32> {
  // CHECK: tensor.cast %{{.*}} : tensor<2xf32> to tensor<*xf32>
  %r = loop.loop (%i : tensor<i64>, %d : tensor<i1>) trips(%m : tensor<i64>)
      carried(%a = %x : tensor<2xf32>) {
    %axes = onnx.constant dense<0> : tensor<1xi64>
    // CHECK: "Unsqueeze"({{.*}}) since 13 : (tensor<*xf32>, tensor<1xi64>) -> tensor<*xf32>
    %b = onnx.node "Unsqueeze"(%a, %axes) since 13 : (tensor<2xf32>, tensor<1xi64>) -> tensor<2xf32>
    loop.yield while(%d : tensor<i1>) carried(%b : tensor<2xf32>)
  }
  return %r : tensor<2xf32>
}

// -----

// Types that swap places widen both; one that depends on another follows it.
// CHECK-LABEL: func.func @chain
// CHECK-SAME: -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>)
func.func @chain(%m: tensor<i64>, %x: tensor<2xf32>, %y: tensor<3xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %x0 = tensor.cast %x : tensor<2xf32> to tensor<*xf32>
  %y0 = tensor.cast %y : tensor<3xf32> to tensor<*xf32>
  %r:3 = loop.loop (%i : tensor<i64>, %d : tensor<i1>) trips(%m : tensor<i64>)
      carried(%a = %x0 : tensor<*xf32>, %b = %y0 : tensor<*xf32>, %c = %x0 : tensor<*xf32>) {
    loop.yield while(%d : tensor<i1>) carried(%b, %a, %a : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>)
  }
  return %r#0, %r#1, %r#2 : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// -----

// Number of trips (loop_collect, loop_cond): known with a constant count and no
// condition, or one that stays true.
// CHECK-LABEL: func.func @trips
func.func @trips(%x: tensor<7x2xf32>, %c: tensor<i1>) {
  %true = onnx.constant dense<true> : tensor<i1>
  %shape = onnx.node "Shape"(%x) since 15 : (tensor<7x2xf32>) -> tensor<*xi64>
  %zero = onnx.constant dense<0> : tensor<i64>
  %m = onnx.node "Gather"(%shape, %zero) since 13 : (tensor<*xi64>, tensor<i64>) -> tensor<*xi64>
  %minus = onnx.constant dense<-3> : tensor<i64>
  // CHECK: collect(tensor<7xi64> axis 0)
  %0 = loop.loop (%i : tensor<i64>, %d : tensor<i1>) trips(%m : tensor<*xi64>) while(%true : tensor<i1>)
      collect(tensor<*xi64> axis 0) {
    %e = onnx.node "Identity"(%d) since 16 : (tensor<i1>) -> tensor<i1>
    loop.yield while(%e : tensor<i1>) collect(%i : tensor<i64>)
  }
  // The body may end it.
  // CHECK: collect(tensor<?xi64> axis 0)
  %1 = loop.loop (%i : tensor<i64>, %d : tensor<i1>) trips(%m : tensor<*xi64>) while(%true : tensor<i1>)
      collect(tensor<*xi64> axis 0) {
    loop.yield while(%c : tensor<i1>) collect(%i : tensor<i64>)
  }
  // What the body yields is ignored (loop_cond_ignored).
  // CHECK: collect(tensor<7xi64> axis 0)
  %2 = loop.loop (%i : tensor<i64>, %d : tensor<i1>) trips(%m : tensor<*xi64>)
      collect(tensor<*xi64> axis 0) {
    loop.yield while(%c : tensor<i1>) collect(%i : tensor<i64>)
  }
  // No trip at all (loop_zero).
  // CHECK: collect(tensor<2x0xf32> axis 1)
  %3 = loop.loop (%i : tensor<i64>, %d : tensor<i1>) trips(%minus : tensor<i64>)
      collect(tensor<*xf32> axis 1) {
    %s = onnx.node "Gather"(%x, %i) since 13 : (tensor<7x2xf32>, tensor<i64>) -> tensor<*xf32>
    loop.yield while(%c : tensor<i1>) collect(%s : tensor<*xf32>)
  }
  // As long as it is told to be (loop_collect_length).
  %len = onnx.constant dense<9> : tensor<i64>
  // CHECK: collect(tensor<9xi64> axis 0 length({{.*}}))
  %4 = loop.loop (%i : tensor<i64>, %d : tensor<i1>) trips(%m : tensor<*xi64>) while(%c : tensor<i1>)
      collect(tensor<*xi64> axis 0 length(%len : tensor<i64>)) {
    loop.yield while(%d : tensor<i1>) collect(%i : tensor<i64>)
  }
  return
}

// -----

// Slices lose their axis (loop_slice).
// CHECK-LABEL: func.func @slices
func.func @slices(%x: tensor<2x?x4xf32>) -> tensor<*xf32> {
  %m = onnx.constant dense<2> : tensor<i64>
  // CHECK: slices(%{{.*}} : tensor<2x?x4xf32> axis 2 -> tensor<2x?xf32>) collect(tensor<2x2x?xf32> axis 0)
  %r = loop.loop (%i : tensor<i64>, %d : tensor<i1>) trips(%m : tensor<i64>)
      slices(%s = %x : tensor<2x?x4xf32> axis 2 -> tensor<?x?xf32>) collect(tensor<*xf32> axis 0) {
    loop.yield while(%d : tensor<i1>) collect(%s : tensor<?x?xf32>)
  }
  return %r : tensor<*xf32>
}

// -----

// Branches (if_types): dimensions that differ, ranks that differ.
// CHECK-LABEL: func.func @branches
// CHECK-SAME: -> (tensor<?x3xf32>, tensor<*xf32>)
func.func @branches(%c: i1, %x: tensor<2x3xf32>, %y: tensor<4x3xf32>, %z: tensor<3xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  // CHECK: scf.if %{{.*}} -> (tensor<?x3xf32>, tensor<*xf32>)
  %r:2 = scf.if %c -> (tensor<*xf32>, tensor<*xf32>) {
    %a = onnx.node "Neg"(%x) since 13 : (tensor<2x3xf32>) -> tensor<*xf32>
    %b = onnx.node "Neg"(%z) since 13 : (tensor<3xf32>) -> tensor<*xf32>
    // CHECK: tensor.cast %{{.*}} : tensor<2x3xf32> to tensor<?x3xf32>
    // CHECK: tensor.cast %{{.*}} : tensor<3xf32> to tensor<*xf32>
    scf.yield %a, %b : tensor<*xf32>, tensor<*xf32>
  } else {
    %a = onnx.node "Neg"(%y) since 13 : (tensor<4x3xf32>) -> tensor<*xf32>
    // CHECK: tensor.cast %{{.*}} : tensor<4x3xf32> to tensor<?x3xf32>
    // CHECK: tensor.cast %{{.*}} : tensor<4x3xf32> to tensor<*xf32>
    scf.yield %a, %a : tensor<*xf32>, tensor<*xf32>
  }
  return %r#0, %r#1 : tensor<*xf32>, tensor<*xf32>
}

// -----

// PyTorch's squeeze: the branch is there to be avoided. It is no error, and
// nothing is known of what it would yield.
// CHECK-LABEL: func.func @guarded
// CHECK-SAME: -> tensor<*xf32>
func.func @guarded(%c: i1, %x: tensor<2x3xf32>) -> tensor<*xf32> {
  %axes = onnx.constant dense<1> : tensor<1xi64>
  %r = scf.if %c -> (tensor<*xf32>) {
    // CHECK: "Squeeze"({{.*}}) since 13 : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<?xf32>
    %a = onnx.node "Squeeze"(%x, %axes) since 13 : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<*xf32>
    scf.yield %a : tensor<*xf32>
  } else {
    %i = onnx.node "Identity"(%x) since 16 : (tensor<2x3xf32>) -> tensor<*xf32>
    scf.yield %i : tensor<*xf32>
  }
  return %r : tensor<*xf32>
}

// -----

// An inner loop's carried value widens the outer's.
// CHECK-LABEL: func.func @nested
// CHECK-SAME: -> (tensor<?x4xf32>, tensor<?x4xf32>)
func.func @nested(%m: tensor<i64>, %x: tensor<1x4xf32>) -> (tensor<1x4xf32>, tensor<1x4xf32>) {
  // CHECK: loop.loop {{.*}} carried(%{{.*}} : tensor<?x4xf32>, %{{.*}} : tensor<?x4xf32>)
  %r:2 = loop.loop (%i : tensor<i64>, %d : tensor<i1>) trips(%m : tensor<i64>)
      carried(%a = %x : tensor<1x4xf32>, %b = %x : tensor<1x4xf32>) {
    // CHECK: loop.loop {{.*}} carried(%{{.*}} : tensor<?x4xf32>)
    %s = loop.loop (%j : tensor<i64>, %e : tensor<i1>) trips(%m : tensor<i64>)
        carried(%p = %a : tensor<1x4xf32>) {
      %q = onnx.node "Concat"(%p, %x) since 13 {axis = 0 : i64} : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
      loop.yield while(%e : tensor<i1>) carried(%q : tensor<1x4xf32>)
    }
    loop.yield while(%d : tensor<i1>) carried(%s, %a : tensor<1x4xf32>, tensor<1x4xf32>)
  }
  return %r#0, %r#1 : tensor<1x4xf32>, tensor<1x4xf32>
}

// -----

// Sequences are cast by onnx.cast.
// CHECK-LABEL: func.func @sequence
// CHECK-SAME: -> !onnx.seq<tensor<?xf32>>
func.func @sequence(%m: tensor<i64>, %s: !onnx.seq<tensor<2xf32>>, %x: tensor<3xf32>) -> !onnx.seq<tensor<2xf32>> {
  // CHECK: onnx.cast %{{.*}} : !onnx.seq<tensor<2xf32>> to !onnx.seq<tensor<?xf32>>
  %r = loop.loop (%i : tensor<i64>, %d : tensor<i1>) trips(%m : tensor<i64>)
      carried(%a = %s : !onnx.seq<tensor<2xf32>>) {
    %b = onnx.node "SequenceInsert"(%a, %x) since 11 : (!onnx.seq<tensor<2xf32>>, tensor<3xf32>) -> !onnx.seq<tensor<2xf32>>
    loop.yield while(%d : tensor<i1>) carried(%b : !onnx.seq<tensor<2xf32>>)
  }
  return %r : !onnx.seq<tensor<2xf32>>
}

// -----

// scan_axes: an output's axis counts in the output's rank.
// CHECK-LABEL: func.func @scan
// CHECK-SAME: -> (tensor<2xf32>, tensor<2x3xf32>)
func.func @scan(%s0: tensor<2xf32>, %x: tensor<3x2xf32>) -> (tensor<?xf32>, tensor<?x?xf32>) {
  %w = tensor.cast %s0 : tensor<2xf32> to tensor<?xf32>
  // CHECK: loop.scan states(%{{.*}} : tensor<2xf32>) inputs(%{{.*}} : tensor<3x2xf32> axis 0 -> tensor<2xf32>) outputs(tensor<2x3xf32> axis -1)
  %s, %y = loop.scan states(%a = %w : tensor<?xf32>)
      inputs(%b = %x : tensor<3x2xf32> axis 0 -> tensor<?xf32>)
      outputs(tensor<?x?xf32> axis -1) {
    %c = onnx.node "Add"(%a, %b) since 14 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    loop.yield carried(%c : tensor<?xf32>) collect(%c : tensor<?xf32>)
  }
  return %s, %y : tensor<?xf32>, tensor<?x?xf32>
}

// -----

// scan_state_shape: a cast of the next state that tells a rank is no declaration,
// it stays, and the state keeps its shape.
// CHECK-LABEL: func.func @state_of_unknown_rank
// CHECK-SAME: -> tensor<2xf32>
func.func @state_of_unknown_rank(%s0: tensor<2xf32>, %x: tensor<3x2xf32>, %shape: tensor<?xi64>) -> tensor<2xf32> {
  // CHECK: loop.scan states(%{{.*}} : tensor<2xf32>)
  %s = loop.scan states(%a = %s0 : tensor<2xf32>)
      inputs(%b = %x : tensor<3x2xf32> axis 0 -> tensor<2xf32>) {
    %c = onnx.node "Reshape"(%b, %shape) since 21 : (tensor<2xf32>, tensor<?xi64>) -> tensor<*xf32>
    // CHECK: %[[STATE:.*]] = tensor.cast %{{.*}} : tensor<*xf32> to tensor<2xf32>
    // CHECK: loop.yield carried(%[[STATE]] : tensor<2xf32>)
    %d = tensor.cast %c : tensor<*xf32> to tensor<2xf32>
    loop.yield carried(%d : tensor<2xf32>)
  }
  return %s : tensor<2xf32>
}

// -----

// scan8_batch: the body sees neither the batch nor the sequence.
// CHECK-LABEL: func.func @scan8
// CHECK-SAME: -> (tensor<5x2xf32>, tensor<5x3x2xf32>)
func.func @scan8(%s0: tensor<5x2xf32>, %x: tensor<5x3x2xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %w = tensor.cast %s0 : tensor<5x2xf32> to tensor<*xf32>
  // CHECK: loop.scan {{.*}}states(%{{.*}} : tensor<5x2xf32>
  %s, %y = "loop.scan"(%w, %x) <{batched, input_axes = array<i64: 1>, input_reverse = array<i1: false>, output_axes = array<i64: 1>,
      output_reverse = array<i1: false>, operandSegmentSizes = array<i32: 1, 1, 0>}> ({
  ^bb0(%a: tensor<*xf32>, %b: tensor<*xf32>):
    // CHECK: "Add"({{.*}}) since 14 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %c = onnx.node "Add"(%a, %b) since 14 : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
    loop.yield carried(%c : tensor<*xf32>) collect(%c : tensor<*xf32>)
  }) : (tensor<*xf32>, tensor<5x3x2xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  return %s, %y : tensor<*xf32>, tensor<*xf32>
}

// -----

// Blocks in any order.
// CHECK-LABEL: func.func @blocks
// CHECK-SAME: -> tensor<3xf32>
func.func @blocks(%c: i1, %x: tensor<3xf32>) -> tensor<*xf32> {
  cf.br ^first
^second:
  %1 = onnx.node "Neg"(%0) since 13 : (tensor<*xf32>) -> tensor<*xf32>
  return %1 : tensor<*xf32>
^first:
  %0 = onnx.node "Neg"(%x) since 13 : (tensor<3xf32>) -> tensor<*xf32>
  cf.br ^second
}

// -----

// A question about a dimension that is known: the branch that is taken remains,
// and what it yields has a rank (if_cond).
// CHECK-LABEL: func.func @decided
// CHECK-SAME: %[[X:[^:]*]]: tensor<?x1x3xf32>) -> tensor<?x3xf32>
// CHECK-NOT: scf.if
// CHECK: %[[S:.*]] = onnx.node "Squeeze"(%[[X]]
// CHECK: return %[[S]] : tensor<?x3xf32>
func.func @decided(%x: tensor<?x1x3xf32>) -> tensor<*xf32> {
  %one = onnx.constant dense<1> : tensor<1xi64>
  %c0 = arith.constant 0 : index
  %s = onnx.node "Shape"(%x) since 15 : (tensor<?x1x3xf32>) -> tensor<3xi64>
  %d = onnx.node "Gather"(%s, %one) since 13 {axis = 0 : i64} : (tensor<3xi64>, tensor<1xi64>) -> tensor<1xi64>
  %p = onnx.node "Equal"(%d, %one) since 13 : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
  %c = tensor.extract %p[%c0] : tensor<1xi1>
  %r = scf.if %c -> (tensor<*xf32>) {
    %a = onnx.node "Squeeze"(%x, %one) since 13 : (tensor<?x1x3xf32>, tensor<1xi64>) -> tensor<*xf32>
    scf.yield %a : tensor<*xf32>
  } else {
    %b = tensor.cast %x : tensor<?x1x3xf32> to tensor<*xf32>
    scf.yield %b : tensor<*xf32>
  }
  return %r : tensor<*xf32>
}

// -----

// An iteration that there may be none of is like a branch: what contradicts
// itself there is an error of the runs that come to it. The ranks of its
// operands tell that of its result.
// CHECK-LABEL: func.func @perhaps_no_iteration
func.func @perhaps_no_iteration(%m: tensor<i64>, %x: tensor<2xf32>, %y: tensor<3xf32>, %s: tensor<?x3xf32>) {
  // CHECK: "Add"({{.*}}) since 14 : (tensor<2xf32>, tensor<3xf32>) -> tensor<?xf32>
  loop.loop (%i : tensor<i64>, %d : tensor<i1>) trips(%m : tensor<i64>) {
    %b = onnx.node "Add"(%x, %y) since 14 : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>
    loop.yield while(%d : tensor<i1>)
  }
  return
}

// A loop on buffers, which has been through inference before.
// CHECK-LABEL: func @buffers(
// CHECK: collect(memref<?x3xf32> axis 0)
func.func @buffers(%n: i64, %x: memref<3xf32>) -> memref<?x3xf32> {
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) collect(memref<?x3xf32> axis 0) {
    loop.yield while(%c : i1) collect(%x : memref<3xf32>)
  }
  return %r : memref<?x3xf32>
}

// -----

// A condition stays one element of the rank that it had, though inference knows
// less of what it is computed from.
// CHECK-LABEL: func.func @rank_of_condition
func.func @rank_of_condition(%m: tensor<i64>, %x: tensor<*xi64>, %z: tensor<i64>) {
  loop.loop (%i : tensor<i64>, %d : tensor<i1>) trips(%m : tensor<i64>) {
    // CHECK: %[[C:.*]] = onnx.node "Gather"({{.*}} -> tensor<*xi1>
    // CHECK: %[[ONE:.*]] = tensor.cast %[[C]] : tensor<*xi1> to tensor<i1>
    // CHECK: loop.yield while(%[[ONE]] : tensor<i1>)
    %l = onnx.node "Less"(%x, %i) since 13 : (tensor<*xi64>, tensor<i64>) -> tensor<1xi1>
    %c = onnx.node "Gather"(%l, %z) since 13 {axis = 0 : i64} : (tensor<1xi1>, tensor<i64>) -> tensor<i1>
    loop.yield while(%c : tensor<i1>)
  }
  return
}

// -----

// After no trip extents that nothing else tells are the declared ones, but not
// where there is a trip (loop_zero).
// CHECK-LABEL: func.func @declared_extents
func.func @declared_extents(%x: tensor<?x?xf32>, %m: tensor<i64>) -> (tensor<*xf32>, tensor<*xf32>) {
  // CHECK: %[[R:.*]] = loop.loop
  // CHECK: %[[LENGTH:.*]] = tensor.dim %[[R]], %{{.*}} : tensor<?x?x?xf32>
  // CHECK: %[[IS_NONE:.*]] = arith.cmpi eq, %[[LENGTH]], %{{.*}} : index
  // CHECK: %[[EMPTY:.*]] = tensor.empty() : tensor<0x0x4xf32>
  // CHECK: %[[NONE:.*]] = tensor.cast %[[EMPTY]] : tensor<0x0x4xf32> to tensor<?x?x?xf32>
  // CHECK: %[[S:.*]] = arith.select %[[IS_NONE]], %[[NONE]], %[[R]]
  %r = loop.loop (%i : tensor<i64>, %d : tensor<i1>) trips(%m : tensor<i64>)
      collect(tensor<*xf32> axis 0) attributes {loopc.declared_results = [tensor<?x?x4xf32>]} {
    loop.yield while(%d : tensor<i1>) collect(%x : tensor<?x?xf32>)
  }
  // CHECK: %[[T:.*]] = loop.loop
  // CHECK-NOT: arith.select
  // CHECK: return %[[S]], %[[T]]
  %two = onnx.constant dense<2> : tensor<i64>
  %t = loop.loop (%i : tensor<i64>, %d : tensor<i1>) trips(%two : tensor<i64>)
      collect(tensor<*xf32> axis 0) attributes {loopc.declared_results = [tensor<?x?x4xf32>]} {
    loop.yield while(%d : tensor<i1>) collect(%x : tensor<?x?xf32>)
  }
  return %r, %t : tensor<*xf32>, tensor<*xf32>
}
