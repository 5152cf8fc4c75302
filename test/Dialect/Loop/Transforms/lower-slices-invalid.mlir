// RUN: loopc-opt %s --loop-lower-slices --verify-diagnostics

func.func @unknown_rank(%n: i64, %x: tensor<*xf32>, %s: tensor<*xf32>) -> tensor<*xf32> {
  // expected-error@+1 {{'loop.loop' op slice #0 of 'tensor<*xf32>': loop-lower-slices needs a known rank}}
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%a = %s : tensor<*xf32>)
      slices(%p = %x : tensor<*xf32> axis 0 -> tensor<*xf32>) {
    loop.yield while(%c : i1) carried(%p : tensor<*xf32>)
  }
  return %r : tensor<*xf32>
}
