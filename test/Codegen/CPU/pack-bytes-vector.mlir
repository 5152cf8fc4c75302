// RUN: loopc-opt %s -split-input-file -pass-pipeline='builtin.module(loopc-set-target{vector-bits=512 registers=32 mask-bits=8 dot-bits=8},cpu-pack-contractions,canonicalize)' | FileCheck %s

// Each element of a matrix that is multiplied with a vector is read once: it
// stays where it is, and vectors go along the sum.
// CHECK-LABEL: func.func @vector(
// CHECK-SAME: %[[X:[^ :]+]]: tensor<?x256xi16>
// CHECK-NOT: loopc.packed
// CHECK: linalg.generic
// CHECK-SAME: ins(%[[X]], %{{.*}} : tensor<?x256xi16>, tensor<256xi16>)
// CHECK-NOT: linalg.generic
#matrix = affine_map<(d0, d1) -> (d0, d1)>
#sum = affine_map<(d0, d1) -> (d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @vector(%x: tensor<?x256xi16>, %w: tensor<256xi16>, %y: tensor<?xi32>) -> tensor<?xi32> {
  %0 = linalg.generic {indexing_maps = [#matrix, #sum, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %w : tensor<?x256xi16>, tensor<256xi16>) outs(%y : tensor<?xi32>) {
  ^bb0(%a: i16, %b: i16, %c: i32):
    %1 = arith.extsi %a : i16 to i32
    %2 = arith.extsi %b : i16 to i32
    %3 = arith.muli %1, %2 : i32
    %4 = arith.addi %c, %3 : i32
    linalg.yield %4 : i32
  } -> tensor<?xi32>
  return %0 : tensor<?xi32>
}

// -----

// One that many rows read is packed.
// CHECK-LABEL: func.func @matrix(
// CHECK: linalg.generic
// CHECK-SAME: {loopc.packed}
#left = affine_map<(d0, d1, d2) -> (d0, d2)>
#right = affine_map<(d0, d1, d2) -> (d1, d2)>
#out = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @matrix(%x: tensor<?x256xi16>, %w: tensor<64x256xi16>, %y: tensor<?x64xi32>) -> tensor<?x64xi32> {
  %0 = linalg.generic {indexing_maps = [#left, #right, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<?x256xi16>, tensor<64x256xi16>) outs(%y : tensor<?x64xi32>) {
  ^bb0(%a: i16, %b: i16, %c: i32):
    %1 = arith.extsi %a : i16 to i32
    %2 = arith.extsi %b : i16 to i32
    %3 = arith.muli %1, %2 : i32
    %4 = arith.addi %c, %3 : i32
    linalg.yield %4 : i32
  } -> tensor<?x64xi32>
  return %0 : tensor<?x64xi32>
}
