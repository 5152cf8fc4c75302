// RUN: loopc-opt %s --tensor-fuse-elementwise | FileCheck %s
// RUN: loopc-opt %s --loopc-set-target=chip=sm_80 --tensor-fuse-elementwise | FileCheck %s --check-prefix=KERNELS

#id = affine_map<(i, j) -> (i, j)>

// A column times a row, as a MatMul writes it, is added where it is computed.
// CHECK-LABEL: func @outer_product(
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "parallel"]
// CHECK: %[[P:.*]] = arith.mulf %{{.*}}, %{{.*}} fastmath<contract>
// CHECK: %[[Z:.*]] = arith.addf %{{.*}}, %{{.*}} fastmath<contract>
// CHECK: arith.addf %{{.*}}, %[[Z]] : f32
// CHECK-NOT: linalg.generic
// KERNELS-LABEL: func @outer_product(
// KERNELS: ["parallel", "parallel", "reduction"]
func.func @outer_product(%s: tensor<8x?xf32>, %a: tensor<8x1xf32>, %b: tensor<1x?xf32>, %n: index) -> tensor<8x?xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<8x?xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8x?xf32>) -> tensor<8x?xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<8x1xf32>, tensor<1x?xf32>) outs(%z : tensor<8x?xf32>) {
  ^bb0(%x: f32, %y: f32, %t: f32):
    %m = arith.mulf %x, %y fastmath<contract> : f32
    %w = arith.addf %t, %m fastmath<reassoc,contract> : f32
    linalg.yield %w : f32
  } -> tensor<8x?xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%s, %p : tensor<8x?xf32>, tensor<8x?xf32>) outs(%e : tensor<8x?xf32>) {
  ^bb0(%x: f32, %y: f32, %t: f32):
    %w = arith.addf %x, %y : f32
    linalg.yield %w : f32
  } -> tensor<8x?xf32>
  return %r : tensor<8x?xf32>
}

// A product of its own keeps the kernel that it has.
// CHECK-LABEL: func @alone(
// CHECK: ["parallel", "parallel", "reduction"]
func.func @alone(%a: tensor<8x1xf32>, %b: tensor<1x8xf32>) -> tensor<8x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<8x1xf32>, tensor<1x8xf32>) outs(%z : tensor<8x8xf32>) {
  ^bb0(%x: f32, %y: f32, %t: f32):
    %m = arith.mulf %x, %y fastmath<contract> : f32
    %w = arith.addf %t, %m fastmath<reassoc,contract> : f32
    linalg.yield %w : f32
  } -> tensor<8x8xf32>
  return %p : tensor<8x8xf32>
}

// What would be repeated if its extent were 1 is read as it is: the extent is
// the loop's.
// CHECK-LABEL: func @repeated(
// CHECK-NOT: tensor.extract
// CHECK: linalg.generic
// CHECK-SAME: ins(%{{[^:]+}} : tensor<?x1xf32>)
// CHECK-NOT: tensor.extract
func.func @repeated(%x: tensor<?x1xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?x1xf32>
  %isOne = arith.cmpi eq, %n, %c1 : index
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<?x4xf32>) {
  ^bb0(%t: f32):
    %i = linalg.index 0 : index
    %k = arith.select %isOne, %c0, %i : index
    %w = tensor.extract %x[%k, %c0] : tensor<?x1xf32>
    linalg.yield %w : f32
  } -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}

// Of another extent it is not.
// CHECK-LABEL: func @other(
// CHECK: tensor.extract
func.func @other(%x: tensor<?x1xf32>, %m: index) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?x1xf32>
  %isOne = arith.cmpi eq, %n, %c1 : index
  %e = tensor.empty(%m) : tensor<?x4xf32>
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<?x4xf32>) {
  ^bb0(%t: f32):
    %i = linalg.index 0 : index
    %k = arith.select %isOne, %c0, %i : index
    %w = tensor.extract %x[%k, %c0] : tensor<?x1xf32>
    linalg.yield %w : f32
  } -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}

