// RUN: loopc-opt %s -split-input-file -pass-pipeline='builtin.module(loopc-set-target{vector-bits=512 registers=32 mask-bits=8},func.func(cpu-vectorize-contractions{compact}),canonicalize,cse)' | FileCheck %s

// One kind of tile, of four rows: those beyond the end are the last row again,
// and columns beyond it are masked.
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

// Rows that are known to be whole tiles are not compared with the last one.
// CHECK-LABEL: func.func @known(
// CHECK-NOT: arith.minsi
// CHECK-NOT: vector.create_mask
// CHECK-COUNT-3: scf.for
// CHECK-COUNT-8: arith.addf
// CHECK-NOT: arith.addf
// CHECK: return
func.func @known(%x: memref<64x32xf32>, %w: memref<32x64xf32>, %y: memref<64x64xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<64x64xf32>)
  linalg.matmul ins(%x, %w : memref<64x32xf32>, memref<32x64xf32>) outs(%y : memref<64x64xf32>)
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#turned = affine_map<(d0, d1) -> (d1, d0)>

// Tiles of four by four take eight shuffles, of sixteen by sixteen 64.
// CHECK-LABEL: func.func @transpose(
// CHECK-COUNT-8: vector.shuffle {{.*}} vector<4xf32>
// CHECK-NOT: vector.shuffle
// CHECK: return
func.func @transpose(%x: memref<64x64xf32>, %y: memref<64x64xf32>) {
  linalg.generic {indexing_maps = [#turned, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<64x64xf32>) outs(%y : memref<64x64xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }
  return
}
