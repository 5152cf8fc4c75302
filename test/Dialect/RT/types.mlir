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

// -----

// Strings are elements of tensors and buffers; a pair of integers is none.
// CHECK-LABEL: func.func @strings(
func.func @strings(%x: tensor<?x!rt.string>, %y: memref<?x!rt.string>, %at: index) -> (i64, i64) {
  %s = tensor.extract %x[%at] : tensor<?x!rt.string>
  %t = memref.load %y[%at] : memref<?x!rt.string>
  %a, %n = rt.string_parts %s
  %b, %m = rt.string_parts %t
  return %n, %m : i64, i64
}

// -----

func.func @pair(%p: complex<i64>) -> i64 {
  // expected-error @below {{'rt.string_parts' op operand #0 must be a string inside a model, but got 'complex<i64>'}}
  %a, %n = "rt.string_parts"(%p) : (complex<i64>) -> (i64, i64)
  return %n : i64
}
