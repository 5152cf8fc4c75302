// RUN: loopc-opt %s --linalg-generalize-named-ops --tensor-fuse-elementwise | FileCheck %s
// RUN: loopc-opt %s --loopc-set-target=chip=sm_80 --linalg-generalize-named-ops --tensor-fuse-elementwise | FileCheck %s --check-prefix=KERNEL

// CHECK-LABEL: func @chain(
func.func @chain(%x: tensor<4xf32>, %y: tensor<4xf32>, %e: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: linalg.generic
  // CHECK: %[[S:.*]] = arith.addf
  // CHECK: math.exp %[[S]]
  // CHECK-NOT: linalg.generic
  // CHECK: return
  %a = linalg.add ins(%x, %y : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %b = linalg.exp ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %b : tensor<4xf32>
}

// An expensive producer with two consumers is computed once, in one operation
// with them.
// CHECK-LABEL: func @neighbours(
func.func @neighbours(%x: tensor<4xf32>, %e: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: linalg.generic
  // CHECK: %[[E:.*]] = math.exp
  // CHECK-NOT: math.exp
  // CHECK-NOT: linalg.generic
  // CHECK: linalg.yield %{{.*}}, %{{.*}} : f32, f32
  // CHECK-NOT: linalg.generic
  // CHECK: return
  %a = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %b = linalg.add ins(%a, %x : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %c = linalg.mul ins(%a, %x : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %b, %c : tensor<4xf32>, tensor<4xf32>
}

// Sizes that may differ are not merged.
// CHECK-LABEL: func @other_size(
func.func @other_size(%x: tensor<?xf32>, %y: tensor<?xf32>, %e: tensor<?xf32>, %f: tensor<?xf32>)
    -> (tensor<?xf32>, tensor<?xf32>) {
  // CHECK-COUNT-2: linalg.generic
  %a = linalg.exp ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %b = linalg.exp ins(%y : tensor<?xf32>) outs(%f : tensor<?xf32>) -> tensor<?xf32>
  return %a, %b : tensor<?xf32>, tensor<?xf32>
}

// What an operation between them needs is computed before it.
// CHECK-LABEL: func @used_in_between(
func.func @used_in_between(%x: tensor<4xf32>, %e: tensor<4xf32>, %k: index) -> (tensor<4xf32>, f32) {
  // CHECK: math.exp
  // CHECK: %[[F:.*]] = tensor.extract
  // CHECK: linalg.generic
  // CHECK: arith.addf
  %a = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %f = tensor.extract %a[%k] : tensor<4xf32>
  %s = tensor.splat %f : tensor<4xf32>
  %b = linalg.add ins(%x, %s : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %b, %f : tensor<4xf32>, f32
}

// What each layer of a residual network adds to is stored now and then: the sum
// with all that was added before it is not cheap, though each addition is.
// CHECK-LABEL: func @residual(
func.func @residual(%x: tensor<3x4xf32>, %m: tensor<4x4xf32>, %e: tensor<3x4xf32>, %f: tensor<3xf32>)
    -> tensor<3x4xf32> {
  // CHECK-NOT: ins(%{{[^:]*}}, %{{[^:]*}}, %{{[^:]*}}, %{{[^:]*}}, %{{[^:]*}} :
  // CHECK: return
  %s0 = linalg.reduce {arith.addf} ins(%x : tensor<3x4xf32>) outs(%f : tensor<3xf32>) dimensions = [1]
  %b0 = linalg.broadcast ins(%s0 : tensor<3xf32>) outs(%e : tensor<3x4xf32>) dimensions = [1]
  %n0 = linalg.div ins(%x, %b0 : tensor<3x4xf32>, tensor<3x4xf32>) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  %p0 = linalg.matmul ins(%n0, %m : tensor<3x4xf32>, tensor<4x4xf32>) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  %x0 = linalg.add ins(%x, %p0 : tensor<3x4xf32>, tensor<3x4xf32>) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  %s1 = linalg.reduce {arith.addf} ins(%x0 : tensor<3x4xf32>) outs(%f : tensor<3xf32>) dimensions = [1]
  %b1 = linalg.broadcast ins(%s1 : tensor<3xf32>) outs(%e : tensor<3x4xf32>) dimensions = [1]
  %n1 = linalg.div ins(%x0, %b1 : tensor<3x4xf32>, tensor<3x4xf32>) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  %p1 = linalg.matmul ins(%n1, %m : tensor<3x4xf32>, tensor<4x4xf32>) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  %x1 = linalg.add ins(%x0, %p1 : tensor<3x4xf32>, tensor<3x4xf32>) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  %s2 = linalg.reduce {arith.addf} ins(%x1 : tensor<3x4xf32>) outs(%f : tensor<3xf32>) dimensions = [1]
  %b2 = linalg.broadcast ins(%s2 : tensor<3xf32>) outs(%e : tensor<3x4xf32>) dimensions = [1]
  %n2 = linalg.div ins(%x1, %b2 : tensor<3x4xf32>, tensor<3x4xf32>) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  %p2 = linalg.matmul ins(%n2, %m : tensor<3x4xf32>, tensor<4x4xf32>) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  %x2 = linalg.add ins(%x1, %p2 : tensor<3x4xf32>, tensor<3x4xf32>) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  %s3 = linalg.reduce {arith.addf} ins(%x2 : tensor<3x4xf32>) outs(%f : tensor<3xf32>) dimensions = [1]
  %b3 = linalg.broadcast ins(%s3 : tensor<3xf32>) outs(%e : tensor<3x4xf32>) dimensions = [1]
  %n3 = linalg.div ins(%x2, %b3 : tensor<3x4xf32>, tensor<3x4xf32>) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  %p3 = linalg.matmul ins(%n3, %m : tensor<3x4xf32>, tensor<4x4xf32>) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  %x3 = linalg.add ins(%x2, %p3 : tensor<3x4xf32>, tensor<3x4xf32>) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  %s4 = linalg.reduce {arith.addf} ins(%x3 : tensor<3x4xf32>) outs(%f : tensor<3xf32>) dimensions = [1]
  %b4 = linalg.broadcast ins(%s4 : tensor<3xf32>) outs(%e : tensor<3x4xf32>) dimensions = [1]
  %n4 = linalg.div ins(%x3, %b4 : tensor<3x4xf32>, tensor<3x4xf32>) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  %p4 = linalg.matmul ins(%n4, %m : tensor<3x4xf32>, tensor<4x4xf32>) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  %x4 = linalg.add ins(%x3, %p4 : tensor<3x4xf32>, tensor<3x4xf32>) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  return %x4 : tensor<3x4xf32>
}

// What is summed up, each element once, is not stored before: two operands, and
// functions, along one axis or two.
// CHECK-LABEL: func @summed_up(
func.func @summed_up(%x: tensor<?x8x30xf32>, %c: tensor<?x8x1xf32>, %e: tensor<?x8x30xf32>, %s: tensor<?xf32>)
    -> tensor<?xf32> {
  // CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction", "reduction"]
  // CHECK:   arith.mulf
  // CHECK:   math.exp
  // CHECK:   arith.addf
  // CHECK-NOT: linalg.generic
  // CHECK: return
  %p = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, 0)>, affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %c : tensor<?x8x30xf32>, tensor<?x8x1xf32>) outs(%e : tensor<?x8x30xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = math.exp %0 : f32
    linalg.yield %1 : f32
  } -> tensor<?x8x30xf32>
  %r = linalg.reduce {arith.addf} ins(%p : tensor<?x8x30xf32>) outs(%s : tensor<?xf32>) dimensions = [1, 2]
  return %r : tensor<?xf32>
}

// Not what is read across its rows, or with gaps: sums would not be vectors.
// CHECK-LABEL: func @across_or_apart(
func.func @across_or_apart(%x: tensor<30x8xf32>, %y: tensor<8x30x2xf32>, %c: tensor<8x30xf32>, %e: tensor<8x30xf32>, %s: tensor<8xf32>)
    -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK-COUNT-4: linalg.generic
  // CHECK: return
  %p = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x, %c : tensor<30x8xf32>, tensor<8x30xf32>) outs(%e : tensor<8x30xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = arith.mulf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<8x30xf32>
  %r = linalg.reduce {arith.addf} ins(%p : tensor<8x30xf32>) outs(%s : tensor<8xf32>) dimensions = [1]
  %even = tensor.extract_slice %y[0, 0, 0] [8, 30, 1] [1, 1, 1] : tensor<8x30x2xf32> to tensor<8x30xf32>
  %q = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%even, %c : tensor<8x30xf32>, tensor<8x30xf32>) outs(%e : tensor<8x30xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = arith.mulf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<8x30xf32>
  %t = linalg.reduce {arith.addf} ins(%q : tensor<8x30xf32>) outs(%s : tensor<8xf32>) dimensions = [1]
  return %r, %t : tensor<8xf32>, tensor<8xf32>
}

// Parts of bytes that become floats are taken apart where they are summed up.
// CHECK-LABEL: func @bits_to_floats(
// CHECK: linalg.generic
// CHECK: arith.shrui
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @bits_to_floats(%x: tensor<4x8xi8>, %y: tensor<3x8xf32>, %e: tensor<4x8xi8>, %z: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %four = arith.constant 4 : i8
  %a = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i, k)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x8xi8>) outs(%e : tensor<4x8xi8>) {
  ^bb0(%b: i8, %o: i8):
    %c = arith.shrui %b, %four : i8
    linalg.yield %c : i8
  } -> tensor<4x8xi8>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %y : tensor<4x8xi8>, tensor<3x8xf32>) outs(%z : tensor<3x4xf32>) {
  ^bb0(%b: i8, %c: f32, %o: f32):
    %d = arith.uitofp %b : i8 to f32
    %m = arith.mulf %c, %d : f32
    %s = arith.addf %m, %o : f32
    linalg.yield %s : f32
  } -> tensor<3x4xf32>
  return %r : tensor<3x4xf32>
}

