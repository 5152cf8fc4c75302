// RUN: loopc-opt %s --loop-lower-collected | FileCheck %s

// A buffer that is empty at first, doubled when it is full; the result is a view
// of the rows that were appended.
// CHECK-LABEL: func @grows(
func.func @grows(%go: i1, %x: memref<4xf32>) -> memref<?x4xf32> {
  // CHECK: %[[FIRST:.*]] = memref.alloc(%c0{{[_0-9]*}}) : memref<?xf32>
  // CHECK: %[[R:.*]]:2 = loop.loop {{.*}} carried(%[[COUNT:[^ ]+]] = %{{.*}} : index, %[[BUFFER:[^ ]+]] = %[[FIRST]] : memref<?xf32>)
  // CHECK: %[[USED:.*]] = arith.muli %[[COUNT]]
  // CHECK: %[[NEEDED:.*]] = arith.addi %[[USED]]
  // CHECK: %[[CAPACITY:.*]] = memref.dim %[[BUFFER]]
  // CHECK: %[[FULL:.*]] = arith.cmpi sgt, %[[NEEDED]], %[[CAPACITY]]
  // CHECK: %[[NEXT:.*]] = scf.if %[[FULL]]
  // CHECK: arith.muli %[[CAPACITY]], %{{.*}}
  // CHECK: memref.alloc
  // CHECK: memref.copy
  // CHECK: else
  // CHECK-NEXT: scf.yield %[[BUFFER]]
  // CHECK: %[[ROW:.*]] = memref.reinterpret_cast %[[NEXT]] to offset: [%[[USED]]], sizes: [4]
  // CHECK: memref.copy %{{.*}}, %[[ROW]]
  // CHECK: loop.yield {{.*}} carried(%{{.*}}, %[[NEXT]] : index, memref<?xf32>)
  // CHECK: memref.subview %[[R]]#1[0]
  // CHECK: memref.expand_shape %{{.*}} {{\[\[}}0, 1]] output_shape [%[[R]]#0, 4]
  %all = loop.loop (%i : i64, %c : i1) while(%go : i1) collect(memref<?x4xf32> axis 0) {
    loop.yield while(%c : i1) collect(%x : memref<4xf32>)
  }
  return %all : memref<?x4xf32>
}

// loop_collect_shape: all iterations yield one shape; the first one's counts.
// loop_zero: without an iteration it is 0.
// CHECK-LABEL: func @shape(
func.func @shape(%go: i1, %x: memref<?xf32>) -> memref<?x?xf32> {
  // CHECK: loop.loop {{.*}} carried(%[[COUNT:[^ ]+]] = {{.*}}, %{{.*}} = {{.*}}, %[[BEFORE:[^ ]+]] = %c0{{[_0-9]*}} : index)
  // CHECK: %[[NOW:.*]] = memref.dim
  // CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[COUNT]]
  // CHECK: %[[SAME:.*]] = arith.cmpi eq, %[[NOW]], %[[BEFORE]]
  // CHECK: %[[OK:.*]] = arith.ori %[[FIRST]], %[[SAME]]
  // CHECK: loop.check %[[OK]], "{{.*}}collected value #0 has shape [{}], in the iterations before [{}]"(%[[NOW]], %[[BEFORE]] : index, index)
  // CHECK: loop.yield {{.*}} carried(%{{.*}}, %{{.*}}, %[[NOW]] :
  %all = loop.loop (%i : i64, %c : i1) while(%go : i1) collect(memref<?x?xf32> axis 0) {
    loop.yield while(%c : i1) collect(%x : memref<?xf32>)
  }
  return %all : memref<?x?xf32>
}

// Another axis, reversed: one copy behind the loop puts each row in its place.
// CHECK-LABEL: func @axis_reverse(
func.func @axis_reverse(%go: i1, %x: memref<4xf32>) -> memref<4x?xf32> {
  // CHECK: loop.yield
  // CHECK: %[[ROWS:.*]] = memref.expand_shape
  // CHECK: %[[WHOLE:.*]] = memref.alloc(%[[COUNT:.*]]) : memref<4x?xf32>
  // CHECK: linalg.generic
  // CHECK: %[[I:.*]] = linalg.index 1
  // CHECK: %[[LAST:.*]] = arith.subi %[[COUNT]]
  // CHECK: %[[FROM:.*]] = arith.subi %[[LAST]], %[[I]]
  // CHECK: %[[K:.*]] = linalg.index 0
  // CHECK: memref.load %[[ROWS]][%[[FROM]], %[[K]]]
  // CHECK: return %[[WHOLE]]
  %all = loop.loop (%i : i64, %c : i1) while(%go : i1) collect(memref<4x?xf32> axis 1 reverse) {
    loop.yield while(%c : i1) collect(%x : memref<4xf32>)
  }
  return %all : memref<4x?xf32>
}

