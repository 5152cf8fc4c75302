// RUN: loopc-opt %s -pass-pipeline='builtin.module(loopc-set-target{vector-bits=512 registers=32 mask-bits=8},loopc-print-plans)' -o /dev/null | FileCheck %s
// RUN: loopc-opt %s -pass-pipeline='builtin.module(loopc-set-target{vector-bits=128 registers=32 mask-bits=0},loopc-print-plans)' -o /dev/null | FileCheck %s --check-prefix=NOMASK --allow-empty

#id = affine_map<(i, j) -> (i, j)>
#turned = affine_map<(i, j) -> (j, i)>

// Squares of vectors, read along the rows and written along the columns.
// NOMASK-NOT: transpose
// CHECK: {{^}}squares: transpose loops=64x96 rows=d0 columns=d1 tile=16x16
func.func @squares(%x: memref<96x64xf32>, %y: memref<64x96xf32>) {
  linalg.transpose ins(%x : memref<96x64xf32>) outs(%y : memref<64x96xf32>) permutation = [1, 0]
  return
}

// The colours of an image.
// CHECK: {{^}}colours: transpose loops=3x224x224 rows=d0 columns=d2 short=d0:3 vectors=16
func.func @colours(%x: memref<224x224x3xf32>, %y: memref<3x224x224xf32>) {
  linalg.transpose ins(%x : memref<224x224x3xf32>) outs(%y : memref<3x224x224xf32>) permutation = [2, 0, 1]
  return
}

// The result alone knows how many colours there are.
// CHECK: {{^}}open_colours: transpose loops=?x?x3 rows=d1 columns=d2 short=d2:3 vectors=16
func.func @open_colours(%x: memref<?x?x?xf32>, %y: memref<?x?x3xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (k, i, j)>, affine_map<(i, j, k) -> (i, j, k)>],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : memref<?x?x?xf32>) outs(%y : memref<?x?x3xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }
  return
}

