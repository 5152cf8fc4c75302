// RUN: loopc-opt %s -split-input-file -onnx-infer-types | FileCheck %s

// Broadcasting; what was declared before counts for nothing.
// CHECK-LABEL: func.func @broadcast
// CHECK-SAME: -> tensor<2x3xf32>
func.func @broadcast(%x: tensor<2x1xf32>, %y: tensor<?x3xf32>) -> tensor<7xf32> {
  // CHECK: onnx.node "Add"({{.*}}) since 14 : (tensor<2x1xf32>, tensor<?x3xf32>) -> tensor<2x3xf32>
  %z = onnx.node "Add"(%x, %y) since 14 : (tensor<2x1xf32>, tensor<?x3xf32>) -> tensor<7xf32>
  return %z : tensor<7xf32>
}

// -----

// Two dimensions that are not known to be equal: unknown. Known to be: named
// alike, so that the sum's dimension can be compared.
// CHECK-LABEL: func.func @names
func.func @names(%x: tensor<?xf32>, %y: tensor<?xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %0 = onnx.node "Neg"(%x) since 13 : (tensor<?xf32>) -> tensor<*xf32>
  %sx = onnx.node "Shape"(%x) since 15 : (tensor<?xf32>) -> tensor<*xi64>
  %s0 = onnx.node "Shape"(%0) since 15 : (tensor<*xf32>) -> tensor<*xi64>
  // x and Neg(x) are equally long: the difference is 0.
  %zero = onnx.node "Sub"(%sx, %s0) since 14 : (tensor<*xi64>, tensor<*xi64>) -> tensor<*xi64>
  // CHECK: onnx.node "ConstantOfShape"({{.*}}) since 9 : (tensor<1xi64>) -> tensor<0xf32>
  %1 = onnx.node "ConstantOfShape"(%zero) since 9 : (tensor<*xi64>) -> tensor<*xf32>
  // That x and y are is not known.
  %sy = onnx.node "Shape"(%y) since 15 : (tensor<?xf32>) -> tensor<*xi64>
  %d = onnx.node "Sub"(%sx, %sy) since 14 : (tensor<*xi64>, tensor<*xi64>) -> tensor<*xi64>
  // CHECK: onnx.node "ConstantOfShape"({{.*}}) since 9 : (tensor<1xi64>) -> tensor<?xf32>
  %2 = onnx.node "ConstantOfShape"(%d) since 9 : (tensor<*xi64>) -> tensor<*xf32>
  return %1, %2 : tensor<*xf32>, tensor<*xf32>
}

// -----

