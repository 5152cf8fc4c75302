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
#include "mlir/Interfaces/FunctionInterfaces.h"
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

/// True where no function has branches: its operations are in one block, or in
/// regions of others.
static bool isStructured(Operation *op) {
  return llvm::all_of(op->getRegions(), [](Region &region) {
    return region.empty() ||
           (region.hasOneBlock() &&
            llvm::all_of(region.front(), [](Operation &inner) {
              return !isa<FunctionOpInterface>(inner) || isStructured(&inner);
            }));
  });
}

struct Canonicalizer : PassWrapper<Canonicalizer, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Canonicalizer)

  explicit Canonicalizer(int64_t rounds) {
    config.setMaxIterations(rounds);
    config.setUseTopDownTraversal();
  }

  explicit Canonicalizer(StringRef dialect) : dialect(dialect) {
    config.setMaxIterations(1);
    config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
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
    patterns = dialect.empty() ? loopc::loop::CanonicalPatterns::get(context)
                               : getPatternsOf(context);
    return success();
  }

  FrozenRewritePatternSet getPatternsOf(MLIRContext *context) const {
    RewritePatternSet own(context);
    for (StringRef name : {StringRef(dialect), StringRef("builtin")}) {
      if (Dialect *loaded = context->getLoadedDialect(name))
        loaded->getCanonicalizationPatterns(own);
      for (RegisteredOperationName op :
           context->getRegisteredOperationsByDialect(name))
        op.getCanonicalizationPatterns(own, context);
    }
    return own;
  }

  void runOnOperation() override {
    bool changed = false;
    if (!getCachedAnalysis<Canonical>())
      (void)applyPatternsGreedily(getOperation(), patterns,
                                  getConfig(getOperation()), &changed);
    if (changed)
      return;
    getAnalysis<Canonical>();
    markAllAnalysesPreserved();
  }

  /// Which blocks are reached, and what they hand on, is only asked where there
  /// are branches: MLIR walks through everything three times for it.
  GreedyRewriteConfig getConfig(Operation *op) const {
    GreedyRewriteConfig own = config;
    if (!dialect.empty())
      return own;
    own.setRegionSimplificationLevel(isStructured(op)
                                         ? GreedySimplifyRegionLevel::Disabled
                                         : GreedySimplifyRegionLevel::Normal);
    return own;
  }

  GreedyRewriteConfig config;
  std::string dialect; ///< all that functions have; of any if empty
  FrozenRewritePatternSet patterns;
};
} // namespace

std::unique_ptr<Pass> loopc::createCanonicalizer(int64_t rounds) {
  return std::make_unique<Canonicalizer>(rounds);
}

std::unique_ptr<Pass> loopc::createCanonicalizerOf(StringRef dialect) {
  return std::make_unique<Canonicalizer>(dialect);
}
