// RUN: loopc-opt %s --pass-pipeline='builtin.module(loopc-set-target{vector-bits=512 mask-bits=8},loopc-print-plans)' -o /dev/null | FileCheck %s --check-prefix=PLAN
// RUN: loopc-opt %s --pass-pipeline='builtin.module(loopc-set-target{vector-bits=512 mask-bits=8},func.func(cpu-vectorize-contractions,canonicalize,cse))' | FileCheck %s

#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#image = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#far = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1 + d3 * 6, d2 + d4 * 6, d5)>
#farWeights = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d3, d4, d5, d6)>
#images = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d6)>
#near = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0 + d2, d1 + d3, d4)>
#weights = affine_map<(d0, d1, d2, d3, d4, d5) -> (d2, d3, d4, d5)>
#out = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d5)>
#sum = {indexing_maps = [#near, #weights, #out], iterator_types = ["parallel", "parallel", "reduction", "reduction", "reduction", "parallel"]}

memref.global "private" constant @weights : memref<3x3x32x64xf32> = dense<0.5>
memref.global "private" constant @manyWeights : memref<3x3x64x64xf32> = dense<0.5>
memref.global "private" constant @infinities : memref<3x3x32x64xf32> = dense<0x7F800000>

// Elements of the kernel lie so far apart that much of an image of open size is
// padding: rows and columns of the kernel that no position of a tile reads in
// the image are left out. The rows of the tile are neighbours in two loops:
// where these are of several rows of the image, any column may be among them.
// PLAN: {{^}}dilated: contraction {{.*}} rows=d1,d2 sum=d3,d4,d5 outer=d0 padded=d3,d4 {{.*}}tile=6x2
// CHECK-LABEL: func @dilated(
// CHECK-SAME: %[[H:[^ ]+]]: index, %[[W:[^ ]+]]: index)
// CHECK: scf.for %[[R:.*]] = %{{.*}} to %{{.*}} step %c6
// CHECK: %[[ROW:.*]] = arith.divui %[[R]], %[[W]]
// CHECK: %[[COLUMN:.*]] = arith.remui %[[R]], %[[W]]
// CHECK: %[[IS_ONE:.*]] = arith.cmpi eq, %[[ROW]], %[[LAST_ROW:.*]] : index
// CHECK: %[[FIRST_COLUMN:.*]] = arith.select %[[IS_ONE]], %[[COLUMN]], %c0
// CHECK: %[[LAST_COLUMN:.*]] = arith.select %[[IS_ONE]], %{{.*}}, %{{.*}}
// CHECK: scf.for %{{[^ ]+}} = %[[BEGIN:[^ ]+]] to %[[END:[^ ]+]] step %c1
// CHECK: scf.for %{{[^ ]+}} = %[[FROM:[^ ]+]] to %[[TO:[^ ]+]] step %c1
// CHECK: scf.for %{{[^ ]+}} = %c0 to %c64 step %c1
func.func @dilated(%x: memref<2x?x?x64xf32>, %h: index, %w: index) -> memref<2x?x?x64xf32> {
  %c12 = arith.constant 12 : index
  %zero = arith.constant 0.0 : f32
  %rows = arith.addi %h, %c12 : index
  %columns = arith.addi %w, %c12 : index
  %weights = memref.get_global @weights : memref<3x3x32x64xf32>
  %padded = memref.alloc(%rows, %columns) : memref<2x?x?x64xf32>
  linalg.fill ins(%zero : f32) outs(%padded : memref<2x?x?x64xf32>)
  %part = memref.subview %padded[0, 6, 6, 0] [2, %h, %w, 64] [1, 1, 1, 1] : memref<2x?x?x64xf32> to memref<2x?x?x64xf32, strided<[?, ?, 64, 1], offset: ?>>
  linalg.generic {indexing_maps = [#image, #image], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x : memref<2x?x?x64xf32>) outs(%part : memref<2x?x?x64xf32, strided<[?, ?, 64, 1], offset: ?>>) {
  ^bb0(%p: f32, %o: f32):
    linalg.yield %p : f32
  }
  %y = memref.alloc(%h, %w) : memref<2x?x?x64xf32>
  linalg.fill ins(%zero : f32) outs(%y : memref<2x?x?x64xf32>)
  linalg.generic {indexing_maps = [#far, #farWeights, #images], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "parallel"]} ins(%padded, %weights : memref<2x?x?x64xf32>, memref<3x3x32x64xf32>) outs(%y : memref<2x?x?x64xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %m = arith.mulf %p, %q : f32
    %a = arith.addf %o, %m fastmath<reassoc> : f32
    linalg.yield %a : f32
  }
  memref.dealloc %padded : memref<2x?x?x64xf32>
  return %y : memref<2x?x?x64xf32>
}

// Zero times infinity is no number.
// PLAN: {{^}}infinite: contraction
// PLAN-NOT: padded=
func.func @infinite(%x: memref<14x14x32xf32>) -> memref<14x14x64xf32> {
  %zero = arith.constant 0.0 : f32
  %weights = memref.get_global @infinities : memref<3x3x32x64xf32>
  %padded = memref.alloc() : memref<16x16x32xf32>
  linalg.fill ins(%zero : f32) outs(%padded : memref<16x16x32xf32>)
  %part = memref.subview %padded[1, 1, 0] [14, 14, 32] [1, 1, 1] : memref<16x16x32xf32> to memref<14x14x32xf32, strided<[512, 32, 1], offset: 544>>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : memref<14x14x32xf32>) outs(%part : memref<14x14x32xf32, strided<[512, 32, 1], offset: 544>>) {
  ^bb0(%p: f32, %o: f32):
    linalg.yield %p : f32
  }
  %y = memref.alloc() : memref<14x14x64xf32>
  linalg.fill ins(%zero : f32) outs(%y : memref<14x14x64xf32>)
  linalg.generic #sum ins(%padded, %weights : memref<16x16x32xf32>, memref<3x3x32x64xf32>) outs(%y : memref<14x14x64xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %m = arith.mulf %p, %q : f32
    %a = arith.addf %o, %m fastmath<reassoc> : f32
    linalg.yield %a : f32
  }
  return %y : memref<14x14x64xf32>
}

