// RUN: loopc-opt %s -split-input-file -pass-pipeline='builtin.module(loopc-set-target{vector-bits=512 registers=32 mask-bits=8},loopc-print-plans)' -o /dev/null | FileCheck %s --check-prefix=PLAN
// RUN: loopc-opt %s -split-input-file -pass-pipeline='builtin.module(loopc-set-target{vector-bits=512 registers=32 mask-bits=8},func.func(cpu-vectorize-contractions),canonicalize,cse)' | FileCheck %s
// RUN: loopc-opt %s -split-input-file -pass-pipeline='builtin.module(loopc-set-target{vector-bits=256 registers=16 mask-bits=32},func.func(cpu-vectorize-contractions),canonicalize,cse)' | FileCheck %s --check-prefix=AVX2
// RUN: loopc-opt %s -split-input-file -pass-pipeline='builtin.module(loopc-set-target{vector-bits=128 registers=32 mask-bits=0},func.func(cpu-vectorize-contractions),canonicalize,cse)' | FileCheck %s --check-prefix=NEON

// 16 sums of 16 stay in registers along the sum; the fill is their first value.

#a = affine_map<(m, k, n) -> (m, k)>
#b = affine_map<(m, k, n) -> (k, n)>
#c = affine_map<(m, k, n) -> (m, n)>
// CHECK-LABEL: func @matmul
// CHECK-SAME: %[[A:.*]]: memref<64x256xf32>, %[[B:.*]]: memref<256x96xf32>, %[[C:.*]]: memref<64x96xf32>
// CHECK-NOT:  linalg.fill
// CHECK:      scf.for %[[N:.*]] = %c0 to %c96 step %c32
// CHECK-NEXT:   scf.for %[[M:.*]] = %c0 to %c64 step %c8
// CHECK-NEXT:     %[[SUMS:.*]]:16 = scf.for %[[K:.*]] = %c0 to %c256 step %c1 iter_args
// CHECK-NEXT:       %[[X:.*]] = memref.load %[[A]][%[[M]], %[[K]]]
// CHECK-NEXT:       %[[XS:.*]] = vector.broadcast %[[X]] : f32 to vector<16xf32>
// CHECK-NEXT:       %[[Y:.*]] = vector.load %[[B]][%[[K]], %[[N]]] : memref<256x96xf32>, vector<16xf32>
// CHECK-NEXT:       %[[P:.*]] = arith.mulf %[[XS]], %[[Y]] fastmath<contract>
// CHECK-NEXT:       arith.addf %{{.*}}, %[[P]] fastmath<contract>
// PLAN:       {{^}}matmul: contraction {{.*}} tile=8x2{{$}}
// CHECK:            scf.yield
// CHECK:          vector.store %[[SUMS]]#0, %[[C]][%[[M]], %[[N]]]
// CHECK-NOT:  vector.mask
// CHECK-NOT:  linalg.generic
// Six rows of 16; the four that are left over are a tile of their own.
// AVX2-LABEL: func @matmul
// AVX2:       scf.for %{{.*}} = %c0 to %c96 step %c16
// AVX2:         scf.for %{{.*}} = %c0 to %c60 step %c6
// AVX2:           :12 = scf.for
// AVX2:           :8 = scf.for
func.func @matmul(%A: memref<64x256xf32>, %B: memref<256x96xf32>, %C: memref<64x96xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%C : memref<64x96xf32>)
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%A, %B : memref<64x256xf32>, memref<256x96xf32>) outs(%C : memref<64x96xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y fastmath<contract> : f32
    %t = arith.addf %s, %p fastmath<contract> : f32
    linalg.yield %t : f32
  }
  return
}

// -----

// One row: eight vectors at a time, so that additions overlap.

#a = affine_map<(m, k, n) -> (m, k)>
#b = affine_map<(m, k, n) -> (k, n)>
#c = affine_map<(m, k, n) -> (m, n)>
// CHECK-LABEL: func @gemv
// CHECK:       scf.for %{{.*}} = %c0 to %c1024 step %c128
// CHECK:         :8 = scf.for
func.func @gemv(%A: memref<1x256xf32>, %B: memref<256x1024xf32>, %C: memref<1x1024xf32>) {
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%A, %B : memref<1x256xf32>, memref<256x1024xf32>) outs(%C : memref<1x1024xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y fastmath<contract> : f32
    %t = arith.addf %s, %p fastmath<contract> : f32
    linalg.yield %t : f32
  }
  return
}

// -----

// One row times a matrix of which nobody knows whether it fits into a cache: if
// its rows turn out to be one tile the sums stay in registers, else rows go by
// blocks and sums are stored in between.

#a = affine_map<(m, k, n) -> (m, k)>
#b = affine_map<(m, k, n) -> (k, n)>
#c = affine_map<(m, k, n) -> (m, n)>
// CHECK-LABEL: func @gemv_of_any_width
// CHECK-SAME:  %{{.*}}: memref<1x?xf32>, %[[B:.*]]: memref<?x?xf32>
// CHECK:       %[[N:.*]] = memref.dim %[[B]], %c1
// CHECK:       %[[ONE:.*]] = arith.cmpi ule, %[[N]], %c64
// CHECK:       scf.if %[[ONE]] {
// CHECK:         :4 = scf.for
// CHECK:       } else {
// CHECK:         scf.for {{.*}} step %c8
// AVX2-LABEL:  func @gemv_of_any_width
// NEON-LABEL:  func @gemv_of_any_width
// NEON-NOT:    cmpi ule
func.func @gemv_of_any_width(%A: memref<1x?xf32>, %B: memref<?x?xf32>, %C: memref<1x?xf32>) {
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%A, %B : memref<1x?xf32>, memref<?x?xf32>) outs(%C : memref<1x?xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y fastmath<contract> : f32
    %t = arith.addf %s, %p fastmath<contract> : f32
    linalg.yield %t : f32
  }
  return
}

