// RUN: loopc-opt %s --pass-pipeline='builtin.module(loopc-set-target{vector-bits=256 mask-bits=32},func.func(cpu-vectorize-rows,canonicalize,cse))' | FileCheck %s

// Of an operand that may have one element along the last axis there is a row
// for each case, without a branch in its steps. Where it has one along both
// axes the two are one row.

#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>

// CHECK-LABEL: func @channels
// CHECK-SAME:    %[[ONE1:[a-z0-9]+]]: i1, %[[ONE2:[a-z0-9]+]]: i1
// CHECK:         %[[ROW:.*]] = arith.ori %[[ONE1]], %{{.*}} : i1
// CHECK:         %[[COLUMN:.*]] = arith.ori %[[ONE2]], %{{.*}} : i1
// CHECK:         %[[ONE:.*]] = arith.andi %[[ROW]], %[[COLUMN]] : i1
// CHECK-COUNT-2: arith.cmpi eq, %{{.*}}, %{{.*}} : index
// CHECK:         %[[JOINED:.*]] = arith.ori %{{.*}}, %[[ONE]] : i1
// CHECK:         %[[CASE:.*]] = arith.select %[[JOINED]], %[[ONE]], %[[ONE2]] : i1
// CHECK-COUNT-3: memref.reinterpret_cast
// CHECK:         scf.for
// CHECK:           scf.for
// CHECK:             scf.if %[[CASE]] {
// CHECK:               scf.for
// CHECK:                 memref.load
// CHECK-NEXT:            vector.broadcast
// CHECK-NOT:             scf.if
// CHECK:                 vector.store
// CHECK:             } else {
// CHECK:               scf.for
// CHECK-NOT:             scf.if
// CHECK:                 vector.store
func.func @channels(%one1: i1, %one2: i1, %x: memref<?x?x?xf32>, %z: memref<?x?x?xf32>, %y: memref<?x?x?xf32>) {
  %c0 = arith.constant 0 : index
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : memref<?x?x?xf32>) outs(%y : memref<?x?x?xf32>) {
  ^bb0(%a: f32, %out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %k = linalg.index 2 : index
    %pj = arith.select %one1, %c0, %j : index
    %pk = arith.select %one2, %c0, %k : index
    %v = memref.load %z[%i, %pj, %pk] : memref<?x?x?xf32>
    %s = arith.addf %a, %v : f32
    linalg.yield %s : f32
  }
  return
}

// What a branch reads is no part of the places that are known: the axes stay
// two.
// CHECK-LABEL: func @branch
// CHECK-NOT:     memref.reinterpret_cast
// CHECK:         return
func.func @branch(%one: i1, %p: i1, %x: memref<?x?x?xf32>, %z: memref<?x?x?xf32>, %y: memref<?x?x?xf32>) {
  %c0 = arith.constant 0 : index
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel", "parallel"]}
      outs(%y : memref<?x?x?xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %k = linalg.index 2 : index
    %pj = arith.select %one, %c0, %j : index
    %pk = arith.select %one, %c0, %k : index
    %v = memref.load %z[%i, %pj, %pk] : memref<?x?x?xf32>
    %w = scf.if %p -> f32 {
      %own = memref.load %x[%i, %j, %k] : memref<?x?x?xf32>
      scf.yield %own : f32
    } else {
      scf.yield %v : f32
    }
    %s = arith.addf %v, %w : f32
    linalg.yield %s : f32
  }
  return
}

#two = affine_map<(d0, d1) -> (d0, d1)>

// Of two axes as well, where the rows are short: %x has all elements or one,
// and so has %z, as a run knows.
// CHECK-LABEL: func @two_axes
// CHECK:         arith.cmpi ult, %{{.*}}, %c256{{.*}} : index
// CHECK:         %[[X:.*]] = arith.select %[[JOINED:.*]], %{{.*}}, %arg1 : i1
// CHECK:         %[[Z:.*]] = arith.select %[[JOINED]], %{{.*}}, %arg3 : i1
// CHECK-COUNT-3: memref.reinterpret_cast
// CHECK:         scf.for
// CHECK:           scf.if %[[X]] {
// CHECK:             scf.if %[[Z]] {
// CHECK:               scf.for
// CHECK-NOT:             scf.if
// CHECK:                 vector.store
func.func @two_axes(%x1: i1, %x2: i1, %z1: i1, %z2: i1, %x: memref<?x?xf32>, %z: memref<?x?xf32>, %y: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  linalg.generic {indexing_maps = [#two], iterator_types = ["parallel", "parallel"]}
      outs(%y : memref<?x?xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %xi = arith.select %x1, %c0, %i : index
    %xj = arith.select %x2, %c0, %j : index
    %zi = arith.select %z1, %c0, %i : index
    %zj = arith.select %z2, %c0, %j : index
    %a = memref.load %x[%xi, %xj] : memref<?x?xf32>
    %b = memref.load %z[%zi, %zj] : memref<?x?xf32>
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  }
  return
}
