// RUN: loopc-opt %s --loopc-profile-parts | FileCheck %s

// CHECK: module attributes {{.*}}loopc.profiled
// The names and, for each part, the loop that it is in and where its name begins.
// CHECK-DAG: @loopc_profile_names("profile-parts.mlir:[[#]]:[[#]]\00profile-parts.mlir:
// CHECK-DAG: @loopc_profile_parts(dense<[-1, 0, 0, [[#]], -1, [[#]]]>

// Behind a nest, and around a loop of the model. What takes a few instructions
// is not told apart; an iteration is measured where the runtime says so.
// CHECK-LABEL: func.func @loopc_entry
// CHECK-SAME: %[[CONTEXT:.*]]: !rt.run
// CHECK: %[[ASKED:.*]] = llvm.call @loopc_rt_profile_begin(
// CHECK: %[[ON:.*]] = arith.cmpi ne, %[[ASKED]]
func.func @loopc_entry(%run: !rt.run, %x: memref<1024xf32>, %n: index) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c1024 = arith.constant 1024 : index
  // CHECK-NOT: llvm.call
  // CHECK: memref.store
  %v = memref.load %x[%c0] : memref<1024xf32>
  memref.store %v, %x[%c1] : memref<1024xf32>
  // CHECK-NOT: llvm.call
  // CHECK: scf.if %[[ON]]
  // CHECK-NEXT: unrealized_conversion_cast %[[CONTEXT]]
  // CHECK: llvm.call @loopc_rt_profile_enter(
  // CHECK: scf.for
  scf.for %strip = %c0 to %n step %c64 {
    // CHECK-NOT: llvm.call
    // CHECK: scf.for
    scf.for %i = %strip to %n step %c1 {
      // CHECK: %[[MEASURED:.*]] = scf.if %[[ON]]
      // CHECK: llvm.call @loopc_rt_profile_iteration(
      // CHECK: func.call @work
      func.call @work(%x) : (memref<1024xf32>) -> ()
      // CHECK: scf.if %[[MEASURED]]
      // CHECK: llvm.call @loopc_rt_profile_mark(%{{.*}}, %c1_i32{{.*}}, %c1_i32
      // CHECK: scf.if %[[MEASURED]]
      // CHECK: llvm.call @loopc_rt_profile_next(
    } {loopc.iterations = "each"}
    // CHECK-NOT: llvm.call
    // CHECK: loopc.iterations = "strips"
  } {loopc.iterations = "strips"}
  // CHECK: scf.if %[[ON]]
  // CHECK: llvm.call @loopc_rt_profile_leave(
  // A loop whose iterations are short is one part.
  // CHECK: scf.for
  // CHECK-NOT: llvm.call
  // CHECK: loopc.iterations = "each"
  scf.for %i = %c0 to %c1024 step %c1 {
    %a = memref.load %x[%i] : memref<1024xf32>
    %b = arith.addf %a, %a : f32
    memref.store %b, %x[%i] : memref<1024xf32>
  } {loopc.iterations = "each"}
  // CHECK: scf.if %[[ON]]
  // CHECK: llvm.call @loopc_rt_profile_mark(
  // CHECK-NOT: llvm.call
  // CHECK: return
  %ok = arith.constant 0 : i32
  return %ok : i32
}

// Other threads may run what is in other functions.
// CHECK-LABEL: func.func private @work
// CHECK-NOT: llvm.call
func.func private @work(%x: memref<1024xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c1024 = arith.constant 1024 : index
  scf.for %i = %c0 to %c1024 step %c1 {
    %a = memref.load %x[%i] : memref<1024xf32>
    %b = math.exp %a : f32
    memref.store %b, %x[%i] : memref<1024xf32>
  }
  return
}
