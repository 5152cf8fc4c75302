//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Dialect/Loop/Transforms/Canonicalizer.h"
#include "loopc/Dialect/Loop/IR/CanonicalPatterns.h"
#include "loopc/Dialect/Loop/IR/Loop.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace {
/// An analysis that is there where the canonicalizer found nothing, and no pass
/// has changed the code since.
struct Canonical {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Canonical)
  explicit Canonical(Operation *) {}
};

struct Canonicalizer : PassWrapper<Canonicalizer, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Canonicalizer)

  explicit Canonicalizer(int64_t rounds) {
    config.setMaxIterations(rounds);
    config.setUseTopDownTraversal();
    config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Normal);
  }

  StringRef getArgument() const override { return "canonicalize"; }
  StringRef getName() const override { return "Canonicalizer"; }
  StringRef getDescription() const override {
    return "Canonicalize operations";
  }

  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<loopc::loop::LoopDialect>();
  }

  LogicalResult initialize(MLIRContext *context) override {
    patterns = loopc::loop::CanonicalPatterns::get(context);
    return success();
  }

  void runOnOperation() override {
    bool changed = false;
    if (!getCachedAnalysis<Canonical>())
      (void)applyPatternsGreedily(getOperation(), patterns, config, &changed);
    if (changed)
      return;
    getAnalysis<Canonical>();
    markAllAnalysesPreserved();
  }

  GreedyRewriteConfig config;
  FrozenRewritePatternSet patterns;
};
} // namespace

std::unique_ptr<Pass> loopc::createCanonicalizer(int64_t rounds) {
  return std::make_unique<Canonicalizer>(rounds);
}
