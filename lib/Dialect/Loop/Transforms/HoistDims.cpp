//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// loop-hoist-dims: dimensions of carried values that no iteration changes.

#include "DimPatterns.h"
#include "loopc/Dialect/Loop/IR/LoopRewrite.h"
#include "loopc/Dialect/Loop/Transforms/Passes.h"
#include "loopc/Dialect/Loop/Transforms/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace loopc {
#define GEN_PASS_DEF_LOOPHOISTDIMS
#include "loopc/Dialect/Loop/Transforms/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;
using namespace loopc::loop;

/// Nests deeper than this are settled from the outside in only: trying inner
/// loops again for each assumption about outer ones costs a factor per level.
static constexpr unsigned kMaxRetriedDepth = 4;

namespace {
/// A dimension of a carried value.
struct CarriedDim {
  unsigned port;
  int64_t axis;
  OpFoldResult ofInit;
};
} // namespace

void loop::replaceDims(RewriterBase &rewriter, Value value, int64_t axis,
                       OpFoldResult known) {
  SmallVector<tensor::DimOp> dims;
  for (Operation *user : value.getUsers())
    if (auto dim = dyn_cast<tensor::DimOp>(user))
      if (dim.getConstantIndex() == axis)
        dims.push_back(dim);
  for (tensor::DimOp dim : dims) {
    rewriter.setInsertionPoint(dim);
    rewriter.replaceOp(
        dim, getValueOrCreateConstantIndexOp(rewriter, dim.getLoc(), known));
  }
}

namespace {
/// dim of what an operation computes  ->  what its operands say: behind it,
/// dimensions that are one are one value. Folders do not look into slices that
/// drop axes, nor into slices and carried values of loops.
struct ResolveDim : OpRewritePattern<tensor::DimOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::DimOp op,
                                PatternRewriter &rewriter) const override {
    std::optional<int64_t> axis = op.getConstantIndex();
    auto type = dyn_cast<RankedTensorType>(op.getSource().getType());
    if (!axis || !type || *axis >= type.getRank())
      return failure();
    // Asking a branch leaves dimensions in its regions, to be erased and asked
    // for again.
    if (op.getSource().getDefiningOp<scf::IfOp>())
      return failure();
    OpFoldResult known = knownDim(rewriter, op.getLoc(), op.getSource(), *axis);
    if (!known || known == OpFoldResult(op.getResult()))
      return failure();
    rewriter.replaceOp(
        op, getValueOrCreateConstantIndexOp(rewriter, op.getLoc(), known));
    return success();
  }
};
} // namespace

FrozenRewritePatternSet loop::getDimPatterns(MLIRContext *context,
                                             bool keepPorts) {
  RewritePatternSet set(context);
  for (RegisteredOperationName name : context->getRegisteredOperations())
    if (name.getDialectNamespace() == "arith" ||
        name.getDialectNamespace() == "scf" ||
        name.getDialectNamespace() == "tensor" ||
        (name.getDialectNamespace() == "loop" &&
         !(keepPorts && name.getStringRef() == LoopOp::getOperationName())))
      name.getCanonicalizationPatterns(set, context);
  if (keepPorts) {
    populateTypePatterns(set);
    populateSlicePatterns(set);
  }
  set.add<ResolveDim>(context);
  return std::move(set);
}

void loop::simplifyDims(LoopOp loop, const FrozenRewritePatternSet &patterns,
                        RewriterBase::Listener *listener) {
  SmallVector<Operation *> ops;
  loop.getBody().walk([&](Operation *op) { ops.push_back(op); });
  GreedyRewriteConfig config;
  config.setStrictness(GreedyRewriteStrictness::ExistingAndNewOps);
  config.setScope(&loop.getBody());
  config.setListener(listener);
  (void)applyOpPatternsGreedily(ops, patterns, config);
}

namespace {
/// Finds, for each loop, the largest set of dimensions of carried values that
/// stay what they are in the inits. The search is optimistic, as broadcasting
/// needs: that `x + y` keeps the shape of a carried `x` can only be shown by
/// assuming that `x` kept it so far. A copy of the loop in which the assumption
/// holds is simplified; dimensions whose yielded extent then is another one
/// are taken out, until the rest holds.
class DimHoisting {
public:
  DimHoisting(MLIRContext *context)
      : rewriter(context), patterns(getDimPatterns(context)) {}

