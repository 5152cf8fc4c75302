// RUN: loopc-opt %s --one-shot-bufferize="bufferize-function-boundaries allow-return-allocs-from-loops" --split-input-file --verify-diagnostics
// RUN: loopc-opt %s --loopc-bufferize --split-input-file --verify-diagnostics

func.func @slices(%n: i64, %x: tensor<?x4xf32>, %s: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+2 {{'loop.loop' op slices must be lowered before bufferization}}
  // expected-error@+1 {{failed to bufferize op}}
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%a = %s : tensor<4xf32>)
      slices(%p = %x : tensor<?x4xf32> axis 0 -> tensor<4xf32>) {
    loop.yield while(%c : i1) carried(%p : tensor<4xf32>)
  }
  return %r : tensor<4xf32>
}

// -----

func.func @trips(%n: tensor<i64>, %s: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+2 {{'loop.loop' op trip count, condition and lengths must be made scalars before bufferization (loop-scalarize)}}
  // expected-error@+1 {{failed to bufferize op}}
  %r = loop.loop (%i : i64, %c : i1) trips(%n : tensor<i64>) carried(%a = %s : tensor<4xf32>) {
    loop.yield while(%c : i1) carried(%a : tensor<4xf32>)
  }
  return %r : tensor<4xf32>
}

// -----

// The condition of a loop that yields a tensor.
func.func @condition(%a: f32, %go: tensor<i1>) -> f32 {
  %n = arith.constant 3 : i64
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%x = %a : f32) {
    %y = arith.addf %x, %x : f32
    // expected-error@+2 {{condition must be made a scalar before bufferization (loop-scalarize)}}
    // expected-error@+1 {{failed to bufferize op}}
    loop.yield while(%go : tensor<i1>) carried(%y : f32)
  }
  return %r : f32
}
