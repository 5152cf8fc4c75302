// RUN: loopc-opt %s -convert-onnx-to-linalg -canonicalize -cse | FileCheck %s

// Two trees: the nodes lie in one table, those that a node leads to side by
// side. A word of 64 bits is the bits of the split (0.25: 0x3E800000) and, from
// the lowest on, whether it is no leaf (1), leads to one that is none (2) and
// NaN goes the way of what is true (4), the feature, and the distance to where
// it leads. Few rows are walked one by one, others in blocks of 64.
// CHECK-LABEL: @trees
// CHECK-SAME: (%[[X:[^:]*]]: tensor<?x2xf32>
// CHECK-DAG: %[[NODES:.*]] = arith.constant dense<[4539628424389459985, 4611686018427387904, 4575657221408423936, 4503599627370496025, 4647714815446351872, 4629700416936869888]> : tensor<6xi64>
// CHECK-DAG: %[[FLAT:.*]] = tensor.collapse_shape %[[X]]
// CHECK: scf.for
// CHECK: loop.loop
// CHECK: loop.loop
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = ["reduction"]
// CHECK: tensor.extract %[[NODES]]
// CHECK: tensor.extract %[[FLAT]]
// CHECK: arith.cmpf ole
// CHECK: loop.yield
// CHECK: linalg.generic
// CHECK: arith.addf
// CHECK: } {loopc.parallel}
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
