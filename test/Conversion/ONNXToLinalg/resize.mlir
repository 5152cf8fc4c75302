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
// CHECK: tensor.extract %{{.*}} : tensor<6xi64>
// CHECK: return
func.func @nearest(%x: tensor<1x2x4x4xf32>) -> tensor<1x2x6x4xf32> {
  %none = onnx.none
  %s = arith.constant dense<[1.0, 1.0, 1.5, 1.0]> : tensor<4xf32>
  %r = onnx.node "Resize"(%x, %none, %s) since 13 : (tensor<1x2x4x4xf32>, none, tensor<4xf32>) -> tensor<1x2x6x4xf32>
  return %r : tensor<1x2x6x4xf32>
}

// -----

// Where each element stands twice, by its middle, or three times, by its begin,
// its number is divided: there is no table.
// CHECK-LABEL: @repeated
// CHECK-DAG: %[[THREE:.*]] = arith.constant 3 : index
// CHECK-DAG: %[[TWO:.*]] = arith.constant 2 : index
// CHECK-NOT: xi64>
// CHECK: %[[ROW:.*]] = linalg.index 2
// CHECK: %[[COLUMN:.*]] = linalg.index 3
// CHECK: %[[Y:.*]] = arith.divui %[[ROW]], %[[TWO]] : index
// CHECK: %[[X:.*]] = arith.divui %[[COLUMN]], %[[TWO]] : index
// CHECK: tensor.extract %{{.*}}[%{{.*}}, %{{.*}}, %[[Y]], %[[X]]]
// CHECK: arith.divui %{{.*}}, %[[THREE]] : index
// CHECK-NOT: xi64>
// CHECK: return
func.func @repeated(%x: tensor<1x2x?x?xf32>, %z: tensor<5xf32>) -> (tensor<1x2x?x?xf32>, tensor<15xf32>) {
  %none = onnx.none
  %s = arith.constant dense<[1.0, 1.0, 2.0, 2.0]> : tensor<4xf32>
  %t = arith.constant dense<3.0> : tensor<1xf32>
  %r = onnx.node "Resize"(%x, %none, %s) since 13 : (tensor<1x2x?x?xf32>, none, tensor<4xf32>) -> tensor<1x2x?x?xf32>
  %q = onnx.node "Resize"(%z, %none, %t) since 13 {coordinate_transformation_mode = "asymmetric", nearest_mode = "floor"} : (tensor<5xf32>, none, tensor<1xf32>) -> tensor<15xf32>
  return %r, %q : tensor<1x2x?x?xf32>, tensor<15xf32>
}

// -----

// Sizes that the run alone knows: where there are twice as many rows and
// columns, elements are repeated, else they are looked up.
// CHECK-LABEL: @twice_or_not
// CHECK: scf.if %{{.*}} -> (tensor<?x?x?x?xf32>)
// CHECK-NOT: xi64>
// CHECK: arith.divui %{{.*}}, %{{.*}} : index
// CHECK: arith.divui %{{.*}}, %{{.*}} : index
// CHECK-NOT: xi64>
// CHECK: } else {
// CHECK: tensor.extract %{{.*}} : tensor<?xi64>
// CHECK: return
func.func @twice_or_not(%x: tensor<1x2x?x?xf32>, %sizes: tensor<4xi64>) -> tensor<?x?x?x?xf32> {
  %none = onnx.none
  %r = onnx.node "Resize"(%x, %none, %none, %sizes) since 13 {coordinate_transformation_mode = "asymmetric", nearest_mode = "floor"} : (tensor<1x2x?x?xf32>, none, none, tensor<4xi64>) -> tensor<?x?x?x?xf32>
  return %r : tensor<?x?x?x?xf32>
}

// -----

