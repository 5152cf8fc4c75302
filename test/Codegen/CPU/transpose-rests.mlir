// RUN: loopc-opt %s -pass-pipeline='builtin.module(loopc-set-target{vector-bits=512 registers=32 mask-bits=8},func.func(cpu-vectorize-contractions),canonicalize,cse)' | FileCheck %s

#ij = affine_map<(i, j) -> (i, j)>
#ji = affine_map<(i, j) -> (j, i)>

// A tile that is not whole has one mask for what it reads and one for what it
// writes; rows that are not there are left out.
// CHECK-LABEL: func @rests(
// CHECK-COUNT-16: vector.store
// CHECK:       } else {
// CHECK-COUNT-2: vector.create_mask
// CHECK-NOT:   vector.create_mask
// CHECK:       %[[IS_THERE:.*]] = arith.cmpi sgt, %{{.*}}, %c15
// CHECK-NEXT:  scf.if %[[IS_THERE]] {
// CHECK:         vector.maskedstore
// CHECK-NOT:   linalg.generic
func.func @rests(%x: memref<37x?xf32>, %y: memref<?x37xf32>) {
  linalg.generic {indexing_maps = [#ij, #ji], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<37x?xf32>) outs(%y : memref<?x37xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  }
  return
}

// CHECK-LABEL: func @rows_that_are_whole(
// CHECK-NOT:   arith.cmpi sgt
// CHECK:       return
func.func @rows_that_are_whole(%x: memref<37x64xf32>, %y: memref<64x37xf32>) {
  linalg.generic {indexing_maps = [#ij, #ji], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<37x64xf32>) outs(%y : memref<64x37xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  }
  return
}
