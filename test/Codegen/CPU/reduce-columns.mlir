// RUN: loopc-opt %s --split-input-file --cpu-reduce-columns | FileCheck %s

// Distances of points to centres, of which only the least of each point, and
// its place, is asked for: points are neighbours.

#x = affine_map<(d0, d1, d2) -> (d0, d2)>
#c = affine_map<(d0, d1, d2) -> (d1, d2)>
#far = affine_map<(d0, d1, d2) -> (d0, d1)>
#all = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// CHECK-DAG: #[[X:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-DAG: #[[C:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[FAR:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-DAG: #[[TURNED:.*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-DAG: #[[ROW:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func @known(
// CHECK-NOT: scf.if
// CHECK: %[[FAR_COLUMNS:.*]] = linalg.generic {indexing_maps = [#[[X]], #[[C]], #[[FAR]]], iterator_types = ["parallel", "parallel", "reduction"]}
// CHECK-SAME: outs(%{{.*}} : tensor<8x4096xf32>)
// CHECK: %[[NEAR:.*]]:2 = linalg.generic {indexing_maps = [#[[TURNED]], #[[ROW]], #[[ROW]]]
// CHECK-SAME: ins(%[[FAR_COLUMNS]] : tensor<8x4096xf32>)
// CHECK: linalg.index 1
// CHECK: %[[PLACES:.*]] = linalg.generic {{.*}} ins(%[[NEAR]]#1 : tensor<4096xi32>)
// CHECK: arith.extsi
// CHECK: return %[[PLACES]]
func.func @known(%x: tensor<4096x4xf32>, %c: tensor<8x4xf32>) -> tensor<4096xi64> {
  %zero = arith.constant 0.0 : f32
  %inf = arith.constant 0x7F800000 : f32
  %most = arith.constant 8 : i64
  %e = tensor.empty() : tensor<4096x8xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%e : tensor<4096x8xf32>) -> tensor<4096x8xf32>
  %far = linalg.generic {indexing_maps = [#x, #c, #far], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %c : tensor<4096x4xf32>, tensor<8x4xf32>) outs(%zeros : tensor<4096x8xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %gap = arith.subf %a, %b : f32
    %square = arith.mulf %gap, %gap : f32
    %sum = arith.addf %square, %out fastmath<reassoc> : f32
    linalg.yield %sum : f32
  } -> tensor<4096x8xf32>
  %f = tensor.empty() : tensor<4096xf32>
  %infs = linalg.fill ins(%inf : f32) outs(%f : tensor<4096xf32>) -> tensor<4096xf32>
  %least = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%far : tensor<4096x8xf32>) outs(%infs : tensor<4096xf32>) {
  ^bb0(%a: f32, %out: f32):
    %m = arith.minimumf %a, %out : f32
    linalg.yield %m : f32
  } -> tensor<4096xf32>
  %g = tensor.empty() : tensor<4096xi64>
  %mosts = linalg.fill ins(%most : i64) outs(%g : tensor<4096xi64>) -> tensor<4096xi64>
  %first = linalg.generic {indexing_maps = [#all, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%far, %least : tensor<4096x8xf32>, tensor<4096xf32>) outs(%mosts : tensor<4096xi64>) {
  ^bb0(%a: f32, %b: f32, %out: i64):
    %same = arith.cmpf oeq, %a, %b : f32
    %nan = arith.cmpf uno, %a, %a : f32
    %is = arith.ori %same, %nan : i1
    %k = linalg.index 1 : index
    %n = arith.index_cast %k : index to i64
    %place = arith.select %is, %n, %most : i64
    %m = arith.minsi %place, %out : i64
    linalg.yield %m : i64
  } -> tensor<4096xi64>
  return %first : tensor<4096xi64>
}

// -----

// The run knows how long rows are, and how many. Axes that a reshape has made
// are left out.

#x = affine_map<(d0, d1, d2) -> (d0, 0, d2)>
#c = affine_map<(d0, d1, d2) -> (d1, d2)>
#far = affine_map<(d0, d1, d2) -> (d0, d1)>
#all = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// CHECK-LABEL: func @open(
// CHECK-SAME: %[[X:.*]]: tensor<?x?xf32>, %[[C:.*]]: tensor<?x?xf32>
// CHECK: %[[SHORT:.*]] = arith.cmpi ule, %{{.*}}, %c32
// CHECK: %[[MANY:.*]] = arith.cmpi uge, %{{.*}}, %c64
// CHECK: %[[BOTH:.*]] = arith.andi %[[SHORT]], %[[MANY]]
// CHECK: scf.if %[[BOTH]]
// CHECK: linalg.generic {{.*}} ins(%[[X]], %[[C]] :
// CHECK: else
// CHECK: linalg.fill
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[C]] : tensor<?x1x?xf32>,
func.func @open(%x: tensor<?x?xf32>, %c: tensor<?x?xf32>, %n: index, %k: index, %d: index) -> tensor<?xf32> {
  %zero = arith.constant 0.0 : f32
  %inf = arith.constant 0x7F800000 : f32
  %rows = tensor.expand_shape %x [[0, 1], [2]] output_shape [%n, 1, %d] : tensor<?x?xf32> into tensor<?x1x?xf32>
  %e = tensor.empty(%n, %k) : tensor<?x?xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %far = linalg.generic {indexing_maps = [#x, #c, #far], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%rows, %c : tensor<?x1x?xf32>, tensor<?x?xf32>) outs(%zeros : tensor<?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %gap = arith.subf %a, %b : f32
    %square = arith.mulf %gap, %gap : f32
    %sum = arith.addf %square, %out fastmath<reassoc> : f32
    linalg.yield %sum : f32
  } -> tensor<?x?xf32>
  %f = tensor.empty(%n) : tensor<?xf32>
  %infs = linalg.fill ins(%inf : f32) outs(%f : tensor<?xf32>) -> tensor<?xf32>
  %least = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%far : tensor<?x?xf32>) outs(%infs : tensor<?xf32>) {
  ^bb0(%a: f32, %out: f32):
    %m = arith.minimumf %a, %out : f32
    linalg.yield %m : f32
  } -> tensor<?xf32>
  return %least : tensor<?xf32>
}

