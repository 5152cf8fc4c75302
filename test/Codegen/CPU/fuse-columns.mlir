// RUN: loopc-opt %s --loopc-set-target="vector-bits=512 registers=32 mask-bits=8" --cpu-fuse-reductions | FileCheck %s
// RUN: loopc-opt %s --loopc-set-target="vector-bits=128" --cpu-fuse-reductions | FileCheck %s --check-prefix=NOMASK

#id = affine_map<(h, k, v) -> (h, k, v)>
#key = affine_map<(h, k, v) -> (h, k)>
#value = affine_map<(h, k, v) -> (h, v)>

// The state of a head is computed, stored and multiplied with the query (one row
// of a batched product) while it is in registers. Without masks columns are no
// vectors, and both stay as they are.
// CHECK-LABEL: func @columns(
// CHECK: loop.loop
// CHECK: %[[R:.*]]:2 = linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "reduction", "parallel"]
// CHECK: ^bb0(%{{.*}}: f32, %{{.*}}: f32, %{{.*}}: f32, %[[Q:.*]]: f32, %{{.*}}: f32, %[[SUM:.*]]: f32):
// CHECK: %[[NEW:.*]] = arith.addf
// CHECK: %[[P:.*]] = arith.mulf %[[Q]], %[[NEW]]
// CHECK: %[[NEXT:.*]] = arith.addf %[[SUM]], %[[P]]
// CHECK: linalg.yield %[[NEW]], %[[NEXT]]
// CHECK: %[[Y:.*]] = tensor.expand_shape %[[R]]#1 {{.*}} tensor<4x64xf32> into tensor<4x1x64xf32>
// CHECK: loop.yield {{.*}} carried(%[[R]]#0, %[[Y]]
// NOMASK-LABEL: func @columns(
// NOMASK: ["parallel", "parallel", "parallel"]
// NOMASK: ["parallel", "parallel", "reduction", "parallel"]
func.func @columns(%n: i64, %q: tensor<4x1x64xf32>, %k: tensor<4x64xf32>, %v: tensor<4x64xf32>, %s0: tensor<4x64x64xf32>, %y0: tensor<4x1x64xf32>) -> (tensor<4x64x64xf32>, tensor<4x1x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x64x64xf32>
  %r = tensor.empty() : tensor<4x1x64xf32>
  %z = linalg.fill ins(%zero : f32) outs(%r : tensor<4x1x64xf32>) -> tensor<4x1x64xf32>
  %out:2 = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%s = %s0 : tensor<4x64x64xf32>, %ys = %y0 : tensor<4x1x64xf32>) {
    %s1 = linalg.generic {indexing_maps = [#id, #key, #value, #id], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%s, %k, %v : tensor<4x64x64xf32>, tensor<4x64xf32>, tensor<4x64xf32>) outs(%e : tensor<4x64x64xf32>) {
    ^bb0(%a: f32, %b: f32, %d: f32, %o: f32):
      %m = arith.mulf %b, %d : f32
      %w = arith.addf %a, %m : f32
      linalg.yield %w : f32
    } -> tensor<4x64x64xf32>
    %y = linalg.generic {indexing_maps = [affine_map<(h, one, k, v) -> (h, one, k)>, affine_map<(h, one, k, v) -> (h, k, v)>, affine_map<(h, one, k, v) -> (h, one, v)>], iterator_types = ["parallel", "parallel", "reduction", "parallel"]}
        ins(%q, %s1 : tensor<4x1x64xf32>, tensor<4x64x64xf32>) outs(%z : tensor<4x1x64xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %m = arith.mulf %a, %b fastmath<contract> : f32
      %w = arith.addf %o, %m fastmath<reassoc,contract> : f32
      linalg.yield %w : f32
    } -> tensor<4x1x64xf32>
    loop.yield while(%c : i1) carried(%s1, %y : tensor<4x64x64xf32>, tensor<4x1x64xf32>)
  }
  return %out#0, %out#1 : tensor<4x64x64xf32>, tensor<4x1x64xf32>
}

