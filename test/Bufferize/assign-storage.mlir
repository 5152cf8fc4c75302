// RUN: loopc-opt %s --buffer-assign-storage | FileCheck %s

// CHECK-LABEL: func @temporary(
func.func @temporary(%n: i64, %x: memref<4xf32>) {
  // CHECK: %[[T:.*]] = memref.alloc
  // CHECK: loop.loop
  // CHECK-NOT: memref.alloc
  // CHECK-NOT: memref.dealloc
  // CHECK: loop.yield
  // CHECK: memref.dealloc %[[T]]
  loop.loop (%i : i64, %c : i1) trips(%n : i64) {
    %t = memref.alloc() : memref<4xf32>
    memref.copy %x, %t : memref<4xf32> to memref<4xf32>
    memref.dealloc %t : memref<4xf32>
    loop.yield while(%c : i1)
  }
  return
}

// Out of every loop around it.
// CHECK-LABEL: func @temporary_of_nest(
func.func @temporary_of_nest(%n: i64, %x: memref<4xf32>) {
  // CHECK: memref.alloc
  // CHECK-NEXT: loop.loop
  // CHECK: loop.loop
  // CHECK-NOT: memref.alloc
  // CHECK: return
  loop.loop (%i : i64, %c : i1) trips(%n : i64) {
    loop.loop (%j : i64, %d : i1) trips(%n : i64) {
      %t = memref.alloc() : memref<4xf32>
      memref.copy %x, %t : memref<4xf32> to memref<4xf32>
      memref.dealloc %t : memref<4xf32>
      loop.yield while(%d : i1)
    }
    loop.yield while(%c : i1)
  }
  return
}

// The new value is written where the last but one was.
// CHECK-LABEL: func @turns(
func.func @turns(%n: i64) -> memref<4xf32> {
  // CHECK: %[[INIT:.*]] = memref.alloc
  // CHECK: %[[SPARE:.*]] = memref.alloc
  // CHECK: %[[R:.*]]:2 = loop.loop {{.*}} carried(%[[X:[^ ]+]] = %[[INIT]] : memref<4xf32>, %[[S:[^ ]+]] = %[[SPARE]] : memref<4xf32>)
  // CHECK-NEXT: memref.copy %[[X]], %[[S]]
  // CHECK-NEXT: loop.yield {{.*}} carried(%[[S]], %[[X]] :
  // CHECK: memref.dealloc %[[R]]#1
  // CHECK: return %[[R]]#0
  %a = memref.alloc() : memref<4xf32>
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%x = %a : memref<4xf32>) {
    %t = memref.alloc() : memref<4xf32>
    memref.copy %x, %t : memref<4xf32> to memref<4xf32>
    memref.dealloc %x : memref<4xf32>
    loop.yield while(%c : i1) carried(%t : memref<4xf32>)
  }
  return %r : memref<4xf32>
}

// Both sides of a branch write one buffer, which takes turns.
// CHECK-LABEL: func @branches(
func.func @branches(%n: i64, %p: i1) -> memref<4xf32> {
  // CHECK: loop.loop {{.*}} carried(%[[X:[^ ]+]] = {{.*}}, %[[S:[^ ]+]] =
  // CHECK-NOT: memref.alloc
  // CHECK: loop.yield {{.*}} carried(%[[S]], %[[X]] :
  %a = memref.alloc() : memref<4xf32>
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%x = %a : memref<4xf32>) {
    %t = scf.if %p -> memref<4xf32> {
      %u = memref.alloc() : memref<4xf32>
      memref.copy %x, %u : memref<4xf32> to memref<4xf32>
      scf.yield %u : memref<4xf32>
    } else {
      %u = memref.alloc() : memref<4xf32>
      scf.yield %u : memref<4xf32>
    }
    memref.dealloc %x : memref<4xf32>
    loop.yield while(%c : i1) carried(%t : memref<4xf32>)
  }
  return %r : memref<4xf32>
}

