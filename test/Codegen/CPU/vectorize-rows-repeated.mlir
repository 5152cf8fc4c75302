// RUN: loopc-opt %s --pass-pipeline='builtin.module(loopc-set-target{vector-bits=512 mask-bits=8},func.func(cpu-vectorize-rows,canonicalize,cse))' | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>

// Each element of a row stands four times: a short vector is read, and each of
// its elements repeated. Of the rest as many are read as are needed.
// CHECK-LABEL: func @repeated(
// CHECK-SAME: %[[X:[^:]+]]: memref<?x?xf32>
// CHECK-DAG: %[[FOUR:.*]] = arith.constant 4 : index
// CHECK-DAG: %[[THREE:.*]] = arith.constant 3 : index
// CHECK: scf.for %[[I:.*]] = {{.*}}
// CHECK: scf.for %[[J:.*]] = {{.*}}
// CHECK-DAG: %[[ROW:.*]] = arith.divui %[[I]], %[[THREE]]
// CHECK-DAG: %[[COLUMN:.*]] = arith.divui %[[J]], %[[FOUR]]
// CHECK: %[[FEW:.*]] = vector.load %[[X]][%[[ROW]], %[[COLUMN]]] : memref<?x?xf32>, vector<4xf32>
// CHECK: vector.shuffle %[[FEW]], %[[FEW]] [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3]
// CHECK: vector.store %{{.*}}[%[[I]], %[[J]]]
// CHECK: scf.if
// CHECK: %[[MORE:.*]] = arith.addi %{{.*}}, %[[THREE]]
// CHECK: %[[COUNT:.*]] = arith.divui %[[MORE]], %[[FOUR]]
// CHECK: %[[MASK:.*]] = vector.create_mask %[[COUNT]] : vector<4xi1>
// CHECK: vector.maskedload %[[X]]{{.*}}, %[[MASK]]
// CHECK: vector.maskedstore {{.*}} vector<16xf32>
// CHECK-NOT: vector.gather
func.func @repeated(%x: memref<?x?xf32>, %y: memref<?x?xf32>) {
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%y : memref<?x?xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %row = arith.divui %i, %c3 : index
    %column = arith.divui %j, %c4 : index
    %e = memref.load %x[%row, %column] : memref<?x?xf32>
    linalg.yield %e : f32
  }
  return
}

// Three times is no part of a vector.
// CHECK-LABEL: func @thrice(
// CHECK: linalg.generic
func.func @thrice(%x: memref<?xf32>, %y: memref<?xf32>) {
  %c3 = arith.constant 3 : index
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%y : memref<?xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %at = arith.divui %i, %c3 : index
    %e = memref.load %x[%at] : memref<?xf32>
    linalg.yield %e : f32
  }
  return
}

// What has one number along the last axis, or as many as the result has, is that
// number for all lanes or neighbours.
// CHECK-LABEL: func @one_or_all(
// CHECK-SAME: %[[X:[^:]+]]: memref<?x?xf32>, %[[ONE:[^:]+]]: i1
// CHECK: %[[CASE:.*]] = arith.select %{{.*}}, %{{.*}}, %[[ONE]] : i1
// CHECK: %[[ROWS:.*]] = memref.reinterpret_cast %[[X]]
// CHECK: scf.if %[[CASE]] {
// CHECK:   %[[S:.*]] = memref.load %[[ROWS]][
// CHECK:   %[[LANES:.*]] = vector.broadcast %[[S]]
// CHECK:   vector.store %[[LANES]]
// CHECK:   vector.create_mask
// CHECK:   vector.maskedstore
// CHECK: } else {
// CHECK:   vector.load %[[ROWS]][
// CHECK:   vector.store
// CHECK:   vector.maskedload
// CHECK:   vector.maskedstore
func.func @one_or_all(%x: memref<?x?xf32>, %one: i1, %y: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%y : memref<?x?xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %at = arith.select %one, %c0, %j : index
    %v = memref.load %x[%i, %at] : memref<?x?xf32>
    linalg.yield %v : f32
  }
  return
}

// Rows of a buffer whose other rows are written, through a view of it, are read
// one by one.
// CHECK-LABEL: func @of_itself(
// CHECK-NOT: vector.
// CHECK: return
func.func @of_itself(%x: memref<8x64xf32>) {
  %part = memref.subview %x[1, 0] [7, 64] [1, 1] : memref<8x64xf32> to memref<7x64xf32, strided<[64, 1], offset: 64>>
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%part : memref<7x64xf32, strided<[64, 1], offset: 64>>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %v = memref.load %x[%i, %j] : memref<8x64xf32>
    linalg.yield %v : f32
  }
  return
}
