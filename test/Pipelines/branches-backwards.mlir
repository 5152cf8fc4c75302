// RUN: loopc-opt %s --loopc-branches-backwards | FileCheck %s

// Blocks stand in the order of the operations that they were.

// CHECK-LABEL: func.func @two(
// CHECK-NOT: scf.
// CHECK: cf.cond_br
// CHECK: arith.addi
// CHECK: cf.cond_br
// CHECK: cf.cond_br
// CHECK: arith.muli
// CHECK: return
func.func @two(%c: i1, %n: index) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = scf.if %c -> index {
    %1 = arith.addi %n, %n : index
    scf.yield %1 : index
  } else {
    scf.yield %n : index
  }
  %2 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %0) -> index {
    %3 = scf.if %c -> index {
      %4 = arith.muli %s, %i : index
      scf.yield %4 : index
    } else {
      scf.yield %s : index
    }
    scf.yield %3 : index
  }
  return %2 : index
}
