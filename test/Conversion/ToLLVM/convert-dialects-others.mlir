// RUN: loopc-opt %s --convert-dialects-to-llvm | FileCheck %s

// What is of no dialect that is converted stays, even where it folds to a
// constant.
// CHECK: @kept(
// CHECK: tensor.collapse_shape
func.func @kept() -> tensor<4xi32> {
  %c = arith.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %r = tensor.collapse_shape %c [[0, 1]] : tensor<2x2xi32> into tensor<4xi32>
  return %r : tensor<4xi32>
}
