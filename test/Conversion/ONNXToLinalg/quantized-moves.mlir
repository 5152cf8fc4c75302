// RUN: loopc-opt %s --split-input-file -pass-pipeline='builtin.module(func.func(convert-onnx-to-linalg{channels-last=true},canonicalize,cse))' | FileCheck %s

// Bytes that are dequantized, moved and quantized as they were are moved.
// CHECK-LABEL: func @moved(
// CHECK-NOT: f32
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<2x3x?xi8>)
// CHECK-NOT: f32
// CHECK: return
func.func @moved(%x: tensor<2x?x3xui8>) -> tensor<2x1x3x?xui8> {
  %s = onnx.constant dense<0.05> : tensor<f32>
  %z = onnx.constant dense<128> : tensor<ui8>
  %a = onnx.constant dense<1> : tensor<1xi64>
  %f = onnx.node "DequantizeLinear"(%x, %s, %z) since 13 : (tensor<2x?x3xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x?x3xf32>
  %t = onnx.node "Transpose"(%f) since 13 {perm = array<i64: 0, 2, 1>} : (tensor<2x?x3xf32>) -> tensor<2x3x?xf32>
  %u = onnx.node "Unsqueeze"(%t, %a) since 13 : (tensor<2x3x?xf32>, tensor<1xi64>) -> tensor<2x1x3x?xf32>
  %y = onnx.node "QuantizeLinear"(%u, %s, %z) since 13 : (tensor<2x1x3x?xf32>, tensor<f32>, tensor<ui8>) -> tensor<2x1x3x?xui8>
  return %y : tensor<2x1x3x?xui8>
}

// -----

// Of another scale they are other bytes.
// CHECK-LABEL: func @scaled(
// CHECK: arith.divf
func.func @scaled(%x: tensor<2x5x3xi8>) -> tensor<2x3x5xi8> {
  %s = onnx.constant dense<0.05> : tensor<f32>
  %r = onnx.constant dense<0.06> : tensor<f32>
  %f = onnx.node "DequantizeLinear"(%x, %s) since 13 : (tensor<2x5x3xi8>, tensor<f32>) -> tensor<2x5x3xf32>
  %t = onnx.node "Transpose"(%f) since 13 {perm = array<i64: 0, 2, 1>} : (tensor<2x5x3xf32>) -> tensor<2x3x5xf32>
  %z = onnx.constant dense<0> : tensor<i8>
  %y = onnx.node "QuantizeLinear"(%t, %r, %z) since 13 : (tensor<2x3x5xf32>, tensor<f32>, tensor<i8>) -> tensor<2x3x5xi8>
  return %y : tensor<2x3x5xi8>
}

// -----

// The largest number has the largest byte.
// CHECK-LABEL: func @largest(
// CHECK-NOT: f32
// CHECK: arith.maxsi {{.*}} : i8
// CHECK: return
func.func @largest(%x: tensor<1x2x8x8xi8>) -> tensor<1x2x4x4xi8> {
  %s = onnx.constant dense<0.05> : tensor<f32>
  %z = onnx.constant dense<3> : tensor<i8>
  %f = onnx.node "DequantizeLinear"(%x, %s, %z) since 13 : (tensor<1x2x8x8xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x8x8xf32>
  %t = onnx.node "MaxPool"(%f) since 12 {kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x2x8x8xf32>) -> tensor<1x2x4x4xf32>
  %y = onnx.node "QuantizeLinear"(%t, %s, %z) since 13 : (tensor<1x2x4x4xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2x4x4xi8>
  return %y : tensor<1x2x4x4xi8>
}
