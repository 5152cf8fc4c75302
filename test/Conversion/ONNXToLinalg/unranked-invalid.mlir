// RUN: loopc-opt %s -verify-diagnostics --pass-pipeline='builtin.module(func.func(loop-lower-unranked))'

// What is collected must have a rank that is known at compile time.
func.func @collects_unknown_rank(%m: i64, %x: tensor<*xf32>) -> tensor<*xf32> {
  // expected-error @below {{collecting or slicing values whose rank is not known at compile time is not supported}}
  %ys = loop.loop (%i : i64, %c : i1) trips(%m : i64)
      collect(tensor<*xf32> axis 0) {
    loop.yield while(%c : i1) collect(%x : tensor<*xf32>)
  }
  return %ys : tensor<*xf32>
}
