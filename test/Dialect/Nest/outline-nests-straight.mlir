// RUN: loopc-opt %s --loopc-outline-nests="min-straight=1" | FileCheck %s

// A short function of the model from which all loops go is left without one;
// one in which a loop stays keeps its nests, and so does what was a nest.
// CHECK-LABEL: func.func @straight(
// CHECK-NOT: scf.for
// CHECK: call @straight_nest(
// CHECK: scf.if
// CHECK: func.call @straight_nest_0(
// CHECK-NOT: scf.for
// CHECK: return
func.func @straight(%x: memref<8xf32>, %p: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %c8 step %c1 {
    memref.store %zero, %x[%i] : memref<8xf32>
  }
  scf.if %p {
    scf.for %i = %c0 to %c8 step %c1 {
      %v = memref.load %x[%i] : memref<8xf32>
      %w = arith.addf %v, %v : f32
      memref.store %w, %x[%i] : memref<8xf32>
    }
  }
  return
}

// CHECK-LABEL: func.func @loops(
// CHECK: scf.for
// CHECK: scf.while
// CHECK-LABEL: func.func private @piece(
// CHECK: scf.for
func.func @loops(%x: memref<8xf32>, %p: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %c8 step %c1 {
    memref.store %zero, %x[%i] : memref<8xf32>
  }
  scf.while : () -> () {
    scf.condition(%p)
  } do {
    func.call @piece(%x) : (memref<8xf32>) -> ()
    scf.yield
  }
  return
}
func.func private @piece(%x: memref<8xf32>) attributes {loopc.outlined} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %c8 step %c1 {
    memref.store %zero, %x[%i] : memref<8xf32>
  }
  return
}
