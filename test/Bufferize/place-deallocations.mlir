// RUN: loopc-opt %s --buffer-place-deallocations | FileCheck %s

func.func private @use(memref<4xf32>)

// CHECK-LABEL: func @freed_behind_last_use(
func.func @freed_behind_last_use() {
  // CHECK: %[[A:.*]] = memref.alloc
  // CHECK: call @use(%[[A]])
  // CHECK-NEXT: memref.dealloc %[[A]]
  // CHECK-NEXT: return
  %a = memref.alloc() : memref<4xf32>
  call @use(%a) : (memref<4xf32>) -> ()
  return
}

// CHECK-LABEL: func @freed_behind_last_view(
func.func @freed_behind_last_view() -> f32 {
  // CHECK: %[[A:.*]] = memref.alloc
  // CHECK: memref.load
  // CHECK-NEXT: memref.dealloc %[[A]]
  %a = memref.alloc() : memref<4xf32>
  %v = memref.subview %a[0] [2] [1] : memref<4xf32> to memref<2xf32, strided<[1]>>
  %c0 = arith.constant 0 : index
  %f = memref.load %v[%c0] : memref<2xf32, strided<[1]>>
  return %f : f32
}

// CHECK-LABEL: func @returned(
func.func @returned() -> memref<4xf32> {
  // CHECK: %[[A:.*]] = memref.alloc
  // CHECK-NEXT: return %[[A]]
  %a = memref.alloc() : memref<4xf32>
  return %a : memref<4xf32>
}

// The caller's buffer is not given back as a result.
// CHECK-LABEL: func @argument_returned(
// CHECK-SAME: %[[ARG:[^:]+]]: memref<4xf32>)
func.func @argument_returned(%x: memref<4xf32>) -> memref<4xf32> {
  // CHECK: %[[COPY:.*]] = memref.alloc
  // CHECK: memref.copy %[[ARG]], %[[COPY]]
  // CHECK: return %[[COPY]]
  return %x : memref<4xf32>
}

// CHECK-LABEL: func @returned_twice(
func.func @returned_twice() -> (memref<4xf32>, memref<4xf32>) {
  // CHECK: %[[A:.*]] = memref.alloc
  // CHECK: %[[COPY:.*]] = memref.alloc
  // CHECK: memref.copy %[[A]], %[[COPY]]
  // CHECK-NOT: memref.dealloc
  // CHECK: return %[[COPY]], %[[A]]
  %a = memref.alloc() : memref<4xf32>
  return %a, %a : memref<4xf32>, memref<4xf32>
}

// loop_parallel_assign
// CHECK-LABEL: func @swap(
func.func @swap(%n: i64) -> (memref<4xf32>, memref<4xf32>) {
  // CHECK: loop.loop {{.*}} carried(%[[X:[^ ]+]] = {{.*}}, %[[Y:[^ ]+]] =
  // CHECK-NOT: memref.copy
  // CHECK: loop.yield {{.*}} carried(%[[Y]], %[[X]] :
  %a = memref.alloc() : memref<4xf32>
  %b = memref.alloc() : memref<4xf32>
  %r:2 = loop.loop (%i : i64, %c : i1) trips(%n : i64)
      carried(%x = %a : memref<4xf32>, %y = %b : memref<4xf32>) {
    loop.yield while(%c : i1) carried(%y, %x : memref<4xf32>, memref<4xf32>)
  }
  return %r#0, %r#1 : memref<4xf32>, memref<4xf32>
}

// CHECK-LABEL: func @old_value_freed(
func.func @old_value_freed(%n: i64) -> memref<4xf32> {
  // CHECK: loop.loop {{.*}} carried(%[[X:[^ ]+]] =
  // CHECK: memref.copy %[[X]], %[[NEXT:.*]] :
  // CHECK-NEXT: memref.dealloc %[[X]]
  // CHECK-NEXT: loop.yield {{.*}} carried(%[[NEXT]]
  %a = memref.alloc() : memref<4xf32>
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%x = %a : memref<4xf32>) {
    %b = memref.alloc() : memref<4xf32>
    memref.copy %x, %b : memref<4xf32> to memref<4xf32>
    loop.yield while(%c : i1) carried(%b : memref<4xf32>)
  }
  return %r : memref<4xf32>
}

