// RUN: loopc-opt %s --split-input-file --buffer-assign-storage | FileCheck %s
// RUN: loopc-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(buffer-assign-storage{straight=false}))' | FileCheck %s --check-prefix=OFF

#map = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// The exponentials of softmax are written over what they are computed from.
// CHECK-LABEL: func.func @rows(
// CHECK: %[[X:.*]] = memref.alloc() : memref<8x16xf32>
// CHECK: %[[S:.*]] = memref.alloc() : memref<8xf32>
// CHECK: linalg.generic {{.*}} ins(%[[X]] : memref<8x16xf32>) outs(%[[X]], %[[S]] :
// CHECK-NOT: memref.dealloc %[[X]] :
// CHECK: return %[[X]]
// OFF-LABEL: func.func @rows(
// OFF: memref.dealloc %{{.*}} : memref<8x16xf32>
func.func @rows(%f: f32) -> memref<8x16xf32> {
  %x = memref.alloc() : memref<8x16xf32>
  linalg.fill ins(%f : f32) outs(%x : memref<8x16xf32>)
  %s = memref.alloc() : memref<8xf32>
  linalg.fill ins(%f : f32) outs(%s : memref<8xf32>)
  %e = memref.alloc() : memref<8x16xf32>
  linalg.generic {indexing_maps = [#map, #map, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<8x16xf32>) outs(%e, %s : memref<8x16xf32>, memref<8xf32>) {
  ^bb0(%in: f32, %out: f32, %sum: f32):
    %0 = math.exp %in : f32
    %1 = arith.addf %0, %sum : f32
    linalg.yield %0, %1 : f32, f32
  }
  memref.dealloc %x : memref<8x16xf32>
  memref.dealloc %s : memref<8xf32>
  return %e : memref<8x16xf32>
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>
#turned = affine_map<(d0, d1) -> (d1, d0)>

// Tiles that transpose write some before all has been read.
// CHECK-LABEL: func.func @turned(
// CHECK: linalg.generic {{.*}} ins(%[[X:[^,]+]], %[[Y:[^ ]+]] : {{.*}}) outs(%[[Z:[^ ]+]] :
// CHECK: memref.dealloc %[[Y]]
// CHECK: return %[[Z]]
func.func @turned(%f: f32) -> memref<8x8xf32> {
  %x = memref.alloc() : memref<8x8xf32>
  linalg.fill ins(%f : f32) outs(%x : memref<8x8xf32>)
  %y = memref.alloc() : memref<8x8xf32>
  linalg.fill ins(%f : f32) outs(%y : memref<8x8xf32>)
  %z = memref.alloc() : memref<8x8xf32>
  linalg.generic {indexing_maps = [#turned, #map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : memref<8x8xf32>, memref<8x8xf32>) outs(%z : memref<8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  }
  memref.dealloc %x : memref<8x8xf32>
  memref.dealloc %y : memref<8x8xf32>
  return %z : memref<8x8xf32>
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>

// Read again behind.
// CHECK-LABEL: func.func @read_again(
// CHECK: linalg.generic {{.*}} ins(%[[X:[^ ]+]] : {{.*}}) outs(%[[Z:[^ ]+]] :
// CHECK: memref.copy %[[X]]
// CHECK: return %[[Z]]
func.func @read_again(%f: f32, %to: memref<8x8xf32>) -> memref<8x8xf32> {
  %x = memref.alloc() : memref<8x8xf32>
  linalg.fill ins(%f : f32) outs(%x : memref<8x8xf32>)
  %z = memref.alloc() : memref<8x8xf32>
  linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<8x8xf32>) outs(%z : memref<8x8xf32>) {
  ^bb0(%a: f32, %out: f32):
    %0 = arith.addf %a, %a : f32
    linalg.yield %0 : f32
  }
  memref.copy %x, %to : memref<8x8xf32> to memref<8x8xf32>
  memref.dealloc %x : memref<8x8xf32>
  return %z : memref<8x8xf32>
}
