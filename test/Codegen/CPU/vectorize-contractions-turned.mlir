// RUN: loopc-opt %s -split-input-file -pass-pipeline='builtin.module(loopc-set-target{vector-bits=512 registers=32 mask-bits=8},func.func(cpu-vectorize-contractions),canonicalize,cse)' | FileCheck %s

// The result is wanted with the rows of the tiles last: squares of 8 rows and 8
// lanes are transposed in registers before they are stored.

#x = affine_map<(l, k, m) -> (l * 5 + k)>
#w = affine_map<(l, k, m) -> (k, m)>
#y = affine_map<(l, k, m) -> (l, m)>
#id = affine_map<(m, l) -> (m, l)>
#turn = affine_map<(m, l) -> (l, m)>
// CHECK-LABEL: func @turned
// CHECK:       %[[OUT:.*]] = memref.alloc() : memref<64x99xf32>
// CHECK:       scf.for
// CHECK:         vector.shuffle
// CHECK:         vector.store %{{.*}}, %[[OUT]][{{.*}}] : memref<64x99xf32>, vector<8xf32>
// Three rows are left over.
// CHECK:         vector.maskedstore %{{.*}} : memref<64x99xf32>, vector<4xi1>, vector<4xf32>
// CHECK-NOT:   linalg.generic
// CHECK:       return
func.func @turned(%x: memref<500xf32>, %w: memref<10x64xf32>) -> memref<64x99xf32> {
  %zero = arith.constant 0.0 : f32
  %sums = memref.alloc() : memref<99x64xf32>
  linalg.fill ins(%zero : f32) outs(%sums : memref<99x64xf32>)
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %w : memref<500xf32>, memref<10x64xf32>) outs(%sums : memref<99x64xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p fastmath<reassoc> : f32
    linalg.yield %t : f32
  }
  %out = memref.alloc() : memref<64x99xf32>
  linalg.generic {indexing_maps = [#turn, #id], iterator_types = ["parallel", "parallel"]}
      ins(%sums : memref<99x64xf32>) outs(%out : memref<64x99xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  memref.dealloc %sums : memref<99x64xf32>
  return %out : memref<64x99xf32>
}

// -----

// What is copied to the whole of a buffer is what sums in a view of it begin
// with.

#channel = affine_map<(a, b, m) -> (m)>
#all = affine_map<(a, b, m) -> (a, b, m)>
#a = affine_map<(r, k, m) -> (r, k)>
#b = affine_map<(r, k, m) -> (k, m)>
#c = affine_map<(r, k, m) -> (r, m)>
// CHECK-LABEL: func @view
// CHECK-SAME:  %[[BIAS:[a-z0-9]+]]: memref<32xf32>
// CHECK:       scf.for
// CHECK:         vector.load %[[BIAS]]
// CHECK:         scf.for {{.*}} iter_args
// CHECK:         vector.store
// CHECK-NOT:   scf.for
// CHECK:       return
func.func @view(%bias: memref<32xf32>, %x: memref<16x48xf32>, %w: memref<48x32xf32>) -> memref<2x8x32xf32> {
  %y = memref.alloc() : memref<2x8x32xf32>
  linalg.generic {indexing_maps = [#channel, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%bias : memref<32xf32>) outs(%y : memref<2x8x32xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  %rows = memref.collapse_shape %y [[0, 1], [2]] : memref<2x8x32xf32> into memref<16x32xf32>
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %w : memref<16x48xf32>, memref<48x32xf32>) outs(%rows : memref<16x32xf32>) {
  ^bb0(%e: f32, %f: f32, %s: f32):
    %p = arith.mulf %e, %f : f32
    %t = arith.addf %s, %p fastmath<reassoc> : f32
    linalg.yield %t : f32
  }
  return %y : memref<2x8x32xf32>
}

// -----

// The rows of a small image are one long row for a transpose.

#nchw = affine_map<(n, c, h, w) -> (n, c, h, w)>
#nhwc = affine_map<(n, c, h, w) -> (n, h, w, c)>
// CHECK-LABEL: func @joined
// CHECK:       memref.collapse_shape %{{.*}} {{\[\[}}0], [1, 2], [3]]
// CHECK:       memref.collapse_shape %{{.*}} {{\[\[}}0], [1], [2, 3]]
// CHECK:       scf.for {{.*}} to %c49
func.func @joined(%x: memref<2x7x7x32xf32>, %y: memref<2x32x7x7xf32>) {
  linalg.generic {indexing_maps = [#nhwc, #nchw], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x : memref<2x7x7x32xf32>) outs(%y : memref<2x32x7x7xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  return
}

// -----

// An operand of channels that is read with axes of one element is not joined.

#nchw = affine_map<(n, c, h, w) -> (n, c, h, w)>
#nhwc = affine_map<(n, c, h, w) -> (n, h, w, c)>
#point = affine_map<(n, c, h, w) -> (0, c, 0, 0)>
// CHECK-LABEL: func @broadcast
// CHECK-NOT:   memref.collapse_shape
// CHECK:       return
func.func @broadcast(%x: memref<2x7x7x32xf32>, %c: memref<1x32x1x1xf32>, %y: memref<2x32x7x7xf32>) {
  linalg.generic {indexing_maps = [#nhwc, #point, #nchw], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x, %c : memref<2x7x7x32xf32>, memref<1x32x1x1xf32>) outs(%y : memref<2x32x7x7xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    linalg.yield %m : f32
  }
  return
}
