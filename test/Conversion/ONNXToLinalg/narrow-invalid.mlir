// RUN: loopc-opt %s --convert-onnx-to-linalg --split-input-file --verify-diagnostics

func.func @float8(%x: f8E4M3FN) -> f8E4M3FN {
  // expected-error@+1 {{LC0500: 'arith.addf' of 'f8E4M3FN' is not compiled: convert it to more bits before}}
  %y = arith.addf %x, %x : f8E4M3FN
  return %y : f8E4M3FN
}

// -----

func.func @count(%x: i4) -> i4 {
  // expected-error@+1 {{LC0500: 'math.ctpop' of 'i4' is not compiled: convert it to more bits before}}
  %y = math.ctpop %x : i4
  return %y : i4
}
