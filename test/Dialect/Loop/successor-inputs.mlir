// RUN: loopc-opt %s -canonicalize="disable-patterns={(anonymous namespace)::MakeRegionBranchOpSuccessorInputsDead,(anonymous namespace)::RemoveDuplicateSuccessorInputUses,(anonymous namespace)::RemoveDeadRegionBranchOpSuccessorInputs}" | FileCheck %s

// Values that only one value may come to, and values that are always equal,
// with the loop dialect's patterns alone: it is there where a loop is.

func.func @loop(%m: i64) {
  %true = arith.constant true
  loop.loop (%i : i64, %go : i1) trips(%m : i64) {
    loop.poll
    loop.yield while(%true : i1)
  }
  return
}

// CHECK-LABEL: func @swapped_equal_inits
//  CHECK-SAME: (%{{.*}}: index, %[[X:.*]]: f32)
//       CHECK: return %[[X]], %[[X]]
func.func @swapped_equal_inits(%n: index, %x: f32) -> (f32, f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %k = %c0 to %n step %c1 iter_args(%p = %x, %q = %x) -> (f32, f32) {
    scf.yield %q, %p : f32, f32
  }
  return %r#0, %r#1 : f32, f32
}

// What begins otherwise stays; the argument that is never changed goes.

// CHECK-LABEL: func @one_of_three
//  CHECK-SAME: (%{{.*}}: index, %[[X:.*]]: f32, %[[Y:.*]]: f32)
//       CHECK: %[[R:.*]]:2 = scf.for {{.*}} iter_args(%[[P:.*]] = %[[X]], %[[Q:.*]] = %[[Y]])
//       CHECK:   %[[S:.*]] = arith.addf %[[Q]], %[[X]]
//       CHECK:   scf.yield %[[S]], %[[P]]
//       CHECK: return %[[R]]#0, %[[R]]#1, %[[X]]
func.func @one_of_three(%n: index, %x: f32, %y: f32) -> (f32, f32, f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:3 = scf.for %k = %c0 to %n step %c1 iter_args(%p = %x, %q = %y, %w = %x) -> (f32, f32, f32) {
    %s = arith.addf %q, %w : f32
    scf.yield %s, %p, %w : f32, f32, f32
  }
  return %r#0, %r#1, %r#2 : f32, f32, f32
}

// Results that both branches give alike are one; what a branch computes is no
// value outside of it.

// CHECK-LABEL: func @equal_results
//  CHECK-SAME: (%[[C:.*]]: i1, %[[X:.*]]: memref<f32>, %[[Y:.*]]: memref<f32>)
//       CHECK: %[[R:.*]] = scf.if %[[C]] -> (f32)
//       CHECK:   %[[A:.*]] = memref.load %[[X]]
//       CHECK:   scf.yield %[[A]]
//       CHECK:   %[[B:.*]] = memref.load %[[Y]]
//       CHECK:   scf.yield %[[B]]
//       CHECK: return %[[R]], %[[R]], %[[X]]
func.func @equal_results(%c: i1, %x: memref<f32>, %y: memref<f32>) -> (f32, f32, memref<f32>) {
  %r:3 = scf.if %c -> (f32, f32, memref<f32>) {
    %a = memref.load %x[] : memref<f32>
    memref.store %a, %y[] : memref<f32>
    scf.yield %a, %a, %x : f32, f32, memref<f32>
  } else {
    %b = memref.load %y[] : memref<f32>
    memref.store %b, %x[] : memref<f32>
    scf.yield %b, %b, %x : f32, f32, memref<f32>
  }
  return %r#0, %r#1, %r#2 : f32, f32, memref<f32>
}

// CHECK-LABEL: func @while
//  CHECK-SAME: (%[[M:.*]]: memref<i1>, %[[X:.*]]: f32, %[[Y:.*]]: f32)
//       CHECK: scf.while : () -> ()
//       CHECK: return %[[X]], %[[Y]]
func.func @while(%m: memref<i1>, %x: f32, %y: f32) -> (f32, f32) {
  %r:2 = scf.while (%p = %x, %q = %y) : (f32, f32) -> (f32, f32) {
    %go = memref.load %m[] : memref<i1>
    memref.store %go, %m[] : memref<i1>
    scf.condition(%go) %p, %q : f32, f32
  } do {
  ^bb0(%p: f32, %q: f32):
    scf.yield %p, %y : f32, f32
  }
  return %r#0, %r#1 : f32, f32
}
