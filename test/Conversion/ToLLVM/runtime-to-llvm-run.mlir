// RUN: loopc-opt %s -split-input-file -verify-diagnostics --convert-loop-runtime-to-llvm | FileCheck %s

// The run is found by its type, and becomes a pointer in all functions; what is
// handed to threads by a struct is one already.
// CHECK-LABEL: func.func @section(
// CHECK-SAME: %{{.+}}: !llvm.ptr, %[[GIVES:.+]]: !llvm.ptr, %{{.+}}: index) -> i32
// CHECK: llvm.call @loopc_rt_alloc_scratch(%[[GIVES]]
// CHECK-LABEL: func.func @entry(
// CHECK-SAME: %[[THIS:.+]]: !llvm.ptr, %[[IN:.+]]: !llvm.ptr, %[[N:.+]]: index)
// CHECK: call @section(%[[IN]], %[[THIS]], %[[N]])
// CHECK-LABEL: llvm.func @piece(
// CHECK: %[[GIVEN:.+]] = llvm.load
// CHECK-NOT: unrealized_conversion_cast %[[GIVEN]]
// CHECK: func.call @section(%{{.+}}, %[[GIVEN]], %{{.+}})
func.func @section(%in: !llvm.ptr, %run: !rt.run, %n: index) -> i32 {
  %x = memref.alloc(%n) : memref<?xf32>
  memref.dealloc %x : memref<?xf32>
  %ok = arith.constant 0 : i32
  return %ok : i32
}
func.func @entry(%run: !rt.run, %in: !llvm.ptr, %n: index) -> i32 {
  %r = call @section(%in, %run, %n) : (!llvm.ptr, !rt.run, index) -> i32
  return %r : i32
}
llvm.func @piece(%context: !llvm.ptr) {
  %given = llvm.load %context : !llvm.ptr -> !llvm.ptr
  %run = builtin.unrealized_conversion_cast %given : !llvm.ptr to !rt.run
  %one = arith.constant 1 : index
  %r = func.call @section(%context, %run, %one) : (!llvm.ptr, !rt.run, index) -> i32
  llvm.return
}

// -----

// A pointer that comes first is not the run.
// expected-error @below {{function 'section' does not take the run}}
func.func @section(%in: !llvm.ptr, %n: index) -> i32 {
  %x = memref.alloc(%n) : memref<?xf32>
  memref.dealloc %x : memref<?xf32>
  %ok = arith.constant 0 : i32
  return %ok : i32
}
