// RUN: loopc-opt %s -split-input-file -pass-pipeline='builtin.module(func.func(loop-vectorize-contractions{vector-bits=512 registers=32 mask-bits=8}),canonicalize,cse)' | FileCheck %s
// RUN: loopc-opt %s -split-input-file -pass-pipeline='builtin.module(func.func(loop-vectorize-contractions{vector-bits=256 registers=16 mask-bits=32}),canonicalize,cse)' | FileCheck %s --check-prefix=AVX2
// RUN: loopc-opt %s -split-input-file -pass-pipeline='builtin.module(func.func(loop-vectorize-contractions{vector-bits=128 registers=32 mask-bits=0}),canonicalize,cse)' | FileCheck %s --check-prefix=NEON

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
// CHECK-COUNT-15:   arith.addf
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

// Unknown sizes: one or two rows, many rows, and what is left of them; rows
// beyond the end are the last one again.

#a = affine_map<(m, k, n) -> (m, k)>
#b = affine_map<(m, k, n) -> (k, n)>
#c = affine_map<(m, k, n) -> (m, n)>
// CHECK-LABEL: func @dynamic
// CHECK:       scf.if
// Eight rows of the second matrix at a time.
// CHECK:         scf.for {{.*}} step %c8
// CHECK:           scf.for {{.*}} step %c64
// CHECK:             vector.create_mask
// CHECK:             scf.for {{.*}} step %c1
// CHECK-COUNT-32:      arith.addf
// CHECK:         scf.for {{.*}} step %c8
// CHECK:           :4 = scf.for
// CHECK:       } else {
// CHECK:         scf.for {{.*}} step %c512
// CHECK:           scf.for {{.*}} step %c8
// CHECK:             arith.minsi
// CHECK:             :16 = scf.for
// CHECK:           scf.for {{.*}} step %c8
// CHECK:             :8 = scf.for
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
// CHECK:             :16 = scf.for %{{.*}} = %c0 to %c3 step %c1
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
      ins(%W : memref<40x64xf32>) outs(%P : memref<2x64x32xf32>) {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  }
  return
}
