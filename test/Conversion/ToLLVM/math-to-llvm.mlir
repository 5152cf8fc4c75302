// RUN: loopc-opt %s --pass-pipeline='builtin.module(loopc-expand-math, convert-to-llvm{filter-dialects=arith,func,math dynamic=true})' | FileCheck %s --implicit-check-not=math.

// Functions that LLVM has not are calls of libm behind loopc-expand-math, so
// that the conversion of all dialects needs no pass of functions behind it.

// CHECK-LABEL: llvm.func @libm(
// CHECK: llvm.call @acosh
// CHECK: llvm.call @asinh
// CHECK: llvm.call @atanh
// CHECK: llvm.call @cbrt
// CHECK: llvm.call @erf
// CHECK: llvm.call @erfc
// CHECK: llvm.call @sinh
// CHECK: llvm.call @cosh
func.func @libm(%a: f64) -> f64 {
  %0 = math.acosh %a : f64
  %1 = math.asinh %0 : f64
  %2 = math.atanh %1 : f64
  %3 = math.cbrt %2 : f64
  %4 = math.erf %3 : f64
  %5 = math.erfc %4 : f64
  %6 = math.sinh %5 : f64
  %7 = math.cosh %6 : f64
  return %7 : f64
}

// CHECK-LABEL: llvm.func @libm_of_vectors(
// CHECK-COUNT-4: llvm.call @asinhf
func.func @libm_of_vectors(%a: vector<4xf32>) -> vector<4xf32> {
  %0 = math.asinh %a : vector<4xf32>
  return %0 : vector<4xf32>
}

// CHECK-LABEL: llvm.func @intrinsics(
// CHECK: llvm.intr.sqrt
// CHECK: llvm.intr.fabs
// CHECK: llvm.intr.floor
// CHECK: llvm.intr.roundeven
// CHECK: llvm.intr.copysign
// CHECK: llvm.intr.fma
func.func @intrinsics(%a: vector<8xf32>, %b: vector<8xf32>) -> vector<8xf32> {
  %0 = math.sqrt %a : vector<8xf32>
  %1 = math.absf %0 : vector<8xf32>
  %2 = math.floor %1 : vector<8xf32>
  %3 = math.roundeven %2 : vector<8xf32>
  %4 = math.copysign %3, %b : vector<8xf32>
  %5 = math.fma %4, %a, %b : vector<8xf32>
  return %5 : vector<8xf32>
}