// Several rows read each element more than once: a product of matrices has a
// kernel of its own.
// CHECK-LABEL: func @rows(
// CHECK: loop.loop
// CHECK: ["parallel", "parallel", "parallel"]
// CHECK: ["parallel", "parallel", "reduction", "parallel"]
func.func @rows(%n: i64, %q: tensor<4x8x64xf32>, %k: tensor<4x64xf32>, %v: tensor<4x64xf32>, %s0: tensor<4x64x64xf32>, %y0: tensor<4x8x64xf32>) -> (tensor<4x64x64xf32>, tensor<4x8x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x64x64xf32>
  %r = tensor.empty() : tensor<4x8x64xf32>
  %z = linalg.fill ins(%zero : f32) outs(%r : tensor<4x8x64xf32>) -> tensor<4x8x64xf32>
  %out:2 = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%s = %s0 : tensor<4x64x64xf32>, %ys = %y0 : tensor<4x8x64xf32>) {
    %s1 = linalg.generic {indexing_maps = [#id, #key, #value, #id], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%s, %k, %v : tensor<4x64x64xf32>, tensor<4x64xf32>, tensor<4x64xf32>) outs(%e : tensor<4x64x64xf32>) {
    ^bb0(%a: f32, %b: f32, %d: f32, %o: f32):
      %m = arith.mulf %b, %d : f32
      %w = arith.addf %a, %m : f32
      linalg.yield %w : f32
    } -> tensor<4x64x64xf32>
    %y = linalg.generic {indexing_maps = [affine_map<(h, m, k, v) -> (h, m, k)>, affine_map<(h, m, k, v) -> (h, k, v)>, affine_map<(h, m, k, v) -> (h, m, v)>], iterator_types = ["parallel", "parallel", "reduction", "parallel"]}
        ins(%q, %s1 : tensor<4x8x64xf32>, tensor<4x64x64xf32>) outs(%z : tensor<4x8x64xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %m = arith.mulf %a, %b fastmath<contract> : f32
      %w = arith.addf %o, %m fastmath<reassoc,contract> : f32
      linalg.yield %w : f32
    } -> tensor<4x8x64xf32>
    loop.yield while(%c : i1) carried(%s1, %y : tensor<4x64x64xf32>, tensor<4x8x64xf32>)
  }
  return %out#0, %out#1 : tensor<4x64x64xf32>, tensor<4x8x64xf32>
}

// A state with the values first is summed up along its rows.
// CHECK-LABEL: func @along_rows(
// CHECK: loop.loop
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "parallel", "reduction"]
// CHECK-NOT: linalg.generic
func.func @along_rows(%n: i64, %q: tensor<4x64xf32>, %s0: tensor<4x64x64xf32>, %y0: tensor<4x64xf32>) -> (tensor<4x64x64xf32>, tensor<4x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x64x64xf32>
  %r = tensor.empty() : tensor<4x64xf32>
  %z = linalg.fill ins(%zero : f32) outs(%r : tensor<4x64xf32>) -> tensor<4x64xf32>
  %out:2 = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%s = %s0 : tensor<4x64x64xf32>, %ys = %y0 : tensor<4x64xf32>) {
    %s1 = linalg.generic {indexing_maps = [#id, #key, #value, #id], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%s, %q, %q : tensor<4x64x64xf32>, tensor<4x64xf32>, tensor<4x64xf32>) outs(%e : tensor<4x64x64xf32>) {
    ^bb0(%a: f32, %b: f32, %d: f32, %o: f32):
      %m = arith.mulf %b, %d : f32
      %w = arith.addf %a, %m : f32
      linalg.yield %w : f32
    } -> tensor<4x64x64xf32>
    %y = linalg.generic {indexing_maps = [#id, #value, #key], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%s1, %q : tensor<4x64x64xf32>, tensor<4x64xf32>) outs(%z : tensor<4x64xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %m = arith.mulf %a, %b fastmath<contract> : f32
      %w = arith.addf %o, %m fastmath<reassoc,contract> : f32
      linalg.yield %w : f32
    } -> tensor<4x64xf32>
    loop.yield while(%c : i1) carried(%s1, %y : tensor<4x64x64xf32>, tensor<4x64xf32>)
  }
  return %out#0, %out#1 : tensor<4x64x64xf32>, tensor<4x64xf32>
}
