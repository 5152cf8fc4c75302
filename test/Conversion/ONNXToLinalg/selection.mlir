// RUN: loopc-opt %s -split-input-file -pass-pipeline='builtin.module(func.func(convert-onnx-to-linalg{channels-last=true},canonicalize,cse))' | FileCheck %s
// RUN: loopc-opt %s -split-input-file -convert-onnx-to-linalg -canonicalize -cse | FileCheck %s --check-prefix=KERNELS

// Blocks in which nothing is better than the worst are passed over. A few are
// kept as numbers of order and place, in registers.
// CHECK-LABEL: @top
// CHECK: scf.for
// CHECK: %[[BLOCK:.*]] = vector.transfer_read %{{.*}} {in_bounds = [true]} : tensor<4x1000xf32>, vector<16xf32>
// CHECK: arith.cmpf ult, %{{.*}}, %[[BLOCK]] : vector<16xf32>
// CHECK: %[[ANY:.*]] = vector.reduction <or>
// CHECK: %[[LOOKS:.*]] = arith.ori %{{.*}}, %[[ANY]]
// CHECK: scf.if %[[LOOKS]] -> (i64, i64, i64, i64, i64)
// CHECK: arith.cmpi sgt
// CHECK: arith.maxsi
// CHECK: arith.minsi
// KERNELS-LABEL: @top
// KERNELS-NOT: vector.
func.func @top(%x: tensor<4x1000xf32>) -> (tensor<4x5xf32>, tensor<4x5xi64>) {
  %k = arith.constant dense<5> : tensor<1xi64>
  %v, %i = onnx.node "TopK"(%x, %k) since 11 : (tensor<4x1000xf32>, tensor<1xi64>) -> (tensor<4x5xf32>, tensor<4x5xi64>)
  return %v, %i : tensor<4x5xf32>, tensor<4x5xi64>
}

// -----

// Most blocks would have one of so many; and lines that are no vectors.
// CHECK-LABEL: @many
// CHECK-NOT: vector.
// CHECK: return
func.func @many(%x: tensor<60x4xf32>) -> (tensor<60x2xf32>, tensor<60x2xi64>, tensor<2x4xf32>, tensor<2x4xi64>) {
  %k = arith.constant dense<2> : tensor<1xi64>
  %v, %i = onnx.node "TopK"(%x, %k) since 11 : (tensor<60x4xf32>, tensor<1xi64>) -> (tensor<60x2xf32>, tensor<60x2xi64>)
  %w, %j = onnx.node "TopK"(%x, %k) since 11 {axis = 0 : i64} : (tensor<60x4xf32>, tensor<1xi64>) -> (tensor<2x4xf32>, tensor<2x4xi64>)
  return %v, %i, %w, %j : tensor<60x2xf32>, tensor<60x2xi64>, tensor<2x4xf32>, tensor<2x4xi64>
}

// -----

// Lines along another axis than the last are stored one behind the other, and
// what is found is put back.
// CHECK-LABEL: @middle
// CHECK-SAME: %[[X:.*]]: tensor<4x1000x?xf32>
// CHECK: linalg.transpose ins(%[[X]] : {{.*}} outs(%{{.*}} : tensor<4x?x1000xf32>) permutation = [0, 2, 1] {loopc.stored}
// CHECK: vector.transfer_read {{.*}} : tensor<4x?x1000xf32>, vector<16xf32>
// CHECK: linalg.transpose {{.*}} outs(%{{.*}} : tensor<4x5x?xf32>) permutation = [0, 2, 1]
// CHECK: linalg.transpose {{.*}} outs(%{{.*}} : tensor<4x5x?xi64>) permutation = [0, 2, 1]
// KERNELS-LABEL: @middle
// KERNELS-NOT: linalg.transpose
func.func @middle(%x: tensor<4x1000x?xf32>) -> (tensor<4x5x?xf32>, tensor<4x5x?xi64>) {
  %k = arith.constant dense<5> : tensor<1xi64>
  %v, %i = onnx.node "TopK"(%x, %k) since 11 {axis = 1 : i64} : (tensor<4x1000x?xf32>, tensor<1xi64>) -> (tensor<4x5x?xf32>, tensor<4x5x?xi64>)
  return %v, %i : tensor<4x5x?xf32>, tensor<4x5x?xi64>
}

