// RUN: loopc-opt %s --convert-linalg-to-nests | FileCheck %s

// Bytes that are looked up have no gather: eight are written out, one by one.
// Numbers of 32 bits have one.
// CHECK: #[[SCALAR:.*]] = #llvm.loop_annotation<vectorize = {{.*}}, unroll = {{.*}}>
// CHECK-LABEL: func @look_up(
// CHECK: scf.for
// CHECK: memref.store {{.*}} : memref<?xi8>
// CHECK-NEXT: } {llvm.loop_annotation = #[[SCALAR]], loopc.parallel}
// CHECK: scf.for
// CHECK: memref.store {{.*}} : memref<?xf32>
// CHECK-NEXT: } {loopc.parallel}
#all = affine_map<(d0) -> (d0)>
func.func @look_up(%x: memref<?xi8>, %bytes: memref<256xi8>, %floats: memref<256xf32>, %y: memref<?xi8>, %z: memref<?xf32>) {
  linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel"]}
      ins(%x : memref<?xi8>) outs(%y : memref<?xi8>) {
  ^bb0(%a: i8, %o: i8):
    %0 = arith.index_castui %a : i8 to index
    %1 = memref.load %bytes[%0] : memref<256xi8>
    linalg.yield %1 : i8
  }
  linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel"]}
      ins(%x : memref<?xi8>) outs(%z : memref<?xf32>) {
  ^bb0(%a: i8, %o: f32):
    %0 = arith.index_castui %a : i8 to index
    %1 = memref.load %floats[%0] : memref<256xf32>
    linalg.yield %1 : f32
  }
  return
}
