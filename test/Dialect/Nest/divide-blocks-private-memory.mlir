// RUN: loopc-opt %s --loopc-divide-blocks=min-size=4 | FileCheck %s

// A section that frees the memory that it writes to does so through the other
// pointer of its descriptor: what goes through the one is not all that touches
// it.
// CHECK: func.func private @frees_section(%{{[^:]+}}: !rt.run, %{{[^:]+}}: memref<8xf32>, %[[X:[^:]+]]: memref<8xf32>) ->
// CHECK: memref.store %{{.*}}, %[[X]][
// CHECK: memref.dealloc %[[X]]
// Another one that only writes to it is told.
// CHECK: func.func private @keeps_section(%{{[^:]+}}: !rt.run, %{{[^:]+}}: memref<8xf32>, %[[Y:[^:]+]]: memref<8xf32> {llvm.noalias}, %{{[^:]+}}: memref<8xf32>) attributes
// CHECK: memref.store %{{.*}}, %[[Y]][
func.func @frees(%run: !rt.run, %in: memref<8xf32>, %out: memref<8xf32>) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %ok = arith.constant 0 : i32
  scf.for %i = %c0 to %c2 step %c1 {
    %x = memref.alloc() : memref<8xf32>
    %a = memref.load %in[%c0] : memref<8xf32>
    %b = memref.load %in[%c1] : memref<8xf32>
    %s = arith.addf %a, %b : f32
    memref.store %s, %x[%c0] : memref<8xf32>
    memref.store %a, %x[%c1] : memref<8xf32>
    %c = memref.load %in[%c2] : memref<8xf32>
    %d = arith.mulf %c, %c : f32
    memref.store %d, %x[%c2] : memref<8xf32>
    %e = memref.load %x[%c0] : memref<8xf32>
    memref.dealloc %x : memref<8xf32>
    %f = arith.mulf %e, %d : f32
    memref.store %f, %out[%c0] : memref<8xf32>
  }
  return %ok : i32
}
func.func @keeps(%run: !rt.run, %in: memref<8xf32>, %out: memref<8xf32>) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %ok = arith.constant 0 : i32
  scf.for %i = %c0 to %c2 step %c1 {
    %x = memref.alloc() : memref<8xf32>
    %a = memref.load %in[%c0] : memref<8xf32>
    %b = memref.load %in[%c1] : memref<8xf32>
    %s = arith.addf %a, %b : f32
    memref.store %s, %x[%c0] : memref<8xf32>
    memref.store %a, %x[%c1] : memref<8xf32>
    %c = memref.load %in[%c2] : memref<8xf32>
    %d = arith.mulf %c, %c : f32
    memref.store %d, %x[%c2] : memref<8xf32>
    %e = memref.load %x[%c0] : memref<8xf32>
    %f = arith.mulf %e, %d : f32
    memref.store %f, %out[%c0] : memref<8xf32>
    memref.dealloc %x : memref<8xf32>
  }
  return %ok : i32
}
