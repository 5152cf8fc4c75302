// RUN: loopc-opt %s --loopc-lift-growth | FileCheck %s

// CHECK-LABEL: func.func @collect
// CHECK: scf.while
// CHECK: do {
// The outer loop makes room, as the branch did.
// CHECK: %[[LARGER:.+]] = scf.if
// CHECK: memref.alloc
// CHECK: memref.dealloc
// The inner one allocates nothing, and ends when an iteration has no room.
// CHECK: scf.while (%{{.*}} = %{{.*}}, %[[BUFFER:.+]] = %[[LARGER]])
// CHECK-NOT: memref.alloc
// CHECK: memref.store %{{.*}}, %[[BUFFER]]
// CHECK: %[[GOES_ON:.+]] = arith.cmpi slt
// CHECK: %[[FULL:.+]] = arith.cmpi sgt
// CHECK: %[[ROOM:.+]] = arith.xori %[[FULL]]
// CHECK: %[[BOTH:.+]] = arith.andi %[[GOES_ON]], %[[ROOM]]
// CHECK: scf.condition(%[[BOTH]])
// CHECK-NOT: memref.alloc
// CHECK: return
func.func @collect(%n: index, %first: memref<?xf32>) -> memref<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %one = arith.constant 1.0 : f32
  %r:2 = scf.while (%i = %c0, %b = %first) : (index, memref<?xf32>) -> (index, memref<?xf32>) {
    %go = arith.cmpi slt, %i, %n : index
    scf.condition(%go) %i, %b : index, memref<?xf32>
  } do {
  ^bb0(%i: index, %b: memref<?xf32>):
    %next = arith.addi %i, %c1 : index
    %room = memref.dim %b, %c0 : memref<?xf32>
    %full = arith.cmpi sgt, %next, %room : index
    %grown = scf.if %full -> memref<?xf32> {
      %more = arith.muli %room, %c2 : index
      %size = arith.maxsi %more, %next : index
      %new = memref.alloc(%size) : memref<?xf32>
      memref.dealloc %b : memref<?xf32>
      scf.yield %new : memref<?xf32>
    } else {
      scf.yield %b : memref<?xf32>
    } {loopc.cold, loopc.grows}
    memref.store %one, %grown[%i] : memref<?xf32>
    scf.yield %next, %grown : index, memref<?xf32>
  }
  return %r#1 : memref<?xf32>
}

// What has to be known to make room comes from memory: the loop stays.
// CHECK-LABEL: func.func @unknown
// CHECK-COUNT-1: scf.while
// CHECK-NOT: scf.while
// CHECK: return
func.func @unknown(%sizes: memref<?xindex>, %n: index, %first: memref<?xf32>) -> memref<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.while (%i = %c0, %b = %first) : (index, memref<?xf32>) -> (index, memref<?xf32>) {
    %go = arith.cmpi slt, %i, %n : index
    scf.condition(%go) %i, %b : index, memref<?xf32>
  } do {
  ^bb0(%i: index, %b: memref<?xf32>):
    %next = arith.addi %i, %c1 : index
    %need = memref.load %sizes[%i] : memref<?xindex>
    %room = memref.dim %b, %c0 : memref<?xf32>
    %full = arith.cmpi sgt, %need, %room : index
    %grown = scf.if %full -> memref<?xf32> {
      %new = memref.alloc(%need) : memref<?xf32>
      memref.dealloc %b : memref<?xf32>
      scf.yield %new : memref<?xf32>
    } else {
      scf.yield %b : memref<?xf32>
    } {loopc.cold, loopc.grows}
    scf.yield %next, %grown : index, memref<?xf32>
  }
  return %r#1 : memref<?xf32>
}

// What is copied counts on the check in front of it: who makes room has come to
// it.
// CHECK-LABEL: func.func @checked
// CHECK: do {
// CHECK: %[[SAME:.+]] = arith.cmpi eq
// CHECK: loop.check %[[SAME]]
// CHECK: scf.if
// CHECK: memref.alloc
// CHECK: scf.while
// CHECK: loop.check
// CHECK-NOT: memref.alloc
// CHECK: return
func.func @checked(%n: index, %row: memref<?xf32>, %first: memref<?xf32>) -> memref<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:3 = scf.while (%i = %c0, %before = %c1, %b = %first) : (index, index, memref<?xf32>) -> (index, index, memref<?xf32>) {
    %go = arith.cmpi slt, %i, %n : index
    scf.condition(%go) %i, %before, %b : index, index, memref<?xf32>
  } do {
  ^bb0(%i: index, %before: index, %b: memref<?xf32>):
    %size = memref.dim %row, %c0 : memref<?xf32>
    %length = arith.addi %size, %i : index
    %same = arith.cmpi eq, %length, %before : index
    loop.check %same, "{} elements, before {}"(%length, %before : index, index)
    %used = arith.muli %i, %length : index
    %next = arith.addi %used, %length : index
    %room = memref.dim %b, %c0 : memref<?xf32>
    %full = arith.cmpi sgt, %next, %room : index
    %grown = scf.if %full -> memref<?xf32> {
      %new = memref.alloc(%next) : memref<?xf32>
      %from = memref.subview %b[0] [%used] [1] : memref<?xf32> to memref<?xf32, strided<[1]>>
      %to = memref.subview %new[0] [%used] [1] : memref<?xf32> to memref<?xf32, strided<[1]>>
      memref.copy %from, %to : memref<?xf32, strided<[1]>> to memref<?xf32, strided<[1]>>
      memref.dealloc %b : memref<?xf32>
      scf.yield %new : memref<?xf32>
    } else {
      scf.yield %b : memref<?xf32>
    } {loopc.cold, loopc.grows}
    %more = arith.addi %i, %c1 : index
    scf.yield %more, %length, %grown : index, index, memref<?xf32>
  }
  return %r#2 : memref<?xf32>
}