// Only a run knows both axes.
// CHECK: {{^}}open: transpose loops=?x? rows=d0 columns=d1 | short=d0:1 vectors=16
// CHECK-SAME: | short=d1:4 vectors=16 | else: tile=16x16
func.func @open(%x: memref<?x?xf32>, %y: memref<?x?xf32>) {
  linalg.generic {indexing_maps = [#turned, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<?x?xf32>) outs(%y : memref<?x?xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }
  return
}

// What is much for a tile is computed by rows behind a transpose.
// CHECK: {{^}}heavy: transpose loops=64x96 rows=d0 columns=d1 copied-first tile=16x16
func.func @heavy(%x: memref<96x64xf32>, %y: memref<64x96xf32>) {
  linalg.generic {indexing_maps = [#turned, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<96x64xf32>) outs(%y : memref<64x96xf32>) {
  ^bb0(%a: f32, %b: f32):
    %e = math.tanh %a : f32
    %f = math.exp %e : f32
    %g = math.tanh %f : f32
    linalg.yield %g : f32
  }
  return
}

// The padding of an image: all within is written next.
// CHECK: {{^}}padded: border of=memref<1x64x58x58xf32> d2=both d3=end
func.func @padded(%x: memref<1x64x56x57xf32>) -> memref<1x64x58x58xf32> {
  %zero = arith.constant 0.0 : f32
  %y = memref.alloc() : memref<1x64x58x58xf32>
  linalg.fill ins(%zero : f32) outs(%y : memref<1x64x58x58xf32>)
  %inside = memref.subview %y[0, 0, 1, 0] [1, 64, 56, 57] [1, 1, 1, 1]
      : memref<1x64x58x58xf32> to memref<1x64x56x57xf32, strided<[215296, 3364, 58, 1], offset: 58>>
  linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (a, b, c, d)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x : memref<1x64x56x57xf32>) outs(%inside : memref<1x64x56x57xf32, strided<[215296, 3364, 58, 1], offset: 58>>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }
  return %y : memref<1x64x58x58xf32>
}

// Two planes that a loop carries in turns: only the border of the next one is
// filled, as nothing else is the same memory.
// CHECK: {{^}}planes: border of=memref<130x130xf32> d0=both d1=both{{$}}
func.func @planes(%n: i64) -> memref<130x130xf32> {
  %true = arith.constant true
  %zero = arith.constant 0.0 : f32
  %a = memref.alloc() : memref<130x130xf32>
  %b = memref.alloc() : memref<130x130xf32>
  linalg.fill ins(%zero : f32) outs(%a : memref<130x130xf32>)
  %r:2 = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%u = %a : memref<130x130xf32>, %v = %b : memref<130x130xf32>) {
    %from = memref.subview %u[0, 0] [128, 128] [1, 1] : memref<130x130xf32> to memref<128x128xf32, strided<[130, 1]>>
    linalg.fill ins(%zero : f32) outs(%v : memref<130x130xf32>)
    %inside = memref.subview %v[1, 1] [128, 128] [1, 1] : memref<130x130xf32> to memref<128x128xf32, strided<[130, 1], offset: 131>>
    linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
        ins(%from : memref<128x128xf32, strided<[130, 1]>>) outs(%inside : memref<128x128xf32, strided<[130, 1], offset: 131>>) {
    ^bb0(%x: f32, %o: f32):
      %y = arith.negf %x : f32
      linalg.yield %y : f32
    }
    loop.yield while(%true : i1) carried(%v, %u : memref<130x130xf32>, memref<130x130xf32>)
  }
  return %r#0 : memref<130x130xf32>
}

// A view of one of them is read in the loop: all of the next one is filled.
// CHECK-NOT: {{^}}seen: border
func.func @seen(%n: i64) -> memref<130x130xf32> {
  %true = arith.constant true
  %zero = arith.constant 0.0 : f32
  %a = memref.alloc() : memref<130x130xf32>
  %b = memref.alloc() : memref<130x130xf32>
  linalg.fill ins(%zero : f32) outs(%a : memref<130x130xf32>)
  %from = memref.subview %b[0, 0] [128, 128] [1, 1] : memref<130x130xf32> to memref<128x128xf32, strided<[130, 1]>>
  %r:2 = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%u = %a : memref<130x130xf32>, %v = %b : memref<130x130xf32>) {
    linalg.fill ins(%zero : f32) outs(%v : memref<130x130xf32>)
    %inside = memref.subview %v[1, 1] [128, 128] [1, 1] : memref<130x130xf32> to memref<128x128xf32, strided<[130, 1], offset: 131>>
    linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
        ins(%from : memref<128x128xf32, strided<[130, 1]>>) outs(%inside : memref<128x128xf32, strided<[130, 1], offset: 131>>) {
    ^bb0(%x: f32, %o: f32):
      %y = arith.negf %x : f32
      linalg.yield %y : f32
    }
    loop.yield while(%true : i1) carried(%v, %u : memref<130x130xf32>, memref<130x130xf32>)
  }
  return %r#0 : memref<130x130xf32>
}

// What has chosen one of two buffers before reads all of what is filled.
// CHECK-NOT: {{^}}chosen: border
func.func @chosen(%c: i1, %x: memref<258x258xf32>) -> memref<258x258xf32> {
  %zero = arith.constant 0.0 : f32
  %y = memref.alloc() : memref<258x258xf32>
  %from = arith.select %c, %y, %x : memref<258x258xf32>
  %part = memref.subview %from[1, 1] [256, 256] [1, 1] : memref<258x258xf32> to memref<256x256xf32, strided<[258, 1], offset: 259>>
  linalg.fill ins(%zero : f32) outs(%y : memref<258x258xf32>)
  %inside = memref.subview %y[1, 1] [256, 256] [1, 1] : memref<258x258xf32> to memref<256x256xf32, strided<[258, 1], offset: 259>>
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%part : memref<256x256xf32, strided<[258, 1], offset: 259>>) outs(%inside : memref<256x256xf32, strided<[258, 1], offset: 259>>) {
  ^bb0(%a: f32, %b: f32):
    %n = math.exp %a : f32
    linalg.yield %n : f32
  }
  return %y : memref<258x258xf32>
}
