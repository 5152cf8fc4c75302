// Canonicalisations of loop.loop.

// RUN: loopc-opt %s -canonicalize -split-input-file | FileCheck %s

//===----------------------------------------------------------------------===//
// Dead ports
//===----------------------------------------------------------------------===//

// A carried value that feeds only itself, one that feeds only that one, and
// one that is used.
// CHECK-LABEL: func @dead_carried(
// CHECK-SAME: %[[M:[^ ]+]]: i64, %[[C0:[^ ]+]]: i1, %[[A0:[^ ]+]]: f32, %[[B0:[^ ]+]]: f32, %[[D0:[^ ]+]]: f32)
func.func @dead_carried(%m: i64, %c0: i1, %a0: f32, %b0: f32, %d0: f32) -> f32 {
  // CHECK: %[[R:[^ ]+]] = loop.loop (%{{[^ ]+}} : i64, %{{[^ ]+}} : i1)
  // CHECK-SAME: trips(%[[M]] : i64) while(%[[C0]] : i1)
  // CHECK-SAME: carried(%[[B:[^ ]+]] = %[[B0]] : f32) {
  // CHECK-NEXT: %[[B1:[^ ]+]] = arith.addf %[[B]], %[[B]]
  // CHECK-NEXT: %[[GO:[^ ]+]] = arith.cmpf olt, %[[B1]], %[[B]]
  // CHECK-NEXT: loop.yield while(%[[GO]] : i1) carried(%[[B1]] : f32)
  %r:3 = loop.loop (%i : i64, %c : i1) trips(%m : i64) while(%c0 : i1)
      carried(%a = %a0 : f32, %b = %b0 : f32, %d = %d0 : f32) {
    %a1 = arith.addf %a, %d : f32
    %b1 = arith.addf %b, %b : f32
    %d1 = arith.mulf %d, %b : f32
    %go = arith.cmpf olt, %b1, %b : f32
    loop.yield while(%go : i1) carried(%a1, %b1, %d1 : f32, f32, f32)
  }
  // CHECK: return %[[R]]
  return %r#1 : f32
}

// -----

// An unused result whose argument the condition needs stays.
// CHECK-LABEL: func @live_by_condition
func.func @live_by_condition(%m: i64, %c0: i1, %a0: f32, %b0: f32) -> f32 {
  // CHECK: loop.loop {{.*}} carried(%{{[^ ]+}} = %{{[^ ]+}} : f32, %{{[^ ]+}} = %{{[^ ]+}} : f32)
  %r:2 = loop.loop (%i : i64, %c : i1) trips(%m : i64) while(%c0 : i1)
      carried(%a = %a0 : f32, %b = %b0 : f32) {
    %a1 = arith.mulf %a, %a : f32
    %b1 = arith.addf %b, %b : f32
    %go = arith.cmpf olt, %a1, %a : f32
    loop.yield while(%go : i1) carried(%a1, %b1 : f32, f32)
  }
  return %r#1 : f32
}

// -----

// ... and one that an operation with an effect needs.
// CHECK-LABEL: func @live_by_effect
func.func @live_by_effect(%m: i64, %a0: f32) {
  // CHECK: loop.loop {{.*}} carried(%[[A:[^ ]+]] = %{{[^ ]+}} : f32)
  // CHECK: call @use(%[[A]])
  %r = loop.loop (%i : i64, %c : i1) trips(%m : i64) carried(%a = %a0 : f32) {
    %a1 = arith.mulf %a, %a : f32
    func.call @use(%a) : (f32) -> ()
    loop.yield while(%c : i1) carried(%a1 : f32)
  }
  return
}
func.func private @use(f32)

// -----

// Dead through an inner loop; the inner loop goes too.
// CHECK-LABEL: func @dead_nested
func.func @dead_nested(%m: i64, %a0: f32, %b0: f32) -> f32 {
  // CHECK: loop.loop {{.*}} carried(%{{[^ ]+}} = %{{[^ ]+}} : f32) {
  // CHECK-NOT: loop.loop
  %r:2 = loop.loop (%i : i64, %c : i1) trips(%m : i64)
      carried(%a = %a0 : f32, %b = %b0 : f32) {
    %s = loop.loop (%j : i64, %d : i1) trips(%i : i64) carried(%y = %a : f32) {
      %z = arith.mulf %y, %b : f32
      loop.yield while(%d : i1) carried(%z : f32)
    }
    %b1 = arith.addf %b, %b : f32
    loop.yield while(%c : i1) carried(%s, %b1 : f32, f32)
  }
  return %r#1 : f32
}

// -----

