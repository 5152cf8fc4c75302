// RUN: loopc-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tensor-narrow-weights{type=int8}))' | FileCheck %s --check-prefixes=CHECK,INT8
// RUN: loopc-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tensor-narrow-weights{type=bf16}))' | FileCheck %s --check-prefixes=CHECK,BF16
// RUN: loopc-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tensor-narrow-weights{type=bf16 wide}))' | FileCheck %s --check-prefix=WIDE
// RUN: loopc-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tensor-narrow-weights))' | FileCheck %s --check-prefix=MODEL

#turned = affine_map<(d0, d1) -> (d1, d0)>
#id = affine_map<(d0, d1) -> (d0, d1)>
#x = affine_map<(d0, d1, d2) -> (d0, d1)>
#w = affine_map<(d0, d1, d2) -> (d1, d2)>
#y = affine_map<(d0, d1, d2) -> (d0, d2)>

// The constant in front of a transpose is rounded, with a scale for each of what
// the product has a column for; rows of it that are looked up are of the same
// numbers, and what leaves the model is not rounded.
// INT8-DAG: #[[CHANNELS:.+]] = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func.func @product(
// CHECK-DAG: %[[OLD:.+]] = arith.constant dense<1.001000e+00> : tensor<96x80xf32>
// INT8-DAG: %[[Q:.+]] = arith.constant dense_resource<loopc_narrow{{.*}}> : tensor<96x80xi8>
// INT8-DAG: %[[S:.+]] = arith.constant dense_resource<loopc_narrow{{.*}}> : tensor<96xf32>
// INT8: %[[W:.+]] = linalg.generic {indexing_maps = [#{{.+}}, #[[CHANNELS]], #{{.+}}], {{.*}} ins(%[[Q]], %[[S]] :
// INT8: arith.sitofp
// INT8: arith.mulf
// BF16: %[[Q:.+]] = arith.constant dense_resource<loopc_narrow{{.*}}> : tensor<96x80xbf16>
// BF16: %[[W:.+]] = linalg.generic {{.*}} ins(%[[Q]] :
// BF16: arith.extf
// CHECK: linalg.generic {{.*}} ins(%[[W]] : tensor<96x80xf32>)
// CHECK: tensor.extract_slice %[[W]]
// CHECK: return {{.*}}, %[[OLD]]
// WIDE-LABEL: func.func @product(
// WIDE: arith.constant dense_resource<loopc_folded{{.*}}> : tensor<96x80xf32>
// WIDE-NOT: bf16
// MODEL-LABEL: func.func @product(
// MODEL-NOT: dense_resource
func.func @product(%x: tensor<5x80xf32>, %y: tensor<5x96xf32>, %i: index) -> (tensor<5x96xf32>, tensor<1x80xf32>, tensor<96x80xf32>) {
  %w = arith.constant dense<1.001> : tensor<96x80xf32>
  %e = tensor.empty() : tensor<80x96xf32>
  %t = linalg.generic {indexing_maps = [#turned, #id], iterator_types = ["parallel", "parallel"]} ins(%w : tensor<96x80xf32>) outs(%e : tensor<80x96xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<80x96xf32>
  %p = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction", "parallel"]} ins(%x, %t : tensor<5x80xf32>, tensor<80x96xf32>) outs(%y : tensor<5x96xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %m = arith.mulf %a, %b : f32
    %n = arith.addf %out, %m : f32
    linalg.yield %n : f32
  } -> tensor<5x96xf32>
  %r = tensor.extract_slice %w[%i, 0] [1, 80] [1, 1] : tensor<96x80xf32> to tensor<1x80xf32>
  return %p, %r, %w : tensor<5x96xf32>, tensor<1x80xf32>, tensor<96x80xf32>
}

// -----

#x = affine_map<(d0, d1, d2) -> (d0, d1)>
#w = affine_map<(d0, d1, d2) -> (d1, d2)>
#y = affine_map<(d0, d1, d2) -> (d0, d2)>

// Rows are no weights, and 16 KiB are small.
// CHECK-LABEL: func.func @others(
// CHECK-NOT: loopc_narrow
// CHECK: return
func.func @others(%x: tensor<5x64xf32>, %z: tensor<5x64xf32>, %y: tensor<96x64xf32>, %v: tensor<80x64xf32>) -> (tensor<5x64xf32>, tensor<96x64xf32>) {
  %w = arith.constant dense<1.001> : tensor<64x64xf32>
  %rows = arith.constant dense<1.001> : tensor<96x80xf32>
  %p = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction", "parallel"]} ins(%x, %w : tensor<5x64xf32>, tensor<64x64xf32>) outs(%z : tensor<5x64xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %m = arith.mulf %a, %b : f32
    %n = arith.addf %out, %m : f32
    linalg.yield %n : f32
  } -> tensor<5x64xf32>
  %q = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction", "parallel"]} ins(%rows, %v : tensor<96x80xf32>, tensor<80x64xf32>) outs(%y : tensor<96x64xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %m = arith.mulf %a, %b : f32
    %n = arith.addf %out, %m : f32
    linalg.yield %n : f32
  } -> tensor<96x64xf32>
  return %p, %q : tensor<5x64xf32>, tensor<96x64xf32>
}
