// RUN: loopc-opt %s --tensor-fuse-elementwise --cse | FileCheck %s

// Rows are shifted with wrap-around, columns with padding: four pieces, of which
// the inner one reads slices of the field. No shifted field is made.
#id = affine_map<(d0, d1) -> (d0, d1)>
#line = affine_map<(d0) -> (d0)>
// CHECK-LABEL: func @stencil(
// CHECK-SAME: %[[X:[^:]+]]: tensor<64x32xf32>)
func.func @stencil(%x: tensor<64x32xf32>) -> tensor<64x32xf32> {
  // CHECK-DAG: %[[ROWS:.*]] = tensor.extract_slice %[[X]][0, 0] [63, 32]
  // CHECK-DAG: %[[COLUMNS:.*]] = tensor.extract_slice %[[X]][0, 0] [64, 31]
  // CHECK-NOT: tensor.insert_slice %[[ROWS]]
  // CHECK: linalg.generic
  // CHECK: linalg.generic
  // CHECK: linalg.generic
  // CHECK: %[[FIELD:.*]] = tensor.extract_slice %[[X]][1, 1] [63, 31]
  // CHECK: %[[ABOVE:.*]] = tensor.extract_slice %[[ROWS]][0, 1] [63, 31]
  // CHECK: %[[LEFT:.*]] = tensor.extract_slice %[[COLUMNS]][1, 0] [63, 31]
  // CHECK: linalg.generic {{.*}} ins(%[[FIELD]], %[[ABOVE]], %[[LEFT]] :
  // CHECK: tensor.insert_slice {{.*}}[1, 1] [63, 31]
  // CHECK-NEXT: return
  %zero = arith.constant 0.0 : f32
  %last = tensor.extract_slice %x[63, 0] [1, 32] [1, 1] : tensor<64x32xf32> to tensor<1x32xf32>
  %rest = tensor.extract_slice %x[0, 0] [63, 32] [1, 1] : tensor<64x32xf32> to tensor<63x32xf32>
  %empty = tensor.empty() : tensor<64x32xf32>
  %first = tensor.insert_slice %last into %empty[0, 0] [1, 32] [1, 1] : tensor<1x32xf32> into tensor<64x32xf32>
  %down = tensor.insert_slice %rest into %first[1, 0] [63, 32] [1, 1] : tensor<63x32xf32> into tensor<64x32xf32>
  %begin = tensor.extract_slice %x[0, 0] [64, 31] [1, 1] : tensor<64x32xf32> to tensor<64x31xf32>
  %frame = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x32xf32>) -> tensor<64x32xf32>
  %right = tensor.insert_slice %begin into %frame[0, 1] [64, 31] [1, 1] : tensor<64x31xf32> into tensor<64x32xf32>
  %y = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %down, %right : tensor<64x32xf32>, tensor<64x32xf32>, tensor<64x32xf32>) outs(%empty : tensor<64x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    %t = arith.addf %s, %c : f32
    linalg.yield %t : f32
  } -> tensor<64x32xf32>
  return %y : tensor<64x32xf32>
}

// An open axis that no shift goes along stays whole.
// CHECK-LABEL: func @batch(
func.func @batch(%x: tensor<?x1024xf32>) -> tensor<?x1024xf32> {
  // CHECK: linalg.generic
  // CHECK: tensor<?x1xf32>
  // CHECK: linalg.generic
  // CHECK: tensor<?x1023xf32>
  // CHECK-NOT: linalg.generic
  // CHECK: return
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x1024xf32>
  %last = tensor.extract_slice %x[0, 1023] [%n, 1] [1, 1] : tensor<?x1024xf32> to tensor<?x1xf32>
  %rest = tensor.extract_slice %x[0, 0] [%n, 1023] [1, 1] : tensor<?x1024xf32> to tensor<?x1023xf32>
  %empty = tensor.empty(%n) : tensor<?x1024xf32>
  %first = tensor.insert_slice %last into %empty[0, 0] [%n, 1] [1, 1] : tensor<?x1xf32> into tensor<?x1024xf32>
  %right = tensor.insert_slice %rest into %first[0, 1] [%n, 1023] [1, 1] : tensor<?x1023xf32> into tensor<?x1024xf32>
  %y = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %right : tensor<?x1024xf32>, tensor<?x1024xf32>) outs(%empty : tensor<?x1024xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<?x1024xf32>
  return %y : tensor<?x1024xf32>
}

