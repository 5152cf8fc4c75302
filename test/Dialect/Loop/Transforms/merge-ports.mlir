// Equal ports of a loop become one.

// RUN: loopc-opt %s -loopc-eliminate-common -split-input-file | FileCheck %s

// Carried values that begin alike and go on alike are one.
// CHECK-LABEL: func @duplicates(
// CHECK-SAME: %{{[^ ]+}}: i64, %[[A0:[^ ]+]]: f32, %[[K:[^ ]+]]: f32)
func.func @duplicates(%m: i64, %a0: f32, %k: f32) -> (f32, f32, f32) {
  // CHECK: %[[R:[^ ]+]]:2 = loop.loop
  // CHECK-SAME: carried(%[[A:[^ ]+]] = %[[A0]] : f32, %[[D:[^ ]+]] = %[[A0]] : f32) {
  // CHECK-NEXT: %[[A1:[^ ]+]] = arith.mulf %[[A]], %[[K]]
  // CHECK-NEXT: %[[A2:[^ ]+]] = arith.addf %[[A1]], %[[A]]
  // CHECK-NEXT: %[[D1:[^ ]+]] = arith.addf %[[D]], %[[K]]
  // CHECK-NEXT: loop.yield while(%{{[^)]+}}) carried(%[[A2]], %[[D1]] : f32, f32)
  %r:3 = loop.loop (%i : i64, %c : i1) trips(%m : i64)
      carried(%a = %a0 : f32, %b = %a0 : f32, %d = %a0 : f32) {
    %a1 = arith.mulf %a, %k : f32
    %a2 = arith.addf %a1, %b : f32
    %b1 = arith.mulf %b, %k : f32
    %b2 = arith.addf %b1, %a : f32
    %d1 = arith.addf %d, %k : f32
    loop.yield while(%c : i1) carried(%a2, %b2, %d1 : f32, f32, f32)
  }
  // CHECK: return %[[R]]#0, %[[R]]#0, %[[R]]#1
  return %r#0, %r#1, %r#2 : f32, f32, f32
}

// -----

// What effects gave is not the same twice.
// CHECK-LABEL: func @no_duplicates
func.func @no_duplicates(%m: i64, %a0: f32) -> (f32, f32) {
  // CHECK: loop.loop {{.*}} carried(%{{[^ ]+}} = %{{[^ ]+}} : f32, %{{[^ ]+}} = %{{[^ ]+}} : f32)
  %r:2 = loop.loop (%i : i64, %c : i1) trips(%m : i64)
      carried(%a = %a0 : f32, %b = %a0 : f32) {
    %a1 = func.call @random(%a) : (f32) -> f32
    %b1 = func.call @random(%b) : (f32) -> f32
    loop.yield while(%c : i1) carried(%a1, %b1 : f32, f32)
  }
  return %r#0, %r#1 : f32, f32
}
func.func private @random(f32) -> f32

// -----

// CHECK-LABEL: func @duplicate_collected
func.func @duplicate_collected(%m: i64, %x: f32)
    -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) {
  // CHECK: %[[R:[^ ]+]]:2 = loop.loop {{.*}} collect(tensor<?xf32> axis 0, tensor<?xf32> axis 0 reverse)
  %r:3 = loop.loop (%i : i64, %c : i1) trips(%m : i64)
      collect(tensor<?xf32> axis 0, tensor<?xf32> axis 0 reverse,
              tensor<?xf32> axis 0) {
    loop.yield while(%c : i1) collect(%x, %x, %x : f32, f32, f32)
  }
  // CHECK: return %[[R]]#0, %[[R]]#1, %[[R]]#0
  return %r#0, %r#1, %r#2 : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
}
