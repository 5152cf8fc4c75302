//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StageErrors.h"
#include "loopc/Pipelines/Passes.h"
#include "loopc/Pipelines/VerifyOperations.h"
#include "loopc/Support/Remarks.h"

namespace loopc {
#define GEN_PASS_DEF_VERIFYSTAGE
#include "loopc/Pipelines/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

namespace {
struct VerifyStage : loopc::impl::VerifyStageBase<VerifyStage> {
  using VerifyStageBase::VerifyStageBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    StageErrors errors(stage);
    SmallVector<Operation *> impossible =
        verifyOperations(module, [&](Diagnostic &each) {
          InFlightDiagnostic error = errors.emit(each.getLocation())
                                     << each.str();
          for (Diagnostic &note : each.getNotes())
            error.attachNote(note.getLocation()) << note.str();
        });
    count(numImpossible, impossible.size(),
          "views in code that never runs have extents that contradict");
    // The rules take it for granted that operations are as they shall be.
    if (!errors.any())
      verifyRules(module, errors);
    if (errors.any())
      return signalPassFailure();
    markAllAnalysesPreserved();
  }

  /// What is not checked is said to who asks for remarks.
  void count(Statistic &statistic, unsigned number, StringRef what) {
    statistic += number;
    if (number)
      remarkFact(getOperation().getLoc(), "VerifyStage",
                 Twine(number) + " " + what);
  }

  void countUnchecked(unsigned buffers) {
    count(numUnchecked, buffers,
          "buffers may be in too many values to follow who owns them");
  }

  void verifyRules(ModuleOp module, StageErrors &errors) {
    switch (stage) {
    case Stage::Linalg:
      return verifyLinalgStage(module, errors);
    case Stage::MemRef:
      return countUnchecked(verifyMemRefStage(module, errors));
    case Stage::SCF:
      return countUnchecked(verifySCFStage(module, areMarksProved, errors));
    case Stage::LLVM:
      return verifyLLVMStage(module, errors);
    default:
      module.walk([&](Operation *op) { verifyUsers(op, errors); });
    }
  }
};
} // namespace