// CHECK-LABEL: func @scalar(
func.func @scalar(%go: i1, %x: f32) -> memref<?xf32> {
  // CHECK: loop.loop {{.*}} carried(%[[COUNT:[^ ]+]] =
  // CHECK: memref.store %{{.*}}, %{{.*}}[%[[COUNT]]]
  %all = loop.loop (%i : i64, %c : i1) while(%go : i1) collect(memref<?xf32> axis 0) {
    loop.yield while(%c : i1) collect(%x : f32)
  }
  return %all : memref<?xf32>
}

// loop_collect_length: checked, and zeros behind the rows.
// CHECK-LABEL: func @length(
func.func @length(%go: i1, %n: i64, %x: f32) -> memref<?xf32> {
  // CHECK: loop.yield
  // CHECK: loop.check %{{.*}}, "{{.*}}{} iterations, more than the length {} of collected value #0"
  // CHECK: %[[WHOLE:.*]] = memref.alloc
  // CHECK: linalg.fill {{.*}} outs(%[[WHOLE]]
  // CHECK: return %[[WHOLE]]
  %all = loop.loop (%i : i64, %c : i1) while(%go : i1) collect(memref<?xf32> axis 0 length(%n : i64)) {
    loop.yield while(%c : i1) collect(%x : f32)
  }
  return %all : memref<?xf32>
}

// A constant length below zero ends the run, and is the extent of no buffer.
// CHECK-LABEL: func @length_below_zero(
func.func @length_below_zero(%go: i1, %x: f32) -> memref<?xf32> {
  // CHECK: loop.check %{{.*}}, "{{.*}}{} iterations, more than the length {} of collected value #0"
  // CHECK: %[[ZERO:.*]] = arith.constant 0 : index
  // CHECK: memref.alloc({{.*}}) : memref<?xf32>
  %n = arith.constant -2 : i64
  %all = loop.loop (%i : i64, %c : i1) while(%go : i1) collect(memref<?xf32> axis 0 length(%n : i64)) {
    loop.yield while(%c : i1) collect(%x : f32)
  }
  return %all : memref<?xf32>
}

// Strings that are left over are empty.
// CHECK-LABEL: func @length_of_strings(
func.func @length_of_strings(%go: i1, %n: i64, %x: !rt.string) -> memref<?x!rt.string> {
  // CHECK: %[[EMPTY:.*]] = rt.string %{{.*}}, %{{.*}}
  // CHECK: linalg.fill ins(%[[EMPTY]]
  %all = loop.loop (%i : i64, %c : i1) while(%go : i1) collect(memref<?x!rt.string> axis 0 length(%n : i64)) {
    loop.yield while(%c : i1) collect(%x : !rt.string)
  }
  return %all : memref<?x!rt.string>
}

// What only grows behind its end stays where it begins: the branch has one
// result, and keeps the mark of what rarely runs in the simplifications later.
// CHECK-LABEL: func @reserve(
// CHECK-SAME: %[[BUFFER:.+]]: memref<8x?xf32>, %[[USED:.+]]: index, %[[MORE:.+]]: index
// CHECK: %[[CAPACITY:.+]] = memref.dim %[[BUFFER]]
// CHECK: %[[FULL:.+]] = arith.cmpi sgt, %{{.+}}, %[[CAPACITY]]
// CHECK: %[[MADE:.+]] = scf.if %[[FULL]] -> (memref<8x?xf32>) {
// CHECK: } else {
// CHECK-NEXT: scf.yield %[[BUFFER]] : memref<8x?xf32>
// CHECK-NEXT: } {loopc.cold, loopc.grows}
// CHECK: return %[[MADE]], %c0
func.func @reserve(%buffer: memref<8x?xf32>, %used: index, %more: index) -> (memref<8x?xf32>, index) {
  %c0 = arith.constant 0 : index
  %made, %at = loop.reserve %buffer at %c0 used %used front %c0 back %more axis 1 : memref<8x?xf32>
  return %made, %at : memref<8x?xf32>, index
}

// CHECK-LABEL: func @reserve_both(
// CHECK: scf.if %{{.+}} -> (memref<8x?xf32>, index) {
// CHECK: } {loopc.cold, loopc.grows}
func.func @reserve_both(%buffer: memref<8x?xf32>, %used: index, %more: index) -> (memref<8x?xf32>, index) {
  %made, %at = loop.reserve %buffer at %more used %used front %more back %more axis 1 : memref<8x?xf32>
  return %made, %at : memref<8x?xf32>, index
}