// One size, known when the loop begins only.
// CHECK-LABEL: func @turns_of_run_time_size(
// CHECK-SAME: %{{[^:]+}}: i64, %[[SIZE:[^:]+]]: index)
func.func @turns_of_run_time_size(%n: i64, %k: index) -> memref<?xf32> {
  // CHECK: memref.alloc(%[[SIZE]])
  // CHECK: memref.alloc(%[[SIZE]])
  // CHECK: loop.loop
  // CHECK-NOT: memref.alloc
  // CHECK: return
  %a = memref.alloc(%k) : memref<?xf32>
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%x = %a : memref<?xf32>) {
    %t = memref.alloc(%k) : memref<?xf32>
    memref.copy %x, %t : memref<?xf32> to memref<?xf32>
    memref.dealloc %x : memref<?xf32>
    loop.yield while(%c : i1) carried(%t : memref<?xf32>)
  }
  return %r : memref<?xf32>
}

// The init has another size: its buffer cannot be the next value's.
// CHECK-LABEL: func @other_size(
func.func @other_size(%n: i64, %k: index, %l: index) -> memref<?xf32> {
  // CHECK: loop.loop
  // CHECK: memref.alloc
  // CHECK: memref.dealloc
  // CHECK: loop.yield
  %a = memref.alloc(%l) : memref<?xf32>
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%x = %a : memref<?xf32>) {
    %t = memref.alloc(%k) : memref<?xf32>
    memref.dealloc %x : memref<?xf32>
    loop.yield while(%c : i1) carried(%t : memref<?xf32>)
  }
  return %r : memref<?xf32>
}

// CHECK-LABEL: func @size_of_iteration(
func.func @size_of_iteration(%n: i64) {
  // CHECK: loop.loop
  // CHECK: memref.alloc
  // CHECK: memref.dealloc
  // CHECK: loop.yield
  loop.loop (%i : i64, %c : i1) trips(%n : i64) {
    %k = arith.index_cast %i : i64 to index
    %t = memref.alloc(%k) : memref<?xf32>
    memref.dealloc %t : memref<?xf32>
    loop.yield while(%c : i1)
  }
  return
}

// Computed element by element, the new value is written over the old one.
// CHECK-LABEL: func @over(
// CHECK: loop.loop {{.*}} carried(%[[X:[^ ]+]] = %{{[^ ]+}} : memref<4xf32>)
// CHECK-NOT: memref.alloc
// CHECK: linalg.generic {{.*}} ins(%[[X]] : memref<4xf32>) outs(%[[X]] : memref<4xf32>)
// CHECK: loop.yield {{.*}} carried(%[[X]] :
func.func @over(%n: i64) -> memref<4xf32> {
  %a = memref.alloc() : memref<4xf32>
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%x = %a : memref<4xf32>) {
    %t = memref.alloc() : memref<4xf32>
    linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
        ins(%x : memref<4xf32>) outs(%t : memref<4xf32>) {
    ^bb0(%u: f32, %o: f32):
      %y = arith.mulf %u, %u : f32
      linalg.yield %y : f32
    }
    memref.dealloc %x : memref<4xf32>
    loop.yield while(%c : i1) carried(%t : memref<4xf32>)
  }
  return %r : memref<4xf32>
}

// Not where a branch hands on the old value, which is read later.
// CHECK-LABEL: func @handed_on(
// CHECK: loop.loop {{.*}} carried(%[[X:[^ ]+]] = %{{[^ ]+}} : memref<4xf32>, %[[S:[^ ]+]] =
// CHECK: linalg.generic {{.*}} ins(%[[X]] : memref<4xf32>) outs(%[[S]] : memref<4xf32>)
// CHECK: loop.yield {{.*}} carried(%[[S]], %[[X]] :
func.func @handed_on(%n: i64, %p: i1, %z: memref<4xf32>, %w: memref<4xf32>) -> memref<4xf32> {
  %a = memref.alloc() : memref<4xf32>
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%x = %a : memref<4xf32>) {
    %v = scf.if %p -> memref<4xf32> {
      scf.yield %x : memref<4xf32>
    } else {
      scf.yield %z : memref<4xf32>
    }
    %t = memref.alloc() : memref<4xf32>
    linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
        ins(%x : memref<4xf32>) outs(%t : memref<4xf32>) {
    ^bb0(%u: f32, %o: f32):
      %y = arith.mulf %u, %u : f32
      linalg.yield %y : f32
    }
    memref.copy %v, %w : memref<4xf32> to memref<4xf32>
    memref.dealloc %x : memref<4xf32>
    loop.yield while(%c : i1) carried(%t : memref<4xf32>)
  }
  return %r : memref<4xf32>
}

