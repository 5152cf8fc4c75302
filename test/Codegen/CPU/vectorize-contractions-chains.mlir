// RUN: loopc-opt %s -split-input-file -pass-pipeline='builtin.module(loopc-set-target{vector-bits=512 registers=32 mask-bits=8},func.func(cpu-vectorize-contractions))' | FileCheck %s

// The sums of a row of eight would wait for one another: four sets take turns,
// and are put together behind the loop.

// CHECK-LABEL: func.func @row_of_eight
// CHECK: %[[S:.*]]:4 = scf.for {{.*}} step %c4 iter_args
// CHECK-COUNT-4: arith.mulf
// CHECK: }
// CHECK-COUNT-3: arith.addf
// CHECK: vector.store
#x = affine_map<(n, k) -> (k)>
#w = affine_map<(n, k) -> (k, n)>
#y = affine_map<(n, k) -> (n)>
func.func @row_of_eight(%x: memref<64xf32>, %w: memref<64x8xf32>, %y: memref<8xf32>) {
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction"]} ins(%x, %w : memref<64xf32>, memref<64x8xf32>) outs(%y : memref<8xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %sum, %0 fastmath<reassoc> : f32
    linalg.yield %1 : f32
  }
  return
}

// -----

// Of several tiles all columns are summed up in one order.

// CHECK-LABEL: func.func @several_tiles
// CHECK-NOT: step %c4 iter_args
// CHECK: return
#x = affine_map<(n, k) -> (k)>
#w = affine_map<(n, k) -> (k, n)>
#y = affine_map<(n, k) -> (n)>
func.func @several_tiles(%x: memref<64xf32>, %w: memref<64x264xf32>, %y: memref<264xf32>) {
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction"]} ins(%x, %w : memref<64xf32>, memref<64x264xf32>) outs(%y : memref<264xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %sum, %0 fastmath<reassoc> : f32
    linalg.yield %1 : f32
  }
  return
}

// -----

// An order that is told is kept.

// CHECK-LABEL: func.func @in_order
// CHECK-NOT: step %c4 iter_args
// CHECK: return
#x = affine_map<(n, k) -> (k)>
#w = affine_map<(n, k) -> (k, n)>
#y = affine_map<(n, k) -> (n)>
func.func @in_order(%x: memref<64xf32>, %w: memref<64x8xf32>, %y: memref<8xf32>) {
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction"]} ins(%x, %w : memref<64xf32>, memref<64x8xf32>) outs(%y : memref<8xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %sum, %0 : f32
    linalg.yield %1 : f32
  }
  return
}
