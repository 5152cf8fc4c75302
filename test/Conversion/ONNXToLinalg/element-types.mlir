// RUN: loopc-opt %s -split-input-file -convert-onnx-to-linalg -canonicalize -cse | FileCheck %s

// A float of 8 bits is its bits: what moves it sees an i8, and the port keeps
// what it was.
// CHECK-LABEL: func.func @moved
// CHECK-SAME: tensor<2x3xi8> {loopc.type = tensor<2x3xf8E4M3FN>}
// CHECK-SAME: -> (tensor<3x2xi8> {loopc.type = tensor<3x2xf8E4M3FN>})
// CHECK: linalg.generic
// CHECK-NOT: f8E4M3FN
func.func @moved(%x: tensor<2x3xf8E4M3FN>) -> tensor<3x2xf8E4M3FN> {
  %r = onnx.node "Transpose"(%x) since 25 : (tensor<2x3xf8E4M3FN>) -> tensor<3x2xf8E4M3FN>
  return %r : tensor<3x2xf8E4M3FN>
}

// -----

// Rounding is arithmetic on bits, without branches or tables.
// CHECK-LABEL: func.func @encoded
// CHECK: ^bb0(%[[X:.*]]: f32, %{{.*}}: i8):
// CHECK-NOT: {{scf|truncf|tensor.extract}}
// CHECK: arith.bitcast %[[X]] : f32 to i32
// CHECK-NOT: {{scf|truncf|tensor.extract}}
// CHECK: %[[BITS:.*]] = arith.trunci %{{.*}} : i32 to i8
// CHECK: linalg.yield %[[BITS]] : i8
func.func @encoded(%x: tensor<4xf32>) -> tensor<4xf8E5M2> {
  %r = onnx.node "Cast"(%x) since 25 {to = 19 : i64} : (tensor<4xf32>) -> tensor<4xf8E5M2>
  return %r : tensor<4xf8E5M2>
}

// -----

// A double goes through an f32 whose last bit says that something was cut off.
// CHECK-LABEL: func.func @rounded_once
// CHECK: %[[NEAR:.*]] = arith.truncf %{{.*}} : f64 to f32
// CHECK: arith.cmpf one
// CHECK: arith.ori
func.func @rounded_once(%x: tensor<4xf64>) -> tensor<4xf8E4M3FN> {
  %r = onnx.node "Cast"(%x) since 25 {to = 17 : i64} : (tensor<4xf64>) -> tensor<4xf8E4M3FN>
  return %r : tensor<4xf8E4M3FN>
}

// -----

// Integers of 4 bits are in a byte each, the signed ones with copies of the
// sign.
// CHECK-LABEL: func.func @constants
// CHECK-DAG: dense<[-8, 7, -1]> : tensor<3xi8>
// CHECK-DAG: dense<[8, 7, 15]> : tensor<3xi8>
func.func @constants() -> (tensor<3xi4>, tensor<3xui4>) {
  %a = onnx.constant dense<[-8, 7, -1]> : tensor<3xi4>
  %b = onnx.constant dense<[8, 7, 15]> : tensor<3xui4>
  return %a, %b : tensor<3xi4>, tensor<3xui4>
}

// -----

// The low bits are kept, and the sign is copied.
// CHECK-LABEL: func.func @wrapped
// CHECK: %[[LOW:.*]] = arith.shli %{{.*}}, %[[FOUR:.*]] : i8
// CHECK: arith.shrsi %[[LOW]], %[[FOUR]] : i8
func.func @wrapped(%x: tensor<4xi32>) -> tensor<4xi4> {
  %r = onnx.node "Cast"(%x) since 25 {to = 22 : i64} : (tensor<4xi32>) -> tensor<4xi4>
  return %r : tensor<4xi4>
}

// -----

// A scale along an axis is read by an affine map, one of a block by its index.
// CHECK-LABEL: func.func @quantized
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<4x6xf32>, tensor<6xf32>)
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<4x6xf32>)
// CHECK: %[[BLOCK:.*]] = arith.divui %{{.*}}, %c3
// CHECK: tensor.extract %{{.*}}[%{{.*}}, %[[BLOCK]]] : tensor<4x2xf32>
func.func @quantized(%x: tensor<4x6xf32>, %s: tensor<6xf32>, %t: tensor<4x2xf32>) -> (tensor<4x6xui8>, tensor<4x6xui8>) {
  %q = onnx.node "QuantizeLinear"(%x, %s) since 25 : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xui8>
  %r = onnx.node "QuantizeLinear"(%x, %t) since 25 {block_size = 3 : i64} : (tensor<4x6xf32>, tensor<4x2xf32>) -> tensor<4x6xui8>
  return %q, %r : tensor<4x6xui8>, tensor<4x6xui8>
}

// -----

// A constant that a fold has made is of the model's types, too.
// CHECK-LABEL: func.func @folded
// CHECK-DAG: arith.constant dense<-56> : tensor<1xi8>
// CHECK-DAG: arith.constant dense<[-8, 7]> : tensor<2xi8>
func.func @folded() -> (tensor<1xui8>, tensor<2xi4>) {
  %a = arith.constant dense<200> : tensor<1xui8>
  %b = arith.constant dense<[-8, 7]> : tensor<2xi4>
  return %a, %b : tensor<1xui8>, tensor<2xi4>
}

// -----

// Integers of four bits, with which MLIR computes, are bytes: what is beyond
// the bits is cut off, and what reads them without a sign sees none.
// CHECK-LABEL: func.func @narrow
// CHECK: ^bb0(%[[X:.*]]: i64, %{{.*}}: i64, %{{.*}}: i64):
// CHECK: %[[CUT:.*]] = arith.trunci %[[X]] : i64 to i8
// CHECK: %[[HIGH:.*]] = arith.shli %[[CUT]], %[[FOUR:.*]] : i8
// CHECK: %[[N:.*]] = arith.shrsi %[[HIGH]], %[[FOUR]] : i8
// CHECK: %[[SUM:.*]] = arith.addi %[[N]], %{{.*}} : i8
// CHECK: %[[AGAIN:.*]] = arith.shli %[[SUM]], %[[FOUR]] : i8
// CHECK: %[[S:.*]] = arith.shrsi %[[AGAIN]], %[[FOUR]] : i8
// CHECK: %[[SIGNED:.*]] = arith.extsi %[[S]] : i8 to i64
// CHECK: %[[BITS:.*]] = arith.andi %[[S]], %{{.*}} : i8
// CHECK: %[[UNSIGNED:.*]] = arith.extui %[[BITS]] : i8 to i64
// CHECK: linalg.yield %[[SIGNED]], %[[UNSIGNED]] : i64, i64
func.func @narrow(%x: tensor<4xi64>) -> (tensor<4xi64>, tensor<4xi64>) {
  %e = tensor.empty() : tensor<4xi64>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : tensor<4xi64>) outs(%e, %e : tensor<4xi64>, tensor<4xi64>) {
  ^bb0(%in: i64, %o: i64, %p: i64):
    %three = arith.constant 3 : i4
    %n = arith.trunci %in : i64 to i4
    %s = arith.addi %n, %three : i4
    %w = arith.extsi %s : i4 to i64
    %u = arith.extui %s : i4 to i64
    linalg.yield %w, %u : i64, i64
  } -> (tensor<4xi64>, tensor<4xi64>)
  return %r#0, %r#1 : tensor<4xi64>, tensor<4xi64>
}
