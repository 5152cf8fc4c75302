// RUN: loopc-opt %s --convert-linalg-to-nests | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#one = affine_map<(d0, d1) -> ()>

// Loops whose iterations write different elements say so.
// CHECK-LABEL: func @rows(
// CHECK: scf.for
// CHECK: scf.for
// CHECK-NOT: linalg
// CHECK: } {loopc.parallel}
func.func @rows(%x: memref<?x?xf32>, %y: memref<?xf32>) {
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<?x?xf32>) outs(%y : memref<?xf32>) {
  ^bb0(%a: f32, %sum: f32):
    %0 = arith.addf %sum, %a : f32
    linalg.yield %0 : f32
  }
  return
}

// What has no such loop becomes loops as well.
// CHECK-LABEL: func @all(
// CHECK: scf.for
// CHECK: scf.for
// CHECK-NOT: linalg
// CHECK-NOT: loopc.parallel
func.func @all(%x: memref<?x?xf32>, %y: memref<f32>) {
  linalg.generic {indexing_maps = [#id, #one], iterator_types = ["reduction", "reduction"]}
      ins(%x : memref<?x?xf32>) outs(%y : memref<f32>) {
  ^bb0(%a: f32, %sum: f32):
    %0 = arith.addf %sum, %a : f32
    linalg.yield %0 : f32
  }
  return
}

// And what has no loop at all.
// CHECK-LABEL: func @none(
// CHECK-NOT: linalg
// CHECK: memref.load
// CHECK: arith.negf
// CHECK: memref.store
func.func @none(%x: memref<f32>, %y: memref<f32>) {
  linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []}
      ins(%x : memref<f32>) outs(%y : memref<f32>) {
  ^bb0(%a: f32, %out: f32):
    %0 = arith.negf %a : f32
    linalg.yield %0 : f32
  }
  return
}
