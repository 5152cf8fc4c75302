// RUN: loopc-opt %s -convert-onnx-to-linalg -canonicalize -cse | FileCheck %s

// Few rows, walked row by row. Four trees, nodes that lead to a leaf and to the
// next node: most walks are short and the longest is not, and one tree is
// walked after the other. Which way a walk goes is a branch.
// CHECK-LABEL: @uneven
// CHECK: scf.for
// CHECK: scf.while
// CHECK: %[[LESS:.*]] = arith.cmpf ole
// CHECK: %[[LIKELY:.*]] = llvm.intr.expect %[[LESS]]
// CHECK: scf.if %[[LIKELY]]
// CHECK: arith.cmpf uno
// CHECK: arith.addf
func.func @uneven(%x: tensor<2x1xf32>) -> tensor<2x1xf32> {
  %y = onnx.node "ai.onnx.ml"::"TreeEnsemble"(%x) since 5 {
    n_targets = 1 : i64, tree_roots = array<i64: 0, 0, 0, 0>,
    nodes_featureids = array<i64: 0, 0, 0, 0, 0, 0, 0, 0, 0>,
    nodes_modes = dense<0> : tensor<9xui8>,
    nodes_splits = dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tensor<9xf32>,
    nodes_truenodeids = array<i64: 0, 1, 2, 3, 4, 5, 6, 7, 8>, nodes_trueleafs = array<i64: 1, 1, 1, 1, 1, 1, 1, 1, 1>,
    nodes_falsenodeids = array<i64: 1, 2, 3, 4, 5, 6, 7, 8, 9>, nodes_falseleafs = array<i64: 0, 0, 0, 0, 0, 0, 0, 0, 1>,
    leaf_targetids = array<i64: 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>,
    leaf_weights = dense<[0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5]> : tensor<10xf32>
  } : (tensor<2x1xf32>) -> tensor<2x1xf32>
  return %y : tensor<2x1xf32>
}

// Eight rows go through each of them at once: of as many branches more would be
// predicted wrongly than the steps of the longest walk take. (There are more
// features than nodes, so that leaves are not found by masks.)
// CHECK-LABEL: @uneven_block
// CHECK-NOT: scf.while
// CHECK: iterator_types = ["reduction"]
// CHECK-NOT: scf.while
func.func @uneven_block(%x: tensor<8x10xf32>) -> tensor<8x1xf32> {
  %y = onnx.node "ai.onnx.ml"::"TreeEnsemble"(%x) since 5 {
    n_targets = 1 : i64, tree_roots = array<i64: 0>,
    nodes_featureids = array<i64: 0, 0, 0, 0, 0, 0, 0, 0, 9>,
    nodes_modes = dense<0> : tensor<9xui8>,
    nodes_splits = dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tensor<9xf32>,
    nodes_truenodeids = array<i64: 0, 1, 2, 3, 4, 5, 6, 7, 8>, nodes_trueleafs = array<i64: 1, 1, 1, 1, 1, 1, 1, 1, 1>,
    nodes_falsenodeids = array<i64: 1, 2, 3, 4, 5, 6, 7, 8, 9>, nodes_falseleafs = array<i64: 0, 0, 0, 0, 0, 0, 0, 0, 1>,
    leaf_targetids = array<i64: 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>,
    leaf_weights = dense<[0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5]> : tensor<10xf32>
  } : (tensor<8x10xf32>) -> tensor<8x1xf32>
  return %y : tensor<8x1xf32>
}

// All walks are of one length: the trees are walked at once, a level each time.
// CHECK-LABEL: @even
// CHECK-NOT: scf.while
// CHECK: iterator_types = ["reduction"]
// CHECK: arith.cmpf ole
func.func @even(%x: tensor<2x1xf32>) -> tensor<2x1xf32> {
  %y = onnx.node "ai.onnx.ml"::"TreeEnsemble"(%x) since 5 {
    n_targets = 1 : i64, tree_roots = array<i64: 0, 0, 0, 0>,
    nodes_featureids = array<i64: 0>, nodes_modes = dense<0> : tensor<1xui8>,
    nodes_splits = dense<0.5> : tensor<1xf32>,
    nodes_truenodeids = array<i64: 0>, nodes_trueleafs = array<i64: 1>,
    nodes_falsenodeids = array<i64: 1>, nodes_falseleafs = array<i64: 1>,
    leaf_targetids = array<i64: 0, 0>, leaf_weights = dense<[1.0, 2.0]> : tensor<2xf32>
  } : (tensor<2x1xf32>) -> tensor<2x1xf32>
  return %y : tensor<2x1xf32>
}
