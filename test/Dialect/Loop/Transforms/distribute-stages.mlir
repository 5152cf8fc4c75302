// RUN: loopc-opt %s --split-input-file --linalg-generalize-named-ops \
// RUN:   --loop-distribute-stages="min-weight=1" --canonicalize | FileCheck %s
// RUN: loopc-opt %s --split-input-file --linalg-generalize-named-ops \
// RUN:   --loop-distribute-stages | FileCheck %s --check-prefix=SMALL

// Two cells, the second of the first one's state: two loops, of which the
// second reads what the first one collects. Each has what it carries, and the
// final states are those of the loop that carries them.
// CHECK-LABEL: func.func @stacked(
// CHECK: %[[ONE:.*]]:2 = loop.loop (%{{.*}}) trips(%{{.*}}) carried(%[[G:.*]] = %{{.*}} : tensor<1x4xf32>) collect(tensor<?x1x4xf32> axis 0) {
// CHECK: math.tanh
// CHECK-NOT: math.tanh
// CHECK: loop.yield
// CHECK: %[[TWO:.*]]:2 = loop.loop (%[[I:.*]] : index, %{{.*}}) trips(%{{.*}}) carried(%{{.*}} = %{{.*}} : tensor<1x4xf32>) collect(tensor<?x1x4xf32> axis 0) {
// CHECK: tensor.extract_slice %[[ONE]]#1[%[[I]], 0, 0] [1, 1, 4] [1, 1, 1] : tensor<?x1x4xf32> to tensor<1x4xf32>
// CHECK: linalg.generic
// CHECK: math.tanh
// CHECK-NOT: math.tanh
// CHECK: loop.yield
// CHECK: return %[[ONE]]#0, %[[TWO]]#0, %[[TWO]]#1
// Small weights stay in the cache from iteration to iteration.
// SMALL-LABEL: func.func @stacked(
// SMALL-COUNT-1: loop.loop
// SMALL-NOT: loop.loop
// SMALL: return
func.func @stacked(%xs: tensor<?x1x4xf32>, %g0: tensor<1x4xf32>, %h0: tensor<1x4xf32>, %w: tensor<4x4xf32>,
    %n: index) -> (tensor<1x4xf32>, tensor<1x4xf32>, tensor<?x1x4xf32>) {
  %true = arith.constant true
  %e = tensor.empty() : tensor<1x4xf32>
  %g, %h, %hs = loop.loop (%i : index, %c : i1) trips(%n : index)
      carried(%a = %g0 : tensor<1x4xf32>, %b = %h0 : tensor<1x4xf32>) collect(tensor<?x1x4xf32> axis 0) {
    %x = tensor.extract_slice %xs[%i, 0, 0] [1, 1, 4] [1, 1, 1] : tensor<?x1x4xf32> to tensor<1x4xf32>
    %s = linalg.add ins(%x, %a : tensor<1x4xf32>, tensor<1x4xf32>) outs(%e : tensor<1x4xf32>) -> tensor<1x4xf32>
    %g1 = linalg.tanh ins(%s : tensor<1x4xf32>) outs(%e : tensor<1x4xf32>) -> tensor<1x4xf32>
    %p = linalg.matmul ins(%g1, %w : tensor<1x4xf32>, tensor<4x4xf32>) outs(%x : tensor<1x4xf32>) -> tensor<1x4xf32>
    %q = linalg.add ins(%p, %b : tensor<1x4xf32>, tensor<1x4xf32>) outs(%e : tensor<1x4xf32>) -> tensor<1x4xf32>
    %h1 = linalg.tanh ins(%q : tensor<1x4xf32>) outs(%e : tensor<1x4xf32>) -> tensor<1x4xf32>
    loop.yield while(%true : i1) carried(%g1, %h1 : tensor<1x4xf32>, tensor<1x4xf32>) collect(%h1 : tensor<1x4xf32>)
  }
  return %g, %h, %hs : tensor<1x4xf32>, tensor<1x4xf32>, tensor<?x1x4xf32>
}

// -----

