// RUN: loopc-opt %s -pass-pipeline='builtin.module(loopc-set-target{vector-bits=512 registers=32 mask-bits=8},loopc-print-plans)' -o /dev/null | FileCheck %s
// RUN: loopc-opt %s -pass-pipeline='builtin.module(loopc-set-target{vector-bits=128 registers=32 mask-bits=0},loopc-print-plans)' -o /dev/null | FileCheck %s --check-prefix=NOMASK

// Sums of what is computed of one row are no products: what goes over rows does
// them, together with what follows of the row.

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// NOMASK: {{^}}squares: contraction loops=64x768
// CHECK: {{^}}squares: rows vectors=16 rows=4 of=d0 reduces=addf
func.func @squares(%x: memref<64x768xf32>, %m: memref<64xf32>, %y: memref<64xf32>) {
  linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %m : memref<64x768xf32>, memref<64xf32>) outs(%y : memref<64xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %d = arith.subf %a, %b : f32
    %p = arith.mulf %d, %d : f32
    %t = arith.addf %s, %p fastmath<reassoc> : f32
    linalg.yield %t : f32
  }
  return
}

// Functions of rows that may be short stay with products, whose sums of short
// rows take less time.
// CHECK: {{^}}exponentials: contraction loops=64x?
func.func @exponentials(%x: memref<64x?xf32>, %m: memref<64xf32>, %y: memref<64xf32>) {
  linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %m : memref<64x?xf32>, memref<64xf32>) outs(%y : memref<64xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %d = arith.subf %a, %b : f32
    %p = math.exp %d : f32
    %t = arith.addf %s, %p fastmath<reassoc> : f32
    linalg.yield %t : f32
  }
  return
}

// CHECK: {{^}}long_exponentials: rows vectors=16 rows=4 of=d0 reduces=addf
func.func @long_exponentials(%x: memref<64x768xf32>, %m: memref<64xf32>, %y: memref<64xf32>) {
  linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %m : memref<64x768xf32>, memref<64xf32>) outs(%y : memref<64xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %d = arith.subf %a, %b : f32
    %p = math.exp %d : f32
    %t = arith.addf %s, %p fastmath<reassoc> : f32
    linalg.yield %t : f32
  }
  return
}
