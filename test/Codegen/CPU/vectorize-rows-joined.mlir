// RUN: loopc-opt %s --pass-pipeline='builtin.module(loopc-set-target{vector-bits=512 mask-bits=8},func.func(cpu-vectorize-rows,canonicalize,cse))' | FileCheck %s

#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#rows = affine_map<(d0, d1) -> (d0, d1)>
#three = affine_map<(d0, d1, d2) -> (d0, d1, d2)>

// A part of open extents that is cut along its channels: rows and columns are
// one behind the other, though the type of the view does not tell.
// CHECK-LABEL: func @channels(
// CHECK-SAME: %[[X:[^:]+]]: memref<?x?x?x?xf32>
// CHECK: %[[Y:.*]] = memref.alloc(
// CHECK-DAG: %[[FROM:.*]] = memref.collapse_shape %[[X]] {{\[\[}}0], [1, 2, 3]]
// CHECK-DAG: %[[ALL:.*]] = memref.collapse_shape %[[Y]] {{\[\[}}0], [1, 2, 3]]
// CHECK: %[[PART:.*]] = memref.subview %[[ALL]][0, %{{.*}}] {{.*}} to memref<?x?xf32, strided<[?, 1], offset: ?>>
// CHECK: vector.load %[[FROM]]
// CHECK: vector.store %{{.*}}, %[[PART]]
func.func @channels(%x: memref<?x?x?x?xf32>, %n: index, %c: index, %h: index, %w: index, %first: index, %some: index) -> memref<?x?x?x?xf32> {
  %y = memref.alloc(%n, %c, %h, %w) : memref<?x?x?x?xf32>
  %part = memref.subview %y[0, %first, 0, 0] [%n, %some, %h, %w] [1, 1, 1, 1] : memref<?x?x?x?xf32> to memref<?x?x?x?xf32, strided<[?, ?, ?, 1], offset: ?>>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x : memref<?x?x?x?xf32>) outs(%part : memref<?x?x?x?xf32, strided<[?, ?, ?, 1], offset: ?>>) {
  ^bb0(%p: f32, %o: f32):
    linalg.yield %p : f32
  }
  return %y : memref<?x?x?x?xf32>
}

// Of a part of an argument, whose extents it is asked for.
// CHECK-LABEL: func @split(
// CHECK: memref.collapse_shape %{{.*}} {{\[\[}}0], [1, 2, 3]] : memref<?x?x?x?xf32> into memref<?x?xf32>
// CHECK: memref.subview {{.*}} strided<[?, 1]
func.func @split(%x: memref<?x?x?x?xf32>, %some: index) -> memref<?x?x?x?xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %n = memref.dim %x, %c0 : memref<?x?x?x?xf32>
  %h = memref.dim %x, %c2 : memref<?x?x?x?xf32>
  %w = memref.dim %x, %c3 : memref<?x?x?x?xf32>
  %part = memref.subview %x[0, 0, 0, 0] [%n, %some, %h, %w] [1, 1, 1, 1] : memref<?x?x?x?xf32> to memref<?x?x?x?xf32, strided<[?, ?, ?, 1]>>
  %y = memref.alloc(%n, %some, %h, %w) : memref<?x?x?x?xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%part : memref<?x?x?x?xf32, strided<[?, ?, ?, 1]>>) outs(%y : memref<?x?x?x?xf32>) {
  ^bb0(%p: f32, %o: f32):
    linalg.yield %p : f32
  }
  return %y : memref<?x?x?x?xf32>
}

// Rows that are cut do not lie one behind the other.
// CHECK-LABEL: func @cut_rows(
// CHECK-NOT: memref.collapse_shape
func.func @cut_rows(%x: memref<?x?x?x?xf32>, %n: index, %c: index, %h: index, %w: index, %some: index) -> memref<?x?x?x?xf32> {
  %y = memref.alloc(%n, %c, %h, %w) : memref<?x?x?x?xf32>
  %part = memref.subview %y[0, 0, 0, 0] [%n, %c, %h, %some] [1, 1, 1, 1] : memref<?x?x?x?xf32> to memref<?x?x?x?xf32, strided<[?, ?, ?, 1]>>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x : memref<?x?x?x?xf32>) outs(%part : memref<?x?x?x?xf32, strided<[?, ?, ?, 1]>>) {
  ^bb0(%p: f32, %o: f32):
    linalg.yield %p : f32
  }
  return %y : memref<?x?x?x?xf32>
}