// The product is a part of the recurrence.
// CHECK-LABEL: func.func @recurrent(
// CHECK-COUNT-1: loop.loop
// CHECK-NOT: loop.loop
// CHECK: return
func.func @recurrent(%xs: tensor<?x1x4xf32>, %g0: tensor<1x4xf32>, %w: tensor<4x4xf32>, %n: index)
    -> tensor<?x1x4xf32> {
  %true = arith.constant true
  %e = tensor.empty() : tensor<1x4xf32>
  %g, %h, %hs = loop.loop (%i : index, %c : i1) trips(%n : index)
      carried(%a = %g0 : tensor<1x4xf32>, %b = %g0 : tensor<1x4xf32>) collect(tensor<?x1x4xf32> axis 0) {
    %x = tensor.extract_slice %xs[%i, 0, 0] [1, 1, 4] [1, 1, 1] : tensor<?x1x4xf32> to tensor<1x4xf32>
    %g1 = linalg.add ins(%x, %b : tensor<1x4xf32>, tensor<1x4xf32>) outs(%e : tensor<1x4xf32>) -> tensor<1x4xf32>
    %h1 = linalg.matmul ins(%a, %w : tensor<1x4xf32>, tensor<4x4xf32>) outs(%x : tensor<1x4xf32>) -> tensor<1x4xf32>
    loop.yield while(%true : i1) carried(%g1, %h1 : tensor<1x4xf32>, tensor<1x4xf32>) collect(%h1 : tensor<1x4xf32>)
  }
  return %hs : tensor<?x1x4xf32>
}

// -----

// A condition may end the loop; and what may fail in two stages would fail in
// another order.
// CHECK-LABEL: func.func @condition(
// CHECK-COUNT-1: loop.loop
// CHECK-NOT: loop.loop
// CHECK: return
func.func @condition(%xs: tensor<?x1x4xf32>, %g0: tensor<1x4xf32>, %w: tensor<4x4xf32>, %n: index, %p: i1)
    -> tensor<?x1x4xf32> {
  %e = tensor.empty() : tensor<1x4xf32>
  %g, %hs = loop.loop (%i : index, %c : i1) trips(%n : index) while(%p : i1)
      carried(%a = %g0 : tensor<1x4xf32>) collect(tensor<?x1x4xf32> axis 0) {
    %x = tensor.extract_slice %xs[%i, 0, 0] [1, 1, 4] [1, 1, 1] : tensor<?x1x4xf32> to tensor<1x4xf32>
    %g1 = linalg.add ins(%x, %a : tensor<1x4xf32>, tensor<1x4xf32>) outs(%e : tensor<1x4xf32>) -> tensor<1x4xf32>
    %h1 = linalg.matmul ins(%g1, %w : tensor<1x4xf32>, tensor<4x4xf32>) outs(%x : tensor<1x4xf32>) -> tensor<1x4xf32>
    %z = arith.constant 0 : index
    %v = tensor.extract %h1[%z, %z] : tensor<1x4xf32>
    %zero = arith.constant 0.0 : f32
    %go = arith.cmpf ogt, %v, %zero : f32
    loop.yield while(%go : i1) carried(%g1 : tensor<1x4xf32>) collect(%h1 : tensor<1x4xf32>)
  }
  return %hs : tensor<?x1x4xf32>
}

// CHECK-LABEL: func.func @errors(
// CHECK-COUNT-1: loop.loop
// CHECK-NOT: loop.loop
// CHECK: return
func.func @errors(%xs: tensor<?x1x4xf32>, %g0: tensor<1x4xf32>, %w: tensor<4x4xf32>, %n: index)
    -> tensor<?x1x4xf32> {
  %true = arith.constant true
  %e = tensor.empty() : tensor<1x4xf32>
  %z = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %g, %hs = loop.loop (%i : index, %c : i1) trips(%n : index)
      carried(%a = %g0 : tensor<1x4xf32>) collect(tensor<?x1x4xf32> axis 0) {
    %x = tensor.extract_slice %xs[%i, 0, 0] [1, 1, 4] [1, 1, 1] : tensor<?x1x4xf32> to tensor<1x4xf32>
    %g1 = linalg.add ins(%x, %a : tensor<1x4xf32>, tensor<1x4xf32>) outs(%e : tensor<1x4xf32>) -> tensor<1x4xf32>
    %u = tensor.extract %g1[%z, %z] : tensor<1x4xf32>
    %fine = arith.cmpf ogt, %u, %zero : f32
    loop.check %fine, "first"
    %h1 = linalg.matmul ins(%g1, %w : tensor<1x4xf32>, tensor<4x4xf32>) outs(%x : tensor<1x4xf32>) -> tensor<1x4xf32>
    %v = tensor.extract %h1[%z, %z] : tensor<1x4xf32>
    %good = arith.cmpf ogt, %v, %zero : f32
    loop.check %good, "second"
    loop.yield while(%true : i1) carried(%g1 : tensor<1x4xf32>) collect(%h1 : tensor<1x4xf32>)
  }
  return %hs : tensor<?x1x4xf32>
}

