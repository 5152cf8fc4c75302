// RUN: loopc-opt %s --allow-unregistered-dialect --loop-batch-slices --canonicalize --cse | FileCheck %s
// RUN: loopc-opt %s --allow-unregistered-dialect --loop-batch-slices --remark-format=emitRemark \
// RUN:   --remarks-filter=loop 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

#x = affine_map<(m, k, n) -> (m, k)>
#w = affine_map<(m, k, n) -> (k, n)>
#y = affine_map<(m, k, n) -> (m, n)>

// What the inputs contribute to a cell: all iterations' rows are one matrix.
// REMARK: "computed for all iterations at once, before the loop"
// CHECK-DAG: #[[X:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-DAG: #[[W:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-DAG: #[[Y:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-LABEL: func @cell(
// CHECK-SAME: %[[XS:[^:]+]]: tensor<5x2x3xf32>, %[[WEIGHTS:[^:]+]]: tensor<3x4xf32>
func.func @cell(%xs: tensor<5x2x3xf32>, %w: tensor<3x4xf32>, %h0: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %n = arith.constant 5 : i64
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
  // CHECK: %[[ROWS:.*]] = tensor.collapse_shape %[[XS]] {{\[}}[0, 1], [2]] : tensor<5x2x3xf32> into tensor<10x3xf32>
  // CHECK: %[[START:.*]] = linalg.fill {{.*}} -> tensor<10x4xf32>
  // CHECK: %[[PRODUCT:.*]] = linalg.generic {indexing_maps = [#[[X]], #[[W]], #[[Y]]], iterator_types = ["parallel", "reduction", "parallel"]}
  // CHECK-SAME: ins(%[[ROWS]], %[[WEIGHTS]] : {{.*}}) outs(%[[START]]
  // CHECK: %[[ALL:.*]] = tensor.expand_shape %[[PRODUCT]] {{\[}}[0, 1], [2]] output_shape [5, 2, 4]
  // CHECK: loop.loop
  // CHECK-NOT: "reduction"
  // CHECK: tensor.extract_slice %[[ALL]][%{{.*}}, 0, 0] [1, 2, 4] [1, 1, 1]
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%h = %h0 : tensor<2x4xf32>) {
    %t = arith.index_cast %i : i64 to index
    %x = tensor.extract_slice %xs[%t, 0, 0] [1, 2, 3] [1, 1, 1] : tensor<5x2x3xf32> to tensor<2x3xf32>
    %p = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction", "parallel"]}
        ins(%x, %w : tensor<2x3xf32>, tensor<3x4xf32>) outs(%f : tensor<2x4xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %m = arith.mulf %a, %b : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<2x4xf32>
    %next = linalg.add ins(%p, %h : tensor<2x4xf32>, tensor<2x4xf32>) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
    loop.yield while(%c : i1) carried(%next : tensor<2x4xf32>)
  }
  return %r : tensor<2x4xf32>
}

// Counted back, along another axis: one loop more, over the iterations.
// CHECK-LABEL: func @reversed(
// CHECK-SAME: %[[N:[^:]+]]: i64, %[[XS:[^:]+]]: tensor<2x?x3xf32>
func.func @reversed(%n: i64, %xs: tensor<2x?x3xf32>, %w: tensor<3x4xf32>, %h0: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %c1 = arith.constant 1 : index
  %c0_i64 = arith.constant 0 : i64
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
  %most = arith.maxsi %n, %c0_i64 : i64
  %trips = arith.index_cast %most : i64 to index
  // CHECK: tensor.extract_slice %[[XS]][0, 0, 0] [2, %{{.*}}, 3]
  // CHECK: %[[ALL:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction", "parallel"]
  // CHECK: loop.loop
  // CHECK-NOT: "reduction"
  // CHECK: %[[LAST:.*]] = arith.subi
  // CHECK: %[[AT:.*]] = arith.subi %[[LAST]]
  // CHECK: tensor.extract_slice %[[ALL]][%[[AT]], 0, 0] [1, 2, 4] [1, 1, 1]
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%h = %h0 : tensor<2x4xf32>) {
    %t = arith.index_cast %i : i64 to index
    %last = arith.subi %trips, %c1 : index
    %at = arith.subi %last, %t : index
    %x = tensor.extract_slice %xs[0, %at, 0] [2, 1, 3] [1, 1, 1] : tensor<2x?x3xf32> to tensor<2x3xf32>
    %p = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction", "parallel"]}
        ins(%x, %w : tensor<2x3xf32>, tensor<3x4xf32>) outs(%f : tensor<2x4xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %m = arith.mulf %a, %b : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<2x4xf32>
    %next = linalg.add ins(%p, %h : tensor<2x4xf32>, tensor<2x4xf32>) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
    loop.yield while(%c : i1) carried(%next : tensor<2x4xf32>)
  }
  return %r : tensor<2x4xf32>
}

