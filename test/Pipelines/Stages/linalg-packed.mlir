// RUN: loopc-opt %s --loopc-verify-stage=stage=linalg --verify-diagnostics --split-input-file

// Twelve columns in panels of eight: what is behind the last one is zero, in a
// constant as in a copy, and in a copy that leaves nothing out.
#x = affine_map<(k, n) -> (k)>
#w = affine_map<(k, n) -> (n floordiv 8, k, n mod 8)>
#y = affine_map<(k, n) -> (n)>
#from = affine_map<(k, n) -> (k, n)>
func.func @holds(%x: tensor<1xf32>, %v: tensor<1x12xf32>, %u: tensor<1x16xf32>, %y: tensor<12xf32>, %z: tensor<16xf32>)
    -> (tensor<12xf32>, tensor<12xf32>, tensor<16xf32>) {
  %zero = arith.constant 0.0 : f32
  %weights = arith.constant dense<[[[1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]], [[1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0]]]> : tensor<2x1x8xf32>
  %r = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["reduction", "parallel"]}
      ins(%x, %weights : tensor<1xf32>, tensor<2x1x8xf32>) outs(%y : tensor<12xf32>) attrs = {loopc.packed} {
  ^bb0(%a: f32, %b: f32, %c: f32):
    linalg.yield %c : f32
  } -> tensor<12xf32>
  %empty = tensor.empty() : tensor<2x1x8xf32>
  %filled = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x1x8xf32>) -> tensor<2x1x8xf32>
  %packed = linalg.generic {indexing_maps = [#from, #w], iterator_types = ["parallel", "parallel"]}
      ins(%v : tensor<1x12xf32>) outs(%filled : tensor<2x1x8xf32>) attrs = {loopc.packed} {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<2x1x8xf32>
  %s = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["reduction", "parallel"]}
      ins(%x, %packed : tensor<1xf32>, tensor<2x1x8xf32>) outs(%y : tensor<12xf32>) attrs = {loopc.packed} {
  ^bb0(%a: f32, %b: f32, %c: f32):
    linalg.yield %c : f32
  } -> tensor<12xf32>
  %whole = linalg.generic {indexing_maps = [#from, #w], iterator_types = ["parallel", "parallel"]}
      ins(%u : tensor<1x16xf32>) outs(%empty : tensor<2x1x8xf32>) attrs = {loopc.packed} {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<2x1x8xf32>
  %t = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["reduction", "parallel"]}
      ins(%x, %whole : tensor<1xf32>, tensor<2x1x8xf32>) outs(%z : tensor<16xf32>) attrs = {loopc.packed} {
  ^bb0(%a: f32, %b: f32, %c: f32):
    linalg.yield %c : f32
  } -> tensor<16xf32>
  return %r, %s, %t : tensor<12xf32>, tensor<12xf32>, tensor<16xf32>
}

// -----

#x = affine_map<(k, n) -> (k)>
#w = affine_map<(k, n) -> (n floordiv 8, k, n mod 8)>
#y = affine_map<(k, n) -> (n)>
func.func @constant(%x: tensor<1xf32>, %y: tensor<12xf32>) -> tensor<12xf32> {
  %weights = arith.constant dense<[[[1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]], [[1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 5.0]]]> : tensor<2x1x8xf32>
  // expected-error @+2 {{stage linalg: 'linalg.generic' op says by 'loopc.packed' that operand #1 has zeros behind its elements, and that is not proved}}
  // expected-note @+1 {{please report it}}
  %r = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["reduction", "parallel"]}
      ins(%x, %weights : tensor<1xf32>, tensor<2x1x8xf32>) outs(%y : tensor<12xf32>) attrs = {loopc.packed} {
  ^bb0(%a: f32, %b: f32, %c: f32):
    linalg.yield %c : f32
  } -> tensor<12xf32>
  return %r : tensor<12xf32>
}

// -----

// Nobody has filled the place.
#x = affine_map<(k, n) -> (k)>
#w = affine_map<(k, n) -> (n floordiv 8, k, n mod 8)>
#y = affine_map<(k, n) -> (n)>
#from = affine_map<(k, n) -> (k, n)>
func.func @copy(%x: tensor<1xf32>, %v: tensor<1x12xf32>, %y: tensor<12xf32>) -> tensor<12xf32> {
  %empty = tensor.empty() : tensor<2x1x8xf32>
  %packed = linalg.generic {indexing_maps = [#from, #w], iterator_types = ["parallel", "parallel"]}
      ins(%v : tensor<1x12xf32>) outs(%empty : tensor<2x1x8xf32>) attrs = {loopc.packed} {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<2x1x8xf32>
  // expected-error @+2 {{operand #1 has zeros behind its elements, and that is not proved}}
  // expected-note @+1 {{please report it}}
  %s = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["reduction", "parallel"]}
      ins(%x, %packed : tensor<1xf32>, tensor<2x1x8xf32>) outs(%y : tensor<12xf32>) attrs = {loopc.packed} {
  ^bb0(%a: f32, %b: f32, %c: f32):
    linalg.yield %c : f32
  } -> tensor<12xf32>
  return %s : tensor<12xf32>
}

// -----

// Any tensor may be panels by its type.
#x = affine_map<(k, n) -> (k)>
#w = affine_map<(k, n) -> (n floordiv 8, k, n mod 8)>
#y = affine_map<(k, n) -> (n)>
func.func @given(%x: tensor<1xf32>, %w: tensor<2x1x8xf32>, %y: tensor<12xf32>) -> tensor<12xf32> {
  // expected-error @+2 {{operand #1 has zeros behind its elements, and that is not proved}}
  // expected-note @+1 {{please report it}}
  %s = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["reduction", "parallel"]}
      ins(%x, %w : tensor<1xf32>, tensor<2x1x8xf32>) outs(%y : tensor<12xf32>) attrs = {loopc.packed} {
  ^bb0(%a: f32, %b: f32, %c: f32):
    linalg.yield %c : f32
  } -> tensor<12xf32>
  return %s : tensor<12xf32>
}

// -----

// Of a constant, how many elements are read must be known: of ten columns what
// is behind them is not zero.
#x = affine_map<(k, n) -> (k)>
#w = affine_map<(k, n) -> (n floordiv 8, k, n mod 8)>
#y = affine_map<(k, n) -> (n)>
func.func @open(%x: tensor<1xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %weights = arith.constant dense<[[[1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]], [[1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0]]]> : tensor<2x1x8xf32>
  // expected-error @+2 {{operand #1 has zeros behind its elements, and that is not proved}}
  // expected-note @+1 {{please report it}}
  %r = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["reduction", "parallel"]}
      ins(%x, %weights : tensor<1xf32>, tensor<2x1x8xf32>) outs(%y : tensor<?xf32>) attrs = {loopc.packed} {
  ^bb0(%a: f32, %b: f32, %c: f32):
    linalg.yield %c : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

// A copy of sixteen columns, of which twelve are read: behind these there are
// four of them.
#x = affine_map<(k, n) -> (k)>
#w = affine_map<(k, n) -> (n floordiv 8, k, n mod 8)>
#y = affine_map<(k, n) -> (n)>
#from = affine_map<(k, n) -> (k, n)>
func.func @fewer(%x: tensor<1xf32>, %u: tensor<1x16xf32>, %y: tensor<12xf32>) -> tensor<12xf32> {
  %empty = tensor.empty() : tensor<2x1x8xf32>
  %whole = linalg.generic {indexing_maps = [#from, #w], iterator_types = ["parallel", "parallel"]}
      ins(%u : tensor<1x16xf32>) outs(%empty : tensor<2x1x8xf32>) attrs = {loopc.packed} {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<2x1x8xf32>
  // expected-error @+2 {{operand #1 has zeros behind its elements, and that is not proved}}
  // expected-note @+1 {{please report it}}
  %s = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["reduction", "parallel"]}
      ins(%x, %whole : tensor<1xf32>, tensor<2x1x8xf32>) outs(%y : tensor<12xf32>) attrs = {loopc.packed} {
  ^bb0(%a: f32, %b: f32, %c: f32):
    linalg.yield %c : f32
  } -> tensor<12xf32>
  return %s : tensor<12xf32>
}