// The begin of an element is rounded up: what stands first stands once.
// CHECK-LABEL: @rounded
// CHECK: tensor.extract %{{.*}} : tensor<8xi64>
func.func @rounded(%x: tensor<4xf32>) -> tensor<8xf32> {
  %none = onnx.none
  %s = arith.constant dense<2.0> : tensor<1xf32>
  %r = onnx.node "Resize"(%x, %none, %s) since 13 {coordinate_transformation_mode = "asymmetric", nearest_mode = "ceil"} : (tensor<4xf32>, none, tensor<1xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// An open axis that is scaled by one, or gets the size that it has, is not
// resized: there are tables for two axes only.
// CHECK-LABEL: @open_batch
// CHECK-NOT: tensor<?x2xf64>
// CHECK: tensor<8x2xf64>
// CHECK-NOT: tensor<?x2xf64>
// CHECK: return
func.func @open_batch(%x: tensor<?x2x4x4xf32>) -> tensor<?x2x8x8xf32> {
  %none = onnx.none
  %s = arith.constant dense<[1.0, 1.0, 2.0, 2.0]> : tensor<4xf32>
  %r = onnx.node "Resize"(%x, %none, %s) since 13 {mode = "linear"} : (tensor<?x2x4x4xf32>, none, tensor<4xf32>) -> tensor<?x2x8x8xf32>
  return %r : tensor<?x2x8x8xf32>
}

// -----

// CHECK-LABEL: @open_batch_by_size
// CHECK-NOT: tensor<?x2xf64>
// CHECK: tensor<8x2xf64>
// CHECK-NOT: tensor<?x2xf64>
// CHECK: return
func.func @open_batch_by_size(%x: tensor<?x2x4x4xf32>) -> tensor<?x2x8x8xf32> {
  %none = onnx.none
  %zero = arith.constant 0 : index
  %batch = tensor.dim %x, %zero : tensor<?x2x4x4xf32>
  %n = arith.index_cast %batch : index to i64
  %two = arith.constant 2 : i64
  %eight = arith.constant 8 : i64
  %sizes = tensor.from_elements %n, %two, %eight, %eight : tensor<4xi64>
  %r = onnx.node "Resize"(%x, %none, %none, %sizes) since 13 {mode = "linear"} : (tensor<?x2x4x4xf32>, none, none, tensor<4xi64>) -> tensor<?x2x8x8xf32>
  return %r : tensor<?x2x8x8xf32>
}

// -----

// Batches and channels whose sizes are given may turn out to stay as they are:
// they are handed on, and not resized. Images are not asked.
// CHECK-LABEL: @open_by_sizes
// CHECK-SAME: %[[X:.*]]: tensor<?x?x?x?xf32>
// CHECK: %[[N:.*]] = tensor.dim %[[X]], %c0
// CHECK: %[[SAME:.*]] = arith.cmpi eq, %[[N]], %c1
// CHECK: %[[BATCH:.*]] = scf.if %[[SAME]] -> (tensor<?x?x?x?xf32>) {
// CHECK-NEXT: scf.yield %[[X]]
// CHECK: } else {
// CHECK: %[[CHANNELS:.*]] = scf.if %{{.*}} -> (tensor<?x?x?x?xf32>) {
// CHECK-NEXT: scf.yield %[[BATCH]]
// CHECK: } else {
// CHECK-NOT: scf.if
// CHECK: return %{{.*}} : tensor<1x3x8x8xf32>
func.func @open_by_sizes(%x: tensor<?x?x?x?xf32>) -> tensor<1x3x8x8xf32> {
  %none = onnx.none
  %s = onnx.constant dense<[1, 3, 8, 8]> : tensor<4xi64>
  %r = onnx.node "Resize"(%x, %none, %none, %s) since 13 {mode = "linear"} : (tensor<?x?x?x?xf32>, none, none, tensor<4xi64>) -> tensor<1x3x8x8xf32>
  return %r : tensor<1x3x8x8xf32>
}

// -----

// Sizes that are the image's times a number repeat its elements as that scale
// does, without a table.
// CHECK-LABEL: @sizes_of_shape
// CHECK-NOT: tensor<?xi64>
// CHECK: linalg.generic
// CHECK-DAG: arith.divui %{{.*}}, %c2
// CHECK-DAG: arith.divui %{{.*}}, %c3
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @sizes_of_shape(%x: tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32> {
  %none = onnx.none
  %times = onnx.constant dense<[1, 1, 2, 3]> : tensor<4xi64>
  %shape = onnx.node "Shape"(%x) since 15 : (tensor<?x?x?x?xf32>) -> tensor<4xi64>
  %s = onnx.node "Mul"(%shape, %times) since 14 : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
  %r = onnx.node "Resize"(%x, %none, %none, %s) since 13 {mode = "nearest", coordinate_transformation_mode = "asymmetric", nearest_mode = "floor"} : (tensor<?x?x?x?xf32>, none, none, tensor<4xi64>) -> tensor<?x?x?x?xf32>
  return %r : tensor<?x?x?x?xf32>
}
