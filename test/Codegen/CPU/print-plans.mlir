// RUN: loopc-opt %s -pass-pipeline='builtin.module(loopc-set-target{vector-bits=512 registers=32 mask-bits=8},loopc-print-plans)' -o /dev/null | FileCheck %s
// RUN: loopc-opt %s -pass-pipeline='builtin.module(loopc-set-target{vector-bits=256 registers=16 mask-bits=32},loopc-print-plans)' -o /dev/null | FileCheck %s --check-prefix=AVX2
// RUN: loopc-opt %s -pass-pipeline='builtin.module(loopc-set-target{vector-bits=128 registers=32 mask-bits=0},loopc-print-plans)' -o /dev/null | FileCheck %s --check-prefix=NEON

// How products are computed is said in one line for each, without changing them.

#x = affine_map<(m, k, n) -> (m, k)>
#w = affine_map<(m, k, n) -> (k, n)>
#t = affine_map<(m, k, n) -> (n, k)>
#y = affine_map<(m, k, n) -> (m, n)>
#id = affine_map<(i, j) -> (i, j)>

// All is known: the fill is what the sums begin with.
// CHECK: {{^}}square: contraction loops=64x256x96 vectors=16 along=d2 rows=d0 sum=d1 start=filled tile=8x2{{$}}
// AVX2: {{^}}square: contraction loops=64x256x96 vectors=8 along=d2 rows=d0 sum=d1 start=filled tile=6x2{{$}}
func.func @square(%x: memref<64x256xf32>, %w: memref<256x96xf32>, %y: memref<64x96xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<64x96xf32>)
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %w : memref<64x256xf32>, memref<256x96xf32>) outs(%y : memref<64x96xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p fastmath<contract> : f32
    linalg.yield %t : f32
  }
  return
}

// Of short sums, whose other operand stays in the first cache, all columns of a
// tile's rows are done before the next rows: results are stored in their order.
// CHECK: {{^}}stored_in_order: contraction loops=300x16x96 vectors=16 along=d2 rows=d0 sum=d1 tile=8x2 row-block=8{{$}}
// AVX2: {{^}}stored_in_order: contraction loops=300x16x96 vectors=8 along=d2 rows=d0 sum=d1 tile=6x2 row-block=6{{$}}
// NEON: {{^}}stored_in_order: contraction loops=300x16x96 vectors=4 along=d2 rows=d0 sum=d1 tile=8x2 row-block=8{{$}}
func.func @stored_in_order(%x: memref<300x16xf32>, %w: memref<16x96xf32>, %y: memref<300x96xf32>) {
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %w : memref<300x16xf32>, memref<16x96xf32>) outs(%y : memref<300x96xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p fastmath<contract> : f32
    linalg.yield %t : f32
  }
  return
}

// Of what one tile has all columns of, a block has several tiles.
// CHECK: {{^}}single_tile: contraction loops=300x16x32 vectors=16 along=d2 rows=d0 sum=d1 tile=8x2 row-block=32{{$}}
func.func @single_tile(%x: memref<300x16xf32>, %w: memref<16x32xf32>, %y: memref<300x32xf32>) {
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %w : memref<300x16xf32>, memref<16x32xf32>) outs(%y : memref<300x32xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p fastmath<contract> : f32
    linalg.yield %t : f32
  }
  return
}

// More rows than fit into the second cache go by blocks.
// CHECK: {{^}}rows: contraction loops=300x64x100 vectors=16 along=d2 rows=d0 sum=d1 tile=8x2 row-block=32 rest=masked:1{{$}}
// AVX2: {{^}}rows: contraction loops=300x64x100 vectors=8 along=d2 rows=d0 sum=d1 tile=6x2 row-block=24 rest=masked:1{{$}}
// NEON: {{^}}rows: contraction loops=300x64x100 vectors=4 along=d2 rows=d0 sum=d1 tile=8x2 row-block=32 rest=halves{{$}}
func.func @rows(%x: memref<300x64xf32>, %w: memref<64x100xf32>, %y: memref<300x100xf32>) {
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %w : memref<300x64xf32>, memref<64x100xf32>) outs(%y : memref<300x100xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p fastmath<contract> : f32
    linalg.yield %t : f32
  }
  return
}

// The batch comes last, as transformers with the batch first have it: it may be
// one, and of the steps many are known.
// CHECK: {{^}}steps: contraction loops=101x?x384x192 vectors=16 along=d3 rows=d0 sum=d2 outer=d1 tile=8x2
func.func @steps(%x: memref<?x101x384xf32>, %w: memref<384x192xf32>, %y: memref<101x?x192xf32>) {
  linalg.generic {indexing_maps = [affine_map<(t, b, k, n) -> (b, t, k)>, affine_map<(t, b, k, n) -> (k, n)>, affine_map<(t, b, k, n) -> (t, b, n)>],
                  iterator_types = ["parallel", "parallel", "reduction", "parallel"]}
      ins(%x, %w : memref<?x101x384xf32>, memref<384x192xf32>) outs(%y : memref<101x?x192xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p fastmath<contract> : f32
    linalg.yield %t : f32
  }
  return
}

// One row: eight vectors at a time, so that additions overlap.
// CHECK: {{^}}row: contraction loops=1x256x1024 vectors=16 along=d2 sum=d1 outer=d0 tile=1x8{{$}}
func.func @row(%x: memref<1x256xf32>, %w: memref<256x1024xf32>, %y: memref<1x1024xf32>) {
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %w : memref<1x256xf32>, memref<256x1024xf32>) outs(%y : memref<1x1024xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p fastmath<contract> : f32
    linalg.yield %t : f32
  }
  return
}

// A row times a large matrix: each of its rows is read to its end.
// CHECK: {{^}}matrix: contraction loops=1x2048x1024 vectors=16 along=d2 sum=d1 outer=d0 tile=1x4 matrix-rows=8{{$}}
func.func @matrix(%x: memref<1x2048xf32>, %w: memref<2048x1024xf32>, %y: memref<1x1024xf32>) {
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %w : memref<1x2048xf32>, memref<2048x1024xf32>) outs(%y : memref<1x1024xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p fastmath<contract> : f32
    linalg.yield %t : f32
  }
  return
}

// Sums of up to one and a half blocks are done at once, longer ones in blocks,
// if there are many rows.
// CHECK: {{^}}long_sums: contraction loops=64x768x40 vectors=16 along=d2 rows=d0 sum=d1 tile=8x2 rest=masked:1{{$}}
func.func @long_sums(%x: memref<64x768xf32>, %w: memref<768x40xf32>, %y: memref<64x40xf32>) {
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %w : memref<64x768xf32>, memref<768x40xf32>) outs(%y : memref<64x40xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p fastmath<contract> : f32
    linalg.yield %t : f32
  }
  return
}

