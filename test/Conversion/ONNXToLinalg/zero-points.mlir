// RUN: loopc-opt %s --loopc-set-target=chip=sm_80 --convert-onnx-to-linalg -split-input-file | FileCheck %s
// RUN: loopc-opt %s --convert-onnx-to-linalg -split-input-file | FileCheck %s --check-prefix=FIRST
// RUN: loopc-opt %s --loopc-set-target=dot-bits=8 --convert-onnx-to-linalg=dot-products -split-input-file | FileCheck %s --check-prefix=BYTES

// 8 bits are multiplied as they are; sums of rows and columns take the zero
// points off. Else they are subtracted first.
// CHECK-LABEL: func.func @product
// CHECK: linalg.generic {{.*}} ins(%arg1 : tensor<50x60xi8>)
// CHECK: linalg.generic {{.*}} ins(%arg0, %arg1 : tensor<40x50xi8>, tensor<50x60xi8>)
// CHECK: arith.extui
// CHECK: arith.extsi
// CHECK: arith.muli
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]{{.*}} ins(%arg0 : tensor<40x50xi8>)
// CHECK: arith.subi
// The sums begin with what is left of the columns.
// BYTES-LABEL: func.func @product
// BYTES: linalg.generic {{.*}} ins(%arg1 : tensor<50x60xi8>)
// BYTES: arith.subi
// BYTES: %[[START:.+]] = linalg.generic
// BYTES-SAME: tensor<40x60xi32>
// BYTES: linalg.generic {{.*}} ins(%arg0, %arg1 : {{.*}}) outs(%[[START]]
// BYTES: arith.extui
// BYTES: arith.extsi
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
// CHECK: arith.subi
// CHECK: linalg.fill ins(%[[ZERO]] : i8)
// CHECK: arith.muli
func.func @convolution(%x: tensor<1x3x8x8xui8>, %w: tensor<40x3x3x3xui8>, %a: tensor<ui8>) -> tensor<1x40x8x8xi32> {
  %y = onnx.node "ConvInteger"(%x, %w, %a) since 10 {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x3x8x8xui8>, tensor<40x3x3x3xui8>, tensor<ui8>) -> tensor<1x40x8x8xi32>
  return %y : tensor<1x40x8x8xi32>
}

// -----

// Of two without a sign one gets one: 128 is its 0 then.
// BYTES-LABEL: func.func @flipped
// BYTES: %[[W:.+]] = linalg.generic {{.*}} ins(%arg1 : tensor<50x60xi8>)
// BYTES: arith.xori %{{.*}}, %c-128_i8
// BYTES: linalg.generic {{.*}} ins(%arg0, %[[W]] :
// BYTES: arith.extui
// BYTES: arith.extsi
// BYTES-NOT: arith.subi
// BYTES: return
func.func @flipped(%x: tensor<40x50xui8>, %w: tensor<50x60xui8>) -> tensor<40x60xi32> {
  %a = onnx.constant dense<0> : tensor<ui8>
  %b = onnx.constant dense<128> : tensor<ui8>
  %y = onnx.node "MatMulInteger"(%x, %w, %a, %b) since 10 : (tensor<40x50xui8>, tensor<50x60xui8>, tensor<ui8>, tensor<ui8>) -> tensor<40x60xi32>
  return %y : tensor<40x60xi32>
}

// -----

// What was dequantized is multiplied as integers.
// BYTES-LABEL: func.func @dequantized
// BYTES: linalg.generic {{.*}} ins(%arg0, %arg1 :
// BYTES: arith.muli
// BYTES: arith.sitofp
// BYTES: arith.mulf
// FIRST-LABEL: func.func @dequantized
// FIRST-NOT: arith.muli
// FIRST: return
func.func @dequantized(%x: tensor<40x50xui8>, %w: tensor<50x60xi8>) -> tensor<40x60xf32> {
  %s = onnx.constant dense<0.5> : tensor<f32>
  %t = onnx.constant dense<0.1> : tensor<60xf32>
  %a = onnx.node "DequantizeLinear"(%x, %s) since 13 : (tensor<40x50xui8>, tensor<f32>) -> tensor<40x50xf32>
  %b = onnx.node "DequantizeLinear"(%w, %t) since 13 {axis = 1 : i64} : (tensor<50x60xi8>, tensor<60xf32>) -> tensor<50x60xf32>
  %y = onnx.node "MatMul"(%a, %b) since 13 : (tensor<40x50xf32>, tensor<50x60xf32>) -> tensor<40x60xf32>
  return %y : tensor<40x60xf32>
}

// -----

// So it is where the scales of the channels are a resource, and behind a
// transpose, as linear layers are exported.
// BYTES-LABEL: func.func @transposed
// BYTES: linalg.generic {{.*}} ins(%arg0, %{{.*}} : tensor<40x50xi8>, tensor<50x4xi8>)
// BYTES: arith.muli
// BYTES: arith.sitofp
// BYTES: arith.mulf
// FIRST-LABEL: func.func @transposed
// FIRST-NOT: arith.muli
// FIRST: return
func.func @transposed(%x: tensor<40x50xui8>, %w: tensor<4x50xi8>) -> tensor<40x4xf32> {
  %s = onnx.constant dense<0.5> : tensor<f32>
  %t = onnx.constant dense_resource<scales> : tensor<4xf32>
  %a = onnx.node "DequantizeLinear"(%x, %s) since 13 : (tensor<40x50xui8>, tensor<f32>) -> tensor<40x50xf32>
  %b = onnx.node "DequantizeLinear"(%w, %t) since 13 {axis = 0 : i64} : (tensor<4x50xi8>, tensor<4xf32>) -> tensor<4x50xf32>
  %c = onnx.node "Transpose"(%b) since 13 {perm = array<i64: 1, 0>} : (tensor<4x50xf32>) -> tensor<50x4xf32>
  %y = onnx.node "MatMul"(%a, %c) since 13 : (tensor<40x50xf32>, tensor<50x4xf32>) -> tensor<40x4xf32>
  return %y : tensor<40x4xf32>
}

{-#
  dialect_resources: {
    builtin: {
      scales: "0x040000000000003F0000003F0000803F0000003F"
    }
  }
#-}
