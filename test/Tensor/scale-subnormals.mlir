// RUN: loopc-opt %s --pass-pipeline='builtin.module(func.func(tensor-scale-subnormals))' | FileCheck %s

#rows = affine_map<(i, j, k) -> (i, k)>
#weights = affine_map<(i, j, k) -> (k, j)>
#out = affine_map<(i, j, k) -> (i, j)>

// The first channel has subnormal weights, and is scaled by 2^64; the second one
// has others as well and stays, as the third one.
// CHECK-LABEL: func.func @channel(
// CHECK-SAME: %[[X:.*]]: tensor<?x3xf32>
// CHECK: %[[S:.*]] = arith.constant dense<[5.42101086E-20, 1.000000e+00, 1.000000e+00]> : tensor<3xf32>
// CHECK: %[[Z:.*]] = linalg.generic {{.*}} ins(%[[X]], %[[S]] : tensor<?x3xf32>, tensor<3xf32>)
// CHECK: arith.mulf
// CHECK: %[[V:.*]] = arith.constant dense_resource<loopc_scaled> : tensor<3x2xf32>
// CHECK: linalg.generic {{.*}} ins(%[[Z]], %[[V]] : tensor<?x3xf32>, tensor<3x2xf32>)
func.func @channel(%x: tensor<?x3xf32>, %y: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %w = arith.constant dense<[[1.0e-40, -2.0e-42], [1.0e-40, 0.5], [1.0, 2.0]]> : tensor<3x2xf32>
  %r = linalg.generic {indexing_maps = [#rows, #weights, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<?x3xf32>, tensor<3x2xf32>) outs(%y : tensor<?x2xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b fastmath<contract> : f32
    %t = arith.addf %s, %p fastmath<contract> : f32
    linalg.yield %t : f32
  } -> tensor<?x2xf32>
  return %r : tensor<?x2xf32>
}

// The largest weight of a channel is that in front of NaN, too.
// CHECK-LABEL: func.func @nan(
// CHECK-NOT: loopc_scaled
func.func @nan(%x: tensor<?x1xf32>, %y: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %w = arith.constant dense<[[1.0, 0x7FC00000, 1.0e-40]]> : tensor<1x3xf32>
  %r = linalg.generic {indexing_maps = [#rows, #weights, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<?x1xf32>, tensor<1x3xf32>) outs(%y : tensor<?x3xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b fastmath<contract> : f32
    %t = arith.addf %s, %p fastmath<contract> : f32
    linalg.yield %t : f32
  } -> tensor<?x3xf32>
  return %r : tensor<?x3xf32>
}

// f64 by 2^512; the weights are seen with other axes.
// CHECK-LABEL: func.func @doubles(
// CHECK: arith.constant dense<[7.4583407312002067E-155, 1.000000e+00]> : tensor<2xf64>
// CHECK: dense_resource<loopc_scaled{{.*}}> : tensor<2x2xf64>
func.func @doubles(%x: tensor<?x2xf64>, %y: tensor<?x2xf64>) -> tensor<?x2xf64> {
  %c = arith.constant dense<[[[1.0e-310, -2.0e-312], [0.25, 0.5]]]> : tensor<1x2x2xf64>
  %w = tensor.collapse_shape %c [[0, 1], [2]] : tensor<1x2x2xf64> into tensor<2x2xf64>
  %r = linalg.generic {indexing_maps = [#rows, #weights, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<?x2xf64>, tensor<2x2xf64>) outs(%y : tensor<?x2xf64>) {
  ^bb0(%a: f64, %b: f64, %s: f64):
    %p = arith.mulf %b, %a fastmath<contract> : f64
    %t = arith.addf %s, %p fastmath<contract> : f64
    linalg.yield %t : f64
  } -> tensor<?x2xf64>
  return %r : tensor<?x2xf64>
}

// Small weights that are normal; no weights at all; and what is more
// than a sum of products.
// CHECK-LABEL: func.func @others(
// CHECK-NOT: loopc_scaled
// CHECK: return
func.func @others(%x: tensor<?x2xf32>, %v: tensor<2x2xf32>, %y: tensor<?x2xf32>) -> (tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>) {
  %w = arith.constant dense<[[1.0e-30, -2.0e-35], [0.25, 0.5]]> : tensor<2x2xf32>
  %u = arith.constant dense<[[1.0e-40, -2.0e-42], [0.25, 0.5]]> : tensor<2x2xf32>
  %r:1 = linalg.generic {indexing_maps = [#rows, #weights, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<?x2xf32>, tensor<2x2xf32>) outs(%y : tensor<?x2xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<?x2xf32>
  %q:1 = linalg.generic {indexing_maps = [#rows, #weights, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %v : tensor<?x2xf32>, tensor<2x2xf32>) outs(%y : tensor<?x2xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<?x2xf32>
  %o:1 = linalg.generic {indexing_maps = [#rows, #weights, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %u : tensor<?x2xf32>, tensor<2x2xf32>) outs(%y : tensor<?x2xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.divf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<?x2xf32>
  return %r#0, %q#0, %o#0 : tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>
}

// All weights of the first result are subnormal: they are scaled up, and the
// result, which begins with 0, back. One that begins with something else stays.
// CHECK-LABEL: func.func @result(
// CHECK: %[[V:.*]] = arith.constant dense_resource<loopc_scaled{{.*}}> : tensor<3x2xf32>
// CHECK: %[[R:.*]] = linalg.generic {{.*}} ins(%{{.*}}, %[[V]] : tensor<?x3xf32>, tensor<3x2xf32>)
// CHECK: %[[S:.*]] = arith.constant dense<[1.17549435E-38, 1.000000e+00]> : tensor<2xf32>
// CHECK: %[[Z:.*]] = linalg.generic {{.*}} ins(%[[R]], %[[S]] : tensor<?x2xf32>, tensor<2xf32>)
// CHECK: return %[[Z]]
func.func @result(%x: tensor<?x3xf32>, %n: index) -> tensor<?x2xf32> {
  %w = arith.constant dense<[[1.0e-40, 1.0], [-3.0e-42, 0.5], [2.0e-41, 2.0]]> : tensor<3x2xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<?x2xf32>
  %y = linalg.fill ins(%zero : f32) outs(%e : tensor<?x2xf32>) -> tensor<?x2xf32>
  %r = linalg.generic {indexing_maps = [#rows, #weights, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<?x3xf32>, tensor<3x2xf32>) outs(%y : tensor<?x2xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b fastmath<contract> : f32
    %t = arith.addf %s, %p fastmath<contract> : f32
    linalg.yield %t : f32
  } -> tensor<?x2xf32>
  return %r : tensor<?x2xf32>
}

// CHECK-LABEL: func.func @begun(
// CHECK-NOT: loopc_scaled
// CHECK: return
func.func @begun(%x: tensor<?x3xf32>, %y: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %w = arith.constant dense<[[1.0e-40, 1.0], [-3.0e-42, 0.5], [2.0e-41, 2.0]]> : tensor<3x2xf32>
  %r = linalg.generic {indexing_maps = [#rows, #weights, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<?x3xf32>, tensor<3x2xf32>) outs(%y : tensor<?x2xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b fastmath<contract> : f32
    %t = arith.addf %s, %p fastmath<contract> : f32
    linalg.yield %t : f32
  } -> tensor<?x2xf32>
  return %r : tensor<?x2xf32>
}
