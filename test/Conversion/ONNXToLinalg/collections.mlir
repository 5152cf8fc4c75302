// RUN: loopc-opt %s --split-input-file --convert-onnx-to-linalg --onnx-lower-unranked --canonicalize | FileCheck %s

// Lists of one element type are of one type; an element is flat with a shape.
// seq_index
// CHECK-LABEL: func @insert(
// CHECK-SAME: %[[S:.*]]: !list.list<f32> {{.*}}%[[X:.*]]: tensor<2x?xf32> {{.*}}%[[P:.*]]: tensor<i64>
func.func @insert(%s: !onnx.seq<tensor<?x?xf32>>, %x: tensor<2x?xf32>, %p: tensor<i64>)
    -> !onnx.seq<tensor<?x?xf32>> {
  // CHECK: %[[N:.*]] = list.length %[[S]] : !list.list<f32>
  // CHECK: loop.check %{{.*}}, "{{.*}}SequenceInsert: position {} is out of range for a sequence of {}"(%{{.*}}, %[[N]] :
  // CHECK: %[[FLAT:.*]] = tensor.collapse_shape %[[X]]
  // CHECK: %[[T:.*]] = list.insert %[[FLAT]], %{{.*}} into %[[S]][%{{.*}}]
  // CHECK: return %[[T]] : !list.list<f32>
  %t = onnx.node "SequenceInsert"(%s, %x, %p) since 11
      : (!onnx.seq<tensor<?x?xf32>>, tensor<2x?xf32>, tensor<i64>) -> !onnx.seq<tensor<?x?xf32>>
  return %t : !onnx.seq<tensor<?x?xf32>>
}

// -----

// What is known of an element is checked when it comes out.
// CHECK-LABEL: func @at(
func.func @at(%s: !onnx.seq<tensor<?x3xui8>>, %p: tensor<i32>) -> tensor<?x3xui8> {
  // CHECK: %[[E:.*]]:2 = list.at %{{.*}} : !list.list<i8> -> tensor<?xi8>, tensor<?xi64>
  // CHECK: loop.check %{{.*}}, "{{.*}}rank {}, expected {}"
  // CHECK: loop.check %{{.*}}, "{{.*}}dimension {}, expected {}"
  // CHECK: tensor.expand_shape %[[E]]#0 {{.*}} into tensor<?x3xi8>
  %x = onnx.node "SequenceAt"(%s, %p) since 11
      : (!onnx.seq<tensor<?x3xui8>>, tensor<i32>) -> tensor<?x3xui8>
  return %x : tensor<?x3xui8>
}

// -----

// CHECK-LABEL: func @has_element(
func.func @has_element(%o: !onnx.optional<tensor<2xf32>>, %x: tensor<2xf32>) -> (tensor<i1>, tensor<i1>, tensor<i1>) {
  // CHECK-DAG: %[[TRUE:.*]] = arith.constant dense<true> : tensor<i1>
  // CHECK-DAG: %[[FALSE:.*]] = arith.constant dense<false> : tensor<i1>
  // CHECK: list.length
  // CHECK: return %{{.*}}, %[[TRUE]], %[[FALSE]]
  %a = onnx.node "OptionalHasElement"(%o) since 18 : (!onnx.optional<tensor<2xf32>>) -> tensor<i1>
  %b = onnx.node "OptionalHasElement"(%x) since 18 : (tensor<2xf32>) -> tensor<i1>
  %c = onnx.node "OptionalHasElement"() since 18 : () -> tensor<i1>
  return %a, %b, %c : tensor<i1>, tensor<i1>, tensor<i1>
}

// -----

// Elements of one slice each are read from what is split, and no list is made.
// CHECK-LABEL: func @parts(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x4xf32>
func.func @parts(%x: tensor<?x?x4xf32>, %p: tensor<i64>) -> (tensor<?x4xf32>, tensor<?x1x4xf32>, tensor<i64>) {
  // CHECK-NOT: loop.seq
  // CHECK: loop.check %{{.*}}, "{{.*}}index {} is out of range for an axis of extent {}"
  // CHECK: tensor.extract_slice %[[X]]{{.*}} to tensor<?x4xf32>
  // CHECK: tensor.extract_slice %[[X]]
  // CHECK-NOT: loop.seq
  // CHECK: return
  %s = onnx.node "SplitToSequence"(%x) since 11 {axis = 0 : i64, keepdims = 0 : i64}
      : (tensor<?x?x4xf32>) -> !onnx.seq<tensor<?x4xf32>>
  %t = onnx.node "SplitToSequence"(%x) since 11 {axis = -2 : i64}
      : (tensor<?x?x4xf32>) -> !onnx.seq<tensor<?x1x4xf32>>
  %a = onnx.node "SequenceAt"(%s, %p) since 11 : (!onnx.seq<tensor<?x4xf32>>, tensor<i64>) -> tensor<?x4xf32>
  %b = onnx.node "SequenceAt"(%t, %p) since 11 : (!onnx.seq<tensor<?x1x4xf32>>, tensor<i64>) -> tensor<?x1x4xf32>
  %n = onnx.node "SequenceLength"(%t) since 11 : (!onnx.seq<tensor<?x1x4xf32>>) -> tensor<i64>
  return %a, %b, %n : tensor<?x4xf32>, tensor<?x1x4xf32>, tensor<i64>
}

// -----

// A list that is changed is made; parts of several rows are elements of one.
// CHECK-LABEL: func @changed_parts(
func.func @changed_parts(%x: tensor<?x4xf32>, %y: tensor<4xf32>, %p: tensor<i64>) -> (!onnx.seq<tensor<4xf32>>, tensor<?x4xf32>) {
  // CHECK-DAG: list.insert
  // CHECK-DAG: list.at
  %two = onnx.constant dense<2> : tensor<i64>
  %s = onnx.node "SplitToSequence"(%x) since 11 {keepdims = 0 : i64} : (tensor<?x4xf32>) -> !onnx.seq<tensor<4xf32>>
  %t = onnx.node "SequenceInsert"(%s, %y) since 11
      : (!onnx.seq<tensor<4xf32>>, tensor<4xf32>) -> !onnx.seq<tensor<4xf32>>
  %u = onnx.node "SplitToSequence"(%x, %two) since 11 : (tensor<?x4xf32>, tensor<i64>) -> !onnx.seq<tensor<?x4xf32>>
  %a = onnx.node "SequenceAt"(%u, %p) since 11 : (!onnx.seq<tensor<?x4xf32>>, tensor<i64>) -> tensor<?x4xf32>
  return %t, %a : !onnx.seq<tensor<4xf32>>, tensor<?x4xf32>
}