// So is one that is scaled in between.
// CHECK-LABEL: func @scaled(
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "parallel"]
// CHECK: arith.mulf {{.*}} fastmath<contract>
// CHECK-NOT: linalg.generic
func.func @scaled(%s: tensor<8x8xf32>, %g: f32, %a: tensor<8x1xf32>, %b: tensor<1x8xf32>) -> tensor<8x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<8x1xf32>, tensor<1x8xf32>) outs(%z : tensor<8x8xf32>) {
  ^bb0(%x: f32, %y: f32, %t: f32):
    %m = arith.mulf %x, %y fastmath<contract> : f32
    %w = arith.addf %t, %m fastmath<reassoc,contract> : f32
    linalg.yield %w : f32
  } -> tensor<8x8xf32>
  %q = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%x: f32, %t: f32):
    %w = arith.mulf %x, %g : f32
    linalg.yield %w : f32
  } -> tensor<8x8xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%s, %q : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%x: f32, %y: f32, %t: f32):
    %w = arith.addf %x, %y : f32
    linalg.yield %w : f32
  } -> tensor<8x8xf32>
  return %r : tensor<8x8xf32>
}

// A decayed matrix is computed again where a vector is multiplied with it; one
// whose largest elements are looked for is stored.
// CHECK-LABEL: func @decayed(
// CHECK: linalg.generic
// CHECK-SAME: ["reduction", "parallel"]
// CHECK: linalg.generic
// CHECK-SAME: ["parallel", "parallel"]
// CHECK-NOT: linalg.generic
// CHECK-LABEL: func @largest(
// CHECK: linalg.generic
// CHECK-SAME: ["parallel", "parallel"]
// CHECK: linalg.generic
// CHECK-SAME: ["reduction", "parallel"]
// CHECK: linalg.generic
// CHECK-SAME: ["reduction", "parallel"]
func.func @decayed(%s: tensor<8x8xf32>, %g: tensor<8xf32>, %k: tensor<8xf32>, %z: tensor<8xf32>) -> (tensor<8xf32>, tensor<8x8xf32>) {
  %e = tensor.empty() : tensor<8x8xf32>
  %d = linalg.generic {indexing_maps = [#id, affine_map<(i, j) -> (i)>, #id], iterator_types = ["parallel", "parallel"]}
      ins(%s, %g : tensor<8x8xf32>, tensor<8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%x: f32, %y: f32, %t: f32):
    %w = arith.mulf %x, %y : f32
    linalg.yield %w : f32
  } -> tensor<8x8xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, #id, affine_map<(i, j) -> (j)>], iterator_types = ["reduction", "parallel"]}
      ins(%k, %d : tensor<8xf32>, tensor<8x8xf32>) outs(%z : tensor<8xf32>) {
  ^bb0(%a: f32, %x: f32, %t: f32):
    %m = arith.mulf %a, %x : f32
    %w = arith.addf %t, %m fastmath<reassoc> : f32
    linalg.yield %w : f32
  } -> tensor<8xf32>
  %r = linalg.generic {indexing_maps = [#id, affine_map<(i, j) -> (j)>, #id], iterator_types = ["parallel", "parallel"]}
      ins(%d, %y : tensor<8x8xf32>, tensor<8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%x: f32, %y0: f32, %t: f32):
    %w = arith.addf %x, %y0 : f32
    linalg.yield %w : f32
  } -> tensor<8x8xf32>
  return %y, %r : tensor<8xf32>, tensor<8x8xf32>
}
func.func @largest(%s: tensor<8x8xf32>, %g: tensor<8xf32>, %k: tensor<8xf32>, %z: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %e = tensor.empty() : tensor<8x8xf32>
  %d = linalg.generic {indexing_maps = [#id, affine_map<(i, j) -> (i)>, #id], iterator_types = ["parallel", "parallel"]}
      ins(%s, %g : tensor<8x8xf32>, tensor<8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%x: f32, %y: f32, %t: f32):
    %w = arith.addf %x, %y : f32
    linalg.yield %w : f32
  } -> tensor<8x8xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, #id, affine_map<(i, j) -> (j)>], iterator_types = ["reduction", "parallel"]}
      ins(%k, %d : tensor<8xf32>, tensor<8x8xf32>) outs(%z : tensor<8xf32>) {
  ^bb0(%a: f32, %x: f32, %t: f32):
    %m = arith.addf %a, %x : f32
    %w = arith.maximumf %t, %m : f32
    linalg.yield %w : f32
  } -> tensor<8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j)>, #id, affine_map<(i, j) -> (j)>], iterator_types = ["reduction", "parallel"]}
      ins(%y, %d : tensor<8xf32>, tensor<8x8xf32>) outs(%z : tensor<8xf32>) {
  ^bb0(%y0: f32, %x: f32, %t: f32):
    %m = arith.addf %x, %y0 : f32
    %w = arith.minimumf %t, %m : f32
    linalg.yield %w : f32
  } -> tensor<8xf32>
  return %y, %r : tensor<8xf32>, tensor<8xf32>
}

// What is added to channels is a vector of them.
// CHECK-LABEL: func @bias(
// CHECK: %[[BIAS:.*]] = arith.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[BIAS]] : tensor<?x?x2xf32>, tensor<2xf32>)
func.func @bias(%x: tensor<?x?x2xf32>, %e: tensor<?x?x2xf32>) -> tensor<?x?x2xf32> {
  %c = arith.constant dense<[[[1.0]], [[2.0]]]> : tensor<2x1x1xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (k, 0, 0)>, affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %c : tensor<?x?x2xf32>, tensor<2x1x1xf32>) outs(%e : tensor<?x?x2xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %y = arith.addf %a, %b : f32
    linalg.yield %y : f32
  } -> tensor<?x?x2xf32>
  return %r : tensor<?x?x2xf32>
}

// A number that is an operand, and is read twice, has no axes.
// CHECK-LABEL: func @numbers(
// CHECK: linalg.generic
func.func @numbers(%p: i1, %x: tensor<3xi8>, %e: tensor<3xi8>) -> (tensor<3xi8>, i8) {
  %c = arith.constant 7 : i8
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x, %c : tensor<3xi8>, i8) outs(%e : tensor<3xi8>) {
  ^bb0(%a: i8, %b: i8, %o: i8):
    %y = arith.addi %a, %b : i8
    linalg.yield %y : i8
  } -> tensor<3xi8>
  return %r, %c : tensor<3xi8>, i8
}

