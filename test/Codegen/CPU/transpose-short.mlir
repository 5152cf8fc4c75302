// RUN: loopc-opt %s -pass-pipeline='builtin.module(loopc-set-target{vector-bits=512 registers=32 mask-bits=8},func.func(cpu-vectorize-contractions),canonicalize,cse)' | FileCheck %s

#hwc = affine_map<(c, h, w) -> (h, w, c)>
#chw = affine_map<(c, h, w) -> (c, h, w)>
#c = affine_map<(c, h, w) -> (c, 0)>

// Pixels of bytes become planes of floats: three vectors of pixels are read, one
// of each colour is shuffled of them, and widened; the rest is masked.
// CHECK-LABEL: func @planes(
// CHECK-SAME:    %[[X:[^:]+]]: memref<?x?x3xi8>, %[[M:[^:]+]]: memref<3x1xf32>, %[[Y:[^:]+]]: memref<3x?x?xf32>
// CHECK:       %[[ROWS:.*]] = memref.collapse_shape %[[X]] {{\[\[}}0], [1, 2]]
// CHECK-COUNT-3: vector.load %[[ROWS]][{{.*}}] : memref<?x?xi8>, vector<16xi8>
// CHECK:       %[[RED:.*]] = vector.shuffle {{.*}} [0, 3, 6, 9, 12, 15, 18, 21, 24, 27, 30, -1, -1, -1, -1, -1] : vector<16xi8>, vector<16xi8>
// CHECK:       %[[ALL:.*]] = vector.shuffle %[[RED]], {{.*}} [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 17, 20, 23, 26, 29] : vector<16xi8>, vector<16xi8>
// CHECK:       arith.uitofp %[[ALL]] : vector<16xi8> to vector<16xf32>
// CHECK-COUNT-3: vector.store {{.*}}, %[[Y]][{{.*}}] : memref<3x?x?xf32>, vector<16xf32>
// CHECK-COUNT-3: vector.maskedload %[[ROWS]]
// CHECK-COUNT-3: vector.maskedstore %[[Y]]
// CHECK-NOT:   linalg.generic
func.func @planes(%x: memref<?x?x3xi8>, %m: memref<3x1xf32>, %y: memref<3x?x?xf32>) {
  linalg.generic {indexing_maps = [#hwc, #c, #chw], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %m : memref<?x?x3xi8>, memref<3x1xf32>) outs(%y : memref<3x?x?xf32>) {
  ^bb0(%a: i8, %b: f32, %o: f32):
    %f = arith.uitofp %a : i8 to f32
    %d = arith.subf %f, %b : f32
    linalg.yield %d : f32
  }
  return
}

// And planes become pixels, here a part of an image that is padded: whole
// vectors of them, without masks.
// CHECK-LABEL: func @pixels(
// CHECK:       %[[ROWS:.*]] = memref.collapse_shape %{{.*}} {{\[\[}}0], [1, 2]]
// CHECK-COUNT-3: vector.load %{{.*}} : memref<3x32x32xf32>, vector<16xf32>
// CHECK:       vector.shuffle {{.*}} [0, 16, -1, 1, 17, -1, 2, 18, -1, 3, 19, -1, 4, 20, -1, 5] : vector<16xf32>, vector<16xf32>
// CHECK:       vector.shuffle {{.*}} [0, 1, 16, 3, 4, 17, 6, 7, 18, 9, 10, 19, 12, 13, 20, 15] : vector<16xf32>, vector<16xf32>
// CHECK:       vector.store %{{.*}}, %[[ROWS]]
// CHECK-NOT:   mask
// CHECK-NOT:   linalg.generic
// CHECK:       return
func.func @pixels(%x: memref<3x32x32xf32>, %y: memref<34x34x3xf32>) {
  %part = memref.subview %y[1, 1, 0] [32, 32, 3] [1, 1, 1] : memref<34x34x3xf32> to memref<32x32x3xf32, strided<[102, 3, 1], offset: 105>>
  linalg.generic {indexing_maps = [affine_map<(h, w, c) -> (c, h, w)>, affine_map<(h, w, c) -> (h, w, c)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : memref<3x32x32xf32>) outs(%part : memref<32x32x3xf32, strided<[102, 3, 1], offset: 105>>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  return
}

// Where both axes are open there is code for each number of colours up to four,
// of pixels and of planes, and tiles for more.
// CHECK-LABEL: func @open(
// CHECK-SAME:    %[[X:[^:]+]]: memref<?x?x?xf32>
// CHECK:         arith.cmpi eq, %[[C:.*]], %c1 : index
// CHECK:         arith.cmpi eq, %[[C]], %c3 : index
// CHECK:         %[[PIXELS:.*]] = memref.collapse_shape %[[X]] {{\[\[}}0], [1, 2]]
// CHECK:         vector.maskedload %[[PIXELS]]
// CHECK:         vector.shuffle {{.*}} [0, 3, 6, 9, 12, 15, 18, 21, 24, 27, 30, -1, -1, -1, -1, -1]
// CHECK:         arith.cmpi eq, %[[C]], %c4 : index
// CHECK:         arith.cmpi eq, %[[R:.*]], %c3 : index
// CHECK:         vector.shuffle {{.*}} [0, 16, -1, 1, 17, -1, 2, 18, -1, 3, 19, -1, 4, 20, -1, 5]
// CHECK:         arith.cmpi eq, %[[R]], %c4 : index
// CHECK:         arith.andi
// CHECK-COUNT-16: vector.load
// CHECK-NOT:     linalg.generic
func.func @open(%x: memref<?x?x?xf32>, %y: memref<?x?x?xf32>) {
  linalg.generic {indexing_maps = [affine_map<(n, c, p) -> (n, p, c)>, affine_map<(n, c, p) -> (n, c, p)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : memref<?x?x?xf32>) outs(%y : memref<?x?x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  return
}