// -----

// Sizes that are not whole tiles: the last vector is masked where it can be,
// and narrower vectors are used where not.

#a = affine_map<(m, k, n) -> (m, k)>
#b = affine_map<(m, k, n) -> (k, n)>
#c = affine_map<(m, k, n) -> (m, n)>
// CHECK-LABEL: func @remainder
// CHECK:       %[[MASK:.*]] = vector.constant_mask [7]
// CHECK:       vector.maskedload %{{.*}}, %[[MASK]]
// CHECK:       vector.maskedstore %{{.*}}, %[[MASK]]
// NEON-LABEL:  func @remainder
// NEON-NOT:    vector.mask
// NEON:        vector<4xf32>
// NEON:        vector<2xf32>
// NEON:        vector<1xf32>
func.func @remainder(%A: memref<3x5xf32>, %B: memref<5x23xf32>, %C: memref<3x23xf32>) {
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%A, %B : memref<3x5xf32>, memref<5x23xf32>) outs(%C : memref<3x23xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y fastmath<contract> : f32
    %t = arith.addf %s, %p fastmath<contract> : f32
    linalg.yield %t : f32
  }
  return
}

// -----

// Unknown sizes: one or two rows, many rows, and what is left of them, where rows
// beyond the end are the last one again. For many rows what tiles read as vectors
// is brought together first.

#a = affine_map<(m, k, n) -> (m, k)>
#b = affine_map<(m, k, n) -> (k, n)>
#c = affine_map<(m, k, n) -> (m, n)>
// CHECK-LABEL: func @dynamic
// CHECK-SAME:  %{{.*}}, %[[B:.*]]: memref<?x?xf32>, %
// CHECK:       %[[PLACE:.*]] = memref.alloc() {loopc.private} : memref<512x32xf32>
// CHECK:       scf.if
// Eight rows of the second matrix at a time.
// CHECK:         scf.for {{.*}} step %c8
// CHECK:           scf.for {{.*}} step %c64
// CHECK:             vector.create_mask
// CHECK:             scf.for {{.*}} step %c1
// PLAN:            {{^}}dynamic: {{.*}} rows<3: tile=1x4 matrix-rows=8
// CHECK:         scf.for {{.*}} step %c8
// CHECK:           :4 = scf.for
// CHECK:       } else {
// CHECK:         scf.for {{.*}} step %c512
// CHECK:           scf.for {{.*}} step %c256
// CHECK:             %[[STRIP:.*]] = scf.if
// CHECK:               vector.store {{.*}} %[[PLACE]]
// CHECK:             } else {
// CHECK:               memref.subview %[[B]]
// CHECK:             scf.for {{.*}} step %c8
// CHECK-NOT:           arith.minsi
// CHECK:               :16 = scf.for
// CHECK:                 vector.load %[[STRIP]]
// Columns that are left, of which there may be few, are done by single vectors.
// CHECK:             vector.create_mask
// CHECK-NOT:         vector.create_mask
// CHECK:             :8 = scf.for
// CHECK:               vector.maskedload %[[B]]
// Rows that are left read the matrix.
// CHECK:           scf.for {{.*}} step %c4
// CHECK:             arith.minsi
// CHECK:             :8 = scf.for
// CHECK:               vector.maskedload %[[B]]
// CHECK:       memref.dealloc %[[PLACE]]
func.func @dynamic(%A: memref<?x?xf32>, %B: memref<?x?xf32>, %C: memref<?x?xf32>) {
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%A, %B : memref<?x?xf32>, memref<?x?xf32>) outs(%C : memref<?x?xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y fastmath<contract> : f32
    %t = arith.addf %s, %p fastmath<contract> : f32
    linalg.yield %t : f32
  }
  return
}

// -----

// One row of an unknown number of columns: whole tiles read four panels; the
// rest, in which there may be fewer, is read panel by panel.

#a = affine_map<(m, k, n) -> (m, k)>
#b = affine_map<(m, k, n) -> (n floordiv 32, k, n mod 32)>
#c = affine_map<(m, k, n) -> (m, n)>
// CHECK-LABEL: func @some_panels
// CHECK:       scf.for %{{.*}} = %c0 to %[[WHOLE:.*]] step %c128
// CHECK-NOT:     mask
// CHECK:         :8 = scf.for
// CHECK:       scf.for %{{.*}} = %[[WHOLE]] to %{{.*}} step %c32
// CHECK:         vector.create_mask
// CHECK:         :2 = scf.for
// CHECK-NOT:       vector.maskedload
// CHECK:         vector.maskedstore
func.func @some_panels(%A: memref<1x64xf32>, %P: memref<?x64x32xf32>, %C: memref<1x?xf32>) {
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%A, %P : memref<1x64xf32>, memref<?x64x32xf32>) outs(%C : memref<1x?xf32>) attrs = {loopc.packed} {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y fastmath<contract> : f32
    %t = arith.addf %s, %p fastmath<contract> : f32
    linalg.yield %t : f32
  }
  return
}