#image = affine_map<(h, n, k, c) -> (h + k, c)>
#kernel = affine_map<(h, n, k, c) -> (k, c, n)>
#sums = affine_map<(h, n, k, c) -> (h, n)>

// Of weights that are one number all columns are the same.
// CHECK-LABEL: func @equal_columns(
// CHECK: %[[S:.*]] = linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "reduction", "reduction"]
// CHECK-SAME: outs(%{{.*}} : tensor<8xf32>)
// CHECK: arith.mulf %{{.*}}, %{{.*}} fastmath<contract>
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "parallel"]
// CHECK-SAME: ins(%[[S]] : tensor<8xf32>) outs(%{{.*}} : tensor<8x64xf32>)
func.func @equal_columns(%x: tensor<10x?xf32>, %n: index) -> tensor<8x64xf32> {
  %zero = arith.constant 0.0 : f32
  %number = arith.constant 0.02 : f32
  %w = tensor.empty(%n) : tensor<3x?x64xf32>
  %weights = linalg.fill ins(%number : f32) outs(%w : tensor<3x?x64xf32>) -> tensor<3x?x64xf32>
  %e = tensor.empty() : tensor<8x64xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%e : tensor<8x64xf32>) -> tensor<8x64xf32>
  %r = linalg.generic {indexing_maps = [#image, #kernel, #sums],
      iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %weights : tensor<10x?xf32>, tensor<3x?x64xf32>) outs(%zeros : tensor<8x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b fastmath<contract> : f32
    %s = arith.addf %o, %p fastmath<reassoc,contract> : f32
    linalg.yield %s : f32
  } -> tensor<8x64xf32>
  return %r : tensor<8x64xf32>
}

