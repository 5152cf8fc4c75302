// RUN: loopc-opt %s -split-input-file -pass-pipeline='builtin.module(loopc-set-target{vector-bits=512 registers=32 mask-bits=8},cpu-pack-contractions,canonicalize)' | FileCheck %s

// A constant is packed by the compiler: 40 columns (of the transposed weight)
// are two panels of 32, and the original is gone.

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>
// CHECK: #[[PANELS:.*]] = affine_map<(d0, d1, d2) -> (d1 floordiv 32, d2, d1 mod 32)>
// CHECK-LABEL: func @constant
// CHECK-NOT:   tensor<40x1xf32>
// CHECK:       %[[W:.*]] = arith.constant dense_resource<loopc_packed> : tensor<2x1x32xi8>
// CHECK:       linalg.generic {indexing_maps = [#{{.*}}, #[[PANELS]], #{{.*}}]
// CHECK-SAME:    ins(%{{.*}}, %[[W]] : {{.*}} attrs = {loopc.packed}
// The blob: its alignment of 64, 32 bytes, 8 bytes, zeros.
// CHECK:       loopc_packed: "0x400000000001020304050607
// CHECK-SAME:  1C1D1E1F2021222324252627{{0+}}"
func.func @constant(%A: tensor<16x1xi8>, %C: tensor<16x40xi32>) -> tensor<16x40xi32> {
  %W = arith.constant dense_resource<weights> : tensor<40x1xi8>
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %W : tensor<16x1xi8>, tensor<40x1xi8>) outs(%C : tensor<16x40xi32>) {
  ^bb0(%x: i8, %y: i8, %s: i32):
    %xw = arith.extsi %x : i8 to i32
    %yw = arith.extsi %y : i8 to i32
    %p = arith.muli %xw, %yw : i32
    %t = arith.addi %s, %p : i32
    linalg.yield %t : i32
  } -> tensor<16x40xi32>
  return %r : tensor<16x40xi32>
}

{-#
  dialect_resources: {
    builtin: {
      weights: "0x40000000000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F2021222324252627"
    }
  }
#-}

// -----

// So is a part of a constant whose elements are neighbours, in another shape.

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>
// CHECK-LABEL: func @part
// CHECK:       %[[W:.*]] = arith.constant dense_resource<loopc_packed> : tensor<1x1x8xi8>
// CHECK:       linalg.generic {{.*}} ins(%{{.*}}, %[[W]] :
// CHECK:       loopc_packed: "0x4000000008090A0B0C0D0E0F"
func.func @part(%A: tensor<16x1xi8>, %C: tensor<16x8xi32>) -> tensor<16x8xi32> {
  %all = arith.constant dense_resource<weights> : tensor<2x8x1xi8>
  %second = tensor.extract_slice %all[1, 0, 0] [1, 8, 1] [1, 1, 1] : tensor<2x8x1xi8> to tensor<1x8x1xi8>
  %W = tensor.collapse_shape %second [[0, 1], [2]] : tensor<1x8x1xi8> into tensor<8x1xi8>
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %W : tensor<16x1xi8>, tensor<8x1xi8>) outs(%C : tensor<16x8xi32>) {
  ^bb0(%x: i8, %y: i8, %s: i32):
    %xw = arith.extsi %x : i8 to i32
    %yw = arith.extsi %y : i8 to i32
    %p = arith.muli %xw, %yw : i32
    %t = arith.addi %s, %p : i32
    linalg.yield %t : i32
  } -> tensor<16x8xi32>
  return %r : tensor<16x8xi32>
}

