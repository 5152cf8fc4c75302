// RUN: loopc-opt %s -split-input-file -convert-onnx-to-linalg -canonicalize -cse | FileCheck %s

// A sum starts at 0 and may be reassociated (the numeric contract); the reduced
// axis comes back as a view.
// CHECK-LABEL: func.func @sum
// CHECK: %[[INIT:.*]] = linalg.fill
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]{{.*}} outs(%[[INIT]] : tensor<2xf32>)
// CHECK: arith.addf {{.*}} fastmath<reassoc> : f32
// CHECK: tensor.expand_shape %[[SUM]] {{\[\[}}0, 1]] output_shape [2, 1]
func.func @sum(%x: tensor<2x3xf32>) -> tensor<2x1xf32> {
  %r = onnx.node "ReduceSum"(%x) since 11 {axes = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  return %r : tensor<2x1xf32>
}

// -----

// NaN is the maximum.
// CHECK-LABEL: func.func @maximum
// CHECK: arith.constant 0xFF800000 : f32
// CHECK: arith.maximumf
func.func @maximum(%x: tensor<?x?xf32>) -> tensor<?xf32> {
  %r = onnx.node "ReduceMax"(%x) since 13 {axes = array<i64: 0>, keepdims = 0 : i64} : (tensor<?x?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

// f16 is summed in f32.
// CHECK-LABEL: func.func @narrow
// CHECK: arith.extf
// CHECK: arith.addf {{.*}} : f32
// CHECK: arith.truncf
func.func @narrow(%x: tensor<9xf16>) -> tensor<f16> {
  %r = onnx.node "ReduceSum"(%x) since 11 {keepdims = 0 : i64} : (tensor<9xf16>) -> tensor<f16>
  return %r : tensor<f16>
}

// -----

// The elements of a shape are multiplied as scalars.
// CHECK-LABEL: func.func @size
// CHECK-NOT: linalg
// CHECK: arith.muli
// CHECK: tensor.from_elements
func.func @size(%x: tensor<?x?xf32>) -> tensor<i64> {
  %s = onnx.node "Shape"(%x) since 13 : (tensor<?x?xf32>) -> tensor<2xi64>
  %r = onnx.node "ReduceProd"(%s) since 13 {keepdims = 0 : i64} : (tensor<2xi64>) -> tensor<i64>
  return %r : tensor<i64>
}

// -----

// Over axes that only the run knows each element finds its place.
// CHECK-LABEL: func.func @run_time_axes
// CHECK: loop.check {{.*}} "{{.*}}axis {} is out of range for rank 2"
// CHECK: %[[SUM:.*]] = scf.for
// CHECK: scf.for
// CHECK: arith.addf
// CHECK: tensor.insert
// CHECK: return
func.func @run_time_axes(%x: tensor<2x3xf32>, %axes: tensor<1xi64>) -> tensor<?x?xf32> {
  %r = onnx.node "ReduceSum"(%x, %axes) since 13 : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// -----

// No axes are all axes, or none: then the other steps remain.
// CHECK-LABEL: func.func @no_axes
// CHECK-NOT: "reduction"
// CHECK: math.absf
func.func @no_axes(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %none = onnx.none
  %r = onnx.node "ReduceL1"(%x, %none) since 18 {noop_with_empty_axes = 1 : i64} : (tensor<2x3xf32>, none) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----

// The maximum, the sum of the powers, their shares: three passes, one buffer, and
// one division for a row.
// CHECK-LABEL: func.func @softmax
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]
// CHECK: arith.maximumf
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]
// CHECK: math.exp
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]
// CHECK: arith.addf
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel"]
// CHECK: arith.divf
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]
// CHECK: arith.mulf
func.func @softmax(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = onnx.node "Softmax"(%x) since 13 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----

// Before version 13 the axes from `axis` on are one.
// CHECK-LABEL: func.func @old_softmax
// CHECK: iterator_types = ["parallel", "reduction", "reduction"]
func.func @old_softmax(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %r = onnx.node "Softmax"(%x) since 11 : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return %r : tensor<2x3x4xf32>
}

// -----

// A loop over what lies across the axis, if that is known; of open planes over
// rows of each, which are made of the one before in the result.
// CHECK-LABEL: func.func @cumulative
// CHECK: loop.loop {{.*}} carried({{.*}} : tensor<6xf32>) slices({{.*}} axis 1 -> tensor<6xf32>) collect(tensor<6x4xf32> axis 1)
// CHECK: loop.loop {{.*}} carried({{.*}} : tensor<2x4xf32>) slices({{.*}} axis 1 -> tensor<2x4xf32>) collect(tensor<2x3x4xf32> axis 1)
// CHECK: loop.loop {{.*}} carried({{.*}} : tensor<12xf32>) slices({{.*}} axis 0 -> tensor<12xf32>) collect(tensor<2x12xf32> axis 0)
// CHECK: scf.for {{.*}} -> (tensor<?x3x4xf32>)
// CHECK: scf.for %[[K:[^ ]+]] = {{.*}} iter_args(%[[ALL:[^ ]+]] = {{.*}} -> (tensor<?x3x4xf32>)
// CHECK: tensor.extract_slice %[[ALL]][%{{.*}}, %[[K]], 0] [1, 1, 4]
func.func @cumulative(%x: tensor<2x3x4xf32>, %open: tensor<?x3x4xf32>) -> (tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<?x3x4xf32>) {
  %last = onnx.constant dense<-1> : tensor<i64>
  %one = onnx.constant dense<1> : tensor<i64>
  %first = onnx.constant dense<0> : tensor<i64>
  %r = onnx.node "CumSum"(%x, %last) since 14 : (tensor<2x3x4xf32>, tensor<i64>) -> tensor<2x3x4xf32>
  %s = onnx.node "CumSum"(%x, %one) since 14 : (tensor<2x3x4xf32>, tensor<i64>) -> tensor<2x3x4xf32>
  %t = onnx.node "CumSum"(%x, %first) since 14 : (tensor<2x3x4xf32>, tensor<i64>) -> tensor<2x3x4xf32>
  %u = onnx.node "CumSum"(%open, %one) since 14 : (tensor<?x3x4xf32>, tensor<i64>) -> tensor<?x3x4xf32>
  return %r, %s, %t, %u : tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<?x3x4xf32>
}

// -----

// An open axis is none that the state has; small floats are summed up in f32.
// CHECK-LABEL: func.func @cumulative_rows
// CHECK: loop.loop {{.*}} carried({{.*}} : tensor<4xf32>) slices({{.*}} axis 0 -> tensor<4xf16>) collect(tensor<?x4xf16> axis 0)
func.func @cumulative_rows(%x: tensor<?x4xf16>) -> tensor<?x4xf16> {
  %first = onnx.constant dense<0> : tensor<i64>
  %r = onnx.node "CumSum"(%x, %first) since 14 : (tensor<?x4xf16>, tensor<i64>) -> tensor<?x4xf16>
  return %r : tensor<?x4xf16>
}
