// RUN: loopc-opt %s --convert-onnx-to-linalg --canonicalize --cse --split-input-file | FileCheck %s

// One index names a view; it is checked, and moved into the range in case the
// view is hoisted over the check.

// CHECK-LABEL: func @row
// CHECK-SAME:    %[[X:.*]]: tensor<16x8xf32> {{.*}}, %[[I:.*]]: tensor<i64>
// CHECK:         loop.check %{{.*}}, "{{.*}}Gather: index {} is out of range for an axis of extent {}"
// CHECK:         %[[AT:.*]] = arith.minui
// CHECK:         tensor.extract_slice %[[X]][%[[AT]], 0] [1, 8] [1, 1] : tensor<16x8xf32> to tensor<8xf32>
func.func @row(%x: tensor<16x8xf32>, %i: tensor<i64>) -> tensor<8xf32> {
  %y = onnx.node "Gather"(%x, %i) since 13 {axis = 0 : i64} : (tensor<16x8xf32>, tensor<i64>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

// Constant indices in range need neither.

// CHECK-LABEL: func @constant_rows
// CHECK-NOT:     loop.check
// CHECK-NOT:     arith.minui
// CHECK:         return
func.func @constant_rows(%x: tensor<16x8xf32>) -> tensor<3x8xf32> {
  %i = onnx.constant dense<[1, -1, 15]> : tensor<3xi64>
  %y = onnx.node "Gather"(%x, %i) since 13 {axis = 0 : i64} : (tensor<16x8xf32>, tensor<3xi64>) -> tensor<3x8xf32>
  return %y : tensor<3x8xf32>
}

// -----

// One update is one slice put into the data: in place where it may be.

// CHECK-LABEL: func @write_row
// CHECK-SAME:    %[[X:.*]]: tensor<16x8xf32>
// CHECK:         loop.check
// CHECK-NOT:     scf.for
// CHECK:         tensor.insert_slice %{{.*}} into %[[X]]
func.func @write_row(%x: tensor<16x8xf32>, %i: tensor<1x1xi64>, %u: tensor<1x8xf32>) -> tensor<16x8xf32> {
  %y = onnx.node "ScatterND"(%x, %i, %u) since 13 {} : (tensor<16x8xf32>, tensor<1x1xi64>, tensor<1x8xf32>) -> tensor<16x8xf32>
  return %y : tensor<16x8xf32>
}

// -----

// Updates of an axis that may be empty are written behind the check, which tells
// the index that is farthest out. No branch asks again whether it holds.

// CHECK-LABEL: func @write_elements
// CHECK-SAME:    %[[X:.*]]: tensor<?xf32>
// CHECK:         %[[EXTENT:.*]] = tensor.dim %[[X]]
// CHECK:         %[[LARGEST:.*]] = scf.for
// CHECK:           arith.maxui
// CHECK:         %[[OK:.*]] = arith.cmpi ult, %[[LARGEST]], %[[EXTENT]]
// CHECK:         loop.check %[[OK]], "{{.*}}index {} is out of range for an axis of extent {}"
// CHECK-NOT:     %[[OK]]
// CHECK:         scf.for %{{.*}} to %c4{{.*}} iter_args(%[[INTO:.*]] = %[[X]])
// CHECK:           tensor.insert %{{.*}} into %[[INTO]]
func.func @write_elements(%x: tensor<?xf32>, %i: tensor<4xi64>, %u: tensor<4xf32>) -> tensor<?xf32> {
  %y = onnx.node "ScatterElements"(%x, %i, %u) since 13 {axis = 0 : i64} : (tensor<?xf32>, tensor<4xi64>, tensor<4xf32>) -> tensor<?xf32>
  return %y : tensor<?xf32>
}
