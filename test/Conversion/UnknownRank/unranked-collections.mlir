// RUN: loopc-opt %s --onnx-switch-on-rank | FileCheck %s

// What was put into a list tells which ranks can come out of it.
// CHECK-LABEL: func @elements(
func.func @elements(%m: tensor<i64>, %x: tensor<4xf32>, %y: tensor<2x3xf32>, %p: tensor<i64>, %k: tensor<1x1xi64>)
    -> tensor<*xf32> {
  %s = onnx.node "SequenceConstruct"(%x) since 11 : (tensor<4xf32>) -> !onnx.seq<tensor<*xf32>>
  %r = loop.loop (%i : tensor<i64>, %c : tensor<i1>) trips(%m : tensor<i64>)
      carried(%a = %s : !onnx.seq<tensor<*xf32>>) since 21 {
    %b = onnx.node "SequenceInsert"(%a, %y) since 11
        : (!onnx.seq<tensor<*xf32>>, tensor<2x3xf32>) -> !onnx.seq<tensor<*xf32>>
    loop.yield while(%c : tensor<i1>) carried(%b : !onnx.seq<tensor<*xf32>>)
  }
  %e = onnx.node "SequenceAt"(%r, %p) since 11
      : (!onnx.seq<tensor<*xf32>>, tensor<i64>) -> tensor<*xf32>
  // CHECK: scf.index_switch
  // CHECK-NEXT: case 1 {
  // CHECK: case 2 {
  // CHECK-NOT: case
  // CHECK: default {
  %t = onnx.node "GatherND"(%e, %k) since 13 : (tensor<*xf32>, tensor<1x1xi64>) -> tensor<*xf32>
  return %t : tensor<*xf32>
}

// loop_zero: after no iteration there is the axis that is collected along, and
// none else. What is done to the value then is done to that rank, too.
// CHECK-LABEL: func @after_no_iteration(
func.func @after_no_iteration(%m: i64, %x: tensor<2x3xf32>, %axes: tensor<2xi64>, %k: tensor<1x1xi64>)
    -> (tensor<*xf32>, tensor<*xf32>) {
  %u = tensor.cast %x : tensor<2x3xf32> to tensor<*xf32>
  %r:2 = loop.loop (%i : i64, %c : i1) trips(%m : i64)
      collect(tensor<*xf32> axis 0, tensor<*xf32> axis -2) {
    loop.yield while(%c : i1) collect(%u, %u : tensor<*xf32>, tensor<*xf32>)
  }
  %y = onnx.node "Unsqueeze"(%r#0, %axes) since 13 : (tensor<*xf32>, tensor<2xi64>) -> tensor<*xf32>
  // CHECK: scf.index_switch
  // CHECK-NEXT: case 3 {
  // CHECK: case 5 {
  // CHECK-NOT: case
  // CHECK: default {
  %s = onnx.node "GatherND"(%y, %k) since 13 : (tensor<*xf32>, tensor<1x1xi64>) -> tensor<*xf32>
  // CHECK: scf.index_switch
  // CHECK-NEXT: case 2 {
  // CHECK: case 3 {
  // CHECK-NOT: case
  // CHECK: default {
  %t = onnx.node "GatherND"(%r#1, %k) since 13 : (tensor<*xf32>, tensor<1x1xi64>) -> tensor<*xf32>
  return %s, %t : tensor<*xf32>, tensor<*xf32>
}
