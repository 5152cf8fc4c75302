//===- StageErrors.h - Invariants that do not hold --------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_LIB_PIPELINES_STAGES_STAGEERRORS_H
#define LOOPC_LIB_PIPELINES_STAGES_STAGEERRORS_H

#include "loopc/Pipelines/Pipelines.h"
#include "mlir/IR/BuiltinOps.h"

namespace loopc {

/// The name that `--emit` has for it: "linalg".
llvm::StringRef getStageName(Stage stage);

/// The errors of one stage: internal ones of the compiler, that begin with the
/// stage's name. The first asks for a report.
class StageErrors {
public:
  explicit StageErrors(Stage stage) : stage(stage) {}

  mlir::InFlightDiagnostic emit(mlir::Location loc);
  /// ... "'scf.if' op "
  mlir::InFlightDiagnostic emit(mlir::Operation *op);
  bool any() const { return count != 0; }
  /// True after so many that more of them would say no more.
  bool areEnough() const { return count >= kMaxErrors; }

private:
  static constexpr unsigned kMaxErrors = 8;
  Stage stage;
  unsigned count = 0;
};

/// What holds of each operation at the end of any stage, which the stages ask
/// in their walks: no operation that is in no block uses a value of `op`.
/// Nobody would lower it, or verify it, and the value would never be dead.
void verifyUsers(mlir::Operation *op, StageErrors &errors);

/// What holds at the end of each stage; see loopc-verify-stage.
void verifyLinalgStage(mlir::ModuleOp module, StageErrors &errors);
/// ... of one operation: there are zeros behind the elements of an operand that
/// is said to be packed (Panels.h).
void verifyPackedOperand(mlir::Operation *op, StageErrors &errors);
/// Returns how many buffers it could not follow.
unsigned verifyMemRefStage(mlir::ModuleOp module, StageErrors &errors);
/// The same. `areMarksProved` where marks have been proved since anything
/// changed.
unsigned verifySCFStage(mlir::ModuleOp module, bool areMarksProved,
                        StageErrors &errors);
void verifyLLVMStage(mlir::ModuleOp module, StageErrors &errors);

} // namespace loopc

#endif // LOOPC_LIB_PIPELINES_STAGES_STAGEERRORS_H