// Two halves: neither piece has nearly all, what is put together is copied once.
// CHECK-LABEL: func @halves(
func.func @halves(%x: tensor<1024xf32>, %z: tensor<1024xf32>) -> tensor<1024xf32> {
  // CHECK: tensor.insert_slice
  // CHECK: tensor.insert_slice
  // CHECK: linalg.generic
  // CHECK-NOT: tensor.insert_slice
  // CHECK: return
  %a = tensor.extract_slice %x[512] [512] [1] : tensor<1024xf32> to tensor<512xf32>
  %b = tensor.extract_slice %x[0] [512] [1] : tensor<1024xf32> to tensor<512xf32>
  %empty = tensor.empty() : tensor<1024xf32>
  %first = tensor.insert_slice %a into %empty[0] [512] [1] : tensor<512xf32> into tensor<1024xf32>
  %all = tensor.insert_slice %b into %first[512] [512] [1] : tensor<512xf32> into tensor<1024xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%z, %all : tensor<1024xf32>, tensor<1024xf32>) outs(%empty : tensor<1024xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %s = arith.mulf %p, %q : f32
    linalg.yield %s : f32
  } -> tensor<1024xf32>
  return %y : tensor<1024xf32>
}

// An open axis of what is put together, which another operand tells: both parts
// are read where they are.
// CHECK-LABEL: func @told_by_another(
// CHECK-SAME: %[[X:[^:]+]]: tensor<?x598xf32>, %[[Y:[^:]+]]: tensor<4x600xf32>)
// CHECK: %[[INNER:.*]] = tensor.extract_slice %[[X]][0, 0] [4, 598]
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[INNER]] : tensor<4x598xf32>, tensor<4x598xf32>)
func.func @told_by_another(%x: tensor<?x598xf32>, %y: tensor<4x600xf32>) -> tensor<4x600xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %rows = tensor.dim %x, %c0 : tensor<?x598xf32>
  %empty = tensor.empty(%rows) : tensor<?x600xf32>
  %frame = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x600xf32>) -> tensor<?x600xf32>
  %padded = tensor.insert_slice %x into %frame[0, 1] [%rows, 598] [1, 1] : tensor<?x598xf32> into tensor<?x600xf32>
  %init = tensor.empty() : tensor<4x600xf32>
  %z = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%y, %padded : tensor<4x600xf32>, tensor<?x600xf32>) outs(%init : tensor<4x600xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<4x600xf32>
  return %z : tensor<4x600xf32>
}

