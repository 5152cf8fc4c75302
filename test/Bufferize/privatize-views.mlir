// RUN: loopc-opt %s --buffer-privatize-empty | FileCheck %s

// Two fills of one view of a place: each has a place of its own, so that the
// first one is free behind its last use.

// CHECK-LABEL: func.func @two
// CHECK: %[[A:.*]] = tensor.empty(%{{.*}}) : tensor<?x8x4xf32>
// CHECK: %[[ROWS_A:.*]] = tensor.collapse_shape %[[A]]
// CHECK: linalg.fill {{.*}} outs(%[[ROWS_A]]
// CHECK: %[[B:.*]] = tensor.empty(%{{.*}}) : tensor<?x8x4xf32>
// CHECK: %[[ROWS_B:.*]] = tensor.collapse_shape %[[B]]
// CHECK: linalg.fill {{.*}} outs(%[[ROWS_B]]
func.func @two(%n: index, %x: tensor<?x16xf32>, %w: tensor<16x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %place = tensor.empty(%n) : tensor<?x8x4xf32>
  %rows = tensor.collapse_shape %place [[0, 1], [2]] : tensor<?x8x4xf32> into tensor<?x4xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%rows : tensor<?x4xf32>) -> tensor<?x4xf32>
  %a = linalg.matmul ins(%x, %w : tensor<?x16xf32>, tensor<16x4xf32>) outs(%fill : tensor<?x4xf32>) -> tensor<?x4xf32>
  %b = linalg.matmul ins(%x, %w : tensor<?x16xf32>, tensor<16x4xf32>) outs(%fill : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %a, %b : tensor<?x4xf32>, tensor<?x4xf32>
}
