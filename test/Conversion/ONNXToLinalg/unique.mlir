// RUN: loopc-opt %s --convert-onnx-to-linalg=channels-last=true --canonicalize --cse --split-input-file | FileCheck %s

// Numbers are sorted with the places that they came from: what the next step of a
// merge depends on is one load, not one behind the other.
// CHECK-LABEL: func.func @numbers(
// CHECK: scf.for {{.*}} iter_args(%[[PLACES:[^ ]+]] = %{{[^,]+}}, %[[KEYS:[^ ]+]] = %{{[^,]+}}) -> (tensor<100xindex>, tensor<100xi64>)
// CHECK: scf.for
// CHECK-DAG: %[[X:.*]] = tensor.extract %[[KEYS]][%{{.*}}]
// CHECK-DAG: %[[Y:.*]] = tensor.extract %[[KEYS]][%{{.*}}]
// CHECK: arith.cmpi slt, %[[Y]], %[[X]] : i64
func.func @numbers(%x: tensor<100xi64>) -> tensor<?xi64> {
  %y = onnx.node "Unique"(%x) since 11 : (tensor<100xi64>) -> tensor<?xi64>
  return %y : tensor<?xi64>
}

// -----

// Rows are looked up by their places.
// CHECK-LABEL: func.func @rows(
// CHECK: scf.for {{.*}} iter_args(%{{[^ ,]+}} = %{{[^,]+}}) -> (tensor<100xindex>)
func.func @rows(%x: tensor<100x3xi64>) -> tensor<?x3xi64> {
  %y = onnx.node "Unique"(%x) since 11 {axis = 0 : i64} : (tensor<100x3xi64>) -> tensor<?x3xi64>
  return %y : tensor<?x3xi64>
}