// -----

// The points of a region are found before its channels: the innermost loop has
// no rounding.
// CHECK-LABEL: @align
// CHECK: math.floor
// CHECK: math.floor
// CHECK: scf.for %[[C:.*]] = %{{.*}} to %{{c32.*}} step
// CHECK-NOT: math.floor
// CHECK: tensor.insert %{{.*}} into %{{.*}}[%{{.*}}, %[[C]], %{{.*}}, %{{.*}}]
func.func @align(%x: tensor<1x32x40x40xf32>, %r: tensor<50x4xf32>, %b: tensor<50xi64>) -> tensor<50x32x7x7xf32> {
  %y = onnx.node "RoiAlign"(%x, %r, %b) since 16 {output_height = 7 : i64, output_width = 7 : i64} : (tensor<1x32x40x40xf32>, tensor<50x4xf32>, tensor<50xi64>) -> tensor<50x32x7x7xf32>
  return %y : tensor<50x32x7x7xf32>
}

// Nine of a line of any length: in registers where it is short, which later
// passes may know, else in a heap.
// CHECK-LABEL: func @nine_of_window(
// CHECK: %[[SHORT:.*]] = arith.cmpi ule, %{{.*}}, %c16
// CHECK: scf.if %[[SHORT]]
// CHECK: arith.maxsi
// CHECK: tensor.from_elements
// CHECK: } else {
// CHECK: tensor.insert
func.func @nine_of_window(%x: tensor<?xf32>) -> (tensor<9xf32>, tensor<9xi64>) {
  %k = onnx.constant dense<9> : tensor<1xi64>
  %v, %i = onnx.node "TopK"(%x, %k) since 11 {axis = 0 : i64} : (tensor<?xf32>, tensor<1xi64>) -> (tensor<9xf32>, tensor<9xi64>)
  return %v, %i : tensor<9xf32>, tensor<9xi64>
}

// -----

// A line of which much is asked for is sorted by digits; of a line of any length
// the run knows whether that is so.
// CHECK-LABEL: func @much_of_line(
// CHECK: scf.for {{.*}} -> (tensor<1000xi64>, tensor<1000xindex>, tensor<256xindex>)
// CHECK-NOT: scf.if
// CHECK: return
func.func @much_of_line(%x: tensor<1000xi64>) -> (tensor<300xi64>, tensor<300xi64>) {
  %k = onnx.constant dense<300> : tensor<1xi64>
  %v, %i = onnx.node "TopK"(%x, %k) since 11 {axis = 0 : i64} : (tensor<1000xi64>, tensor<1xi64>) -> (tensor<300xi64>, tensor<300xi64>)
  return %v, %i : tensor<300xi64>, tensor<300xi64>
}

// -----

// CHECK-LABEL: func @much_of_open_line(
// CHECK: %[[SHARE:.*]] = arith.divui %{{.*}}, %c16
// CHECK: %[[SORTS:.*]] = arith.cmpi ule, %[[SHARE]], %c300
// CHECK: scf.if %[[SORTS]]
// CHECK: tensor<256xindex>
// CHECK: } else {
// CHECK-NOT: tensor<256xindex>
// CHECK: return
func.func @much_of_open_line(%x: tensor<?xi64>) -> (tensor<300xi64>, tensor<300xi64>) {
  %k = onnx.constant dense<300> : tensor<1xi64>
  %v, %i = onnx.node "TopK"(%x, %k) since 11 {axis = 0 : i64} : (tensor<?xi64>, tensor<1xi64>) -> (tensor<300xi64>, tensor<300xi64>)
  return %v, %i : tensor<300xi64>, tensor<300xi64>
}
