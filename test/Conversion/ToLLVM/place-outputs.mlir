// RUN: loopc-opt %s --split-input-file --loopc-place-outputs | FileCheck %s

// A view of a whole buffer, and the buffer itself: of both every extent is one of
// the buffer's, where there are elements.
// CHECK-DAG: #[[ROWS:.*]] = affine_map<(d0, d1) -> (d0, 1, d1)>
// CHECK-DAG: #[[FOUR:.*]] = affine_map<(d0) -> (4)>
// CHECK-LABEL: func @whole
func.func @whole(%n: index, %m: index, %empty: i1) -> (memref<?x1x?xf32>, memref<4xi64>) {
  // CHECK: memref.alloc(%{{.*}}, %{{.*}}) {loopc.output = [0, #[[ROWS]]]} : memref<?x?xf32>
  // CHECK: memref.alloc() {loopc.output = [1, #[[FOUR]]]} : memref<4xi64>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc(%n, %m) : memref<?x?xf32>
  %b = memref.alloc() : memref<4xi64>
  %flat = memref.collapse_shape %a [[0, 1]] : memref<?x?xf32> into memref<?xf32>
  %columns = arith.select %empty, %c0, %m : index
  %y = memref.expand_shape %flat [[0, 1, 2]] output_shape [%n, 1, %columns] : memref<?xf32> into memref<?x1x?xf32>
  return %y, %b : memref<?x1x?xf32>, memref<4xi64>
}

// -----

// In each branch that makes one; the shape of an output without a rank counts for
// no output.
// CHECK: #[[SAME:.*]] = affine_map<(d0) -> (d0)>
// CHECK-LABEL: func @branches
func.func @branches(%c: i1, %n: index, %x: memref<?xf32>, %s: memref<?xi64>)
    -> (memref<?xf32>, memref<?xi64> {loopc.shape_of = "a"}, memref<?xf32>) {
  // CHECK: memref.alloc(%{{.*}}) : memref<?xf32>
  %a = memref.alloc(%n) : memref<?xf32>
  // CHECK: scf.if
  // CHECK: memref.alloc(%{{.*}}) {loopc.output = [1, #[[SAME]]]} : memref<?xf32>
  %y = scf.if %c -> memref<?xf32> {
    %b = memref.alloc(%n) : memref<?xf32>
    scf.yield %b : memref<?xf32>
  } else {
    scf.yield %x : memref<?xf32>
  }
  return %a, %s, %y : memref<?xf32>, memref<?xi64>, memref<?xf32>
}

// -----

!list = !list.list<f32>

// What is made again and again, a part, what is released where another one takes
// its place, what a list holds, and an extent that comes of something else: none.
// CHECK-LABEL: func @others
// CHECK-NOT: loopc.output
func.func @others(%n: index, %shape: memref<?xi64>, %at: index)
    -> (memref<?xf32>, memref<?xf32, strided<[1]>>, memref<?xf32>, memref<?xf32>, memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %first = memref.alloc(%n) : memref<?xf32>
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%before = %first) -> memref<?xf32> {
    memref.dealloc %before : memref<?xf32>
    %next = memref.alloc(%n) : memref<?xf32>
    scf.yield %next : memref<?xf32>
  }
  %all = memref.alloc(%n) : memref<?xf32>
  %part = memref.subview %all[0] [%c1] [1] : memref<?xf32> to memref<?xf32, strided<[1]>>
  %held = memref.alloc(%n) : memref<?xf32>
  %none = list.empty : !list
  %longer = list.insert %held, %shape into %none[%at] {element_owner = "share"}
      : memref<?xf32>, memref<?xi64> into !list
  %flat = memref.alloc(%n) : memref<?xf32>
  %rows = memref.load %shape[%c0] : memref<?xi64>
  %r = arith.index_cast %rows : i64 to index
  %columns = arith.divui %n, %r : index
  %y = memref.expand_shape %flat [[0, 1]] output_shape [%r, %columns] : memref<?xf32> into memref<?x?xf32>
  return %last, %part, %held, %first, %y : memref<?xf32>, memref<?xf32, strided<[1]>>, memref<?xf32>, memref<?xf32>, memref<?x?xf32>
}

// -----

// One buffer for two outputs is the first one's.
// CHECK-LABEL: func @twice
func.func @twice(%n: index) -> (memref<?xf32>, memref<?xf32>) {
  // CHECK: memref.alloc(%{{.*}}) {loopc.output = [0, #{{.*}}]}
  %a = memref.alloc(%n) : memref<?xf32>
  return %a, %a : memref<?xf32>, memref<?xf32>
}
