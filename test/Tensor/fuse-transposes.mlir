// RUN: loopc-opt %s --tensor-fuse-elementwise | FileCheck %s
// RUN: loopc-opt %s --loopc-set-target="vector-bits=512 registers=32 mask-bits=8" --tensor-fuse-elementwise | FileCheck %s --check-prefix=WIDE

// Elements of one type are transposed in the place of the result; those of
// another are not computed with in the tiles of a transpose, if that is much.

#id = affine_map<(i, j) -> (i, j)>
#turned = affine_map<(i, j) -> (j, i)>

// CHECK-DAG: #[[ID:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[TURNED:.*]] = affine_map<(d0, d1) -> (d1, d0)>

// CHECK-LABEL: func @narrow(
// CHECK: %[[T:.*]] = linalg.generic {indexing_maps = [#[[TURNED]], #[[ID]]]{{.*}} outs(%{{.*}} : tensor<?x?xf16>)
// CHECK: linalg.generic {indexing_maps = [#[[ID]], #[[ID]]]{{.*}} ins(%[[T]] : tensor<?x?xf16>) outs(%{{.*}} : tensor<?x?xf32>)
// CHECK: math.erf
func.func @narrow(%x: tensor<?x?xf16>, %m: index, %n: index) -> tensor<?x?xf32> {
  %e = tensor.empty(%m, %n) : tensor<?x?xf16>
  %t = linalg.generic {indexing_maps = [#turned, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x?xf16>) outs(%e : tensor<?x?xf16>) {
  ^bb0(%a: f16, %o: f16):
    linalg.yield %a : f16
  } -> tensor<?x?xf16>
  %f = tensor.empty(%m, %n) : tensor<?x?xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%t : tensor<?x?xf16>) outs(%f : tensor<?x?xf32>) {
  ^bb0(%a: f16, %o: f32):
    %w = arith.extf %a : f16 to f32
    %s = math.erf %w : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: func @equal(
// CHECK: linalg.generic {indexing_maps = [#[[TURNED]], #[[ID]]]
// CHECK: math.erf
// CHECK-NOT: linalg.generic
func.func @equal(%x: tensor<?x?xf32>, %m: index, %n: index) -> tensor<?x?xf32> {
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %t = linalg.generic {indexing_maps = [#turned, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<?x?xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%t : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = math.erf %a : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// A transpose that is marked as stored stays by itself; without the mark what
// reads it reads its operand.

// CHECK-LABEL: func @stored(
// CHECK: %[[T:.*]] = linalg.transpose {{.*}} {loopc.stored}
// CHECK: linalg.generic {indexing_maps = [#[[ID]], #[[ID]]]{{.*}} ins(%[[T]] :
// CHECK: math.erf
func.func @stored(%x: tensor<?x?xf32>, %m: index, %n: index) -> tensor<?x?xf32> {
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %t = linalg.transpose ins(%x : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) permutation = [1, 0] {loopc.stored}
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%t : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = math.erf %a : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: func @not_stored(
// CHECK-NOT: linalg.transpose
// CHECK: linalg.generic {indexing_maps = [#[[TURNED]], #[[ID]]]
// CHECK: math.erf
func.func @not_stored(%x: tensor<?x?xf32>, %m: index, %n: index) -> tensor<?x?xf32> {
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %t = linalg.transpose ins(%x : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) permutation = [1, 0]
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%t : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = math.erf %a : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: func @light(
// CHECK: linalg.generic {indexing_maps = [#[[TURNED]], #[[ID]]]
// CHECK: arith.extf
// CHECK-NOT: linalg.generic
func.func @light(%x: tensor<?x?xf16>, %m: index, %n: index) -> tensor<?x?xf32> {
  %e = tensor.empty(%m, %n) : tensor<?x?xf16>
  %t = linalg.generic {indexing_maps = [#turned, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x?xf16>) outs(%e : tensor<?x?xf16>) {
  ^bb0(%a: f16, %o: f16):
    linalg.yield %a : f16
  } -> tensor<?x?xf16>
  %f = tensor.empty(%m, %n) : tensor<?x?xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%t : tensor<?x?xf16>) outs(%f : tensor<?x?xf32>) {
  ^bb0(%a: f16, %o: f32):
    %w = arith.extf %a : f16 to f32
    linalg.yield %w : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

#rows = affine_map<(d0, d1, d2) -> (d0, d1)>
#weights = affine_map<(d0, d1, d2) -> (d1, d2)>
#sums = affine_map<(d0, d1, d2) -> (d0, d2)>

// Each of the 16 tiles of the 128 columns would read a cache line for each of the
// 64 elements of a row. Of 32 columns each there are four tiles.
// WIDE-LABEL: func @long_sum(
// WIDE-SAME: %[[X:.*]]: tensor<64x49xf32>
// WIDE: linalg.generic {{.*}} ins(%[[X]], %{{.*}} : tensor<64x49xf32>, tensor<64x128xf32>)
// CHECK-LABEL: func @long_sum(
// CHECK: %[[TURNED:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<49x64xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[TURNED]],
func.func @long_sum(%x: tensor<64x49xf32>, %w: tensor<64x128xf32>, %y: tensor<49x128xf32>) -> tensor<49x128xf32> {
  %empty = tensor.empty() : tensor<49x64xf32>
  %t = linalg.generic {indexing_maps = [#turned, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<64x49xf32>) outs(%empty : tensor<49x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<49x64xf32>
  %r = linalg.generic {indexing_maps = [#rows, #weights, #sums], iterator_types = ["parallel", "reduction", "parallel"]} ins(%t, %w : tensor<49x64xf32>, tensor<64x128xf32>) outs(%y : tensor<49x128xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %m = arith.mulf %a, %b : f32
    %n = arith.addf %s, %m : f32
    linalg.yield %n : f32
  } -> tensor<49x128xf32>
  return %r : tensor<49x128xf32>
}

// Few columns read what is transposed where it is.
// CHECK-LABEL: func @few_columns(
// CHECK-SAME: %[[X:.*]]: tensor<64x49xf32>
// CHECK: linalg.generic {{.*}} ins(%[[X]],
func.func @few_columns(%x: tensor<64x49xf32>, %w: tensor<64x32xf32>, %y: tensor<49x32xf32>) -> tensor<49x32xf32> {
  %empty = tensor.empty() : tensor<49x64xf32>
  %t = linalg.generic {indexing_maps = [#turned, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<64x49xf32>) outs(%empty : tensor<49x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<49x64xf32>
  %r = linalg.generic {indexing_maps = [#rows, #weights, #sums], iterator_types = ["parallel", "reduction", "parallel"]} ins(%t, %w : tensor<49x64xf32>, tensor<64x32xf32>) outs(%y : tensor<49x32xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %m = arith.mulf %a, %b : f32
    %n = arith.addf %s, %m : f32
    linalg.yield %n : f32
  } -> tensor<49x32xf32>
  return %r : tensor<49x32xf32>
}
