// RUN: loopc-opt %s -split-input-file -pass-pipeline='builtin.module(loopc-set-target{vector-bits=512 registers=32 mask-bits=8},func.func(cpu-vectorize-contractions),canonicalize,cse)' | FileCheck %s

// Only the result's type knows how many columns there are: 400 are in whole
// tiles, and nothing is left that a tile of no columns would be made for.
// CHECK-LABEL: func @columns
// CHECK-DAG: %[[C400:.*]] = arith.constant 400 : index
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[C400]]
#x = affine_map<(m, k, n) -> (m, k)>
#w = affine_map<(m, k, n) -> (n, k)>
#y = affine_map<(m, k, n) -> (m, n)>
func.func @columns(%x: memref<?x100xf32>, %w: memref<?x100xf32>, %y: memref<?x400xf32>) {
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %w : memref<?x100xf32>, memref<?x100xf32>) outs(%y : memref<?x400xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b fastmath<contract> : f32
    %t = arith.addf %s, %p fastmath<reassoc,contract> : f32
    linalg.yield %t : f32
  }
  return
}

// -----

// There are none, as the result's type says.
// CHECK-LABEL: func @none
// CHECK: return
#x = affine_map<(m, k, n) -> (m, k)>
#w = affine_map<(m, k, n) -> (n, k)>
#y = affine_map<(m, k, n) -> (m, n)>
func.func @none(%x: memref<?x100xf32>, %w: memref<?x100xf32>, %y: memref<?x0xf32>) {
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %w : memref<?x100xf32>, memref<?x100xf32>) outs(%y : memref<?x0xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b fastmath<contract> : f32
    %t = arith.addf %s, %p fastmath<reassoc,contract> : f32
    linalg.yield %t : f32
  }
  return
}
