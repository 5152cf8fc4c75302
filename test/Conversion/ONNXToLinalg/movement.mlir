// RUN: loopc-opt %s --convert-onnx-to-linalg --canonicalize --cse --split-input-file | FileCheck %s

// Concatenation fills one tensor, so that a growing value is copied once.

// CHECK-LABEL: func @append
// CHECK-SAME:    %[[CACHE:.*]]: tensor<4x?x8xf32> {{.*}}, %[[NEW:.*]]: tensor<4x1x8xf32>
// CHECK:         %[[OLD:.*]] = tensor.dim %[[CACHE]]
// CHECK:         %[[LENGTH:.*]] = arith.addi %[[OLD]]
// CHECK:         %[[INIT:.*]] = tensor.empty(%[[LENGTH]])
// CHECK:         %[[KEPT:.*]] = tensor.insert_slice %[[CACHE]] into %[[INIT]][0, 0, 0]
// CHECK:         tensor.insert_slice %[[NEW]] into %[[KEPT]][0, %[[OLD]], 0]
func.func @append(%cache: tensor<4x?x8xf32>, %new: tensor<4x1x8xf32>) -> tensor<4x?x8xf32> {
  %y = onnx.node "Concat"(%cache, %new) since 13 {axis = 1 : i64} : (tensor<4x?x8xf32>, tensor<4x1x8xf32>) -> tensor<4x?x8xf32>
  return %y : tensor<4x?x8xf32>
}

// -----

// Forward slices are views, backward ones are gathered.

// CHECK-LABEL: func @slices
// CHECK:         tensor.extract_slice %{{.*}}[1] [3] [2]
// CHECK:         linalg.generic
func.func @slices(%x: tensor<7xf32>) -> (tensor<3xf32>, tensor<7xf32>) {
  %one = onnx.constant dense<1> : tensor<1xi64>
  %two = onnx.constant dense<2> : tensor<1xi64>
  %zero = onnx.constant dense<0> : tensor<1xi64>
  %last = onnx.constant dense<-1> : tensor<1xi64>
  %low = onnx.constant dense<-100> : tensor<1xi64>
  %high = onnx.constant dense<100> : tensor<1xi64>
  %a = onnx.node "Slice"(%x, %one, %high, %zero, %two) since 13 {} : (tensor<7xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<3xf32>
  %b = onnx.node "Slice"(%x, %last, %low, %zero, %last) since 13 {} : (tensor<7xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<7xf32>
  return %a, %b : tensor<3xf32>, tensor<7xf32>
}

// -----

// Moving an axis of extent 1 moves no element.

// CHECK-LABEL: func @transpose_unit
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @transpose_unit(%x: tensor<1x5x1x?xf32>) -> tensor<5x?x1x1xf32> {
  %y = onnx.node "Transpose"(%x) since 13 {perm = array<i64: 1, 3, 0, 2>} : (tensor<1x5x1x?xf32>) -> tensor<5x?x1x1xf32>
  return %y : tensor<5x?x1x1xf32>
}

// -----

// A slice of a slice is one of what that slices, at the place that comes of
// both: chains of slices do not become chains of views.
// CHECK-LABEL: func @slice_of_slice
// CHECK-SAME:    %[[X:.*]]: tensor<20x?xf32>
// CHECK-NOT:     tensor.extract_slice
// CHECK:         %[[PART:.*]] = tensor.extract_slice %[[X]][5, %{{.*}}] [2, %{{.*}}] [6, 1]
// CHECK-NOT:     tensor.extract_slice
// CHECK:         return %[[PART]]
func.func @slice_of_slice(%x: tensor<20x?xf32>) -> tensor<2x?xf32> {
  %two = onnx.constant dense<[2, 1]> : tensor<2xi64>
  %one = onnx.constant dense<[1, 2]> : tensor<2xi64>
  %high = onnx.constant dense<9223372036854775807> : tensor<2xi64>
  %four = onnx.constant dense<[4, 9223372036854775807]> : tensor<2xi64>
  %axes = onnx.constant dense<[0, 1]> : tensor<2xi64>
  %by_three = onnx.constant dense<[3, 1]> : tensor<2xi64>
  %by_two = onnx.constant dense<[2, 1]> : tensor<2xi64>
  %a = onnx.node "Slice"(%x, %two, %high, %axes, %by_three) since 13 {} : (tensor<20x?xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<6x?xf32>
  %b = onnx.node "Slice"(%a, %one, %four, %axes, %by_two) since 13 {} : (tensor<6x?xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<2x?xf32>
  return %b : tensor<2x?xf32>
}

// -----

// The border along the last axis comes from the input by a table, so that it
// is written in its place; that along rows is read from the result.
// CHECK-LABEL: func @edges
// CHECK-SAME:    %[[X:[^ ]+]]: tensor<?x8x?x?xf32>
// CHECK:         %[[KEPT:.*]] = tensor.insert_slice %[[X]] into
// CHECK:         %[[TABLE:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<3xindex>)
// CHECK:         %[[LEFT:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<?x8x?x3xf32>)
// CHECK-DAG:       tensor.extract %[[TABLE]]
// CHECK-DAG:       tensor.extract %[[X]]
// CHECK:         tensor.insert_slice %[[LEFT]] into %[[KEPT]]
// CHECK:         %[[RIGHT:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<?x8x?x3xf32>)
// CHECK:           tensor.extract %[[X]]
// CHECK:         %[[WIDE:.*]] = tensor.insert_slice %[[RIGHT]] into
// CHECK:         linalg.generic {{.*}} outs(%{{.*}} : tensor<?x8x3x?xf32>)
// CHECK:           tensor.extract %[[WIDE]]
func.func @edges(%x: tensor<?x8x?x?xf32>) -> tensor<?x8x?x?xf32> {
  %pads = onnx.constant dense<[0, 0, 3, 3, 0, 0, 3, 3]> : tensor<8xi64>
  %y = onnx.node "Pad"(%x, %pads) since 13 {mode = "edge"} : (tensor<?x8x?x?xf32>, tensor<8xi64>) -> tensor<?x8x?x?xf32>
  return %y : tensor<?x8x?x?xf32>
}
