// RUN: loopc-opt %s --tensor-fuse-elementwise | FileCheck %s

// The largest of each column, and where it is, in one pass over what is computed
// on the way.

// CHECK-LABEL: func.func @largest_of_columns
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]
// CHECK-NEXT: ^bb0(%{{.*}}: f32, %{{.*}}: f32, %[[M:.*]]: f32, %[[I:.*]]: i32):
// CHECK-DAG: %[[X:.*]] = arith.addf
// CHECK-DAG: %[[B:.*]] = arith.cmpf ugt, %[[X]], %[[M]]
// CHECK-DAG: %[[N:.*]] = arith.cmpf ord, %[[M]], %[[M]]
// CHECK-DAG: %[[G:.*]] = arith.andi %[[B]], %[[N]]
// CHECK-DAG: arith.maximumf
// CHECK-DAG: arith.select %[[G]], %{{.*}}, %[[I]]
// CHECK-NOT: linalg.generic
#x = affine_map<(d0, d1) -> (d1, d0)>
#id = affine_map<(d0, d1) -> (d0, d1)>
#v = affine_map<(d0, d1) -> (d0)>
func.func @largest_of_columns(%a: tensor<64xf32>, %t: tensor<64x?xf32>, %e: tensor<64x?xf32>, %n: index) -> (tensor<?xf32>, tensor<?xi32>) {
  %minf = arith.constant 0xFF800000 : f32
  %many = arith.constant 64 : i32
  %ef = tensor.empty(%n) : tensor<?xf32>
  %ei = tensor.empty(%n) : tensor<?xi32>
  %x = linalg.generic {indexing_maps = [#v, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%a, %t : tensor<64xf32>, tensor<64x?xf32>) outs(%e : tensor<64x?xf32>) {
  ^bb0(%p: f32, %q: f32, %out: f32):
    %1 = arith.addf %p, %q : f32
    linalg.yield %1 : f32
  } -> tensor<64x?xf32>
  %f = linalg.fill ins(%minf : f32) outs(%ef : tensor<?xf32>) -> tensor<?xf32>
  %m = linalg.generic {indexing_maps = [#x, #v], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<64x?xf32>) outs(%f : tensor<?xf32>) {
  ^bb0(%in: f32, %out: f32):
    %1 = arith.maximumf %in, %out fastmath<nsz> : f32
    linalg.yield %1 : f32
  } -> tensor<?xf32>
  %g = linalg.fill ins(%many : i32) outs(%ei : tensor<?xi32>) -> tensor<?xi32>
  %i = linalg.generic {indexing_maps = [#x, #v, #v], iterator_types = ["parallel", "reduction"]} ins(%x, %m : tensor<64x?xf32>, tensor<?xf32>) outs(%g : tensor<?xi32>) {
  ^bb0(%in: f32, %best: f32, %out: i32):
    %1 = arith.cmpf oeq, %in, %best : f32
    %2 = arith.cmpf uno, %in, %in : f32
    %3 = arith.ori %1, %2 : i1
    %4 = linalg.index 1 : index
    %5 = arith.index_cast %4 : index to i32
    %6 = arith.select %3, %5, %many : i32
    %7 = arith.minsi %6, %out : i32
    linalg.yield %7 : i32
  } -> tensor<?xi32>
  return %m, %i : tensor<?xf32>, tensor<?xi32>
}

// What others give, or what is there before, may be in front of the first
// place: the places are looked for by themselves.
// CHECK-LABEL: func.func @less_than_places
// CHECK: linalg.generic {{.*}}
// CHECK: arith.maximumf
// CHECK: linalg.generic {{.*}}
// CHECK: arith.minsi
// CHECK: linalg.generic {{.*}}
// CHECK: arith.minsi
// CHECK: return
func.func @less_than_places(%x: tensor<64x?xf32>, %n: index) -> (tensor<?xf32>, tensor<?xi32>, tensor<?xi32>) {
  %minf = arith.constant 0xFF800000 : f32
  %many = arith.constant 64 : i32
  %less = arith.constant -1 : i32
  %ef = tensor.empty(%n) : tensor<?xf32>
  %ei = tensor.empty(%n) : tensor<?xi32>
  %f = linalg.fill ins(%minf : f32) outs(%ef : tensor<?xf32>) -> tensor<?xf32>
  %m = linalg.generic {indexing_maps = [#x, #v], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<64x?xf32>) outs(%f : tensor<?xf32>) {
  ^bb0(%in: f32, %out: f32):
    %1 = arith.maximumf %in, %out : f32
    linalg.yield %1 : f32
  } -> tensor<?xf32>
  %g = linalg.fill ins(%many : i32) outs(%ei : tensor<?xi32>) -> tensor<?xi32>
  %i = linalg.generic {indexing_maps = [#x, #v, #v], iterator_types = ["parallel", "reduction"]} ins(%x, %m : tensor<64x?xf32>, tensor<?xf32>) outs(%g : tensor<?xi32>) {
  ^bb0(%in: f32, %best: f32, %out: i32):
    %1 = arith.cmpf oeq, %in, %best : f32
    %2 = arith.cmpf uno, %in, %in : f32
    %3 = arith.ori %1, %2 : i1
    %4 = linalg.index 1 : index
    %5 = arith.index_cast %4 : index to i32
    %6 = arith.select %3, %5, %less : i32
    %7 = arith.minsi %6, %out : i32
    linalg.yield %7 : i32
  } -> tensor<?xi32>
  %h = linalg.fill ins(%less : i32) outs(%ei : tensor<?xi32>) -> tensor<?xi32>
  %j = linalg.generic {indexing_maps = [#x, #v, #v], iterator_types = ["parallel", "reduction"]} ins(%x, %m : tensor<64x?xf32>, tensor<?xf32>) outs(%h : tensor<?xi32>) {
  ^bb0(%in: f32, %best: f32, %out: i32):
    %1 = arith.cmpf oeq, %in, %best : f32
    %2 = arith.cmpf uno, %in, %in : f32
    %3 = arith.ori %1, %2 : i1
    %4 = linalg.index 1 : index
    %5 = arith.index_cast %4 : index to i32
    %6 = arith.select %3, %5, %many : i32
    %7 = arith.minsi %6, %out : i32
    linalg.yield %7 : i32
  } -> tensor<?xi32>
  return %m, %i, %j : tensor<?xf32>, tensor<?xi32>, tensor<?xi32>
}

// The extent of something else may be in front of the first place, which it is
// compared with behind the search; without elements it is what was there.
// CHECK-LABEL: func.func @other_extents(
// CHECK-SAME: %[[X:[^:]+]]: tensor<?x?xf32>, %[[Y:[^:]+]]: tensor<?xf32>
// CHECK-DAG: %[[N:.*]] = tensor.dim %[[Y]]
// CHECK-DAG: %[[OTHER:.*]] = arith.index_cast %[[N]] : index to i64
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]
// CHECK: arith.maximumf
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel"]
// CHECK-NEXT: ^bb0(%[[I:.*]]: i64):
// CHECK-NEXT: %[[LEAST:.*]] = arith.minsi %[[I]], %[[OTHER]] : i64
// CHECK-NEXT: arith.select %{{.*}}, %[[OTHER]], %[[LEAST]] : i64
func.func @other_extents(%x: tensor<?x?xf32>, %y: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xi64>) {
  %minf = arith.constant 0xFF800000 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %m = tensor.dim %y, %c0 : tensor<?xf32>
  %other = arith.index_cast %m : index to i64
  %ef = tensor.empty(%n) : tensor<?xf32>
  %ei = tensor.empty(%n) : tensor<?xi64>
  %f = linalg.fill ins(%minf : f32) outs(%ef : tensor<?xf32>) -> tensor<?xf32>
  %most = linalg.generic {indexing_maps = [#x, #v], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x?xf32>) outs(%f : tensor<?xf32>) {
  ^bb0(%in: f32, %out: f32):
    %1 = arith.maximumf %in, %out : f32
    linalg.yield %1 : f32
  } -> tensor<?xf32>
  %g = linalg.fill ins(%other : i64) outs(%ei : tensor<?xi64>) -> tensor<?xi64>
  %i = linalg.generic {indexing_maps = [#x, #v, #v], iterator_types = ["parallel", "reduction"]} ins(%x, %most : tensor<?x?xf32>, tensor<?xf32>) outs(%g : tensor<?xi64>) {
  ^bb0(%in: f32, %best: f32, %out: i64):
    %1 = arith.cmpf oeq, %in, %best : f32
    %2 = arith.cmpf uno, %in, %in : f32
    %3 = arith.ori %1, %2 : i1
    %4 = linalg.index 1 : index
    %5 = arith.index_cast %4 : index to i64
    %6 = arith.select %3, %5, %other : i64
    %7 = arith.minsi %6, %out : i64
    linalg.yield %7 : i64
  } -> tensor<?xi64>
  return %most, %i : tensor<?xf32>, tensor<?xi64>
}
