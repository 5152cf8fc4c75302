// RUN: loopc-opt %s --tensor-fuse-elementwise | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>

// Transposes are fused like others, but for those that are stored.
// CHECK-LABEL: func @transposed(
// CHECK-NOT: linalg.transpose
// CHECK: linalg.generic
// CHECK: math.exp
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @transposed(%x: tensor<3x4xf32>, %e: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %t = linalg.transpose ins(%x : tensor<3x4xf32>) outs(%e : tensor<4x3xf32>) permutation = [1, 0]
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%t : tensor<4x3xf32>) outs(%e : tensor<4x3xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = math.exp %a : f32
    linalg.yield %b : f32
  } -> tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}

// CHECK-LABEL: func @stored(
// CHECK: %[[T:.*]] = linalg.transpose {{.*}} permutation = [1, 0] {loopc.stored}
// CHECK: linalg.generic {{.*}} ins(%[[T]]
func.func @stored(%x: tensor<3x4xf32>, %e: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %t = linalg.transpose ins(%x : tensor<3x4xf32>) outs(%e : tensor<4x3xf32>) permutation = [1, 0] {loopc.stored}
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%t : tensor<4x3xf32>) outs(%e : tensor<4x3xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = math.exp %a : f32
    linalg.yield %b : f32
  } -> tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}

// Into a product if that is computed in vectors as before, or as little: along
// the sum, not along the columns of its result.
// CHECK-LABEL: func @transposed_weights(
// CHECK: linalg.generic
// CHECK-NOT: linalg.generic
// CHECK: return
#x = affine_map<(m, k, n) -> (m, k)>
#w = affine_map<(m, k, n) -> (k, n)>
#y = affine_map<(m, k, n) -> (m, n)>
func.func @transposed_weights(%x: tensor<8x64xf32>, %w: tensor<32x64xf32>, %e: tensor<64x32xf32>, %y: tensor<8x32xf32>) -> tensor<8x32xf32> {
  %t = linalg.transpose ins(%w : tensor<32x64xf32>) outs(%e : tensor<64x32xf32>) permutation = [1, 0]
  %r = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %t : tensor<8x64xf32>, tensor<64x32xf32>) outs(%y : tensor<8x32xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %q = arith.addf %s, %p fastmath<reassoc> : f32
    linalg.yield %q : f32
  } -> tensor<8x32xf32>
  return %r : tensor<8x32xf32>
}

// The window of an image whose channels come last: along the row, in which
// vectors run, its elements would be apart, and the weights along the channels.
// CHECK-LABEL: func @image(
// CHECK: %[[T:.*]] = linalg.generic
// CHECK: linalg.generic {{.*}} ins(%[[T]],
#window = affine_map<(n, o, h, c, y, x, w) -> (n, c, h + y, w + x)>
#kernel = affine_map<(n, o, h, c, y, x, w) -> (o, c, y, x)>
#result = affine_map<(n, o, h, c, y, x, w) -> (n, o, h, w)>
func.func @image(%x: tensor<1x40x40x32xf32>, %w: tensor<8x32x5x5xf32>, %e: tensor<1x32x40x40xf32>, %y: tensor<1x8x36x36xf32>) -> tensor<1x8x36x36xf32> {
  %t = linalg.transpose ins(%x : tensor<1x40x40x32xf32>) outs(%e : tensor<1x32x40x40xf32>) permutation = [0, 3, 1, 2]
  %r = linalg.generic {indexing_maps = [#window, #kernel, #result], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "parallel"]}
      ins(%t, %w : tensor<1x32x40x40xf32>, tensor<8x32x5x5xf32>) outs(%y : tensor<1x8x36x36xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %q = arith.addf %s, %p fastmath<reassoc> : f32
    linalg.yield %q : f32
  } -> tensor<1x8x36x36xf32>
  return %r : tensor<1x8x36x36xf32>
}

// A kernel of one element is a product along the channels, which both have
// side by side.
// CHECK-LABEL: func @point(
// CHECK: linalg.generic
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @point(%x: tensor<1x?x?x32xf32>, %w: tensor<1x32x1x1xf32>, %e: tensor<1x32x?x?xf32>, %y: tensor<1x1x?x?xf32>) -> tensor<1x1x?x?xf32> {
  %t = linalg.transpose ins(%x : tensor<1x?x?x32xf32>) outs(%e : tensor<1x32x?x?xf32>) permutation = [0, 3, 1, 2]
  %r = linalg.generic {indexing_maps = [#window, #kernel, #result], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "parallel"]}
      ins(%t, %w : tensor<1x32x?x?xf32>, tensor<1x32x1x1xf32>) outs(%y : tensor<1x1x?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %q = arith.addf %s, %p fastmath<reassoc> : f32
    linalg.yield %q : f32
  } -> tensor<1x1x?x?xf32>
  return %r : tensor<1x1x?x?xf32>
}

// What is computed of an image is computed once, not for each element of the
// kernel that reads it.
// CHECK-LABEL: func @scaled(
// CHECK: arith.uitofp
// CHECK: linalg.yield
// CHECK: linalg.generic
// CHECK-NOT: arith.uitofp
// CHECK: return
#id4 = affine_map<(n, c, h, w) -> (n, c, h, w)>
func.func @scaled(%x: tensor<1x3x40x40xi8>, %w: tensor<8x3x5x5xf32>, %e: tensor<1x3x40x40xf32>, %y: tensor<1x8x36x36xf32>) -> tensor<1x8x36x36xf32> {
  %t = linalg.generic {indexing_maps = [#id4, #id4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x : tensor<1x3x40x40xi8>) outs(%e : tensor<1x3x40x40xf32>) {
  ^bb0(%a: i8, %o: f32):
    %b = arith.uitofp %a : i8 to f32
    linalg.yield %b : f32
  } -> tensor<1x3x40x40xf32>
  %r = linalg.generic {indexing_maps = [#window, #kernel, #result], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "parallel"]}
      ins(%t, %w : tensor<1x3x40x40xf32>, tensor<8x3x5x5xf32>) outs(%y : tensor<1x8x36x36xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %q = arith.addf %s, %p fastmath<reassoc> : f32
    linalg.yield %q : f32
  } -> tensor<1x8x36x36xf32>
  return %r : tensor<1x8x36x36xf32>
}