// CHECK-LABEL: func @yielded_twice(
func.func @yielded_twice(%n: i64) -> (memref<4xf32>, memref<4xf32>) {
  // CHECK: loop.loop {{.*}} carried(%[[X:[^ ]+]] = {{.*}}, %[[Y:[^ ]+]] =
  // CHECK-DAG: memref.dealloc %[[X]]
  // CHECK-DAG: memref.copy %[[Y]], %[[COPY:.*]] :
  // CHECK: loop.yield {{.*}} carried(%[[COPY]], %[[Y]] :
  %a = memref.alloc() : memref<4xf32>
  %b = memref.alloc() : memref<4xf32>
  %r:2 = loop.loop (%i : i64, %c : i1) trips(%n : i64)
      carried(%x = %a : memref<4xf32>, %y = %b : memref<4xf32>) {
    loop.yield while(%c : i1) carried(%y, %y : memref<4xf32>, memref<4xf32>)
  }
  return %r#0, %r#1 : memref<4xf32>, memref<4xf32>
}

// A buffer from outside of the loop is copied into each iteration's result.
// CHECK-LABEL: func @capture_yielded(
func.func @capture_yielded(%n: i64) -> memref<4xf32> {
  // CHECK: %[[OUTER:.*]] = memref.alloc
  // CHECK: loop.loop
  // CHECK: memref.copy %[[OUTER]], %[[COPY:.*]] :
  // CHECK: loop.yield {{.*}} carried(%[[COPY]]
  // CHECK: }
  // CHECK-NEXT: memref.dealloc %[[OUTER]]
  %o = memref.alloc() : memref<4xf32>
  %a = memref.alloc() : memref<4xf32>
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%x = %a : memref<4xf32>) {
    loop.yield while(%c : i1) carried(%o : memref<4xf32>)
  }
  return %r : memref<4xf32>
}

// An init that is needed behind the loop is not given to it.
// CHECK-LABEL: func @init_needed_later(
func.func @init_needed_later(%n: i64) -> (memref<4xf32>, memref<4xf32>) {
  // CHECK: %[[A:.*]] = memref.alloc
  // CHECK: memref.copy %[[A]], %[[COPY:.*]] :
  // CHECK: %[[R:.*]] = loop.loop {{.*}} carried(%{{.*}} = %[[COPY]] :
  // CHECK: return %[[R]], %[[A]]
  %a = memref.alloc() : memref<4xf32>
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%x = %a : memref<4xf32>) {
    loop.yield while(%c : i1) carried(%x : memref<4xf32>)
  }
  return %r, %a : memref<4xf32>, memref<4xf32>
}

// An inner loop reads the outer one's carried buffer and does not take it.
// CHECK-LABEL: func @captured_by_inner_loop(
func.func @captured_by_inner_loop(%n: i64) -> memref<4xf32> {
  // CHECK: loop.loop {{.*}} carried(%[[X:[^ ]+]] =
  // CHECK: loop.loop
  // CHECK: func.call @use(%[[X]])
  // CHECK-NOT: memref.dealloc
  // CHECK-NOT: memref.copy
  // CHECK: loop.yield {{.*}} carried(%[[X]]
  %a = memref.alloc() : memref<4xf32>
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%x = %a : memref<4xf32>) {
    loop.loop (%j : i64, %d : i1) trips(%n : i64) {
      func.call @use(%x) : (memref<4xf32>) -> ()
      loop.yield while(%d : i1)
    }
    loop.yield while(%c : i1) carried(%x : memref<4xf32>)
  }
  return %r : memref<4xf32>
}

