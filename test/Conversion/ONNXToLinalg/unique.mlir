// RUN: loopc-opt %s --convert-onnx-to-linalg=channels-last=true --canonicalize --cse --split-input-file | FileCheck %s

// Numbers are sorted by digits, of bits that differ between them: where a number
// goes waits for no comparison.
// CHECK-LABEL: func.func @numbers(
// CHECK: %[[VARYING:.*]]:2 = scf.for {{.*}} -> (i64, i64)
// CHECK-DAG: arith.ori
// CHECK-DAG: arith.andi
// CHECK: scf.for {{.*}} iter_args(%[[KEYS:[^ ]+]] = %{{[^,]+}}, %[[PLACES:[^ ]+]] = %{{[^,]+}}, %[[BITS:[^ ]+]] = %{{[^,]+}}) -> (tensor<100xi64>, tensor<100xindex>, i64)
// CHECK: math.cttz %[[BITS]]
// CHECK: scf.for {{.*}} -> (tensor<256xindex>) {
// CHECK: tensor.extract %[[KEYS]]
// CHECK: scf.for {{.*}} -> (tensor<256xindex>, index) {
// CHECK: scf.for {{.*}} -> (tensor<100xi64>, tensor<100xindex>, tensor<256xindex>) {
// CHECK-NOT: arith.cmpi
// CHECK: scf.yield {{.*}} : tensor<100xi64>, tensor<100xindex>, i64
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
