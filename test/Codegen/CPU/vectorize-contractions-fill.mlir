// RUN: loopc-opt %s -split-input-file -pass-pipeline='builtin.module(loopc-set-target{vector-bits=512 registers=32 mask-bits=8},func.func(cpu-vectorize-contractions),canonicalize,cse)' | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#turned = affine_map<(d0, d1) -> (d1, d0)>
#x = affine_map<(m, k, n) -> (m, k)>
#w = affine_map<(m, k, n) -> (k, n)>
#y = affine_map<(m, k, n) -> (m, n)>

// The sums begin with 0 in registers, though a copy stands between the fill and
// the product.
// CHECK-LABEL: func.func @behind_a_copy(
// CHECK-NOT: linalg.fill
// CHECK: scf.for {{.*}} iter_args(
// CHECK: return
func.func @behind_a_copy(%x: memref<64x32xf32>, %w: memref<64x32xf32>) -> memref<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %y = memref.alloc() : memref<64x64xf32>
  linalg.fill ins(%zero : f32) outs(%y : memref<64x64xf32>)
  %p = memref.alloc() : memref<32x64xf32>
  linalg.generic {indexing_maps = [#turned, #id], iterator_types = ["parallel", "parallel"]}
      ins(%w : memref<64x32xf32>) outs(%p : memref<32x64xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %p : memref<64x32xf32>, memref<32x64xf32>) outs(%y : memref<64x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 fastmath<reassoc> : f32
    linalg.yield %1 : f32
  }
  memref.dealloc %p : memref<32x64xf32>
  return %y : memref<64x64xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#x = affine_map<(m, k, n) -> (m, k)>
#w = affine_map<(m, k, n) -> (k, n)>
#y = affine_map<(m, k, n) -> (m, n)>

// Nor does it matter that what was copied is freed there. What follows is
// computed on the sums.
// CHECK-LABEL: func.func @behind_what_is_freed(
// CHECK-NOT: linalg.fill {{.*}}memref<8x32xf32>
// CHECK: memref.dealloc
// CHECK-NOT: linalg.generic
// CHECK: scf.for {{.*}} iter_args(
// CHECK: arith.mulf
// CHECK: vector.store
// CHECK-NOT: scf.for
// CHECK: return
func.func @behind_what_is_freed(%x: memref<8x32xf32>, %c: f32) -> memref<8x32xf32> {
  %zero = arith.constant 0.0 : f32
  %s = arith.constant 8.0 : f32
  %w = memref.alloc() : memref<32x32xf32>
  linalg.fill ins(%c : f32) outs(%w : memref<32x32xf32>)
  %y = memref.alloc() : memref<8x32xf32>
  linalg.fill ins(%zero : f32) outs(%y : memref<8x32xf32>)
  %p = memref.alloc() : memref<32x32xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%w : memref<32x32xf32>) outs(%p : memref<32x32xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.negf %a : f32
    linalg.yield %0 : f32
  }
  memref.dealloc %w : memref<32x32xf32>
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %p : memref<8x32xf32>, memref<32x32xf32>) outs(%y : memref<8x32xf32>) {
  ^bb0(%a: f32, %b: f32, %d: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %d, %0 fastmath<reassoc> : f32
    linalg.yield %1 : f32
  }
  memref.dealloc %p : memref<32x32xf32>
  %z = memref.alloc() : memref<8x32xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%y : memref<8x32xf32>) outs(%z : memref<8x32xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.mulf %a, %s : f32
    linalg.yield %0 : f32
  }
  memref.dealloc %y : memref<8x32xf32>
  return %z : memref<8x32xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#x = affine_map<(m, k, n) -> (m, k)>
#w = affine_map<(m, k, n) -> (k, n)>
#y = affine_map<(m, k, n) -> (m, n)>

// What stands in between reads the fill, or may.
// CHECK-LABEL: func.func @read_between(
// CHECK: linalg.fill
// CHECK: return
func.func @read_between(%x: memref<64x32xf32>, %w: memref<32x64xf32>, %other: memref<64x64xf32>) -> memref<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %y = memref.alloc() : memref<64x64xf32>
  linalg.fill ins(%zero : f32) outs(%y : memref<64x64xf32>)
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%y : memref<64x64xf32>) outs(%other : memref<64x64xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %w : memref<64x32xf32>, memref<32x64xf32>) outs(%y : memref<64x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 fastmath<reassoc> : f32
    linalg.yield %1 : f32
  }
  return %y : memref<64x64xf32>
}