// Products of small integers want them as they are.
// CHECK-LABEL: func @bits_to_integers(
// CHECK-COUNT-2: linalg.generic
func.func @bits_to_integers(%x: tensor<4x8xi8>, %y: tensor<3x8xi32>, %e: tensor<4x8xi8>, %z: tensor<3x4xi32>) -> tensor<3x4xi32> {
  %four = arith.constant 4 : i8
  %a = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i, k)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x8xi8>) outs(%e : tensor<4x8xi8>) {
  ^bb0(%b: i8, %o: i8):
    %c = arith.shrui %b, %four : i8
    linalg.yield %c : i8
  } -> tensor<4x8xi8>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %y : tensor<4x8xi8>, tensor<3x8xi32>) outs(%z : tensor<3x4xi32>) {
  ^bb0(%b: i8, %c: i32, %o: i32):
    %d = arith.extui %b : i8 to i32
    %m = arith.muli %c, %d : i32
    %s = arith.addi %m, %o : i32
    linalg.yield %s : i32
  } -> tensor<3x4xi32>
  return %r : tensor<3x4xi32>
}

// Constant columns are packed once, from where they are; rows, and what a run
// computes, are brought into the order that products want.
// CHECK-LABEL: func @turned_constant(
// CHECK: %[[W:.*]] = arith.constant
// CHECK-NOT: linalg.generic
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction", "parallel"]} ins(%{{.*}}, %[[W]] : tensor<?x3xi8>, tensor<4x3xi8>)
// CHECK-NOT: linalg.generic
// CHECK-LABEL: func @turned_rows(
// CHECK-COUNT-2: linalg.generic
// CHECK-LABEL: func @turned_argument(
// CHECK-COUNT-2: linalg.generic
func.func @turned_constant(%x: tensor<?x3xi8>, %z: tensor<?x4xi32>) -> tensor<?x4xi32> {
  %w = arith.constant dense<[[1, 2, 3], [4, 5, 6], [7, 8, 9], [-1, -2, -3]]> : tensor<4x3xi8>
  %e = tensor.empty() : tensor<3x4xi8>
  %t = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%w : tensor<4x3xi8>) outs(%e : tensor<3x4xi8>) {
  ^bb0(%b: i8, %o: i8):
    linalg.yield %b : i8
  } -> tensor<3x4xi8>
  %r = linalg.generic {indexing_maps = [affine_map<(m, k, n) -> (m, k)>, affine_map<(m, k, n) -> (k, n)>, affine_map<(m, k, n) -> (m, n)>], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %t : tensor<?x3xi8>, tensor<3x4xi8>) outs(%z : tensor<?x4xi32>) {
  ^bb0(%b: i8, %c: i8, %o: i32):
    %d = arith.extui %b : i8 to i32
    %f = arith.extsi %c : i8 to i32
    %m = arith.muli %d, %f : i32
    %s = arith.addi %o, %m : i32
    linalg.yield %s : i32
  } -> tensor<?x4xi32>
  return %r : tensor<?x4xi32>
}
func.func @turned_rows(%x: tensor<3x?xi8>, %z: tensor<4x?xi32>) -> tensor<4x?xi32> {
  %w = arith.constant dense<[[1, 2, 3, 4], [5, 6, 7, 8], [9, -1, -2, -3]]> : tensor<3x4xi8>
  %e = tensor.empty() : tensor<4x3xi8>
  %t = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%w : tensor<3x4xi8>) outs(%e : tensor<4x3xi8>) {
  ^bb0(%b: i8, %o: i8):
    linalg.yield %b : i8
  } -> tensor<4x3xi8>
  %r = linalg.generic {indexing_maps = [affine_map<(m, k, n) -> (m, k)>, affine_map<(m, k, n) -> (k, n)>, affine_map<(m, k, n) -> (m, n)>], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%t, %x : tensor<4x3xi8>, tensor<3x?xi8>) outs(%z : tensor<4x?xi32>) {
  ^bb0(%b: i8, %c: i8, %o: i32):
    %d = arith.extui %b : i8 to i32
    %f = arith.extsi %c : i8 to i32
    %m = arith.muli %d, %f : i32
    %s = arith.addi %o, %m : i32
    linalg.yield %s : i32
  } -> tensor<4x?xi32>
  return %r : tensor<4x?xi32>
}
func.func @turned_argument(%x: tensor<?x3xi8>, %w: tensor<4x3xi8>, %z: tensor<?x4xi32>) -> tensor<?x4xi32> {
  %e = tensor.empty() : tensor<3x4xi8>
  %t = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%w : tensor<4x3xi8>) outs(%e : tensor<3x4xi8>) {
  ^bb0(%b: i8, %o: i8):
    linalg.yield %b : i8
  } -> tensor<3x4xi8>
  %r = linalg.generic {indexing_maps = [affine_map<(m, k, n) -> (m, k)>, affine_map<(m, k, n) -> (k, n)>, affine_map<(m, k, n) -> (m, n)>], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %t : tensor<?x3xi8>, tensor<3x4xi8>) outs(%z : tensor<?x4xi32>) {
  ^bb0(%b: i8, %c: i8, %o: i32):
    %d = arith.extui %b : i8 to i32
    %f = arith.extsi %c : i8 to i32
    %m = arith.muli %d, %f : i32
    %s = arith.addi %o, %m : i32
    linalg.yield %s : i32
  } -> tensor<?x4xi32>
  return %r : tensor<?x4xi32>
}

