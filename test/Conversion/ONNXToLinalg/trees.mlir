// RUN: loopc-opt %s -convert-onnx-to-linalg -canonicalize -cse | FileCheck %s

// Two trees: the nodes lie in one table, those that a node leads to side by
// side. A word of 64 bits is the bits of the split (0.25: 0x3E800000) and, from
// the lowest on, whether it is no leaf (1), leads to one that is none (2) and
// NaN goes the way of what is true (4), the feature, and the distance to where
// it leads. Few rows are walked one by one, others in blocks. There are more
// features than nodes.
// CHECK-LABEL: @trees
// CHECK-SAME: (%[[X:[^:]*]]: tensor<?x3xf32>
// CHECK-DAG: %[[NODES:.*]] = arith.constant dense<[4539628424389460001, 4611686018427387904, 4575657221408423936, 4503599627370496049, 4647714815446351872, 4629700416936869888]> : tensor<6xi64>
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
func.func @trees(%x: tensor<?x3xf32>) -> tensor<?x1xf32> {
  %y = onnx.node "ai.onnx.ml"::"TreeEnsembleRegressor"(%x) since 3 {
    n_targets = 1 : i64, nodes_treeids = array<i64: 0, 0, 0, 1, 1, 1>, nodes_nodeids = array<i64: 0, 1, 2, 0, 1, 2>,
    nodes_featureids = array<i64: 0, 0, 0, 2, 0, 0>, nodes_modes = ["BRANCH_LEQ", "LEAF", "LEAF", "BRANCH_LEQ", "LEAF", "LEAF"],
    nodes_values = array<f32: 0.5, 0.0, 0.0, 0.25, 0.0, 0.0>, nodes_truenodeids = array<i64: 1, 0, 0, 1, 0, 0>,
    nodes_falsenodeids = array<i64: 2, 0, 0, 2, 0, 0>, target_treeids = array<i64: 0, 0, 1, 1>,
    target_nodeids = array<i64: 1, 2, 1, 2>, target_ids = array<i64: 0, 0, 0, 0>, target_weights = array<f32: 1.0, 2.0, 3.0, 4.0>
  } : (tensor<?x3xf32>) -> tensor<?x1xf32>
  return %y : tensor<?x1xf32>
}

// Blocks of rows find the leaves of few by masks, without a walk: a number for
// each feature and row of a block, and for each node the bits of the leaves that
// stay where it is not true.
// CHECK-LABEL: @masks
// CHECK-SAME: (%[[X:[^:]*]]: tensor<?x2xf32>
// CHECK-DAG: %[[FIRST:.*]] = arith.constant dense<[0, 2]> : tensor<2xi32>
// CHECK-DAG: %[[SPLITS:.*]] = arith.constant dense<[5.000000e-01, 2.500000e-01]> : tensor<2xf32>
// CHECK-DAG: %[[STAYS:.*]] = arith.constant 2147483647 : i32
// CHECK: scf.for
// CHECK: %[[COLUMNS:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<2x32xf32>)
// CHECK: loop.loop
// CHECK: loop.loop
// CHECK: %[[COLUMN:.*]] = tensor.extract_slice %[[COLUMNS]]
// CHECK: %[[SPLIT:.*]] = tensor.extract %[[SPLITS]]
// CHECK: linalg.generic {{.*}} ins(%[[COLUMN]]
// CHECK: %[[GONE:.*]] = arith.cmpf ugt, %{{.*}}, %[[SPLIT]]
// CHECK: arith.select %[[GONE]], %[[STAYS]]
// CHECK: arith.andi
// CHECK: math.ctlz
// CHECK: arith.addf
// CHECK: } {loopc.parallel}
func.func @masks(%x: tensor<?x2xf32>) -> tensor<?x1xf32> {
  %y = onnx.node "ai.onnx.ml"::"TreeEnsembleRegressor"(%x) since 3 {
    n_targets = 1 : i64, nodes_treeids = array<i64: 0, 0, 0, 1, 1, 1>, nodes_nodeids = array<i64: 0, 1, 2, 0, 1, 2>,
    nodes_featureids = array<i64: 0, 0, 0, 1, 0, 0>, nodes_modes = ["BRANCH_LEQ", "LEAF", "LEAF", "BRANCH_LEQ", "LEAF", "LEAF"],
    nodes_values = array<f32: 0.5, 0.0, 0.0, 0.25, 0.0, 0.0>, nodes_truenodeids = array<i64: 1, 0, 0, 1, 0, 0>,
    nodes_falsenodeids = array<i64: 2, 0, 0, 2, 0, 0>, target_treeids = array<i64: 0, 0, 1, 1>,
    target_nodeids = array<i64: 1, 2, 1, 2>, target_ids = array<i64: 0, 0, 0, 0>, target_weights = array<f32: 1.0, 2.0, 3.0, 4.0>
  } : (tensor<?x2xf32>) -> tensor<?x1xf32>
  return %y : tensor<?x1xf32>
}
