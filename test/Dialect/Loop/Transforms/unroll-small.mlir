// RUN: loopc-opt %s --loop-unroll-small --canonicalize | FileCheck %s
// RUN: loopc-opt %s --loop-unroll-small --remark-format=emitRemark \
// RUN:   --remarks-filter=loop 2>&1 | FileCheck %s --check-prefix=REMARK

// All carried values of an iteration are read before any is replaced
// (loop_parallel_assign); a check names its iteration.
// CHECK-LABEL: func.func @swap(
// CHECK-SAME: %[[A:[^:]+]]: f32, %[[B:[^:]+]]: f32, %[[P:[^:]+]]: i1)
// CHECK-NOT: loop.loop
// CHECK: loop.check %[[P]], "no" iteration %c0
// CHECK: %[[C:.*]] = arith.addf %[[A]], %[[B]]
// CHECK: loop.check %[[P]], "no" iteration %c1
// CHECK: %[[D:.*]] = arith.addf %[[B]], %[[C]]
// CHECK: loop.check %[[P]], "no" iteration %c2
// CHECK: %[[E:.*]] = arith.addf %[[C]], %[[D]]
// CHECK: return %[[D]], %[[E]]
// REMARK: remark: {{.*}}its 3 iterations stand one behind the other
func.func @swap(%a: f32, %b: f32, %p: i1) -> (f32, f32) {
  %n = arith.constant 3 : i64
  %r, %s = loop.loop (%i : i64, %c : i1) trips(%n : i64)
      carried(%x = %a : f32, %y = %b : f32) {
    loop.check %p, "no"
    %z = arith.addf %x, %y : f32
    loop.yield while(%c : i1) carried(%y, %z : f32, f32)
  }
  return %r, %s : f32, f32
}

// The number is a constant, the condition the one that was yielded.
// CHECK-LABEL: func.func @numbers(
// CHECK: return %c3_i64, %false
func.func @numbers() -> (i64, i1) {
  %false = arith.constant false
  %n = arith.constant 3 : i64
  %zero = arith.constant 0 : i64
  %r, %s = loop.loop (%i : i64, %c : i1) trips(%n : i64)
      carried(%x = %zero : i64, %y = %false : i1) {
    %z = arith.addi %x, %i : i64
    loop.yield while(%false : i1) carried(%z, %c : i64, i1)
  }
  return %r, %s : i64, i1
}

// CHECK-LABEL: func.func @never(
// CHECK-SAME: %[[A:[^:]+]]: f32
// CHECK: return %[[A]]
func.func @never(%a: f32) -> f32 {
  %n = arith.constant 0 : i64
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%x = %a : f32) {
    %z = arith.addf %x, %x : f32
    loop.yield while(%c : i1) carried(%z : f32)
  }
  return %r : f32
}

// Often; by a condition; and with iterations that are loops of their own.
// CHECK-LABEL: func.func @others(
// CHECK-COUNT-3: loop.loop
// REMARK-DAG: remark: {{.*}}it is not unrolled: it runs too often
// REMARK-DAG: remark: {{.*}}it is not unrolled: how often it runs is known to the run only
// REMARK-DAG: remark: {{.*}}it is not unrolled: its iterations are large
func.func @others(%a: f32, %p: i1, %t: tensor<99xf32>) -> (f32, f32, tensor<99xf32>) {
  %n = arith.constant 3 : i64
  %many = arith.constant 100 : i64
  %r = loop.loop (%i : i64, %c : i1) trips(%many : i64) carried(%x = %a : f32) {
    %z = arith.addf %x, %x : f32
    loop.yield while(%c : i1) carried(%z : f32)
  }
  %s = loop.loop (%i : i64, %c : i1) trips(%n : i64) while(%p : i1) carried(%x = %a : f32) {
    %z = arith.addf %x, %x : f32
    %go = arith.cmpf olt, %z, %a : f32
    loop.yield while(%go : i1) carried(%z : f32)
  }
  %u = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%x = %t : tensor<99xf32>) {
    %z = linalg.fill ins(%a : f32) outs(%x : tensor<99xf32>) -> tensor<99xf32>
    loop.yield while(%c : i1) carried(%z : tensor<99xf32>)
  }
  return %r, %s, %u : f32, f32, tensor<99xf32>
}

