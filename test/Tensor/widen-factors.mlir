// RUN: loopc-opt %s --pass-pipeline='builtin.module(func.func(tensor-widen-factors,canonicalize))' | FileCheck %s
// RUN: loopc-opt %s --pass-pipeline='builtin.module(loopc-set-target{chip=sm_80},func.func(tensor-widen-factors))' | FileCheck %s --check-prefix=GPU

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

// What rows are is widened in front of the product, in vectors; the columns'
// factor is not, for which there are strips.
// GPU-LABEL: func.func @rows_in_front(
// GPU: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<?x8xf16>, tensor<8x64xf16>)
// CHECK-LABEL: func.func @rows_in_front(
// CHECK-SAME: %[[X:.*]]: tensor<?x8xf16>
// CHECK: %[[WIDE:.*]] = linalg.generic {{.*}} ins(%[[X]] : tensor<?x8xf16>) outs({{.*}} : tensor<?x8xf32>)
// CHECK: arith.extf
// CHECK: linalg.generic {{.*}} ins(%[[WIDE]], %{{.*}} : tensor<?x8xf32>, tensor<8x64xf16>)
// CHECK-COUNT-1: arith.extf
// CHECK-NOT: arith.extf
// CHECK: return
func.func @rows_in_front(%x: tensor<?x8xf16>, %w: tensor<8x64xf16>, %acc: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %y = linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<?x8xf16>, tensor<8x64xf16>) outs(%acc : tensor<?x64xf32>) {
  ^bb0(%a: f16, %b: f16, %s: f32):
    %aw = arith.extf %a : f16 to f32
    %bw = arith.extf %b : f16 to f32
    %p = arith.mulf %aw, %bw fastmath<contract> : f32
    %t = arith.addf %s, %p fastmath<contract> : f32
    linalg.yield %t : f32
  } -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// So they are for two columns: in the product each element would be widened
// alone. A single column is summed up in vectors, which widen as well.
// CHECK-LABEL: func.func @few_columns(
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<?x8xf32>, tensor<8x2xf16>)
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<?x8xf16>, tensor<8x1xf16>)
func.func @few_columns(%x: tensor<?x8xf16>, %w: tensor<8x2xf16>, %v: tensor<8x1xf16>, %acc: tensor<?x2xf32>, %one: tensor<?x1xf32>) -> (tensor<?x2xf32>, tensor<?x1xf32>) {
  %y = linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<?x8xf16>, tensor<8x2xf16>) outs(%acc : tensor<?x2xf32>) {
  ^bb0(%a: f16, %b: f16, %s: f32):
    %aw = arith.extf %a : f16 to f32
    %bw = arith.extf %b : f16 to f32
    %p = arith.mulf %aw, %bw fastmath<contract> : f32
    %t = arith.addf %s, %p fastmath<contract> : f32
    linalg.yield %t : f32
  } -> tensor<?x2xf32>
  %z = linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %v : tensor<?x8xf16>, tensor<8x1xf16>) outs(%one : tensor<?x1xf32>) {
  ^bb0(%a: f16, %b: f16, %s: f32):
    %aw = arith.extf %a : f16 to f32
    %bw = arith.extf %b : f16 to f32
    %p = arith.mulf %aw, %bw fastmath<contract> : f32
    %t = arith.addf %s, %p fastmath<contract> : f32
    linalg.yield %t : f32
  } -> tensor<?x1xf32>
  return %y, %z : tensor<?x2xf32>, tensor<?x1xf32>
}

// Two rows are not, nor what is multiplied in a loop, which keeps its memory.
// CHECK-LABEL: func.func @few_rows(
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<2x8xf16>, tensor<8x64xf16>)
// CHECK: scf.for
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<?x8xf16>, tensor<8x64xf16>)
// CHECK: return
func.func @few_rows(%x: tensor<2x8xf16>, %v: tensor<?x8xf16>, %w: tensor<8x64xf16>, %acc: tensor<2x64xf32>, %more: tensor<?x64xf32>, %n: index) -> (tensor<2x64xf32>, tensor<?x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %y = linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<2x8xf16>, tensor<8x64xf16>) outs(%acc : tensor<2x64xf32>) {
  ^bb0(%a: f16, %b: f16, %s: f32):
    %aw = arith.extf %a : f16 to f32
    %bw = arith.extf %b : f16 to f32
    %p = arith.mulf %aw, %bw fastmath<contract> : f32
    %t = arith.addf %s, %p fastmath<contract> : f32
    linalg.yield %t : f32
  } -> tensor<2x64xf32>
  %z = scf.for %i = %c0 to %n step %c1 iter_args(%sums = %more) -> tensor<?x64xf32> {
    %u = linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%v, %w : tensor<?x8xf16>, tensor<8x64xf16>) outs(%sums : tensor<?x64xf32>) {
    ^bb0(%a: f16, %b: f16, %s: f32):
      %aw = arith.extf %a : f16 to f32
      %bw = arith.extf %b : f16 to f32
      %p = arith.mulf %aw, %bw fastmath<contract> : f32
      %t = arith.addf %s, %p fastmath<contract> : f32
      linalg.yield %t : f32
    } -> tensor<?x64xf32>
    scf.yield %u : tensor<?x64xf32>
  }
  return %y, %z : tensor<2x64xf32>, tensor<?x64xf32>
}

// Of windows the constant weights are widened here, and the image is padded in
// f32, so that what widens it writes the inside.
#image = affine_map<(h, w, y, x, c, n) -> (h + y, w + x, c)>
#kernel = affine_map<(h, w, y, x, c, n) -> (y, x, c, n)>
#result = affine_map<(h, w, y, x, c, n) -> (h, w, n)>
// CHECK-LABEL: func.func @windows(
// CHECK: dense_resource<loopc_widened> : tensor<1x2x1x16xf32>
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<?x?x1xf16>) outs(%{{.*}} : tensor<?x?x1xf32>)
// CHECK: tensor.pad
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<?x?x1xf32>, tensor<1x2x1x16xf32>)
// CHECK-NOT: arith.extf
// CHECK: return
func.func @windows(%x: tensor<?x?x1xf16>, %acc: tensor<?x?x16xf32>) -> tensor<?x?x16xf32> {
  %zero = arith.constant 0.0 : f16
  %w = arith.constant dense_resource<weights> : tensor<1x2x1x16xf16>
  %padded = tensor.pad %x low[0, 1, 0] high[0, 0, 0] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %zero : f16
  } : tensor<?x?x1xf16> to tensor<?x?x1xf16>
  %y = linalg.generic {indexing_maps = [#image, #kernel, #result], iterator_types = ["parallel", "parallel", "reduction", "reduction", "reduction", "parallel"]}
      ins(%padded, %w : tensor<?x?x1xf16>, tensor<1x2x1x16xf16>) outs(%acc : tensor<?x?x16xf32>) {
  ^bb0(%a: f16, %b: f16, %s: f32):
    %aw = arith.extf %a : f16 to f32
    %bw = arith.extf %b : f16 to f32
    %p = arith.mulf %aw, %bw fastmath<contract> : f32
    %t = arith.addf %s, %p fastmath<contract> : f32
    linalg.yield %t : f32
  } -> tensor<?x?x16xf32>
  return %y : tensor<?x?x16xf32>
}

{-#
  dialect_resources: {
    builtin: {
      weights: "0x02000000003C003E0040003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C003C"
    }
  }
#-}
