// RUN: loopc-opt %s --split-input-file --onnx-infer-types | FileCheck %s

// An empty sequence says nothing of the elements that come: the loop's sequence
// has those of the insertion.
// CHECK-LABEL: func @append(
func.func @append(%m: tensor<i64>, %x: tensor<2x?xf32>) -> tensor<*xf32> {
  %empty = onnx.node "SequenceEmpty"() since 11 {dtype = 1 : i64} : () -> !onnx.seq<tensor<*xf32>>
  // CHECK: onnx.cast %{{.*}} : !onnx.seq<tensor<*xf32>> to !onnx.seq<tensor<2x?xf32>>
  // CHECK: %[[S:.*]] = loop.loop {{.*}}carried(%{{.*}} = %{{.*}} : !onnx.seq<tensor<2x?xf32>>)
  %s = loop.loop (%i : tensor<i64>, %c : tensor<i1>) trips(%m : tensor<i64>)
      carried(%r = %empty : !onnx.seq<tensor<*xf32>>) since 21 {
    %t = onnx.node "SequenceInsert"(%r, %x) since 11
        : (!onnx.seq<tensor<*xf32>>, tensor<2x?xf32>) -> !onnx.seq<tensor<*xf32>>
    loop.yield while(%c : tensor<i1>) carried(%t : !onnx.seq<tensor<*xf32>>)
  }
  // CHECK: onnx.node "SequenceAt"(%[[S]], {{.*}} -> tensor<2x?xf32>
  %y = onnx.node "SequenceAt"(%s, %m) since 11
      : (!onnx.seq<tensor<*xf32>>, tensor<i64>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// Elements of several shapes are joined, ranks that differ are unknown.
// CHECK-LABEL: func @joined(
func.func @joined(%x: tensor<2x3xf32>, %y: tensor<2x4xf32>, %z: tensor<5xf32>)
    -> (!onnx.seq<tensor<*xf32>>, !onnx.seq<tensor<*xf32>>) {
  %empty = onnx.node "SequenceEmpty"() since 11 {dtype = 1 : i64} : () -> !onnx.seq<tensor<*xf32>>
  // CHECK: onnx.node "SequenceInsert"{{.*}} -> !onnx.seq<tensor<2x3xf32>>
  %a = onnx.node "SequenceInsert"(%empty, %x) since 11
      : (!onnx.seq<tensor<*xf32>>, tensor<2x3xf32>) -> !onnx.seq<tensor<*xf32>>
  // CHECK: onnx.node "SequenceInsert"{{.*}} -> !onnx.seq<tensor<2x?xf32>>
  %b = onnx.node "SequenceInsert"(%a, %y) since 11
      : (!onnx.seq<tensor<*xf32>>, tensor<2x4xf32>) -> !onnx.seq<tensor<*xf32>>
  // CHECK: onnx.node "SequenceInsert"{{.*}} -> !onnx.seq<tensor<*xf32>>
  %c = onnx.node "SequenceInsert"(%b, %z) since 11
      : (!onnx.seq<tensor<*xf32>>, tensor<5xf32>) -> !onnx.seq<tensor<*xf32>>
  return %b, %c : !onnx.seq<tensor<*xf32>>, !onnx.seq<tensor<*xf32>>
}

// -----

// A branch that yields nothing leaves the type to the other one.
// CHECK-LABEL: func @branches(
func.func @branches(%p: i1, %x: tensor<2xf32>) -> !onnx.optional<tensor<*xf32>> {
  // CHECK: scf.if %{{.*}} -> (!onnx.optional<tensor<2xf32>>)
  %o = scf.if %p -> !onnx.optional<tensor<*xf32>> {
    %none = onnx.node "Optional"() since 15 {type = tensor<*xf32>} : () -> !onnx.optional<tensor<*xf32>>
    scf.yield %none : !onnx.optional<tensor<*xf32>>
  } else {
    %some = onnx.node "Optional"(%x) since 15 : (tensor<2xf32>) -> !onnx.optional<tensor<*xf32>>
    scf.yield %some : !onnx.optional<tensor<*xf32>>
  }
  return %o : !onnx.optional<tensor<*xf32>>
}

// -----

// A stack that begins empty: the branch that takes from it says nothing before
// the other one has put something in.
// CHECK-LABEL: func @stack(
// CHECK: loop.loop
// CHECK-SAME: carried(%{{.*}} = %{{.*}} : !onnx.seq<tensor<4xf32>>, %{{.*}} = %{{.*}} : tensor<4xf32>)
// CHECK: "SequenceAt"{{.*}} -> tensor<4xf32>
func.func @stack(%m: tensor<i64>, %x: tensor<4xf32>, %p: i1, %last: tensor<i64>) -> tensor<*xf32> {
  %s0 = onnx.node "SequenceEmpty"() since 11 : () -> !onnx.seq<tensor<*xf32>>
  %a0 = tensor.cast %x : tensor<4xf32> to tensor<*xf32>
  %s, %a = loop.loop (%i : tensor<i64>, %c : tensor<i1>) trips(%m : tensor<i64>) carried(%r = %s0 : !onnx.seq<tensor<*xf32>>, %b = %a0 : tensor<*xf32>) since 21 {
    %t, %d = scf.if %p -> (!onnx.seq<tensor<*xf32>>, tensor<*xf32>) {
      %u = onnx.node "SequenceInsert"(%r, %x) since 11 : (!onnx.seq<tensor<*xf32>>, tensor<4xf32>) -> !onnx.seq<tensor<*xf32>>
      scf.yield %u, %b : !onnx.seq<tensor<*xf32>>, tensor<*xf32>
    } else {
      %u = onnx.node "SequenceErase"(%r, %last) since 11 : (!onnx.seq<tensor<*xf32>>, tensor<i64>) -> !onnx.seq<tensor<*xf32>>
      %e = onnx.node "SequenceAt"(%r, %last) since 11 : (!onnx.seq<tensor<*xf32>>, tensor<i64>) -> tensor<*xf32>
      %f = onnx.node "Add"(%b, %e) since 14 : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
      scf.yield %u, %f : !onnx.seq<tensor<*xf32>>, tensor<*xf32>
    }
    loop.yield while(%c : tensor<i1>) carried(%t, %d : !onnx.seq<tensor<*xf32>>, tensor<*xf32>)
  }
  return %a : tensor<*xf32>
}

// -----

// A branch that always fails has no say, but its values must fit the type.
// CHECK-LABEL: func @never(
// CHECK: scf.if %{{.*}} -> (tensor<4xf32>)
// CHECK: scf.if %{{.*}} -> (tensor<*xf32>)
func.func @never(%p: i1, %x: tensor<4xf32>, %y: tensor<2x3xf32>, %k: tensor<i64>) -> (tensor<*xf32>, tensor<*xf32>) {
  %s = onnx.node "SequenceEmpty"() since 11 : () -> !onnx.seq<tensor<*xf32>>
  %a = scf.if %p -> (tensor<*xf32>) {
    %e = onnx.node "SequenceAt"(%s, %k) since 11 : (!onnx.seq<tensor<*xf32>>, tensor<i64>) -> tensor<*xf32>
    scf.yield %e : tensor<*xf32>
  } else {
    %v = tensor.cast %x : tensor<4xf32> to tensor<*xf32>
    scf.yield %v : tensor<*xf32>
  }
  %b = scf.if %p -> (tensor<*xf32>) {
    %e = onnx.node "SequenceAt"(%s, %k) since 11 : (!onnx.seq<tensor<*xf32>>, tensor<i64>) -> tensor<*xf32>
    %v = tensor.cast %y : tensor<2x3xf32> to tensor<*xf32>
    scf.yield %v : tensor<*xf32>
  } else {
    %v = tensor.cast %x : tensor<4xf32> to tensor<*xf32>
    scf.yield %v : tensor<*xf32>
  }
  return %a, %b : tensor<*xf32>, tensor<*xf32>
}
