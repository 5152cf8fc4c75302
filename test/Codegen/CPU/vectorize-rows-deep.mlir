// RUN: loopc-opt %s --pass-pipeline='builtin.module(loopc-set-target{vector-bits=512 mask-bits=8},func.func(cpu-vectorize-rows))' | FileCheck %s

// Places that are computed of a number which each step uses twice: each step is
// looked at, and computed, once. What would do it once for each way through the
// steps does not end.

#each = affine_map<(d0) -> (d0)>

// Of the same place for all of a row.
// CHECK-LABEL: func @same(
// CHECK-COUNT-40: arith.addi {{.*}} : index
// CHECK: memref.load
// CHECK-COUNT-40: arith.addi {{.*}} : index
// CHECK: memref.load
// CHECK-NOT: memref.load
func.func @same(%x: memref<?xf32>, %at: memref<i64>, %y: memref<?xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0) -> ()>, #each], iterator_types = ["parallel"]} ins(%at : memref<i64>) outs(%y : memref<?xf32>) {
  ^bb0(%first: i64, %o: f32):
    %row = arith.index_cast %first : i64 to index
    %r0 = arith.addi %row, %row : index
    %r1 = arith.addi %r0, %r0 : index
    %r2 = arith.addi %r1, %r1 : index
    %r3 = arith.addi %r2, %r2 : index
    %r4 = arith.addi %r3, %r3 : index
    %r5 = arith.addi %r4, %r4 : index
    %r6 = arith.addi %r5, %r5 : index
    %r7 = arith.addi %r6, %r6 : index
    %r8 = arith.addi %r7, %r7 : index
    %r9 = arith.addi %r8, %r8 : index
    %r10 = arith.addi %r9, %r9 : index
    %r11 = arith.addi %r10, %r10 : index
    %r12 = arith.addi %r11, %r11 : index
    %r13 = arith.addi %r12, %r12 : index
    %r14 = arith.addi %r13, %r13 : index
    %r15 = arith.addi %r14, %r14 : index
    %r16 = arith.addi %r15, %r15 : index
    %r17 = arith.addi %r16, %r16 : index
    %r18 = arith.addi %r17, %r17 : index
    %r19 = arith.addi %r18, %r18 : index
    %r20 = arith.addi %r19, %r19 : index
    %r21 = arith.addi %r20, %r20 : index
    %r22 = arith.addi %r21, %r21 : index
    %r23 = arith.addi %r22, %r22 : index
    %r24 = arith.addi %r23, %r23 : index
    %r25 = arith.addi %r24, %r24 : index
    %r26 = arith.addi %r25, %r25 : index
    %r27 = arith.addi %r26, %r26 : index
    %r28 = arith.addi %r27, %r27 : index
    %r29 = arith.addi %r28, %r28 : index
    %r30 = arith.addi %r29, %r29 : index
    %r31 = arith.addi %r30, %r30 : index
    %r32 = arith.addi %r31, %r31 : index
    %r33 = arith.addi %r32, %r32 : index
    %r34 = arith.addi %r33, %r33 : index
    %r35 = arith.addi %r34, %r34 : index
    %r36 = arith.addi %r35, %r35 : index
    %r37 = arith.addi %r36, %r36 : index
    %r38 = arith.addi %r37, %r37 : index
    %r39 = arith.addi %r38, %r38 : index
    %v = memref.load %x[%r39] : memref<?xf32>
    %e = math.exp %v : f32
    linalg.yield %e : f32
  }
  return
}

