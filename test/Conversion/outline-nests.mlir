// RUN: loopc-opt %s --loopc-outline-nests=min-ops=1 | FileCheck %s
// RUN: loopc-opt %s --loopc-outline-nests | FileCheck %s --check-prefix=SMALL

// Two equal nests are one function; memory that was allocated for one argument
// alone is marked. What fails, and what is in a loop, stays.
// CHECK-LABEL: func.func @main(
// CHECK: call @main_nest({{.*}}) : (memref<8xf32>, memref<8xf32>) -> ()
// CHECK: call @main_nest({{.*}}) : (memref<8xf32>, memref<8xf32>) -> ()
// CHECK-NEXT: scf.for
// CHECK: loop.check
// CHECK: scf.while
// CHECK: scf.for
// CHECK: call @main_nest_0({{.*}}) : (memref<8xf32>) -> f32
// CHECK: return
// CHECK: func.func private @main_nest(%{{.*}}: memref<8xf32>, %{{.*}}: memref<8xf32> {llvm.noalias})
// CHECK-SAME: llvm.linkage = #llvm.linkage<internal>
// CHECK-SAME: passthrough = ["noinline"]
// CHECK: arith.constant 8 : index
// CHECK: scf.for
// CHECK: func.func private @main_nest_0(
// CHECK: return %{{.*}} : f32
// SMALL-NOT: func.func private
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
