//===- Passes.td - The lowering of loops on buffers -----------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_CONVERSION_LOOPTOSCF_PASSES_TD
#define LOOPC_CONVERSION_LOOPTOSCF_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertLoopToSCF : Pass<"convert-loop-to-scf", "::mlir::func::FuncOp"> {
  let summary = "lower loop.loop on memrefs and scalars to scf";
  let description = [{
    A loop whose trips are known on entry becomes `scf.for`, others `scf.while`
    with the test before the iteration (`loop_test`). Checks get the number of
    the iteration. Loops are polled for cancellation (`loop_cancel`), tight ones
    in strips.
  }];
  let options = [
    Option<"markIterations", "mark-iterations", "bool", /*default=*/"false",
           "say in `loopc.iterations` whose iterations are a model's loop's">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
}

#endif // LOOPC_CONVERSION_LOOPTOSCF_PASSES_TD
