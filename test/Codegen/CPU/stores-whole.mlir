// RUN: loopc-opt %s --loopc-set-target="vector-bits=256 registers=16 mask-bits=32" --cpu-vectorize-contractions | FileCheck %s --check-prefix=SLOW
// RUN: loopc-opt %s --loopc-set-target="vector-bits=256 registers=16 mask-bits=8" --cpu-vectorize-contractions | FileCheck %s --check-prefix=CHEAP

// Tiles of an open number of columns are of one kind, with masks. Where masked
// stores are slow a tile that turns out to be whole is stored without.

#a = affine_map<(d0, d1, d2) -> (d0, d2)>
#b = affine_map<(d0, d1, d2) -> (d1 floordiv 16, d2, d1 mod 16)>
#c = affine_map<(d0, d1, d2) -> (d0, d1)>

// SLOW-LABEL: func @columns(
// SLOW: scf.for
// SLOW: %[[WHOLE:.*]] = arith.cmpi sge, %{{.*}}, %c8{{.*}} : index
// SLOW: scf.if %[[WHOLE]] {
// SLOW-NOT: vector.maskedstore
// SLOW: vector.store
// SLOW: } else {
// SLOW: vector.maskedstore

// CHEAP-LABEL: func @columns(
// CHEAP-NOT: vector.store
// CHEAP: vector.maskedstore
func.func @columns(%a: memref<6x32xf32>, %b: memref<?x32x16xf32>, %c: memref<6x?xf32>) {
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], loopc.packed}
      ins(%a, %b : memref<6x32xf32>, memref<?x32x16xf32>) outs(%c : memref<6x?xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %out, %p : f32
    linalg.yield %s : f32
  }
  return
}