// What is computed of the rows of a product is computed in vectors, once, not
// one by one for each tile of columns. Of few rows, and of few columns, as well
// as of what is read along the columns, it is computed in the product.
#rows = affine_map<(m, k, n) -> (m, k)>
#weights = affine_map<(m, k, n) -> (k, n)>
#sums = affine_map<(m, k, n) -> (m, n)>
#id2 = affine_map<(i, j) -> (i, j)>
// For a GPU a kernel of its own would cost more.
// KERNEL-LABEL: func @scaled_rows(
// KERNEL: linalg.generic
// KERNEL-NOT: linalg.generic
// KERNEL: return
// CHECK-LABEL: func @scaled_rows(
// CHECK: linalg.generic
// CHECK: arith.mulf
// CHECK: linalg.generic
func.func @scaled_rows(%x: tensor<?x64xf32>, %s: f32, %e: tensor<?x64xf32>, %w: tensor<64x32xf32>, %y: tensor<?x32xf32>) -> tensor<?x32xf32> {
  %t = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x64xf32>) outs(%e : tensor<?x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = arith.mulf %a, %s : f32
    linalg.yield %b : f32
  } -> tensor<?x64xf32>
  %r = linalg.generic {indexing_maps = [#rows, #weights, #sums], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%t, %w : tensor<?x64xf32>, tensor<64x32xf32>) outs(%y : tensor<?x32xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %q = arith.addf %o, %p fastmath<reassoc> : f32
    linalg.yield %q : f32
  } -> tensor<?x32xf32>
  return %r : tensor<?x32xf32>
}

