// RUN: loopc-opt %s --split-input-file --buffer-place-deallocations | FileCheck %s

!list = !list.list<f32>

// The loop's list is changed in place: its argument ends in the insertion, and
// what is inserted is moved. seq_append
// CHECK-LABEL: func @append(
func.func @append(%n: i64, %shape: memref<?xi64>, %k: index) -> !list {
  %none = list.empty : !list
  // CHECK: loop.loop
  // CHECK-SAME: carried(%[[ARG:.*]] = %{{.*}} :
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%s = %none : !list) {
    // CHECK: %[[X:.*]] = memref.alloc
    // CHECK: %[[T:.*]] = list.insert %[[X]], %{{.*}} into %[[ARG]][{{.*}}] {element_owner = "move"}
    // CHECK-NEXT: loop.yield {{.*}}carried(%[[T]]
    %x = memref.alloc(%k) : memref<?xf32>
    %m = list.length %s : !list
    %t = list.insert %x, %shape into %s[%m] : memref<?xf32>, memref<?xi64> into !list
    loop.yield while(%c : i1) carried(%t : !list)
  }
  // CHECK-NOT: list.retain
  // CHECK-NOT: list.release
  return %r : !list
}

// -----

!list = !list.list<f32>

// An argument of the function is the caller's; a list that is needed behind an
// insertion is held once more, a buffer that is needed is copied.
// CHECK-LABEL: func @still_needed(
// CHECK-SAME: %[[S:[a-z0-9]+]]: !list.list
func.func @still_needed(%s: !list, %shape: memref<?xi64>, %k: index) -> (f32, !list) {
  // CHECK: %[[X:.*]] = memref.alloc
  // CHECK: %[[MINE:.*]] = list.retain %[[S]]
  // CHECK: %[[T:.*]] = list.insert %[[X]], %{{.*}} into %[[MINE]][%{{.*}}] {element_owner = "copy"}
  // CHECK: %[[OTHER:.*]] = list.retain %[[T]]
  // CHECK: %[[U:.*]] = list.erase %[[OTHER]]
  // CHECK: list.length %[[T]]
  // CHECK-NEXT: list.release %[[T]]
  // CHECK: memref.load %[[X]]
  // CHECK-NEXT: memref.dealloc %[[X]]
  // CHECK: return %{{.*}}, %[[U]]
  %x = memref.alloc(%k) : memref<?xf32>
  %t = list.insert %x, %shape into %s[%k] : memref<?xf32>, memref<?xi64> into !list
  %u = list.erase %t[%k] : !list
  %n = list.length %t : !list
  %f = memref.load %x[%n] : memref<?xf32>
  return %f, %u : f32, !list
}

// -----

!list = !list.list<f32>

// What comes out of a list is given up, shared with another list, moved at its
// end; whoever may write gets a copy.
// CHECK-LABEL: func @element(
func.func @element(%s: !list, %k: index) -> (!list, memref<?xf32>) {
  // CHECK: %[[E:.*]]:2 = list.at
  // CHECK: %[[NONE:.*]] = list.empty
  // CHECK: list.insert %[[E]]#0, %[[E]]#1 into %[[NONE]][%{{.*}}] {element_owner = "share"}
  // CHECK-NEXT: memref.dealloc %[[E]]#1
  // CHECK: %[[COPY:.*]] = memref.alloc
  // CHECK: memref.copy %[[E]]#0, %[[COPY]]
  // CHECK: memref.dealloc %[[E]]#0
  // CHECK: return %{{.*}}, %[[COPY]]
  %x:2 = list.at %s[%k] : !list -> memref<?xf32>, memref<?xi64>
  %none = list.empty : !list
  %t = list.insert %x#0, %x#1 into %none[%k] : memref<?xf32>, memref<?xi64> into !list
  return %t, %x#0 : !list, memref<?xf32>
}

// -----

!list = !list.list<f32>

// One branch changes the list, the other hands it on: both own it.
// CHECK-LABEL: func @branches(
func.func @branches(%n: i64, %p: i1, %k: index) -> !list {
  %none = list.empty : !list
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%s = %none : !list) {
    // CHECK: %[[R:.*]] = scf.if
    // CHECK-NEXT: %[[T:.*]] = list.erase
    // CHECK-NEXT: scf.yield %[[T]]
    // CHECK: else
    // CHECK-NEXT: scf.yield
    // CHECK: loop.yield {{.*}}carried(%[[R]]
    %t = scf.if %p -> !list {
      %u = list.erase %s[%k] : !list
      scf.yield %u : !list
    } else {
      scf.yield %s : !list
    }
    loop.yield while(%c : i1) carried(%t : !list)
  }
  // CHECK-NOT: list.retain
  return %r : !list
}

// -----

// The dialect of what is made is there, though no operation before is of it.
// CHECK-LABEL: func @given_back(
// CHECK-SAME: %[[S:.*]]: !list.list<f32>
// CHECK-NEXT: %[[R:.*]] = list.retain %[[S]]
// CHECK-NEXT: return %[[R]]
func.func @given_back(%s: !list.list<f32>) -> !list.list<f32> {
  return %s : !list.list<f32>
}
