// RUN: loopc-opt %s -split-input-file -convert-onnx-to-linalg -canonicalize -cse | FileCheck %s

// A node that breaks its operator's rules where perhaps no run comes to ends
// the run that does, and nothing of what it was lowered to stays. (Those that
// certainly run: contradictions-invalid.mlir.)
// CHECK-LABEL: func.func @in_a_branch
// CHECK: scf.if
// CHECK-NEXT: loop.check %false, "{{.*}}CumSum: axis 5 is out of range for rank 1"
// CHECK-NEXT: tensor.empty
// CHECK-NEXT: tensor.cast
// CHECK-NEXT: scf.yield
func.func @in_a_branch(%x: tensor<?xf32>, %c: i1) -> tensor<?xf32> {
  %axis = onnx.constant dense<5> : tensor<i64>
  %r = scf.if %c -> tensor<?xf32> {
    %n = onnx.node "CumSum"(%x, %axis) since 14 : (tensor<?xf32>, tensor<i64>) -> tensor<?xf32>
    scf.yield %n : tensor<?xf32>
  } else {
    scf.yield %x : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

// -----

// The loop may have no iteration.
// CHECK-LABEL: func.func @in_a_loop
// CHECK: loop.loop
// CHECK: loop.check %false, "{{.*}}Conv: channels of input and weights: 2 and 3 differ"
// CHECK-NOT: linalg
func.func @in_a_loop(%trips: i64, %x: tensor<1x2x4x4xf32>, %w: tensor<3x3x2x2xf32>) -> tensor<?x1x3x3x3xf32> {
  %r = loop.loop (%i : i64, %again : i1) trips(%trips : i64) collect(tensor<?x1x3x3x3xf32> axis 0) {
    %n = onnx.node "Conv"(%x, %w) since 11 : (tensor<1x2x4x4xf32>, tensor<3x3x2x2xf32>) -> tensor<1x3x3x3xf32>
    loop.yield while(%again : i1) collect(%n : tensor<1x3x3x3xf32>)
  }
  return %r : tensor<?x1x3x3x3xf32>
}

// -----

// Who calls the function, and whether, is not known here.
// CHECK-LABEL: func.func private @in_a_function
// CHECK: loop.check %false, "{{.*}}ReduceSum: 'axes' names axis 1 twice"
func.func private @in_a_function(%x: tensor<2x3xf32>) -> tensor<*xf32> {
  %axes = onnx.constant dense<[1, -1]> : tensor<2xi64>
  %r = onnx.node "ReduceSum"(%x, %axes) since 13 : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

// Braces of the model stand for no values.
// CHECK-LABEL: func.func @braces
// CHECK: loop.check %false, "{{.*}}RNN: unknown activation '{ }'"
func.func @braces(%x: tensor<1x1x1xf32>, %c: i1, %y: tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32> {
  %r = scf.if %c -> tensor<1x1x1x1xf32> {
    %n = onnx.node "RNN"(%x, %x, %x) since 14 {activations = ["{}"], hidden_size = 1 : i64} : (tensor<1x1x1xf32>, tensor<1x1x1xf32>, tensor<1x1x1xf32>) -> tensor<1x1x1x1xf32>
    scf.yield %n : tensor<1x1x1x1xf32>
  } else {
    scf.yield %y : tensor<1x1x1x1xf32>
  }
  return %r : tensor<1x1x1x1xf32>
}
