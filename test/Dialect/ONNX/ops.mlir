// RUN: loopc-opt %s | loopc-opt | FileCheck %s
// RUN: loopc-opt %s --mlir-print-op-generic | loopc-opt | FileCheck %s

// CHECK-LABEL: func.func @node
func.func @node(%x: tensor<2x?xf32>) -> tensor<2x?xf32> {
  // CHECK: onnx.node "Softmax"(%{{.*}}) since 13 {axis = 1 : i64} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  %y = onnx.node "Softmax"(%x) since 13 {axis = 1 : i64} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  return %y : tensor<2x?xf32>
}

// CHECK-LABEL: func.func @domains
func.func @domains(%x: tensor<2xf32>) -> tensor<2xf32> {
  // CHECK: onnx.node "ai.onnx.ml"::"Binarizer"(%{{.*}}) since 1 {threshold = 5.000000e-01 : f32}
  %y = onnx.node "ai.onnx.ml"::"Binarizer"(%x) since 1 {threshold = 0.5 : f32} : (tensor<2xf32>) -> tensor<2xf32>
  // A domain without schemas: taken as it is.
  // CHECK: onnx.node "my.domain"::"Any"(%{{.*}}) since 7 {what = "ever"}
  %z = onnx.node "my.domain"::"Any"(%y) since 7 {what = "ever"} : (tensor<2xf32>) -> tensor<2xf32>
  return %z : tensor<2xf32>
}

// CHECK-LABEL: func.func @left_out
func.func @left_out(%x: tensor<4xf32>, %max: tensor<f32>) -> tensor<2xf32> {
  // CHECK: %[[NONE:.*]] = onnx.none
  %none = onnx.none
  // CHECK: onnx.node "Clip"(%{{.*}}, %[[NONE]], %{{.*}}) since 13 : (tensor<4xf32>, none, tensor<f32>)
  %y = onnx.node "Clip"(%x, %none, %max) since 13 : (tensor<4xf32>, none, tensor<f32>) -> tensor<4xf32>
  %k = onnx.constant dense<2> : tensor<1xi64>
  // CHECK: onnx.node "TopK"(%{{.*}}, %{{.*}}) since 11 : (tensor<4xf32>, tensor<1xi64>) -> (tensor<2xf32>, none)
  %v, %i = onnx.node "TopK"(%y, %k) since 11 : (tensor<4xf32>, tensor<1xi64>) -> (tensor<2xf32>, none)
  return %v : tensor<2xf32>
}

// Every kind of attribute.
// CHECK-LABEL: func.func @attributes
func.func @attributes(%x: tensor<3x!onnx.string>, %y: tensor<1xi64>, %z: tensor<2x3xf32>) {
  // CHECK: {case_change_action = "LOWER", is_case_sensitive = 0 : i64, stopwords = ["a", "b"]}
  %0 = onnx.node "StringNormalizer"(%x) since 10 {case_change_action = "LOWER", is_case_sensitive = 0 : i64, stopwords = ["a", "b"]} : (tensor<3x!onnx.string>) -> tensor<?x!onnx.string>
  // CHECK: {value = dense<7> : tensor<1xi32>}
  %1 = onnx.node "ConstantOfShape"(%y) since 9 {value = dense<7> : tensor<1xi32>} : (tensor<1xi64>) -> tensor<?xi32>
  // CHECK: {perm = array<i64: 1, 0>}
  %2 = onnx.node "Transpose"(%z) since 13 {perm = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  // CHECK: {imputed_value_floats = array<f32: 1.000000e+00>, replaced_value_float = 0.000000e+00 : f32}
  %3 = onnx.node "ai.onnx.ml"::"Imputer"(%z) since 1 {replaced_value_float = 0.0 : f32, imputed_value_floats = array<f32: 1.0>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: {type = tensor<2xf32>}
  %4 = onnx.node "Optional"() since 15 {type = tensor<2xf32>} : () -> !onnx.optional<tensor<2xf32>>
  return
}

// CHECK-LABEL: func.func @constants
func.func @constants() -> tensor<2x!onnx.string> {
  // CHECK: onnx.constant dense<[-8, 7]> : tensor<2xi4>
  %0 = onnx.constant dense<[-8, 7]> : tensor<2xi4>
  // CHECK: onnx.constant dense<255> : tensor<ui8>
  %1 = onnx.constant dense<255> : tensor<ui8>
  // CHECK: onnx.constant dense<(1.000000e+00,2.000000e+00)> : tensor<complex<f32>>
  %2 = onnx.constant dense<(1.0, 2.0)> : tensor<complex<f32>>
  // CHECK: onnx.constant dense<["a", "b"]> : tensor<2x!onnx.string>
  %3 = onnx.constant dense<["a", "b"]> : tensor<2x!onnx.string>
  return %3 : tensor<2x!onnx.string>
}

// CHECK-LABEL: func.func @collections
// CHECK-SAME: !onnx.seq<tensor<2xf32>>, %{{.*}}: !onnx.optional<!onnx.seq<tensor<*xi64>>>
func.func @collections(%s: !onnx.seq<tensor<2xf32>>, %o: !onnx.optional<!onnx.seq<tensor<*xi64>>>) -> !onnx.seq<tensor<?xf32>> {
  // CHECK: onnx.cast %{{.*}} : !onnx.seq<tensor<2xf32>> to !onnx.seq<tensor<?xf32>>
  %t = onnx.cast %s : !onnx.seq<tensor<2xf32>> to !onnx.seq<tensor<?xf32>>
  // CHECK: onnx.node "OptionalGetElement"
  %e = onnx.node "OptionalGetElement"(%o) since 18 : (!onnx.optional<!onnx.seq<tensor<*xi64>>>) -> !onnx.seq<tensor<*xi64>>
  return %t : !onnx.seq<tensor<?xf32>>
}