// Not where another element is read.
// CHECK-LABEL: func @turned(
// CHECK: linalg.generic {{.*}} ins(%[[X:[^ ]+]] : memref<4x4xf32>) outs(%[[Y:[^ ]+]] : memref<4x4xf32>)
// CHECK: loop.yield {{.*}} carried(%[[Y]], %[[X]] :
func.func @turned(%n: i64) -> memref<4x4xf32> {
  %a = memref.alloc() : memref<4x4xf32>
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%x = %a : memref<4x4xf32>) {
    %t = memref.alloc() : memref<4x4xf32>
    linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
        ins(%x : memref<4x4xf32>) outs(%t : memref<4x4xf32>) {
    ^bb0(%u: f32, %o: f32):
      linalg.yield %u : f32
    }
    memref.dealloc %x : memref<4x4xf32>
    loop.yield while(%c : i1) carried(%t : memref<4x4xf32>)
  }
  return %r : memref<4x4xf32>
}

// Inputs share dimensions of one name.
// CHECK-LABEL: func @named(
// CHECK: loop.loop
// CHECK-NOT: memref.alloc
// CHECK: return
func.func @named(%n: i64, %v: memref<?xf32> {loopc.dims = ["D"]}, %h: memref<?xf32> {loopc.dims = ["D"]}) -> memref<?xf32> {
  %c0 = arith.constant 0 : index
  %d = memref.dim %v, %c0 : memref<?xf32>
  %e = memref.dim %h, %c0 : memref<?xf32>
  %a = memref.alloc(%e) : memref<?xf32>
  memref.copy %h, %a : memref<?xf32> to memref<?xf32>
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%x = %a : memref<?xf32>) {
    %t = memref.alloc(%d) : memref<?xf32>
    memref.copy %x, %t : memref<?xf32> to memref<?xf32>
    memref.dealloc %x : memref<?xf32>
    loop.yield while(%c : i1) carried(%t : memref<?xf32>)
  }
  return %r : memref<?xf32>
}

// What a loop in a loop carries has one size if what the outer one begins with
// has it, and what the inner one makes: the inner loop makes nothing.
// CHECK-LABEL: func @turns_of_nest(
func.func @turns_of_nest(%n: i64, %size: index) -> memref<?xf32> {
  // CHECK: memref.alloc
  // CHECK: memref.alloc
  // CHECK: loop.loop
  // CHECK-NOT: memref.alloc
  // CHECK: return
  %a = memref.alloc(%size) : memref<?xf32>
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%x = %a : memref<?xf32>) {
    %s = loop.loop (%j : i64, %d : i1) trips(%n : i64) carried(%y = %x : memref<?xf32>) {
      %t = memref.alloc(%size) : memref<?xf32>
      memref.copy %y, %t : memref<?xf32> to memref<?xf32>
      memref.dealloc %y : memref<?xf32>
      loop.yield while(%d : i1) carried(%t : memref<?xf32>)
    }
    loop.yield while(%c : i1) carried(%s : memref<?xf32>)
  }
  return %r : memref<?xf32>
}