// The map alone does not say that what is behind the last column is there.
// CHECK-LABEL: func @not_packed
// CHECK-NOT:   vector.
// CHECK:       linalg.generic
func.func @not_packed(%A: memref<1x64xf32>, %P: memref<?x64x32xf32>, %C: memref<1x?xf32>) {
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%A, %P : memref<1x64xf32>, memref<?x64x32xf32>) outs(%C : memref<1x?xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y fastmath<contract> : f32
    %t = arith.addf %s, %p fastmath<contract> : f32
    linalg.yield %t : f32
  }
  return
}

// -----

// Sums in blocks begin with the fill in the first one, which there is even of no
// terms.

#a = affine_map<(m, k, n) -> (m, k)>
#b = affine_map<(m, k, n) -> (k, n)>
#c = affine_map<(m, k, n) -> (m, n)>
// CHECK-LABEL: func @blocks_begin
// CHECK-NOT:   linalg.fill
// CHECK:       %[[MOST:.*]] = arith.maxsi %{{.*}}, %c1
// CHECK:       scf.for %[[K:.*]] = %c0 to %[[MOST]] step %c512
// CHECK:         %[[FIRST:.*]] = arith.cmpi eq, %[[K]], %c0
// CHECK:         arith.select %[[FIRST]]
func.func @blocks_begin(%A: memref<96x?xf32>, %B: memref<?x32xf32>, %C: memref<96x32xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%C : memref<96x32xf32>)
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%A, %B : memref<96x?xf32>, memref<?x32xf32>) outs(%C : memref<96x32xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y fastmath<contract> : f32
    %t = arith.addf %s, %p fastmath<contract> : f32
    linalg.yield %t : f32
  }
  return
}

// -----

// Rows times rows: vectors run along the sum, if its order may be changed.

#a = affine_map<(n, k) -> (k)>
#b = affine_map<(n, k) -> (n, k)>
#c = affine_map<(n, k) -> (n)>
// CHECK-LABEL: func @rows
// CHECK:       scf.for %{{.*}} = %c0 to %c64 step %c8
// CHECK:         :8 = scf.for %{{.*}} = %c0 to %c96 step %c16
// CHECK:         vector.maskedload
// CHECK-COUNT-8: vector.reduction <add>
func.func @rows(%x: memref<100xf32>, %W: memref<64x100xf32>, %y: memref<64xf32>) {
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "reduction"]}
      ins(%x, %W : memref<100xf32>, memref<64x100xf32>) outs(%y : memref<64xf32>) {
  ^bb0(%a: f32, %w: f32, %s: f32):
    %p = arith.mulf %a, %w fastmath<contract> : f32
    %t = arith.addf %s, %p fastmath<reassoc,contract> : f32
    linalg.yield %t : f32
  }
  return
}

// -----

#a = affine_map<(n, k) -> (k)>
#b = affine_map<(n, k) -> (n, k)>
#c = affine_map<(n, k) -> (n)>
// CHECK-LABEL: func @ordered
// CHECK:       linalg.generic
func.func @ordered(%x: memref<100xf32>, %W: memref<64x100xf32>, %y: memref<64xf32>) {
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "reduction"]}
      ins(%x, %W : memref<100xf32>, memref<64x100xf32>) outs(%y : memref<64xf32>) {
  ^bb0(%a: f32, %w: f32, %s: f32):
    %p = arith.mulf %a, %w : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  }
  return
}

// -----

// Rows times rows, many of them if the run says so: those that become columns are
// transposed in strips; few go along the sum. Twenty terms are two vectors.

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>
// CHECK-LABEL: func @many_rows_of_rows
// CHECK-SAME:    %[[A:[^:]*]]: memref<?x20xf32>, %[[B:[^:]*]]: memref<?x20xf32>
// CHECK:       %[[PLACE:.*]] = memref.alloc() {loopc.private} : memref<32x32xf32>
// CHECK:       %[[MANY:.*]] = arith.cmpi sge, %{{.*}}, %c32
// CHECK:       scf.if %[[MANY]]
// CHECK-COUNT-16: vector.maskedload %[[B]]
// CHECK-COUNT-64: vector.shuffle
// CHECK-COUNT-16: vector.store %{{.*}}, %[[PLACE]]
// CHECK:         :16 = scf.for
// CHECK-NOT:     vector.reduction
// CHECK:       } else {
// CHECK-NOT:     %[[PLACE]]
// CHECK:         vector.reduction
// CHECK:       memref.dealloc %[[PLACE]]
func.func @many_rows_of_rows(%A: memref<?x20xf32>, %B: memref<?x20xf32>, %C: memref<?x?xf32>) {
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : memref<?x20xf32>, memref<?x20xf32>) outs(%C : memref<?x?xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y fastmath<contract> : f32
    %t = arith.addf %s, %p fastmath<reassoc,contract> : f32
    linalg.yield %t : f32
  }
  return
}

// -----

// Scores of attention over keys that grow in a larger buffer: the keys' rows lie
// apart by a stride, and everything is known to the run only. Vectors run along
// the sum, which the model has in the middle.

