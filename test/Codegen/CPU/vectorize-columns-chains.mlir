// RUN: loopc-opt %s --pass-pipeline='builtin.module(loopc-set-target{vector-bits=256 mask-bits=32},func.func(cpu-vectorize-rows,canonicalize,cse))' | FileCheck %s

#rows = affine_map<(d0, d1) -> (d0, d1)>
#columns = affine_map<(d0, d1) -> (d1)>

// Rows of less than a vector are added to four sums in turns: none waits for
// the one before. What is left of them follows one by one.
// CHECK-LABEL: func @sums(
// CHECK: %[[FOUR:.*]]:4 = scf.for {{.*}} step %c4 iter_args(
// CHECK-COUNT-4: arith.addf {{.*}} : vector<8xf32>
// CHECK: scf.yield %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} :
// CHECK: %[[A:.*]] = arith.addf %[[FOUR]]#0, %[[FOUR]]#1
// CHECK: %[[B:.*]] = arith.addf %[[A]], %[[FOUR]]#2
// CHECK: %[[C:.*]] = arith.addf %[[B]], %[[FOUR]]#3
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[C]])
func.func @sums(%x: memref<?x7xf32>, %y: memref<7xf32>) {
  linalg.generic {indexing_maps = [#rows, #columns], iterator_types = ["reduction", "parallel"]}
      ins(%x : memref<?x7xf32>) outs(%y : memref<7xf32>) {
  ^bb0(%a: f32, %out: f32):
    %s = arith.addf %a, %out fastmath<reassoc> : f32
    linalg.yield %s : f32
  }
  return
}

// Sums whose order is given stay one.
// CHECK-LABEL: func @in_order(
// CHECK-NOT: step %c4 iter_args
// CHECK: return
func.func @in_order(%x: memref<?x7xf32>, %y: memref<7xf32>) {
  linalg.generic {indexing_maps = [#rows, #columns], iterator_types = ["reduction", "parallel"]}
      ins(%x : memref<?x7xf32>) outs(%y : memref<7xf32>) {
  ^bb0(%a: f32, %out: f32):
    %s = arith.addf %a, %out : f32
    linalg.yield %s : f32
  }
  return
}

// Columns that are more than a vector are all summed up in one order, those
// behind the last vector, too: equal columns stay equal.
// CHECK-LABEL: func @more_than_a_vector(
// CHECK-NOT: step %c4 iter_args
// CHECK: return
func.func @more_than_a_vector(%x: memref<?x20xf32>, %y: memref<20xf32>) {
  linalg.generic {indexing_maps = [#rows, #columns], iterator_types = ["reduction", "parallel"]}
      ins(%x : memref<?x20xf32>) outs(%y : memref<20xf32>) {
  ^bb0(%a: f32, %out: f32):
    %s = arith.addf %a, %out fastmath<reassoc> : f32
    linalg.yield %s : f32
  }
  return
}

// Where columns are, along whichever axis, is known in vectors, too; loops that
// change places keep their numbers.
#turned = affine_map<(d0, d1) -> (d1, d0)>
#first = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func @places(
// CHECK: scf.for %[[K:.*]] = %c0 to %{{.*}} step %c1 iter_args(
// CHECK: %[[PLACE:.*]] = vector.broadcast %{{.*}} : {{.*}} to vector<4x{{index|i64}}>
// CHECK: arith.minsi %{{.*}}, %{{.*}} : vector<4xi64>
func.func @places(%x: memref<?x?xf32>, %least: memref<?xf32>, %i: memref<?xi64>, %most: i64) {
  linalg.generic {indexing_maps = [#turned, #first, #first], iterator_types = ["parallel", "reduction"]}
      ins(%x, %least : memref<?x?xf32>, memref<?xf32>) outs(%i : memref<?xi64>) {
  ^bb0(%a: f32, %b: f32, %out: i64):
    %is = arith.cmpf oeq, %a, %b : f32
    %k = linalg.index 1 : index
    %n = arith.index_cast %k : index to i64
    %place = arith.select %is, %n, %most : i64
    %m = arith.minsi %place, %out : i64
    linalg.yield %m : i64
  }
  return
}