// Where the outer loop makes one of another size, or the size is another one in
// each of its iterations, each iteration makes a buffer.
// CHECK-LABEL: func @other_sizes_of_nest(
func.func @other_sizes_of_nest(%n: i64, %size: index, %other: index) -> (memref<?xf32>, memref<?xf32>) {
  // CHECK: loop.loop
  // CHECK: loop.loop
  // CHECK-NEXT: memref.alloc(%arg1)
  // CHECK: loop.loop
  // CHECK: loop.loop
  // CHECK-NEXT: memref.alloc(
  %a = memref.alloc(%size) : memref<?xf32>
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%x = %a : memref<?xf32>) {
    %s = loop.loop (%j : i64, %d : i1) trips(%n : i64) carried(%y = %x : memref<?xf32>) {
      %t = memref.alloc(%size) : memref<?xf32>
      memref.copy %y, %t : memref<?xf32> to memref<?xf32>
      memref.dealloc %y : memref<?xf32>
      loop.yield while(%d : i1) carried(%t : memref<?xf32>)
    }
    memref.dealloc %s : memref<?xf32>
    %u = memref.alloc(%other) : memref<?xf32>
    loop.yield while(%c : i1) carried(%u : memref<?xf32>)
  }
  %b = memref.alloc(%size) : memref<?xf32>
  %q = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%x = %b : memref<?xf32>) {
    %k = arith.index_cast %i : i64 to index
    %s = loop.loop (%j : i64, %d : i1) trips(%n : i64) carried(%y = %x : memref<?xf32>) {
      %t = memref.alloc(%k) : memref<?xf32>
      memref.dealloc %y : memref<?xf32>
      loop.yield while(%d : i1) carried(%t : memref<?xf32>)
    }
    loop.yield while(%c : i1) carried(%s : memref<?xf32>)
  }
  return %r, %q : memref<?xf32>, memref<?xf32>
}

// A branch keeps the old value or takes the new one: the other one is where the
// next iteration writes.
// CHECK-LABEL: func @kept_or_new(
func.func @kept_or_new(%n: i64, %keep: memref<?xi1>) -> memref<4xf32> {
  // CHECK: %[[INIT:.*]] = memref.alloc() : memref<4xf32>
  // CHECK: %[[SPARE:.*]] = memref.alloc() : memref<4xf32>
  // CHECK: %[[R:.*]]:2 = loop.loop {{.*}} carried(%[[X:[^ ]+]] = %[[INIT]] : memref<4xf32>, %[[S:[^ ]+]] = %[[SPARE]] : memref<4xf32>)
  // CHECK-NOT: memref.alloc
  // CHECK: memref.copy %[[X]], %[[S]]
  // CHECK: %[[NEXT:.*]] = arith.select %[[K:.*]], %[[X]], %[[S]]
  // CHECK: %[[FREE:.*]] = scf.if %[[K]] -> (memref<4xf32>) {
  // CHECK-NEXT: scf.yield %[[S]]
  // CHECK-NEXT: } else {
  // CHECK-NEXT: scf.yield %[[X]]
  // CHECK-NOT: memref.dealloc
  // CHECK: loop.yield {{.*}} carried(%[[NEXT]], %[[FREE]] :
  // CHECK: memref.dealloc %[[R]]#1
  %a = memref.alloc() : memref<4xf32>
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%x = %a : memref<4xf32>) {
    %at = arith.index_cast %i : i64 to index
    %k = memref.load %keep[%at] : memref<?xi1>
    %t = memref.alloc() : memref<4xf32>
    memref.copy %x, %t : memref<4xf32> to memref<4xf32>
    %next = arith.select %k, %x, %t : memref<4xf32>
    scf.if %k {
      memref.dealloc %t : memref<4xf32>
    } else {
      memref.dealloc %x : memref<4xf32>
    }
    loop.yield while(%c : i1) carried(%next : memref<4xf32>)
  }
  return %r : memref<4xf32>
}