// Of places that lie apart.
// CHECK-LABEL: func @apart(
// CHECK-COUNT-40: arith.addi {{.*}} : vector<16xindex>
// CHECK: vector.gather
// CHECK-COUNT-40: arith.addi {{.*}} : vector<16xindex>
// CHECK: vector.gather
// CHECK-NOT: vector.gather
func.func @apart(%x: memref<?xf32>, %at: memref<?xi64>, %y: memref<?xf32>) {
  linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel"]} ins(%at : memref<?xi64>) outs(%y : memref<?xf32>) {
  ^bb0(%first: i64, %o: f32):
    %number = arith.index_cast %first : i64 to index
    %n0 = arith.addi %number, %number : index
    %n1 = arith.addi %n0, %n0 : index
    %n2 = arith.addi %n1, %n1 : index
    %n3 = arith.addi %n2, %n2 : index
    %n4 = arith.addi %n3, %n3 : index
    %n5 = arith.addi %n4, %n4 : index
    %n6 = arith.addi %n5, %n5 : index
    %n7 = arith.addi %n6, %n6 : index
    %n8 = arith.addi %n7, %n7 : index
    %n9 = arith.addi %n8, %n8 : index
    %n10 = arith.addi %n9, %n9 : index
    %n11 = arith.addi %n10, %n10 : index
    %n12 = arith.addi %n11, %n11 : index
    %n13 = arith.addi %n12, %n12 : index
    %n14 = arith.addi %n13, %n13 : index
    %n15 = arith.addi %n14, %n14 : index
    %n16 = arith.addi %n15, %n15 : index
    %n17 = arith.addi %n16, %n16 : index
    %n18 = arith.addi %n17, %n17 : index
    %n19 = arith.addi %n18, %n18 : index
    %n20 = arith.addi %n19, %n19 : index
    %n21 = arith.addi %n20, %n20 : index
    %n22 = arith.addi %n21, %n21 : index
    %n23 = arith.addi %n22, %n22 : index
    %n24 = arith.addi %n23, %n23 : index
    %n25 = arith.addi %n24, %n24 : index
    %n26 = arith.addi %n25, %n25 : index
    %n27 = arith.addi %n26, %n26 : index
    %n28 = arith.addi %n27, %n27 : index
    %n29 = arith.addi %n28, %n28 : index
    %n30 = arith.addi %n29, %n29 : index
    %n31 = arith.addi %n30, %n30 : index
    %n32 = arith.addi %n31, %n31 : index
    %n33 = arith.addi %n32, %n32 : index
    %n34 = arith.addi %n33, %n33 : index
    %n35 = arith.addi %n34, %n34 : index
    %n36 = arith.addi %n35, %n35 : index
    %n37 = arith.addi %n36, %n36 : index
    %n38 = arith.addi %n37, %n37 : index
    %n39 = arith.addi %n38, %n38 : index
    %v = memref.load %x[%n39] : memref<?xf32>
    %e = math.exp %v : f32
    linalg.yield %e : f32
  }
  return
}

// Rows of an image whose extents are open may be short: those of a channel are
// one.
// CHECK-LABEL: func @open_image(
// CHECK-SAME: %[[X:[^:]+]]: memref<?x?x?x?xf32>
// CHECK: %[[ROWS:.*]] = memref.collapse_shape %[[X]] {{\[\[}}0], [1], [2, 3]]
// CHECK: scf.for %[[N:.*]] =
// CHECK: scf.for %[[C:.*]] =
// CHECK-NOT: scf.for
// CHECK: scf.for %[[J:.*]] =
// CHECK: vector.load %[[ROWS]][%[[N]], %[[C]], %[[J]]]
func.func @open_image(%x: memref<?x?x?x?xf32>, %g: memref<?xf32>, %y: memref<?x?x?x?xf32>) {
  linalg.generic {indexing_maps = [affine_map<(n, c, h, w) -> (n, c, h, w)>, affine_map<(n, c, h, w) -> (c)>, affine_map<(n, c, h, w) -> (n, c, h, w)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x, %g : memref<?x?x?x?xf32>, memref<?xf32>) outs(%y : memref<?x?x?x?xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %s = arith.mulf %p, %q : f32
    linalg.yield %s : f32
  }
  return
}

// One axis is left to be dealt to threads.
// CHECK-LABEL: func @open_rows(
// CHECK-NOT: memref.collapse_shape
// CHECK: return
func.func @open_rows(%x: memref<?x?xf32>, %g: memref<?xf32>, %y: memref<?x?xf32>) {
  linalg.generic {indexing_maps = [affine_map<(n, c) -> (n, c)>, affine_map<(n, c) -> (n)>, affine_map<(n, c) -> (n, c)>], iterator_types = ["parallel", "parallel"]}
      ins(%x, %g : memref<?x?xf32>, memref<?xf32>) outs(%y : memref<?x?xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %s = arith.mulf %p, %q : f32
    linalg.yield %s : f32
  }
  return
}
