// Keys that heads share are not copied for each: the axis of heads becomes two.

// RUN: loopc-opt %s --split-input-file --tensor-expand-repeats --canonicalize --tensor-fuse-elementwise | FileCheck %s

#in = affine_map<(d0, d1, d2, d3) -> (d0, 0, d2, d3)>
#id4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#swap = affine_map<(d0, d1, d2) -> (d0, d2, d1)>
#id3 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#q = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#k = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>
#y = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>

// CHECK: #[[Q:.+]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>
// CHECK: #[[K:.+]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d4, d3)>
// CHECK-LABEL: @transposed
// CHECK-SAME: (%[[QUERY:.+]]: tensor<32x?x64xf32>, %[[KEY:.+]]: tensor<4x?x64xf32>
// CHECK: %[[HEADS:.+]] = tensor.expand_shape %[[QUERY]] {{\[\[}}0, 1], [2], [3]]
// CHECK: linalg.generic {indexing_maps = [#[[Q]], #[[K]], #{{.+}}]
// CHECK-SAME: ins(%[[HEADS]], %[[KEY]] : tensor<4x8x?x64xf32>, tensor<4x?x64xf32>)
// CHECK-NOT: linalg.generic
// CHECK: tensor.collapse_shape %{{.+}} {{\[\[}}0, 1], [2], [3]]
func.func @transposed(%query: tensor<32x?x64xf32>, %key: tensor<4x?x64xf32>, %s: index, %t: index) -> tensor<32x?x?xf32> {
  %zero = arith.constant 0.0 : f32
  %one = tensor.expand_shape %key [[0, 1], [2], [3]] output_shape [4, 1, %t, 64] : tensor<4x?x64xf32> into tensor<4x1x?x64xf32>
  %e0 = tensor.empty(%t) : tensor<4x8x?x64xf32>
  %r = linalg.generic {indexing_maps = [#in, #id4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%one : tensor<4x1x?x64xf32>) outs(%e0 : tensor<4x8x?x64xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  } -> tensor<4x8x?x64xf32>
  %c = tensor.collapse_shape %r [[0, 1], [2], [3]] : tensor<4x8x?x64xf32> into tensor<32x?x64xf32>
  %e1 = tensor.empty(%t) : tensor<32x64x?xf32>
  %w = linalg.generic {indexing_maps = [#swap, #id3], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%c : tensor<32x?x64xf32>) outs(%e1 : tensor<32x64x?xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  } -> tensor<32x64x?xf32>
  %e2 = tensor.empty(%s, %t) : tensor<32x?x?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e2 : tensor<32x?x?xf32>) -> tensor<32x?x?xf32>
  %y = linalg.generic {indexing_maps = [#q, #k, #y], iterator_types = ["parallel", "parallel", "reduction", "parallel"]}
      ins(%query, %w : tensor<32x?x64xf32>, tensor<32x64x?xf32>) outs(%f : tensor<32x?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %n = arith.addf %o, %p fastmath<reassoc> : f32
    linalg.yield %n : f32
  } -> tensor<32x?x?xf32>
  return %y : tensor<32x?x?xf32>
}

// -----

// Rows that are repeated are no batch: a product reads them as columns.

#in = affine_map<(d0, d1, d2) -> (d0, 0, d2)>
#id3 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#q = affine_map<(d0, d1, d2) -> (d0, d2)>
#k = affine_map<(d0, d1, d2) -> (d1, d2)>
#y = affine_map<(d0, d1, d2) -> (d0, d1)>

// CHECK-LABEL: @columns
// CHECK: linalg.generic {{.*}} outs(%{{.+}} : tensor<4x8x64xf32>)
// CHECK: tensor.collapse_shape
// CHECK: linalg.generic {{.*}} ins(%{{.+}}, %{{.+}} : tensor<?x64xf32>, tensor<32x64xf32>)
func.func @columns(%query: tensor<?x64xf32>, %key: tensor<4x1x64xf32>, %sums: tensor<?x32xf32>) -> tensor<?x32xf32> {
  %e0 = tensor.empty() : tensor<4x8x64xf32>
  %r = linalg.generic {indexing_maps = [#in, #id3], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%key : tensor<4x1x64xf32>) outs(%e0 : tensor<4x8x64xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  } -> tensor<4x8x64xf32>
  %c = tensor.collapse_shape %r [[0, 1], [2]] : tensor<4x8x64xf32> into tensor<32x64xf32>
  %y = linalg.generic {indexing_maps = [#q, #k, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%query, %c : tensor<?x64xf32>, tensor<32x64xf32>) outs(%sums : tensor<?x32xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %n = arith.addf %o, %p fastmath<reassoc> : f32
    linalg.yield %n : f32
  } -> tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}

// -----

// By way of one axis: extents that are equal are seen to be.

// CHECK-LABEL: @by_one_axis
// CHECK-SAME: (%[[X:.+]]: tensor<4x1x?x64xf32>, %[[T:.+]]: index
// CHECK: %[[R:.+]] = linalg.generic
// CHECK: tensor.collapse_shape %[[R]] {{\[\[}}0, 1], [2], [3]] : tensor<4x8x?x64xf32> into tensor<32x?x64xf32>
#in = affine_map<(d0, d1, d2, d3) -> (d0, 0, d2, d3)>
#id4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
func.func @by_one_axis(%x: tensor<4x1x?x64xf32>, %t: index) -> tensor<32x?x64xf32> {
  %e0 = tensor.empty(%t) : tensor<4x8x?x64xf32>
  %r = linalg.generic {indexing_maps = [#in, #id4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x : tensor<4x1x?x64xf32>) outs(%e0 : tensor<4x8x?x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<4x8x?x64xf32>
  %c = tensor.collapse_shape %r [[0, 1, 2, 3]] : tensor<4x8x?x64xf32> into tensor<?xf32>
  %y = tensor.expand_shape %c [[0, 1, 2]] output_shape [32, %t, 64] : tensor<?xf32> into tensor<32x?x64xf32>
  return %y : tensor<32x?x64xf32>
}
