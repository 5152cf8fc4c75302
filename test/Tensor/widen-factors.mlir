// RUN: loopc-opt %s --pass-pipeline='builtin.module(func.func(tensor-widen-factors,canonicalize))' | FileCheck %s

#rows = affine_map<(i, j) -> (i, j)>
#lhs = affine_map<(i, j, k) -> (i, k)>
#rhs = affine_map<(i, j, k) -> (k, j)>
#out = affine_map<(i, j, k) -> (i, j)>

// The rounding of a result that is only summed up with others vanishes.
// CHECK-LABEL: func.func @one_reader(
// CHECK: tensor.empty({{.*}}) : tensor<?x8xf32>
// CHECK: linalg.generic
// CHECK-NOT: arith.truncf
// CHECK: linalg.yield {{.*}} : f32
// CHECK: linalg.generic
// CHECK-SAME: ins({{.*}} : tensor<?x8xf32>, tensor<8x4xf16>)
// CHECK-COUNT-1: arith.extf
// CHECK-NOT: arith.extf
func.func @one_reader(%x: tensor<?x8xf32>, %w: tensor<8x4xf16>, %acc: tensor<?x4xf32>, %n: index) -> tensor<?x4xf32> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty(%n) : tensor<?x8xf16>
  %p = linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x8xf32>) outs(%e : tensor<?x8xf16>) {
  ^bb0(%a: f32, %o: f16):
    %s = math.exp %a : f32
    %c = arith.cmpf olt, %a, %s : f32
    %h = arith.truncf %s {loopc.may_skip} : f32 to f16
    %r = arith.select %c, %zero, %h : f16
    linalg.yield %r : f16
  } -> tensor<?x8xf16>
  %y = linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%p, %w : tensor<?x8xf16>, tensor<8x4xf16>) outs(%acc : tensor<?x4xf32>) {
  ^bb0(%a: f16, %b: f16, %o: f32):
    %1 = arith.extf %a : f16 to f32
    %2 = arith.extf %b : f16 to f32
    %3 = arith.mulf %1, %2 : f32
    %4 = arith.addf %o, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// A Cast that the model wrote rounds.
// CHECK-LABEL: func.func @asked_for(
// CHECK: arith.truncf
func.func @asked_for(%x: tensor<8x8xf32>, %acc: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8x8xf16>
  %p = linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<8x8xf32>) outs(%e : tensor<8x8xf16>) {
  ^bb0(%a: f32, %o: f16):
    %h = arith.truncf %a : f32 to f16
    linalg.yield %h : f16
  } -> tensor<8x8xf16>
  %y = linalg.generic {indexing_maps = [#rows, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%p : tensor<8x8xf16>) outs(%acc : tensor<8xf32>) {
  ^bb0(%a: f16, %o: f32):
    %1 = arith.extf %a : f16 to f32
    %3 = arith.mulf %1, %1 : f32
    %4 = arith.addf %o, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// Two readers see one value.
// CHECK-LABEL: func.func @two_readers(
// CHECK: arith.truncf
func.func @two_readers(%x: tensor<8x8xf32>, %acc: tensor<8xf32>) -> (tensor<8xf32>, tensor<8x8xf16>) {
  %e = tensor.empty() : tensor<8x8xf16>
  %p = linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<8x8xf32>) outs(%e : tensor<8x8xf16>) {
  ^bb0(%a: f32, %o: f16):
    %h = arith.truncf %a {loopc.may_skip} : f32 to f16
    linalg.yield %h : f16
  } -> tensor<8x8xf16>
  %y = linalg.generic {indexing_maps = [#rows, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%p : tensor<8x8xf16>) outs(%acc : tensor<8xf32>) {
  ^bb0(%a: f16, %o: f32):
    %1 = arith.extf %a : f16 to f32
    %3 = arith.mulf %1, %1 : f32
    %4 = arith.addf %o, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<8xf32>
  return %y, %p : tensor<8xf32>, tensor<8x8xf16>
}
