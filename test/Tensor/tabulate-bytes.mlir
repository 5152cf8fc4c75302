// RUN: loopc-opt %s -split-input-file -pass-pipeline='builtin.module(func.func(tensor-tabulate-bytes))' | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
#one = affine_map<(i, j) -> ()>

// What an elementary function makes of a byte is computed for each byte, and
// looked up. What is one for all elements is read by the table alone.
// CHECK-LABEL: @table
// CHECK-SAME: %[[X:[^:]*]]: tensor<64x32xi8>, %[[S:[^:]*]]: tensor<f32>
// CHECK: %[[TABLE:.*]] = linalg.generic {{.*}} ins(%[[S]] : tensor<f32>) outs({{.*}} : tensor<256xi8>)
// CHECK: linalg.index 0
// CHECK: math.exp
// CHECK: linalg.generic {{.*}} ins(%[[X]] : tensor<64x32xi8>)
// CHECK-NEXT: ^bb0(%[[BYTE:.*]]: i8, %{{.*}}: i8):
// CHECK-NEXT: %[[AT:.*]] = arith.index_castui %[[BYTE]] : i8 to index
// CHECK-NEXT: %[[FOUND:.*]] = tensor.extract %[[TABLE]][%[[AT]]]
// CHECK-NEXT: linalg.yield %[[FOUND]]
func.func @table(%x: tensor<64x32xi8>, %s: tensor<f32>) -> tensor<64x32xi8> {
  %e = tensor.empty() : tensor<64x32xi8>
  %y = linalg.generic {indexing_maps = [#id, #one, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : tensor<64x32xi8>, tensor<f32>) outs(%e : tensor<64x32xi8>) {
  ^bb0(%a: i8, %scale: f32, %o: i8):
    %0 = arith.sitofp %a : i8 to f32
    %1 = arith.mulf %0, %scale : f32
    %2 = math.exp %1 : f32
    %3 = arith.fptosi %2 : f32 to i8
    linalg.yield %3 : i8
  } -> tensor<64x32xi8>
  return %y : tensor<64x32xi8>
}

// -----

// Not for a few bytes, nor for a scale for each column, nor without a function.
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>
// CHECK-LABEL: @as_it_is
// CHECK-COUNT-3: linalg.generic
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @as_it_is(%few: tensor<4x32xi8>, %x: tensor<64x32xi8>, %s: tensor<32xf32>) -> (tensor<4x32xi8>, tensor<64x32xi8>, tensor<64x32xi8>) {
  %e = tensor.empty() : tensor<4x32xi8>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%few : tensor<4x32xi8>) outs(%e : tensor<4x32xi8>) {
  ^bb0(%a: i8, %o: i8):
    %0 = arith.sitofp %a : i8 to f32
    %1 = math.exp %0 : f32
    %2 = arith.fptosi %1 : f32 to i8
    linalg.yield %2 : i8
  } -> tensor<4x32xi8>
  %f = tensor.empty() : tensor<64x32xi8>
  %z = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : tensor<64x32xi8>, tensor<32xf32>) outs(%f : tensor<64x32xi8>) {
  ^bb0(%a: i8, %scale: f32, %o: i8):
    %0 = arith.sitofp %a : i8 to f32
    %1 = arith.mulf %0, %scale : f32
    %2 = math.exp %1 : f32
    %3 = arith.fptosi %2 : f32 to i8
    linalg.yield %3 : i8
  } -> tensor<64x32xi8>
  %w = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<64x32xi8>) outs(%f : tensor<64x32xi8>) {
  ^bb0(%a: i8, %o: i8):
    %0 = arith.addi %a, %a : i8
    linalg.yield %0 : i8
  } -> tensor<64x32xi8>
  return %y, %z, %w : tensor<4x32xi8>, tensor<64x32xi8>, tensor<64x32xi8>
}

// -----

// Of a number that only the run knows outside of loops, where a table takes
// less than the run, and not in each iteration of one.
#id = affine_map<(i) -> (i)>
// CHECK-LABEL: @open
// CHECK: tensor<256xi8>
// CHECK: scf.for
// CHECK-NOT: tensor<256xi8>
// CHECK: return
func.func @open(%x: tensor<?xi8>, %n: index, %trips: index) -> tensor<?xi8> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty(%n) : tensor<?xi8>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<?xi8>) outs(%e : tensor<?xi8>) {
  ^bb0(%a: i8, %o: i8):
    %0 = arith.sitofp %a : i8 to f32
    %1 = math.tanh %0 : f32
    %2 = arith.fptosi %1 : f32 to i8
    linalg.yield %2 : i8
  } -> tensor<?xi8>
  %r = scf.for %i = %c0 to %trips step %c1 iter_args(%c = %y) -> (tensor<?xi8>) {
    %z = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
        ins(%c : tensor<?xi8>) outs(%e : tensor<?xi8>) {
    ^bb0(%a: i8, %o: i8):
      %0 = arith.sitofp %a : i8 to f32
      %1 = math.tanh %0 : f32
      %2 = arith.fptosi %1 : f32 to i8
      linalg.yield %2 : i8
    } -> tensor<?xi8>
    scf.yield %z : tensor<?xi8>
  }
  return %r : tensor<?xi8>
}

// -----

// A remainder traps for a byte that no element has to be.
#id = affine_map<(i) -> (i)>
// CHECK-LABEL: @may_trap
// CHECK-COUNT-1: linalg.generic
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @may_trap(%x: tensor<4096xi8>) -> tensor<4096xi8> {
  %c = arith.constant 100 : i8
  %e = tensor.empty() : tensor<4096xi8>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<4096xi8>) outs(%e : tensor<4096xi8>) {
  ^bb0(%a: i8, %o: i8):
    %0 = arith.remsi %c, %a : i8
    %1 = arith.sitofp %0 : i8 to f32
    %2 = math.tanh %1 : f32
    %3 = arith.fptosi %2 : f32 to i8
    linalg.yield %3 : i8
  } -> tensor<4096xi8>
  return %y : tensor<4096xi8>
}