#x = affine_map<(h, m, k, t) -> (h, m, k)>
#keys = affine_map<(h, m, k, t) -> (h, t, k)>
#s = affine_map<(h, m, k, t) -> (h, m, t)>
// CHECK-LABEL: func @scores
// CHECK:         scf.for
// CHECK-NOT:     scf.for {{.*}} iter_args({{.*}}) -> (f32)
// CHECK:         vector.load {{.*}} strided<[?, ?, 1]>>, vector<16xf32>
// CHECK:         arith.addf {{.*}} fastmath<reassoc,contract> : vector<16xf32>
// CHECK:         vector.maskedload
// CHECK:         vector.reduction <add>
func.func @scores(%x: memref<?x1x?xf32>, %keys: memref<?x?x?xf32, strided<[?, ?, 1]>>, %s: memref<?x1x?xf32>) {
  linalg.generic {indexing_maps = [#x, #keys, #s], iterator_types = ["parallel", "parallel", "reduction", "parallel"]}
      ins(%x, %keys : memref<?x1x?xf32>, memref<?x?x?xf32, strided<[?, ?, 1]>>) outs(%s : memref<?x1x?xf32>) {
  ^bb0(%a: f32, %w: f32, %sum: f32):
    %p = arith.mulf %a, %w fastmath<contract> : f32
    %t = arith.addf %sum, %p fastmath<reassoc,contract> : f32
    linalg.yield %t : f32
  }
  return
}

// -----

// Along the result each sum keeps its order, even if that may be changed.

#a = affine_map<(k, n) -> (k)>
#b = affine_map<(k, n) -> (k, n)>
#c = affine_map<(k, n) -> (n)>
// CHECK-LABEL: func @in_order
// CHECK:       arith.addf {{.*}} fastmath<contract> : vector<16xf32>
// CHECK-NOT:   reassoc
func.func @in_order(%x: memref<100xf32>, %W: memref<100x64xf32>, %y: memref<64xf32>) {
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["reduction", "parallel"]}
      ins(%x, %W : memref<100xf32>, memref<100x64xf32>) outs(%y : memref<64xf32>) {
  ^bb0(%a: f32, %w: f32, %s: f32):
    %p = arith.mulf %a, %w fastmath<contract> : f32
    %t = arith.addf %s, %p fastmath<reassoc,contract> : f32
    linalg.yield %t : f32
  }
  return
}

// -----

// Narrow elements are widened in registers; what only rows need, once a row.

#a = affine_map<(m, k, n) -> (m, k)>
#b = affine_map<(m, k, n) -> (k, n)>
#c = affine_map<(m, k, n) -> (m, n)>
// CHECK-LABEL: func @halves
// CHECK:       %[[X:.*]] = memref.load
// CHECK-NEXT:  %[[XW:.*]] = arith.extf %[[X]] : f16 to f32
// CHECK-NEXT:  vector.broadcast %[[XW]] : f32 to vector<16xf32>
// CHECK-NEXT:  %[[Y:.*]] = vector.load {{.*}} vector<16xf16>
// CHECK-NEXT:  arith.extf %[[Y]] : vector<16xf16> to vector<16xf32>
func.func @halves(%A: memref<8x64xf16>, %B: memref<64x32xf16>, %C: memref<8x32xf32>) {
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%A, %B : memref<8x64xf16>, memref<64x32xf16>) outs(%C : memref<8x32xf32>) {
  ^bb0(%x: f16, %y: f16, %s: f32):
    %xw = arith.extf %x : f16 to f32
    %yw = arith.extf %y : f16 to f32
    %p = arith.mulf %xw, %yw fastmath<contract> : f32
    %t = arith.addf %s, %p fastmath<contract> : f32
    linalg.yield %t : f32
  }
  return
}

// -----

// A convolution's rows: vectors along the positions, tiles over the channels.