// CHECK-LABEL: func.func @reshape_constant
// CHECK-SAME: -> tensor<2x12xf32>
func.func @reshape_constant(%x: tensor<2x3x4xf32>) -> tensor<*xf32> {
  %s = onnx.constant dense<[0, -1]> : tensor<2xi64>
  %r = onnx.node "Reshape"(%x, %s) since 14 : (tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

// Before opset 14, too: as many axes as the shape has elements, and what is known
// of those.
// CHECK-LABEL: func.func @reshape_5
// CHECK-SAME: -> (tensor<?x3x?xf32>, tensor<?x?xf32>)
func.func @reshape_5(%x: tensor<?x3x?x?xf32>, %any: tensor<2xi64>) -> (tensor<*xf32>, tensor<*xf32>) {
  %s = onnx.node "Shape"(%x) since 1 : (tensor<?x3x?x?xf32>) -> tensor<*xi64>
  %c0 = onnx.constant dense<0> : tensor<1xi64>
  %c2 = onnx.constant dense<2> : tensor<1xi64>
  %rest = onnx.constant dense<-1> : tensor<1xi64>
  %front = onnx.node "Slice"(%s, %c0, %c2, %c0) since 11 : (tensor<*xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<*xi64>
  %shape = onnx.node "Concat"(%front, %rest) since 11 {axis = 0 : i64} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
  %r = onnx.node "Reshape"(%x, %shape) since 5 : (tensor<?x3x?x?xf32>, tensor<*xi64>) -> tensor<*xf32>
  %t = onnx.node "Reshape"(%x, %any) since 13 : (tensor<?x3x?x?xf32>, tensor<2xi64>) -> tensor<*xf32>
  return %r, %t : tensor<*xf32>, tensor<*xf32>
}

// -----

// CHECK-LABEL: func.func @reshape_computed
// CHECK-SAME: -> tensor<?x2x12xf32>
func.func @reshape_computed(%x: tensor<?x4x6xf32>) -> tensor<*xf32> {
  %s = onnx.node "Shape"(%x) since 13 : (tensor<?x4x6xf32>) -> tensor<*xi64>
  %c0 = onnx.constant dense<0> : tensor<i64>
  %c1 = onnx.constant dense<1> : tensor<i64>
  %c2 = onnx.constant dense<2> : tensor<i64>
  %axes = onnx.constant dense<0> : tensor<1xi64>
  %b = onnx.node "Gather"(%s, %c0) since 13 : (tensor<*xi64>, tensor<i64>) -> tensor<*xi64>
  %n = onnx.node "Gather"(%s, %c1) since 13 : (tensor<*xi64>, tensor<i64>) -> tensor<*xi64>
  %h = onnx.node "Div"(%n, %c2) since 14 : (tensor<*xi64>, tensor<i64>) -> tensor<*xi64>
  %b1 = onnx.node "Unsqueeze"(%b, %axes) since 13 : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
  %h1 = onnx.node "Unsqueeze"(%h, %axes) since 13 : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
  %m = onnx.constant dense<12> : tensor<1xi64>
  %shape = onnx.node "Concat"(%b1, %h1, %m) since 13 {axis = 0 : i64} : (tensor<*xi64>, tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
  %r = onnx.node "Reshape"(%x, %shape) since 14 : (tensor<?x4x6xf32>, tensor<*xi64>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

// The same in opset 10: axes are attributes, Slice has inputs already.
// CHECK-LABEL: func.func @reshape_computed_old
// CHECK-SAME: -> tensor<4x?xf32>
func.func @reshape_computed_old(%x: tensor<?x4xf32>) -> tensor<*xf32> {
  %s = onnx.node "Shape"(%x) since 1 : (tensor<?x4xf32>) -> tensor<*xi64>
  %one = onnx.constant dense<1> : tensor<1xi64>
  %two = onnx.constant dense<2> : tensor<1xi64>
  %c = onnx.node "Slice"(%s, %one, %two) since 10 : (tensor<*xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<*xi64>
  %c0 = onnx.node "Squeeze"(%c) since 1 {axes = array<i64: 0>} : (tensor<*xi64>) -> tensor<*xi64>
  %c1 = onnx.node "Unsqueeze"(%c0) since 1 {axes = array<i64: 0>} : (tensor<*xi64>) -> tensor<*xi64>
  %m1 = onnx.constant dense<-1> : tensor<1xi64>
  %shape = onnx.node "Concat"(%c1, %m1) since 4 {axis = 0 : i64} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
  %r = onnx.node "Reshape"(%x, %shape) since 5 : (tensor<?x4xf32>, tensor<*xi64>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

// Before version 11 no axis was to be negative; exporters wrote negative ones.
// CHECK-LABEL: func.func @negative_axes_old
// CHECK-SAME: -> (tensor<1x?x5xf32>, tensor<1x?x1x1x5x1xf32>)
func.func @negative_axes_old(%x: tensor<1x?x1x5xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %s = onnx.node "Squeeze"(%x) since 1 {axes = array<i64: -2>} : (tensor<1x?x1x5xf32>) -> tensor<*xf32>
  %u = onnx.node "Unsqueeze"(%x) since 1 {axes = array<i64: -1, -3>} : (tensor<1x?x1x5xf32>) -> tensor<*xf32>
  return %s, %u : tensor<*xf32>, tensor<*xf32>
}

// -----

// An unknown size is not zero (the onnx library's inference takes it so).
// CHECK-LABEL: func.func @resize
// CHECK-SAME: -> tensor<?x?x?x?xf32>
func.func @resize(%x: tensor<1x3x8x8xf32>, %sizes: tensor<4xi64>) -> tensor<*xf32> {
  %none = onnx.none
  %r = onnx.node "Resize"(%x, %none, %none, %sizes) since 13 : (tensor<1x3x8x8xf32>, none, none, tensor<4xi64>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

// CHECK-LABEL: func.func @attention
// CHECK-SAME: -> tensor<2x4x?xf32>
func.func @attention(%q: tensor<2x4x24xf32>, %k: tensor<2x6x24xf32>, %v: tensor<2x6x?xf32>) -> tensor<*xf32> {
  %r = onnx.node "Attention"(%q, %k, %v) since 23 {q_num_heads = 3 : i64, kv_num_heads = 3 : i64}
      : (tensor<2x4x24xf32>, tensor<2x6x24xf32>, tensor<2x6x?xf32>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

// A default that the library's inference does not know: onesided = 1.
// CHECK-LABEL: func.func @default_attribute
// CHECK-SAME: -> tensor<1x15x9x2xf32>
func.func @default_attribute(%x: tensor<1x128x1xf32>) -> tensor<*xf32> {
  %step = onnx.constant dense<8> : tensor<i64>
  %none = onnx.none
  %length = onnx.constant dense<16> : tensor<i64>
  %r = onnx.node "STFT"(%x, %step, %none, %length) since 17
      : (tensor<1x128x1xf32>, tensor<i64>, none, tensor<i64>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

// Versions without an inference function.
// CHECK-LABEL: func.func @old_versions
func.func @old_versions(%x: tensor<2x?x4x4xf32>, %y: tensor<4xf32>) {
  // CHECK: "Add"({{.*}}) since 1 {{.*}} -> tensor<2x?x4x4xf32>
  %0 = onnx.node "Add"(%x, %y) since 1 {broadcast = 1 : i64} : (tensor<2x?x4x4xf32>, tensor<4xf32>) -> tensor<*xf32>
  // CHECK: "Cast"({{.*}}) since 1 {{.*}} -> tensor<2x?x4x4xi32>
  %1 = onnx.node "Cast"(%0) since 1 {to = "INT32"} : (tensor<*xf32>) -> tensor<*xf32>
  // CHECK: "Reshape"({{.*}}) since 1 {{.*}} -> tensor<?x16xf32>
  %2 = onnx.node "Reshape"(%x) since 1 {shape = array<i64: -1, 16>} : (tensor<2x?x4x4xf32>) -> tensor<*xf32>
  // CHECK: "Pad"({{.*}}) since 1 {{.*}} -> tensor<2x?x5x6xf32>
  %3 = onnx.node "Pad"(%x) since 1 {paddings = array<i64: 0, 0, 1, 0, 0, 0, 0, 2>} : (tensor<2x?x4x4xf32>) -> tensor<*xf32>
  // CHECK: "Upsample"({{.*}}) since 1 {{.*}} -> tensor<2x?x8x6xf32>
  %4 = onnx.node "Upsample"(%x) since 1 {height_scale = 2.0 : f32, width_scale = 1.5 : f32} : (tensor<2x?x4x4xf32>) -> tensor<*xf32>
  // CHECK: "GreaterOrEqual"({{.*}}) since 12 {{.*}} -> tensor<2x?x4x4xi1>
  %5 = onnx.node "GreaterOrEqual"(%x, %y) since 12 : (tensor<2x?x4x4xf32>, tensor<4xf32>) -> tensor<*xi1>
  // The axis has a default in version 1, later it is required.
  // CHECK: "Concat"({{.*}}) since 1 : {{.*}} -> tensor<2x?x4x4xf32>
  %6 = onnx.node "Concat"(%x, %x) since 1 : (tensor<2x?x4x4xf32>, tensor<2x?x4x4xf32>) -> tensor<*xf32>
  // Nothing but the element type.
  // CHECK: "ai.onnx.ml"::"LinearRegressor"({{.*}}) since 1 {{.*}} -> tensor<*xf32>
  %7 = onnx.node "ai.onnx.ml"::"LinearRegressor"(%x) since 1 {coefficients = array<f32: 1.0>} : (tensor<2x?x4x4xf32>) -> tensor<9xf32>
  // A domain that nobody knows.
  // CHECK: "my.domain"::"Any"({{.*}}) since 1 {{.*}} -> tensor<*xf32>
  %8 = onnx.node "my.domain"::"Any"(%x) since 1 : (tensor<2x?x4x4xf32>) -> tensor<9xf32>
  return
}

// -----

// Operations of other dialects keep their types.
// CHECK-LABEL: func.func @others
// CHECK-SAME: -> tensor<?xf32>
func.func @others(%x: tensor<4xf32>) -> tensor<?xf32> {
  // CHECK: %[[N:.*]] = onnx.node "Neg"({{.*}}) -> tensor<4xf32>
  %0 = onnx.node "Neg"(%x) since 13 : (tensor<4xf32>) -> tensor<?xf32>
  // CHECK: %[[C:.*]] = tensor.cast %[[N]] : tensor<4xf32> to tensor<?xf32>
  // CHECK: arith.addf %[[C]], %[[C]] : tensor<?xf32>
  %1 = arith.addf %0, %0 : tensor<?xf32>
  return %1 : tensor<?xf32>
}

// -----

// A private function's type is its callers' too.
// CHECK-LABEL: func.func private @private
// CHECK-SAME: -> tensor<?xf32>
func.func private @private(%x: tensor<4xf32>) -> tensor<?xf32> {
  // CHECK: %[[N:.*]] = onnx.node "Neg"
  %0 = onnx.node "Neg"(%x) since 13 : (tensor<4xf32>) -> tensor<?xf32>
  // CHECK: %[[C:.*]] = tensor.cast %[[N]] : tensor<4xf32> to tensor<?xf32>
  // CHECK: return %[[C]]
  return %0 : tensor<?xf32>
}

// -----

// Collections: elements of different lengths.
// CHECK-LABEL: func.func @sequence
// CHECK-SAME: -> !onnx.seq<tensor<?xf32>>
func.func @sequence(%x: tensor<2xf32>, %y: tensor<3xf32>) -> !onnx.seq<tensor<*xf32>> {
  // CHECK: "SequenceConstruct"({{.*}}) since 11 : (tensor<2xf32>, tensor<2xf32>) -> !onnx.seq<tensor<2xf32>>
  %s = onnx.node "SequenceConstruct"(%x, %x) since 11 : (tensor<2xf32>, tensor<2xf32>) -> !onnx.seq<tensor<*xf32>>
  %t = onnx.node "SequenceInsert"(%s, %y) since 11 : (!onnx.seq<tensor<*xf32>>, tensor<3xf32>) -> !onnx.seq<tensor<*xf32>>
  return %t : !onnx.seq<tensor<*xf32>>
}

// -----

// A Slice from and to what only a run knows leaves the axes alone that it does
// not name: all, where it is not known which.
// CHECK-LABEL: func.func @slice
// CHECK-SAME: -> (tensor<?x4x5xf32>, tensor<3x4x?xf32>, tensor<?x?x5xf32>, tensor<?x?x?xf32>)
func.func @slice(%x: tensor<3x4x5xf32>, %one: tensor<1xi64>, %two: tensor<2xi64>)
    -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %first = onnx.constant dense<0> : tensor<1xi64>
  %last = onnx.constant dense<-1> : tensor<1xi64>
  %0 = onnx.node "Slice"(%x, %one, %one, %first) since 13 : (tensor<3x4x5xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<*xf32>
  %1 = onnx.node "Slice"(%x, %one, %one, %last) since 13 : (tensor<3x4x5xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<*xf32>
  %2 = onnx.node "Slice"(%x, %two, %two) since 13 : (tensor<3x4x5xf32>, tensor<2xi64>, tensor<2xi64>) -> tensor<*xf32>
  %3 = onnx.node "Slice"(%x, %one, %one, %one) since 13 : (tensor<3x4x5xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<*xf32>
  return %0, %1, %2, %3 : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// -----

// Einsum's labels broadcast: an extent of 1 says nothing beside one that is
// not known.
// CHECK-LABEL: func.func @einsum
// CHECK-SAME: -> (tensor<?x5xf32>, tensor<4x5xf32>, tensor<?x2x3xf32>, tensor<?x3x2xf32>)
func.func @einsum(%one: tensor<1x5xf32>, %open: tensor<?x5xf32>, %four: tensor<4x5xf32>,
                  %p: tensor<1x2x5xf32>, %q: tensor<?x5x3xf32>)
    -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %0 = onnx.node "Einsum"(%one, %open) since 12 {equation = "ij,ij->ij"} : (tensor<1x5xf32>, tensor<?x5xf32>) -> tensor<*xf32>
  %1 = onnx.node "Einsum"(%one, %open, %four) since 12 {equation = "ij, ij, ij -> ij"} : (tensor<1x5xf32>, tensor<?x5xf32>, tensor<4x5xf32>) -> tensor<*xf32>
  %2 = onnx.node "Einsum"(%p, %q) since 12 {equation = "...ij,...jk"} : (tensor<1x2x5xf32>, tensor<?x5x3xf32>) -> tensor<*xf32>
  %3 = onnx.node "Einsum"(%p, %q) since 12 {equation = "bij,bjk->bki"} : (tensor<1x2x5xf32>, tensor<?x5x3xf32>) -> tensor<*xf32>
  return %0, %1, %2, %3 : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// The types of ports that were written down by an earlier lowering take the
// shapes that are inferred.
// CHECK-LABEL: func.func @ports_again(
// CHECK-SAME: -> (tensor<?x4xui8> {loopc.type = tensor<?x4xui8>})
func.func @ports_again(%x: tensor<?x4xui8>) -> (tensor<*xui8> {loopc.type = tensor<*xui8>}) {
  %y = onnx.node "Identity"(%x) since 21 : (tensor<?x4xui8>) -> tensor<*xui8>
  return %y : tensor<*xui8>
}
