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
// CHECK: %[[S:.*]] = scf.for {{.*}} iter_args(%[[A:.*]] = %[[NONE]])
// CHECK: arith.addf {{.*}} fastmath<reassoc> : vector<16xf32>
// CHECK: %[[T:.*]] = scf.if
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
