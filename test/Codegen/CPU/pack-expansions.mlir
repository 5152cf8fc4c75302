// RUN: loopc-opt %s -pass-pipeline='builtin.module(loopc-set-target{vector-bits=512 registers=32 mask-bits=8},cpu-pack-contractions,canonicalize)' | FileCheck %s

// Weights that are computed of a narrow constant become floats in the product;
// the constant is packed, the floats are never stored.

#id = affine_map<(d0, d1) -> (d0, d1)>
#turned = affine_map<(d0, d1) -> (d1, d0)>
#columns = affine_map<(d0, d1) -> (d1)>
#x = affine_map<(d0, d1, d2) -> (d0, d1)>
#w = affine_map<(d0, d1, d2) -> (d1, d2)>
#y = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[PANELS:.+]] = affine_map<(d0, d1, d2) -> (d2 floordiv 32, d1, d2 mod 32)>
// CHECK-DAG: #[[SCALES:.+]] = affine_map<(d0, d1, d2) -> (d2)>
// CHECK-LABEL: func.func @scaled(
// CHECK-DAG: %[[W:.+]] = arith.constant dense_resource<loopc_packed> : tensor<2x3x32xi8>
// CHECK-DAG: %[[S:.+]] = arith.constant dense_resource<scales> : tensor<40xf32>
// CHECK-NOT: linalg.generic
// CHECK: linalg.generic {indexing_maps = [#{{.+}}, #[[PANELS]], #[[SCALES]], #{{.+}}], {{.*}} ins(%arg0, %[[W]], %[[S]] :
// CHECK: arith.sitofp
// CHECK: arith.mulf
// CHECK: arith.mulf
// CHECK: arith.addf
func.func @scaled(%x: tensor<5x3xf32>, %y: tensor<5x40xf32>) -> tensor<5x40xf32> {
  %w = arith.constant dense_resource<weights> : tensor<40x3xi8>
  %s = arith.constant dense_resource<scales> : tensor<40xf32>
  %e = tensor.empty() : tensor<3x40xf32>
  %f = linalg.generic {indexing_maps = [#turned, #columns, #id], iterator_types = ["parallel", "parallel"]}
      ins(%w, %s : tensor<40x3xi8>, tensor<40xf32>) outs(%e : tensor<3x40xf32>) {
  ^bb0(%in: i8, %scale: f32, %out: f32):
    %a = arith.sitofp %in : i8 to f32
    %b = arith.mulf %a, %scale : f32
    linalg.yield %b : f32
  } -> tensor<3x40xf32>
  %p = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %f : tensor<5x3xf32>, tensor<3x40xf32>) outs(%y : tensor<5x40xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %m = arith.mulf %a, %b : f32
    %n = arith.addf %out, %m : f32
    linalg.yield %n : f32
  } -> tensor<5x40xf32>
  return %p : tensor<5x40xf32>
}

{-#
  dialect_resources: {
    builtin: {
      weights: "0x40000000000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F202122232425262728292A2B2C2D2E2F303132333435363738393A3B3C3D3E3F404142434445464748494A4B4C4D4E4F505152535455565758595A5B5C5D5E5F606162636465666768696A6B6C6D6E6F7071727374757677",
      scales: "0x400000000000003F0000003F0000003F0000003F0000003F0000003F0000003F0000003F0000003F0000003F0000003F0000003F0000003F0000003F0000003F0000003F0000003F0000003F0000003F0000003F0000003F0000003F0000003F0000003F0000003F0000003F0000003F0000003F0000003F0000003F0000003F0000003F0000003F0000003F0000003F0000003F0000003F0000003F0000003F0000003F"
    }
  }
#-}
