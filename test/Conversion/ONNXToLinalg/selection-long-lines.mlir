// RUN: loopc-opt %s --loopc-set-target=chip=sm_80 --convert-onnx-to-linalg | FileCheck %s

// The last of 2 to the 32nd elements has a number that no key of 64 bits has
// room for beside the value: the value is the key.
// CHECK-LABEL: func.func @too_long
// CHECK: arith.extf %{{.*}} : f32 to f64
// CHECK: arith.bitcast %{{.*}} : f64 to i64
// CHECK-NOT: arith.shli
// CHECK: return
func.func @too_long(%x: tensor<4294967296xf32>) -> (tensor<2xf32>, tensor<2xi64>) {
  %k = arith.constant dense<2> : tensor<1xi64>
  %v, %i = onnx.node "TopK"(%x, %k) since 11 : (tensor<4294967296xf32>, tensor<1xi64>) -> (tensor<2xf32>, tensor<2xi64>)
  return %v, %i : tensor<2xf32>, tensor<2xi64>
}

// One element less has room.
// CHECK-LABEL: func.func @long
// CHECK: arith.bitcast %{{.*}} : f32 to i32
// CHECK: arith.shli
func.func @long(%x: tensor<4294967295xf32>) -> (tensor<2xf32>, tensor<2xi64>) {
  %k = arith.constant dense<2> : tensor<1xi64>
  %v, %i = onnx.node "TopK"(%x, %k) since 11 : (tensor<4294967295xf32>, tensor<1xi64>) -> (tensor<2xf32>, tensor<2xi64>)
  return %v, %i : tensor<2xf32>, tensor<2xi64>
}
