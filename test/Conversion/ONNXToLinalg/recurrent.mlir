// RUN: loopc-opt %s -split-input-file -convert-onnx-to-linalg -canonicalize -cse | FileCheck %s

// The inputs' part of all gates is computed in front of the loop, with W and R
// transposed once; a step slices it.
// CHECK-LABEL: @lstm
// CHECK: linalg.transpose {{.*}} permutation = [1, 0] {loopc.stored}
// CHECK: %[[INPUTS:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction", "parallel"]{{.*}} outs(%{{.*}} : tensor<7x2x20xf32>)
// CHECK: %[[R:.*]] = linalg.transpose {{.*}} {loopc.stored}
// CHECK: loop.loop
// CHECK-SAME: trips
// CHECK-SAME: carried(%[[H:[^ ]*]] = {{.*}} : tensor<2x5xf32>, {{.*}} : tensor<2x5xf32>)
// CHECK-SAME: collect(tensor<7x2x5xf32> axis 0)
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction", "parallel"]
// CHECK: math.exp
// CHECK: math.tanh
// CHECK: loop.yield
func.func @lstm(%x: tensor<7x2x3xf32>, %w: tensor<1x20x3xf32>, %r: tensor<1x20x5xf32>) -> (tensor<7x1x2x5xf32>, tensor<1x2x5xf32>) {
  %y, %h, %c = onnx.node "LSTM"(%x, %w, %r) since 14 {hidden_size = 5 : i64} : (tensor<7x2x3xf32>, tensor<1x20x3xf32>, tensor<1x20x5xf32>) -> (tensor<7x1x2x5xf32>, tensor<1x2x5xf32>, tensor<1x2x5xf32>)
  return %y, %h : tensor<7x1x2x5xf32>, tensor<1x2x5xf32>
}

// -----

// Reverse: slices are read and results are collected from the end. Past a
// sequence's length the state stays and Y is zero; lengths are checked once, and
// there are as many steps as the longest has.
// CHECK-LABEL: @rnn_reverse
// CHECK: %[[FOUND:.*]]:2 = scf.for
// CHECK: loop.check {{.*}} "{{.*}}RNN: a sequence length is not in 0 to {}"
// CHECK: %[[STEPS:.*]] = arith.minui %[[FOUND]]#1
// CHECK: tensor.extract_slice %{{.*}}[0, 0, 0] [%[[STEPS]], 2, 3]
// CHECK: %[[TRIPS:.*]] = arith.index_cast %[[STEPS]]
// CHECK: loop.loop
// CHECK-SAME: trips(%[[TRIPS]]
// CHECK-SAME: reverse
// CHECK-SAME: collect(tensor<?x2x5xf32>
// CHECK: arith.cmpi slt
// CHECK: arith.select
// CHECK: loop.yield
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[0, 0, 0] [%[[STEPS]], 2, 5]
// CHECK: linalg.fill
func.func @rnn_reverse(%x: tensor<7x2x3xf32>, %w: tensor<1x5x3xf32>, %r: tensor<1x5x5xf32>, %n: tensor<2xi32>) -> tensor<7x1x2x5xf32> {
  %none = onnx.none
  %y, %h = onnx.node "RNN"(%x, %w, %r, %none, %n) since 14 {direction = "reverse", hidden_size = 5 : i64} : (tensor<7x2x3xf32>, tensor<1x5x3xf32>, tensor<1x5x5xf32>, none, tensor<2xi32>) -> (tensor<7x1x2x5xf32>, tensor<1x2x5xf32>)
  return %y : tensor<7x1x2x5xf32>
}

// -----

// Two directions are two loops.
// CHECK-LABEL: @gru_both
// CHECK: loop.loop
// CHECK: loop.loop
// CHECK: tensor.insert_slice
func.func @gru_both(%x: tensor<?x2x3xf32>, %w: tensor<2x15x3xf32>, %r: tensor<2x15x5xf32>) -> tensor<?x2x2x5xf32> {
  %y, %h = onnx.node "GRU"(%x, %w, %r) since 14 {direction = "bidirectional", hidden_size = 5 : i64, linear_before_reset = 1 : i64} : (tensor<?x2x3xf32>, tensor<2x15x3xf32>, tensor<2x15x5xf32>) -> (tensor<?x2x2x5xf32>, tensor<2x2x5xf32>)
  return %y : tensor<?x2x2x5xf32>
}
