// What loopc.packed says of an operand, and its map and extents do not.
// RUN: loopc-opt %s --split-input-file --verify-diagnostics

#a = affine_map<(m, k, n) -> (m, k)>
#b = affine_map<(m, k, n) -> (k, n)>
#c = affine_map<(m, k, n) -> (m, n)>
func.func @none(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>, %c: tensor<4x16xf32>) -> tensor<4x16xf32> {
  // expected-error @+1 {{'linalg.generic' op attribute 'loopc.packed' needs one operand whose map ends with 'd mod W' and has 'd floordiv W', and there are 0}}
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%a, %b : tensor<4x8xf32>, tensor<8x16xf32>) outs(%c : tensor<4x16xf32>) attrs = {loopc.packed} {
  ^bb0(%x: f32, %y: f32, %z: f32):
    linalg.yield %z : f32
  } -> tensor<4x16xf32>
  return %r : tensor<4x16xf32>
}

// -----

// The quotient and the remainder are of different numbers.
#a = affine_map<(m, n) -> (m, n)>
#b = affine_map<(m, n) -> (n floordiv 8, m, n mod 4)>
func.func @widths(%a: tensor<4x16xf32>, %b: tensor<2x4x4xf32>) -> tensor<2x4x4xf32> {
  // expected-error @+1 {{and there are 0}}
  %r = linalg.generic {indexing_maps = [#a, #b], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<4x16xf32>) outs(%b : tensor<2x4x4xf32>) attrs = {loopc.packed} {
  ^bb0(%x: f32, %z: f32):
    linalg.yield %x : f32
  } -> tensor<2x4x4xf32>
  return %r : tensor<2x4x4xf32>
}

// -----

#a = affine_map<(m, n) -> (m, n)>
#b = affine_map<(m, n) -> (n floordiv 8, m, n mod 8)>
func.func @rows(%a: tensor<4x12xf32>, %b: tensor<2x4x16xf32>) -> tensor<2x4x16xf32> {
  // expected-error @+1 {{'linalg.generic' op attribute 'loopc.packed' says that operand #1 is panels, with an extent of 8 along axis 2, and its type is 'tensor<2x4x16xf32>'}}
  %r = linalg.generic {indexing_maps = [#a, #b], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<4x12xf32>) outs(%b : tensor<2x4x16xf32>) attrs = {loopc.packed} {
  ^bb0(%x: f32, %z: f32):
    linalg.yield %x : f32
  } -> tensor<2x4x16xf32>
  return %r : tensor<2x4x16xf32>
}

// -----

#a = affine_map<(m, n) -> (m, n)>
#b = affine_map<(m, n) -> (n floordiv 8, m, n mod 8)>
func.func @count(%a: tensor<?x12xf32>, %b: tensor<3x?x8xf32>) -> tensor<3x?x8xf32> {
  // expected-error @+1 {{says that operand #1 is panels, with an extent of 2 along axis 0, and its type is 'tensor<3x?x8xf32>'}}
  %r = linalg.generic {indexing_maps = [#a, #b], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<?x12xf32>) outs(%b : tensor<3x?x8xf32>) attrs = {loopc.packed} {
  ^bb0(%x: f32, %z: f32):
    linalg.yield %x : f32
  } -> tensor<3x?x8xf32>
  return %r : tensor<3x?x8xf32>
}

// -----

// Of groups, too.
#a = affine_map<(k, n) -> (k, n)>
#b = affine_map<(k, n) -> (n floordiv 32, k floordiv 4, n mod 32, k mod 4)>
func.func @groups(%a: memref<10x40xi8>, %b: memref<2x2x32x4xi8>) {
  // expected-error @+1 {{says that operand #1 is panels, with an extent of 3 along axis 1, and its type is 'memref<2x2x32x4xi8>'}}
  linalg.generic {indexing_maps = [#a, #b], iterator_types = ["parallel", "parallel"]}
      ins(%a : memref<10x40xi8>) outs(%b : memref<2x2x32x4xi8>) attrs = {loopc.packed} {
  ^bb0(%x: i8, %z: i8):
    linalg.yield %x : i8
  }
  return
}
