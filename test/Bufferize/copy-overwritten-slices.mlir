// RUN: loopc-opt %s --buffer-privatize-empty --split-input-file | FileCheck %s

// A matrix that is computed from itself, a row and a column of it is computed in
// its place: what is read elsewhere of it is copied, and no second matrix takes
// turns with it.

// CHECK-LABEL: func.func @in_place
// CHECK: loop.loop
// CHECK: %[[COLUMN:.*]] = tensor.extract_slice %{{.*}}[0, %{{.*}}] [64, 1]
// CHECK: %[[C:.*]] = bufferization.alloc_tensor() copy(%[[COLUMN]])
// CHECK: %[[ROW:.*]] = tensor.extract_slice
// CHECK: %[[R:.*]] = bufferization.alloc_tensor() copy(%[[ROW]])
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[C]], %[[R]]
#all = affine_map<(i, j) -> (i, j)>
#col = affine_map<(i, j) -> (i)>
#row = affine_map<(i, j) -> (j)>
func.func @in_place(%d: tensor<64x64xf32>, %n: i64) -> tensor<64x64xf32> {
  %true = arith.constant true
  %e = tensor.empty() : tensor<64x64xf32>
  %r = loop.loop (%k : i64, %cond : i1) trips(%n : i64) carried(%u = %d : tensor<64x64xf32>) since 21 {
    %p = arith.index_cast %k : i64 to index
    %c = tensor.extract_slice %u[0, %p] [64, 1] [1, 1] : tensor<64x64xf32> to tensor<64xf32>
    %o = tensor.extract_slice %u[%p, 0] [1, 64] [1, 1] : tensor<64x64xf32> to tensor<64xf32>
    %w = linalg.generic {indexing_maps = [#all, #col, #row, #all], iterator_types = ["parallel", "parallel"]} ins(%u, %c, %o : tensor<64x64xf32>, tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64x64xf32>) {
    ^bb0(%a: f32, %b: f32, %x: f32, %out: f32):
      %1 = arith.addf %b, %x : f32
      %2 = arith.minimumf %a, %1 : f32
      linalg.yield %2 : f32
    } -> tensor<64x64xf32>
    loop.yield while(%true : i1) carried(%w : tensor<64x64xf32>)
  }
  return %r : tensor<64x64xf32>
}

// -----

// The upper half is no small part.

// CHECK-LABEL: func.func @half
// CHECK-NOT: alloc_tensor
#lower = affine_map<(i, j) -> (j)>
#all = affine_map<(i, j) -> (i, j)>
#part = affine_map<(i, j) -> (0, j)>
func.func @half(%d: tensor<64x64xf32>, %n: i64) -> tensor<64x64xf32> {
  %true = arith.constant true
  %e = tensor.empty() : tensor<64x64xf32>
  %r = loop.loop (%k : i64, %cond : i1) trips(%n : i64) carried(%u = %d : tensor<64x64xf32>) since 21 {
    %o = tensor.extract_slice %u[0, 0] [32, 64] [1, 1] : tensor<64x64xf32> to tensor<32x64xf32>
    %w = linalg.generic {indexing_maps = [#all, #part, #all], iterator_types = ["parallel", "parallel"]} ins(%u, %o : tensor<64x64xf32>, tensor<32x64xf32>) outs(%e : tensor<64x64xf32>) {
    ^bb0(%a: f32, %x: f32, %out: f32):
      %1 = arith.addf %a, %x : f32
      linalg.yield %1 : f32
    } -> tensor<64x64xf32>
    loop.yield while(%true : i1) carried(%w : tensor<64x64xf32>)
  }
  return %r : tensor<64x64xf32>
}