// CHECK-LABEL: func @scaled_row(
// CHECK: linalg.generic
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @scaled_row(%x: tensor<1x64xf32>, %s: f32, %e: tensor<1x64xf32>, %w: tensor<64x32xf32>, %y: tensor<1x32xf32>) -> tensor<1x32xf32> {
  %t = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<1x64xf32>) outs(%e : tensor<1x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = arith.mulf %a, %s : f32
    linalg.yield %b : f32
  } -> tensor<1x64xf32>
  %r = linalg.generic {indexing_maps = [#rows, #weights, #sums], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%t, %w : tensor<1x64xf32>, tensor<64x32xf32>) outs(%y : tensor<1x32xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %q = arith.addf %o, %p fastmath<reassoc> : f32
    linalg.yield %q : f32
  } -> tensor<1x32xf32>
  return %r : tensor<1x32xf32>
}

// CHECK-LABEL: func @scaled_columns(
// CHECK: linalg.generic
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @scaled_columns(%x: tensor<8x64xf32>, %s: f32, %e: tensor<64x32xf32>, %w: tensor<64x32xf32>, %y: tensor<8x32xf32>) -> tensor<8x32xf32> {
  %t = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%w : tensor<64x32xf32>) outs(%e : tensor<64x32xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = arith.mulf %a, %s : f32
    linalg.yield %b : f32
  } -> tensor<64x32xf32>
  %r = linalg.generic {indexing_maps = [#rows, #weights, #sums], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %t : tensor<8x64xf32>, tensor<64x32xf32>) outs(%y : tensor<8x32xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %q = arith.addf %o, %p fastmath<reassoc> : f32
    linalg.yield %q : f32
  } -> tensor<8x32xf32>
  return %r : tensor<8x32xf32>
}