  /// Settles `loop` and the loops in it.
  void run(LoopOp loop, unsigned depth = 0) {
    SmallVector<CarriedDim> dims = candidates(loop);
    while (!dims.empty()) {
      LoopOp trial = tryAssuming(loop, dims, depth);
      size_t before = dims.size();
      removeViolated(trial, dims);
      if (dims.size() < before) {
        rewriter.eraseOp(trial);
        continue;
      }
      rewriter.replaceOp(loop, trial.getResults());
      // A dim of the result stands behind the loop, where the init's dimension
      // is still visible.
      for (const CarriedDim &dim : dims)
        replaceDims(rewriter, trial.getResult(dim.port), dim.axis, dim.ofInit);
      loop = trial;
      break;
    }
    if (dims.empty() || depth >= kMaxRetriedDepth)
      runInner(loop, depth + 1);
  }

private:
  void runInner(LoopOp loop, unsigned depth) {
    SmallVector<LoopOp> inner;
    loop.getBody().walk<WalkOrder::PreOrder>([&](LoopOp nested) {
      inner.push_back(nested);
      return WalkResult::skip();
    });
    for (LoopOp nested : inner)
      run(nested, depth);
  }

  SmallVector<CarriedDim> candidates(LoopOp loop) {
    SmallVector<CarriedDim> dims;
    for (unsigned k = 0; k < loop.getNumCarried(); ++k) {
      auto type = dyn_cast<RankedTensorType>(loop.getInits()[k].getType());
      for (int64_t axis = 0; type && axis < type.getRank(); ++axis) {
        if (!type.isDynamicDim(axis))
          continue;
        rewriter.setInsertionPoint(loop);
        dims.push_back(
            {k, axis,
             resolveDim(rewriter, loop.getLoc(), loop.getInits()[k], axis)});
      }
    }
    return dims;
  }

  /// A simplified copy of `loop`, before it, in which `dims` are the inits'.
  LoopOp tryAssuming(LoopOp loop, ArrayRef<CarriedDim> dims, unsigned depth) {
    rewriter.setInsertionPoint(loop);
    auto trial = cast<LoopOp>(rewriter.clone(*loop));
    for (const CarriedDim &dim : dims)
      replaceDims(rewriter, trial.getCarriedArgs()[dim.port], dim.axis,
                  dim.ofInit);
    simplifyDims(trial, patterns);
    if (depth < kMaxRetriedDepth)
      runInner(trial, depth + 1);
    return trial;
  }

  /// Takes out the dimensions whose yielded extent is not the assumed one.
  void removeViolated(LoopOp trial, SmallVector<CarriedDim> &dims) {
    YieldOp yield = trial.getYield();
    rewriter.setInsertionPoint(yield);
    SmallVector<CarriedDim> all = dims;
    llvm::erase_if(dims, [&](const CarriedDim &dim) {
      OpFoldResult next = resolveDim(rewriter, trial.getLoc(),
                                     yield.getCarried()[dim.port], dim.axis);
      if (isEqualConstantIntOrValue(next, dim.ofInit))
        return false;
      // A dimension of an argument that is assumed to be an equal one.
      auto value = dyn_cast<Value>(next);
      auto op = value ? value.getDefiningOp<tensor::DimOp>() : tensor::DimOp();
      return !op || llvm::none_of(all, [&](const CarriedDim &other) {
        return op.getSource() == trial.getCarriedArgs()[other.port] &&
               op.getConstantIndex() == other.axis &&
               isEqualConstantIntOrValue(other.ofInit, dim.ofInit);
      });
    });
  }

  IRRewriter rewriter;
  FrozenRewritePatternSet patterns;
};

struct LoopHoistDims : loopc::impl::LoopHoistDimsBase<LoopHoistDims> {
  void runOnOperation() override {
    RewritePatternSet dims(&getContext());
    dims.add<ResolveDim>(&getContext());
    bool changed = false;
    // There are no blocks that are not reached, and nothing is handed on.
    GreedyRewriteConfig config;
    config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
    (void)applyPatternsGreedily(getOperation(), std::move(dims), config,
                                &changed);
    DimHoisting hoisting(&getContext());
    SmallVector<LoopOp> outermost;
    getOperation().walk<WalkOrder::PreOrder>([&](LoopOp loop) {
      outermost.push_back(loop);
      return WalkResult::skip();
    });
    if (outermost.empty() && !changed)
      return markAllAnalysesPreserved();
    for (LoopOp loop : outermost)
      hoisting.run(loop);
  }
};
} // namespace
