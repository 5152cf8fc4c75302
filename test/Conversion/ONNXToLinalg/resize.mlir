// RUN: loopc-opt %s -split-input-file -convert-onnx-to-linalg -canonicalize -cse | FileCheck %s

// Places and weights are tables; each element is made of two, one after the
// other along each axis, without a loop over those.
// CHECK-LABEL: @linear
// CHECK-NOT: "reduction"
// CHECK: tensor.extract %{{.*}} : tensor<8x2xi64>
// CHECK: tensor.extract %{{.*}} : tensor<1x2x4x4xf32>
// CHECK: tensor.extract %{{.*}} : tensor<8x2xi64>
// CHECK: tensor.extract %{{.*}} : tensor<1x2x4x4xf32>
// CHECK-NOT: "reduction"
// CHECK: return
func.func @linear(%x: tensor<1x2x4x4xf32>) -> tensor<1x2x8x8xf32> {
  %none = onnx.none
  %s = arith.constant dense<[1.0, 1.0, 2.0, 2.0]> : tensor<4xf32>
  %r = onnx.node "Resize"(%x, %none, %s) since 13 {mode = "linear"} : (tensor<1x2x4x4xf32>, none, tensor<4xf32>) -> tensor<1x2x8x8xf32>
  return %r : tensor<1x2x8x8xf32>
}

// -----

// An element is looked up: nothing is rounded for each.
// CHECK-LABEL: @nearest
// CHECK: math.ceil
// CHECK-NOT: math.ceil %{{.*}} : f64
// CHECK: tensor.extract %{{.*}} : tensor<8xi64>
// CHECK: return
func.func @nearest(%x: tensor<1x2x4x4xf32>) -> tensor<1x2x8x4xf32> {
  %none = onnx.none
  %s = arith.constant dense<[1.0, 1.0, 2.0, 1.0]> : tensor<4xf32>
  %r = onnx.node "Resize"(%x, %none, %s) since 13 : (tensor<1x2x4x4xf32>, none, tensor<4xf32>) -> tensor<1x2x8x4xf32>
  return %r : tensor<1x2x8x4xf32>
}
