// RUN: loopc-opt %s --loop-fuse-elementwise | FileCheck %s

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
