//===- BranchOnWraps.cpp - Indices that count from the end ----------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LLVMPasses.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/IR/ProfDataUtils.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;
using namespace llvm::PatternMatch;

/// As seldom as a check fails.
static constexpr uint32_t kRarely = 1, kMostly = 2000;

/// True if a branch at the end of the block of `index` checks it against
/// `extent`: nothing that is one by one for it becomes vectors.
static bool isChecked(SelectInst &index, Value *extent) {
  auto *branch = dyn_cast<BranchInst>(index.getParent()->getTerminator());
  return branch && branch->isConditional() && hasBranchWeightMD(*branch) &&
         match(branch->getCondition(),
               m_SpecificICmp(ICmpInst::ICMP_ULT, m_Specific(&index),
                              m_Specific(extent)));
}

void loopc::branchOnWraps(Module &module) {
  SmallVector<SelectInst *> found;
  for (Function &function : module)
    for (Instruction &one : instructions(function)) {
      auto *index = dyn_cast<SelectInst>(&one);
      Value *x, *extent;
      if (index && index->getType()->isIntegerTy() &&
          match(index->getFalseValue(), m_Value(x)) &&
          match(index->getCondition(),
                m_SpecificICmp(ICmpInst::ICMP_SLT, m_Specific(x), m_Zero())) &&
          match(index->getTrueValue(),
                m_OneUse(m_Add(m_Specific(x), m_Value(extent)))) &&
          isChecked(*index, extent))
        found.push_back(index);
    }
  MDBuilder metadata(module.getContext());
  for (SelectInst *index : found) {
    auto *wrapped = cast<Instruction>(index->getTrueValue());
    Value *x = index->getFalseValue();
    BasicBlock *head = index->getParent();
    Instruction *end = SplitBlockAndInsertIfThen(
        index->getCondition(), index->getIterator(), /*Unreachable=*/false,
        metadata.createBranchWeights(kRarely, kMostly));
    wrapped->moveBefore(end->getIterator());
    IRBuilder<> b(index);
    PHINode *either = b.CreatePHI(index->getType(), 2);
    either->addIncoming(wrapped, end->getParent());
    either->addIncoming(x, head);
    index->replaceAllUsesWith(either);
    index->eraseFromParent();
  }
}
