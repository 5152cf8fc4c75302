//===- EliminateCommon.cpp - Equal operations become one ------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// loopc-eliminate-common: MLIR's CSE. What that hashes of an operation does not
// hold its regions, so that each of many branches on one condition is compared
// with all others. Here branches carry, while the pass runs, a number that is
// made of what they yield. Equal operations have equal numbers: a number says
// how a value is computed, down to arguments of blocks, and not where.
// Operations of linalg seldom have equal operands, but for those that are
// equal: where they have not, there are no numbers, which take half as long
// again.
//
// Ports of loops are made one before, as what is computed of them is equal
// then.

#include "loopc/Dialect/Loop/Transforms/MergePorts.h"
#include "loopc/Pipelines/Passes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"

namespace loopc {
#define GEN_PASS_DEF_ELIMINATECOMMON
#include "loopc/Pipelines/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

/// The number of a branch, while the pass runs.
static constexpr StringLiteral kNumberName = "loopc.common";

/// True for what CSE may merge, but hashes without its regions.
static bool isBranch(Operation &op) {
  return op.getNumRegions() != 0 && op.getNumResults() != 0 &&
         llvm::all_of(op.getRegions(), [](Region &region) {
           return region.empty() || region.hasOneBlock();
         });
}

namespace {
/// An analysis that is there where the pass found nothing, and no other one has
/// changed the code since.
struct Distinct {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Distinct)
  explicit Distinct(Operation *) {}
};

/// Numbers of values.
class Numbering {
public:
  /// Numbers all in `region`, and marks branches with their numbers.
  void number(Region &region) {
    for (Block &block : region) {
      for (BlockArgument arg : block.getArguments())
        numbers[arg] = llvm::hash_combine(arg.getArgNumber(), arg.getType());
      for (Operation &op : block)
        number(op);
    }
  }

private:
  llvm::hash_code hash(Operation &op) {
    return OperationEquivalence::computeHash(
        &op, [&](Value operand) { return numbers.lookup(operand); },
        OperationEquivalence::ignoreHashValue,
        OperationEquivalence::IgnoreLocations);
  }

  void number(Operation &op) {
    for (Region &region : op.getRegions())
      number(region);
    llvm::hash_code own = hash(op);
    if (isBranch(op)) {
      for (Region &region : op.getRegions())
        if (!region.empty())
          own = llvm::hash_combine(own, hash(region.front().back()));
      op.setAttr(kNumberName,
                 IntegerAttr::get(IntegerType::get(op.getContext(), 64),
                                  static_cast<int64_t>(size_t(own))));
    }
    for (OpResult result : op.getResults())
      numbers[result] = llvm::hash_combine(own, result.getResultNumber());
  }

  llvm::DenseMap<Value, llvm::hash_code> numbers;
};

struct EliminateCommon : loopc::impl::EliminateCommonBase<EliminateCommon> {
  using EliminateCommonBase::EliminateCommonBase;

  void runOnOperation() override {
    if (getCachedAnalysis<Distinct>())
      return markAllAnalysesPreserved();
    Operation *root = getOperation();
    IRRewriter rewriter(&getContext());
    bool isRebuilt = mergePorts(rewriter, root);
    bool isNumbered = countAlike(root) >= minBranches;
    if (isNumbered)
      for (Region &region : root->getRegions())
        Numbering().number(region);
    bool changed = false;
    // What is known of the regions of a loop ends with the loop.
    DominanceInfo own;
    eliminateCommonSubExpressions(
        rewriter, isRebuilt ? own : getAnalysis<DominanceInfo>(), root,
        &changed);
    uint64_t numbered = 0;
    if (isNumbered)
      root->walk([&](Operation *op) {
        numbered += op->removeAttr(kNumberName) != nullptr;
      });
    if (reportWork)
      root->emitRemark() << numbered << " operations numbered";
    if (isRebuilt)
      return;
    if (!changed) {
      getAnalysis<Distinct>();
      return markAllAnalysesPreserved();
    }
    markAnalysesPreserved<DominanceInfo, PostDominanceInfo>();
  }

private:
  /// Makes one of equal ports of each loop, the innermost ones first.
  bool mergePorts(RewriterBase &rewriter, Operation *root) {
    SmallVector<loop::LoopOp> loops;
    root->walk([&](loop::LoopOp loop) { loops.push_back(loop); });
    bool isRebuilt = false;
    uint64_t work = 0;
    for (loop::LoopOp loop : loops)
      isRebuilt |= loop::mergeEqualPorts(rewriter, loop, work);
    if (reportWork)
      root->emitRemark() << work << " operations compared";
    return isRebuilt;
  }

  /// How many operations CSE might compare with one, about: branches, of which
  /// many may turn out to be on one condition, and operations of linalg on the
  /// same inputs. What they write to is not asked: it is an empty tensor most
  /// often, one for each operation until CSE has made one of these.
  static unsigned countAlike(Operation *root) {
    unsigned branches = 0, most = 0;
    llvm::DenseMap<uint64_t, unsigned> alike;
    root->walk([&](Operation *op) {
      if (!isBranch(*op))
        return;
      if (!isa<linalg::LinalgOp>(op)) {
        ++branches;
        return;
      }
      // Of one value and type they are equal.
      if (isa<linalg::FillOp>(op))
        return;
      SmallVector<Value> inputs =
          cast<DestinationStyleOpInterface>(op).getDpsInputs();
      auto code = static_cast<uint64_t>(size_t(
          llvm::hash_combine(llvm::hash_combine_range(inputs),
                             llvm::hash_combine_range(op->getResultTypes()))));
      // The last bits are kept from a map's own keys.
      most = std::max(most, ++alike[code >> 2]);
    });
    return branches + most;
  }
};
} // namespace
