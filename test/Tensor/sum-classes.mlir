// RUN: loopc-opt %s --split-input-file --tensor-sum-classes | FileCheck %s

// A OneHot times four columns, and its sums: classes are compared while the
// elements are summed up. The sums alone are those of a column of ones.

#element = affine_map<(d0, d1) -> (d1)>
#both = affine_map<(d0, d1) -> (d0, d1)>
#class = affine_map<(d0, d1) -> (d0)>
#hot = affine_map<(d0, d1, d2) -> (d0, d1)>
#x = affine_map<(d0, d1, d2) -> (d1, d2)>
#sums = affine_map<(d0, d1, d2) -> (d0, d2)>

// CHECK-DAG: #[[CLASS:.*]] = affine_map<(d0, d1, d2) -> (d0)>
// CHECK-DAG: #[[ELEMENT:.*]] = affine_map<(d0, d1, d2) -> (d2)>
// CHECK-DAG: #[[COLUMN:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-DAG: #[[SUMS:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: func @known(
// CHECK-NOT: scf.if
// CHECK: %[[NUMBERS:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<8xi32>)
// CHECK: %[[CLASSES:.*]] = linalg.generic {{.*}} ins(%{{.*}} : tensor<4096xi64>) outs(%{{.*}} : tensor<4096xi32>)
// CHECK: arith.cmpi ult
// CHECK: %[[ONES:.*]] = linalg.fill ins(%{{.*}} : f32) outs(%{{.*}} : tensor<5x4096xf32>)
// CHECK: %[[COLUMNS:.*]] = tensor.insert_slice %{{.*}} into %[[ONES]][0, 0] [4, 4096] [1, 1]
// CHECK: %[[ALL:.*]] = linalg.generic {indexing_maps = [#[[CLASS]], #[[ELEMENT]], #[[COLUMN]], #[[SUMS]]], iterator_types = ["parallel", "parallel", "reduction"]}
// CHECK-SAME: ins(%[[NUMBERS]], %[[CLASSES]], %[[COLUMNS]] : tensor<8xi32>, tensor<4096xi32>, tensor<5x4096xf32>) outs(%{{.*}} : tensor<8x5xf32>)
// CHECK: %[[IS:.*]] = arith.cmpi eq
// CHECK: %[[HOT:.*]] = arith.select %[[IS]]
// CHECK: arith.mulf %[[HOT]]
// CHECK: arith.addf
// CHECK-DAG: %[[PRODUCT:.*]] = tensor.extract_slice %[[ALL]][0, 0] [8, 4] [1, 1]
// CHECK-DAG: %[[COUNT:.*]] = tensor.extract_slice %[[ALL]][0, 4] [8, 1] [1, 1] : tensor<8x5xf32> to tensor<8xf32>
// CHECK: return %[[PRODUCT]], %[[COUNT]]
func.func @known(%c: tensor<4096xi64>, %x: tensor<4096x4xf32>) -> (tensor<8x4xf32>, tensor<8xf32>) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<8x4096xf32>
  %hot = linalg.generic {indexing_maps = [#element, #both], iterator_types = ["parallel", "parallel"]}
      ins(%c : tensor<4096xi64>) outs(%e : tensor<8x4096xf32>) {
  ^bb0(%in: i64, %out: f32):
    %k = linalg.index 0 : index
    %n = arith.index_cast %in : i64 to index
    %is = arith.cmpi eq, %k, %n : index
    %h = arith.select %is, %one, %zero : f32
    linalg.yield %h : f32
  } -> tensor<8x4096xf32>
  %s = tensor.empty() : tensor<8x4xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%s : tensor<8x4xf32>) -> tensor<8x4xf32>
  %sums = linalg.generic {indexing_maps = [#hot, #x, #sums], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%hot, %x : tensor<8x4096xf32>, tensor<4096x4xf32>) outs(%zeros : tensor<8x4xf32>) {
  ^bb0(%h: f32, %a: f32, %out: f32):
    %p = arith.mulf %h, %a : f32
    %t = arith.addf %out, %p fastmath<reassoc> : f32
    linalg.yield %t : f32
  } -> tensor<8x4xf32>
  %f = tensor.empty() : tensor<8xf32>
  %none = linalg.fill ins(%zero : f32) outs(%f : tensor<8xf32>) -> tensor<8xf32>
  %count = linalg.generic {indexing_maps = [#both, #class], iterator_types = ["parallel", "reduction"]}
      ins(%hot : tensor<8x4096xf32>) outs(%none : tensor<8xf32>) {
  ^bb0(%h: f32, %out: f32):
    %t = arith.addf %h, %out fastmath<reassoc> : f32
    linalg.yield %t : f32
  } -> tensor<8xf32>
  return %sums, %count : tensor<8x4xf32>, tensor<8xf32>
}

// -----

// Where only the run knows how many columns there are both forms are made. What
// loops do not change is turned in front of them.

#element = affine_map<(d0, d1) -> (d1)>
#both = affine_map<(d0, d1) -> (d0, d1)>
#hot = affine_map<(d0, d1, d2) -> (d0, d1)>
#x = affine_map<(d0, d1, d2) -> (d1, d2)>
#sums = affine_map<(d0, d1, d2) -> (d0, d2)>

// CHECK-LABEL: func @open(
// CHECK: %[[TURNED:.*]] = linalg.generic {{.*}} ins(%{{.*}} : tensor<?x?xf32>)
// CHECK: loop.loop
// CHECK: scf.if
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}}, %[[TURNED]] : tensor<16xi32>, tensor<?xi32>, tensor<?x?xf32>)
// CHECK: } else {
// CHECK: %[[HOT:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<16x?xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[HOT]], %{{.*}} : tensor<16x?xf32>, tensor<?x?xf32>)
func.func @open(%trips: i64, %c: tensor<?xi64>, %x: tensor<?x?xf32>, %s0: tensor<16x?xf32>) -> tensor<16x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %n = tensor.dim %c, %c0 : tensor<?xi64>
  %r = loop.loop (%i : i64, %go : i1) trips(%trips : i64) carried(%s = %s0 : tensor<16x?xf32>) {
    %e = tensor.empty(%n) : tensor<16x?xf32>
    %hot = linalg.generic {indexing_maps = [#element, #both], iterator_types = ["parallel", "parallel"]}
        ins(%c : tensor<?xi64>) outs(%e : tensor<16x?xf32>) {
    ^bb0(%in: i64, %out: f32):
      %k = linalg.index 0 : index
      %kk = arith.index_cast %k : index to i64
      %m = arith.addi %in, %i : i64
      %is = arith.cmpi eq, %m, %kk : i64
      %h = arith.select %is, %one, %zero : f32
      linalg.yield %h : f32
    } -> tensor<16x?xf32>
    %sums = linalg.generic {indexing_maps = [#hot, #x, #sums], iterator_types = ["parallel", "reduction", "parallel"]}
        ins(%hot, %x : tensor<16x?xf32>, tensor<?x?xf32>) outs(%s : tensor<16x?xf32>) {
    ^bb0(%h: f32, %a: f32, %out: f32):
      %p = arith.mulf %h, %a : f32
      %t = arith.addf %out, %p fastmath<reassoc> : f32
      linalg.yield %t : f32
    } -> tensor<16x?xf32>
    loop.yield while(%go : i1) carried(%sums : tensor<16x?xf32>)
  }
  return %r : tensor<16x?xf32>
}

// -----

// Of many columns the matrix is read often, and is stored; so it is where
// somebody else reads it.

#element = affine_map<(d0, d1) -> (d1)>
#both = affine_map<(d0, d1) -> (d0, d1)>
#hot = affine_map<(d0, d1, d2) -> (d0, d1)>
#x = affine_map<(d0, d1, d2) -> (d1, d2)>
#sums = affine_map<(d0, d1, d2) -> (d0, d2)>

// CHECK-LABEL: func @many(
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<8x4096xf32>)
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<8x4096xf32>, tensor<4096x64xf32>)
func.func @many(%c: tensor<4096xi64>, %x: tensor<4096x64xf32>, %s: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<8x4096xf32>
  %hot = linalg.generic {indexing_maps = [#element, #both], iterator_types = ["parallel", "parallel"]}
      ins(%c : tensor<4096xi64>) outs(%e : tensor<8x4096xf32>) {
  ^bb0(%in: i64, %out: f32):
    %k = linalg.index 0 : index
    %n = arith.index_cast %in : i64 to index
    %is = arith.cmpi eq, %k, %n : index
    %h = arith.select %is, %one, %zero : f32
    linalg.yield %h : f32
  } -> tensor<8x4096xf32>
  %sums = linalg.generic {indexing_maps = [#hot, #x, #sums], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%hot, %x : tensor<8x4096xf32>, tensor<4096x64xf32>) outs(%s : tensor<8x64xf32>) {
  ^bb0(%h: f32, %a: f32, %out: f32):
    %p = arith.mulf %h, %a : f32
    %t = arith.addf %out, %p fastmath<reassoc> : f32
    linalg.yield %t : f32
  } -> tensor<8x64xf32>
  return %sums : tensor<8x64xf32>
}

// -----

#element = affine_map<(d0, d1) -> (d1)>
#both = affine_map<(d0, d1) -> (d0, d1)>
#hot = affine_map<(d0, d1, d2) -> (d0, d1)>
#x = affine_map<(d0, d1, d2) -> (d1, d2)>
#sums = affine_map<(d0, d1, d2) -> (d0, d2)>

// CHECK-LABEL: func @returned(
// CHECK: %[[HOT:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<8x4096xf32>)
// CHECK: return %{{.*}}, %[[HOT]]
func.func @returned(%c: tensor<4096xi64>, %x: tensor<4096x4xf32>, %s: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4096xf32>) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<8x4096xf32>
  %hot = linalg.generic {indexing_maps = [#element, #both], iterator_types = ["parallel", "parallel"]}
      ins(%c : tensor<4096xi64>) outs(%e : tensor<8x4096xf32>) {
  ^bb0(%in: i64, %out: f32):
    %k = linalg.index 0 : index
    %n = arith.index_cast %in : i64 to index
    %is = arith.cmpi eq, %k, %n : index
    %h = arith.select %is, %one, %zero : f32
    linalg.yield %h : f32
  } -> tensor<8x4096xf32>
  %sums = linalg.generic {indexing_maps = [#hot, #x, #sums], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%hot, %x : tensor<8x4096xf32>, tensor<4096x4xf32>) outs(%s : tensor<8x4xf32>) {
  ^bb0(%h: f32, %a: f32, %out: f32):
    %p = arith.mulf %h, %a : f32
    %t = arith.addf %out, %p fastmath<reassoc> : f32
    linalg.yield %t : f32
  } -> tensor<8x4xf32>
  return %sums, %hot : tensor<8x4xf32>, tensor<8x4096xf32>
}
