// RUN: loopc-opt %s --loopc-outline-nests=min-ops=1 | FileCheck %s
// RUN: loopc-opt %s --loopc-outline-nests="min-ops=1 long-loop=1" \
// RUN:   | FileCheck %s --check-prefix=LONG
// RUN: loopc-opt %s --loopc-outline-nests | FileCheck %s --check-prefix=SMALL

// Two equal nests are one function; memory that was allocated for one argument
// alone is marked. What fails, and what is in a loop, stays; but for what is one
// of many there (one is many for LONG).
// LONG: scf.while
// LONG-NOT: scf.for
// LONG: func.call @main_nest_0({{.*}}) : (memref<8xf32>) -> ()
// CHECK-LABEL: func.func @main(
// CHECK: call @main_nest({{.*}}) : (memref<8xf32>, memref<8xf32>) -> ()
// CHECK: call @main_nest({{.*}}) : (memref<8xf32>, memref<8xf32>) -> ()
// CHECK-NEXT: scf.for
// CHECK: loop.check
// CHECK: scf.while
// CHECK: scf.for
// CHECK: call @main_nest_0({{.*}}) : (memref<8xf32>) -> f32
// CHECK: return
// SMALL-NOT: _nest
func.func @main(%x: memref<8xf32>, %n: index, %p: i1) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  %y = memref.alloc() : memref<8xf32>
  %z = memref.alloc() : memref<8xf32>
  scf.for %i = %c0 to %c8 step %c1 {
    %v = memref.load %x[%i] : memref<8xf32>
    %w = arith.addf %v, %v : f32
    memref.store %w, %y[%i] : memref<8xf32>
  }
  scf.for %i = %c0 to %c8 step %c1 {
    %v = memref.load %y[%i] : memref<8xf32>
    %w = arith.addf %v, %v : f32
    memref.store %w, %z[%i] : memref<8xf32>
  }
  scf.for %i = %c0 to %c8 step %c1 {
    loop.check %p, "no"
  }
  scf.while : () -> () {
    scf.condition(%p)
  } do {
    scf.for %i = %c0 to %c8 step %c1 {
      memref.store %zero, %y[%i] : memref<8xf32>
    }
    scf.yield
  }
  %s = scf.for %i = %c0 to %c8 step %c1 iter_args(%a = %zero) -> f32 {
    %v = memref.load %z[%i] : memref<8xf32>
    %w = arith.addf %a, %v : f32
    scf.yield %w : f32
  }
  return %s : f32
}

// A loop that may fail goes as a whole where there is a run to tell; one that
// yields something stays.
// CHECK-LABEL: func.func @fails(
// CHECK-SAME: %[[THIS:[^:]+]]: !rt.run
// CHECK: call @fails_nest(%[[THIS]], %{{.*}}) : (!rt.run, i1, memref<8xf32>) -> i32
// CHECK-NEXT: loop.poll
// CHECK: scf.for {{.*}} iter_args
func.func private @callee(!rt.run)
func.func @fails(%run: !rt.run, %x: memref<8xf32>, %p: i1) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %ok = arith.constant 0 : i32
  scf.for %i = %c0 to %c8 step %c1 {
    loop.check %p, "no"
    func.call @callee(%run) : (!rt.run) -> ()
    scf.for %j = %c0 to %c8 step %c1 {
      %v = memref.load %x[%j] : memref<8xf32>
      memref.store %v, %x[%i] : memref<8xf32>
    }
  }
  %s = scf.for %i = %c0 to %c8 step %c1 iter_args(%a = %ok) -> i32 {
    loop.check %p, "no"
    scf.yield %a : i32
  }
  return %s : i32
}

// What waits for a GPU stays with the function that runs the model.
// CHECK-LABEL: func.func @waits(
// CHECK-NOT: call @waits_nest(
// CHECK: device.wait
// CHECK: return
func.func @waits(%run: !rt.run, %p: i1) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %ok = arith.constant 0 : i32
  scf.for %i = %c0 to %c8 step %c1 {
    device.wait
    loop.check %p, "no"
  }
  return %ok : i32
}

// CHECK: func.func private @main_nest(%{{.*}}: memref<8xf32>, %{{.*}}: memref<8xf32> {llvm.noalias})
// CHECK-SAME: llvm.linkage = #llvm.linkage<internal>
// CHECK-SAME: loopc.outlined
// CHECK: arith.constant 8 : index
// CHECK: scf.for
// CHECK: func.func private @main_nest_0(
// CHECK: return %{{.*}} : f32
// CHECK: func.func private @fails_nest(%[[HANDLE:[^:]+]]: !rt.run, %{{[^:]+}}: i1, %{{[^:]+}}: memref<8xf32>) -> i32
// CHECK: scf.for
// CHECK: loop.check
// CHECK: func.call @callee(%[[HANDLE]])
// CHECK: scf.for
// CHECK: return %{{.*}} : i32
