// RUN: loopc-opt %s -split-input-file -pass-pipeline='builtin.module(loopc-set-target{vector-bits=512 registers=32 mask-bits=8},func.func(cpu-vectorize-contractions{in-order}),canonicalize,cse)' | FileCheck %s

// One kind of tile: each sum is added up in the order of the products, whatever
// tile it is in.
// CHECK-LABEL: func.func @open(
// CHECK-NOT: scf.if
// CHECK-COUNT-3: scf.for
// CHECK: vector.maskedload
// CHECK-COUNT-8: arith.addf
// CHECK: scf.yield
// CHECK-NOT: scf.for
// CHECK: return
func.func @open(%x: memref<?x?xf32>, %w: memref<?x?xf32>, %y: memref<?x?xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<?x?xf32>)
  linalg.matmul ins(%x, %w : memref<?x?xf32>, memref<?x?xf32>) outs(%y : memref<?x?xf32>)
  return
}

// -----

// The columns of one row would wait for one another: four sets of sums take
// turns, and are added at the end.
// CHECK-LABEL: func.func @chains(
// CHECK: scf.for
// CHECK-COUNT-4: arith.addf
// CHECK: scf.yield
// CHECK-COUNT-3: arith.addf
// CHECK: return
func.func @chains(%x: memref<1x256xf32>, %w: memref<256x16xf32>, %y: memref<1x16xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<1x16xf32>)
  linalg.generic {
      indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<1x256xf32>, memref<256x16xf32>) outs(%y : memref<1x16xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %product = arith.mulf %a, %b fastmath<contract> : f32
    %sum = arith.addf %c, %product fastmath<reassoc, contract> : f32
    linalg.yield %sum : f32
  }
  return
}

// -----

// Vectors along the sum: how many sums take turns depends on the tile, of four
// rows and four columns here.
// CHECK-LABEL: func.func @along_sum(
// CHECK-COUNT-16: arith.addf {{.*}} vector<16xf32>
// CHECK: return
func.func @along_sum(%x: memref<64x256xf32>, %w: memref<64x256xf32>, %y: memref<64x64xf32, strided<[1, 64]>>) {
  linalg.generic {
      indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<64x256xf32>, memref<64x256xf32>) outs(%y : memref<64x64xf32, strided<[1, 64]>>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %product = arith.mulf %a, %b fastmath<contract> : f32
    %sum = arith.addf %c, %product fastmath<reassoc, contract> : f32
    linalg.yield %sum : f32
  }
  return
}

// -----

// What the fastest tiles compute on their sums is computed there.
// CHECK-LABEL: func.func @epilogue(
// CHECK-COUNT-3: scf.for
// CHECK-COUNT-8: arith.addf
// CHECK: scf.yield
// CHECK-COUNT-8: arith.mulf {{.*}} vector<16xf32>
// CHECK-NEXT: vector.store
// CHECK-NOT: scf.for
// CHECK: return
func.func @epilogue(%x: memref<6x32xf32>, %w: memref<32x64xf32>) -> memref<6x64xf32> {
  %zero = arith.constant 0.0 : f32
  %y = memref.alloc() : memref<6x64xf32>
  linalg.fill ins(%zero : f32) outs(%y : memref<6x64xf32>)
  linalg.matmul ins(%x, %w : memref<6x32xf32>, memref<32x64xf32>) outs(%y : memref<6x64xf32>)
  linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%y : memref<6x64xf32>) outs(%y : memref<6x64xf32>) {
  ^bb0(%a: f32, %b: f32):
    %r = arith.mulf %a, %a : f32
    linalg.yield %r : f32
  }
  return %y : memref<6x64xf32>
}