// Numbers of iterations are those of the whole, in a short field as well.
// CHECK-LABEL: func @counted(
// CHECK: linalg.generic {{.*}} tensor<1xi64>
// CHECK: linalg.generic {{.*}} tensor<127xi64>
// CHECK: %[[M:.*]] = linalg.index 0
// CHECK: %[[AT:.*]] = arith.addi %[[M]], %c1
// CHECK: arith.index_cast %[[AT]]
func.func @counted(%x: tensor<128xi64>) -> tensor<128xi64> {
  %last = tensor.extract_slice %x[127] [1] [1] : tensor<128xi64> to tensor<1xi64>
  %rest = tensor.extract_slice %x[0] [127] [1] : tensor<128xi64> to tensor<127xi64>
  %empty = tensor.empty() : tensor<128xi64>
  %first = tensor.insert_slice %last into %empty[0] [1] [1] : tensor<1xi64> into tensor<128xi64>
  %right = tensor.insert_slice %rest into %first[1] [127] [1] : tensor<127xi64> into tensor<128xi64>
  %y = linalg.generic {indexing_maps = [#line, #line], iterator_types = ["parallel"]} ins(%right : tensor<128xi64>) outs(%empty : tensor<128xi64>) {
  ^bb0(%a: i64, %o: i64):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i64
    %s = arith.muli %a, %n : i64
    linalg.yield %s : i64
  } -> tensor<128xi64>
  return %y : tensor<128xi64>
}

// How long the field is only a run knows. Two shifts pass from one part to the
// other at two places; a run finds out which part of each a piece lies in.
// CHECK-LABEL: func @open(
// CHECK-SAME: %{{.*}}: i64, %{{[^:]+}}: tensor<?xf32>, %[[P:[^:]+]]: index, %[[Q:[^:]+]]: index,
// CHECK: loop.loop {{.*}} carried(%[[U:.*]] = %{{.*}} : tensor<?xf32>)
// CHECK-DAG: arith.minsi %[[P]], %[[Q]]
// CHECK-DAG: arith.maxsi %[[P]], %[[Q]]
// CHECK-NOT: tensor.insert_slice
// CHECK: linalg.generic
// CHECK: tensor.insert_slice
// CHECK: %[[BEHIND:.*]] = arith.cmpi sge
// CHECK: %[[FROM:.*]] = arith.select %[[BEHIND]]
// CHECK: tensor.extract_slice %[[U]][%[[FROM]]]
// CHECK: linalg.generic
// CHECK: linalg.generic
// CHECK-NOT: linalg.generic
// CHECK: loop.yield
func.func @open(%n: i64, %x: tensor<?xf32>, %p: index, %q: index, %p1: index, %q1: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %x, %c0 : tensor<?xf32>
  %s = arith.addi %p, %p1 : index
  %t = arith.addi %q, %q1 : index
  %a = arith.cmpi eq, %s, %d : index
  %b = arith.cmpi eq, %t, %d : index
  %both = arith.andi %a, %b : i1
  %r = scf.if %both -> (tensor<?xf32>) {
    %empty = tensor.empty(%d) : tensor<?xf32>
    %l = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%u = %x : tensor<?xf32>) {
      %e = tensor.extract_slice %u[%p1] [%p] [1] : tensor<?xf32> to tensor<?xf32>
      %f = tensor.extract_slice %u[0] [%p1] [1] : tensor<?xf32> to tensor<?xf32>
      %g = tensor.insert_slice %e into %empty[0] [%p] [1] : tensor<?xf32> into tensor<?xf32>
      %h = tensor.insert_slice %f into %g[%p] [%p1] [1] : tensor<?xf32> into tensor<?xf32>
      %j = tensor.extract_slice %u[%q1] [%q] [1] : tensor<?xf32> to tensor<?xf32>
      %k = tensor.extract_slice %u[0] [%q1] [1] : tensor<?xf32> to tensor<?xf32>
      %m = tensor.insert_slice %j into %empty[0] [%q] [1] : tensor<?xf32> into tensor<?xf32>
      %o = tensor.insert_slice %k into %m[%q] [%q1] [1] : tensor<?xf32> into tensor<?xf32>
      %y = linalg.generic {indexing_maps = [#line, #line, #line], iterator_types = ["parallel"]} ins(%h, %o : tensor<?xf32>, tensor<?xf32>) outs(%empty : tensor<?xf32>) {
      ^bb0(%v: f32, %w: f32, %z: f32):
        %sum = arith.addf %v, %w : f32
        linalg.yield %sum : f32
      } -> tensor<?xf32>
      loop.yield while(%c : i1) carried(%y : tensor<?xf32>)
    }
    scf.yield %l : tensor<?xf32>
  } else {
    scf.yield %x : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

// One cut: each side has its part, whatever that is.
// CHECK-LABEL: func @padded(
// CHECK: loop.loop {{.*}} carried(%[[U:.*]] = %{{.*}} : tensor<?xf32>)
// CHECK: linalg.generic
// CHECK: %[[REST:.*]] = tensor.extract_slice %{{.*}}[0] [%{{.*}}] [1]
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[REST]] :
// CHECK-NOT: linalg.generic
// CHECK: loop.yield
func.func @padded(%n: i64, %x: tensor<?xf32>, %k: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %d = arith.addi %k, %c1 : index
  %begin = tensor.extract_slice %x[0] [%d] [1] : tensor<?xf32> to tensor<?xf32>
  %empty = tensor.empty(%d) : tensor<?xf32>
  %l = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%u = %begin : tensor<?xf32>) {
    %e = tensor.extract_slice %u[0] [%k] [1] : tensor<?xf32> to tensor<?xf32>
    %f = linalg.fill ins(%zero : f32) outs(%empty : tensor<?xf32>) -> tensor<?xf32>
    %g = tensor.insert_slice %e into %f[1] [%k] [1] : tensor<?xf32> into tensor<?xf32>
    %y = linalg.generic {indexing_maps = [#line, #line, #line], iterator_types = ["parallel"]} ins(%u, %g : tensor<?xf32>, tensor<?xf32>) outs(%empty : tensor<?xf32>) {
    ^bb0(%v: f32, %w: f32, %z: f32):
      %sum = arith.addf %v, %w : f32
      linalg.yield %sum : f32
    } -> tensor<?xf32>
    loop.yield while(%c : i1) carried(%y : tensor<?xf32>)
  }
  return %l : tensor<?xf32>
}

// Nothing says that both parts are all of it: it stays as it is.
// CHECK-LABEL: func @not_covered(
// CHECK: linalg.generic
// CHECK-NOT: linalg.generic
// CHECK: loop.yield
func.func @not_covered(%n: i64, %x: tensor<?xf32>, %p: index, %q: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %x, %c0 : tensor<?xf32>
  %empty = tensor.empty(%d) : tensor<?xf32>
  %l = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%u = %x : tensor<?xf32>) {
    %e = tensor.extract_slice %u[0] [%p] [1] : tensor<?xf32> to tensor<?xf32>
    %f = tensor.extract_slice %u[0] [%q] [1] : tensor<?xf32> to tensor<?xf32>
    %g = tensor.insert_slice %e into %empty[0] [%p] [1] : tensor<?xf32> into tensor<?xf32>
    %h = tensor.insert_slice %f into %g[%p] [%q] [1] : tensor<?xf32> into tensor<?xf32>
    %y = linalg.generic {indexing_maps = [#line, #line, #line], iterator_types = ["parallel"]} ins(%u, %h : tensor<?xf32>, tensor<?xf32>) outs(%empty : tensor<?xf32>) {
    ^bb0(%v: f32, %w: f32, %z: f32):
      %sum = arith.addf %v, %w : f32
      linalg.yield %sum : f32
    } -> tensor<?xf32>
    loop.yield while(%c : i1) carried(%y : tensor<?xf32>)
  }
  return %l : tensor<?xf32>
}
