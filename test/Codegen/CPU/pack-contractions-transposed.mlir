// RUN: loopc-opt %s -split-input-file -pass-pipeline='builtin.module(loopc-set-target{vector-bits=512 registers=32 mask-bits=8},cpu-pack-contractions,canonicalize)' | FileCheck %s
// RUN: loopc-opt %s -split-input-file -pass-pipeline='builtin.module(loopc-set-target{vector-bits=128 registers=32 mask-bits=0},cpu-pack-contractions,canonicalize)' | FileCheck %s --check-prefix=NEON

#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>

// An unknown number of rows reads the weights as they lie, and transposes them
// in strips if there are many; not where strips cannot be masked.
// CHECK-DAG: #[[W:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-LABEL: func.func @weights(
// CHECK-SAME: %[[X:[^ ]+]]: tensor<?x256xf32>, %[[G:[^ ]+]]: tensor<1024x256xf32>
// CHECK-NOT: linalg.transpose
// CHECK: linalg.generic {indexing_maps = [#{{[^,]+}}, #[[W]], #{{[^]]+}}]{{.*}} ins(%[[X]], %[[G]]
// NEON-LABEL: func.func @weights(
// NEON: linalg.transpose
func.func @weights(%x: tensor<?x256xf32>, %g: tensor<1024x256xf32>, %init: tensor<?x1024xf32>) -> tensor<?x1024xf32> {
  %e = tensor.empty() : tensor<256x1024xf32>
  %t = linalg.transpose ins(%g : tensor<1024x256xf32>) outs(%e : tensor<256x1024xf32>) permutation = [1, 0]
  %r = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %t : tensor<?x256xf32>, tensor<256x1024xf32>) outs(%init : tensor<?x1024xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 fastmath<reassoc> : f32
    linalg.yield %1 : f32
  } -> tensor<?x1024xf32>
  return %r : tensor<?x1024xf32>
}

// -----

#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>

// Others read the transpose as well: it is there anyway.
// CHECK-LABEL: func.func @read_otherwise(
// CHECK: %[[T:.*]] = linalg.transpose
// CHECK: linalg.generic {{.*}} ins(%{{[^,]+}}, %[[T]]
// NEON-LABEL: func.func @read_otherwise(
func.func @read_otherwise(%x: tensor<?x256xf32>, %g: tensor<1024x256xf32>, %init: tensor<?x1024xf32>) -> (tensor<?x1024xf32>, tensor<256x1024xf32>) {
  %e = tensor.empty() : tensor<256x1024xf32>
  %t = linalg.transpose ins(%g : tensor<1024x256xf32>) outs(%e : tensor<256x1024xf32>) permutation = [1, 0]
  %r = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %t : tensor<?x256xf32>, tensor<256x1024xf32>) outs(%init : tensor<?x1024xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 fastmath<reassoc> : f32
    linalg.yield %1 : f32
  } -> tensor<?x1024xf32>
  return %r, %t : tensor<?x1024xf32>, tensor<256x1024xf32>
}
