//===- BranchConditions.cpp - Conditions that branches know ---------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The condition of a branch is known in its two regions. MLIR's
// canonicalization looks for these uses among all uses of the condition, for
// each branch on it: a square of the number of branches on one condition, of
// which there are thousands in code for unknown ranks. loopc's canonicalizer
// leaves it out (Transforms/Canonicalizer.h).

#include "loopc/Dialect/Loop/IR/LoopRewrite.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

/// Of a condition with more uses than this the uses are not gone through.
static constexpr unsigned kFewUses = 16;

/// The uses of `condition` in `region`.
static SmallVector<OpOperand *> findUses(Value condition, Region &region) {
  SmallVector<OpOperand *> found;
  if (llvm::hasNItemsOrLess(condition.getUses(), kFewUses)) {
    for (OpOperand &use : condition.getUses())
      if (region.isAncestor(use.getOwner()->getParentRegion()))
        found.push_back(&use);
    return found;
  }
  region.walk([&](Operation *op) {
    for (OpOperand &operand : op->getOpOperands())
      if (operand.get() == condition)
        found.push_back(&operand);
  });
  return found;
}

namespace {
/// if c { f(c) } else { g(c) } -> if c { f(true) } else { g(false) }
struct KnowCondition : OpRewritePattern<scf::IfOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(scf::IfOp op,
                                PatternRewriter &rewriter) const override {
    Value condition = op.getCondition();
    if (condition.hasOneUse() || matchPattern(condition, m_Constant()))
      return failure();
    bool changed = false;
    for (Region *region : {&op.getThenRegion(), &op.getElseRegion()}) {
      SmallVector<OpOperand *> uses = findUses(condition, *region);
      if (uses.empty())
        continue;
      Value known = arith::ConstantIntOp::create(rewriter, op.getLoc(),
                                                 condition.getType(),
                                                 region == &op.getThenRegion());
      for (OpOperand *use : uses)
        rewriter.modifyOpInPlace(use->getOwner(), [&] { use->set(known); });
      changed = true;
    }
    return success(changed);
  }
};
} // namespace

void loopc::loop::populateBranchConditionPatterns(RewritePatternSet &patterns) {
  patterns.add<KnowCondition>(patterns.getContext());
}