// One branch makes a third buffer of the other two: there are three in turns.
// CHECK-LABEL: func @made_in_a_branch(
func.func @made_in_a_branch(%n: i64, %flags: memref<?xi1>) -> memref<4xf32> {
  // CHECK-COUNT-3: memref.alloc() : memref<4xf32>
  // CHECK: loop.loop
  // CHECK-NOT: memref.alloc
  // CHECK-NOT: memref.dealloc
  // CHECK: loop.yield
  // CHECK-COUNT-2: memref.dealloc
  // CHECK: return
  %a = memref.alloc() : memref<4xf32>
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%x = %a : memref<4xf32>) {
    %at = arith.index_cast %i : i64 to index
    %k = memref.load %flags[%at] : memref<?xi1>
    %t = memref.alloc() : memref<4xf32>
    memref.copy %x, %t : memref<4xf32> to memref<4xf32>
    %next = scf.if %k -> (memref<4xf32>) {
      memref.dealloc %x : memref<4xf32>
      scf.yield %t : memref<4xf32>
    } else {
      %u = memref.alloc() : memref<4xf32>
      linalg.add ins(%t, %x : memref<4xf32>, memref<4xf32>) outs(%u : memref<4xf32>)
      memref.dealloc %t : memref<4xf32>
      memref.dealloc %x : memref<4xf32>
      scf.yield %u : memref<4xf32>
    }
    loop.yield while(%c : i1) carried(%next : memref<4xf32>)
  }
  return %r : memref<4xf32>
}

// The turns of the loop within are those of the loop around it.
// CHECK-LABEL: func @turns_of_a_nest(
func.func @turns_of_a_nest(%n: i64, %keep: memref<?xi1>) -> memref<4xf32> {
  // CHECK-COUNT-2: memref.alloc() : memref<4xf32>
  // CHECK: loop.loop
  // CHECK-NOT: memref.alloc
  // CHECK: return
  %a = memref.alloc() : memref<4xf32>
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%x = %a : memref<4xf32>) {
    %s = loop.loop (%j : i64, %d : i1) trips(%n : i64) carried(%y = %x : memref<4xf32>) {
      %at = arith.index_cast %j : i64 to index
      %k = memref.load %keep[%at] : memref<?xi1>
      %t = memref.alloc() : memref<4xf32>
      memref.copy %y, %t : memref<4xf32> to memref<4xf32>
      %next = arith.select %k, %y, %t : memref<4xf32>
      scf.if %k {
        memref.dealloc %t : memref<4xf32>
      } else {
        memref.dealloc %y : memref<4xf32>
      }
      loop.yield while(%d : i1) carried(%next : memref<4xf32>)
    }
    loop.yield while(%c : i1) carried(%s : memref<4xf32>)
  }
  return %r : memref<4xf32>
}

// What comes out of a list is the list's as well: nothing is written there.
// CHECK-LABEL: func @shared_with_a_list(
func.func @shared_with_a_list(%n: i64, %l: !list.list<f32>) -> memref<4xf32> {
  // CHECK: loop.loop
  // CHECK: memref.alloc
  // CHECK: loop.yield
  %a = memref.alloc() : memref<4xf32>
  %c0 = arith.constant 0 : index
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%x = %a : memref<4xf32>) {
    %e, %shape = list.at %l[%c0] : !list.list<f32> -> memref<?xf32>, memref<?xi64>
    %g = memref.cast %e : memref<?xf32> to memref<4xf32>
    %t = memref.alloc() : memref<4xf32>
    linalg.add ins(%g, %x : memref<4xf32>, memref<4xf32>) outs(%t : memref<4xf32>)
    memref.dealloc %g : memref<4xf32>
    func.call @keep(%x) : (memref<4xf32>) -> ()
    loop.yield while(%c : i1) carried(%t : memref<4xf32>)
  }
  return %r : memref<4xf32>
}
func.func private @keep(memref<4xf32>)

