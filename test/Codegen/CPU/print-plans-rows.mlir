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

// Rows of 16 bits are read from places that are computed: turned round, and
// broadcast where the run says so.
// CHECK: {{^}}places_of_halves: rows vectors=32
func.func @places_of_halves(%x: memref<64x768xf16>, %isOne: i1, %y: memref<64x768xf16>) {
  %zero = arith.constant 0 : index
  %last = arith.constant 63 : index
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]}
      outs(%y : memref<64x768xf16>) {
  ^bb0(%o: f16):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %back = arith.subi %last, %i : index
    %at = arith.select %isOne, %zero, %j : index
    %v = memref.load %x[%back, %at] : memref<64x768xf16>
    linalg.yield %v : f16
  }
  return
}

// Short rows, and open ones that are not joined, of floats that are converted:
// LLVM makes no vectors of these.
// CHECK: {{^}}short_rows_of_halves: rows vectors=16
func.func @short_rows_of_halves(%x: memref<1000x16xf16>, %y: memref<1000x16xf32>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<1000x16xf16>) outs(%y : memref<1000x16xf32>) {
  ^bb0(%a: f16, %o: f32):
    %e = arith.extf %a : f16 to f32
    linalg.yield %e : f32
  }
  return
}

// CHECK: {{^}}open_rows_of_halves: rows vectors=16
func.func @open_rows_of_halves(%x: memref<?x?xf32, strided<[?, 1]>>, %y: memref<?x?xf16>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<?x?xf32, strided<[?, 1]>>) outs(%y : memref<?x?xf16>) {
  ^bb0(%a: f32, %o: f16):
    %e = arith.truncf %a : f32 to f16
    linalg.yield %e : f16
  }
  return
}