{-#
  dialect_resources: {
    builtin: {
      weights: "0x40000000000102030405060708090A0B0C0D0E0F"
    }
  }
#-}

// -----

// Loops over rows become one.

#a = affine_map<(t, b, k, n) -> (t, b, k)>
#b = affine_map<(t, b, k, n) -> (k, n)>
#c = affine_map<(t, b, k, n) -> (t, b, n)>
// CHECK-LABEL: func @rows
// CHECK:       tensor.collapse_shape %{{.*}} {{\[\[}}0, 1], [2]] : tensor<?x4x64xf32> into tensor<?x64xf32>
// CHECK:       linalg.generic {{.*}} iterator_types = ["parallel", "reduction", "parallel"]
// CHECK:       tensor.expand_shape
func.func @rows(%A: tensor<?x4x64xf32>, %B: tensor<64x32xf32>, %C: tensor<?x4x32xf32>) -> tensor<?x4x32xf32> {
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction", "parallel"]}
      ins(%A, %B : tensor<?x4x64xf32>, tensor<64x32xf32>) outs(%C : tensor<?x4x32xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y fastmath<contract> : f32
    %t = arith.addf %s, %p fastmath<contract> : f32
    linalg.yield %t : f32
  } -> tensor<?x4x32xf32>
  return %r : tensor<?x4x32xf32>
}

// -----

// Weights that a loop does not change are packed in front of the outermost
// loop, from what they are a transpose of.

#a = affine_map<(m, k, n) -> (m, k)>
#b = affine_map<(m, k, n) -> (k, n)>
#c = affine_map<(m, k, n) -> (m, n)>
// CHECK: #[[FROM:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK: #[[TO:.*]] = affine_map<(d0, d1) -> (d0 floordiv 32, d1, d0 mod 32)>
// CHECK-LABEL: func @invariant
// CHECK-SAME:    %[[W:.*]]: tensor<256x256xf32>, %[[H:.*]]: tensor<1x256xf32>
// CHECK:       %[[E:.*]] = tensor.empty() : tensor<8x256x32xf32>
// CHECK:       %[[P:.*]] = linalg.generic {indexing_maps = [#[[FROM]], #[[TO]]]{{.*}} ins(%[[W]] : {{.*}} outs(%[[E]] : {{.*}} attrs = {loopc.packed}
// CHECK:       scf.for
// CHECK:         scf.for
// CHECK:           linalg.generic {{.*}} ins(%{{.*}}, %[[P]] : {{.*}} attrs = {loopc.packed}
func.func @invariant(%W: tensor<256x256xf32>, %h: tensor<1x256xf32>, %n: index) -> tensor<1x256xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x256xf32>
  %t = linalg.transpose ins(%W : tensor<256x256xf32>) outs(%e : tensor<256x256xf32>) permutation = [1, 0]
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %h) -> tensor<1x256xf32> {
    %s = scf.for %j = %c0 to %n step %c1 iter_args(%y = %x) -> tensor<1x256xf32> {
      %o = tensor.empty() : tensor<1x256xf32>
      %z = linalg.fill ins(%zero : f32) outs(%o : tensor<1x256xf32>) -> tensor<1x256xf32>
      %p = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "reduction", "parallel"]}
          ins(%y, %t : tensor<1x256xf32>, tensor<256x256xf32>) outs(%z : tensor<1x256xf32>) {
      ^bb0(%p: f32, %q: f32, %u: f32):
        %v = arith.mulf %p, %q fastmath<contract> : f32
        %w = arith.addf %u, %v fastmath<contract> : f32
        linalg.yield %w : f32
      } -> tensor<1x256xf32>
      scf.yield %p : tensor<1x256xf32>
    }
    scf.yield %s : tensor<1x256xf32>
  }
  return %r : tensor<1x256xf32>
}

// -----

// What is read once is not packed, nor a constant that others read too.

#a = affine_map<(m, k, n) -> (m, k)>
#b = affine_map<(m, k, n) -> (k, n)>
#c = affine_map<(m, k, n) -> (m, n)>
// CHECK-LABEL: func @once
// CHECK-SAME:    %[[A:.*]]: tensor<8x64xf32>, %[[B:.*]]: tensor<64x512xf32>
// CHECK:       linalg.generic {{.*}} ins(%[[A]], %[[B]] :
func.func @once(%A: tensor<8x64xf32>, %B: tensor<64x512xf32>, %C: tensor<8x512xf32>) -> tensor<8x512xf32> {
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%A, %B : tensor<8x64xf32>, tensor<64x512xf32>) outs(%C : tensor<8x512xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y fastmath<contract> : f32
    %t = arith.addf %s, %p fastmath<contract> : f32
    linalg.yield %t : f32
  } -> tensor<8x512xf32>
  return %r : tensor<8x512xf32>
}

// CHECK-LABEL: func @shared
// CHECK:       %[[W:.*]] = arith.constant dense<{{.*}}> : tensor<2x8xf32>
// CHECK:       linalg.generic {{.*}} ins(%{{.*}}, %[[W]] :
func.func @shared(%A: tensor<8x2xf32>, %C: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<2x8xf32>) {
  %W = arith.constant dense<[[0.,1.,2.,3.,4.,5.,6.,7.],[8.,1.,2.,3.,4.,5.,6.,7.]]> : tensor<2x8xf32>
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%A, %W : tensor<8x2xf32>, tensor<2x8xf32>) outs(%C : tensor<8x8xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y fastmath<contract> : f32
    %t = arith.addf %s, %p fastmath<contract> : f32
    linalg.yield %t : f32
  } -> tensor<8x8xf32>
  return %r, %W : tensor<8x8xf32>, tensor<2x8xf32>
}

