// RUN: loopc-opt %s -tensor-fuse-elementwise -split-input-file | FileCheck %s

// Pairs that are put in order: both results are computed at one go, of the two
// elements of each pair, without a loop along it.

// CHECK-LABEL: func.func @pairs
// CHECK-DAG: %[[A:.*]] = tensor.extract_slice %{{.*}}[0, 0] [512, 1] [1, 1]
// CHECK-DAG: %[[B:.*]] = tensor.extract_slice %{{.*}}[0, 1] [512, 1] [1, 1]
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel"]} ins(%[[A]], %[[B]]
// CHECK-DAG: arith.minimumf
// CHECK-DAG: arith.maximumf
// CHECK: linalg.yield %{{.*}}, %{{.*}} : f32, f32
// CHECK-NOT: reduction
#row = affine_map<(d0, d1) -> (d0, d1)>
#one = affine_map<(d0, d1) -> (d0)>
func.func @pairs(%x: tensor<512x2xf32>) -> (tensor<512xf32>, tensor<512xf32>) {
  %inf = arith.constant 0x7F800000 : f32
  %minf = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<512xf32>
  %f = linalg.fill ins(%inf : f32) outs(%e : tensor<512xf32>) -> tensor<512xf32>
  %g = linalg.fill ins(%minf : f32) outs(%e : tensor<512xf32>) -> tensor<512xf32>
  %a = linalg.generic {indexing_maps = [#row, #one], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<512x2xf32>) outs(%f : tensor<512xf32>) {
  ^bb0(%in: f32, %out: f32):
    %m = arith.minimumf %in, %out fastmath<nsz> : f32
    linalg.yield %m : f32
  } -> tensor<512xf32>
  %b = linalg.generic {indexing_maps = [#row, #one], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<512x2xf32>) outs(%g : tensor<512xf32>) {
  ^bb0(%in: f32, %out: f32):
    %m = arith.maximumf %in, %out fastmath<nsz> : f32
    linalg.yield %m : f32
  } -> tensor<512xf32>
  return %a, %b : tensor<512xf32>, tensor<512xf32>
}

// -----

// Distances of points, of which those along the rows are read for each column:
// one copy lies coordinate by coordinate.

// CHECK-LABEL: func.func @distances
// CHECK: %[[T:.*]] = linalg.transpose ins(%{{.*}} : tensor<?x3xf32>) {{.*}} {loopc.stored}
// CHECK-DAG: tensor.extract_slice %[[T]][0, 0]
// CHECK-DAG: tensor.extract_slice %[[T]][2, 0]
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]}
// CHECK-COUNT-3: arith.subf
// CHECK: math.sqrt
#p = affine_map<(d0, d1, d2) -> (d0, d2)>
#q = affine_map<(d0, d1, d2) -> (d1, d2)>
#d = affine_map<(d0, d1, d2) -> (d0, d1)>
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @distances(%x: tensor<64x3xf32>, %y: tensor<?x3xf32>, %e: tensor<64x?xf32>) -> tensor<64x?xf32> {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x?xf32>) -> tensor<64x?xf32>
  %s = linalg.generic {indexing_maps = [#p, #q, #d], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : tensor<64x3xf32>, tensor<?x3xf32>) outs(%f : tensor<64x?xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %1 = arith.subf %a, %b : f32
    %2 = arith.mulf %1, %1 : f32
    %3 = arith.addf %2, %out fastmath<reassoc> : f32
    linalg.yield %3 : f32
  } -> tensor<64x?xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<64x?xf32>) outs(%e : tensor<64x?xf32>) {
  ^bb0(%in: f32, %out: f32):
    %1 = math.sqrt %in : f32
    linalg.yield %1 : f32
  } -> tensor<64x?xf32>
  return %r : tensor<64x?xf32>
}

// -----

// Forces are rows of three sums: each is a sum of its own.

// CHECK-LABEL: func.func @forces
// CHECK: linalg.transpose ins(%{{.*}} : tensor<64x3xf32>)
// CHECK: %[[F:.*]]:3 = linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]}
// CHECK: tensor.insert_slice %[[F]]#0 into %{{.*}}[0, 0] [1, 64] [1, 1]
// CHECK: tensor.insert_slice %[[F]]#2 into %{{.*}}[2, 0] [1, 64] [1, 1]
// CHECK: linalg.transpose {{.*}} outs(%{{.*}} : tensor<64x3xf32>)
#w = affine_map<(i, j, c) -> (i, j)>
#pj = affine_map<(i, j, c) -> (j, c)>
#pi = affine_map<(i, j, c) -> (i, c)>
func.func @forces(%w: tensor<64x64xf32>, %x: tensor<64x3xf32>) -> tensor<64x3xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x3xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x3xf32>) -> tensor<64x3xf32>
  %s = linalg.generic {indexing_maps = [#w, #pj, #pi, #pi], iterator_types = ["parallel", "reduction", "parallel"]} ins(%w, %x, %x : tensor<64x64xf32>, tensor<64x3xf32>, tensor<64x3xf32>) outs(%f : tensor<64x3xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %out: f32):
    %1 = arith.subf %b, %c : f32
    %2 = arith.mulf %a, %1 : f32
    %3 = arith.addf %2, %out fastmath<reassoc> : f32
    linalg.yield %3 : f32
  } -> tensor<64x3xf32>
  return %s : tensor<64x3xf32>
}

// -----

// Products of matrices have kernels of their own, and longer rows are vectors.

// CHECK-LABEL: func.func @others
// CHECK-NOT: extract_slice
// CHECK: iterator_types = ["parallel", "parallel", "reduction"]
// CHECK-NOT: extract_slice
// CHECK: iterator_types = ["parallel", "reduction"]
#a = affine_map<(d0, d1, d2) -> (d0, d2)>
#b = affine_map<(d0, d1, d2) -> (d1, d2)>
#c = affine_map<(d0, d1, d2) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0, d1)>
#one = affine_map<(d0, d1) -> (d0)>
func.func @others(%x: tensor<64x3xf32>, %y: tensor<32x3xf32>, %f: tensor<64x32xf32>, %z: tensor<64x8xf32>, %g: tensor<64xf32>) -> (tensor<64x32xf32>, tensor<64xf32>) {
  %s = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : tensor<64x3xf32>, tensor<32x3xf32>) outs(%f : tensor<64x32xf32>) {
  ^bb0(%p: f32, %q: f32, %out: f32):
    %1 = arith.mulf %p, %q : f32
    %2 = arith.addf %out, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<64x32xf32>
  %t = linalg.generic {indexing_maps = [#row, #one], iterator_types = ["parallel", "reduction"]} ins(%z : tensor<64x8xf32>) outs(%g : tensor<64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %1 = arith.addf %in, %out : f32
    linalg.yield %1 : f32
  } -> tensor<64xf32>
  return %s, %t : tensor<64x32xf32>, tensor<64xf32>
}