// The loop may not run, and what data say may be negative, or more than there
// is: nothing is asked for then. Branches that are not taken ask for nothing.
// CHECK-LABEL: func @sizes_of_data(
// CHECK-SAME: %[[N:[^:]+]]: i64, %[[SIZE:[^:]+]]: index, %[[X:[^:]+]]: memref<?xf32>
func.func @sizes_of_data(%n: i64, %size: index, %x: memref<?xf32>, %p: i1) {
  // CHECK: %[[D:.*]] = memref.dim %[[X]]
  // CHECK-DAG: %[[RUNS:.*]] = arith.cmpi sgt, %[[N]]
  // CHECK-DAG: %[[SOME:.*]] = arith.maxsi %[[SIZE]]
  // CHECK: %[[ASKED:.*]] = arith.select %[[RUNS]], %[[SOME]]
  // CHECK: memref.alloc(%[[ASKED]])
  // CHECK: memref.alloc(%[[D]])
  // CHECK: loop.loop
  // CHECK-NOT: memref.alloc
  // CHECK: scf.if
  // CHECK: memref.alloc
  // CHECK: loop.yield
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %d = memref.dim %x, %c0 : memref<?xf32>
  loop.loop (%i : i64, %c : i1) trips(%n : i64) {
    %a = memref.alloc(%size) : memref<?xf32>
    linalg.fill ins(%zero : f32) outs(%a : memref<?xf32>)
    memref.dealloc %a : memref<?xf32>
    %b = memref.alloc(%d) : memref<?xf32>
    linalg.fill ins(%zero : f32) outs(%b : memref<?xf32>)
    memref.dealloc %b : memref<?xf32>
    scf.if %p {
      %e = memref.alloc(%size) : memref<?xf32>
      linalg.fill ins(%zero : f32) outs(%e : memref<?xf32>)
      memref.dealloc %e : memref<?xf32>
    }
    loop.yield while(%c : i1)
  }
  return
}

// What is carried on as another shape of a buffer is allocated in the shape
// that takes turns.
// CHECK-LABEL: func @another_shape(
// CHECK: memref.copy
// CHECK: %[[SPARE:.*]] = memref.alloc() : memref<16xf32>
// CHECK: loop.loop {{.*}}carried(%[[X:[^ ]+]] = %{{[^,]*}}, %[[Y:[^ ]+]] = %[[SPARE]] : memref<16xf32>)
// CHECK-NOT: memref.alloc
// CHECK: %[[PAIRS:.*]] = memref.expand_shape %[[Y]] {{.*}} into memref<8x2xf32>
// CHECK: memref.subview %[[PAIRS]]
// CHECK: loop.yield {{.*}}carried(%[[Y]], %[[X]] :
func.func @another_shape(%n: i64, %init: memref<16xf32>) -> memref<16xf32> {
  %own = memref.alloc() : memref<16xf32>
  memref.copy %init, %own : memref<16xf32> to memref<16xf32>
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%x = %own : memref<16xf32>) {
    %pairs = memref.alloc() : memref<8x2xf32>
    %low = memref.subview %x[0] [8] [1] : memref<16xf32> to memref<8xf32, strided<[1]>>
    %high = memref.subview %x[8] [8] [1] : memref<16xf32> to memref<8xf32, strided<[1], offset: 8>>
    %even = memref.subview %pairs[0, 0] [8, 1] [1, 1] : memref<8x2xf32> to memref<8xf32, strided<[2]>>
    %odd = memref.subview %pairs[0, 1] [8, 1] [1, 1] : memref<8x2xf32> to memref<8xf32, strided<[2], offset: 1>>
    memref.copy %low, %even : memref<8xf32, strided<[1]>> to memref<8xf32, strided<[2]>>
    memref.copy %high, %odd : memref<8xf32, strided<[1], offset: 8>> to memref<8xf32, strided<[2], offset: 1>>
    memref.dealloc %x : memref<16xf32>
    %next = memref.collapse_shape %pairs [[0, 1]] : memref<8x2xf32> into memref<16xf32>
    loop.yield while(%c : i1) carried(%next : memref<16xf32>)
  }
  return %r : memref<16xf32>
}

// Memory of a size that data say is not asked for in front of a loop where one
// within it may have no iteration.
// CHECK-LABEL: func @in_an_inner_loop(
// CHECK: loop.loop
// CHECK: scf.for
// CHECK: memref.alloc
// CHECK: memref.dealloc
func.func @in_an_inner_loop(%n: i64, %m: index, %size: index, %x: memref<?xf32>, %s: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  loop.loop (%i : i64, %k : i1) trips(%n : i64) {
    scf.for %j = %c0 to %m step %c1 {
      %t = memref.alloc(%size) : memref<?xf32>
      linalg.fill ins(%s : f32) outs(%t : memref<?xf32>)
      memref.copy %t, %x : memref<?xf32> to memref<?xf32>
      memref.dealloc %t : memref<?xf32>
    }
    loop.yield while(%k : i1)
  }
  return
}