// CHECK: {{^}}longer_sums: contraction loops=64x769x40 vectors=16 along=d2 rows=d0 sum=d1 tile=8x2 sum-block=512 rest=masked:1{{$}}
func.func @longer_sums(%x: memref<64x769xf32>, %w: memref<769x40xf32>, %y: memref<64x40xf32>) {
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %w : memref<64x769xf32>, memref<769x40xf32>) outs(%y : memref<64x40xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p fastmath<contract> : f32
    linalg.yield %t : f32
  }
  return
}

// CHECK: {{^}}few_long_sums: contraction loops=16x4096x40 vectors=16 along=d2 rows=d0 sum=d1 tile=8x2 rest=masked:1{{$}}
func.func @few_long_sums(%x: memref<16x4096xf32>, %w: memref<4096x40xf32>, %y: memref<16x40xf32>) {
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %w : memref<16x4096xf32>, memref<4096x40xf32>) outs(%y : memref<16x40xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p fastmath<contract> : f32
    linalg.yield %t : f32
  }
  return
}

// Two versions: few rows read the operand as it is, many a strip of it.
// CHECK: {{^}}open_rows: contraction loops=?x256x64 vectors=16 along=d2 rows=d0 sum=d1 packs=%1x256 | rows<3: tile=1x4 | else: tile=8x2 row-block=256 strip{{$}}
// NEON: {{^}}open_rows: contraction loops=?x256x64 vectors=4 along=d2 rows=d0 sum=d1 packs=%1x256 | rows<3: tile=1x8 | else: tile=8x2 row-block=256 strip{{$}}
func.func @open_rows(%x: memref<?x256xf32>, %w: memref<256x64xf32>, %y: memref<?x64xf32>) {
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %w : memref<?x256xf32>, memref<256x64xf32>) outs(%y : memref<?x64xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p fastmath<contract> : f32
    linalg.yield %t : f32
  }
  return
}

// CHECK: {{^}}open: contraction loops=?x?x? vectors=16 along=d2 rows=d0 sum=d1 packs=%1x512 | rows<3: tile=1x4 matrix-rows=8 rest=all-masked | else: tile=8x2 sum-block=512 row-block=256 strip rest=single-vectors{{$}}
// NEON: {{^}}open: contraction loops=?x?x? vectors=4 along=d2 rows=d0 sum=d1 packs=%1x512 | rows<3: tile=1x4 matrix-rows=8 rest=halves | else: tile=8x2 sum-block=512 row-block=256 strip rest=halves{{$}}
func.func @open(%x: memref<?x?xf32>, %w: memref<?x?xf32>, %y: memref<?x?xf32>) {
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %w : memref<?x?xf32>, memref<?x?xf32>) outs(%y : memref<?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p fastmath<contract> : f32
    linalg.yield %t : f32
  }
  return
}

// A window along the other axis of an image is no matrix whose rows are read one
// after the other: what is left of a row is a narrow tile.
// CHECK: {{^}}window: contraction loops=?x5x? vectors=16 along=d2 sum=d1 outer=d0 tile=1x8 rest=narrow:1{{$}}
func.func @window(%x: memref<?x?xf32>, %shape: memref<5xf32>, %y: memref<?x?xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, k, j) -> (i + k, j)>, affine_map<(i, k, j) -> (k)>, affine_map<(i, k, j) -> (i, j)>], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %shape : memref<?x?xf32>, memref<5xf32>) outs(%y : memref<?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %m = arith.maximumf %a, %s : f32
    linalg.yield %m : f32
  }
  return
}

// What stays in the first cache is not brought together, whatever the number of
// rows: all sums stay in registers, and what follows is computed on them.
// CHECK: {{^}}small_weights: contraction loops=?x64x64 vectors=16 along=d2 rows=d0 sum=d1 start=filled epilogue | rows<3: tile=1x4 | else: tile=8x2 row-block=8{{$}}
func.func @small_weights(%x: memref<?x64xf32>, %w: memref<64x64xf32>, %y: memref<?x64xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<?x64xf32>)
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %w : memref<?x64xf32>, memref<64x64xf32>) outs(%y : memref<?x64xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p fastmath<contract> : f32
    linalg.yield %t : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%y : memref<?x64xf32>) outs(%y : memref<?x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.maximumf %a, %zero : f32
    linalg.yield %m : f32
  }
  return
}

