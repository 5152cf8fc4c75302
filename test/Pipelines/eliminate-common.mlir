// RUN: loopc-opt %s --loopc-eliminate-common=min-branches=1 | FileCheck %s
// RUN: loopc-opt %s --loopc-eliminate-common | FileCheck %s
// RUN: loopc-opt %s -o /dev/null --mlir-disable-threading --pass-pipeline="builtin.module(func.func(loopc-eliminate-common{min-branches=3 report-work}))" \
// RUN:   2>&1 | FileCheck %s --check-prefix=NUMBERS

// Of equal branches one is left, also where what they use becomes equal
// first; nothing of their numbers is left.

// CHECK-LABEL: func.func @branches(
// CHECK-SAME: %[[C:.*]]: i1, %[[X:.*]]: index, %[[Y:.*]]: index
// CHECK-NOT: loopc.common
// CHECK: %[[ONE:.*]] = scf.if %[[C]]
// CHECK: arith.muli
// CHECK: %[[OTHER:.*]] = scf.if %[[C]]
// CHECK: arith.muli
// CHECK-NOT: scf.if
// CHECK: return %[[ONE]], %[[ONE]], %[[OTHER]]
func.func @branches(%c: i1, %x: index, %y: index) -> (index, index, index) {
  %s0 = arith.addi %x, %y : index
  %s1 = arith.addi %x, %y : index
  %r0 = scf.if %c -> index {
    %0 = arith.muli %s0, %x : index
    scf.yield %0 : index
  } else {
    scf.yield %x : index
  }
  %r1 = scf.if %c -> index {
    %0 = arith.muli %s1, %x : index
    scf.yield %0 : index
  } else {
    scf.yield %x : index
  }
  %r2 = scf.if %c -> index {
    %0 = arith.muli %s0, %y : index
    scf.yield %0 : index
  } else {
    scf.yield %x : index
  }
  return %r0, %r1, %r2 : index, index, index
}

// Values of loops are told apart by the arguments of their bodies.

// CHECK-LABEL: func.func @loops(
// CHECK: %[[SUM:.*]] = scf.for
// CHECK: %[[PRODUCT:.*]] = scf.for
// CHECK-NOT: scf.for
// CHECK: return %[[SUM]], %[[PRODUCT]], %[[SUM]]
func.func @loops(%n: index, %x: index) -> (index, index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r0 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %x) -> index {
    %0 = arith.addi %s, %i : index
    scf.yield %0 : index
  }
  %r1 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %x) -> index {
    %0 = arith.muli %s, %i : index
    scf.yield %0 : index
  }
  %r2 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %x) -> index {
    %0 = arith.addi %s, %i : index
    scf.yield %0 : index
  }
  return %r0, %r1, %r2 : index, index, index
}

// Operations of linalg have numbers where many of them have the same inputs:
// others are not compared. Counted is what CSE has left.

// NUMBERS: 2 operations numbered
// NUMBERS: 2 operations numbered
// NUMBERS: 0 operations numbered
// NUMBERS: 2 operations numbered
// NUMBERS: 3 operations numbered
// NUMBERS: 0 operations numbered

// CHECK-LABEL: func.func @chain(
func.func @chain(%x: tensor<8xf32>, %e: tensor<8xf32>) -> tensor<8xf32> {
  %a = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %b = linalg.exp ins(%a : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %c = linalg.exp ins(%b : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %c : tensor<8xf32>
}

// CHECK-LABEL: func.func @same_operands(
// CHECK: %[[A:.*]] = linalg.exp
// CHECK: %[[B:.*]] = linalg.abs
// CHECK: return %[[A]], %[[B]], %[[A]]
func.func @same_operands(%x: tensor<8xf32>, %e: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %a = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %b = linalg.abs ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %c = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %a, %b, %c : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// Each writes to a tensor of its own, which CSE makes one of.

// CHECK-LABEL: func.func @own_tensors(
// CHECK: tensor.empty
// CHECK-NOT: tensor.empty
// CHECK: return
func.func @own_tensors(%x: tensor<8xf32>, %a: f32, %b: f32, %c: f32) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %e0 = tensor.empty() : tensor<8xf32>
  %r0 = linalg.map ins(%x : tensor<8xf32>) outs(%e0 : tensor<8xf32>)
    (%in: f32, %init: f32) {
      %y = arith.mulf %in, %a : f32
      linalg.yield %y : f32
    }
  %e1 = tensor.empty() : tensor<8xf32>
  %r1 = linalg.map ins(%x : tensor<8xf32>) outs(%e1 : tensor<8xf32>)
    (%in: f32, %init: f32) {
      %y = arith.mulf %in, %b : f32
      linalg.yield %y : f32
    }
  %e2 = tensor.empty() : tensor<8xf32>
  %r2 = linalg.map ins(%x : tensor<8xf32>) outs(%e2 : tensor<8xf32>)
    (%in: f32, %init: f32) {
      %y = arith.mulf %in, %c : f32
      linalg.yield %y : f32
    }
  return %r0, %r1, %r2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// Fills of one value and type are equal, and need no numbers.

// CHECK-LABEL: func.func @fills(
// CHECK: linalg.fill
// CHECK-NOT: linalg.fill
// CHECK: return
func.func @fills(%a: f32) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %e0 = tensor.empty() : tensor<8xf32>
  %r0 = linalg.fill ins(%a : f32) outs(%e0 : tensor<8xf32>) -> tensor<8xf32>
  %e1 = tensor.empty() : tensor<8xf32>
  %r1 = linalg.fill ins(%a : f32) outs(%e1 : tensor<8xf32>) -> tensor<8xf32>
  %e2 = tensor.empty() : tensor<8xf32>
  %r2 = linalg.fill ins(%a : f32) outs(%e2 : tensor<8xf32>) -> tensor<8xf32>
  return %r0, %r1, %r2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
