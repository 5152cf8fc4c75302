// RUN: loopc-opt %s -convert-onnx-to-linalg -canonicalize -cse | FileCheck %s

// Two trees: the nodes lie in tables; loops over the rows and the trees walk
// from a root to a leaf, and add what the leaf contributes.
// CHECK-LABEL: @trees
// CHECK-SAME: (%[[X:[^:]*]]: tensor<?x2xf32>
// CHECK-DAG: arith.constant dense<[0, 7, 7, 0, 7, 7]> : tensor<6xi32>
// CHECK-DAG: arith.constant dense<[1, 0, 0, 4, 0, 0]> : tensor<6xi32>
// CHECK-DAG: arith.constant dense<[0, 3]> : tensor<2xi32>
// CHECK: scf.for
// CHECK: scf.for
// CHECK: scf.while
// CHECK: scf.condition
// CHECK: tensor.extract %[[X]]
// CHECK: arith.cmpf ole
// CHECK: scf.for
// CHECK: tensor.insert
func.func @trees(%x: tensor<?x2xf32>) -> tensor<?x1xf32> {
  %y = onnx.node "ai.onnx.ml"::"TreeEnsembleRegressor"(%x) since 3 {
    n_targets = 1 : i64, nodes_treeids = array<i64: 0, 0, 0, 1, 1, 1>, nodes_nodeids = array<i64: 0, 1, 2, 0, 1, 2>,
    nodes_featureids = array<i64: 0, 0, 0, 1, 0, 0>, nodes_modes = ["BRANCH_LEQ", "LEAF", "LEAF", "BRANCH_LEQ", "LEAF", "LEAF"],
    nodes_values = array<f32: 0.5, 0.0, 0.0, 0.25, 0.0, 0.0>, nodes_truenodeids = array<i64: 1, 0, 0, 1, 0, 0>,
    nodes_falsenodeids = array<i64: 2, 0, 0, 2, 0, 0>, target_treeids = array<i64: 0, 0, 1, 1>,
    target_nodeids = array<i64: 1, 2, 1, 2>, target_ids = array<i64: 0, 0, 0, 0>, target_weights = array<f32: 1.0, 2.0, 3.0, 4.0>
  } : (tensor<?x2xf32>) -> tensor<?x1xf32>
  return %y : tensor<?x1xf32>
}