// It may end earlier than the slices do: what it does not reach is not computed.
// REMARK: "a contraction of slices stays in the loop: how many iterations there are is not known when it begins"
// CHECK-LABEL: func @conditional(
func.func @conditional(%n: i64, %go: i1, %xs: tensor<5x2x3xf32>, %w: tensor<3x4xf32>, %h0: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
  // CHECK: loop.loop
  // CHECK: "reduction"
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) while(%go : i1) carried(%h = %h0 : tensor<2x4xf32>) {
    %t = arith.index_cast %i : i64 to index
    %x = tensor.extract_slice %xs[%t, 0, 0] [1, 2, 3] [1, 1, 1] : tensor<5x2x3xf32> to tensor<2x3xf32>
    %p = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction", "parallel"]}
        ins(%x, %w : tensor<2x3xf32>, tensor<3x4xf32>) outs(%f : tensor<2x4xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %m = arith.mulf %a, %b : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<2x4xf32>
    %next = linalg.add ins(%p, %h : tensor<2x4xf32>, tensor<2x4xf32>) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
    %go2 = "some.condition"() : () -> i1
    loop.yield while(%go2 : i1) carried(%next : tensor<2x4xf32>)
  }
  return %r : tensor<2x4xf32>
}

// Of what is carried nothing can be computed before.
// CHECK-LABEL: func @carried(
func.func @carried(%n: i64, %w: tensor<4x4xf32>, %h0: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
  // CHECK: loop.loop
  // CHECK: "reduction"
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%h = %h0 : tensor<2x4xf32>) {
    %p = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction", "parallel"]}
        ins(%h, %w : tensor<2x4xf32>, tensor<4x4xf32>) outs(%f : tensor<2x4xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %m = arith.mulf %a, %b : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<2x4xf32>
    loop.yield while(%c : i1) carried(%p : tensor<2x4xf32>)
  }
  return %r : tensor<2x4xf32>
}

// Where a check before it holds the inner extents together, it stays behind it.
// CHECK-LABEL: func @checked(
func.func @checked(%n: index, %xs: tensor<?x2x?xf32>, %w: tensor<?x4xf32>, %h0: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
  %k = tensor.dim %xs, %c2 : tensor<?x2x?xf32>
  %l = tensor.dim %w, %c0 : tensor<?x4xf32>
  %same = arith.cmpi eq, %k, %l : index
  // CHECK: loop.loop
  // CHECK: loop.check
  // CHECK: "reduction"
  %r = loop.loop (%i : index, %c : i1) trips(%n : index) carried(%h = %h0 : tensor<2x4xf32>) {
    loop.check %same, "inner dimensions: {} and {} differ"(%k, %l : index, index)
    %x = tensor.extract_slice %xs[%i, 0, 0] [1, 2, %k] [1, 1, 1] : tensor<?x2x?xf32> to tensor<2x?xf32>
    %p = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction", "parallel"]}
        ins(%x, %w : tensor<2x?xf32>, tensor<?x4xf32>) outs(%f : tensor<2x4xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %m = arith.mulf %a, %b : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<2x4xf32>
    %next = linalg.add ins(%p, %h : tensor<2x4xf32>, tensor<2x4xf32>) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
    loop.yield while(%c : i1) carried(%next : tensor<2x4xf32>)
  }
  return %r : tensor<2x4xf32>
}

// What sums begin with has an extent that its type hides.
// CHECK-LABEL: func @hidden_extent(
// CHECK: tensor.extract_slice {{.*}} [1, 2, 4] [1, 1, 1] : tensor<5x2x4xf32> to tensor<2x4xf32>
func.func @hidden_extent(%xs: tensor<5x2x3xf32>, %w: tensor<3x4xf32>, %h0: tensor<2x?xf32>) -> tensor<2x?xf32> {
  %n = arith.constant 5 : i64
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
  %open = tensor.cast %f : tensor<2x4xf32> to tensor<2x?xf32>
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%h = %h0 : tensor<2x?xf32>) {
    %t = arith.index_cast %i : i64 to index
    %x = tensor.extract_slice %xs[%t, 0, 0] [1, 2, 3] [1, 1, 1] : tensor<5x2x3xf32> to tensor<2x3xf32>
    %p = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction", "parallel"]}
        ins(%x, %w : tensor<2x3xf32>, tensor<3x4xf32>) outs(%open : tensor<2x?xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %m = arith.mulf %a, %b : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<2x?xf32>
    %next = linalg.add ins(%p, %h : tensor<2x?xf32>, tensor<2x?xf32>) outs(%h : tensor<2x?xf32>) -> tensor<2x?xf32>
    loop.yield while(%c : i1) carried(%next : tensor<2x?xf32>)
  }
  return %r : tensor<2x?xf32>
}
