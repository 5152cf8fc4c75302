// RUN: loopc-opt %s --convert-loop-to-scf=mark-iterations | FileCheck %s
// RUN: loopc-opt %s --convert-loop-to-scf | FileCheck %s --check-prefix=PLAIN

// PLAIN-NOT: loopc.iterations

// A strip is no iteration of the model's loop.
// CHECK-LABEL: func @counted
// CHECK: scf.for
// CHECK: scf.for
// CHECK: } {loopc.iterations = "each"}
// CHECK: } {loopc.iterations = "strips"}
func.func @counted(%n: i64, %x0: f32) -> f32 {
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%x = %x0 : f32) {
    %y = arith.addf %x, %x : f32
    loop.yield while(%c : i1) carried(%y : f32)
  }
  return %r : f32
}

// CHECK-LABEL: func @tested
// CHECK: scf.while
// CHECK: } attributes {loopc.iterations = "each"}
func.func @tested(%go: i1, %x0: f32) -> f32 {
  %r = loop.loop (%i : i64, %c : i1) while(%go : i1) carried(%x = %x0 : f32) {
    %y = arith.addf %x, %x : f32
    %more = arith.cmpf olt, %y, %x : f32
    loop.yield while(%more : i1) carried(%y : f32)
  }
  return %r : f32
}
