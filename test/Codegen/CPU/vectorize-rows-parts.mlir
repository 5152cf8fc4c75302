// RUN: loopc-opt %s --pass-pipeline='builtin.module(loopc-set-target{vector-bits=512 mask-bits=8},func.func(cpu-vectorize-rows,canonicalize,cse,nest-retract-unproved))' | FileCheck %s

// Parts of open extents that iterations of a parallel loop have are copied row
// by row: as one row each nobody could prove that they do not overlap.
#three = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK-LABEL: func @parts(
// CHECK-NOT: memref.collapse_shape
// CHECK: vector.store
// CHECK: } {loopc.parallel}
// CHECK-NEXT: } {loopc.parallel}
// CHECK-NEXT: return
func.func @parts(%x: memref<1x?x?xf32>, %n: index, %w: index, %block: index, %parts: index) -> memref<1x?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %y = memref.alloc(%n, %w) : memref<1x?x?xf32>
  scf.for %i = %c0 to %parts step %c1 {
    %at = arith.muli %i, %block : index
    %left = arith.subi %n, %at : index
    %size = arith.minsi %block, %left : index
    %from = memref.subview %x[0, %at, 0] [1, %size, %w] [1, 1, 1] : memref<1x?x?xf32> to memref<1x?x?xf32, strided<[?, ?, 1], offset: ?>>
    %to = memref.subview %y[0, %at, 0] [1, %size, %w] [1, 1, 1] : memref<1x?x?xf32> to memref<1x?x?xf32, strided<[?, ?, 1], offset: ?>>
    linalg.generic {indexing_maps = [#three, #three], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%from : memref<1x?x?xf32, strided<[?, ?, 1], offset: ?>>) outs(%to : memref<1x?x?xf32, strided<[?, ?, 1], offset: ?>>) {
    ^bb0(%a: f32, %out: f32):
      linalg.yield %a : f32
    }
  } {loopc.parallel}
  return %y : memref<1x?x?xf32>
}
