// RUN: loopc-opt %s --convert-onnx-to-linalg --split-input-file | FileCheck %s

// A string is an address and a number of bytes; the texts of a constant stand
// one behind the other.
// CHECK-LABEL: func @constant(
// CHECK-SAME: tensor<?x!rt.string> {loopc.type = tensor<?x!onnx.string>}
func.func @constant(%x: tensor<?x!onnx.string>) -> tensor<?xi1> {
  // CHECK-DAG: %[[TEXTS:.*]] = arith.constant dense<[97, 98, 99]> : tensor<3xi8>
  // CHECK-DAG: arith.constant dense<[0, 1]> : tensor<2xi64>
  // CHECK-DAG: arith.constant dense<[1, 2]> : tensor<2xi64>
  // CHECK-DAG: rt.address_of %[[TEXTS]]
  // CHECK: rt.call "loopc_rt_string_compare"
  %c = onnx.constant dense<["a", "bc"]> : tensor<2x!onnx.string>
  %y = onnx.node "Equal"(%x, %c) since 19 : (tensor<?x!onnx.string>, tensor<2x!onnx.string>) -> tensor<?xi1>
  return %y : tensor<?xi1>
}

// -----

// CHECK-LABEL: func @to_number(
func.func @to_number(%x: tensor<2x!onnx.string>) -> tensor<2xf32> {
  // CHECK: linalg.generic
  // CHECK: rt.call "loopc_rt_string_to_float"(%{{.*}}) where "{{.*}}" : (!rt.string) -> f64
  // CHECK: arith.truncf
  %y = onnx.node "Cast"(%x) since 19 {to = 1 : i64} : (tensor<2x!onnx.string>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}
