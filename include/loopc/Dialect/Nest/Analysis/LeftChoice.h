//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Which results MLIR's passes leave to LLVM.

#ifndef LOOPC_DIALECT_NEST_ANALYSIS_LEFTCHOICE_H
#define LOOPC_DIALECT_NEST_ANALYSIS_LEFTCHOICE_H

namespace mlir {
class Operation;
} // namespace mlir

namespace loopc {

/// True if bits of what `root`, code of the scf stage, computes may depend on
/// the code around it: LLVM makes vectors of a sum in free order as it finds
/// the function and the trip count, and has simpler forms of elementary
/// functions where it sees that an argument is constant.
bool leavesChoice(mlir::Operation *root);

} // namespace loopc

#endif // LOOPC_DIALECT_NEST_ANALYSIS_LEFTCHOICE_H