// -----

// Nothing is read or written in an iteration: memory would grow with the trips.
// CHECK-LABEL: func.func @state(
// CHECK-COUNT-1: loop.loop
// CHECK-NOT: loop.loop
// CHECK: return
func.func @state(%g0: tensor<1x4xf32>, %w: tensor<4x4xf32>, %n: index) -> tensor<1x4xf32> {
  %true = arith.constant true
  %e = tensor.empty() : tensor<1x4xf32>
  %g, %h = loop.loop (%i : index, %c : i1) trips(%n : index)
      carried(%a = %g0 : tensor<1x4xf32>, %b = %g0 : tensor<1x4xf32>) {
    %g1 = linalg.tanh ins(%a : tensor<1x4xf32>) outs(%e : tensor<1x4xf32>) -> tensor<1x4xf32>
    %h1 = linalg.matmul ins(%g1, %w : tensor<1x4xf32>, tensor<4x4xf32>) outs(%a : tensor<1x4xf32>) -> tensor<1x4xf32>
    loop.yield while(%true : i1) carried(%g1, %h1 : tensor<1x4xf32>, tensor<1x4xf32>)
  }
  return %h : tensor<1x4xf32>
}

// -----

// A check that waits for the second state guards what the first one reads.
// CHECK-LABEL: func.func @guarded(
// CHECK-COUNT-1: loop.loop
// CHECK-NOT: loop.loop
// CHECK: return
func.func @guarded(%ys: tensor<?x1x4xf32>, %xs: tensor<?xf32>, %order: tensor<?xindex>, %g0: tensor<1x4xf32>, %h0: tensor<1x4xf32>, %w: tensor<4x4xf32>,
    %n: index, %low: f32) -> (tensor<1x4xf32>, tensor<1x4xf32>) {
  %true = arith.constant true
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %xs, %c0 : tensor<?xf32>
  %e = tensor.empty() : tensor<1x4xf32>
  %g, %h = loop.loop (%i : index, %c : i1) trips(%n : index)
      carried(%a = %g0 : tensor<1x4xf32>, %b = %h0 : tensor<1x4xf32>) {
    %k = tensor.extract %order[%i] : tensor<?xindex>
    %inside = arith.cmpi ult, %k, %rows : index
    %v = tensor.extract %b[%c0, %c0] : tensor<1x4xf32>
    %above = arith.cmpf oge, %v, %low : f32
    %ok = arith.andi %inside, %above : i1
    loop.check %ok, "beyond"
    %number = tensor.extract %xs[%k] : tensor<?xf32>
    %y = tensor.extract_slice %ys[%i, 0, 0] [1, 1, 4] [1, 1, 1] : tensor<?x1x4xf32> to tensor<1x4xf32>
    %f = linalg.fill ins(%number : f32) outs(%e : tensor<1x4xf32>) -> tensor<1x4xf32>
    %x = linalg.add ins(%f, %y : tensor<1x4xf32>, tensor<1x4xf32>) outs(%e : tensor<1x4xf32>) -> tensor<1x4xf32>
    %s = linalg.add ins(%x, %a : tensor<1x4xf32>, tensor<1x4xf32>) outs(%e : tensor<1x4xf32>) -> tensor<1x4xf32>
    %g1 = linalg.tanh ins(%s : tensor<1x4xf32>) outs(%e : tensor<1x4xf32>) -> tensor<1x4xf32>
    %p = linalg.matmul ins(%g1, %w : tensor<1x4xf32>, tensor<4x4xf32>) outs(%x : tensor<1x4xf32>) -> tensor<1x4xf32>
    %q = linalg.add ins(%p, %b : tensor<1x4xf32>, tensor<1x4xf32>) outs(%e : tensor<1x4xf32>) -> tensor<1x4xf32>
    %h1 = linalg.tanh ins(%q : tensor<1x4xf32>) outs(%e : tensor<1x4xf32>) -> tensor<1x4xf32>
    loop.yield while(%true : i1) carried(%g1, %h1 : tensor<1x4xf32>, tensor<1x4xf32>)
  }
  return %g, %h : tensor<1x4xf32>, tensor<1x4xf32>
}