// What dies at a branch is moved out of one side and freed in the other.
// CHECK-LABEL: func @moved_or_freed(
func.func @moved_or_freed(%p: i1) -> memref<4xf32> {
  // CHECK: %[[A:.*]] = memref.alloc
  // CHECK: %[[R:.*]] = scf.if
  // CHECK-NEXT: scf.yield %[[A]]
  // CHECK: else
  // CHECK: memref.dealloc %[[A]]
  // CHECK: scf.yield
  // CHECK: return %[[R]]
  %a = memref.alloc() : memref<4xf32>
  %r = scf.if %p -> memref<4xf32> {
    scf.yield %a : memref<4xf32>
  } else {
    %b = memref.alloc() : memref<4xf32>
    scf.yield %b : memref<4xf32>
  }
  return %r : memref<4xf32>
}

// CHECK-LABEL: func @freed_without_else(
func.func @freed_without_else(%p: i1) {
  // CHECK: %[[A:.*]] = memref.alloc
  // CHECK: scf.if
  // CHECK: call @use(%[[A]])
  // CHECK-NEXT: memref.dealloc %[[A]]
  // CHECK: else
  // CHECK-NEXT: memref.dealloc %[[A]]
  %a = memref.alloc() : memref<4xf32>
  scf.if %p {
    func.call @use(%a) : (memref<4xf32>) -> ()
  }
  return
}

// A fresh buffer or somebody else's: a flag says which.
// CHECK-LABEL: func @flag(
// CHECK-SAME: %{{[^:]+}}: i1, %[[ARG:[^:]+]]: memref<4xf32>)
func.func @flag(%p: i1, %x: memref<4xf32>) {
  // CHECK: %[[R:.*]]:2 = scf.if %{{.*}} -> (memref<4xf32>, i1)
  // CHECK: %[[OWNED:.*]] = arith.constant true
  // CHECK: scf.yield %{{.*}}, %[[OWNED]]
  // CHECK: %[[BORROWED:.*]] = arith.constant false
  // CHECK: scf.yield %[[ARG]], %[[BORROWED]]
  // CHECK: call @use(%[[R]]#0)
  // CHECK: scf.if %[[R]]#1
  // CHECK-NEXT: memref.dealloc %[[R]]#0
  %r = scf.if %p -> memref<4xf32> {
    %a = memref.alloc() : memref<4xf32>
    scf.yield %a : memref<4xf32>
  } else {
    scf.yield %x : memref<4xf32>
  }
  call @use(%r) : (memref<4xf32>) -> ()
  return
}

// The flagged buffer ends in a branch that does not use it: freed there, once.
// CHECK-LABEL: func @flag_unused_in_branch(
func.func @flag_unused_in_branch(%p: i1, %q: i1, %x: memref<4xf32>) -> memref<4xf32> {
  // CHECK: %[[F:.*]]:2 = scf.if
  // CHECK-NOT: memref.dealloc
  // CHECK: scf.yield %[[F]]#0, %[[F]]#1
  // CHECK-NEXT: else
  // CHECK-NEXT: scf.if %[[F]]#1
  // CHECK-NEXT: memref.dealloc %[[F]]#0
  %f = scf.if %p -> memref<4xf32> {
    %a = memref.alloc() : memref<4xf32>
    scf.yield %a : memref<4xf32>
  } else {
    scf.yield %x : memref<4xf32>
  }
  %r = scf.if %q -> memref<4xf32> {
    scf.yield %f : memref<4xf32>
  } else {
    %b = memref.alloc() : memref<4xf32>
    scf.yield %b : memref<4xf32>
  }
  return %r : memref<4xf32>
}

// The buffer that a flagged value may be borrowed from dies in the same branch:
// the value must be owned before.
// CHECK-LABEL: func @borrowed_from_the_dying(
func.func @borrowed_from_the_dying(%p: i1, %q: i1) -> memref<4xf32> {
  // CHECK: %[[LENDER:.*]] = memref.alloc
  // CHECK: %[[F:.*]]:2 = scf.if
  // CHECK: scf.if %{{.*}} -> (memref<4xf32>) {
  // CHECK: scf.yield %[[LENDER]]
  // CHECK: else
  // CHECK: %[[OWN:.*]] = scf.if %[[F]]#1
  // CHECK: scf.yield %[[F]]#0
  // CHECK: memref.copy %[[F]]#0
  // CHECK: memref.dealloc %[[LENDER]]
  // CHECK: scf.yield %[[OWN]]
  %v = memref.alloc() : memref<4xf32>
  %f = scf.if %p -> memref<4xf32> {
    %a = memref.alloc() : memref<4xf32>
    scf.yield %a : memref<4xf32>
  } else {
    scf.yield %v : memref<4xf32>
  }
  %r = scf.if %q -> memref<4xf32> {
    scf.yield %v : memref<4xf32>
  } else {
    scf.yield %f : memref<4xf32>
  }
  return %r : memref<4xf32>
}

