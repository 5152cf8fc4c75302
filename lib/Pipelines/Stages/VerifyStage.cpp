//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StageErrors.h"
#include "loopc/Pipelines/Passes.h"
#include "mlir/IR/Verifier.h"

namespace loopc {
#define GEN_PASS_DEF_VERIFYSTAGE
#include "loopc/Pipelines/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

/// MLIR's verifier, its errors as those of the stage.
static void verifyOperations(ModuleOp module, StageErrors &errors) {
  SmallVector<Diagnostic> found;
  {
    ScopedDiagnosticHandler handler(module.getContext(), [&](Diagnostic &each) {
      found.push_back(std::move(each));
    });
    (void)verify(module);
  }
  for (Diagnostic &each : found) {
    if (each.getSeverity() != DiagnosticSeverity::Error)
      continue;
    InFlightDiagnostic error = errors.emit(each.getLocation()) << each.str();
    for (Diagnostic &note : each.getNotes())
      error.attachNote(note.getLocation()) << note.str();
  }
}

namespace {
struct VerifyStage : loopc::impl::VerifyStageBase<VerifyStage> {
  using VerifyStageBase::VerifyStageBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    StageErrors errors(stage);
    verifyOperations(module, errors);
    // The rules take it for granted that operations are as they shall be.
    if (!errors.any())
      verifyRules(module, errors);
    if (errors.any())
      return signalPassFailure();
    markAllAnalysesPreserved();
  }

  void verifyRules(ModuleOp module, StageErrors &errors) {
    switch (stage) {
    case Stage::Linalg:
      return verifyLinalgStage(module, errors);
    case Stage::LLVM:
      return verifyLLVMStage(module, errors);
    default:
      return;
    }
  }
};
} // namespace
