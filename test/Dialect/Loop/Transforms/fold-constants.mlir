// RUN: loopc-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(loop-fold-constants,canonicalize))' | FileCheck %s

// Rows in another order; the axis in front, and every second column of what is
// put in, are folded with them.
// CHECK-LABEL: func.func @reordered()
// CHECK-NEXT: %[[C:.*]] = arith.constant dense_resource<[[NAME:loopc_folded.*]]> : tensor<3x2xi32>
// CHECK-NEXT: return %[[C]]
// CHECK: [[NAME]]: "0x{{[0-9A-F]+}}05000000070000000100000003000000{{0900000009000000}}"
func.func @reordered() -> tensor<3x2xi32> {
  %c = arith.constant dense<[[1, 2, 3, 4], [5, 6, 7, 8]]> : tensor<2x4xi32>
  %nine = arith.constant dense<9> : tensor<1x1x2xi32>
  %e = tensor.empty() : tensor<3x2xi32>
  %a = tensor.extract_slice %c[1, 0] [1, 2] [1, 2] : tensor<2x4xi32> to tensor<2xi32>
  %b = tensor.extract_slice %c[0, 0] [1, 2] [1, 2] : tensor<2x4xi32> to tensor<1x2xi32>
  %n = tensor.collapse_shape %nine [[0, 1], [2]] : tensor<1x1x2xi32> into tensor<1x2xi32>
  %0 = tensor.insert_slice %a into %e[0, 0] [1, 2] [1, 1] : tensor<2xi32> into tensor<3x2xi32>
  %1 = tensor.insert_slice %b into %0[1, 0] [1, 2] [1, 1] : tensor<1x2xi32> into tensor<3x2xi32>
  %2 = tensor.insert_slice %n into %1[2, 0] [1, 2] [1, 1] : tensor<1x2xi32> into tensor<3x2xi32>
  return %2 : tensor<3x2xi32>
}

// -----

// What only the run knows stays.
// CHECK-LABEL: func.func @not_constant(
// CHECK: tensor.insert_slice
// CHECK: tensor.insert_slice
func.func @not_constant(%x: tensor<1x2xi32>, %at: index) -> (tensor<2x2xi32>, tensor<2x2xi32>) {
  %c = arith.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %d = arith.constant dense<[[5, 6]]> : tensor<1x2xi32>
  %0 = tensor.insert_slice %x into %c[0, 0] [1, 2] [1, 1] : tensor<1x2xi32> into tensor<2x2xi32>
  %1 = tensor.insert_slice %d into %c[%at, 0] [1, 2] [1, 1] : tensor<1x2xi32> into tensor<2x2xi32>
  return %0, %1 : tensor<2x2xi32>, tensor<2x2xi32>
}

// -----

// A large constant that is read otherwise too is not there twice; neither is one
// value written out.
// CHECK-LABEL: func.func @read_otherwise()
// CHECK: tensor.insert_slice
// CHECK: tensor.insert_slice
func.func @read_otherwise() -> (tensor<64x128xf32>, tensor<64x128xf32>, tensor<64x128xf32>) {
  %c = arith.constant dense_resource<large> : tensor<64x128xf32>
  %one = arith.constant dense<1.0> : tensor<32x128xf32>
  %e = tensor.empty() : tensor<64x128xf32>
  %a = tensor.extract_slice %c[32, 0] [32, 128] [1, 1] : tensor<64x128xf32> to tensor<32x128xf32>
  %0 = tensor.insert_slice %a into %e[0, 0] [32, 128] [1, 1] : tensor<32x128xf32> into tensor<64x128xf32>
  %1 = tensor.insert_slice %one into %e[0, 0] [32, 128] [1, 1] : tensor<32x128xf32> into tensor<64x128xf32>
  return %0, %1, %c : tensor<64x128xf32>, tensor<64x128xf32>, tensor<64x128xf32>
}

// -----

// Weights with the axes in the order that a product wants.

// CHECK-LABEL: func @transposed
// CHECK:         arith.constant dense{{.*}} : tensor<3x2xf32>
// CHECK-NOT:     linalg.transpose
// CHECK:         return
func.func @transposed() -> tensor<3x2xf32> {
  %w = arith.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %e = tensor.empty() : tensor<3x2xf32>
  %t = linalg.transpose ins(%w : tensor<2x3xf32>) outs(%e : tensor<3x2xf32>) permutation = [1, 0]
  return %t : tensor<3x2xf32>
}

// -----

// The phases of a transposed convolution's kernel: padded, taken apart.

// CHECK-LABEL: func @padded
// CHECK:         arith.constant dense{{.*}} : tensor<2x2xf32>
// CHECK-NOT:     linalg.transpose
// CHECK:         return
func.func @padded() -> tensor<2x2xf32> {
  %w = arith.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %p = tensor.insert_slice %w into %f[0] [3] [1] : tensor<3xf32> into tensor<4xf32>
  %s = tensor.expand_shape %p [[0, 1]] output_shape [2, 2] : tensor<4xf32> into tensor<2x2xf32>
  %to = tensor.empty() : tensor<2x2xf32>
  %t = linalg.transpose ins(%s : tensor<2x2xf32>) outs(%to : tensor<2x2xf32>) permutation = [1, 0]
  return %t : tensor<2x2xf32>
}