#x = affine_map<(m, h, c, i, j, w) -> (c, h + i, w + j)>
#f = affine_map<(m, h, c, i, j, w) -> (m, c, i, j)>
#y = affine_map<(m, h, c, i, j, w) -> (m, h, w)>
// CHECK-LABEL: func @convolution
// CHECK:       scf.for %{{.*}} = %c0 to %c16 step %c8
// CHECK:         :16 = scf.for %{{.*}} = %c0 to %c4 step %c1
// CHECK:           :16 = scf.for %{{.*}} = %c0 to %c3 step %c1
// CHECK-NOT:         scf.for
// PLAN:              {{^}}convolution: {{.*}} sum-written-out tile=8x2{{$}}
// CHECK-NOT:   linalg.generic
func.func @convolution(%x: memref<4x66x66xf32>, %f: memref<16x4x3x3xf32>, %y: memref<16x64x64xf32>) {
  linalg.generic {indexing_maps = [#x, #f, #y],
      iterator_types = ["parallel", "parallel", "reduction", "reduction", "reduction", "parallel"]}
      ins(%x, %f : memref<4x66x66xf32>, memref<16x4x3x3xf32>) outs(%y : memref<16x64x64xf32>) {
  ^bb0(%a: f32, %w: f32, %s: f32):
    %p = arith.mulf %a, %w fastmath<contract> : f32
    %t = arith.addf %s, %p fastmath<contract> : f32
    linalg.yield %t : f32
  }
  return
}

// -----

// Positions two apart: every second element of two vectors, the second of which
// ends with the last element that is wanted.

#x = affine_map<(c, i, w) -> (c, w * 2 + i)>
#f = affine_map<(c, i, w) -> (c, i)>
#y = affine_map<(c, i, w) -> (c, w)>
// CHECK-LABEL: func @apart
// CHECK:       %[[ONE:.*]] = vector.constant_mask [1]
// CHECK:       :3 = scf.for %[[I:.*]] = %c0 to %c3 step %c1
// CHECK:         %[[A:.*]] = vector.load %{{.*}} : memref<8x67xf32>, vector<16xf32>
// CHECK-NEXT:    vector.shuffle %[[A]], %[[A]] [16, 18, 20, 22, 24, 26, 28, 30, -1, -1, -1, -1, -1, -1, -1, -1]
// CHECK:         %[[B:.*]] = vector.load %{{.*}} : memref<8x67xf32>, vector<16xf32>
// CHECK:         vector.shuffle %{{.*}}, %[[B]] [0, 1, 2, 3, 4, 5, 6, 7, 17, 19, 21, 23, 25, 27, 29, 31]
// The last vector has one element, which is one element of what is read.
// CHECK:         vector.maskedload %{{.*}}, %[[ONE]]
// CHECK:       vector.maskedstore %{{.*}}, %[[ONE]]
// CHECK-NOT:   linalg.generic
// NEON-LABEL:  func @apart
// NEON-NOT:    linalg.generic
// NEON:        return
func.func @apart(%x: memref<8x67xf32>, %f: memref<8x3xf32>, %y: memref<8x33xf32>) {
  linalg.generic {indexing_maps = [#x, #f, #y], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %f : memref<8x67xf32>, memref<8x3xf32>) outs(%y : memref<8x33xf32>) {
  ^bb0(%a: f32, %w: f32, %s: f32):
    %p = arith.mulf %a, %w fastmath<contract> : f32
    %t = arith.addf %s, %p fastmath<contract> : f32
    linalg.yield %t : f32
  }
  return
}

// -----

// Short rows that share no vectors: seven at a time, whose sums do not wait for
// each other.

#x = affine_map<(c, h, i, j, w) -> (c, h + i, w + j)>
#f = affine_map<(c, h, i, j, w) -> (c, i, j)>
#y = affine_map<(c, h, i, j, w) -> (c, h, w)>
// CHECK-LABEL: func @depthwise
// CHECK:       scf.for %{{.*}} = %c0 to %c32 step %c1
// CHECK:         :7 = scf.for %{{.*}} = %c0 to %c3 step %c1
// The three elements of a row of the kernel are written out.
// CHECK-NOT:       scf.for
// CHECK:         vector.maskedstore
// CHECK-NOT:   linalg.generic
func.func @depthwise(%x: memref<32x9x9xf32>, %f: memref<32x3x3xf32>, %y: memref<32x7x7xf32>) {
  linalg.generic {indexing_maps = [#x, #f, #y],
      iterator_types = ["parallel", "parallel", "reduction", "reduction", "parallel"]}
      ins(%x, %f : memref<32x9x9xf32>, memref<32x3x3xf32>) outs(%y : memref<32x7x7xf32>) {
  ^bb0(%a: f32, %w: f32, %s: f32):
    %p = arith.mulf %a, %w fastmath<contract> : f32
    %t = arith.addf %s, %p fastmath<contract> : f32
    linalg.yield %t : f32
  }
  return
}

// -----

// Many rows: blocks of them, each of which stays in a cache for all columns.

#a = affine_map<(m, k, n) -> (m, k)>
#b = affine_map<(m, k, n) -> (k, n)>
#c = affine_map<(m, k, n) -> (m, n)>
// CHECK-LABEL: func @many_rows
// CHECK:       scf.for %[[R:.*]] = %c0 to %c1000 step %c256
// CHECK:         %[[END:.*]] = arith.minsi
// CHECK:         scf.for %{{.*}} = %c0 to %c96 step %c32
// CHECK:           scf.for %{{.*}} = %[[R]] to %[[END]] step %c8
// CHECK:             :16 = scf.for
// Three rows are left over.
// CHECK:       scf.for %{{.*}} = %c0 to %c96 step %c32
// CHECK:         :6 = scf.for
func.func @many_rows(%A: memref<1003x256xf32>, %B: memref<256x96xf32>, %C: memref<1003x96xf32>) {
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%A, %B : memref<1003x256xf32>, memref<256x96xf32>) outs(%C : memref<1003x96xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y fastmath<contract> : f32
    %t = arith.addf %s, %p fastmath<contract> : f32
    linalg.yield %t : f32
  }
  return
}

// -----

// Neighbours that are not neighbours in memory: left to scalar loops.

#a = affine_map<(m, k, n) -> (m, k)>
#b = affine_map<(m, k, n) -> (k, n)>
#c = affine_map<(m, k, n) -> (m, n)>
// CHECK-LABEL: func @strided
// CHECK:       linalg.generic
func.func @strided(%A: memref<8x64xf32>, %B: memref<64x32xf32, strided<[64, 2]>>, %C: memref<8x32xf32>) {
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%A, %B : memref<8x64xf32>, memref<64x32xf32, strided<[64, 2]>>) outs(%C : memref<8x32xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y fastmath<contract> : f32
    %t = arith.addf %s, %p fastmath<contract> : f32
    linalg.yield %t : f32
  }
  return
}

// -----

// The sums begin with what would have been copied into the result.

#a = affine_map<(m, k, n) -> (m, k)>
#b = affine_map<(m, k, n) -> (k, n)>
#c = affine_map<(m, k, n) -> (m, n)>
#row = affine_map<(m, n) -> (n)>
#id = affine_map<(m, n) -> (m, n)>
// CHECK-LABEL: func @begins_with_row
// CHECK-SAME:    %{{.*}}, %{{.*}}, %[[BIAS:[^:]*]]: memref<32xf32>
// CHECK-NOT:   linalg.generic
// CHECK:       %[[FIRST:.*]] = vector.load %[[BIAS]][%c0] : memref<32xf32>, vector<16xf32>
// CHECK:       scf.for {{.*}} iter_args(%{{.*}} = %[[FIRST]],
func.func @begins_with_row(%A: memref<4x64xf32>, %B: memref<64x32xf32>, %bias: memref<32xf32>, %out: memref<4x32xf32>) {
  %C = memref.alloc() : memref<4x32xf32>
  linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%bias : memref<32xf32>) outs(%C : memref<4x32xf32>) {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  }
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%A, %B : memref<4x64xf32>, memref<64x32xf32>) outs(%C : memref<4x32xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y fastmath<contract> : f32
    %t = arith.addf %s, %p fastmath<contract> : f32
    linalg.yield %t : f32
  }
  memref.copy %C, %out : memref<4x32xf32> to memref<4x32xf32>
  memref.dealloc %C : memref<4x32xf32>
  return
}