// -----

// Positions of an image are the rows of one matrix; those of a part of it lie
// apart and would have to be copied.

#x = affine_map<(n, h, w, k, m) -> (n, h, w, k)>
#w = affine_map<(n, h, w, k, m) -> (k, m)>
#y = affine_map<(n, h, w, k, m) -> (n, h, w, m)>
// CHECK-LABEL: func @parts_of_images
// CHECK:       %[[PART:.*]] = tensor.extract_slice
// CHECK:       %[[TO:.*]] = tensor.extract_slice
// CHECK:       linalg.generic {{.*}} ins(%[[PART]], %{{.*}} outs(%[[TO]]
// CHECK:       linalg.generic {{.*}} ins(%{{.*}} : tensor<1089x64xf32>, {{.*}} outs(%{{.*}} : tensor<1089x1024xf32>)
func.func @parts_of_images(%x: tensor<1x33x33x64xf32>, %w: tensor<64x1024xf32>, %y: tensor<1x33x33x1024xf32>) -> (tensor<1x21x21x1024xf32>, tensor<1x33x33x1024xf32>) {
  %part = tensor.extract_slice %x[0, 12, 12, 0] [1, 21, 21, 64] [1, 1, 1, 1] : tensor<1x33x33x64xf32> to tensor<1x21x21x64xf32>
  %to = tensor.extract_slice %y[0, 0, 0, 0] [1, 21, 21, 1024] [1, 1, 1, 1] : tensor<1x33x33x1024xf32> to tensor<1x21x21x1024xf32>
  %r = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction", "parallel"]}
      ins(%part, %w : tensor<1x21x21x64xf32>, tensor<64x1024xf32>) outs(%to : tensor<1x21x21x1024xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p fastmath<reassoc> : f32
    linalg.yield %t : f32
  } -> tensor<1x21x21x1024xf32>
  %q = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction", "parallel"]}
      ins(%x, %w : tensor<1x33x33x64xf32>, tensor<64x1024xf32>) outs(%y : tensor<1x33x33x1024xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p fastmath<reassoc> : f32
    linalg.yield %t : f32
  } -> tensor<1x33x33x1024xf32>
  return %r, %q : tensor<1x21x21x1024xf32>, tensor<1x33x33x1024xf32>
}

// -----

// Those of a small part as well: the copies would be the caller's work, with
// threads that share out the products.

#x = affine_map<(n, h, w, k, m) -> (n, h, w, k)>
#w = affine_map<(n, h, w, k, m) -> (k, m)>
#y = affine_map<(n, h, w, k, m) -> (n, h, w, m)>
// CHECK-LABEL: func @small_part
// CHECK-NOT:   tensor.collapse_shape
// CHECK:       linalg.generic {{.*}} outs(%{{.*}} : tensor<1x6x6x512xf32>)
func.func @small_part(%x: tensor<1x7x7x512xf32>, %w: tensor<512x512xf32>, %y: tensor<1x7x7x512xf32>) -> tensor<1x7x7x512xf32> {
  %part = tensor.extract_slice %x[0, 1, 1, 0] [1, 6, 6, 512] [1, 1, 1, 1] : tensor<1x7x7x512xf32> to tensor<1x6x6x512xf32>
  %to = tensor.extract_slice %y[0, 0, 0, 0] [1, 6, 6, 512] [1, 1, 1, 1] : tensor<1x7x7x512xf32> to tensor<1x6x6x512xf32>
  %r = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction", "parallel"]}
      ins(%part, %w : tensor<1x6x6x512xf32>, tensor<512x512xf32>) outs(%to : tensor<1x6x6x512xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p fastmath<reassoc> : f32
    linalg.yield %t : f32
  } -> tensor<1x6x6x512xf32>
  %all = tensor.insert_slice %r into %y[0, 0, 0, 0] [1, 6, 6, 512] [1, 1, 1, 1] : tensor<1x6x6x512xf32> into tensor<1x7x7x512xf32>
  return %all : tensor<1x7x7x512xf32>
}
