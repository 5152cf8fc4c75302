// RUN: loopc-opt %s --convert-loop-to-scf --split-input-file --verify-diagnostics

func.func @tensors(%n: i64, %x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'loop.loop' op tensors must be bufferized before convert-loop-to-scf}}
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%a = %x : tensor<4xf32>) {
    loop.yield while(%c : i1) carried(%a : tensor<4xf32>)
  }
  return %r : tensor<4xf32>
}

// -----

func.func @collected(%n: i64, %x: f32) -> memref<?xf32> {
  // expected-error@+1 {{'loop.loop' op slices and collected values must be lowered before convert-loop-to-scf}}
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) collect(memref<?xf32> axis 0) {
    loop.yield while(%c : i1) collect(%x : f32)
  }
  return %r : memref<?xf32>
}

// -----

// A trip count is a tensor until loop-scalarize.
func.func @trips(%m: tensor<i64>, %s: !onnx.seq<tensor<f32>>) -> !onnx.seq<tensor<f32>> {
  // expected-error @+1 {{tensors must be bufferized before convert-loop-to-scf}}
  %r = loop.loop (%i : tensor<i64>, %c : tensor<i1>) trips(%m : tensor<i64>)
      carried(%a = %s : !onnx.seq<tensor<f32>>) since 21 {
    loop.yield while(%c : tensor<i1>) carried(%a : !onnx.seq<tensor<f32>>)
  }
  return %r : !onnx.seq<tensor<f32>>
}
