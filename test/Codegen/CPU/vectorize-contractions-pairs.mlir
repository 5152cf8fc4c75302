// RUN: loopc-opt %s --loopc-set-target="vector-bits=512 registers=32 mask-bits=8" --loopc-print-plans 2>&1 | FileCheck %s --check-prefix=PLAN
// RUN: loopc-opt %s --loopc-set-target="vector-bits=512 registers=32 mask-bits=8" --cpu-vectorize-contractions | FileCheck %s

#x = affine_map<(i, j, k) -> (i, k)>
#w = affine_map<(i, j, k) -> (j floordiv 32, k, j mod 32)>
#y = affine_map<(i, j, k) -> (i, j)>
#column = affine_map<(i, j, k) -> (j)>

// Two vectors of weights of bf16 are one load: the even ones are a shift away,
// the odd ones a mask. The sums are put in order behind the loop.
// PLAN: row: contraction loops=1x256x128 vectors=16 along=d1 sum=d2 outer=d0 pairs tile=1x8
// CHECK-LABEL: func @row(
// CHECK: %[[START:.*]] = vector.load %{{.*}} : memref<1x256xf32>, vector<16xf32>
// CHECK: vector.shuffle {{.*}} [0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30]
// CHECK: vector.shuffle {{.*}} [1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31]
// CHECK: scf.for
// CHECK-NOT: arith.extf
// CHECK: %[[BOTH:.*]] = vector.load %{{.*}} : memref<{{.*}}xbf16>, vector<32xbf16>
// CHECK: %[[BITS:.*]] = vector.bitcast %[[BOTH]] : vector<32xbf16> to vector<16xi32>
// CHECK: %[[EVEN:.*]] = arith.shli %[[BITS]], %{{.*}} : vector<16xi32>
// CHECK: %[[ODD:.*]] = arith.andi %[[BITS]], %{{.*}} : vector<16xi32>
// CHECK: vector.bitcast %[[EVEN]] : vector<16xi32> to vector<16xf32>
// CHECK: vector.bitcast %[[ODD]] : vector<16xi32> to vector<16xf32>
// CHECK-COUNT-3: vector<32xbf16> to vector<16xi32>
// CHECK-NOT: vector.load {{.*}}xbf16
// CHECK: scf.yield
// CHECK: vector.shuffle {{.*}} [0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23]
// CHECK: vector.shuffle {{.*}} [8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31]
func.func @row(%x: memref<1x128xf32>, %w: memref<8x128x32xbf16>, %y: memref<1x256xf32>) {
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<1x128xf32>, memref<8x128x32xbf16>) outs(%y : memref<1x256xf32>) attrs = {loopc.packed} {
  ^bb0(%a: f32, %b: bf16, %s: f32):
    %c = arith.extf %b : bf16 to f32
    %m = arith.mulf %a, %c fastmath<contract> : f32
    %t = arith.addf %s, %m fastmath<reassoc,contract> : f32
    linalg.yield %t : f32
  }
  return
}

// What else the columns read would have to be taken apart, too.
// PLAN: scaled: contraction
// PLAN-NOT: pairs
// PLAN: half: contraction
// PLAN-NOT: pairs
func.func @scaled(%x: memref<1x128xf32>, %w: memref<8x128x32xbf16>, %v: memref<256xf32>, %y: memref<1x256xf32>) {
  linalg.generic {indexing_maps = [#x, #w, #column, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w, %v : memref<1x128xf32>, memref<8x128x32xbf16>, memref<256xf32>) outs(%y : memref<1x256xf32>) attrs = {loopc.packed} {
  ^bb0(%a: f32, %b: bf16, %d: f32, %s: f32):
    %c = arith.extf %b : bf16 to f32
    %e = arith.mulf %c, %d : f32
    %m = arith.mulf %a, %e fastmath<contract> : f32
    %t = arith.addf %s, %m fastmath<reassoc,contract> : f32
    linalg.yield %t : f32
  }
  return
}

// f16 has another exponent.
func.func @half(%x: memref<1x128xf32>, %w: memref<8x128x32xf16>, %y: memref<1x256xf32>) {
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<1x128xf32>, memref<8x128x32xf16>) outs(%y : memref<1x256xf32>) attrs = {loopc.packed} {
  ^bb0(%a: f32, %b: f16, %s: f32):
    %c = arith.extf %b : f16 to f32
    %m = arith.mulf %a, %c fastmath<contract> : f32
    %t = arith.addf %s, %m fastmath<reassoc,contract> : f32
    linalg.yield %t : f32
  }
  return
}
