// RUN: loopc-opt %s -split-input-file -convert-onnx-to-linalg -verify-diagnostics

// The first iteration certainly runs.
func.func @in_a_loop(%x: tensor<?xf32>) -> tensor<?x?xf32> {
  %axis = onnx.constant dense<5> : tensor<i64>
  %trips = arith.constant 2 : i64
  %r = loop.loop (%i : i64, %again : i1) trips(%trips : i64) collect(tensor<?x?xf32> axis 0) {
    // expected-error @below {{LC0300: CumSum: axis 5 is out of range for rank 1}}
    %n = onnx.node "CumSum"(%x, %axis) since 14 : (tensor<?xf32>, tensor<i64>) -> tensor<?xf32>
    loop.yield while(%again : i1) collect(%n : tensor<?xf32>)
  }
  return %r : tensor<?x?xf32>
}

// -----

// A limit of loopc is one wherever the node is: it may be right.
func.func @limit(%x: tensor<2xf32>, %c: i1) -> tensor<2xf32> {
  %r = scf.if %c -> tensor<2xf32> {
    // expected-error @below {{LC0501: Dropout: training mode ('is_test' is 0) is not supported}}
    %n = onnx.node "Dropout"(%x) since 6 : (tensor<2xf32>) -> tensor<2xf32>
    scf.yield %n : tensor<2xf32>
  } else {
    scf.yield %x : tensor<2xf32>
  }
  return %r : tensor<2xf32>
}