// What loop-scalarize would have made scalars.
// CHECK-LABEL: func.func @tensors(
// CHECK-COUNT-3: loop.loop
// REMARK-DAG: remark: {{.*}}it is not unrolled: its number or its condition is a tensor
func.func @tensors(%a: f32) -> (f32, f32, f32) {
  %n = arith.constant 3 : i64
  %go = arith.constant dense<true> : tensor<i1>
  %r = loop.loop (%i : tensor<1xi64>, %c : i1) trips(%n : i64) carried(%x = %a : f32) {
    %z = arith.addf %x, %x : f32
    loop.yield while(%c : i1) carried(%z : f32)
  }
  %s = loop.loop (%i : i64, %c : tensor<i1>) trips(%n : i64) carried(%x = %a : f32) {
    %z = arith.addf %x, %x : f32
    loop.yield while(%c : tensor<i1>) carried(%z : f32)
  }
  %t = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%x = %a : f32) {
    %z = arith.addf %x, %x : f32
    loop.yield while(%go : tensor<i1>) carried(%z : f32)
  }
  return %r, %s, %t : f32, f32, f32
}

// A line of a few elements that is sorted in registers, in a loop.
// CHECK-LABEL: func.func @sorts(
// CHECK: loop.loop
// CHECK-NOT: scf.for
// CHECK: arith.maxsi
// CHECK: arith.minsi
// CHECK: return
func.func @sorts(%n: i64, %x: tensor<3xi64>, %s0: i64) -> i64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %none = arith.constant -9223372036854775808 : i64
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%s = %s0 : i64) {
    %best:2 = scf.for %k = %c0 to %c3 step %c1 iter_args(%a = %none, %b = %none) -> (i64, i64) {
      %e = tensor.extract %x[%k] : tensor<3xi64>
      %d = arith.addi %e, %i : i64
      %a1 = arith.maxsi %a, %d : i64
      %d1 = arith.minsi %a, %d : i64
      %b1 = arith.maxsi %b, %d1 : i64
      scf.yield %a1, %b1 : i64, i64
    }
    %t = arith.addi %best#1, %s : i64
    loop.yield while(%c : i1) carried(%t : i64)
  }
  return %r : i64
}

// The element of the line that the sorted numbers name is chosen from those
// that are read already: no access at a place that a lane would have to look up.
// CHECK-LABEL: func.func @names(
// CHECK: loop.loop
// CHECK-COUNT-3: tensor.extract
// CHECK-NOT: tensor.extract
// CHECK: arith.select
// CHECK: arith.select
// CHECK-NOT: tensor.extract
// CHECK: return
func.func @names(%n: i64, %x: tensor<3xi64>, %s0: i64) -> i64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%s = %s0 : i64) {
    %best = scf.for %k = %c0 to %c3 step %c1 iter_args(%a = %i) -> (i64) {
      %e = tensor.extract %x[%k] : tensor<3xi64>
      %a1 = arith.maxsi %a, %e : i64
      scf.yield %a1 : i64
    }
    %at = arith.index_cast %best : i64 to index
    %inside = arith.minui %at, %c1 : index
    %e = tensor.extract %x[%inside] : tensor<3xi64>
    %t = arith.addi %e, %s : i64
    loop.yield while(%c : i1) carried(%t : i64)
  }
  return %r : i64
}

// How often a loop runs is known here, where it begins is not: it stays.
// CHECK-LABEL: func.func @begins(
// CHECK: scf.for
// CHECK: return
func.func @begins(%n: i64, %b: index, %x: tensor<3xi64>, %s0: i64) -> i64 {
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%s = %s0 : i64) {
    %e = arith.addi %b, %c3 overflow<nsw> : index
    %t = scf.for %k = %b to %e step %c1 iter_args(%a = %s) -> (i64) {
      %d = arith.index_cast %k : index to i64
      %a1 = arith.maxsi %a, %d : i64
      scf.yield %a1 : i64
    }
    loop.yield while(%c : i1) carried(%t : i64)
  }
  return %r : i64
}
