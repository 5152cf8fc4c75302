// RUN: loopc-opt %s --loopc-set-target="vector-bits=512 registers=32 mask-bits=8" --cpu-pack-contractions | FileCheck %s
// RUN: loopc-opt %s --loopc-set-target="vector-bits=512 registers=32 mask-bits=8" --cpu-pack-contractions --loopc-bufferize --loopc-print-plans -o /dev/null 2>&1 | FileCheck %s --check-prefix=PLAN

// Few long columns are brought together, so that vectors run along what is
// summed: along the columns most of each would be empty.

#x = affine_map<(d0, d1, d2) -> (d0, d2)>
#w = affine_map<(d0, d1, d2) -> (d2, d1)>
#y = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-DAG: #[[COLUMNS:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>

// Constants are transposed by the compiler.
// CHECK-LABEL: func @constant(
// CHECK: %[[W:.*]] = arith.constant dense_resource<loopc_packed{{.*}}> : tensor<3x32xf32>
// CHECK-NOT: loopc.packed
// CHECK: linalg.generic {indexing_maps = [#{{.*}}, #[[COLUMNS]], #{{.*}}]
// CHECK-SAME: ins(%{{.*}}, %[[W]] : tensor<?x32xf32>, tensor<3x32xf32>)
// PLAN: constant: contraction loops=?x3x32 vectors=16 along-sum=d2
func.func @constant(%x: tensor<?x32xf32>, %y: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %w = arith.constant dense_resource<weights> : tensor<32x3xf32>
  %r = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<?x32xf32>, tensor<32x3xf32>) outs(%y : tensor<?x3xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %p = arith.mulf %a, %b fastmath<contract> : f32
    %s = arith.addf %out, %p fastmath<reassoc,contract> : f32
    linalg.yield %s : f32
  } -> tensor<?x3xf32>
  return %r : tensor<?x3xf32>
}

// Of enough rows others are, too, and where a loop does not change them, once
// in front of it.
// CHECK-LABEL: func @rows(
// CHECK: %[[W:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<4x1024xf32>)
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[W]] : tensor<64x1024xf32>, tensor<4x1024xf32>)
func.func @rows(%x: tensor<64x1024xf32>, %w: tensor<1024x4xf32>, %y: tensor<64x4xf32>) -> tensor<64x4xf32> {
  %r = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<64x1024xf32>, tensor<1024x4xf32>) outs(%y : tensor<64x4xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %p = arith.mulf %a, %b fastmath<contract> : f32
    %s = arith.addf %out, %p fastmath<reassoc,contract> : f32
    linalg.yield %s : f32
  } -> tensor<64x4xf32>
  return %r : tensor<64x4xf32>
}

// CHECK-LABEL: func @invariant(
// CHECK: %[[W:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<4x?xf32>)
// CHECK: scf.for
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[W]] : tensor<?x?xf32>, tensor<4x?xf32>)
func.func @invariant(%x: tensor<?x?xf32>, %w: tensor<?x4xf32>, %y: tensor<?x4xf32>, %n: index) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = scf.for %i = %c0 to %n step %c1 iter_args(%was = %y) -> tensor<?x4xf32> {
    %r = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %w : tensor<?x?xf32>, tensor<?x4xf32>) outs(%was : tensor<?x4xf32>) {
    ^bb0(%a: f32, %b: f32, %out: f32):
      %p = arith.mulf %a, %b fastmath<contract> : f32
      %s = arith.addf %out, %p fastmath<reassoc,contract> : f32
      linalg.yield %s : f32
    } -> tensor<?x4xf32>
    scf.yield %r : tensor<?x4xf32>
  }
  return %z : tensor<?x4xf32>
}

// Few rows are not worth a copy; short sums have no vectors; sums whose order is
// given stay as they are.
// CHECK-LABEL: func @stay(
// CHECK: linalg.generic {{.*}} tensor<1024x4xf32>)
// CHECK: linalg.generic {{.*}} tensor<8x4xf32>)
// CHECK: linalg.generic {{.*}} tensor<1024x4xf32>)
func.func @stay(%x: tensor<2x1024xf32>, %w: tensor<1024x4xf32>, %y: tensor<2x4xf32>,
                %x1: tensor<64x8xf32>, %w1: tensor<8x4xf32>, %y1: tensor<64x4xf32>,
                %x2: tensor<64x1024xf32>) -> (tensor<2x4xf32>, tensor<64x4xf32>, tensor<64x4xf32>) {
  %r = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<2x1024xf32>, tensor<1024x4xf32>) outs(%y : tensor<2x4xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %p = arith.mulf %a, %b fastmath<contract> : f32
    %s = arith.addf %out, %p fastmath<reassoc,contract> : f32
    linalg.yield %s : f32
  } -> tensor<2x4xf32>
  %r1 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x1, %w1 : tensor<64x8xf32>, tensor<8x4xf32>) outs(%y1 : tensor<64x4xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %p = arith.mulf %a, %b fastmath<contract> : f32
    %s = arith.addf %out, %p fastmath<reassoc,contract> : f32
    linalg.yield %s : f32
  } -> tensor<64x4xf32>
  %r2 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x2, %w : tensor<64x1024xf32>, tensor<1024x4xf32>) outs(%y1 : tensor<64x4xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %out, %p : f32
    linalg.yield %s : f32
  } -> tensor<64x4xf32>
  return %r, %r1, %r2 : tensor<2x4xf32>, tensor<64x4xf32>, tensor<64x4xf32>
}

{-#
  dialect_resources: {
    builtin: {
      weights: "0x04000000000000000000803F0000004000004040000080400000A0400000C0400000E0400000004100001041000020410000304100004041000050410000604100007041000080410000884100009041000098410000A0410000A8410000B0410000B8410000C0410000C8410000D0410000D8410000E0410000E8410000F0410000F84100000042000004420000084200000C4200001042000014420000184200001C4200002042000024420000284200002C4200003042000034420000384200003C4200004042000044420000484200004C4200005042000054420000584200005C4200006042000064420000684200006C4200007042000074420000784200007C42000080420000824200008442000086420000884200008A4200008C4200008E42000090420000924200009442000096420000984200009A4200009C4200009E420000A0420000A2420000A4420000A6420000A8420000AA420000AC420000AE420000B0420000B2420000B4420000B6420000B8420000BA420000BC420000BE42"
    }
  }
#-}