// -----

// Rows that somebody reads as they are stay; long ones, and few.

#x = affine_map<(d0, d1, d2) -> (d0, d2)>
#c = affine_map<(d0, d1, d2) -> (d1, d2)>
#far = affine_map<(d0, d1, d2) -> (d0, d1)>
#all = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// CHECK-LABEL: func @read(
// CHECK-NOT: tensor<8x4096xf32>
// CHECK: return
func.func @read(%x: tensor<4096x4xf32>, %c: tensor<8x4xf32>, %infs: tensor<4096xf32>) -> (tensor<4096xf32>, tensor<4096x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096x8xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%e : tensor<4096x8xf32>) -> tensor<4096x8xf32>
  %far = linalg.generic {indexing_maps = [#x, #c, #far], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %c : tensor<4096x4xf32>, tensor<8x4xf32>) outs(%zeros : tensor<4096x8xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %p = arith.mulf %a, %b : f32
    %sum = arith.addf %p, %out fastmath<reassoc> : f32
    linalg.yield %sum : f32
  } -> tensor<4096x8xf32>
  %least = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%far : tensor<4096x8xf32>) outs(%infs : tensor<4096xf32>) {
  ^bb0(%a: f32, %out: f32):
    %m = arith.minimumf %a, %out : f32
    linalg.yield %m : f32
  } -> tensor<4096xf32>
  return %least, %far : tensor<4096xf32>, tensor<4096x8xf32>
}

// CHECK-LABEL: func @few(
// CHECK-NOT: tensor<8x16xf32>
// CHECK: return
func.func @few(%x: tensor<16x4xf32>, %c: tensor<8x4xf32>, %infs: tensor<16xf32>) -> tensor<16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x8xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%e : tensor<16x8xf32>) -> tensor<16x8xf32>
  %far = linalg.generic {indexing_maps = [#x, #c, #far], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %c : tensor<16x4xf32>, tensor<8x4xf32>) outs(%zeros : tensor<16x8xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %p = arith.mulf %a, %b : f32
    %sum = arith.addf %p, %out fastmath<reassoc> : f32
    linalg.yield %sum : f32
  } -> tensor<16x8xf32>
  %least = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%far : tensor<16x8xf32>) outs(%infs : tensor<16xf32>) {
  ^bb0(%a: f32, %out: f32):
    %m = arith.minimumf %a, %out : f32
    linalg.yield %m : f32
  } -> tensor<16xf32>
  return %least : tensor<16xf32>
}

// -----

// Rows times a matrix whose rows are loaded as vectors stay as they are; where
// the other operand has the rows of the result in its last axis, columns are as
// good.

#x = affine_map<(d0, d1, d2) -> (d0, d2)>
#xt = affine_map<(d0, d1, d2) -> (d2, d0)>
#w = affine_map<(d0, d1, d2) -> (d2, d1)>
#far = affine_map<(d0, d1, d2) -> (d0, d1)>
#all = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// CHECK-LABEL: func @product(
// CHECK-NOT: scf.if
// CHECK-NOT: tensor<10x?xf32>
// CHECK: return
func.func @product(%x: tensor<?x24xf32>, %w: tensor<24x10xf32>, %zeros: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<?x10xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<?x10xf32>) -> tensor<?x10xf32>
  %far = linalg.generic {indexing_maps = [#x, #w, #far], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<?x24xf32>, tensor<24x10xf32>) outs(%start : tensor<?x10xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %p = arith.mulf %a, %b : f32
    %sum = arith.addf %p, %out fastmath<reassoc> : f32
    linalg.yield %sum : f32
  } -> tensor<?x10xf32>
  %near = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%far : tensor<?x10xf32>) outs(%zeros : tensor<?xf32>) {
  ^bb0(%a: f32, %out: f32):
    %sum = arith.addf %a, %out fastmath<reassoc> : f32
    linalg.yield %sum : f32
  } -> tensor<?xf32>
  return %near : tensor<?xf32>
}

// CHECK-LABEL: func @turned_operand(
// CHECK: linalg.fill {{.*}} -> tensor<10x4096xf32>
// CHECK: return
func.func @turned_operand(%x: tensor<24x4096xf32>, %w: tensor<24x10xf32>, %zeros: tensor<4096xf32>) -> tensor<4096xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096x10xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<4096x10xf32>) -> tensor<4096x10xf32>
  %far = linalg.generic {indexing_maps = [#xt, #w, #far], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<24x4096xf32>, tensor<24x10xf32>) outs(%start : tensor<4096x10xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %p = arith.mulf %a, %b : f32
    %sum = arith.addf %p, %out fastmath<reassoc> : f32
    linalg.yield %sum : f32
  } -> tensor<4096x10xf32>
  %near = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%far : tensor<4096x10xf32>) outs(%zeros : tensor<4096xf32>) {
  ^bb0(%a: f32, %out: f32):
    %sum = arith.addf %a, %out fastmath<reassoc> : f32
    linalg.yield %sum : f32
  } -> tensor<4096xf32>
  return %near : tensor<4096xf32>
}
