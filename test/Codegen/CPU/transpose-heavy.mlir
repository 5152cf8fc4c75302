// RUN: loopc-opt %s -pass-pipeline='builtin.module(loopc-set-target{vector-bits=512 registers=32 mask-bits=8},func.func(cpu-vectorize-contractions),canonicalize,cse)' | FileCheck %s

// An activation that a convolution reads with the channels last and a border
// around it: what is much for a tile is computed behind the transpose, where
// the pixels lie in the padded image.

#chw = affine_map<(h, w, c) -> (c, h, w)>
#hwc = affine_map<(h, w, c) -> (h, w, c)>
// CHECK-LABEL: func @bordered(
// CHECK-SAME:    %[[X:.*]]: memref<32x64x64xf32>
// CHECK:       %[[INNER:.*]] = memref.subview
// CHECK:       vector.load %[[X]]
// CHECK-NOT:   math.
// CHECK:       vector.store %{{.*}}, %[[INNER]]
// CHECK:       linalg.generic {indexing_maps = [#[[ID:.*]], #[[ID]]]
// CHECK-SAME:    ins(%[[INNER]] : {{.*}}) outs(%[[INNER]] :
// CHECK:         math.exp
func.func @bordered(%x: memref<32x64x64xf32>) -> memref<66x66x32xf32> {
  %out = memref.alloc() : memref<66x66x32xf32>
  %inner = memref.subview %out[1, 1, 0] [64, 64, 32] [1, 1, 1] : memref<66x66x32xf32> to memref<64x64x32xf32, strided<[2112, 32, 1], offset: 2144>>
  linalg.generic {indexing_maps = [#chw, #hwc], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : memref<32x64x64xf32>) outs(%inner : memref<64x64x32xf32, strided<[2112, 32, 1], offset: 2144>>) {
  ^bb0(%a: f32, %o: f32):
    %e = math.exp %a : f32
    %t = math.tanh %e : f32
    linalg.yield %t : f32
  }
  return %out : memref<66x66x32xf32>
}

// What else is read may be a view.
// CHECK-LABEL: func @scaled(
// CHECK:       vector.store
// CHECK:       linalg.generic
// CHECK:         math.exp
func.func @scaled(%x: memref<32x64x64xf32>, %s: memref<64x64x32xf32>) -> memref<64x64x32xf32> {
  %out = memref.alloc() : memref<64x64x32xf32>
  %view = memref.subview %s[0, 0, 0] [64, 64, 32] [1, 1, 1] : memref<64x64x32xf32> to memref<64x64x32xf32, strided<[2048, 32, 1]>>
  linalg.generic {indexing_maps = [#chw, #hwc, #hwc], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %view : memref<32x64x64xf32>, memref<64x64x32xf32, strided<[2048, 32, 1]>>) outs(%out : memref<64x64x32xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %e = math.exp %a : f32
    %t = math.tanh %e : f32
    %m = arith.mulf %t, %b : f32
    linalg.yield %m : f32
  }
  return %out : memref<64x64x32xf32>
}

// But not one of the result, which the transpose would overwrite.
// CHECK-LABEL: func @overwritten(
// CHECK-NOT:   vector.store
// CHECK:       linalg.generic
// CHECK:         math.exp
// CHECK-NOT:   vector.store
func.func @overwritten(%x: memref<32x64x64xf32>) -> memref<64x64x32xf32> {
  %out = memref.alloc() : memref<64x64x32xf32>
  %view = memref.subview %out[0, 0, 0] [64, 64, 32] [1, 1, 1] : memref<64x64x32xf32> to memref<64x64x32xf32, strided<[2048, 32, 1]>>
  linalg.generic {indexing_maps = [#chw, #hwc, #hwc], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %view : memref<32x64x64xf32>, memref<64x64x32xf32, strided<[2048, 32, 1]>>) outs(%out : memref<64x64x32xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %e = math.exp %a : f32
    %t = math.tanh %e : f32
    %m = arith.mulf %t, %b : f32
    linalg.yield %m : f32
  }
  return %out : memref<64x64x32xf32>
}
