// RUN: loopc-opt %s --one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" --cse --canonicalize | FileCheck %s
// RUN: loopc-opt %s --loopc-bufferize --cse --canonicalize | FileCheck %s

// A slice that is changed and put back where it was is changed in place; its
// place is compared as constants here, and as MLIR does where it is not known.
// CHECK-LABEL: func.func @back(
// CHECK: memref.subview %{{.*}}[2] [4] [1]
// CHECK-NEXT: linalg.fill
// CHECK-NOT: memref.copy
// CHECK: return
func.func @back(%t: tensor<8xf32>, %x: f32) -> tensor<8xf32> {
  %s = tensor.extract_slice %t[2] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %f = linalg.fill ins(%x : f32) outs(%s : tensor<4xf32>) -> tensor<4xf32>
  %r = tensor.insert_slice %f into %t[2] [4] [1] : tensor<4xf32> into tensor<8xf32>
  return %r : tensor<8xf32>
}

// CHECK-LABEL: func.func @back_anywhere(
// CHECK: memref.subview
// CHECK-NEXT: linalg.fill
// CHECK-NOT: memref.copy
// CHECK: return
func.func @back_anywhere(%t: tensor<8xf32>, %x: f32, %i: index) -> tensor<8xf32> {
  %s = tensor.extract_slice %t[%i] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %f = linalg.fill ins(%x : f32) outs(%s : tensor<4xf32>) -> tensor<4xf32>
  %r = tensor.insert_slice %f into %t[%i] [4] [1] : tensor<4xf32> into tensor<8xf32>
  return %r : tensor<8xf32>
}

// Put elsewhere, and over a part of itself: what was there must stay until it
// has been read.
// CHECK-LABEL: func.func @elsewhere(
// CHECK: memref.copy
// CHECK: return
func.func @elsewhere(%t: tensor<8xf32>, %x: f32) -> tensor<8xf32> {
  %s = tensor.extract_slice %t[0] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %f = linalg.fill ins(%x : f32) outs(%s : tensor<4xf32>) -> tensor<4xf32>
  %r = tensor.insert_slice %f into %t[2] [4] [1] : tensor<4xf32> into tensor<8xf32>
  return %r : tensor<8xf32>
}

// Every second element from 0 and from 1: the axes overlap.
// CHECK-LABEL: func.func @strides(
// CHECK: memref.copy
// CHECK: return
func.func @strides(%t: tensor<8xf32>, %x: f32) -> tensor<8xf32> {
  %s = tensor.extract_slice %t[0] [4] [2] : tensor<8xf32> to tensor<4xf32>
  %f = linalg.fill ins(%x : f32) outs(%s : tensor<4xf32>) -> tensor<4xf32>
  %r = tensor.insert_slice %f into %t[1] [4] [2] : tensor<4xf32> into tensor<8xf32>
  return %r : tensor<8xf32>
}