// Not where the result may be what is copied, by another name.
// CHECK-LABEL: func @may_alias
// CHECK:       memref.copy
// CHECK:       scf.for
func.func @may_alias(%A: memref<4x64xf32>, %B: memref<64x32xf32>, %from: memref<4x32xf32>, %C: memref<4x32xf32>) {
  memref.copy %from, %C : memref<4x32xf32> to memref<4x32xf32>
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%A, %B : memref<4x64xf32>, memref<64x32xf32>) outs(%C : memref<4x32xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y fastmath<contract> : f32
    %t = arith.addf %s, %p fastmath<contract> : f32
    linalg.yield %t : f32
  }
  return
}

// -----

// Panels are filled by vectors, padding included; rows of the source that
// become columns are transposed in registers.

#id = affine_map<(n, k) -> (n, k)>
#panels = affine_map<(n, k) -> (n floordiv 32, k, n mod 32)>
// CHECK-LABEL: func @panels
// CHECK-NOT:   linalg
// CHECK-COUNT-16: vector.maskedload
// CHECK-COUNT-64: vector.shuffle
// CHECK-COUNT-16: vector.store
func.func @panels(%W: memref<40x64xf32>, %P: memref<2x64x32xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%P : memref<2x64x32xf32>)
  linalg.generic {indexing_maps = [#id, #panels], iterator_types = ["parallel", "parallel"]}
      ins(%W : memref<40x64xf32>) outs(%P : memref<2x64x32xf32>) attrs = {loopc.packed} {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  }
  return
}

// A buffer in which there is more: what is written has gaps, and they keep what
// they have.
// CHECK-LABEL: func @with_gaps
// CHECK-NOT:   vector.
// CHECK:       linalg.generic
func.func @with_gaps(%W: memref<40x64xf32>, %P: memref<3x64x32xf32>) {
  linalg.generic {indexing_maps = [#id, #panels], iterator_types = ["parallel", "parallel"]}
      ins(%W : memref<40x64xf32>) outs(%P : memref<3x64x32xf32>) {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  }
  return
}

// -----

// Truth values are read one by one.

#a = affine_map<(m, k, n) -> (m, k)>
#b = affine_map<(m, k, n) -> (k, n)>
#c = affine_map<(m, k, n) -> (m, n)>
// CHECK-LABEL: func @truth
// CHECK:       memref.load %{{.*}} : memref<8x40xi1>
// CHECK:       vector.store
// CHECK-NOT:   linalg.generic
func.func @truth(%A: memref<8x40xi1>, %B: memref<40x32xf32>, %C: memref<8x32xf32>) {
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%A, %B : memref<8x40xi1>, memref<40x32xf32>) outs(%C : memref<8x32xf32>) {
  ^bb0(%x: i1, %y: f32, %s: f32):
    %f = arith.uitofp %x : i1 to f32
    %p = arith.mulf %f, %y fastmath<contract> : f32
    %t = arith.addf %s, %p fastmath<contract> : f32
    linalg.yield %t : f32
  }
  return
}

// -----

// What follows element by element is computed on the sums, and stored where it
// goes: within padding, of which only the border is filled.

#a = affine_map<(m, k, n) -> (m, k)>
#b = affine_map<(m, k, n) -> (k, n)>
#c = affine_map<(m, k, n) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
#last = affine_map<(m, n) -> (n)>
// CHECK-LABEL: func @epilogue
// CHECK:       %[[PADDED:.*]] = memref.alloc() {{.*}}: memref<402x96xf32>
// CHECK:       %[[TOP:.*]] = memref.subview %[[PADDED]][0, 0] [1, 96] [1, 1]
// CHECK:       linalg.fill {{.*}} outs(%[[TOP]]
// CHECK:       %[[BOTTOM:.*]] = memref.subview %[[PADDED]][401, 0] [1, 96] [1, 1]
// CHECK:       linalg.fill {{.*}} outs(%[[BOTTOM]]
// CHECK:       :16 = scf.for
// CHECK:       arith.addf %{{.*}} : vector<16xf32>
// CHECK:       arith.maximumf %{{.*}} : vector<16xf32>
// CHECK:       vector.store {{.*}} memref<400x96xf32, strided<[96, 1], offset: 96>>
// CHECK-NOT:   linalg.generic
func.func @epilogue(%A: memref<400x64xf32>, %B: memref<64x96xf32>, %bias: memref<96xf32>) -> memref<402x96xf32> {
  %zero = arith.constant 0.0 : f32
  %C = memref.alloc() : memref<400x96xf32>
  linalg.fill ins(%zero : f32) outs(%C : memref<400x96xf32>)
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%A, %B : memref<400x64xf32>, memref<64x96xf32>) outs(%C : memref<400x96xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y fastmath<contract> : f32
    %t = arith.addf %s, %p fastmath<contract> : f32
    linalg.yield %t : f32
  }
  %padded = memref.alloc() : memref<402x96xf32>
  linalg.fill ins(%zero : f32) outs(%padded : memref<402x96xf32>)
  %inside = memref.subview %padded[1, 0] [400, 96] [1, 1]
      : memref<402x96xf32> to memref<400x96xf32, strided<[96, 1], offset: 96>>
  linalg.generic {indexing_maps = [#id, #last, #id], iterator_types = ["parallel", "parallel"]}
      ins(%C, %bias : memref<400x96xf32>, memref<96xf32>)
      outs(%inside : memref<400x96xf32, strided<[96, 1], offset: 96>>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %t = arith.addf %x, %y : f32
    %r = arith.maximumf %t, %zero : f32
    linalg.yield %r : f32
  }
  memref.dealloc %C : memref<400x96xf32>
  return %padded : memref<402x96xf32>
}

// -----

// What the product reads, too, is not written over before the last sum.

#a = affine_map<(m, k, n) -> (m, k)>
#b = affine_map<(m, k, n) -> (k, n)>
#c = affine_map<(m, k, n) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
// CHECK-LABEL: func @still_read
// CHECK:       linalg.generic
func.func @still_read(%B: memref<64x64xf32>) -> memref<400x64xf32> {
  %zero = arith.constant 0.0 : f32
  %A = memref.alloc() : memref<400x64xf32>
  linalg.fill ins(%zero : f32) outs(%A : memref<400x64xf32>)
  %C = memref.alloc() : memref<400x64xf32>
  linalg.fill ins(%zero : f32) outs(%C : memref<400x64xf32>)
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%A, %B : memref<400x64xf32>, memref<64x64xf32>) outs(%C : memref<400x64xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y fastmath<contract> : f32
    %t = arith.addf %s, %p fastmath<contract> : f32
    linalg.yield %t : f32
  }
  linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%C, %A : memref<400x64xf32>, memref<400x64xf32>) outs(%A : memref<400x64xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %t = arith.addf %x, %y : f32
    linalg.yield %t : f32
  }
  memref.dealloc %C : memref<400x64xf32>
  return %A : memref<400x64xf32>
}

// -----

// A transpose, by tiles of sixteen vectors.

#in = affine_map<(h, c) -> (c, h)>
#out = affine_map<(h, c) -> (h, c)>
// CHECK-LABEL: func @transpose
// CHECK:       scf.for %{{.*}} = %c0 to %c40 step %c16
// CHECK:         scf.for %{{.*}} = %c0 to %c400 step %c16
// CHECK:           scf.if
// CHECK-COUNT-16:    vector.load
// CHECK-COUNT-64:    vector.shuffle
// CHECK-COUNT-16:    vector.store
// CHECK:           else
// CHECK-COUNT-16:    vector.maskedload
// CHECK-COUNT-16:    vector.maskedstore
// CHECK-NOT:   linalg.generic
func.func @transpose(%x: memref<40x400xf32>, %y: memref<400x40xf32>) {
  linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<40x400xf32>) outs(%y : memref<400x40xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = arith.negf %a : f32
    linalg.yield %b : f32
  }
  return
}

