// RUN: loopc-opt %s -buffer-privatize-empty -loopc-bufferize -canonicalize -split-input-file | FileCheck %s

// Both results are computed where they are inserted, though the second insertion
// is into what the first one makes.

// CHECK-LABEL: func.func @interleave
// CHECK: %[[W:.*]] = memref.alloc() {{.*}} : memref<512x2xf32>
// CHECK-NOT: memref.alloc
// CHECK-DAG: %[[A:.*]] = memref.subview %[[W]][0, 0]
// CHECK-DAG: %[[B:.*]] = memref.subview %[[W]][0, 1]
// CHECK: linalg.generic {{.*}} outs(%[[A]], %[[B]]
#id = affine_map<(d0) -> (d0)>
func.func @interleave(%a: tensor<512xf32>, %b: tensor<512xf32>) -> tensor<512x2xf32> {
  %e = tensor.empty() : tensor<512xf32>
  %w = tensor.empty() : tensor<512x2xf32>
  %r:2 = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel"]} ins(%a, %b : tensor<512xf32>, tensor<512xf32>) outs(%e, %e : tensor<512xf32>, tensor<512xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32, %p: f32):
    %1 = arith.minimumf %x, %y : f32
    %2 = arith.maximumf %x, %y : f32
    linalg.yield %1, %2 : f32, f32
  } -> (tensor<512xf32>, tensor<512xf32>)
  %c = tensor.expand_shape %r#0 [[0, 1]] output_shape [512, 1] : tensor<512xf32> into tensor<512x1xf32>
  %i = tensor.insert_slice %c into %w[0, 0] [512, 1] [1, 1] : tensor<512x1xf32> into tensor<512x2xf32>
  %j = tensor.insert_slice %r#1 into %i[0, 1] [512, 1] [1, 1] : tensor<512xf32> into tensor<512x2xf32>
  return %j : tensor<512x2xf32>
}

// -----

// So are sums, which begin with a number.

// CHECK-LABEL: func.func @sums
// CHECK: %[[W:.*]] = memref.alloc() {{.*}} : memref<2x64xf32>
// CHECK-NOT: memref.alloc
// CHECK-DAG: %[[A:.*]] = memref.subview %[[W]][0, 0]
// CHECK-DAG: %[[B:.*]] = memref.subview %[[W]][1, 0]
// CHECK-NOT: memref.alloc
// CHECK: linalg.generic {{.*}} outs(%[[A]], %[[B]]
#in = affine_map<(d0, d1) -> (d0, d1)>
#sum = affine_map<(d0, d1) -> (d0)>
func.func @sums(%a: tensor<64x8xf32>) -> tensor<2x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %w = tensor.empty() : tensor<2x64xf32>
  %r:2 = linalg.generic {indexing_maps = [#in, #sum, #sum], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<64x8xf32>) outs(%f, %f : tensor<64xf32>, tensor<64xf32>) {
  ^bb0(%x: f32, %o: f32, %p: f32):
    %1 = arith.addf %x, %o : f32
    %2 = arith.mulf %x, %x : f32
    %3 = arith.addf %2, %p : f32
    linalg.yield %1, %3 : f32, f32
  } -> (tensor<64xf32>, tensor<64xf32>)
  %i = tensor.insert_slice %r#0 into %w[0, 0] [1, 64] [1, 1] : tensor<64xf32> into tensor<2x64xf32>
  %j = tensor.insert_slice %r#1 into %i[1, 0] [1, 64] [1, 1] : tensor<64xf32> into tensor<2x64xf32>
  return %j : tensor<2x64xf32>
}

// -----

// Places that overlap: the second result would be written over.

// CHECK-LABEL: func.func @overlap
// CHECK-COUNT-2: memref.alloc
// CHECK: return
#id = affine_map<(d0) -> (d0)>
func.func @overlap(%a: tensor<8xf32>) -> tensor<12xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %w = tensor.empty() : tensor<12xf32>
  %r:2 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%a : tensor<8xf32>) outs(%e, %e : tensor<8xf32>, tensor<8xf32>) {
  ^bb0(%x: f32, %o: f32, %p: f32):
    %1 = arith.addf %x, %x : f32
    %2 = arith.mulf %x, %x : f32
    linalg.yield %1, %2 : f32, f32
  } -> (tensor<8xf32>, tensor<8xf32>)
  %i = tensor.insert_slice %r#0 into %w[0] [8] [1] : tensor<8xf32> into tensor<12xf32>
  %j = tensor.insert_slice %r#1 into %i[4] [8] [1] : tensor<8xf32> into tensor<12xf32>
  return %j : tensor<12xf32>
}

// -----

// An axis of one element that is taken away is no reason for a copy.

// CHECK-LABEL: func.func @halves
// CHECK: %[[W:.*]] = memref.alloc() {{.*}} : memref<1024xf32>
// CHECK-NOT: memref.alloc
// CHECK-DAG: %[[A:.*]] = memref.subview %[[W]][0] [512] [1]
// CHECK-DAG: %[[B:.*]] = memref.subview %[[W]][512] [512] [1]
// CHECK: linalg.generic
// CHECK: return %[[W]]
#both = affine_map<(d0, d1) -> (d0, d1)>
func.func @halves(%a: tensor<512x1xf32>, %b: tensor<512x1xf32>) -> tensor<1024xf32> {
  %e = tensor.empty() : tensor<512x1xf32>
  %w = tensor.empty() : tensor<1024xf32>
  %r:2 = linalg.generic {indexing_maps = [#both, #both, #both, #both], iterator_types = ["parallel", "parallel"]} ins(%a, %b : tensor<512x1xf32>, tensor<512x1xf32>) outs(%e, %e : tensor<512x1xf32>, tensor<512x1xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32, %p: f32):
    %1 = arith.addf %x, %y : f32
    %2 = arith.subf %x, %y : f32
    linalg.yield %1, %2 : f32, f32
  } -> (tensor<512x1xf32>, tensor<512x1xf32>)
  %s = tensor.collapse_shape %r#0 [[0, 1]] : tensor<512x1xf32> into tensor<512xf32>
  %d = tensor.collapse_shape %r#1 [[0, 1]] : tensor<512x1xf32> into tensor<512xf32>
  %i = tensor.insert_slice %s into %w[0] [512] [1] : tensor<512xf32> into tensor<1024xf32>
  %j = tensor.insert_slice %d into %i[512] [512] [1] : tensor<512xf32> into tensor<1024xf32>
  return %j : tensor<1024xf32>
}