#column = affine_map<(d0, d1) -> (d1)>
#element = affine_map<(d0, d1) -> (d0, d1)>
#turned = affine_map<(d0, d1) -> (d1, d0)>
#left = affine_map<(d0, d1, d2) -> (d0, d2)>
#right = affine_map<(d0, d1, d2) -> (d2, d1)>
#sum = affine_map<(d0, d1, d2) -> (d0, d1)>

// Two products begin with the same bias: each has a broadcast of its own, which
// is not computed beside what goes through the same elements.
// CHECK-LABEL: func @shared_bias(
// CHECK-SAME: %[[BIAS:[a-z0-9]+]]: tensor<32xf32>
// CHECK: %[[ONE:.*]] = linalg.generic {{.*}} ins(%[[BIAS]] :
// CHECK: %[[OTHER:.*]] = linalg.generic {{.*}} ins(%[[BIAS]] :
// CHECK: linalg.generic {{.*}}"reduction"{{.*}} outs(%[[OTHER]] :
// CHECK: linalg.generic {{.*}}"reduction"{{.*}} outs(%[[ONE]] :
func.func @shared_bias(%x: tensor<32x64xf32>, %y: tensor<64x32xf32>, %w: tensor<32x32xf32>, %bias: tensor<32xf32>) -> (tensor<64x32xf32>, tensor<64x32xf32>, tensor<64x32xf32>) {
  %empty = tensor.empty() : tensor<64x32xf32>
  %t = linalg.generic {indexing_maps = [#turned, #element], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<32x64xf32>) outs(%empty : tensor<64x32xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<64x32xf32>
  %start = linalg.generic {indexing_maps = [#column, #element], iterator_types = ["parallel", "parallel"]} ins(%bias : tensor<32xf32>) outs(%empty : tensor<64x32xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<64x32xf32>
  %first = linalg.generic {indexing_maps = [#left, #right, #sum], iterator_types = ["parallel", "parallel", "reduction"]} ins(%t, %w : tensor<64x32xf32>, tensor<32x32xf32>) outs(%start : tensor<64x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<64x32xf32>
  %second = linalg.generic {indexing_maps = [#left, #right, #sum], iterator_types = ["parallel", "parallel", "reduction"]} ins(%y, %w : tensor<64x32xf32>, tensor<32x32xf32>) outs(%start : tensor<64x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<64x32xf32>
  return %t, %first, %second : tensor<64x32xf32>, tensor<64x32xf32>, tensor<64x32xf32>
}

// What adds to what is there is not computed for each row anew: the result, in
// loops that come to it more than once, would be added to each time.
// CHECK-LABEL: func @accumulating(
// CHECK: linalg.generic
// CHECK: arith.addf
// CHECK: linalg.generic
// CHECK-NOT: arith.addf
// CHECK: arith.maximumf
func.func @accumulating(%x: tensor<4xf32>, %start: tensor<4xf32>, %e: tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4x8xf32>) {
  %sum = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%start : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %o, %a : f32
    linalg.yield %0 : f32
  } -> tensor<4xf32>
  %rows = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%sum : tensor<4xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.maximumf %o, %a : f32
    linalg.yield %0 : f32
  } -> tensor<4x8xf32>
  return %sum, %rows : tensor<4xf32>, tensor<4x8xf32>
}

// Indices that count up from where a run says, held above 0, are in range where
// the first and the last one are: two of 1001 are asked for.
// CHECK-LABEL: func @ends(
// CHECK-SAME: %[[W:[^:]+]]: tensor<i64>
// CHECK-DAG: %[[LAST:.*]] = arith.constant 1000 : index
// CHECK-DAG: %[[ALL:.*]] = arith.constant 1001 : index
// CHECK-NOT: linalg.generic
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %[[ALL]] step %[[LAST]]
// CHECK: %[[NUMBER:.*]] = arith.index_cast %[[I]] : index to i64
// CHECK: %[[FROM:.*]] = arith.subi %[[NUMBER]], %{{.*}} : i64
// CHECK: arith.maxsi %[[FROM]]
// CHECK: arith.maxui
func.func @ends(%w: tensor<i64>, %e: tensor<1001xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c1001 = arith.constant 1001 : index
  %zero = arith.constant 0 : i64
  %t = linalg.generic {indexing_maps = [affine_map<(d0) -> ()>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%w : tensor<i64>) outs(%e : tensor<1001xi64>) {
  ^bb0(%from: i64, %o: i64):
    %n = linalg.index 0 : index
    %i = arith.index_cast %n : index to i64
    %s = arith.subi %i, %from : i64
    %m = arith.maxsi %s, %zero : i64
    linalg.yield %m : i64
  } -> tensor<1001xi64>
  %most = scf.for %k = %c0 to %c1001 step %c1 iter_args(%max = %c0) -> (index) {
    %x = tensor.extract %t[%k] : tensor<1001xi64>
    %p = arith.index_cast %x : i64 to index
    %negative = arith.cmpi slt, %p, %c0 : index
    %wrapped = arith.addi %p, %c1001 : index
    %q = arith.select %negative, %wrapped, %p : index
    %next = arith.maxui %max, %q : index
    scf.yield %next : index
  }
  %ok = arith.cmpi ult, %most, %c1001 : index
  loop.check %ok, "{}"(%most : index)
  return
}

// What else is checked of each index is asked for all.
// CHECK-LABEL: func @checked(
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : index
// CHECK: scf.for {{.*}} step %[[ONE]]
func.func @checked(%x: tensor<1001xi64>, %e: tensor<1001xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c1001 = arith.constant 1001 : index
  %zero = arith.constant 0 : i64
  %t = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%e : tensor<1001xi64>) {
  ^bb0(%o: i64):
    %n = linalg.index 0 : index
    %i = arith.index_cast %n : index to i64
    linalg.yield %i : i64
  } -> tensor<1001xi64>
  %most = scf.for %k = %c0 to %c1001 step %c1 iter_args(%max = %c0) -> (index) {
    %p = tensor.extract %t[%k] : tensor<1001xi64>
    %q = arith.index_cast %p : i64 to index
    %next = arith.maxui %max, %q : index
    %own = tensor.extract %x[%k] : tensor<1001xi64>
    %fine = arith.cmpi sge, %own, %zero : i64
    loop.check %fine, "element {} is negative"(%k : index)
    scf.yield %next : index
  }
  %ok = arith.cmpi ult, %most, %c1001 : index
  loop.check %ok, "{}"(%most : index)
  return
}

// Squares need not come back: all are asked for, where they are computed.
// CHECK-LABEL: func @squares(
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : index
// CHECK: scf.for {{.*}} step %[[ONE]]
// CHECK: arith.muli
func.func @squares(%e: tensor<1001xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c1001 = arith.constant 1001 : index
  %half = arith.constant 500 : i64
  %t = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%e : tensor<1001xi64>) {
  ^bb0(%o: i64):
    %n = linalg.index 0 : index
    %i = arith.index_cast %n : index to i64
    %s = arith.subi %i, %half : i64
    %m = arith.muli %s, %s : i64
    linalg.yield %m : i64
  } -> tensor<1001xi64>
  %most = scf.for %k = %c0 to %c1001 step %c1 iter_args(%max = %c0) -> (index) {
    %x = tensor.extract %t[%k] : tensor<1001xi64>
    %p = arith.index_cast %x : i64 to index
    %next = arith.maxui %max, %p : index
    scf.yield %next : index
  }
  %ok = arith.cmpi ult, %most, %c1001 : index
  loop.check %ok, "{}"(%most : index)
  return
}
