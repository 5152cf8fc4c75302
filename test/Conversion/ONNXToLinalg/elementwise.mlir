// RUN: loopc-opt %s -split-input-file -convert-onnx-to-linalg -canonicalize -cse | FileCheck %s

// Small floats are computed in f32 and rounded once.
// CHECK-LABEL: func.func @mean_f16
// CHECK: linalg.generic
// CHECK: %[[A:.*]] = arith.extf
// CHECK: %[[B:.*]] = arith.extf
// CHECK: %[[SUM:.*]] = arith.addf %[[A]], %[[B]] : f32
// CHECK: %[[MEAN:.*]] = arith.divf %[[SUM]], {{.*}} : f32
// CHECK: arith.truncf %[[MEAN]] {loopc.may_skip} : f32 to f16
func.func @mean_f16(%a: tensor<4xf16>, %b: tensor<4xf16>) -> tensor<4xf16> {
  %r = onnx.node "Mean"(%a, %b) since 13 : (tensor<4xf16>, tensor<4xf16>) -> tensor<4xf16>
  return %r : tensor<4xf16>
}

// -----

// Shapes are computed in scalars, and folded.
// CHECK-LABEL: func.func @shapes
// CHECK: %[[C:.*]] = arith.constant dense<[2, 6]> : tensor<2xi64>
// CHECK: return %[[C]]
func.func @shapes() -> tensor<2xi64> {
  %a = onnx.constant dense<[7, 20]> : tensor<2xi32>
  %b = onnx.constant dense<3> : tensor<i64>
  %c = onnx.node "Cast"(%a) since 13 {to = 7 : i64} : (tensor<2xi32>) -> tensor<2xi64>
  %r = onnx.node "Div"(%c, %b) since 14 : (tensor<2xi64>, tensor<i64>) -> tensor<2xi64>
  return %r : tensor<2xi64>
}

// -----

// A divisor is held against zero before anything is divided (loop_order), but
// for one that is constant.
// CHECK-LABEL: func.func @division
// CHECK-NOT: loop.check
// CHECK: linalg.generic
// CHECK: arith.divsi
// CHECK: %[[ALL:.*]] = linalg.generic {{.*}} iterator_types = ["reduction", "reduction"]
// CHECK: arith.cmpi ne
// CHECK: %[[OK:.*]] = tensor.extract %[[ALL]]
// CHECK: loop.check %[[OK]], "{{.*}}integer division by zero"
// CHECK: linalg.generic
// CHECK: arith.divsi
func.func @division(%a: tensor<8x8xi32>, %b: tensor<8x8xi32>) -> tensor<8x8xi32> {
  %two = onnx.constant dense<2> : tensor<i32>
  %h = onnx.node "Div"(%a, %two) since 14 : (tensor<8x8xi32>, tensor<i32>) -> tensor<8x8xi32>
  %r = onnx.node "Div"(%h, %b) since 14 : (tensor<8x8xi32>, tensor<8x8xi32>) -> tensor<8x8xi32>
  return %r : tensor<8x8xi32>
}

// -----

// A small constant exponent is a product.
// CHECK-LABEL: func.func @square
// CHECK-NOT: math.powf
// CHECK: arith.mulf %[[X:.*]], %[[X]] : f32
func.func @square(%x: tensor<?xf32>) -> tensor<?xf32> {
  %two = onnx.constant dense<2.0> : tensor<f32>
  %r = onnx.node "Pow"(%x, %two) since 15 : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

// A float that an integer type does not hold is not poison.
// CHECK-LABEL: func.func @cast
// CHECK: %[[ABS:.*]] = math.absf %[[X:.*]] : f32
// CHECK: %[[FITS:.*]] = arith.cmpf olt, %[[ABS]],
// CHECK: %[[SAFE:.*]] = arith.select %[[FITS]], %[[X]],
// CHECK: %[[I:.*]] = arith.fptosi %[[SAFE]] : f32 to i32
// CHECK: %[[R:.*]] = arith.select %[[FITS]], %[[I]],
// CHECK: arith.trunci %[[R]] : i32 to i8
func.func @cast(%x: tensor<9xf32>) -> tensor<9xui8> {
  %r = onnx.node "Cast"(%x) since 13 {to = 2 : i64} : (tensor<9xf32>) -> tensor<9xui8>
  return %r : tensor<9xui8>
}

// -----

// A constant bound that is a number needs a comparison, others a maximum that
// passes NaN on.
// CHECK-LABEL: func.func @clip
// CHECK-SAME: %[[HIGH:[^ ]*]]: tensor<f32>
// CHECK: %[[BOUND:.*]] = tensor.extract %[[HIGH]][]
// CHECK: arith.cmpf olt
// CHECK: %[[LOW:.*]] = arith.select
// CHECK: arith.minimumf %[[LOW]], %[[BOUND]]
func.func @clip(%x: tensor<9xf32>, %high: tensor<f32>) -> tensor<9xf32> {
  %low = onnx.constant dense<0.0> : tensor<f32>
  %r = onnx.node "Clip"(%x, %low, %high) since 13 : (tensor<9xf32>, tensor<f32>, tensor<f32>) -> tensor<9xf32>
  return %r : tensor<9xf32>
}

// -----

// Before version 7 the second operand stands behind `axis`.
// CHECK-LABEL: func.func @old_broadcast
// CHECK: tensor.expand_shape {{.*}} tensor<3xf32> into tensor<3x1xf32>
// CHECK: linalg.generic
// CHECK: arith.subf
func.func @old_broadcast(%a: tensor<2x3x4xf32>, %b: tensor<3xf32>) -> tensor<2x3x4xf32> {
  %r = onnx.node "Sub"(%a, %b) since 6 {axis = 1 : i64, broadcast = 1 : i64} : (tensor<2x3x4xf32>, tensor<3xf32>) -> tensor<2x3x4xf32>
  return %r : tensor<2x3x4xf32>
}
