// RUN: loopc-opt %s --pass-pipeline='builtin.module(func.func(loop-vectorize-rows{vector-bits=512 mask-bits=8},canonicalize,cse))' | FileCheck %s
// RUN: loopc-opt %s --pass-pipeline='builtin.module(func.func(loop-vectorize-rows{vector-bits=128 mask-bits=0}))' | FileCheck %s --check-prefix=NOMASK

// NOMASK-NOT: vector.

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d1)>
#column = affine_map<(d0, d1) -> (d0, 0)>
#sum = affine_map<(d0, d1) -> (d0)>
#turned = affine_map<(d0, d1) -> (d1, d0)>

// What a row has in common is read once a row; the rest is masked.
// CHECK-LABEL: func @broadcast(
// CHECK-SAME: %[[X:[^:]+]]: memref<?x?xf32>, %[[W:[^:]+]]: memref<?xf32>, %[[C:[^:]+]]: memref<?x1xf32>
// CHECK: %[[REST:.*]] = arith.remui %[[N:.*]], %{{.*}}
// CHECK: %[[WHOLE:.*]] = arith.subi %[[N]], %[[REST]]
// CHECK: scf.for %[[J:.*]] = %{{.*}} to %[[WHOLE]]
// CHECK-DAG: vector.load %[[X]][%[[I:.*]], %[[J]]] : memref<?x?xf32>, vector<16xf32>
// CHECK-DAG: vector.load %[[W]][%[[J]]]
// CHECK-DAG: %[[S:.*]] = memref.load %[[C]][%[[I]], %{{.*}}]
// CHECK: vector.broadcast %[[S]] : f32 to vector<16xf32>
// CHECK: math.exp {{.*}} : vector<16xf32>
// CHECK: vector.store
// CHECK: scf.if
// CHECK: %[[MASK:.*]] = vector.create_mask %[[REST]]
// CHECK: vector.maskedload %[[X]][%[[I]], %[[WHOLE]]], %[[MASK]]
// CHECK: vector.maskedstore %{{.*}}[%[[I]], %[[WHOLE]]], %[[MASK]]
func.func @broadcast(%x: memref<?x?xf32>, %w: memref<?xf32>, %c: memref<?x1xf32>, %y: memref<?x?xf32>) {
  linalg.generic {indexing_maps = [#id, #row, #column, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %w, %c : memref<?x?xf32>, memref<?xf32>, memref<?x1xf32>) outs(%y : memref<?x?xf32>) {
  ^bb0(%p: f32, %q: f32, %r: f32, %o: f32):
    %s = arith.mulf %q, %r : f32
    %e = math.exp %s : f32
    %t = arith.mulf %p, %e : f32
    linalg.yield %t : f32
  }
  return
}

// CHECK-LABEL: func @sum(
// CHECK: %[[NONE:.*]] = arith.constant dense<-0.000000e+00> : vector<16xf32>
// Four vectors at once, each with a sum of its own; then the others one by one.
// CHECK: %[[F:[^ ]+]]:4 = scf.for {{.*}} iter_args(%{{[^ ]+}} = %[[NONE]], %{{[^ ]+}} = %[[NONE]],
// CHECK-COUNT-4: vector.load
// CHECK: %[[AB:.*]] = arith.addf %[[F]]#0, %[[F]]#1 fastmath<reassoc>
// CHECK: %[[CD:.*]] = arith.addf %[[F]]#2, %[[F]]#3 fastmath<reassoc>
// CHECK: %[[ABCD:.*]] = arith.addf %[[AB]], %[[CD]] fastmath<reassoc>
// CHECK: %[[S:[^ ]+]] = scf.for {{.*}} iter_args(%[[A:[^ ]+]] = %[[ABCD]])
// CHECK: arith.addf {{.*}} fastmath<reassoc> : vector<16xf32>
// CHECK: %[[T:[^ ]+]] = scf.if
// CHECK: %[[J:.*]] = arith.addf %[[S]], %{{.*}}
// CHECK: arith.select %{{.*}}, %[[J]], %[[S]] : vector<16xi1>
// CHECK: %[[R:.*]] = vector.reduction <add>, %[[T]] fastmath<reassoc>
// CHECK: %[[B:.*]] = memref.load
// CHECK: %[[V:.*]] = arith.addf {{.*}} fastmath<reassoc> : f32
// CHECK: memref.store %[[V]]
func.func @sum(%x: memref<?x?xf32>, %y: memref<?xf32>) {
  linalg.generic {indexing_maps = [#id, #sum], iterator_types = ["parallel", "reduction"]} ins(%x : memref<?x?xf32>) outs(%y : memref<?xf32>) {
  ^bb0(%p: f32, %o: f32):
    %t = arith.addf %p, %o fastmath<reassoc> : f32
    linalg.yield %t : f32
  }
  return
}

// Sums in order, columns, division that may fail, nothing to broadcast.
// CHECK-LABEL: func @left_alone(
// CHECK-NOT: vector.
// CHECK: return
func.func @left_alone(%x: memref<?x?xf32>, %y: memref<?xf32>, %z: memref<?x?xf32>, %i: memref<?x?xi32>, %k: memref<?xi32>) {
  linalg.generic {indexing_maps = [#id, #sum], iterator_types = ["parallel", "reduction"]} ins(%x : memref<?x?xf32>) outs(%y : memref<?xf32>) {
  ^bb0(%p: f32, %o: f32):
    %t = arith.addf %p, %o : f32
    linalg.yield %t : f32
  }
  linalg.generic {indexing_maps = [#turned, #id], iterator_types = ["parallel", "parallel"]} ins(%x : memref<?x?xf32>) outs(%z : memref<?x?xf32>) {
  ^bb0(%p: f32, %o: f32):
    %t = arith.negf %p : f32
    linalg.yield %t : f32
  }
  linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]} ins(%k : memref<?xi32>) outs(%i : memref<?x?xi32>) {
  ^bb0(%p: i32, %o: i32):
    %t = arith.divsi %o, %p : i32
    linalg.yield %t : i32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : memref<?x?xf32>) outs(%z : memref<?x?xf32>) {
  ^bb0(%p: f32, %o: f32):
    %t = arith.negf %p : f32
    linalg.yield %t : f32
  }
  return
}

// Neighbours of a row are summed up to in memory, row by row.
// CHECK-LABEL: func @sum_of_columns(
// CHECK-SAME: %[[X:[^:]+]]: memref<?x?xf32>, %[[Y:[^:]+]]: memref<?xf32>
// CHECK: scf.for %[[I:[^ ]+]] =
// CHECK: scf.for %[[J:[^ ]+]] =
// CHECK-DAG: %[[V:.*]] = vector.load %[[X]][%[[I]], %[[J]]]
// CHECK-DAG: %[[S:.*]] = vector.load %[[Y]][%[[J]]]
// CHECK: %[[T:.*]] = arith.addf %[[V]], %[[S]] : vector<16xf32>
// CHECK: vector.store %[[T]], %[[Y]][%[[J]]]
func.func @sum_of_columns(%x: memref<?x?xf32>, %y: memref<?xf32>) {
  linalg.generic {indexing_maps = [#turned, #sum], iterator_types = ["parallel", "reduction"]} ins(%x : memref<?x?xf32>) outs(%y : memref<?xf32>) {
  ^bb0(%p: f32, %o: f32):
    %t = arith.addf %p, %o : f32
    linalg.yield %t : f32
  }
  return
}

// Functions that LLVM has for numbers only; the place of an element.
// CHECK-LABEL: func @sine(
// CHECK: scf.for %[[J:[^ ]+]] =
// CHECK-DAG: %[[FIRST:.*]] = vector.broadcast %[[J]] : index to vector<8xindex>
// CHECK-DAG: %[[STEPS:.*]] = vector.step : vector<8xindex>
// CHECK: arith.addi %[[FIRST]], %[[STEPS]] : vector<8xindex>
// CHECK: math.sin %{{.*}} : vector<8xf32>
func.func @sine(%x: memref<?xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%x : memref<?xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %k = arith.index_cast %i : index to i64
    %f = arith.sitofp %k : i64 to f32
    %t = math.sin %f : f32
    linalg.yield %t : f32
  }
  return
}
