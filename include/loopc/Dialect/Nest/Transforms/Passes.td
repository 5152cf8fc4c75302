//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_DIALECT_NEST_TRANSFORMS_PASSES_TD
#define LOOPC_DIALECT_NEST_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def NestRetractUnproved : Pass<"nest-retract-unproved", "::mlir::func::FuncOp"> {
  let summary = "take back marks of independent iterations that are not proved";
  let description = [{
    Passes that write a loop over a parallel dimension mark it with
    `loopc.parallel`; what later passes do to its body may make that wrong. Here
    each mark is put to the dependence test (`findParallelObstacle`). Where it
    fails the mark goes, and a remark says why. Behind this pass the stage
    verifier refuses a mark that cannot be proved.

    ```mlir
    // Window i reaches into the next one: the mark goes.
    scf.for %i = %c0 to %n step %c1 {
      scf.for %j = %c0 to %c8 step %c1 {
        %k = arith.addi %i, %j : index
        memref.store %f, %x[%k] : memref<?xf32>
      }
    } {loopc.parallel}
    ```
  }];
  let statistics = [
    Statistic<"numRetracted", "retracted", "marks that were taken back">
  ];
}

#endif // LOOPC_DIALECT_NEST_TRANSFORMS_PASSES_TD
