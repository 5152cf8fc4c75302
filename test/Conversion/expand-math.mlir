// RUN: loopc-opt %s --loopc-expand-math | FileCheck %s
// RUN: loopc-opt %s --loopc-expand-math=scales=1 | FileCheck %s --check-prefix=SCALES

// CHECK-LABEL: func @polynomials(
func.func @polynomials(%x: f32) -> (f32, f32, f32) {
  // CHECK-NOT: math.tanh
  // CHECK-NOT: math.exp
  // CHECK-NOT: math.erf
  // CHECK-NOT: call
  // CHECK: return
  %a = math.tanh %x : f32
  %b = math.exp %x : f32
  %c = math.erf %x : f32
  return %a, %b, %c : f32, f32, f32
}

// Where the target has an instruction for it.
// SCALES-LABEL: func @scaled(
// SCALES: llvm.call_intrinsic "llvm.ldexp"(%{{.*}}, %{{.*}}) : (f32, i32) -> f32
// SCALES: llvm.call_intrinsic "llvm.ldexp"(%{{.*}}, %{{.*}}) : (vector<16xf32>, vector<16xi32>) -> vector<16xf32>
func.func @scaled(%x: f32, %v: vector<16xf32>) -> (f32, vector<16xf32>) {
  %a = math.exp %x : f32
  %b = math.exp %v : vector<16xf32>
  return %a, %b : f32, vector<16xf32>
}

// No branch, so that loops over numbers vectorise.
// CHECK-LABEL: func @logarithms(
func.func @logarithms(%x: f32, %v: vector<8xf32>) -> (f32, f32, f32, vector<8xf32>) {
  // CHECK-NOT: math.log
  // CHECK-NOT: math.expm1
  // CHECK-NOT: call
  // CHECK-NOT: scf.if
  // CHECK: return
  %a = math.log %x : f32
  %b = math.log1p %x : f32
  %c = math.expm1 %x : f32
  %d = math.log %v : vector<8xf32>
  return %a, %b, %c, %d : f32, f32, f32, vector<8xf32>
}

// CHECK-LABEL: func @angles(
func.func @angles(%x: f32, %v: vector<8xf32>) -> (f32, f32, vector<8xf32>) {
  // CHECK-NOT: math.a{{tan|sin|cos}}
  // CHECK-NOT: call
  // CHECK-NOT: scf.if
  // CHECK: return
  %a = math.atan %x : f32
  %b = math.asin %x : f32
  %c = math.acos %v : vector<8xf32>
  return %a, %b, %c : f32, f32, vector<8xf32>
}

// A vector with an element that the reduction is not for goes to libm.
// CHECK-LABEL: func @sine(
// CHECK-SAME: %[[X:[^:]+]]: vector<8xf32>
func.func @sine(%x: vector<8xf32>) -> vector<8xf32> {
  // CHECK: %[[LARGE:.*]] = arith.cmpf ogt
  // CHECK: %[[ANY:.*]] = vector.reduction <or>, %[[LARGE]]
  // CHECK: scf.if %[[ANY]] -> (vector<8xf32>) {
  // CHECK: scf.for
  // CHECK: call @sinf(
  // CHECK: } else {
  // CHECK-NEXT: scf.yield
  %a = math.sin %x : vector<8xf32>
  return %a : vector<8xf32>
}

// A polynomial would lose what these are for.
// CHECK-LABEL: func @libm(
// CHECK-SAME: %[[X:[^:]+]]: f32
func.func @libm(%x: f32) -> (f32, f32, f32) {
  // CHECK: call @tanf(%[[X]])
  // CHECK: call @cbrtf(%[[X]])
  // CHECK: call @sinf(%[[X]])
  %a = math.tan %x : f32
  %b = math.cbrt %x : f32
  %c = math.sin %x : f32
  return %a, %b, %c : f32, f32, f32
}

// f64 has no polynomial here.
// CHECK-LABEL: func @double(
func.func @double(%x: f64) -> f64 {
  // CHECK: call @tanh(
  %a = math.tanh %x : f64
  return %a : f64
}

// What the hardware or LLVM has stays.
// CHECK-LABEL: func @kept(
func.func @kept(%x: f32) -> (f32, f32) {
  // CHECK: math.sqrt
  // CHECK: math.floor
  %a = math.sqrt %x : f32
  %b = math.floor %x : f32
  return %a, %b : f32, f32
}

// By integers, the same on every CPU.
// CHECK-LABEL: func @bf16(
func.func @bf16(%x: f32) -> bf16 {
  // CHECK-NOT: arith.truncf
  // CHECK: arith.shrui
  %a = arith.truncf %x : f32 to bf16
  return %a : bf16
}
