// RUN: loopc-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @section(
// CHECK-SAME: %[[GIVES:.+]]: !rt.run, %{{.+}}: !llvm.ptr) -> i32
// CHECK: call @nest(%{{.+}}, %[[GIVES]]) : (!llvm.ptr, !rt.run) -> i32
func.func private @nest(!llvm.ptr, !rt.run) -> i32
func.func @section(%run: !rt.run, %in: !llvm.ptr) -> i32 {
  %r = call @nest(%in, %run) : (!llvm.ptr, !rt.run) -> i32
  return %r : i32
}

// -----

// Any pointer is not the run.
func.func private @nest(!rt.run) -> i32
func.func @section(%in: !llvm.ptr) -> i32 {
  // expected-error @below {{operand type mismatch: expected operand type '!rt.run', but provided '!llvm.ptr' for operand number 0}}
  %r = call @nest(%in) : (!llvm.ptr) -> i32
  return %r : i32
}
