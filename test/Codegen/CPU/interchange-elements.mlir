// RUN: loopc-opt %s --loopc-set-target="vector-bits=256 registers=16" --cpu-interchange-elements --cse | FileCheck %s
// RUN: loopc-opt %s --cpu-interchange-elements --remark-format=emitRemark \
// RUN:   --remarks-filter=loop 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>
#column = affine_map<(i, j) -> (i)>
#none = affine_map<(i, j) -> ()>
#swapped = affine_map<(i, j) -> (j, i)>
#one = affine_map<(i) -> (i)>

// All elements in one row of tiles: whole ones, then the rest under a mask. What
// nobody reads is not written.
// REMARK: "all iterations of a tile of elements run in registers"
// CHECK-LABEL: func @flat(
// CHECK-SAME: %[[N:[^:]+]]: i64, %[[A0:[^:]+]]: tensor<6x5xf32>, %[[B0:[^:]+]]: tensor<6x5xf32>, %[[C:[^:]+]]: tensor<6x5xf32>, %[[S:[^:]+]]: tensor<f32>)
func.func @flat(%n: i64, %a0: tensor<6x5xf32>, %b0: tensor<6x5xf32>, %c: tensor<6x5xf32>, %s: tensor<f32>) -> tensor<6x5xf32> {
  %e = tensor.empty() : tensor<6x5xf32>
  // CHECK: %[[OUT:.*]] = tensor.collapse_shape %{{.*}} : tensor<6x5xf32> into tensor<30xf32>
  // CHECK-DAG: %[[STEP:.*]] = arith.constant 16 : index
  // CHECK-DAG: %[[ALL:.*]] = arith.constant 30 : index
  // CHECK: scf.for %[[AT:[^ ]+]] = %{{.*}} to %[[STEP]] step %[[STEP]] iter_args(%[[O:[^ ]+]] = %[[OUT]])
  // CHECK-DAG: %[[FLAT:.*]] = tensor.collapse_shape %[[C]]
  // CHECK-DAG: %[[W:.*]] = vector.transfer_read %[[FLAT]][%[[AT]]]{{.*}} {in_bounds = [true]} : tensor<30xf32>, vector<16xf32>
  // CHECK-DAG: %[[SCALE:.*]] = vector.broadcast %{{.*}} : f32 to vector<16xf32>
  // CHECK: %[[R:.*]]:2 = loop.loop {{.*}} trips(%[[N]] : i64) carried(%[[A:[^ ]+]] = %{{[^ ]+}} : vector<16xf32>, %[[B:[^ ]+]] = %{{[^ ]+}} : vector<16xf32>)
  // CHECK: %[[P:.*]] = arith.mulf %[[A]], %[[SCALE]] : vector<16xf32>
  // CHECK: %[[Q:.*]] = arith.addf %[[P]], %[[W]] : vector<16xf32>
  // CHECK: loop.yield {{.*}} carried(%[[B]], %[[Q]]
  // CHECK: vector.transfer_write %[[R]]#0, %[[O]][%[[AT]]] {in_bounds = [true]}
  // CHECK: scf.for %{{[^ ]+}} = %[[STEP]] to %[[ALL]] step %[[STEP]]
  // CHECK: vector.transfer_read %{{.*}} : tensor<30xf32>, vector<16xf32>
  // CHECK: vector.transfer_write %{{.*}} : vector<16xf32>, tensor<30xf32>
  // CHECK: tensor.expand_shape %{{.*}} output_shape [6, 5]
  %r:2 = loop.loop (%i : i64, %k : i1) trips(%n : i64)
      carried(%a = %a0 : tensor<6x5xf32>, %b = %b0 : tensor<6x5xf32>) {
    %y = linalg.generic {indexing_maps = [#id, #id, #none, #id], iterator_types = ["parallel", "parallel"]}
        ins(%a, %c, %s : tensor<6x5xf32>, tensor<6x5xf32>, tensor<f32>) outs(%e : tensor<6x5xf32>) {
    ^bb0(%u: f32, %v: f32, %w: f32, %o: f32):
      %p = arith.mulf %u, %w : f32
      %q = arith.addf %p, %v : f32
      linalg.yield %q : f32
    } -> tensor<6x5xf32>
    loop.yield while(%k : i1) carried(%b, %y : tensor<6x5xf32>, tensor<6x5xf32>)
  }
  return %r#0 : tensor<6x5xf32>
}

// With broadcast operands the rows stay: neighbours of a row in a vector.
// CHECK-LABEL: func @rows(
// CHECK-SAME: %[[ROW:[^:]+]]: tensor<?xf32>, %[[COLUMN:[^:]+]]: tensor<7xf32>)
func.func @rows(%n: i64, %a0: tensor<7x?xf32>, %row: tensor<?xf32>, %column: tensor<7xf32>) -> tensor<7x?xf32> {
  %c1 = arith.constant 1 : index
  %d = tensor.dim %a0, %c1 : tensor<7x?xf32>
  %e = tensor.empty(%d) : tensor<7x?xf32>
  // CHECK: scf.for %[[I:[^ ]+]] = %{{[^ ]+}} to %{{[^ ]+}} step
  // CHECK: scf.for %[[J:[^ ]+]] =
  // CHECK-DAG: vector.transfer_read %[[ROW]][%[[J]]]
  // CHECK-DAG: %[[ONE:.*]] = tensor.extract %[[COLUMN]][%[[I]]]
  // CHECK-DAG: vector.broadcast %[[ONE]]
  // CHECK: loop.loop {{.*}} carried(%{{.*}} : vector<16xf32>)
  %r = loop.loop (%i : i64, %k : i1) trips(%n : i64) carried(%a = %a0 : tensor<7x?xf32>) {
    %y = linalg.generic {indexing_maps = [#id, #row, #column, #id], iterator_types = ["parallel", "parallel"]}
        ins(%a, %row, %column : tensor<7x?xf32>, tensor<?xf32>, tensor<7xf32>) outs(%e : tensor<7x?xf32>) {
    ^bb0(%u: f32, %v: f32, %w: f32, %o: f32):
      %p = arith.mulf %u, %v : f32
      %q = arith.addf %p, %w : f32
      linalg.yield %q : f32
    } -> tensor<7x?xf32>
    loop.yield while(%k : i1) carried(%y : tensor<7x?xf32>)
  }
  return %r : tensor<7x?xf32>
}

// REMARK: "iterations run outside, elements inside: a condition may end it between any two iterations"
// CHECK-LABEL: func @conditional(
func.func @conditional(%go: i1, %a0: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  // CHECK-NOT: vector
  %r = loop.loop (%i : i64, %k : i1) while(%go : i1) carried(%a = %a0 : tensor<8xf32>) {
    %y = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]}
        ins(%a : tensor<8xf32>) outs(%e : tensor<8xf32>) {
    ^bb0(%u: f32, %o: f32):
      %p = arith.mulf %u, %u : f32
      linalg.yield %p : f32
    } -> tensor<8xf32>
    loop.yield while(%k : i1) carried(%y : tensor<8xf32>)
  }
  return %r : tensor<8xf32>
}

// REMARK: "iterations run outside, elements inside: elements depend on others of the iteration before"
// CHECK-LABEL: func @transposed(
func.func @transposed(%n: i64, %a0: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %e = tensor.empty() : tensor<8x8xf32>
  // CHECK-NOT: vector
  %r = loop.loop (%i : i64, %k : i1) trips(%n : i64) carried(%a = %a0 : tensor<8x8xf32>) {
    %y = linalg.generic {indexing_maps = [#swapped, #id], iterator_types = ["parallel", "parallel"]}
        ins(%a : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
    ^bb0(%u: f32, %o: f32):
      linalg.yield %u : f32
    } -> tensor<8x8xf32>
    loop.yield while(%k : i1) carried(%y : tensor<8x8xf32>)
  }
  return %r : tensor<8x8xf32>
}

// A division could fail on what pads the rest.
// REMARK: "iterations run outside, elements inside: 'arith.divsi' is not computed in vectors"
// CHECK-LABEL: func @division(
func.func @division(%n: i64, %a0: tensor<9xi32>, %b: tensor<9xi32>) -> tensor<9xi32> {
  %e = tensor.empty() : tensor<9xi32>
  // CHECK-NOT: vector
  %r = loop.loop (%i : i64, %k : i1) trips(%n : i64) carried(%a = %a0 : tensor<9xi32>) {
    %y = linalg.generic {indexing_maps = [#one, #one, #one], iterator_types = ["parallel"]}
        ins(%a, %b : tensor<9xi32>, tensor<9xi32>) outs(%e : tensor<9xi32>) {
    ^bb0(%u: i32, %v: i32, %o: i32):
      %p = arith.divsi %u, %v : i32
      linalg.yield %p : i32
    } -> tensor<9xi32>
    loop.yield while(%k : i1) carried(%y : tensor<9xi32>)
  }
  return %r : tensor<9xi32>
}

// Truth values are bytes in memory and masks in registers; the number of the
// iteration is one for all elements.
// CHECK-LABEL: func @masks(
// CHECK: linalg.generic
// CHECK: %[[BYTES:.*]] = linalg.generic
// CHECK: arith.extui %{{.*}} : i1 to i8
// CHECK: scf.for
// CHECK: %[[READ:.*]] = vector.transfer_read %[[BYTES]]{{.*}} vector<8xi8>
// CHECK: %[[MASK:.*]] = arith.trunci %[[READ]] : vector<8xi8> to vector<8xi1>
// CHECK: %[[R:.*]]:2 = loop.loop (%[[I:[^ ]+]] : i64, {{.*}} carried(%{{[^ ]+}} = %{{[^ ]+}} : vector<8xi64>, %{{[^ ]+}} = %[[MASK]] : vector<8xi1>)
// CHECK: vector.broadcast %[[I]] : i64 to vector<8xi64>
// CHECK: arith.extui %[[R]]#1 : vector<8xi1> to vector<8xi8>
// CHECK: arith.trunci %{{.*}} : i8 to i1
func.func @masks(%n: i64, %a0: tensor<?xi64>, %b0: tensor<?xi1>) -> (tensor<?xi64>, tensor<?xi1>) {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %a0, %c0 : tensor<?xi64>
  %e = tensor.empty(%d) : tensor<?xi64>
  %f = tensor.empty(%d) : tensor<?xi1>
  %init = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]}
      ins(%b0 : tensor<?xi1>) outs(%f : tensor<?xi1>) {
  ^bb0(%u: i1, %o: i1):
    linalg.yield %u : i1
  } -> tensor<?xi1>
  %r:2 = loop.loop (%i : i64, %k : i1) trips(%n : i64) carried(%a = %a0 : tensor<?xi64>, %b = %init : tensor<?xi1>) {
    %s = tensor.from_elements %i : tensor<i64>
    %y:2 = linalg.generic {indexing_maps = [#one, #one, affine_map<(i) -> ()>, #one, #one], iterator_types = ["parallel"]}
        ins(%a, %b, %s : tensor<?xi64>, tensor<?xi1>, tensor<i64>) outs(%e, %f : tensor<?xi64>, tensor<?xi1>) {
    ^bb0(%u: i64, %v: i1, %w: i64, %o: i64, %p: i1):
      %q = arith.addi %u, %w : i64
      %t = arith.select %v, %q, %u : i64
      %g = arith.cmpi slt, %t, %w : i64
      linalg.yield %t, %g : i64, i1
    } -> (tensor<?xi64>, tensor<?xi1>)
    loop.yield while(%k : i1) carried(%y#0, %y#1 : tensor<?xi64>, tensor<?xi1>)
  }
  return %r#0, %r#1 : tensor<?xi64>, tensor<?xi1>
}

// A number that no vector holds.
// REMARK: "iterations run outside, elements inside: its elements are not held in vectors"
// CHECK-LABEL: func @complex(
// CHECK-NOT: vector
func.func @complex(%n: i64, %a0: tensor<8xf32>, %z: complex<f32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %r = loop.loop (%i : i64, %k : i1) trips(%n : i64) carried(%a = %a0 : tensor<8xf32>) {
    %y = linalg.generic {indexing_maps = [#one, affine_map<(i) -> ()>, #one], iterator_types = ["parallel"]}
        ins(%a, %z : tensor<8xf32>, complex<f32>) outs(%e : tensor<8xf32>) {
    ^bb0(%u: f32, %v: complex<f32>, %o: f32):
      %q = arith.addf %u, %u : f32
      linalg.yield %q : f32
    } -> tensor<8xf32>
    loop.yield while(%k : i1) carried(%y : tensor<8xf32>)
  }
  return %r : tensor<8xf32>
}

// Rows of an open number of elements: where these are one vector, they stay in
// registers, and rows that iterations read and write are read and written as
// they lie. More of them stay as they are.
// CHECK-LABEL: func @narrow(
// CHECK: %[[COUNT:.*]] = arith.muli %[[D:.*]], %{{.*}} : index
// CHECK: %[[IS:.*]] = arith.cmpi sle, %[[COUNT]], %c8
// CHECK: scf.if %[[IS]]
// CHECK: loop.loop {{.*}} carried(%{{.*}} = %{{.*}} : vector<8xf32>, %{{.*}} = %{{.*}} : tensor<?x2x?xf32>)
// CHECK: vector.transfer_read
// CHECK: vector.transfer_write
// CHECK: } else {
// CHECK: loop.loop {{.*}} carried(%{{.*}} = %{{.*}} : tensor<2x?xf32>, %{{.*}} = %{{.*}} : tensor<?x2x?xf32>)
func.func @narrow(%n: i64, %a0: tensor<2x?xf32>, %y0: tensor<?x2x?xf32>, %x: tensor<?x2x?xf32>) -> (tensor<2x?xf32>, tensor<?x2x?xf32>) {
  %c1 = arith.constant 1 : index
  %d = tensor.dim %a0, %c1 : tensor<2x?xf32>
  %e = tensor.empty(%d) : tensor<2x?xf32>
  %r:2 = loop.loop (%i : i64, %k : i1) trips(%n : i64)
      carried(%a = %a0 : tensor<2x?xf32>, %ys = %y0 : tensor<?x2x?xf32>) {
    %t = arith.index_cast %i : i64 to index
    %row = tensor.extract_slice %x[%t, 0, 0] [1, 2, %d] [1, 1, 1] : tensor<?x2x?xf32> to tensor<2x?xf32>
    %y = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%a, %row : tensor<2x?xf32>, tensor<2x?xf32>) outs(%e : tensor<2x?xf32>) {
    ^bb0(%u: f32, %v: f32, %o: f32):
      %p = arith.mulf %u, %v : f32
      linalg.yield %p : f32
    } -> tensor<2x?xf32>
    %all = tensor.insert_slice %y into %ys[%t, 0, 0] [1, 2, %d] [1, 1, 1] : tensor<2x?xf32> into tensor<?x2x?xf32>
    loop.yield while(%k : i1) carried(%y, %all : tensor<2x?xf32>, tensor<?x2x?xf32>)
  }
  return %r#0, %r#1 : tensor<2x?xf32>, tensor<?x2x?xf32>
}

// What lies before the loop was checked only if the loop runs: nothing is read
// in front of the first iteration where there is none.
// CHECK-LABEL: func @checked_before(
// CHECK: %[[RUNS:.*]] = arith.cmpi sgt
// CHECK: scf.if %[[RUNS]]
// CHECK: vector.transfer_read
// CHECK: loop.loop
// CHECK: } else {
// CHECK-NEXT: scf.yield %arg1
func.func @checked_before(%n: i64, %a0: tensor<?x?xf32>, %x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %none = arith.constant 0 : i64
  %d0 = tensor.dim %a0, %c0 : tensor<?x?xf32>
  %d1 = tensor.dim %a0, %c1 : tensor<?x?xf32>
  %dx = tensor.dim %x, %c1 : tensor<?x?xf32>
  %equal = arith.cmpi eq, %d1, %dx : index
  %isNever = arith.cmpi sle, %n, %none : i64
  %holds = arith.ori %equal, %isNever : i1
  loop.check %holds, "extents differ"
  %e = tensor.empty(%d0, %d1) : tensor<?x?xf32>
  %r = loop.loop (%i : i64, %k : i1) trips(%n : i64) carried(%a = %a0 : tensor<?x?xf32>) {
    %y = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%a, %x : tensor<?x?xf32>, tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) {
    ^bb0(%u: f32, %v: f32, %o: f32):
      %p = arith.mulf %u, %v : f32
      linalg.yield %p : f32
    } -> tensor<?x?xf32>
    loop.yield while(%k : i1) carried(%y : tensor<?x?xf32>)
  }
  return %r : tensor<?x?xf32>
}

// A row that is some cache lines has a version of tiles, too, whose state stays
// in registers while all iterations write to it. A longer one stays as it is.
// CHECK-LABEL: func @row(
// CHECK: %[[ONE:.*]] = arith.cmpi sle, %[[D:.*]], %c8
// CHECK: scf.if %[[ONE]]
// CHECK: loop.loop {{.*}} carried(%{{.*}} = %{{.*}} : vector<8xf32>, %{{.*}} = %{{.*}} : tensor<?x?xf32>)
// CHECK: } else {
// CHECK: %[[SHORT:.*]] = arith.cmpi sle, %[[D]], %c64
// CHECK: scf.if %[[SHORT]]
// CHECK: loop.loop {{.*}} carried(%{{.*}} = %{{.*}} : vector<16xf32>, %{{.*}} = %{{.*}} : tensor<?x?xf32>)
// CHECK: } else {
// CHECK: loop.loop {{.*}} carried(%{{.*}} = %{{.*}} : tensor<?xf32>, %{{.*}} = %{{.*}} : tensor<?x?xf32>)
func.func @row(%n: i64, %a0: tensor<?xf32>, %y0: tensor<?x?xf32>, %x: tensor<?x?xf32>) -> (tensor<?xf32>, tensor<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %a0, %c0 : tensor<?xf32>
  %e = tensor.empty(%d) : tensor<?xf32>
  %r:2 = loop.loop (%i : i64, %k : i1) trips(%n : i64)
      carried(%a = %a0 : tensor<?xf32>, %ys = %y0 : tensor<?x?xf32>) {
    %t = arith.index_cast %i : i64 to index
    %row = tensor.extract_slice %x[%t, 0] [1, %d] [1, 1] : tensor<?x?xf32> to tensor<?xf32>
    %y = linalg.generic {indexing_maps = [#one, #one, #one], iterator_types = ["parallel"]}
        ins(%a, %row : tensor<?xf32>, tensor<?xf32>) outs(%e : tensor<?xf32>) {
    ^bb0(%u: f32, %v: f32, %o: f32):
      %p = arith.mulf %u, %v : f32
      linalg.yield %p : f32
    } -> tensor<?xf32>
    %all = tensor.insert_slice %y into %ys[%t, 0] [1, %d] [1, 1] : tensor<?xf32> into tensor<?x?xf32>
    loop.yield while(%k : i1) carried(%y, %all : tensor<?xf32>, tensor<?x?xf32>)
  }
  return %r#0, %r#1 : tensor<?xf32>, tensor<?x?xf32>
}
