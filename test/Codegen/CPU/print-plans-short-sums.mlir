// RUN: loopc-opt %s -pass-pipeline='builtin.module(loopc-set-target{vector-bits=512 registers=32 mask-bits=8},loopc-print-plans)' -o /dev/null | FileCheck %s
// RUN: loopc-opt %s -pass-pipeline='builtin.module(loopc-set-target{vector-bits=256 registers=16 mask-bits=32},loopc-print-plans)' -o /dev/null | FileCheck %s --check-prefix=AVX2

// Sums of few columns, of windows of an image, and of the last rows of a batch.

#in = affine_map<(c, i, k, j) -> (c, i, j + k)>
#kernel = affine_map<(c, i, k, j) -> (k)>
#out = affine_map<(c, i, k, j) -> (c, i, j)>

// Three columns of windows of seven: to put each element together of a vector
// along the window takes longer than vectors of three elements.
// CHECK: {{^}}few_columns: contraction loops=256x3x7x3 vectors=4 along=d3 {{.*}}tile=8x1
func.func @few_columns(%x: memref<256x3x9xf32>, %shape: memref<7xf32>, %y: memref<256x3x3xf32>) {
  linalg.generic {indexing_maps = [#in, #kernel, #out], iterator_types = ["parallel", "parallel", "reduction", "parallel"]}
      ins(%x, %shape : memref<256x3x9xf32>, memref<7xf32>) outs(%y : memref<256x3x3xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %t = arith.addf %s, %a fastmath<reassoc, contract> : f32
    linalg.yield %t : f32
  }
  return
}

// Of windows of many elements it does not.
// CHECK: {{^}}long_windows: contraction loops=256x3x99x3 vectors=16 along-sum=d2
func.func @long_windows(%x: memref<256x3x101xf32>, %shape: memref<99xf32>, %y: memref<256x3x3xf32>) {
  linalg.generic {indexing_maps = [#in, #kernel, #out], iterator_types = ["parallel", "parallel", "reduction", "parallel"]}
      ins(%x, %shape : memref<256x3x101xf32>, memref<99xf32>) outs(%y : memref<256x3x3xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %t = arith.addf %s, %a fastmath<reassoc, contract> : f32
    linalg.yield %t : f32
  }
  return
}

// An open row has one vector most often.
// CHECK: {{^}}open_row: contraction loops=256x?x7x? vectors=16 along=d3 {{.*}}tile=1x8 rest=narrow:1
func.func @open_row(%x: memref<256x?x?xf32>, %shape: memref<7xf32>, %y: memref<256x?x?xf32>) {
  linalg.generic {indexing_maps = [#in, #kernel, #out], iterator_types = ["parallel", "parallel", "reduction", "parallel"]}
      ins(%x, %shape : memref<256x?x?xf32>, memref<7xf32>) outs(%y : memref<256x?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %t = arith.maximumf %s, %a fastmath<nsz> : f32
    linalg.yield %t : f32
  }
  return
}

// One filter a channel: up to nine elements of a row of it are written out, so
// that neighbours of a tile load what they share once.
#image = affine_map<(i, j, p, q, c) -> (i + p, j + q, c)>
#filter = affine_map<(i, j, p, q, c) -> (p, q, c)>
#place = affine_map<(i, j, p, q, c) -> (i, j, c)>
// CHECK: {{^}}filters: contraction loops=28x28x7x7x64 vectors=16 along=d4 rows=d1 sum=d2,d3 outer=d0 sum-written-out tile=7x2
func.func @filters(%x: memref<34x34x64xf32>, %w: memref<7x7x64xf32>, %y: memref<28x28x64xf32>) {
  linalg.generic {indexing_maps = [#image, #filter, #place], iterator_types = ["parallel", "parallel", "reduction", "reduction", "parallel"]}
      ins(%x, %w : memref<34x34x64xf32>, memref<7x7x64xf32>) outs(%y : memref<28x28x64xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p fastmath<contract> : f32
    linalg.yield %t : f32
  }
  return
}

// The last rows of an open number are done by tiles of four, three and two, of
// which no row is computed twice; with fewer registers by three and two.
#x = affine_map<(m, k, n) -> (m, k)>
#packed = affine_map<(m, k, n) -> (n floordiv 32, k, n mod 32)>
#y = affine_map<(m, k, n) -> (m, n)>
// CHECK: {{^}}batch: contraction loops=?x512x64 {{.*}} | rows<2: {{.*}} | else: tile=8x2 {{.*}}rest-rows=4,3{{$}}
// AVX2: {{^}}batch: contraction loops=?x512x64 {{.*}} | rows<2: {{.*}} | else: tile=6x2 {{.*}}rest-rows=3,2{{$}}
func.func @batch(%x: memref<?x512xf32>, %w: memref<2x512x32xf32>, %y: memref<?x64xf32>) {
  linalg.generic {indexing_maps = [#x, #packed, #y], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %w : memref<?x512xf32>, memref<2x512x32xf32>) outs(%y : memref<?x64xf32>) attrs = {loopc.packed} {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p fastmath<contract> : f32
    linalg.yield %t : f32
  }
  return
}

// Weights of 16 bits are widened once for four tiles of rows, though the results
// of one tile would be stored in order.
#panels = affine_map<(m, k, n) -> (n floordiv 32, k, n mod 32)>
// CHECK: {{^}}widened: contraction loops=?x32x144 {{.*}} | else: tile=8x2 row-block=32 strip
func.func @widened(%x: memref<?x32xf32>, %w: memref<5x32x32xf16>, %y: memref<?x144xf32>) {
  linalg.generic {indexing_maps = [#x, #panels, #y], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %w : memref<?x32xf32>, memref<5x32x32xf16>) outs(%y : memref<?x144xf32>) attrs = {loopc.packed} {
  ^bb0(%a: f32, %b: f16, %s: f32):
    %c = arith.extf %b : f16 to f32
    %p = arith.mulf %a, %c fastmath<contract> : f32
    %t = arith.addf %s, %p fastmath<reassoc, contract> : f32
    linalg.yield %t : f32
  }
  return
}
