// RUN: loopc-opt %s -split-input-file -canonicalize | FileCheck %s

// CHECK-LABEL: func.func @cast_back
// CHECK-SAME: %[[S:.*]]: !onnx.seq<tensor<2xf32>>
// CHECK-NEXT: return %[[S]]
func.func @cast_back(%s: !onnx.seq<tensor<2xf32>>) -> !onnx.seq<tensor<2xf32>> {
  %t = onnx.cast %s : !onnx.seq<tensor<2xf32>> to !onnx.seq<tensor<*xf32>>
  %u = onnx.cast %t : !onnx.seq<tensor<*xf32>> to !onnx.seq<tensor<2xf32>>
  return %u : !onnx.seq<tensor<2xf32>>
}

// -----

// Two draws are two draws.
// CHECK-LABEL: func.func @random
// CHECK-COUNT-2: onnx.node "RandomUniform"
func.func @random() -> (tensor<2xf32>, tensor<2xf32>) {
  %a = onnx.node "RandomUniform"() since 1 {shape = array<i64: 2>} : () -> tensor<2xf32>
  %b = onnx.node "RandomUniform"() since 1 {shape = array<i64: 2>} : () -> tensor<2xf32>
  return %a, %b : tensor<2xf32>, tensor<2xf32>
}

// -----

// CHECK-LABEL: func.func @dead
// CHECK-NEXT: return
func.func @dead(%x: tensor<2xf32>) {
  %a = onnx.node "Abs"(%x) since 13 : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

// Texts are no numbers: folds of MLIR do not take them for such.
// CHECK-LABEL: func.func @texts
// CHECK-NEXT: %[[C:.*]] = onnx.constant dense<"bc"> : tensor<!onnx.string>
// CHECK-NEXT: tensor.expand_shape %[[C]]
func.func @texts() -> tensor<1x!onnx.string> {
  %c = onnx.constant dense<"bc"> : tensor<!onnx.string>
  %e = tensor.expand_shape %c [] output_shape [1] : tensor<!onnx.string> into tensor<1x!onnx.string>
  return %e : tensor<1x!onnx.string>
}
