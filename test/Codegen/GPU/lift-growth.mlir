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