// The rows of a small image: 4.8 of 100 that the kernel reads are padding. Tiles
// are of one row of the image, and each tile reads some of all columns.
// PLAN: {{^}}small: contraction {{.*}}padded=d2 start
// CHECK-LABEL: func @small(
// CHECK: scf.for %[[ROW:[^ ]+]] = %c0 to %c14
// CHECK: scf.for %[[COLUMN:[^ ]+]] = %c0 to %c10 step %c5
// CHECK: %[[ABOVE:.*]] = arith.subi %c1, %[[ROW]]
// CHECK: %[[BEGIN:.*]] = arith.maxsi %[[ABOVE]], %c0
// CHECK: %[[BELOW:.*]] = arith.subi %c15, %[[ROW]]
// CHECK: %[[END:.*]] = arith.minsi %{{.*}}, %c3
// CHECK: scf.for %{{[^ ]+}} = %[[BEGIN]] to %[[END]]
func.func @small(%x: memref<14x14x32xf32>) -> memref<14x14x64xf32> {
  %zero = arith.constant 0.0 : f32
  %weights = memref.get_global @weights : memref<3x3x32x64xf32>
  %padded = memref.alloc() : memref<16x16x32xf32>
  linalg.fill ins(%zero : f32) outs(%padded : memref<16x16x32xf32>)
  %part = memref.subview %padded[1, 1, 0] [14, 14, 32] [1, 1, 1] : memref<16x16x32xf32> to memref<14x14x32xf32, strided<[512, 32, 1], offset: 544>>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : memref<14x14x32xf32>) outs(%part : memref<14x14x32xf32, strided<[512, 32, 1], offset: 544>>) {
  ^bb0(%p: f32, %o: f32):
    linalg.yield %p : f32
  }
  %y = memref.alloc() : memref<14x14x64xf32>
  linalg.fill ins(%zero : f32) outs(%y : memref<14x14x64xf32>)
  linalg.generic #sum ins(%padded, %weights : memref<16x16x32xf32>, memref<3x3x32x64xf32>) outs(%y : memref<14x14x64xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %m = arith.mulf %p, %q : f32
    %a = arith.addf %o, %m fastmath<reassoc> : f32
    linalg.yield %a : f32
  }
  return %y : memref<14x14x64xf32>
}

// A second write goes into what was the border.
// PLAN: {{^}}written: contraction
// PLAN-NOT: padded=
func.func @written(%x: memref<14x14x32xf32>, %z: memref<16x32xf32>) -> memref<14x14x64xf32> {
  %zero = arith.constant 0.0 : f32
  %weights = memref.get_global @weights : memref<3x3x32x64xf32>
  %padded = memref.alloc() : memref<16x16x32xf32>
  linalg.fill ins(%zero : f32) outs(%padded : memref<16x16x32xf32>)
  %part = memref.subview %padded[1, 1, 0] [14, 14, 32] [1, 1, 1] : memref<16x16x32xf32> to memref<14x14x32xf32, strided<[512, 32, 1], offset: 544>>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : memref<14x14x32xf32>) outs(%part : memref<14x14x32xf32, strided<[512, 32, 1], offset: 544>>) {
  ^bb0(%p: f32, %o: f32):
    linalg.yield %p : f32
  }
  %row = memref.subview %padded[0, 0, 0] [1, 16, 32] [1, 1, 1] : memref<16x16x32xf32> to memref<16x32xf32, strided<[32, 1]>>
  memref.copy %z, %row : memref<16x32xf32> to memref<16x32xf32, strided<[32, 1]>>
  %y = memref.alloc() : memref<14x14x64xf32>
  linalg.fill ins(%zero : f32) outs(%y : memref<14x14x64xf32>)
  linalg.generic #sum ins(%padded, %weights : memref<16x16x32xf32>, memref<3x3x32x64xf32>) outs(%y : memref<14x14x64xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %m = arith.mulf %p, %q : f32
    %a = arith.addf %o, %m fastmath<reassoc> : f32
    linalg.yield %a : f32
  }
  return %y : memref<14x14x64xf32>
}
