//===- BranchesBackwards.cpp - From structured control flow to branches ---===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// loopc-branches-backwards: MLIR's patterns, from the last operation of a
// block to the first.

#include "loopc/Pipelines/Passes.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/DialectConversion.h"

namespace loopc {
#define GEN_PASS_DEF_BRANCHESBACKWARDS
#include "loopc/Pipelines/Passes.h.inc"
} // namespace loopc

using namespace mlir;

namespace {
struct BranchesBackwards
    : loopc::impl::BranchesBackwardsBase<BranchesBackwards> {
  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet patterns(context);
    populateSCFToControlFlowConversionPatterns(patterns);
    lowerings = std::move(patterns);
    return success();
  }

  void runOnOperation() override {
    ConversionTarget target(getContext());
    target
        .addIllegalOp<scf::ForallOp, scf::ForOp, scf::IfOp, scf::IndexSwitchOp,
                      scf::ParallelOp, scf::WhileOp, scf::ExecuteRegionOp>();
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    WalkResult found = getOperation()->walk([&](Operation *op) {
      Operation *parent = op->getParentOp();
      if (!target.isIllegal(op) || target.isIllegal(parent) ||
          !parent->hasTrait<OpTrait::SingleBlock>())
        return WalkResult::advance();
      op->emitOpError() << "cannot become branches in '" << parent->getName()
                        << "', whose body is one block";
      return WalkResult::interrupt();
    });
    if (found.wasInterrupted())
      return signalPassFailure();
    // What is in them is converted with them.
    SmallVector<Operation *> outermost;
    getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (!target.isIllegal(op))
        return WalkResult::advance();
      outermost.push_back(op);
      return WalkResult::skip();
    });
    std::reverse(outermost.begin(), outermost.end());
    if (failed(applyPartialConversion(outermost, target, lowerings)))
      signalPassFailure();
  }

private:
  /// For each of many functions.
  FrozenRewritePatternSet lowerings;
};
} // namespace
