// RUN: loopc-opt %s --loopc-set-target="vector-bits=512 registers=32 mask-bits=8" --loopc-print-plans -o /dev/null | FileCheck %s --check-prefix=PLAN
// RUN: loopc-opt %s --loopc-set-target="vector-bits=512 registers=32 mask-bits=8" --cpu-vectorize-contractions | FileCheck %s

#x = affine_map<(d0, d1, d2) -> (d0, d2)>
#w = affine_map<(d0, d1, d2) -> (d2, d1)>
#y = affine_map<(d0, d1, d2) -> (d0, d1)>

// A sum of products that may be fused into it: each product is added by itself,
// so that one instruction does both.
// PLAN: fused: contraction {{.*}} terms=2
// CHECK-LABEL: @fused
// CHECK: %[[FIRST:.*]] = arith.mulf {{.*}} fastmath<contract> : vector<16xf32>
// CHECK: %[[SUM:.*]] = arith.addf %{{.*}}, %[[FIRST]] fastmath<contract> : vector<16xf32>
// CHECK: %[[SECOND:.*]] = arith.mulf {{.*}} fastmath<contract> : vector<16xf32>
// CHECK: arith.addf %[[SUM]], %[[SECOND]] fastmath<contract> : vector<16xf32>
func.func @fused(%x0: memref<8x64xf32>, %x1: memref<8x64xf32>, %w0: memref<64x32xf32>, %w1: memref<64x32xf32>,
                 %y: memref<8x32xf32>) {
  linalg.generic {indexing_maps = [#x, #x, #w, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x0, %x1, %w0, %w1 : memref<8x64xf32>, memref<8x64xf32>, memref<64x32xf32>, memref<64x32xf32>) outs(%y : memref<8x32xf32>) {
  ^bb0(%a0: f32, %a1: f32, %b0: f32, %b1: f32, %sum: f32):
    %p0 = arith.mulf %a0, %b0 : f32
    %p1 = arith.mulf %a1, %b1 : f32
    %both = arith.addf %p0, %p1 : f32
    %next = arith.addf %both, %sum fastmath<reassoc,contract> : f32
    linalg.yield %next : f32
  }
  return
}

// Without `contract` what is added is rounded first: it is a node's.
// PLAN: rounded: contraction
// PLAN-NOT: terms
// CHECK-LABEL: @rounded
// CHECK-NOT: contract
// CHECK: return
func.func @rounded(%x0: memref<8x64xf32>, %x1: memref<8x64xf32>, %w0: memref<64x32xf32>, %w1: memref<64x32xf32>,
                   %y: memref<8x32xf32>) {
  linalg.generic {indexing_maps = [#x, #x, #w, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x0, %x1, %w0, %w1 : memref<8x64xf32>, memref<8x64xf32>, memref<64x32xf32>, memref<64x32xf32>) outs(%y : memref<8x32xf32>) {
  ^bb0(%a0: f32, %a1: f32, %b0: f32, %b1: f32, %sum: f32):
    %p0 = arith.mulf %a0, %b0 : f32
    %p1 = arith.mulf %a1, %b1 : f32
    %both = arith.addf %p0, %p1 : f32
    %next = arith.addf %both, %sum fastmath<reassoc> : f32
    linalg.yield %next : f32
  }
  return
}
