// RUN: loopc-opt %s --convert-onnx-to-linalg --canonicalize --cse --split-input-file | FileCheck %s

// A shape computed from dimensions folds: the result's extents are the input's,
// no check is left, and only the last axis is split.

// CHECK-LABEL: func @split_heads
// CHECK-SAME:    %[[X:.*]]: tensor<?x?x64xf32>
// CHECK-NOT:     loop.check
// CHECK:         %[[Y:.*]] = tensor.expand_shape %[[X]] {{\[\[0\], \[1\], \[2, 3\]\]}}
// CHECK:         return %[[Y]]
func.func @split_heads(%x: tensor<?x?x64xf32>) -> tensor<?x?x4x16xf32> {
  %shape = onnx.node "Shape"(%x) since 15 {} : (tensor<?x?x64xf32>) -> tensor<3xi64>
  %zero = onnx.constant dense<0> : tensor<i64>
  %batch = onnx.node "Gather"(%shape, %zero) since 13 {axis = 0 : i64} : (tensor<3xi64>, tensor<i64>) -> tensor<i64>
  %axes = onnx.constant dense<0> : tensor<1xi64>
  %first = onnx.node "Unsqueeze"(%batch, %axes) since 13 {} : (tensor<i64>, tensor<1xi64>) -> tensor<1xi64>
  %rest = onnx.constant dense<[-1, 4, 16]> : tensor<3xi64>
  %target = onnx.node "Concat"(%first, %rest) since 13 {axis = 0 : i64} : (tensor<1xi64>, tensor<3xi64>) -> tensor<4xi64>
  %y = onnx.node "Reshape"(%x, %target) since 14 {} : (tensor<?x?x64xf32>, tensor<4xi64>) -> tensor<?x?x4x16xf32>
  return %y : tensor<?x?x4x16xf32>
}

// -----

// A shape known at run time only: its numbers are checked.

// CHECK-LABEL: func @run_time_shape
// CHECK:         loop.check {{.*}}, "{{.*}}Reshape: the shape holds -1 more than once"
// CHECK:         loop.check {{.*}}, "{{.*}}Reshape: cannot reshape {} elements to a shape of {} elements"
func.func @run_time_shape(%x: tensor<6xf32>, %shape: tensor<2xi64>) -> tensor<?x?xf32> {
  %y = onnx.node "Reshape"(%x, %shape) since 14 {} : (tensor<6xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// -----

// Extents of what is reshaped that stand elsewhere in the result: where one is
// 0, and would stand for another extent, the input is empty. That is checked,
// and the result's extent is the input's, not one that equals no other.

// CHECK-LABEL: func @repeated_heads
// CHECK-SAME:    %[[X:.*]]: tensor<?x2x3x?x8xf32>
// CHECK:         %[[STEPS:.*]] = tensor.dim %[[X]], %c3
// CHECK:         %[[FITS:.*]] = arith.cmpi ne, %[[STEPS]], %c0
// CHECK:         loop.check %[[FITS]], "{{.*}}Reshape: element 2 of the shape is 0, which stands for an extent of {}
// CHECK-NOT:     loop.check
// CHECK-NOT:     arith.select
// CHECK:         %[[Y:.*]] = tensor.collapse_shape %[[X]] {{\[\[0\], \[1, 2\], \[3\], \[4\]\]}}
// CHECK:         return %[[Y]]
func.func @repeated_heads(%x: tensor<?x2x3x?x8xf32>) -> tensor<?x6x?x8xf32> {
  %batch = onnx.node "Shape"(%x) since 15 {end = 1 : i64} : (tensor<?x2x3x?x8xf32>) -> tensor<1xi64>
  %steps = onnx.node "Shape"(%x) since 15 {start = 3 : i64, end = 4 : i64} : (tensor<?x2x3x?x8xf32>) -> tensor<1xi64>
  %heads = onnx.constant dense<6> : tensor<1xi64>
  %width = onnx.constant dense<8> : tensor<1xi64>
  %target = onnx.node "Concat"(%batch, %heads, %steps, %width) since 13 {axis = 0 : i64} : (tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<4xi64>
  %y = onnx.node "Reshape"(%x, %target) since 14 {} : (tensor<?x2x3x?x8xf32>, tensor<4xi64>) -> tensor<?x6x?x8xf32>
  return %y : tensor<?x6x?x8xf32>
}

// -----

// Beside a -1 a result of such an input is possible: 0 stands for the extent.

// CHECK-LABEL: func @zero_beside_inferred
// CHECK:         arith.select
func.func @zero_beside_inferred(%x: tensor<2x?xf32>) -> tensor<?x?xf32> {
  %steps = onnx.node "Shape"(%x) since 15 {start = 1 : i64} : (tensor<2x?xf32>) -> tensor<1xi64>
  %rest = onnx.constant dense<-1> : tensor<1xi64>
  %target = onnx.node "Concat"(%steps, %rest) since 13 {axis = 0 : i64} : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
  %y = onnx.node "Reshape"(%x, %target) since 14 {} : (tensor<2x?xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// -----

// Tiling is a broadcast, then a view.

// CHECK-LABEL: func @tile
// CHECK:         linalg.generic
// CHECK-SAME:      outs({{.*}} : tensor<2x3x5xf32>)
// CHECK:         tensor.collapse_shape {{.*}} {{\[\[0, 1\], \[2\]\]}}
func.func @tile(%x: tensor<3x5xf32>) -> tensor<6x5xf32> {
  %repeats = onnx.constant dense<[2, 1]> : tensor<2xi64>
  %y = onnx.node "Tile"(%x, %repeats) since 13 {} : (tensor<3x5xf32>, tensor<2xi64>) -> tensor<6x5xf32>
  return %y : tensor<6x5xf32>
}

// -----

// A row that a slice of two computed ends gives: the axis that goes has extent
// 1 after the check, and the view is collapsed. The
// rest has the extents of the input.

// CHECK-LABEL: func @squeeze_of_slice
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<?x?x8xf32>
// CHECK:         loop.check {{.*}}, "{{.*}}Squeeze: axis 0 has extent {}, not 1, and is not squeezed"
// CHECK:         %[[ROWS:.*]] = tensor.extract_slice %[[X]]{{.*}} to tensor<?x?x8xf32>
// CHECK:         %[[ROW:.*]] = tensor.extract_slice %[[ROWS]][0, 0, 0] [1, %{{.*}}, 8] [1, 1, 1]
// CHECK-SAME:      to tensor<1x?x8xf32>
// CHECK:         %[[Y:.*]] = tensor.collapse_shape %[[ROW]] {{\[\[0, 1\], \[2\]\]}}
// CHECK-SAME:      tensor<1x?x8xf32> into tensor<?x8xf32>
// CHECK:         return %[[Y]]
func.func @squeeze_of_slice(%x: tensor<?x?x8xf32>, %from: tensor<1xi64>, %to: tensor<1xi64>) -> tensor<?x8xf32> {
  %axes = onnx.constant dense<0> : tensor<1xi64>
  %rows = onnx.node "Slice"(%x, %from, %to, %axes) since 13 {} : (tensor<?x?x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?x?x8xf32>
  %y = onnx.node "Squeeze"(%rows, %axes) since 13 {} : (tensor<?x?x8xf32>, tensor<1xi64>) -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}