// What the sums begin with differs from column to column.
// CHECK-LABEL: func @other_starts(
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "parallel", "reduction", "reduction"]
func.func @other_starts(%x: tensor<10x5xf32>, %bias: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %number = arith.constant 0.02 : f32
  %w = tensor.empty() : tensor<3x5x64xf32>
  %weights = linalg.fill ins(%number : f32) outs(%w : tensor<3x5x64xf32>) -> tensor<3x5x64xf32>
  %r = linalg.generic {indexing_maps = [#image, #kernel, #sums],
      iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %weights : tensor<10x5xf32>, tensor<3x5x64xf32>) outs(%bias : tensor<8x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b fastmath<contract> : f32
    %s = arith.addf %o, %p fastmath<reassoc,contract> : f32
    linalg.yield %s : f32
  } -> tensor<8x64xf32>
  return %r : tensor<8x64xf32>
}

// An element that is written where a condition holds is chosen itself, not all
// elements behind it.
// CHECK-LABEL: func @insert_or_not(
// CHECK-SAME: %[[T:[^:]+]]: tensor<?xi64>, %[[C:[^:]+]]: i1, %[[V:[^:]+]]: i64, %[[I:[^:]+]]: index)
func.func @insert_or_not(%t: tensor<?xi64>, %c: i1, %v: i64, %i: index) -> tensor<?xi64> {
  // CHECK-NOT: linalg.generic
  // CHECK: %[[OLD:.*]] = tensor.extract %[[T]][%[[I]]]
  // CHECK: %[[NEW:.*]] = arith.select %[[C]], %[[OLD]], %[[V]]
  // CHECK: %[[R:.*]] = tensor.insert %[[NEW]] into %[[T]][%[[I]]]
  // CHECK: return %[[R]]
  %c0 = arith.constant 0 : index
  %n = tensor.dim %t, %c0 : tensor<?xi64>
  %e = tensor.empty(%n) : tensor<?xi64>
  %u = tensor.insert %v into %t[%i] : tensor<?xi64>
  %one = tensor.from_elements %c : tensor<i1>
  %r = linalg.generic {
    indexing_maps = [affine_map<(d0) -> ()>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
    iterator_types = ["parallel"]
  } ins(%one, %t, %u : tensor<i1>, tensor<?xi64>, tensor<?xi64>) outs(%e : tensor<?xi64>) {
  ^bb0(%b: i1, %x: i64, %y: i64, %o: i64):
    %s = arith.select %b, %x, %y : i64
    linalg.yield %s : i64
  } -> tensor<?xi64>
  return %r : tensor<?xi64>
}

// Rows are written in a branch.
// CHECK-LABEL: func @insert_rows_or_not(
// CHECK-SAME: %[[T:[^:]+]]: tensor<9x4xf32>, %[[C:[^:]+]]: i1, %[[V:[^:]+]]: tensor<2x4xf32>)
func.func @insert_rows_or_not(%t: tensor<9x4xf32>, %c: i1, %v: tensor<2x4xf32>) -> tensor<9x4xf32> {
  // CHECK-NOT: linalg.generic
  // CHECK: %[[R:.*]] = scf.if %[[C]]
  // CHECK: %[[U:.*]] = tensor.insert_slice %[[V]] into %[[T]]
  // CHECK: scf.yield %[[U]]
  // CHECK: scf.yield %[[T]]
  // CHECK: return %[[R]]
  %e = tensor.empty() : tensor<9x4xf32>
  %u = tensor.insert_slice %v into %t[3, 0] [2, 4] [1, 1] : tensor<2x4xf32> into tensor<9x4xf32>
  %r = linalg.generic {
    indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%u, %t : tensor<9x4xf32>, tensor<9x4xf32>) outs(%e : tensor<9x4xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.select %c, %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<9x4xf32>
  return %r : tensor<9x4xf32>
}

// A condition that is the first of an axis which may have no elements is read
// where there is an iteration.
// CHECK-LABEL: func @insert_rows_by_first(
// CHECK-NOT: tensor.extract
// CHECK: linalg.generic
func.func @insert_rows_by_first(%t: tensor<?x4xf32>, %c: tensor<?xi1>, %v: tensor<?x4xf32>, %n: index, %k: index) -> tensor<?x4xf32> {
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %u = tensor.insert_slice %v into %t[0, 0] [%k, 4] [1, 1] : tensor<?x4xf32> into tensor<?x4xf32>
  %r = linalg.generic {
    indexing_maps = [affine_map<(d0, d1) -> (0)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%c, %u, %t : tensor<?xi1>, tensor<?x4xf32>, tensor<?x4xf32>) outs(%e : tensor<?x4xf32>) {
  ^bb0(%b: i1, %x: f32, %y: f32, %o: f32):
    %s = arith.select %b, %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}

// An index that is computed, with another axis of one element, is that without
// it.
// CHECK-LABEL: func.func @read_of_column(
// CHECK: %[[T:.*]] = linalg.generic
// CHECK-NOT: tensor.expand_shape
// CHECK: tensor.extract %[[T]][%{{.*}}] : tensor<8xi64>
func.func @read_of_column(%x: tensor<8xi64>, %i: index) -> (i64, tensor<8xi64>) {
  %c0 = arith.constant 0 : index
  %e = tensor.empty() : tensor<8xi64>
  %t = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x : tensor<8xi64>) outs(%e : tensor<8xi64>) {
  ^bb0(%in: i64, %out: i64):
    %s = arith.addi %in, %in : i64
    linalg.yield %s : i64
  } -> tensor<8xi64>
  %m = tensor.expand_shape %t [[0, 1]] output_shape [8, 1] : tensor<8xi64> into tensor<8x1xi64>
  %r = tensor.extract %m[%i, %c0] : tensor<8x1xi64>
  return %r, %t : i64, tensor<8xi64>
}
