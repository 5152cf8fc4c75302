// RUN: loopc-opt %s --loop-lower-collected --split-input-file --verify-diagnostics

func.func @tensors(%n: i64, %x: tensor<2xf32>) -> tensor<?x2xf32> {
  // expected-error @below {{'loop.loop' op collected value #0 of 'tensor<?x2xf32>': loop-lower-collected needs a memref}}
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) collect(tensor<?x2xf32> axis 0) {
    loop.yield while(%c : i1) collect(%x : tensor<2xf32>)
  }
  return %r : tensor<?x2xf32>
}

// -----

func.func @slices(%m: i64, %v: memref<?x4xf32>) -> memref<?x4xf32> {
  // expected-error @below {{'loop.loop' op slices must be lowered before loop-lower-collected}}
  %r = loop.loop (%i : i64, %c : i1) trips(%m : i64)
      slices(%a = %v : memref<?x4xf32> axis 0 -> memref<4xf32, strided<[1], offset: ?>>)
      collect(memref<?x4xf32> axis 0) {
    loop.yield while(%c : i1) collect(%a : memref<4xf32, strided<[1], offset: ?>>)
  }
  return %r : memref<?x4xf32>
}
