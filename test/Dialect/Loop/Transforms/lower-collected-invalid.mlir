// RUN: loopc-opt %s --loop-lower-collected --verify-diagnostics

func.func @tensors(%n: i64, %x: tensor<2xf32>) -> tensor<?x2xf32> {
  // expected-error @below {{'loop.loop' op collected value #0 of 'tensor<?x2xf32>': loop-lower-collected needs a memref}}
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) collect(tensor<?x2xf32> axis 0) {
    loop.yield while(%c : i1) collect(%x : tensor<2xf32>)
  }
  return %r : tensor<?x2xf32>
}