// Collected values and slices; lengths, axes and directions of the others stay
// theirs.
// CHECK-LABEL: func @dead_collected(
// CHECK-SAME: %{{[^ ]+}}: i64, %[[V:[^ ]+]]: tensor<?x4xf32>, %[[W:[^ ]+]]: tensor<4x?xf32>, %[[L:[^ ]+]]: i32, %[[N:[^ ]+]]: i64)
func.func @dead_collected(%m: i64, %v: tensor<?x4xf32>, %w: tensor<4x?xf32>,
                          %l: i32, %n: i64) -> tensor<4x?xf32> {
  // CHECK: loop.loop
  // CHECK-SAME: slices(%[[B:[^ ]+]] = %[[W]] : tensor<4x?xf32> axis 1 reverse -> tensor<4xf32>)
  // CHECK-SAME: collect(tensor<4x?xf32> axis 1 reverse length(%[[N]] : i64)) {
  // CHECK-NEXT: loop.yield while(%{{[^ ]+}} : i1) collect(%[[B]] : tensor<4xf32>)
  %r:3 = loop.loop (%i : i64, %c : i1) trips(%m : i64)
      slices(%a = %v : tensor<?x4xf32> axis 0 -> tensor<4xf32>,
             %b = %w : tensor<4x?xf32> axis 1 reverse -> tensor<4xf32>)
      collect(tensor<?x4xf32> axis 0 length(%l : i32),
              tensor<4x?xf32> axis 1 reverse length(%n : i64),
              tensor<?x4xf32> axis 0) {
    loop.yield while(%c : i1)
        collect(%a, %b, %a : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  }
  return %r#1 : tensor<4x?xf32>
}

// -----

// A loop that nobody needs goes whether it ends or not: nobody could see it.
// CHECK-LABEL: func @dead_endless
func.func @dead_endless(%x0: f32) {
  // CHECK-NEXT: return
  %r = loop.loop (%i : i64, %c : i1) carried(%x = %x0 : f32) {
    %y = arith.addf %x, %x : f32
    loop.yield while(%c : i1) carried(%y : f32)
  }
  return
}

// -----

// ... but not one whose result is used, or that has effects.
// CHECK-LABEL: func @live_endless
func.func @live_endless(%x0: f32) -> f32 {
  // CHECK: loop.loop
  // CHECK: loop.loop
  %r = loop.loop (%i : i64, %c : i1) carried(%x = %x0 : f32) {
    %y = arith.addf %x, %x : f32
    loop.yield while(%c : i1) carried(%y : f32)
  }
  loop.loop (%i : i64, %c : i1) {
    loop.poll
    loop.yield while(%c : i1)
  }
  return %r : f32
}

// -----

//===----------------------------------------------------------------------===//
// Values that are not carried
//===----------------------------------------------------------------------===//

// loop_capture: yielded unchanged, or yielded as what it began with.
// CHECK-LABEL: func @invariant(
// CHECK-SAME: %{{[^ ]+}}: i64, %[[A0:[^ ]+]]: f32, %[[B0:[^ ]+]]: f32, %[[X0:[^ ]+]]: f32)
func.func @invariant(%m: i64, %a0: f32, %b0: f32, %x0: f32) -> (f32, f32, f32) {
  // CHECK: %[[R:[^ ]+]] = loop.loop {{.*}} carried(%[[X:[^ ]+]] = %[[X0]] : f32) {
  // CHECK-NEXT: %[[Y:[^ ]+]] = arith.mulf %[[X]], %[[A0]]
  // CHECK-NEXT: %[[Z:[^ ]+]] = arith.addf %[[Y]], %[[B0]]
  // CHECK-NEXT: loop.yield while(%{{[^)]+}}) carried(%[[Z]] : f32)
  %r:3 = loop.loop (%i : i64, %c : i1) trips(%m : i64)
      carried(%a = %a0 : f32, %x = %x0 : f32, %b = %b0 : f32) {
    %y = arith.mulf %x, %a : f32
    %z = arith.addf %y, %b : f32
    loop.yield while(%c : i1) carried(%a, %z, %b0 : f32, f32, f32)
  }
  // CHECK: return %[[A0]], %[[R]], %[[B0]]
  return %r#0, %r#1, %r#2 : f32, f32, f32
}

// -----

// Two that are swapped and begin alike are invariant; two that are swapped and
// do not are not.
// CHECK-LABEL: func @swapped(
// CHECK-SAME: %{{[^ ]+}}: i64, %[[A0:[^ ]+]]: f32, %[[B0:[^ ]+]]: f32)
func.func @swapped(%m: i64, %a0: f32, %b0: f32) -> (f32, f32, f32, f32) {
  // CHECK: %[[R:[^ ]+]]:2 = loop.loop
  // CHECK-SAME: carried(%[[X:[^ ]+]] = %[[A0]] : f32, %[[Y:[^ ]+]] = %[[B0]] : f32) {
  // CHECK-NEXT: loop.yield while(%{{[^)]+}}) carried(%[[Y]], %[[X]] : f32, f32)
  %r:4 = loop.loop (%i : i64, %c : i1) trips(%m : i64)
      carried(%p = %a0 : f32, %q = %a0 : f32, %x = %a0 : f32, %y = %b0 : f32) {
    loop.yield while(%c : i1) carried(%q, %p, %y, %x : f32, f32, f32, f32)
  }
  // CHECK: return %[[A0]], %[[A0]], %[[R]]#0, %[[R]]#1
  return %r#0, %r#1, %r#2, %r#3 : f32, f32, f32, f32
}

// -----

// Yielded from a constant equal to the init; a constant that differs stays.
// CHECK-LABEL: func @invariant_constant
func.func @invariant_constant(%m: i64) -> (i32, i32) {
  // CHECK-DAG: %[[ONE:[^ ]+]] = arith.constant 1 : i32
  // CHECK-DAG: %[[TWO:[^ ]+]] = arith.constant 2 : i32
  // CHECK: %[[R:[^ ]+]] = loop.loop {{.*}} carried(%{{[^ ]+}} = %[[ONE]] : i32) {
  // CHECK-NEXT: loop.yield while(%{{[^)]+}}) carried(%[[TWO]] : i32)
  // CHECK: return %[[ONE]], %[[R]]
  %one = arith.constant 1 : i32
  %r:2 = loop.loop (%i : i64, %c : i1) trips(%m : i64)
      carried(%a = %one : i32, %b = %one : i32) {
    %again = arith.constant 1 : i32
    %two = arith.constant 2 : i32
    loop.yield while(%c : i1) carried(%again, %two : i32, i32)
  }
  return %r#0, %r#1 : i32, i32
}

// -----

//===----------------------------------------------------------------------===//
// The condition
//===----------------------------------------------------------------------===//

// loop_test: inside the body the condition held, and so did the one given.
// CHECK-LABEL: func @condition_held(
// CHECK-SAME: %[[C0:[^ ]+]]: tensor<i1>
func.func @condition_held(%c0: tensor<i1>, %x0: tensor<f32>)
    -> (tensor<f32>, tensor<?xi1>) {
  // CHECK-DAG: %[[TRUE:[^ ]+]] = arith.constant dense<true> : tensor<i1>
  // CHECK: loop.loop {{.*}} while(%[[C0]] : tensor<i1>)
  // CHECK: loop.yield while(%{{[^ ]+}} : tensor<i1>) carried({{.*}}) collect(%[[TRUE]] : tensor<i1>)
  %r, %all = loop.loop (%i : tensor<i64>, %c : tensor<i1>)
      while(%c0 : tensor<i1>) carried(%x = %x0 : tensor<f32>)
      collect(tensor<?xi1> axis 0) {
    %y = arith.addf %x, %x : tensor<f32>
    %go = arith.cmpf olt, %y, %x : tensor<f32>
    %both = arith.andi %c, %c0 : tensor<i1>
    loop.yield while(%go : tensor<i1>) carried(%y : tensor<f32>)
        collect(%both : tensor<i1>)
  }
  return %r, %all : tensor<f32>, tensor<?xi1>
}

// -----

// loop_cond: without a given condition the argument is the last yielded, which
// need not be true.
// CHECK-LABEL: func @condition_ignored_but_seen
func.func @condition_ignored_but_seen(%m: i64, %x0: f32) -> tensor<?xi1> {
  // CHECK: loop.loop (%{{[^ ]+}} : i64, %[[C:[^ ]+]] : i1)
  // CHECK: %[[GO:[^ ]+]] = arith.cmpf
  // CHECK: loop.yield while(%[[GO]] : i1) carried({{.*}}) collect(%[[C]] : i1)
  %r, %all = loop.loop (%i : i64, %c : i1) trips(%m : i64)
      carried(%x = %x0 : f32) collect(tensor<?xi1> axis 0) {
    %y = arith.addf %x, %x : f32
    %go = arith.cmpf olt, %y, %x : f32
    loop.yield while(%go : i1) carried(%y : f32) collect(%c : i1)
  }
  return %all : tensor<?xi1>
}

// -----

// loop_cond: true at first, later what is yielded: true always.
// CHECK-LABEL: func @condition_true
func.func @condition_true(%m: i64) -> (tensor<?xi1>, tensor<?xi1>) {
  // CHECK: %[[TRUE:[^ ]+]] = arith.constant true
  // CHECK: loop.loop
  // CHECK-NEXT: loop.yield while(%[[TRUE]] : i1) collect(%[[TRUE]] : i1)
  // CHECK: loop.loop
  // CHECK-NEXT: loop.yield while(%[[TRUE]] : i1) collect(%[[TRUE]] : i1)
  %true = arith.constant true
  %a = loop.loop (%i : i64, %c : i1) trips(%m : i64)
      collect(tensor<?xi1> axis 0) {
    loop.yield while(%true : i1) collect(%c : i1)
  }
  %b = loop.loop (%i : i64, %c : i1) trips(%m : i64)
      collect(tensor<?xi1> axis 0) {
    loop.yield while(%c : i1) collect(%c : i1)
  }
  return %a, %b : tensor<?xi1>, tensor<?xi1>
}

// -----

// loop_cond_ignored: what nobody looks at is not computed.
// CHECK-LABEL: func @condition_ignored
func.func @condition_ignored(%m: i64, %x0: f32, %s0: f32) -> f32 {
  // CHECK: %[[TRUE:[^ ]+]] = arith.constant true
  // CHECK: loop.loop {{.*}} carried(%[[X:[^ ]+]] = %{{[^ ]+}} : f32) {
  // CHECK-NEXT: %[[Y:[^ ]+]] = arith.addf
  // CHECK-NEXT: loop.yield while(%[[TRUE]] : i1) carried(%[[Y]] : f32)
  %r:2 = loop.loop (%i : i64, %c : i1) trips(%m : i64)
      carried(%x = %x0 : f32, %s = %s0 : f32) {
    %y = arith.addf %x, %x : f32
    %t = arith.mulf %s, %s : f32
    %go = arith.cmpf olt, %t, %s : f32
    loop.yield while(%go : i1) carried(%y, %t : f32, f32)
  }
  return %r#0 : f32
}

// -----

// A condition that is true and stays so.
// CHECK-LABEL: func @condition_dropped
func.func @condition_dropped(%m: tensor<i64>, %x0: f32) -> (f32, f32) {
  // CHECK: loop.loop (%{{[^ ]+}} : tensor<i64>, %{{[^ ]+}} : tensor<i1>) trips(%{{[^ ]+}} : tensor<i64>) carried
  // CHECK: loop.loop (%{{[^ ]+}} : tensor<i64>, %{{[^ ]+}} : tensor<i1>) carried
  %true = arith.constant dense<true> : tensor<i1>
  %r = loop.loop (%i : tensor<i64>, %c : tensor<i1>) trips(%m : tensor<i64>)
      while(%true : tensor<i1>) carried(%x = %x0 : f32) {
    %y = arith.addf %x, %x : f32
    loop.yield while(%c : tensor<i1>) carried(%y : f32)
  }
  %s = loop.loop (%i : tensor<i64>, %c : tensor<i1>)
      while(%true : tensor<i1>) carried(%x = %x0 : f32) {
    %y = arith.addf %x, %x : f32
    loop.yield while(%true : tensor<i1>) carried(%y : f32)
  }
  return %r, %s : f32, f32
}

// -----

// A condition that decides before the loop only: into the trip count, or it
// stays.
// CHECK-LABEL: func @condition_before(
// CHECK-SAME: %[[M:[^ ]+]]: i64, %[[C0:[^ ]+]]: i1
func.func @condition_before(%m: i64, %c0: i1, %x0: f32) -> (f32, f32) {
  // CHECK-DAG: %[[ZERO:[^ ]+]] = arith.constant 0 : i64
  // CHECK: %[[N:[^ ]+]] = arith.select %[[C0]], %[[M]], %[[ZERO]] : i64
  // CHECK: loop.loop (%{{[^ ]+}} : i64, %{{[^ ]+}} : i1) trips(%[[N]] : i64) carried
  // CHECK: loop.loop (%{{[^ ]+}} : i64, %{{[^ ]+}} : i1) while(%[[C0]] : i1) carried
  %r = loop.loop (%i : i64, %c : i1) trips(%m : i64) while(%c0 : i1)
      carried(%x = %x0 : f32) {
    %y = arith.addf %x, %x : f32
    loop.yield while(%c0 : i1) carried(%y : f32)
  }
  %s = loop.loop (%i : i64, %c : i1) while(%c0 : i1) carried(%x = %x0 : f32) {
    %y = arith.addf %x, %x : f32
    loop.yield while(%c : i1) carried(%y : f32)
  }
  return %r, %s : f32, f32
}

// -----

// Given true, but yielded what is not known: it stays.
// CHECK-LABEL: func @condition_stays
func.func @condition_stays(%m: i64, %x0: f32) -> f32 {
  // CHECK: %[[TRUE:[^ ]+]] = arith.constant true
  // CHECK: loop.loop {{.*}} trips(%{{[^ ]+}} : i64) while(%[[TRUE]] : i1)
  %true = arith.constant true
  %r = loop.loop (%i : i64, %c : i1) trips(%m : i64) while(%true : i1)
      carried(%x = %x0 : f32) {
    %y = arith.addf %x, %x : f32
    %go = arith.cmpf olt, %y, %x : f32
    loop.yield while(%go : i1) carried(%y : f32)
  }
  return %r : f32
}

// -----

//===----------------------------------------------------------------------===//
// No trip: loop_zero
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func @zero_trips(
// CHECK-SAME: %[[X0:[^ ]+]]: f32
func.func @zero_trips(%x0: f32, %v: tensor<4xf32>)
    -> (f32, tensor<?x4xf32>, tensor<4x0xf32>) {
  // CHECK-NOT: loop.loop
  // CHECK-DAG: %[[A:[^ ]+]] = tensor.empty() : tensor<0x4xf32>
  // CHECK-DAG: %[[B:[^ ]+]] = tensor.empty() : tensor<4x0xf32>
  // CHECK-DAG: %[[D:[^ ]+]] = tensor.cast %[[A]] : tensor<0x4xf32> to tensor<?x4xf32>
  // CHECK: return %[[X0]], %[[D]], %[[B]]
  %m = arith.constant 0 : i64
  %r:3 = loop.loop (%i : i64, %c : i1) trips(%m : i64) carried(%x = %x0 : f32)
      collect(tensor<?x4xf32> axis 0, tensor<4x0xf32> axis 1) {
    %y = arith.addf %x, %x : f32
    func.call @effect() : () -> ()
    loop.yield while(%c : i1) carried(%y : f32)
        collect(%v, %v : tensor<4xf32>, tensor<4xf32>)
  }
  return %r#0, %r#1, %r#2 : f32, tensor<?x4xf32>, tensor<4x0xf32>
}
func.func private @effect()

// -----

// loop_m: a negative trip count is none; loop_cond: false before the first.
// CHECK-LABEL: func @never(
// CHECK-SAME: %[[X0:[^ ]+]]: tensor<f32>
func.func @never(%m: tensor<i64>, %x0: tensor<f32>)
    -> (tensor<f32>, tensor<f32>) {
  // CHECK-NEXT: return %[[X0]], %[[X0]]
  %minus = arith.constant dense<-3> : tensor<1xi64>
  %r = loop.loop (%i : tensor<i64>, %c : tensor<i1>) trips(%minus : tensor<1xi64>)
      carried(%x = %x0 : tensor<f32>) {
    %y = arith.addf %x, %x : tensor<f32>
    loop.yield while(%c : tensor<i1>) carried(%y : tensor<f32>)
  }
  %false = arith.constant dense<false> : tensor<i1>
  %s = loop.loop (%i : tensor<i64>, %c : tensor<i1>) trips(%m : tensor<i64>)
      while(%false : tensor<i1>) carried(%x = %x0 : tensor<f32>) {
    %y = arith.addf %x, %x : tensor<f32>
    loop.yield while(%c : tensor<i1>) carried(%y : tensor<f32>)
  }
  return %r, %s : tensor<f32>, tensor<f32>
}

// -----

// What the types do not say of an empty value is left to say, and rows of
// padding are left to make (loop_collect_length).
// CHECK-LABEL: func @zero_trips_unknown(
// CHECK-SAME: %[[X0:[^ ]+]]: f32
func.func @zero_trips_unknown(%x0: f32, %v: tensor<?xf32>, %n: i64)
    -> (f32, tensor<?x?xf32>, tensor<?xf32>) {
  // CHECK: %[[R:[^ ]+]]:2 = loop.loop
  // CHECK-SAME: collect(tensor<0x?xf32> axis 0, tensor<?xf32> axis 0 length(
  // CHECK: %[[D:[^ ]+]] = tensor.cast %[[R]]#0 : tensor<0x?xf32> to tensor<?x?xf32>
  // CHECK: return %[[X0]], %[[D]], %[[R]]#1
  %m = arith.constant 0 : i64
  %r:3 = loop.loop (%i : i64, %c : i1) trips(%m : i64) carried(%x = %x0 : f32)
      collect(tensor<?x?xf32> axis 0, tensor<?xf32> axis 0 length(%n : i64)) {
    %y = arith.addf %x, %x : f32
    loop.yield while(%c : i1) carried(%y : f32)
        collect(%v, %x0 : tensor<?xf32>, f32)
  }
  return %r#0, %r#1, %r#2 : f32, tensor<?x?xf32>, tensor<?xf32>
}

// -----

//===----------------------------------------------------------------------===//
// One trip
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func @one_trip(
// CHECK-SAME: %[[X0:[^ ]+]]: tensor<f32>, %[[V:[^ ]+]]: tensor<4x?xf32>, %[[K:[^ ]+]]: f32
func.func @one_trip(%x0: tensor<f32>, %v: tensor<4x?xf32>, %k: f32)
    -> (tensor<f32>, tensor<?xf32>, tensor<?x1xf32>, tensor<?xf32>,
        tensor<*xf32>, tensor<i64>) {
  // CHECK-NOT: loop.loop
  // CHECK-DAG: %[[ONE:[^ ]+]] = arith.constant 1 : index
  // CHECK-DAG: %[[NUMBER:[^ ]+]] = arith.constant dense<0> : tensor<i64>
  // CHECK-DAG: %[[D:[^ ]+]] = tensor.dim %[[V]], %[[ONE]]
  // CHECK-DAG: %[[S:[^ ]+]] = tensor.extract_slice %[[V]][0, 0] [1, %[[D]]] [1, 1] : tensor<4x?xf32> to tensor<?xf32>
  // CHECK-DAG: %[[Y:[^ ]+]] = arith.addf %[[X0]], %[[X0]]
  // CHECK-DAG: %[[A:[^ ]+]] = tensor.expand_shape %[[X0]] [] output_shape [1] : tensor<f32> into tensor<1xf32>
  // CHECK-DAG: %[[A1:[^ ]+]] = tensor.cast %[[A]] : tensor<1xf32> to tensor<?xf32>
  // CHECK-DAG: %[[B:[^ ]+]] = tensor.expand_shape %[[S]] {{\[\[}}0, 1]] output_shape [%{{[^ ]+}}, 1] : tensor<?xf32> into tensor<?x1xf32>
  // CHECK-DAG: %[[F:[^ ]+]] = tensor.from_elements %[[K]] : tensor<1xf32>
  // CHECK-DAG: %[[F1:[^ ]+]] = tensor.cast %[[F]] : tensor<1xf32> to tensor<?xf32>
  // CHECK-DAG: %[[E:[^ ]+]] = tensor.expand_shape %[[S]] {{\[\[}}0, 1]] output_shape [1, %{{[^ ]+}}] : tensor<?xf32> into tensor<1x?xf32>
  // CHECK-DAG: %[[E1:[^ ]+]] = tensor.cast %[[E]] : tensor<1x?xf32> to tensor<*xf32>
  // CHECK: return %[[Y]], %[[A1]], %[[B]], %[[F1]], %[[E1]], %[[NUMBER]]
  %m = arith.constant 1 : i64
  %n0 = arith.constant dense<7> : tensor<i64>
  %r:6 = loop.loop (%i : tensor<i64>, %c : i1) trips(%m : i64)
      carried(%x = %x0 : tensor<f32>, %n = %n0 : tensor<i64>)
      slices(%a = %v : tensor<4x?xf32> axis 0 reverse -> tensor<?xf32>)
      collect(tensor<?xf32> axis 0, tensor<?x1xf32> axis 1,
              tensor<?xf32> axis 0 reverse, tensor<*xf32> axis 0) {
    %y = arith.addf %x, %x : tensor<f32>
    loop.yield while(%c : i1) carried(%y, %i : tensor<f32>, tensor<i64>)
        collect(%x, %a, %k, %a : tensor<f32>, tensor<?xf32>, f32, tensor<?xf32>)
  }
  return %r#0, %r#2, %r#3, %r#4, %r#5, %r#1
      : tensor<f32>, tensor<?xf32>, tensor<?x1xf32>, tensor<?xf32>,
        tensor<*xf32>, tensor<i64>
}

// -----

// do-while that ends at once; the same, when the trip count may be zero, stays.
// CHECK-LABEL: func @one_trip_by_condition(
// CHECK-SAME: %[[M:[^ ]+]]: i64, %[[X0:[^ ]+]]: f32
func.func @one_trip_by_condition(%m: i64, %x0: f32) -> (f32, f32) {
  // CHECK: %[[Y:[^ ]+]] = arith.addf %[[X0]], %[[X0]]
  // CHECK: %[[R:[^ ]+]] = loop.loop {{.*}} trips(%[[M]] : i64) while
  // CHECK: return %[[Y]], %[[R]]
  %true = arith.constant true
  %false = arith.constant false
  %r = loop.loop (%i : i64, %c : i1) while(%true : i1) carried(%x = %x0 : f32) {
    %y = arith.addf %x, %x : f32
    loop.yield while(%false : i1) carried(%y : f32)
  }
  %s = loop.loop (%i : i64, %c : i1) trips(%m : i64) while(%true : i1)
      carried(%x = %x0 : f32) {
    %y = arith.addf %x, %x : f32
    loop.yield while(%false : i1) carried(%y : f32)
  }
  return %r, %s : f32, f32
}

// -----

// loop_slice: there may be no element 0. loop_collect_length: padding.
// CHECK-LABEL: func @one_trip_stays
func.func @one_trip_stays(%x0: f32, %v: tensor<?xf32>, %n: i64)
    -> (f32, tensor<?xf32>) {
  // CHECK: loop.loop
  // CHECK: loop.loop
  %m = arith.constant 1 : i64
  %r = loop.loop (%i : i64, %c : i1) trips(%m : i64) carried(%x = %x0 : f32)
      slices(%a = %v : tensor<?xf32> axis 0 -> f32) {
    %y = arith.addf %x, %a : f32
    loop.yield while(%c : i1) carried(%y : f32)
  }
  %s = loop.loop (%i : i64, %c : i1) trips(%m : i64)
      collect(tensor<?xf32> axis 0 length(%n : i64)) {
    loop.yield while(%c : i1) collect(%x0 : f32)
  }
  return %r, %s : f32, tensor<?xf32>
}

// -----

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

// loop_carried: a cast of the init and a cast of what is yielded.
// CHECK-LABEL: func @cast_carried(
// CHECK-SAME: %[[X0:[^ ]+]]: tensor<4xf32>
func.func @cast_carried(%m: i64, %x0: tensor<4xf32>) -> tensor<?xf32> {
  // CHECK: %[[R:[^ ]+]] = loop.loop {{.*}} carried(%[[X:[^ ]+]] = %[[X0]] : tensor<4xf32>) {
  // CHECK-NEXT: %[[Y:[^ ]+]] = math.exp %[[X]] : tensor<4xf32>
  // CHECK-NEXT: loop.yield while(%{{[^)]+}}) carried(%[[Y]] : tensor<4xf32>)
  // CHECK: tensor.cast %[[R]] : tensor<4xf32> to tensor<?xf32>
  %d = tensor.cast %x0 : tensor<4xf32> to tensor<?xf32>
  %r = loop.loop (%i : i64, %c : i1) trips(%m : i64)
      carried(%x = %d : tensor<?xf32>) {
    %s = tensor.cast %x : tensor<?xf32> to tensor<4xf32>
    %y = math.exp %s : tensor<4xf32>
    %z = tensor.cast %y : tensor<4xf32> to tensor<?xf32>
    loop.yield while(%c : i1) carried(%z : tensor<?xf32>)
  }
  return %r : tensor<?xf32>
}

// -----

// What init and yield have in common; a rank becomes known.
// CHECK-LABEL: func @cast_carried_join
func.func @cast_carried_join(%m: i64, %x0: tensor<4x3xf32>, %y: tensor<?x3xf32>,
                             %z0: tensor<f32>, %w: tensor<3xf32>)
    -> (tensor<?x?xf32>, tensor<*xf32>, tensor<*xf32>) {
  // CHECK: loop.loop
  // CHECK-SAME: carried(%{{[^ ]+}} = %{{[^ ]+}} : tensor<?x3xf32>, %{{[^ ]+}} = %{{[^ ]+}} : tensor<?x3xf32>, %{{[^ ]+}} = %{{[^ ]+}} : tensor<*xf32>)
  // CHECK: loop.yield while(%{{[^)]+}}) carried(%{{[^ ]+}}, %{{[^ ]+}}, %{{[^ ]+}} : tensor<?x3xf32>, tensor<?x3xf32>, tensor<*xf32>)
  %a = tensor.cast %x0 : tensor<4x3xf32> to tensor<?x?xf32>
  %b = tensor.cast %x0 : tensor<4x3xf32> to tensor<*xf32>
  %d = tensor.cast %z0 : tensor<f32> to tensor<*xf32>
  %r:3 = loop.loop (%i : i64, %c : i1) trips(%m : i64)
      carried(%x = %a : tensor<?x?xf32>, %u = %b : tensor<*xf32>,
              %v = %d : tensor<*xf32>) {
    %y1 = tensor.cast %y : tensor<?x3xf32> to tensor<?x?xf32>
    %y2 = tensor.cast %y : tensor<?x3xf32> to tensor<*xf32>
    %w1 = tensor.cast %w : tensor<3xf32> to tensor<*xf32>
    loop.yield while(%c : i1)
        carried(%y1, %y2, %w1 : tensor<?x?xf32>, tensor<*xf32>, tensor<*xf32>)
  }
  return %r#0, %r#1, %r#2 : tensor<?x?xf32>, tensor<*xf32>, tensor<*xf32>
}

// -----

// Values that take turns are known as well as all of them are.
// CHECK-LABEL: func @cast_carried_turns
func.func @cast_carried_turns(%m: i64, %a0: tensor<4xf32>, %b0: tensor<4xf32>,
                              %d0: tensor<5xf32>)
    -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) {
  // CHECK: loop.loop
  // CHECK-SAME: carried(%[[P:[^ ]+]] = %{{[^ ]+}} : tensor<4xf32>, %[[Q:[^ ]+]] = %{{[^ ]+}} : tensor<4xf32>, %[[X:[^ ]+]] = %{{[^ ]+}} : tensor<?xf32>, %[[Y:[^ ]+]] = %{{[^ ]+}} : tensor<?xf32>) {
  // CHECK-NEXT: loop.yield while(%{{[^)]+}}) carried(%[[Q]], %[[P]], %[[Y]], %[[X]] : tensor<4xf32>, tensor<4xf32>, tensor<?xf32>, tensor<?xf32>)
  %a = tensor.cast %a0 : tensor<4xf32> to tensor<?xf32>
  %b = tensor.cast %b0 : tensor<4xf32> to tensor<?xf32>
  %d = tensor.cast %d0 : tensor<5xf32> to tensor<?xf32>
  %r:4 = loop.loop (%i : i64, %c : i1) trips(%m : i64)
      carried(%p = %a : tensor<?xf32>, %q = %b : tensor<?xf32>,
              %x = %a : tensor<?xf32>, %y = %d : tensor<?xf32>) {
    loop.yield while(%c : i1) carried(%q, %p, %y, %x
        : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>)
  }
  return %r#0, %r#1, %r#2, %r#3
      : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
}

// -----

// A value that grows stays dynamic.
// CHECK-LABEL: func @cast_carried_grows
func.func @cast_carried_grows(%m: i64, %x0: tensor<4xf32>) -> tensor<?xf32> {
  // CHECK: loop.loop {{.*}} carried(%{{[^ ]+}} = %{{[^ ]+}} : tensor<?xf32>)
  %d = tensor.cast %x0 : tensor<4xf32> to tensor<?xf32>
  %r = loop.loop (%i : i64, %c : i1) trips(%m : i64)
      carried(%x = %d : tensor<?xf32>) {
    %z = tensor.concat dim(0) %x, %x0
        : (tensor<?xf32>, tensor<4xf32>) -> tensor<?xf32>
    loop.yield while(%c : i1) carried(%z : tensor<?xf32>)
  }
  return %r : tensor<?xf32>
}

// -----

// loop_slice
// CHECK-LABEL: func @cast_slice(
// CHECK-SAME: %[[V:[^ ]+]]: tensor<8x4xf32>
func.func @cast_slice(%m: i64, %v: tensor<8x4xf32>, %x0: tensor<4xf32>)
    -> tensor<4xf32> {
  // CHECK: loop.loop {{.*}} slices(%[[A:[^ ]+]] = %[[V]] : tensor<8x4xf32> axis 0 -> tensor<4xf32>) {
  // CHECK-NEXT: arith.addf %{{[^ ]+}}, %[[A]] : tensor<4xf32>
  %d = tensor.cast %v : tensor<8x4xf32> to tensor<?x?xf32>
  %r = loop.loop (%i : i64, %c : i1) trips(%m : i64)
      carried(%x = %x0 : tensor<4xf32>)
      slices(%a = %d : tensor<?x?xf32> axis 0 -> tensor<?xf32>) {
    %s = tensor.cast %a : tensor<?xf32> to tensor<4xf32>
    %y = arith.addf %x, %s : tensor<4xf32>
    loop.yield while(%c : i1) carried(%y : tensor<4xf32>)
  }
  return %r : tensor<4xf32>
}

// -----

// loop_collect, loop_collect_length: from the value, the trips and the length.
// CHECK-LABEL: func @cast_collected(
// CHECK-SAME: %[[X:[^ ]+]]: tensor<4xf32>
func.func @cast_collected(%x: tensor<4xf32>, %c0: i1, %m: i64)
    -> (tensor<?x?xf32>, tensor<*xf32>, tensor<?x?xf32>, tensor<?x?xf32>) {
  // CHECK: collect(tensor<5x4xf32> axis 0, tensor<4x5xf32> axis 1, tensor<9x4xf32> axis 0 length(%{{[^ ]+}} : i64))
  // CHECK: loop.yield while(%{{[^)]+}}) collect(%[[X]], %[[X]], %[[X]] : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  // CHECK: collect(tensor<?x4xf32> axis 0)
  %c5 = arith.constant 5 : i64
  %c9 = arith.constant 9 : i64
  %d = tensor.cast %x : tensor<4xf32> to tensor<?xf32>
  %r:3 = loop.loop (%i : i64, %c : i1) trips(%c5 : i64)
      collect(tensor<?x?xf32> axis 0, tensor<*xf32> axis 1,
              tensor<?x?xf32> axis 0 length(%c9 : i64)) {
    loop.yield while(%c : i1)
        collect(%d, %x, %d : tensor<?xf32>, tensor<4xf32>, tensor<?xf32>)
  }
  // A condition may end the loop before.
  %s:2 = loop.loop (%i : i64, %c : i1) trips(%c5 : i64) while(%c0 : i1)
      carried(%j = %m : i64) collect(tensor<?x?xf32> axis 0) {
    %k = arith.muli %j, %j : i64
    %go = arith.cmpi slt, %k, %i : i64
    loop.yield while(%go : i1) carried(%k : i64) collect(%d : tensor<?xf32>)
  }
  return %r#0, %r#1, %r#2, %s#1
      : tensor<?x?xf32>, tensor<*xf32>, tensor<?x?xf32>, tensor<?x?xf32>
}

// -----

// INT64_MAX, "no limit", is no dimension; casts that promise what does not hold
// stay as they are, errors at run time.
// CHECK-LABEL: func @cast_stays
func.func @cast_stays(%v: tensor<8x4xf32>, %x: tensor<4xf32>, %c0: i1)
    -> (tensor<?xi64>, tensor<?x3xf32>) {
  // CHECK: collect(tensor<?xi64> axis 0)
  // CHECK: slices(%{{[^ ]+}} = %{{[^ ]+}} : tensor<?x?xf32> axis 0 -> tensor<3xf32>)
  // CHECK-SAME: collect(tensor<?x3xf32> axis 0)
  %max = arith.constant 9223372036854775807 : i64
  %c2 = arith.constant 2 : i64
  %r = loop.loop (%i : i64, %c : i1) trips(%max : i64)
      collect(tensor<?xi64> axis 0) {
    loop.yield while(%c : i1) collect(%i : i64)
  }
  %d = tensor.cast %v : tensor<8x4xf32> to tensor<?x?xf32>
  %s:2 = loop.loop (%i : i64, %c : i1) while(%c0 : i1)
      slices(%a = %d : tensor<?x?xf32> axis 0 -> tensor<3xf32>)
      collect(tensor<?x3xf32> axis 0, tensor<?x3xf32> axis 0) {
    %e = tensor.cast %x : tensor<4xf32> to tensor<?xf32>
    loop.yield while(%c : i1) collect(%a, %e : tensor<3xf32>, tensor<?xf32>)
  }
  return %r, %s#0 : tensor<?xi64>, tensor<?x3xf32>
}

// -----

// The attributes of a loop that is rebuilt stay.
// CHECK-LABEL: func @attributes
func.func @attributes(%m: tensor<i64>, %x0: tensor<f32>, %y0: tensor<f32>)
    -> tensor<f32> {
  // CHECK: loop.loop {{.*}} carried(%{{[^ ]+}} = %{{[^ ]+}} : tensor<f32>) since 13 attributes {name = "decode"} {
  %r:2 = loop.loop (%i : tensor<i64>, %c : tensor<i1>) trips(%m : tensor<i64>)
      carried(%x = %x0 : tensor<f32>, %y = %y0 : tensor<f32>)
      since 13 attributes {name = "decode"} {
    %z = arith.addf %x, %x : tensor<f32>
    loop.yield while(%c : tensor<i1>) carried(%z, %z : tensor<f32>, tensor<f32>)
  }
  return %r#0 : tensor<f32>
}

// -----

// loop.check that holds.
// CHECK-LABEL: func @check
func.func @check(%same: i1, %a: index) {
  // CHECK-NEXT: loop.check %{{[^ ]+}}, "stays"
  // CHECK-NEXT: return
  %true = arith.constant true
  loop.check %true, "{} goes" (%a : index)
  loop.check %same, "stays"
  return
}

// Axes of values of unknown rank may count from the end. Where the rank becomes
// known they count from the front.
// CHECK-LABEL: func.func @axes_from_the_end(
// CHECK-SAME: %[[X:[^:]+]]: tensor<2x3xf32>, %[[V:[^:]+]]: tensor<4x5x6xf32>
// CHECK: slices(%{{.*}} = %[[V]] : tensor<4x5x6xf32> axis 1 -> tensor<4x6xf32>)
// CHECK-SAME: collect(tensor<2x?x3xf32> axis 1, tensor<4x6x?xf32> axis 2)
func.func @axes_from_the_end(%x: tensor<2x3xf32>, %v: tensor<4x5x6xf32>, %m: i64)
    -> (tensor<*xf32>, tensor<*xf32>) {
  %u = tensor.cast %x : tensor<2x3xf32> to tensor<*xf32>
  %w = tensor.cast %v : tensor<4x5x6xf32> to tensor<*xf32>
  %r:2 = loop.loop (%i : i64, %c : i1) trips(%m : i64)
      slices(%s = %w : tensor<*xf32> axis -2 -> tensor<*xf32>)
      collect(tensor<*xf32> axis -2, tensor<*xf32> axis -1) {
    loop.yield while(%c : i1) collect(%u, %s : tensor<*xf32>, tensor<*xf32>)
  }
  return %r#0, %r#1 : tensor<*xf32>, tensor<*xf32>
}

// CHECK-LABEL: func.func @once_from_the_end(
// CHECK-NOT: loop.loop
// CHECK: tensor.expand_shape %{{.*}} {{\[\[}}0], [1, 2]] output_shape [2, 1, 3]
func.func @once_from_the_end(%x: tensor<2x3xf32>) -> tensor<*xf32> {
  %m = arith.constant 1 : i64
  %u = tensor.cast %x : tensor<2x3xf32> to tensor<*xf32>
  %r = loop.loop (%i : i64, %c : i1) trips(%m : i64) collect(tensor<*xf32> axis -2) {
    loop.yield while(%c : i1) collect(%u : tensor<*xf32>)
  }
  return %r : tensor<*xf32>
}

// -----

// A carried value is a copy of a buffer that others know, and is written to: in
// place of the loop it would be the buffer itself. What the iteration got, or
// allocated, is its own.
// CHECK-LABEL: func.func @buffer_of_others(
// CHECK: %[[KNOWN:.*]] = memref.alloc() : memref<5xf32>
// CHECK: %[[RESULT:.*]] = loop.loop
// CHECK: loop.yield {{.*}}carried(%[[KNOWN]]
// CHECK: memref.store %{{.*}}, %[[RESULT]]
// CHECK-LABEL: func.func @buffers_of_its_own(
// CHECK-NOT: loop.loop
// CHECK: return
func.func @buffer_of_others(%init: memref<5xf32>, %f: f32) -> (memref<5xf32>, memref<5xf32>) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i64
  %true = arith.constant true
  %known = memref.alloc() : memref<5xf32>
  memref.store %f, %known[%c0] : memref<5xf32>
  %0 = loop.loop (%i : i64, %go : i1) trips(%one : i64) while(%true : i1) carried(%a = %init : memref<5xf32>) {
    loop.yield while(%true : i1) carried(%known : memref<5xf32>)
  }
  memref.store %f, %0[%c0] : memref<5xf32>
  return %known, %0 : memref<5xf32>, memref<5xf32>
}
func.func @buffers_of_its_own(%x: memref<5xf32>, %y: memref<5xf32>, %f: f32, %c: i1) -> (memref<5xf32>, memref<5xf32>) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i64
  %true = arith.constant true
  %0:2 = loop.loop (%i : i64, %go : i1) trips(%one : i64) while(%true : i1) carried(%a = %x : memref<5xf32>, %b = %y : memref<5xf32>) {
    %new = memref.alloc() : memref<5xf32>
    %either = scf.if %c -> memref<5xf32> {
      scf.yield %new : memref<5xf32>
    } else {
      scf.yield %b : memref<5xf32>
    }
    loop.yield while(%true : i1) carried(%either, %a : memref<5xf32>, memref<5xf32>)
  }
  memref.store %f, %0#0[%c0] : memref<5xf32>
  return %0#0, %0#1 : memref<5xf32>, memref<5xf32>
}

// Nothing is carried, so that what the loop yields has no carried values to
// begin with: a slice that is the condition is needed.
// CHECK-LABEL: func @condition_of_slices(
// CHECK: loop.loop {{.*}} slices(%[[S:[^ ]+]] =
// CHECK: loop.yield while(%[[S]] : i1)
func.func @condition_of_slices(%n: i64, %c: i1, %x: tensor<?xi1>) {
  loop.loop (%i : i64, %go : i1) trips(%n : i64) while(%c : i1) slices(%s = %x : tensor<?xi1> axis 0 -> i1) {
    %zero = arith.constant 0 : i64
    %ok = arith.cmpi ne, %i, %zero : i64
    loop.check %ok, "{}"(%i : i64)
    loop.yield while(%s : i1)
  }
  return
}
