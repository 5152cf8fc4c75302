// RUN: loopc-opt %s --loopc-expand-math | FileCheck %s
// RUN: loopc-opt %s --loopc-set-target=scales=1 --loopc-expand-math | FileCheck %s --check-prefix=SCALES

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

// The argument takes three, the polynomial four and the next two terms of
// exp(r) = 1 + r (1 + r q(r)) the rest.
// SCALES-LABEL: func @exponential(
// SCALES-COUNT-9: math.fma
// SCALES-NOT: math.fma
// SCALES-NOT: arith.mulf
// SCALES: return
func.func @exponential(%x: f32) -> f32 {
  %a = math.exp %x : f32
  return %a : f32
}

// A result that is too small is slow to compute: k ln(2) is so small that half
// of k is the exponent of 0, or an instruction that scales leaves lanes out.
// CHECK-LABEL: func @vanishes(
// CHECK-DAG: arith.constant dense<-1.760000e+02> : vector<16xf32>
// CHECK: return
// SCALES-LABEL: func @vanishes(
// SCALES-SAME: %[[X:[^:]+]]: vector<16xf32>
// SCALES-DAG: %[[SMALLEST:.*]] = arith.constant dense<-1.040000e+02> : vector<16xf32>
// SCALES: %[[VANISHES:.*]] = arith.cmpf olt, %[[X]], %[[SMALLEST]]
// SCALES: %[[Y:.*]] = llvm.call_intrinsic "llvm.ldexp"
// SCALES: arith.select %[[VANISHES]], %{{.*}}, %[[Y]]
func.func @vanishes(%x: vector<16xf32>) -> vector<16xf32> {
  %a = math.exp %x : vector<16xf32>
  return %a : vector<16xf32>
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

// Single numbers of f64, and powers of them, take less time by libm.
// CHECK-LABEL: func @single(
// CHECK-SAME: %[[X:[^:]+]]: f64, %[[Y:[^:]+]]: f32, %[[V:[^:]+]]: vector<1xf64>
func.func @single(%x: f64, %y: f32, %v: vector<1xf64>) -> (f64, f64, f32, vector<1xf64>) {
  // CHECK: call @tanh(%[[X]])
  // CHECK: math.exp %[[X]]
  // CHECK: math.powf %[[Y]], %[[Y]]
  // CHECK: math.log %[[V]]
  %a = math.tanh %x : f64
  %b = math.exp %x : f64
  %c = math.powf %y, %y : f32
  %d = math.log %v : vector<1xf64>
  return %a, %b, %c, %d : f64, f64, f32, vector<1xf64>
}

// CHECK-LABEL: func @doubles(
func.func @doubles(%x: vector<8xf64>)
    -> (vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf64>) {
  // CHECK-NOT: math.{{exp|log|tanh}}
  // CHECK-NOT: call
  // CHECK-NOT: scf.if
  // CHECK: return
  %a = math.tanh %x : vector<8xf64>
  %b = math.exp %x : vector<8xf64>
  %c = math.log %x : vector<8xf64>
  %d = math.log1p %x : vector<8xf64>
  %e = math.expm1 %x : vector<8xf64>
  return %a, %b, %c, %d, %e
      : vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf64>
}

// CHECK-LABEL: func @cosine(
func.func @cosine(%x: vector<8xf64>) -> vector<8xf64> {
  // CHECK: scf.if %{{.*}} -> (vector<8xf64>) {
  // CHECK: call @cos(
  // CHECK: } else {
  // CHECK-NEXT: scf.yield
  %a = math.cos %x : vector<8xf64>
  return %a : vector<8xf64>
}

// By logarithm and exponential in f64.
// CHECK-LABEL: func @power(
func.func @power(%x: vector<16xf32>, %y: vector<16xf32>) -> vector<16xf32> {
  // CHECK-NOT: math.powf
  // CHECK: arith.extf %{{.*}} : vector<16xf32> to vector<16xf64>
  // CHECK: arith.truncf %{{.*}} : vector<16xf64> to vector<16xf32>
  // CHECK-NOT: math.powf
  // CHECK: return
  %a = math.powf %x, %y : vector<16xf32>
  return %a : vector<16xf32>
}

// The table of other functions is for f32.
// CHECK-LABEL: func @arcs(
func.func @arcs(%x: vector<2xf64>) -> vector<2xf64> {
  // CHECK: call @atan(
  // CHECK: call @atan(
  %a = math.atan %x : vector<2xf64>
  return %a : vector<2xf64>
}

// The quotient of the floats without its fraction; that of wide numbers in two
// steps, of unsigned ones one by one.
// CHECK-LABEL: func @quotients(
// CHECK-SAME: %[[X:[^:]+]]: vector<8xi64>, %[[Y:[^:]+]]: vector<8xi64>, %[[Z:[^:]+]]: vector<16xi32>
func.func @quotients(%x: vector<8xi64>, %y: vector<8xi64>, %z: vector<16xi32>)
    -> (vector<8xi64>, vector<16xi32>, vector<8xi64>, vector<8xi64>) {
  // CHECK: %[[ANY:.*]] = vector.reduction <or>
  // CHECK: scf.if %[[ANY]] -> (vector<8xi64>) {
  // CHECK-COUNT-2: arith.divf %{{.*}} : vector<8xf64>
  // CHECK: } else {
  // CHECK: arith.divf %{{.*}} : vector<8xf64>
  // CHECK: math.trunc
  // CHECK: }
  %a = arith.divsi %x, %y : vector<8xi64>
  // CHECK: %[[WIDE:.*]] = arith.uitofp %[[Z]] : vector<16xi32> to vector<16xf64>
  // CHECK: %[[Q:.*]] = math.trunc
  // CHECK: %[[MINUS:.*]] = arith.negf %[[Q]]
  // CHECK: %[[REST:.*]] = math.fma %[[MINUS]]
  // CHECK: arith.fptoui %[[REST]] : vector<16xf64> to vector<16xi32>
  %b = arith.remui %z, %z : vector<16xi32>
  // CHECK: arith.remsi %[[X]], %{{.*}} : vector<8xi64>
  %seven = arith.constant dense<7> : vector<8xi64>
  %c = arith.remsi %x, %seven : vector<8xi64>
  // CHECK: scf.if
  // CHECK: llvm.udiv %{{.*}}, %{{.*}} : vector<8xi64>
  %d = arith.divui %x, %y : vector<8xi64>
  return %a, %b, %c, %d : vector<8xi64>, vector<16xi32>, vector<8xi64>, vector<8xi64>
}

// Unsigned: of 64 bits in f64 where both have few bits, of 16 in f32.
// CHECK-LABEL: func @unsigned(
// CHECK-SAME: %[[X:[^:]+]]: vector<8xi64>, %[[Y:[^:]+]]: vector<8xi64>, %[[S:[^:]+]]: vector<8xi16>
func.func @unsigned(%x: vector<8xi64>, %y: vector<8xi64>, %s: vector<8xi16>)
    -> (vector<8xi64>, vector<8xi16>) {
  // CHECK: arith.cmpi uge, %[[X]]
  // CHECK: arith.cmpi uge, %[[Y]]
  // CHECK: scf.if
  // CHECK: llvm.urem %[[X]], %{{.*}} : vector<8xi64>
  // CHECK: } else {
  // CHECK: %[[Q:.*]] = math.trunc
  // CHECK: %[[MINUS:.*]] = arith.negf %[[Q]]
  // CHECK: math.fma %[[MINUS]]
  // CHECK: }
  %a = arith.remui %x, %y : vector<8xi64>
  // CHECK: arith.divf %{{.*}} : vector<8xf32>
  // CHECK: arith.fptoui %{{.*}} : vector<8xf32> to vector<8xi16>
  %b = arith.divui %s, %s : vector<8xi16>
  return %a, %b : vector<8xi64>, vector<8xi16>
}

// Exact in f64 where the quotient is not too large.
// CHECK-LABEL: func @remainder(
func.func @remainder(%x: vector<16xf32>, %y: vector<16xf32>) -> vector<16xf32> {
  // CHECK: arith.divf %{{.*}} : vector<16xf64>
  // CHECK: %[[ALL:.*]] = vector.reduction <and>
  // CHECK: scf.if %[[ALL]] -> (vector<16xf32>) {
  // CHECK: math.fma
  // CHECK: math.copysign
  // CHECK: } else {
  // CHECK: arith.remf %{{.*}}, %{{.*}} : f32
  %a = arith.remf %x, %y : vector<16xf32>
  return %a : vector<16xf32>
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

// Of an even number half is a shift: it is not rounded.
// CHECK-LABEL: func @half(
func.func @half(%x: i64, %y: i64) -> i64 {
  %c0 = arith.constant 0 : i64
  %c2 = arith.constant 2 : i64
  %half = arith.divsi %x, %c2 : i64
  %rest = arith.remsi %x, %c2 : i64
  %isNegative = arith.cmpi slt, %rest, %c0 : i64
  %sum = arith.addi %rest, %c2 : i64
  %floored = arith.select %isNegative, %sum, %rest : i64
  %isEven = arith.cmpi eq, %floored, %c0 : i64
  // CHECK: %[[HALF:.*]] = arith.shrsi %{{.*}}, %{{.*}} : i64
  // CHECK: arith.select %{{.*}}, %[[HALF]], %{{.*}} : i64
  %r = arith.select %isEven, %half, %y : i64
  return %r : i64
}

// CHECK-LABEL: func @quarter_of_vectors(
func.func @quarter_of_vectors(%x: vector<8xi32>, %y: vector<8xi32>) -> vector<8xi32> {
  %c0 = arith.constant dense<0> : vector<8xi32>
  %c4 = arith.constant dense<4> : vector<8xi32>
  %quarter = arith.divsi %x, %c4 : vector<8xi32>
  %rest = arith.remsi %x, %c4 : vector<8xi32>
  %isOther = arith.cmpi ne, %rest, %c0 : vector<8xi32>
  // CHECK: %[[QUARTER:.*]] = arith.shrsi
  // CHECK: arith.select %{{.*}}, %{{.*}}, %[[QUARTER]]
  %r = arith.select %isOther, %y, %quarter : vector<8xi1>, vector<8xi32>
  return %r : vector<8xi32>
}

// Multiples of 2 need not be multiples of 4; of an odd number half is rounded.
// CHECK-LABEL: func @no_multiples(
func.func @no_multiples(%x: i64, %y: i64) -> (i64, i64) {
  // CHECK-NOT: arith.shrsi
  %c0 = arith.constant 0 : i64
  %c2 = arith.constant 2 : i64
  %c4 = arith.constant 4 : i64
  %quarter = arith.divsi %x, %c4 : i64
  %half = arith.divsi %x, %c2 : i64
  %rest = arith.remsi %x, %c2 : i64
  %isEven = arith.cmpi eq, %rest, %c0 : i64
  %a = arith.select %isEven, %quarter, %y : i64
  %b = arith.select %isEven, %y, %half : i64
  return %a, %b : i64, i64
}

// A square and a product for each bit of the exponent.
// CHECK-LABEL: func @integer_power(
func.func @integer_power(%x: vector<4xi16>, %n: vector<4xi16>) -> vector<4xi16> {
  // CHECK: %[[BITS:.*]] = arith.constant 16 : index
  // CHECK: scf.for %{{.*}} to %[[BITS]]
  // CHECK-COUNT-2: arith.muli {{.*}} : vector<4xi16>
  // CHECK-NOT: math.ipowi
  %r = math.ipowi %x, %n : vector<4xi16>
  return %r : vector<4xi16>
}

// Of an exponent that is known no more than its bits.
// CHECK-LABEL: func @integer_power_five(
// CHECK: %[[BITS:.*]] = arith.constant 3 : index
// CHECK: scf.for %{{.*}} to %[[BITS]]
// CHECK-NOT: math.ipowi
func.func @integer_power_five(%x: vector<4xi16>) -> vector<4xi16> {
  %n = arith.constant dense<5> : vector<4xi16>
  %r = math.ipowi %x, %n : vector<4xi16>
  return %r : vector<4xi16>
}

// A negative one has all.
// CHECK-LABEL: func @integer_power_inverse(
// CHECK: %[[BITS:.*]] = arith.constant 32 : index
// CHECK: scf.for %{{.*}} to %[[BITS]]
// CHECK-NOT: math.ipowi
func.func @integer_power_inverse(%x: i32) -> i32 {
  %n = arith.constant -1 : i32
  %r = math.ipowi %x, %n : i32
  return %r : i32
}