// -----

// Few tiles make a row: those below come after them. Bytes, too, by sixteen.

#in = affine_map<(h, c) -> (c, h)>
#out = affine_map<(h, c) -> (h, c)>
// CHECK-LABEL: func @transpose_to_short_rows
// CHECK:       scf.for %{{.*}} = %c0 to %c400 step %c16
// CHECK:         scf.for %{{.*}} = %c0 to %c32 step %c16
// CHECK-COUNT-16:  vector.load {{.*}} vector<16xi8>
// CHECK-COUNT-16:  vector.store {{.*}} vector<16xi8>
func.func @transpose_to_short_rows(%x: memref<32x400xi8>, %y: memref<400x32xi8>) {
  linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<32x400xi8>) outs(%y : memref<400x32xi8>) {
  ^bb0(%a: i8, %o: i8):
    linalg.yield %a : i8
  }
  return
}

// -----

// As many rows as stay in the cache, then the next columns of them.

#in = affine_map<(h, c) -> (c, h)>
#out = affine_map<(h, c) -> (h, c)>
// CHECK-LABEL: func @transpose_by_blocks
// CHECK:       scf.for %[[FIRST:.*]] = %c0 to %c1600 step %c512
// CHECK:         %[[LAST:.*]] = arith.minsi
// CHECK:         scf.for %{{.*}} = %c0 to %c800 step %c16
// CHECK:           scf.for %{{.*}} = %[[FIRST]] to %[[LAST]] step %c16
func.func @transpose_by_blocks(%x: memref<800x1600xf32>, %y: memref<1600x800xf32>) {
  linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<800x1600xf32>) outs(%y : memref<1600x800xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  return
}