// CHECK-LABEL: func @index_switch(
func.func @index_switch(%k: index) -> memref<4xf32> {
  // CHECK: %[[A:.*]] = memref.alloc
  // CHECK: %[[B:.*]] = memref.alloc
  // CHECK: scf.index_switch
  // CHECK: memref.dealloc %[[B]]
  // CHECK: scf.yield %[[A]]
  // CHECK: default
  // CHECK: memref.dealloc %[[A]]
  // CHECK: scf.yield %[[B]]
  %a = memref.alloc() : memref<4xf32>
  %b = memref.alloc() : memref<4xf32>
  %r = scf.index_switch %k -> memref<4xf32>
  case 0 {
    scf.yield %a : memref<4xf32>
  }
  default {
    scf.yield %b : memref<4xf32>
  }
  return %r : memref<4xf32>
}

// A select is a branch: the other buffer is freed, nothing is copied.
// CHECK-LABEL: func @select(
func.func @select(%p: i1) -> memref<4xf32> {
  // CHECK: %[[A:.*]] = memref.alloc
  // CHECK: %[[B:.*]] = memref.alloc
  // CHECK-NOT: memref.copy
  // CHECK: memref.dealloc %[[B]]
  // CHECK-NEXT: scf.yield %[[A]]
  // CHECK: memref.dealloc %[[A]]
  // CHECK-NEXT: scf.yield %[[B]]
  %a = memref.alloc() : memref<4xf32>
  %b = memref.alloc() : memref<4xf32>
  %s = arith.select %p, %a, %b : memref<4xf32>
  return %s : memref<4xf32>
}

// What a condition hands on is the body's or the result's; nothing is copied.
// CHECK-LABEL: func @while(
func.func @while(%n: index) -> memref<4xf32> {
  %one = arith.constant 1 : index
  // CHECK: %[[INIT:.*]] = memref.alloc
  // CHECK-NOT: memref.copy
  // CHECK-NOT: memref.dealloc
  // CHECK: %[[R:.*]]:2 = scf.while ({{.*}}, %[[CARRIED:.*]] = %[[INIT]])
  // CHECK: scf.condition({{.*}}) %{{.*}}, %[[CARRIED]]
  // CHECK: ^bb0(%{{.*}}: index, %[[OLD:.*]]: memref<4xf32>)
  // CHECK: %[[NEW:.*]] = memref.alloc
  // CHECK: linalg.exp ins(%[[OLD]]
  // CHECK-NEXT: memref.dealloc %[[OLD]]
  // CHECK: scf.yield %{{.*}}, %[[NEW]]
  // CHECK: return %[[R]]#1
  %init = memref.alloc() : memref<4xf32>
  %r:2 = scf.while (%i = %n, %a = %init) : (index, memref<4xf32>) -> (index, memref<4xf32>) {
    %c = arith.cmpi sgt, %i, %one : index
    scf.condition(%c) %i, %a : index, memref<4xf32>
  } do {
  ^bb0(%i: index, %a: memref<4xf32>):
    %b = memref.alloc() : memref<4xf32>
    linalg.exp ins(%a : memref<4xf32>) outs(%b : memref<4xf32>)
    %j = arith.subi %i, %one : index
    scf.yield %j, %b : index, memref<4xf32>
  }
  return %r#1 : memref<4xf32>
}