// Of an image the rows of tiles are the positions along both of its axes, since
// neither 14 of them nor an open number is a number of whole tiles. 24 sums fill
// the registers; with half as many registers tiles are as for other products.
#image = affine_map<(b, h, w, y, x, c, n) -> (b, h + y, w + x, c)>
#kernel = affine_map<(b, h, w, y, x, c, n) -> (y, x, c, n)>
#result = affine_map<(b, h, w, y, x, c, n) -> (b, h, w, n)>
// CHECK: {{^}}open_batch: contraction loops=?x14x14x3x3x64x64 vectors=16 along=d6 rows=d1,d2 sum=d3,d4,d5 outer=d0 tile=6x4 row-block=24{{$}}
// AVX2: {{^}}open_batch: contraction loops=?x14x14x3x3x64x64 vectors=8 along=d6 rows=d1,d2 sum=d3,d4,d5 outer=d0 tile=6x2 row-block=24{{$}}
func.func @open_batch(%x: memref<?x16x16x64xf32>, %w: memref<3x3x64x64xf32>, %y: memref<?x14x14x64xf32>) {
  linalg.generic {indexing_maps = [#image, #kernel, #result], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "parallel"]}
      ins(%x, %w : memref<?x16x16x64xf32>, memref<3x3x64x64xf32>) outs(%y : memref<?x14x14x64xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p fastmath<contract> : f32
    linalg.yield %t : f32
  }
  return
}

// Open height and width have the same plan.
// CHECK: {{^}}open_size: contraction loops=1x?x?x3x3x64x64 vectors=16 along=d6 rows=d1,d2 sum=d3,d4,d5 outer=d0 tile=6x4 row-block=24{{$}}
func.func @open_size(%x: memref<1x?x?x64xf32>, %w: memref<3x3x64x64xf32>, %y: memref<1x?x?x64xf32>) {
  linalg.generic {indexing_maps = [#image, #kernel, #result], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "parallel"]}
      ins(%x, %w : memref<1x?x?x64xf32>, memref<3x3x64x64xf32>) outs(%y : memref<1x?x?x64xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p fastmath<contract> : f32
    linalg.yield %t : f32
  }
  return
}

// 40 positions of a row are eight tiles of five rows.
// CHECK: {{^}}whole_rows: contraction loops=1x40x40x3x3x64x64 vectors=16 along=d6 rows=d2 sum=d3,d4,d5 outer=d0,d1 tile=5x4{{$}}
func.func @whole_rows(%x: memref<1x42x42x64xf32>, %w: memref<3x3x64x64xf32>, %y: memref<1x40x40x64xf32>) {
  linalg.generic {indexing_maps = [#image, #kernel, #result], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "parallel"]}
      ins(%x, %w : memref<1x42x42x64xf32>, memref<3x3x64x64xf32>) outs(%y : memref<1x40x40x64xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p fastmath<contract> : f32
    linalg.yield %t : f32
  }
  return
}

// Sums of 27 products do not hide how rows of two axes are found.
// CHECK: {{^}}short_windows: contraction loops=1x?x?x3x3x3x64 vectors=16 along=d6 rows=d2 sum=d3,d4,d5 outer=d0,d1 sum-written-out | rows<3: tile=1x4 | else: tile=6x4{{$}}
func.func @short_windows(%x: memref<1x?x?x3xf32>, %w: memref<3x3x3x64xf32>, %y: memref<1x?x?x64xf32>) {
  linalg.generic {indexing_maps = [#image, #kernel, #result], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "parallel"]}
      ins(%x, %w : memref<1x?x?x3xf32>, memref<3x3x3x64xf32>) outs(%y : memref<1x?x?x64xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p fastmath<contract> : f32
    linalg.yield %t : f32
  }
  return
}

// One filter a channel: no element is shared by vectors, which more of them in a
// tile would make better use of.
#image1 = affine_map<(b, h, w, y, x, n) -> (b, h + y, w + x, n)>
#kernel1 = affine_map<(b, h, w, y, x, n) -> (y, x, n)>
#result1 = affine_map<(b, h, w, y, x, n) -> (b, h, w, n)>
// CHECK: {{^}}one_filter: contraction loops=?x14x14x5x5x256 vectors=16 along=d5 rows=d2 sum=d3,d4 outer=d0,d1 sum-written-out tile=7x2{{$}}
func.func @one_filter(%x: memref<?x18x18x256xf32>, %w: memref<5x5x256xf32>, %y: memref<?x14x14x256xf32>) {
  linalg.generic {indexing_maps = [#image1, #kernel1, #result1], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "parallel"]}
      ins(%x, %w : memref<?x18x18x256xf32>, memref<5x5x256xf32>) outs(%y : memref<?x14x14x256xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p fastmath<contract> : f32
    linalg.yield %t : f32
  }
  return
}

// Nor do a few columns of an open image: they have no version of their own.
// CHECK: {{^}}open_filter: contraction loops=1x?x?x5x5x256 vectors=16 along=d5 rows=d2
// CHECK-SAME: sum-written-out tile={{[0-9x]+$}}
func.func @open_filter(%x: memref<1x?x?x256xf32>, %w: memref<5x5x256xf32>, %y: memref<1x?x?x256xf32>) {
  linalg.generic {indexing_maps = [#image1, #kernel1, #result1], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "parallel"]}
      ins(%x, %w : memref<1x?x?x256xf32>, memref<5x5x256xf32>) outs(%y : memref<1x?x?x256xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p fastmath<contract> : f32
    linalg.yield %t : f32
  }
  return
}

// Of what is known in front of an open extent, and of less than a tile's rows
// behind it, there are no better tiles.
#rows3 = affine_map<(b, m, k, n) -> (b, m, k)>
#weights3 = affine_map<(b, m, k, n) -> (k, n)>
#result3 = affine_map<(b, m, k, n) -> (b, m, n)>
// CHECK: {{^}}open_rows_behind: contraction loops=14x?x256x64 vectors=16 along=d3 rows=d1 sum=d2 outer=d0 {{.*}}else: tile=8x2
func.func @open_rows_behind(%x: memref<14x?x256xf32>, %w: memref<256x64xf32>, %y: memref<14x?x64xf32>) {
  linalg.generic {indexing_maps = [#rows3, #weights3, #result3], iterator_types = ["parallel", "parallel", "reduction", "parallel"]}
      ins(%x, %w : memref<14x?x256xf32>, memref<256x64xf32>) outs(%y : memref<14x?x64xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p fastmath<contract> : f32
    linalg.yield %t : f32
  }
  return
}

// CHECK: {{^}}two_behind: contraction loops=?x2x256x64 vectors=16 along=d3 rows=d0 sum=d2 outer=d1 {{.*}}else: tile=8x2
func.func @two_behind(%x: memref<?x2x256xf32>, %w: memref<256x64xf32>, %y: memref<?x2x64xf32>) {
  linalg.generic {indexing_maps = [#rows3, #weights3, #result3], iterator_types = ["parallel", "parallel", "reduction", "parallel"]}
      ins(%x, %w : memref<?x2x256xf32>, memref<256x64xf32>) outs(%y : memref<?x2x64xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p fastmath<contract> : f32
    linalg.yield %t : f32
  }
  return
}

// Vectors along the sum, whose order may change; many rows read transposed
// strips instead.
// CHECK: {{^}}transposed: contraction loops=?x256x64 vectors=16 along-sum=d1 rows=d0 columns=d2 sum=d1 | rows<3: tile=1x8 | else: tile=4x4 || rows>=32: loops=?x256x64 vectors=16 along=d2 rows=d0 sum=d1 transposes=%1x256 tile=8x2 strip{{$}}
// NEON: {{^}}transposed: contraction loops=?x256x64 vectors=4 along-sum=d1 rows=d0 columns=d2 sum=d1 | rows<3: tile=1x8 | else: tile=4x4{{$}}
func.func @transposed(%x: memref<?x256xf32>, %w: memref<64x256xf32>, %y: memref<?x64xf32>) {
  linalg.generic {indexing_maps = [#x, #t, #y], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %w : memref<?x256xf32>, memref<64x256xf32>) outs(%y : memref<?x64xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p fastmath<reassoc> : f32
    linalg.yield %t : f32
  }
  return
}

// What follows is computed on the sums.
// CHECK: {{^}}relu: contraction loops=64x256x96 vectors=16 along=d2 rows=d0 sum=d1 start=filled epilogue tile=8x2{{$}}
func.func @relu(%x: memref<64x256xf32>, %w: memref<256x96xf32>, %y: memref<64x96xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<64x96xf32>)
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %w : memref<64x256xf32>, memref<256x96xf32>) outs(%y : memref<64x96xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p fastmath<contract> : f32
    linalg.yield %t : f32
  }
  %c = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%y : memref<64x96xf32>) outs(%y : memref<64x96xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.maximumf %a, %c : f32
    linalg.yield %m : f32
  }
  return
}

// Short sums whose results are stored transposed, in whole cache lines: squares.
// Of longer sums two vectors share an element.
#turn = affine_map<(i, j) -> (j, i)>
// CHECK: {{^}}turned: contraction loops=96x3x64 vectors=16 along=d2 rows=d0 sum=d1 start=filled epilogue=turned tile=16x1{{$}}
// AVX2: {{^}}turned: contraction loops=96x3x64 vectors=8 along=d2 rows=d0 sum=d1 start=filled epilogue=turned tile=8x1{{$}}
func.func @turned(%x: memref<96x3xf32>, %w: memref<3x64xf32>) -> memref<64x96xf32> {
  %zero = arith.constant 0.0 : f32
  %y = memref.alloc() : memref<96x64xf32>
  linalg.fill ins(%zero : f32) outs(%y : memref<96x64xf32>)
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %w : memref<96x3xf32>, memref<3x64xf32>) outs(%y : memref<96x64xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p fastmath<contract> : f32
    linalg.yield %t : f32
  }
  %r = memref.alloc() : memref<64x96xf32>
  linalg.generic {indexing_maps = [#turn, #id], iterator_types = ["parallel", "parallel"]}
      ins(%y : memref<96x64xf32>) outs(%r : memref<64x96xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  memref.dealloc %y : memref<96x64xf32>
  return %r : memref<64x96xf32>
}

// CHECK: {{^}}turned_long: contraction loops=96x64x64 {{.*}} epilogue=turned tile=8x2{{$}}
func.func @turned_long(%x: memref<96x64xf32>, %w: memref<64x64xf32>) -> memref<64x96xf32> {
  %zero = arith.constant 0.0 : f32
  %y = memref.alloc() : memref<96x64xf32>
  linalg.fill ins(%zero : f32) outs(%y : memref<96x64xf32>)
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %w : memref<96x64xf32>, memref<64x64xf32>) outs(%y : memref<96x64xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p fastmath<contract> : f32
    linalg.yield %t : f32
  }
  %r = memref.alloc() : memref<64x96xf32>
  linalg.generic {indexing_maps = [#turn, #id], iterator_types = ["parallel", "parallel"]}
      ins(%y : memref<96x64xf32>) outs(%r : memref<64x96xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  memref.dealloc %y : memref<96x64xf32>
  return %r : memref<64x96xf32>
}

// Rows of 4 KiB are stored into one set of the cache, and of open rows it may be
// so: halves of their lines would be lost before the other halves come.
// CHECK: {{^}}turned_conflicts: contraction loops=1024x48x64 {{.*}} epilogue=turned tile=16x1 row-block=512{{$}}
func.func @turned_conflicts(%x: memref<1024x48xf32>, %w: memref<48x64xf32>) -> memref<64x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %y = memref.alloc() : memref<1024x64xf32>
  linalg.fill ins(%zero : f32) outs(%y : memref<1024x64xf32>)
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %w : memref<1024x48xf32>, memref<48x64xf32>) outs(%y : memref<1024x64xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p fastmath<contract> : f32
    linalg.yield %t : f32
  }
  %r = memref.alloc() : memref<64x1024xf32>
  linalg.generic {indexing_maps = [#turn, #id], iterator_types = ["parallel", "parallel"]}
      ins(%y : memref<1024x64xf32>) outs(%r : memref<64x1024xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  memref.dealloc %y : memref<1024x64xf32>
  return %r : memref<64x1024xf32>
}

// CHECK: {{^}}turned_open: contraction loops=?x48x64 {{.*}} epilogue=turned | rows<3: {{.*}} | else: tile=16x1 row-block=512{{$}}
func.func @turned_open(%x: memref<?x48xf32>, %w: memref<48x64xf32>, %n: index) -> memref<64x?xf32> {
  %zero = arith.constant 0.0 : f32
  %y = memref.alloc(%n) : memref<?x64xf32>
  linalg.fill ins(%zero : f32) outs(%y : memref<?x64xf32>)
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %w : memref<?x48xf32>, memref<48x64xf32>) outs(%y : memref<?x64xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p fastmath<contract> : f32
    linalg.yield %t : f32
  }
  %r = memref.alloc(%n) : memref<64x?xf32>
  linalg.generic {indexing_maps = [#turn, #id], iterator_types = ["parallel", "parallel"]}
      ins(%y : memref<?x64xf32>) outs(%r : memref<64x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  memref.dealloc %y : memref<?x64xf32>
  return %r : memref<64x?xf32>
}

// CHECK: {{^}}turned_apart: contraction loops=99x3x64 {{.*}} epilogue=turned tile=8x2{{$}}
func.func @turned_apart(%x: memref<99x3xf32>, %w: memref<3x64xf32>) -> memref<64x99xf32> {
  %zero = arith.constant 0.0 : f32
  %y = memref.alloc() : memref<99x64xf32>
  linalg.fill ins(%zero : f32) outs(%y : memref<99x64xf32>)
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %w : memref<99x3xf32>, memref<3x64xf32>) outs(%y : memref<99x64xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p fastmath<contract> : f32
    linalg.yield %t : f32
  }
  %r = memref.alloc() : memref<64x99xf32>
  linalg.generic {indexing_maps = [#turn, #id], iterator_types = ["parallel", "parallel"]}
      ins(%y : memref<99x64xf32>) outs(%r : memref<64x99xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  memref.dealloc %y : memref<99x64xf32>
  return %r : memref<64x99xf32>
}

// What is one instruction is light, functions of math are not.
// CHECK: {{^}}floor: contraction loops=64x256x96 vectors=16 along=d2 rows=d0 sum=d1 start=filled epilogue tile=8x2{{$}}
func.func @floor(%x: memref<64x256xf32>, %w: memref<256x96xf32>, %y: memref<64x96xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<64x96xf32>)
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %w : memref<64x256xf32>, memref<256x96xf32>) outs(%y : memref<64x96xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p fastmath<contract> : f32
    linalg.yield %t : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%y : memref<64x96xf32>) outs(%y : memref<64x96xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = math.floor %a : f32
    linalg.yield %m : f32
  }
  return
}

// CHECK: {{^}}exp: contraction loops=64x256x96 vectors=16 along=d2 rows=d0 sum=d1 start=filled tile=8x2{{$}}
func.func @exp(%x: memref<64x256xf32>, %w: memref<256x96xf32>, %y: memref<64x96xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<64x96xf32>)
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %w : memref<64x256xf32>, memref<256x96xf32>) outs(%y : memref<64x96xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p fastmath<contract> : f32
    linalg.yield %t : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%y : memref<64x96xf32>) outs(%y : memref<64x96xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = math.exp %a : f32
    linalg.yield %m : f32
  }
  return
}

// The copy of an operand into panels of two vectors, the last of which is not
// whole: what fills them with zeros is not needed.
#id2 = affine_map<(i, j) -> (i, j)>
#panels = affine_map<(k, n) -> (n floordiv 32, k, n mod 32)>
// CHECK: {{^}}panels: copy panels=d1x32 vectors=16 masks-columns writes-padding{{$}}
func.func @panels(%w: memref<256x100xf32>, %y: memref<4x256x32xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<4x256x32xf32>)
  linalg.generic {indexing_maps = [#id2, #panels], iterator_types = ["parallel", "parallel"]}
      ins(%w : memref<256x100xf32>) outs(%y : memref<4x256x32xf32>) attrs = {loopc.packed} {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  return
}

// Its transpose: squares of vectors.
#turned = affine_map<(n, k) -> (n floordiv 32, k, n mod 32)>
// CHECK: {{^}}turned_panels: copy panels=d0x32 vectors=16 transposed masks-rows{{$}}
func.func @turned_panels(%w: memref<128x?xf32>, %y: memref<4x?x32xf32>) {
  linalg.generic {indexing_maps = [#id2, #turned], iterator_types = ["parallel", "parallel"]}
      ins(%w : memref<128x?xf32>) outs(%y : memref<4x?x32xf32>) attrs = {loopc.packed} {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  return
}

// Narrow weights in panels, with a scale for each column: for many rows a strip
// holds them as floats; of an unknown number few are multiplied without it.
#px = affine_map<(m, k, n) -> (m, k)>
#pw = affine_map<(m, k, n) -> (n floordiv 32, k, n mod 32)>
#ps = affine_map<(m, k, n) -> (n)>
#py = affine_map<(m, k, n) -> (m, n)>
// CHECK: {{^}}widened: contraction loops=40x256x96 vectors=16 along=d2 rows=d0 sum=d1 packs=%1x256 widened tile=8x2 strip{{$}}
func.func @widened(%x: memref<40x256xf32>, %w: memref<3x256x32xi8>, %s: memref<96xf32>, %y: memref<40x96xf32>) {
  linalg.generic {indexing_maps = [#px, #pw, #ps, #py], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %w, %s : memref<40x256xf32>, memref<3x256x32xi8>, memref<96xf32>) outs(%y : memref<40x96xf32>) attrs = {loopc.packed} {
  ^bb0(%a: f32, %b: i8, %c: f32, %o: f32):
    %f = arith.sitofp %b : i8 to f32
    %g = arith.mulf %f, %c : f32
    %p = arith.mulf %a, %g : f32
    %t = arith.addf %o, %p fastmath<contract> : f32
    linalg.yield %t : f32
  }
  return
}

// CHECK: {{^}}widened_few: contraction loops=16x256x96 vectors=16 along=d2 rows=d0 sum=d1 tile=8x2{{$}}
func.func @widened_few(%x: memref<16x256xf32>, %w: memref<3x256x32xf16>, %y: memref<16x96xf32>) {
  linalg.generic {indexing_maps = [#px, #pw, #py], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %w : memref<16x256xf32>, memref<3x256x32xf16>) outs(%y : memref<16x96xf32>) attrs = {loopc.packed} {
  ^bb0(%a: f32, %b: f16, %o: f32):
    %f = arith.extf %b : f16 to f32
    %p = arith.mulf %a, %f : f32
    %t = arith.addf %o, %p fastmath<contract> : f32
    linalg.yield %t : f32
  }
  return
}

// CHECK: {{^}}widened_open: contraction loops=?x256x96 {{.*}}packs=%1x256 widened | rows<2: tile=1x8 rest=masked:6 | rows<32: tile=8x2 row-block=256 rest-rows=4,3 | else: tile=8x2 row-block=256 strip{{$}}
func.func @widened_open(%x: memref<?x256xf32>, %w: memref<3x256x32xf16>, %y: memref<?x96xf32>) {
  linalg.generic {indexing_maps = [#px, #pw, #py], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %w : memref<?x256xf32>, memref<3x256x32xf16>) outs(%y : memref<?x96xf32>) attrs = {loopc.packed} {
  ^bb0(%a: f32, %b: f16, %o: f32):
    %f = arith.extf %b : f16 to f32
    %p = arith.mulf %a, %f : f32
    %t = arith.addf %o, %p fastmath<contract> : f32
    linalg.yield %t : f32
  }
  return
}

// Sums that are shorter than a vector, of weights with the sum last.
// CHECK: {{^}}short_sums: contraction loops=64x8x96 {{.*}}transposes=%1x16 {{.*}}strip{{$}}
func.func @short_sums(%x: memref<64x8xf32>, %w: memref<96x8xf32>, %y: memref<64x96xf32>) {
  linalg.generic {indexing_maps = [#x, #t, #y], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %w : memref<64x8xf32>, memref<96x8xf32>) outs(%y : memref<64x96xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %o, %p fastmath<reassoc> : f32
    linalg.yield %s : f32
  }
  return
}

// Sums of few vectors, of heads side by side: scores of an attention that is
// written as an Einsum. Of more vectors each sum is added up as it is.
#q = affine_map<(h, m, n, k) -> (h, m, k)>
#k = affine_map<(h, m, n, k) -> (h, n, k)>
#scores = affine_map<(h, m, n, k) -> (h, m, n)>
// CHECK: {{^}}few_vectors: contraction loops=8x50x60x32 {{.*}}transposes=%1x32 tile=8x2 strip
func.func @few_vectors(%q: memref<8x50x32xf32>, %k: memref<8x60x32xf32>, %y: memref<8x50x60xf32>) {
  linalg.generic {indexing_maps = [#q, #k, #scores], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : memref<8x50x32xf32>, memref<8x60x32xf32>) outs(%y : memref<8x50x60xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %o, %p fastmath<reassoc> : f32
    linalg.yield %s : f32
  }
  return
}

// CHECK: {{^}}more_vectors: contraction loops=8x50x60x128 vectors=16 along-sum=d3 {{.*}} tile=4x4{{$}}
func.func @more_vectors(%q: memref<8x50x128xf32>, %k: memref<8x60x128xf32>, %y: memref<8x50x60xf32>) {
  linalg.generic {indexing_maps = [#q, #k, #scores], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : memref<8x50x128xf32>, memref<8x60x128xf32>) outs(%y : memref<8x50x60xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %o, %p fastmath<reassoc> : f32
    linalg.yield %s : f32
  }
  return
}

// Rows that are reduced: four at once share what their vectors are summed up
// with; one that is long stands alone, and has four sums.
// CHECK: {{^}}row_sums: rows vectors=16 rows=4 of=d0 reduces=addf into=#0 sums=4{{$}}
// AVX2: {{^}}row_sums: rows vectors=8 rows=4 of=d0 reduces=addf into=#0 sums=4{{$}}
// NEON-NOT: row_sums
func.func @row_sums(%x: memref<64x100xf32>, %y: memref<64xf32>) {
  linalg.generic {indexing_maps = [#id, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<64x100xf32>) outs(%y : memref<64xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %s, %a fastmath<reassoc> : f32
    linalg.yield %t : f32
  }
  return
}

// CHECK: {{^}}long_row: rows vectors=16 reduces=maximumf into=#0 sums=4{{$}}
func.func @long_row(%x: memref<64x2000xf32>, %y: memref<64xf32>) {
  linalg.generic {indexing_maps = [#id, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<64x2000xf32>) outs(%y : memref<64xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.maximumf %s, %a : f32
    linalg.yield %t : f32
  }
  return
}

// A bias for each row: nothing is reduced.
// CHECK: {{^}}bias: rows vectors=16{{$}}
func.func @bias(%x: memref<64x100xf32>, %v: memref<64xf32>, %y: memref<64x100xf32>) {
  linalg.generic {indexing_maps = [#id, affine_map<(i, j) -> (i)>, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %v : memref<64x100xf32>, memref<64xf32>) outs(%y : memref<64x100xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %t = arith.addf %a, %b : f32
    linalg.yield %t : f32
  }
  return
}

// What is reduced along the first axis stays in registers, by strips of columns:
// the order of additions is kept.
// CHECK: {{^}}column_sums: columns vectors=16 strip=4 reduced=d0{{$}}
// CHECK: {{^}}short_columns: columns vectors=16 strip=1 reduced=d0{{$}}
func.func @column_sums(%x: memref<64x?xf32>, %y: memref<?xf32>) {
  linalg.generic {indexing_maps = [#id, affine_map<(i, j) -> (j)>], iterator_types = ["reduction", "parallel"]}
      ins(%x : memref<64x?xf32>) outs(%y : memref<?xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %s, %a : f32
    linalg.yield %t : f32
  }
  return
}
func.func @short_columns(%x: memref<64x20xf32>, %y: memref<20xf32>) {
  linalg.generic {indexing_maps = [#id, affine_map<(i, j) -> (j)>], iterator_types = ["reduction", "parallel"]}
      ins(%x : memref<64x20xf32>) outs(%y : memref<20xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %s, %a : f32
    linalg.yield %t : f32
  }
  return
}

// What is computed element by element beside column sums is stored.
// CHECK: {{^}}state_and_sums: columns vectors=16 strip=4 reduced=d0 stores=#0{{$}}
func.func @state_and_sums(%s: memref<64x64xf32>, %q: memref<64xf32>, %y: memref<64xf32>) {
  linalg.generic {indexing_maps = [#id, affine_map<(i, j) -> (i)>, #id, affine_map<(i, j) -> (j)>], iterator_types = ["reduction", "parallel"]}
      ins(%s, %q : memref<64x64xf32>, memref<64xf32>) outs(%s, %y : memref<64x64xf32>, memref<64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32, %t: f32):
    %d = arith.addf %a, %a : f32
    %m = arith.mulf %d, %b : f32
    %w = arith.addf %t, %m : f32
    linalg.yield %d, %w : f32, f32
  }
  return
}

// -----

// The buffer of the sums is filled again for another product: what it holds
// until then nobody reads, so that it need not be stored. In @read_again it is.
// CHECK: {{^}}filled_again: {{.*}} start=filled epilogue
// CHECK: {{^}}filled_again: {{.*}} start=filled tile
// CHECK: {{^}}read_again: {{.*}} start=filled tile
func.func @filled_again(%x: memref<64x96xf32>, %w: memref<96x256xf32>, %y: memref<64x256xf32>) {
  %zero = arith.constant 0.0 : f32
  %s = memref.alloc() : memref<64x256xf32>
  %r = memref.alloc() : memref<64x256xf32>
  linalg.fill ins(%zero : f32) outs(%s : memref<64x256xf32>)
  linalg.matmul ins(%x, %w : memref<64x96xf32>, memref<96x256xf32>) outs(%s : memref<64x256xf32>)
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%s : memref<64x256xf32>) outs(%r : memref<64x256xf32>) {
  ^bb0(%a: f32, %o: f32):
    %n = arith.negf %a : f32
    linalg.yield %n : f32
  }
  linalg.fill ins(%zero : f32) outs(%s : memref<64x256xf32>)
  linalg.matmul ins(%x, %w : memref<64x96xf32>, memref<96x256xf32>) outs(%s : memref<64x256xf32>)
  memref.copy %s, %y : memref<64x256xf32> to memref<64x256xf32>
  memref.copy %r, %y : memref<64x256xf32> to memref<64x256xf32>
  memref.dealloc %s : memref<64x256xf32>
  memref.dealloc %r : memref<64x256xf32>
  return
}
func.func @read_again(%x: memref<64x96xf32>, %w: memref<96x256xf32>, %y: memref<64x256xf32>) {
  %zero = arith.constant 0.0 : f32
  %s = memref.alloc() : memref<64x256xf32>
  %r = memref.alloc() : memref<64x256xf32>
  linalg.fill ins(%zero : f32) outs(%s : memref<64x256xf32>)
  linalg.matmul ins(%x, %w : memref<64x96xf32>, memref<96x256xf32>) outs(%s : memref<64x256xf32>)
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%s : memref<64x256xf32>) outs(%r : memref<64x256xf32>) {
  ^bb0(%a: f32, %o: f32):
    %n = arith.negf %a : f32
    linalg.yield %n : f32
  }
  memref.copy %s, %y : memref<64x256xf32> to memref<64x256xf32>
  linalg.fill ins(%zero : f32) outs(%s : memref<64x256xf32>)
  memref.copy %r, %y : memref<64x256xf32> to memref<64x256xf32>
  memref.dealloc %s : memref<64x256xf32>
  memref.dealloc %r : memref<64x256xf32>
  return
}

#open_window = affine_map<(b, i, j, p, q, c, n) -> (b, i + p, j + q, c)>
#open_kernel = affine_map<(b, i, j, p, q, c, n) -> (p, q, c, n)>
#open_image = affine_map<(b, i, j, p, q, c, n) -> (b, i, j, n)>
#open_positions = affine_map<(b, n, i, j) -> (b, i, j, n)>
#open_planes = affine_map<(b, n, i, j) -> (b, n, i, j)>

// Rows of open length leave tiles empty: long sums are not worth it, and what
// they are is transposed behind; of 27 products it is.
// CHECK: {{^}}window_long: contraction loops=?x?x?x3x3x64x64 {{.*}} rows=d1,d2 {{.*}} start=filled tile=6x4 row-block=24{{$}}
// CHECK: {{^}}window_short: contraction loops=?x?x?x3x3x3x64 {{.*}} rows=d2 {{.*}} epilogue=turned {{.*}}
func.func @window_long(%x: memref<?x?x?x64xf32>, %w: memref<3x3x64x64xf32>, %b: index, %i: index, %j: index) -> memref<?x64x?x?xf32> {
  %zero = arith.constant 0.0 : f32
  %y = memref.alloc(%b, %i, %j) : memref<?x?x?x64xf32>
  linalg.fill ins(%zero : f32) outs(%y : memref<?x?x?x64xf32>)
  linalg.generic {indexing_maps = [#open_window, #open_kernel, #open_image], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "parallel"]}
      ins(%x, %w : memref<?x?x?x64xf32>, memref<3x3x64x64xf32>) outs(%y : memref<?x?x?x64xf32>) {
  ^bb0(%a: f32, %f: f32, %s: f32):
    %p = arith.mulf %a, %f : f32
    %t = arith.addf %s, %p fastmath<reassoc,contract> : f32
    linalg.yield %t : f32
  }
  %r = memref.alloc(%b, %i, %j) : memref<?x64x?x?xf32>
  linalg.generic {indexing_maps = [#open_positions, #open_planes], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%y : memref<?x?x?x64xf32>) outs(%r : memref<?x64x?x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  memref.dealloc %y : memref<?x?x?x64xf32>
  return %r : memref<?x64x?x?xf32>
}

func.func @window_short(%x: memref<?x?x?x3xf32>, %w: memref<3x3x3x64xf32>, %b: index, %i: index, %j: index) -> memref<?x64x?x?xf32> {
  %zero = arith.constant 0.0 : f32
  %y = memref.alloc(%b, %i, %j) : memref<?x?x?x64xf32>
  linalg.fill ins(%zero : f32) outs(%y : memref<?x?x?x64xf32>)
  linalg.generic {indexing_maps = [#open_window, #open_kernel, #open_image], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "parallel"]}
      ins(%x, %w : memref<?x?x?x3xf32>, memref<3x3x3x64xf32>) outs(%y : memref<?x?x?x64xf32>) {
  ^bb0(%a: f32, %f: f32, %s: f32):
    %p = arith.mulf %a, %f : f32
    %t = arith.addf %s, %p fastmath<reassoc,contract> : f32
    linalg.yield %t : f32
  }
  %r = memref.alloc(%b, %i, %j) : memref<?x64x?x?xf32>
  linalg.generic {indexing_maps = [#open_positions, #open_planes], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%y : memref<?x?x?x64xf32>) outs(%r : memref<?x64x?x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  memref.dealloc %y : memref<?x?x?x64xf32>
  return %r : memref<?x64x?x?xf32>
}

// Of a pooling with many columns these are the rows of tiles, although there are
// more rows: columns are neighbours in memory.
// CHECK: {{^}}pooling: contraction {{.*}} along=d4 rows=d1 sum=d2,d3 outer=d0
func.func @pooling(%x: memref<900x120x32xf32>, %w: memref<2x2xf32>, %y: memref<450x60x32xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j, p, q, c) -> (i * 2 + p, j * 2 + q, c)>, affine_map<(i, j, p, q, c) -> (p, q)>, affine_map<(i, j, p, q, c) -> (i, j, c)>],
                  iterator_types = ["parallel", "parallel", "reduction", "reduction", "parallel"]}
      ins(%x, %w : memref<900x120x32xf32>, memref<2x2xf32>) outs(%y : memref<450x60x32xf32>) {
  ^bb0(%a: f32, %k: f32, %s: f32):
    %m = arith.maximumf %a, %s fastmath<nsz> : f32
    linalg.yield %m : f32
  }
  return
}

// The bias that a constant holds may stand in front of the image's padding.
// CHECK: {{^}}padded: contraction {{.*}} start=copied
memref.global "private" constant @starts : memref<64xf32> = dense<1.0>
func.func @padded(%x: memref<20x30xf32>, %w: memref<32x64xf32>, %y: memref<22x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %bias = memref.get_global @starts : memref<64xf32>
  %sums = memref.alloc() : memref<22x64xf32>
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (n)>, #id], iterator_types = ["parallel", "parallel"]}
      ins(%bias : memref<64xf32>) outs(%sums : memref<22x64xf32>) {
  ^bb0(%a: f32, %s: f32):
    linalg.yield %a : f32
  }
  %image = memref.alloc() : memref<22x32xf32>
  linalg.fill ins(%zero : f32) outs(%image : memref<22x32xf32>)
  %inner = memref.subview %image[1, 1] [20, 30] [1, 1] : memref<22x32xf32> to memref<20x30xf32, strided<[32, 1], offset: 33>>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<20x30xf32>) outs(%inner : memref<20x30xf32, strided<[32, 1], offset: 33>>) {
  ^bb0(%a: f32, %s: f32):
    linalg.yield %a : f32
  }
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%image, %w : memref<22x32xf32>, memref<32x64xf32>) outs(%sums : memref<22x64xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p fastmath<contract> : f32
    linalg.yield %t : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%sums : memref<22x64xf32>) outs(%y : memref<22x64xf32>) {
  ^bb0(%a: f32, %s: f32):
    linalg.yield %a : f32
  }
  return
}

// Rows of a part of an image lie apart. All are done for some columns of the
// weights before the next columns are read; where a row is no whole tile, they
// are gone through as one.
#part = affine_map<(n, h, w, k, m) -> (n, h, w, k)>
#points = affine_map<(n, h, w, k, m) -> (k, m)>
#part_sums = affine_map<(n, h, w, k, m) -> (n, h, w, m)>
// CHECK: {{^}}whole_tiles: contraction loops=1x6x6x512x512 vectors=16 along=d4 rows=d2 sum=d3 outer=d0,d1 columns-outside tile=6x4{{$}}
func.func @whole_tiles(%x: memref<1x6x6x512xf32, strided<[25088, 3584, 512, 1]>>, %w: memref<512x512xf32>, %y: memref<1x6x6x512xf32, strided<[25088, 3584, 512, 1]>>) {
  linalg.generic {indexing_maps = [#part, #points, #part_sums], iterator_types = ["parallel", "parallel", "parallel", "reduction", "parallel"]}
      ins(%x, %w : memref<1x6x6x512xf32, strided<[25088, 3584, 512, 1]>>, memref<512x512xf32>) outs(%y : memref<1x6x6x512xf32, strided<[25088, 3584, 512, 1]>>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p fastmath<contract> : f32
    linalg.yield %t : f32
  }
  return
}

// CHECK: {{^}}open_part: contraction loops=1x?x?x512x512 vectors=16 along=d4 rows=d1,d2 sum=d3
func.func @open_part(%x: memref<1x?x?x512xf32, strided<[?, ?, 512, 1]>>, %w: memref<512x512xf32>, %y: memref<1x?x?x512xf32, strided<[?, ?, 512, 1]>>) {
  linalg.generic {indexing_maps = [#part, #points, #part_sums], iterator_types = ["parallel", "parallel", "parallel", "reduction", "parallel"]}
      ins(%x, %w : memref<1x?x?x512xf32, strided<[?, ?, 512, 1]>>, memref<512x512xf32>) outs(%y : memref<1x?x?x512xf32, strided<[?, ?, 512, 1]>>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p fastmath<contract> : f32
    linalg.yield %t : f32
  }
  return
}

// What is stored transposed has rows that lie one behind the other: those of an
// image, and not of its rows and columns.
#last = affine_map<(n, h, w, m) -> (n, h, w, m)>
#planes = affine_map<(n, h, w, m) -> (n, m, h, w)>
#point_panels = affine_map<(n, h, w, k, m) -> (m floordiv 32, k, m mod 32)>
// CHECK: {{^}}turned_part: contraction loops=?x?x?x256x64 vectors=16 along=d4 rows=d2 sum=d3 outer=d0,d1 start=filled epilogue=turned
func.func @turned_part(%x: memref<?x?x?x256xf32, strided<[?, ?, 512, 1]>>, %w: memref<2x256x32xf32>, %n: index, %i: index, %j: index) -> memref<?x64x?x?xf32> {
  %zero = arith.constant 0.0 : f32
  %y = memref.alloc(%n, %i, %j) : memref<?x?x?x64xf32>
  linalg.fill ins(%zero : f32) outs(%y : memref<?x?x?x64xf32>)
  linalg.generic {indexing_maps = [#part, #point_panels, #part_sums], iterator_types = ["parallel", "parallel", "parallel", "reduction", "parallel"]}
      ins(%x, %w : memref<?x?x?x256xf32, strided<[?, ?, 512, 1]>>, memref<2x256x32xf32>) outs(%y : memref<?x?x?x64xf32>) attrs = {loopc.packed} {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p fastmath<contract> : f32
    linalg.yield %t : f32
  }
  %r = memref.alloc(%n, %i, %j) : memref<?x64x?x?xf32>
  linalg.generic {indexing_maps = [#last, #planes], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%y : memref<?x?x?x64xf32>) outs(%r : memref<?x64x?x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  memref.dealloc %y : memref<?x?x?x64xf32>
  return %r : memref<?x64x?x?xf32>
}

// One row, all columns of which are a tile: threads share the columns of a
// matrix that takes longer to arrive than to be multiplied with.
#row_x = affine_map<(k, n) -> (k)>
#row_w = affine_map<(k, n) -> (k, n)>
#row_y = affine_map<(k, n) -> (n)>
// CHECK: {{^}}large_row: contraction loops=2048x128 {{.*}} tile=1x4
func.func @large_row(%x: memref<2048xf32>, %w: memref<2048x128xf32>, %y: memref<128xf32>) {
  linalg.generic {indexing_maps = [#row_x, #row_w, #row_y], iterator_types = ["reduction", "parallel"]}
      ins(%x, %w : memref<2048xf32>, memref<2048x128xf32>) outs(%y : memref<128xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p fastmath<contract> : f32
    linalg.yield %t : f32
  }
  return
}

// CHECK: {{^}}small_row: contraction loops=512x128 {{.*}} tile=1x8
func.func @small_row(%x: memref<512xf32>, %w: memref<512x128xf32>, %y: memref<128xf32>) {
  linalg.generic {indexing_maps = [#row_x, #row_w, #row_y], iterator_types = ["reduction", "parallel"]}
      ins(%x, %w : memref<512xf32>, memref<512x128xf32>) outs(%y : memref<128xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p fastmath<contract> : f32
    linalg.yield %t : f32
  }
  return
}

// What the sums are computed of may be what is written behind them, where a
// select gives another name: every tile is read before.
// CHECK: {{^}}chosen: contraction loops=64x256x96 vectors=16 along=d2 rows=d0 sum=d1 start=filled tile=8x2{{$}}
func.func @chosen(%x: memref<64x256xf32>, %w: memref<256x96xf32>, %is: i1, %b: memref<64x96xf32>, %other: memref<64x256xf32>) -> memref<64x256xf32> {
  %zero = arith.constant 0.0 : f32
  %a = memref.alloc() : memref<64x256xf32>
  linalg.fill ins(%zero : f32) outs(%a : memref<64x256xf32>)
  %one = arith.select %is, %a, %x : memref<64x256xf32>
  %y = memref.alloc() : memref<64x96xf32>
  %z = memref.subview %a[0, 0] [64, 96] [1, 1] : memref<64x256xf32> to memref<64x96xf32, strided<[256, 1]>>
  linalg.fill ins(%zero : f32) outs(%y : memref<64x96xf32>)
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%one, %w : memref<64x256xf32>, memref<256x96xf32>) outs(%y : memref<64x96xf32>) {
  ^bb0(%p: f32, %q: f32, %s: f32):
    %m = arith.mulf %p, %q : f32
    %t = arith.addf %s, %m fastmath<contract> : f32
    linalg.yield %t : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%y : memref<64x96xf32>) outs(%z : memref<64x96xf32, strided<[256, 1]>>) {
  ^bb0(%p: f32, %o: f32):
    %m = arith.maximumf %p, %zero : f32
    linalg.yield %m : f32
  }
  memref.dealloc %y : memref<64x96xf32>
  return %a : memref<64x256xf32>
}

// The same sums, and what is added to them is the place of these sums by the
// name that a branch gives.
// CHECK: {{^}}chosen_summand: contraction loops=64x256x96 vectors=16 along=d2 rows=d0 sum=d1 start=filled tile=8x2{{$}}
func.func @chosen_summand(%x: memref<64x256xf32>, %w: memref<256x96xf32>, %is: i1, %y: memref<64x96xf32>, %b: memref<64x96xf32>) {
  %zero = arith.constant 0.0 : f32
  %one = scf.if %is -> (memref<64x96xf32>) {
    scf.yield %y : memref<64x96xf32>
  } else {
    scf.yield %b : memref<64x96xf32>
  }
  linalg.fill ins(%zero : f32) outs(%y : memref<64x96xf32>)
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %w : memref<64x256xf32>, memref<256x96xf32>) outs(%y : memref<64x96xf32>) {
  ^bb0(%p: f32, %q: f32, %s: f32):
    %m = arith.mulf %p, %q : f32
    %t = arith.addf %s, %m fastmath<contract> : f32
    linalg.yield %t : f32
  }
  linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%y, %one : memref<64x96xf32>, memref<64x96xf32>) outs(%y : memref<64x96xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %m = arith.addf %p, %q : f32
    linalg.yield %m : f32
  }
  return
}

// What sums begin with is one number, which an operation that is no fill
// repeats.
// CHECK: {{^}}number: contraction loops=64x256x96 vectors=16 along=d2 rows=d0 sum=d1 tile=8x2{{$}}
func.func @number(%x: memref<64x256xf32>, %w: memref<256x96xf32>) -> memref<64x96xf32> {
  %one = arith.constant 1.0 : f32
  %y = memref.alloc() : memref<64x96xf32>
  linalg.generic {indexing_maps = [affine_map<(i, j) -> ()>, #id], iterator_types = ["parallel", "parallel"]}
      ins(%one : f32) outs(%y : memref<64x96xf32>) {
  ^bb0(%p: f32, %o: f32):
    linalg.yield %p : f32
  }
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %w : memref<64x256xf32>, memref<256x96xf32>) outs(%y : memref<64x96xf32>) {
  ^bb0(%p: f32, %q: f32, %s: f32):
    %m = arith.mulf %p, %q : f32
    %t = arith.addf %s, %m fastmath<contract> : f32
    linalg.yield %t : f32
  }
  return %y : memref<64x96xf32>
}