// -----

// Of an unknown number of rows there is code for one and for many, but in the
// version of a loop that hardly runs: that has code for one.

#a = affine_map<(m, k, n) -> (m, k)>
#b = affine_map<(m, k, n) -> (k, n)>
#c = affine_map<(m, k, n) -> (m, n)>
// CHECK-LABEL: func @rare
// CHECK:       loop.loop
// CHECK:         arith.cmpi slt
// CHECK:         scf.if
// CHECK:           :8 = scf.for
// CHECK:         } else {
// CHECK:           :16 = scf.for
// CHECK:       loop.loop {{.*}}loopc.cold
// CHECK-NOT:     scf.if
// CHECK:           :8 = scf.for
// CHECK-NOT:     :16 = scf.for
// CHECK:       return
func.func @rare(%A: memref<?x256xf32>, %B: memref<256x1024xf32>, %C: memref<?x1024xf32>, %trips: i64) {
  loop.loop (%i : i64, %cond : i1) trips(%trips : i64) {
    linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "reduction", "parallel"]}
        ins(%A, %B : memref<?x256xf32>, memref<256x1024xf32>) outs(%C : memref<?x1024xf32>) {
    ^bb0(%x: f32, %y: f32, %s: f32):
      %p = arith.mulf %x, %y fastmath<contract> : f32
      %t = arith.addf %s, %p fastmath<contract> : f32
      linalg.yield %t : f32
    }
    loop.yield while(%cond : i1)
  }
  loop.loop (%i : i64, %cond : i1) trips(%trips : i64) attributes {loopc.cold} {
    linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "reduction", "parallel"]}
        ins(%A, %B : memref<?x256xf32>, memref<256x1024xf32>) outs(%C : memref<?x1024xf32>) {
    ^bb0(%x: f32, %y: f32, %s: f32):
      %p = arith.mulf %x, %y fastmath<contract> : f32
      %t = arith.addf %s, %p fastmath<contract> : f32
      linalg.yield %t : f32
    }
    loop.yield while(%cond : i1)
  }
  return
}

// -----

// Rows of groups are written whole, with zeros behind what is there: not where
// the panels are padded with another number.
#identity = affine_map<(k, n) -> (k, n)>
#groups = affine_map<(k, n) -> (n floordiv 32, k floordiv 4, n mod 32, k mod 4)>
// CHECK-LABEL: func @padded_with_zero
// CHECK-NOT:     linalg.generic
// CHECK:         vector.interleave
func.func @padded_with_zero(%x: memref<10x40xi8>, %p: memref<2x3x32x4xi8>) {
  %zero = arith.constant 0 : i8
  linalg.fill ins(%zero : i8) outs(%p : memref<2x3x32x4xi8>)
  linalg.generic {indexing_maps = [#identity, #groups], iterator_types = ["parallel", "parallel"]} ins(%x : memref<10x40xi8>) outs(%p : memref<2x3x32x4xi8>) attrs = {loopc.packed} {
  ^bb0(%a: i8, %b: i8):
    linalg.yield %a : i8
  }
  return
}
// CHECK-LABEL: func @padded_with_seven
// CHECK-NOT:     vector.interleave
// CHECK:         linalg.fill
// CHECK-NOT:     vector.interleave
func.func @padded_with_seven(%x: memref<10x40xi8>, %p: memref<2x3x32x4xi8>) {
  %seven = arith.constant 7 : i8
  linalg.fill ins(%seven : i8) outs(%p : memref<2x3x32x4xi8>)
  linalg.generic {indexing_maps = [#identity, #groups], iterator_types = ["parallel", "parallel"]} ins(%x : memref<10x40xi8>) outs(%p : memref<2x3x32x4xi8>) attrs = {loopc.packed} {
  ^bb0(%a: i8, %b: i8):
    linalg.yield %a : i8
  }
  return
}

// -----

// Lanes that are masked out would divide by zero.

#x = affine_map<(m, k, n) -> (m, k)>
#w = affine_map<(m, k, n) -> (k, n)>
#y = affine_map<(m, k, n) -> (m, n)>
// CHECK-LABEL: func @divides
// CHECK:       linalg.generic
func.func @divides(%x: memref<3x5xi32>, %w: memref<5x23xi32>, %y: memref<3x23xi32>) {
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %w : memref<3x5xi32>, memref<5x23xi32>) outs(%y : memref<3x23xi32>) {
  ^bb0(%a: i32, %b: i32, %s: i32):
    %q = arith.divsi %a, %b : i32
    %t = arith.addi %s, %q : i32
    linalg.yield %t : i32
  }
  return
}