// A part along the first of the axes that are joined, whose rows are whole, lies
// in one piece.
// CHECK-LABEL: func @rows(
// CHECK-SAME: %{{[^:]+}}: memref<?x?x?xf32>, %[[N:[^:]+]]: index, %[[H:[^:]+]]: index, %[[W:[^:]+]]: index, %[[FIRST:[^:]+]]: index, %[[SOME:[^:]+]]: index
// CHECK-DAG: %[[BEFORE:.*]] = arith.muli %[[FIRST]], %[[W]]
// CHECK-DAG: %[[SIZE:.*]] = arith.muli %[[SOME]], %[[W]]
// CHECK-DAG: %[[Y:.*]] = memref.alloc(
// CHECK-DAG: %[[ALL:.*]] = memref.collapse_shape %[[Y]] {{\[\[}}0], [1, 2]]
// CHECK: memref.subview %[[ALL]][0, %[[BEFORE]]] [%[[N]], %[[SIZE]]] [1, 1]
func.func @rows(%x: memref<?x?x?xf32>, %n: index, %h: index, %w: index, %first: index, %some: index) -> memref<?x?x?xf32> {
  %y = memref.alloc(%n, %h, %w) : memref<?x?x?xf32>
  %part = memref.subview %y[0, %first, 0] [%n, %some, %w] [1, 1, 1] : memref<?x?x?xf32> to memref<?x?x?xf32, strided<[?, ?, 1], offset: ?>>
  linalg.generic {indexing_maps = [#three, #three], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : memref<?x?x?xf32>) outs(%part : memref<?x?x?xf32, strided<[?, ?, 1], offset: ?>>) {
  ^bb0(%p: f32, %o: f32):
    linalg.yield %p : f32
  }
  return %y : memref<?x?x?xf32>
}

// A row of an open length, at the end of what grows: with the axis of one
// element before it, it would have no known stride, and no vectors.
// CHECK-LABEL: func @appended(
// CHECK-NOT: memref.collapse_shape
// CHECK: math.tanh %{{.*}} : vector<16xf32>
// CHECK: vector.store
func.func @appended(%x: memref<1x1x?xf32>, %y: memref<?x?x?xf32>, %n: index, %at: index) {
  %row = memref.subview %y[%at, %at, 0] [1, 1, %n] [1, 1, 1] : memref<?x?x?xf32> to memref<1x1x?xf32, strided<[?, ?, 1], offset: ?>>
  linalg.generic {indexing_maps = [#three, #three], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : memref<1x1x?xf32>) outs(%row : memref<1x1x?xf32, strided<[?, ?, 1], offset: ?>>) {
  ^bb0(%p: f32, %o: f32):
    %t = math.tanh %p : f32
    linalg.yield %t : f32
  }
  return
}

// Open rows may have one element: all of them are one row, of which threads get
// parts.
// CHECK-LABEL: func @open_rows(
// CHECK-COUNT-2: memref.collapse_shape %{{.*}} {{\[\[}}0, 1]] : memref<?x?xf64> into memref<?xf64>
// CHECK: scf.for
// CHECK-NOT: scf.for
// CHECK: vector.store
// CHECK: } {loopc.parallel}
// CHECK: return
func.func @open_rows(%x: memref<?x?xf64>, %y: memref<?x?xf64>) {
  linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel"]} ins(%x : memref<?x?xf64>) outs(%y : memref<?x?xf64>) {
  ^bb0(%p: f64, %o: f64):
    %e = math.exp %p : f64
    linalg.yield %e : f64
  }
  return
}

// What another operation reads keeps its first axes, as heads that may take
// turns; what nobody else has does not.
// CHECK-LABEL: func @heads(
// CHECK-COUNT-2: memref.collapse_shape %{{.*}} {{\[\[}}0], [1], [2, 3]]
// CHECK: linalg.fill
func.func @heads(%x: memref<?x?x?x?xf64>, %n: index, %p: f64) -> memref<?x?x?x?xf64> {
  %y = memref.alloc(%n, %n, %n, %n) : memref<?x?x?x?xf64>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x : memref<?x?x?x?xf64>) outs(%y : memref<?x?x?x?xf64>) {
  ^bb0(%a: f64, %o: f64):
    %e = math.exp %a : f64
    linalg.yield %e : f64
  }
  linalg.fill ins(%p : f64) outs(%y : memref<?x?x?x?xf64>)
  return %y : memref<?x?x?x?xf64>
}

// CHECK-LABEL: func @alone(
// CHECK-COUNT-2: memref.collapse_shape %{{.*}} {{\[\[}}0, 1, 2, 3]]
func.func @alone(%x: memref<?x?x?x?xf64>, %n: index) -> memref<?x?x?x?xf64> {
  %y = memref.alloc(%n, %n, %n, %n) : memref<?x?x?x?xf64>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x : memref<?x?x?x?xf64>) outs(%y : memref<?x?x?x?xf64>) {
  ^bb0(%a: f64, %o: f64):
    %e = math.exp %a : f64
    linalg.yield %e : f64
  }
  return %y : memref<?x?x?x?xf64>
}

// So are fixed rows that are short and no whole vectors: each would end with one
// that is nearly empty.
// CHECK-LABEL: func @short_rows(
// CHECK-COUNT-2: memref.collapse_shape %{{.*}} {{\[\[}}0, 1]] : memref<1000x17xf32> into memref<17000xf32>
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel"]}
func.func @short_rows(%x: memref<1000x17xf32>, %y: memref<1000x17xf32>) {
  linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel"]} ins(%x : memref<1000x17xf32>) outs(%y : memref<1000x17xf32>) {
  ^bb0(%p: f32, %o: f32):
    %e = math.exp %p : f32
    linalg.yield %e : f32
  }
  return
}