// A buffer of somebody else's is copied when it goes around.
// CHECK-LABEL: func @while_of_an_argument(
// CHECK-SAME: %[[X:.*]]: memref<4xf32>
func.func @while_of_an_argument(%x: memref<4xf32>, %p: i1) {
  // CHECK: %[[INIT:.*]] = memref.alloc
  // CHECK-NEXT: memref.copy %[[X]], %[[INIT]]
  // CHECK: %[[R:.*]] = scf.while (%[[A:.*]] = %[[INIT]])
  // CHECK-NEXT: memref.dealloc %[[A]]
  // CHECK: %[[B:.*]] = memref.alloc
  // CHECK-NEXT: memref.copy %[[X]], %[[B]]
  // CHECK: scf.condition(%{{.*}}) %[[B]]
  // CHECK: scf.yield
  // CHECK: memref.dealloc %[[R]]
  %r = scf.while (%a = %x) : (memref<4xf32>) -> memref<4xf32> {
    scf.condition(%p) %x : memref<4xf32>
  } do {
  ^bb0(%a: memref<4xf32>):
    scf.yield %a : memref<4xf32>
  }
  return
}

// CHECK-LABEL: func @execute_region(
func.func @execute_region(%p: i1) -> memref<4xf32> {
  // CHECK: %[[R:.*]] = scf.execute_region
  // CHECK: %[[A:.*]] = memref.alloc
  // CHECK-NOT: memref.dealloc
  // CHECK: scf.yield %[[A]]
  // CHECK: return %[[R]]
  %r = scf.execute_region -> memref<4xf32> {
    %a = memref.alloc() : memref<4xf32>
    scf.yield %a : memref<4xf32>
  }
  return %r : memref<4xf32>
}

// Ends that are there are placed anew: a stage may be read again.
// CHECK-LABEL: func @again(
func.func @again(%p: i1) {
  // CHECK: %[[A:.*]] = memref.alloc
  // CHECK: scf.if
  // CHECK: call @use(%[[A]])
  // CHECK-NEXT: memref.dealloc %[[A]]
  // CHECK: else
  // CHECK-NEXT: memref.dealloc %[[A]]
  // CHECK-NOT: memref.dealloc
  %a = memref.alloc() : memref<4xf32>
  scf.if %p {
    func.call @use(%a) : (memref<4xf32>) -> ()
    memref.dealloc %a : memref<4xf32>
  } else {
    memref.dealloc %a : memref<4xf32>
  }
  return
}

// A part of a buffer that is yielded beside it is copied to where its type says
// that it lies: behind two rows, and between others.
// CHECK-LABEL: func @yielded_part(
// CHECK: %[[PART:.*]] = memref.subview
// CHECK: %[[ROOM:.*]] = memref.alloc(%{{.*}}) : memref<?xf32>
// CHECK: %[[COPY:.*]] = memref.reinterpret_cast %[[ROOM]] to offset: [8], sizes: [%{{.*}}, 1, 4], strides: [12, 4, 1]
// CHECK: memref.copy %[[PART]], %[[COPY]]
// CHECK: scf.yield %[[COPY]]
func.func @yielded_part(%c: i1, %n: index) -> (memref<?x1x4xf32, strided<[12, 4, 1], offset: 8>>, memref<?x3x4xf32>) {
  %r:2 = scf.if %c -> (memref<?x1x4xf32, strided<[12, 4, 1], offset: 8>>, memref<?x3x4xf32>) {
    %a = memref.alloc(%n) : memref<?x3x4xf32>
    %s = memref.subview %a[0, 2, 0] [%n, 1, 4] [1, 1, 1] : memref<?x3x4xf32> to memref<?x1x4xf32, strided<[12, 4, 1], offset: 8>>
    scf.yield %s, %a : memref<?x1x4xf32, strided<[12, 4, 1], offset: 8>>, memref<?x3x4xf32>
  } else {
    %a = memref.alloc(%n) : memref<?x3x4xf32>
    %s = memref.subview %a[0, 2, 0] [%n, 1, 4] [1, 1, 1] : memref<?x3x4xf32> to memref<?x1x4xf32, strided<[12, 4, 1], offset: 8>>
    scf.yield %s, %a : memref<?x1x4xf32, strided<[12, 4, 1], offset: 8>>, memref<?x3x4xf32>
  }
  return %r#0, %r#1 : memref<?x1x4xf32, strided<[12, 4, 1], offset: 8>>, memref<?x3x4xf32>
}
