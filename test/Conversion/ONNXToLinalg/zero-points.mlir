// RUN: loopc-opt %s --convert-onnx-to-linalg=split-zero-points -split-input-file | FileCheck %s
// RUN: loopc-opt %s --convert-onnx-to-linalg -split-input-file | FileCheck %s --check-prefix=FIRST

// 8 bits are multiplied as they are; sums of rows and columns take the zero
// points off. Else they are subtracted first.
// CHECK-LABEL: func.func @product
// CHECK: linalg.generic {{.*}} ins(%arg0, %arg1 : tensor<40x50xi8>, tensor<50x60xi8>)
// CHECK: arith.extui
// CHECK: arith.extsi
// CHECK: arith.muli
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]{{.*}} ins(%arg0 : tensor<40x50xi8>)
// CHECK: linalg.generic {{.*}} ins(%arg1 : tensor<50x60xi8>)
// CHECK: arith.subi
// FIRST-LABEL: func.func @product
// FIRST: arith.subi
// FIRST: arith.subi
// FIRST: arith.muli
func.func @product(%x: tensor<40x50xui8>, %w: tensor<50x60xi8>, %a: tensor<ui8>, %b: tensor<60xi8>) -> tensor<40x60xi32> {
  %y = onnx.node "MatMulInteger"(%x, %w, %a, %b) since 10 : (tensor<40x50xui8>, tensor<50x60xi8>, tensor<ui8>, tensor<60xi8>) -> tensor<40x60xi32>
  return %y : tensor<40x60xi32>
}

// -----

// A zero point that differs along the sum cannot be taken off behind it.
// CHECK-LABEL: func.func @along_sum
// CHECK: arith.subi
// CHECK: arith.muli
func.func @along_sum(%x: tensor<40x50xui8>, %w: tensor<50x60xi8>, %b: tensor<50x60xi8>) -> tensor<40x60xi32> {
  %none = onnx.none
  %y = onnx.node "MatMulInteger"(%x, %w, %none, %b) since 10 : (tensor<40x50xui8>, tensor<50x60xi8>, none, tensor<50x60xi8>) -> tensor<40x60xi32>
  return %y : tensor<40x60xi32>
}

// -----

// Around the image lies its zero point.
// CHECK-LABEL: func.func @convolution
// CHECK: %[[ZERO:.+]] = tensor.extract %arg2
// CHECK: linalg.fill ins(%[[ZERO]] : i8)
// CHECK: arith.muli
// CHECK: arith.subi
func.func @convolution(%x: tensor<1x3x8x8xui8>, %w: tensor<40x3x3x3xui8>, %a: tensor<ui8>) -> tensor<1x40x8x8xi32> {
  %y = onnx.node "ConvInteger"(%x, %w, %a) since 10 {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x3x8x8xui8>, tensor<40x3x3x3xui8>, tensor<ui8>) -> tensor<1x40x8x8xi32>
  return %y : tensor<1x40x8x8xi32>
}
