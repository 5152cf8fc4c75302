//===- ReduceStrength.cpp - Strength reduction where it pays --------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// LLVM's code generators reduce the strength of all innermost loops: with the
// analysis of induction variables, which they run for outer loops, too, that
// took a seventh of all that LLVM takes. Loops of vectors that address memory
// by their counter and what does not change in them gain nothing.

#include "LLVMPasses.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopStrengthReduce.h"

using namespace llvm;

/// Sums that a loop has beside its counter without gaining from fewer.
static constexpr unsigned kFreeSums = 2;

/// True if `loop` computes more than a counter from one iteration to the next.
static bool hasAddressArithmetic(const Loop &loop) {
  if (!loop.isInnermost())
    return false;
  unsigned sums = 0;
  for (const BasicBlock *block : loop.blocks())
    for (const Instruction &one : *block) {
      if (!one.getType()->isIntegerTy(64))
        continue;
      switch (one.getOpcode()) {
      case Instruction::Mul:
        return true;
      case Instruction::Add:
      case Instruction::Sub:
      case Instruction::Or:
      case Instruction::Shl:
        ++sums;
        break;
      default:
        break;
      }
    }
  return sums > kFreeSums;
}

namespace {
struct ReduceStrength : PassInfoMixin<ReduceStrength> {
  PreservedAnalyses run(Loop &loop, LoopAnalysisManager &analyses,
                        LoopStandardAnalysisResults &results,
                        LPMUpdater &updater) {
    if (!hasAddressArithmetic(loop))
      return PreservedAnalyses::all();
    return LoopStrengthReducePass().run(loop, analyses, results, updater);
  }
};
} // namespace

void loopc::reduceStrength(Module &module, FunctionAnalysisManager &analyses) {
  auto pass = createFunctionToLoopPassAdaptor(ReduceStrength());
  for (Function &function : module) {
    if (function.isDeclaration() || function.hasOptNone())
      continue;
    const LoopInfo &loops = analyses.getResult<LoopAnalysis>(function);
    if (any_of(loops.getLoopsInPreorder(),
               [](const Loop *loop) { return hasAddressArithmetic(*loop); }))
      analyses.invalidate(function, pass.run(function, analyses));
  }
}
