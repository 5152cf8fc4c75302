// What the verifier of rt.fourier refuses; one fault a split.

// RUN: loopc-opt %s -split-input-file -verify-diagnostics

func.func @rank(%t: tensor<2xf64>) {
  // expected-error@+1 {{has data of rank 1, expected at least 2}}
  %y = rt.fourier %t : tensor<2xf64>
  return
}

// -----

func.func @parts(%t: tensor<8x3xf64>) {
  // expected-error@+1 {{the last axis of 'tensor<8x3xf64>' is not a real and an imaginary part}}
  %y = rt.fourier %t : tensor<8x3xf64>
  return
}

// -----

func.func @type(%t: tensor<8x2xf32>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of 64-bit float values or memref of 64-bit float values}}
  %y = rt.fourier %t : tensor<8x2xf32>
  return
}

// -----

func.func @gaps(%b: memref<8x2xf64, strided<[4, 1]>>) {
  // expected-error@+1 {{do not lie one behind the other}}
  rt.fourier %b : memref<8x2xf64, strided<[4, 1]>>
  return
}
