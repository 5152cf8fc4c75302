//===- Growth.cpp - Values that grow in loops -----------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Growth.h"
#include "loopc/Dialect/Loop/Transforms/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace loopc;
using namespace loopc::loop;

Value Step::result() const {
  return loop  ? loop->getResult(growth->port)
         : cut ? cut->getResult(0)
               : concatenation.last()->getResult(0);
}

bool Growth::anyStep(llvm::function_ref<bool(const Step &)> holds) const {
  return llvm::any_of(steps, [&](const Step &step) {
    return step.loop ? step.growth->anyStep(holds) : holds(step);
  });
}

bool Growth::hasCuts() const {
  return anyStep([](const Step &step) { return bool(step.cut); });
}

bool Growth::movesBegin() const {
  return anyStep([this](const Step &step) {
    tensor::ExtractSliceOp cut = step.cut;
    return cut ? !isConstantIntValue(cut.getMixedOffsets()[*axis], 0)
               : step.concatenation.own > 0;
  });
}

bool Growth::isStraight() const {
  return llvm::none_of(steps,
                       [](const Step &step) { return step.loop || step.cut; });
}

namespace {
class GrowthMatcher {
public:
  GrowthMatcher(LoopOp loop, unsigned port)
      : loop(loop), port(port), arg(loop.getCarriedArgs()[port]) {}

  /// `axis`: along which, if that is known.
  std::optional<Growth> match(std::optional<int64_t> axis = std::nullopt) {
    auto type = dyn_cast<RankedTensorType>(arg.getType());
    if (!type || type.hasStaticShape())
      return std::nullopt;
    Growth growth;
    growth.port = port;
    growth.axis = axis;
    if (!matchValue(loop.getYield().getCarried()[port], growth) ||
        growth.isEmpty() || !type.isDynamicDim(*growth.axis))
      return std::nullopt;
    return growth;
  }

  /// The same, once branches that concatenate are concatenations.
  std::optional<Growth> match(IRRewriter &rewriter) {
    std::optional<Growth> growth = match();
    while (growth && rewriteBranch(rewriter, *growth)) {
      matches.clear();
      growth = match();
    }
    return growth;
  }

private:
  /// Takes one concatenation out of branches; false if none is in any.
  bool rewriteBranch(IRRewriter &rewriter, Growth &growth) {
    if (!growth.branches.empty()) {
      growth.branches.front().rewrite(rewriter,
                                      [&](OpFoldResult extent, int64_t axis) {
                                        return isCarriedExtent(extent, axis);
                                      });
      return true;
    }
    return llvm::any_of(growth.steps, [&](Step &step) {
      return step.loop && GrowthMatcher(step.loop, step.growth->port)
                              .rewriteBranch(rewriter, *step.growth);
    });
  }

  /// True where `value` is the argument, or what steps make of it: `growth`,
  /// which has none yet, has these then.
  bool matchValue(Value value, Growth &growth) {
    value = withoutCasts(value);
    if (value == arg)
      return true;
    // Several parts of a concatenation may be made of the same value.
    std::pair<Value, int64_t> key(value, growth.axis.value_or(-1));
    auto known = matches.find(key);
    if (known == matches.end()) {
      Growth found = growth;
      bool isMatch = matchStep(value, found);
      known = matches
                  .try_emplace(key, isMatch ? std::optional(std::move(found))
                                            : std::nullopt)
                  .first;
    }
    if (!known->second)
      return false;
    growth = *known->second;
    return true;
  }

  bool matchStep(Value value, Growth &growth) {
    Operation *op = value.getDefiningOp();
    if (!op || op->getBlock() != loop.getLoopBody())
      return false;
    if (isa<scf::IfOp>(op))
      return matchBranches(cast<OpResult>(value), growth);
    if (isa<LoopOp>(op))
      return matchLoop(cast<OpResult>(value), growth);
    if (auto cut = dyn_cast<tensor::ExtractSliceOp>(op))
      return matchCut(cut, growth);
    return matchConcatenation(value, growth);
  }

  bool matchConcatenation(Value value, Growth &growth) {
    Concatenation found;
    found.parts = insertionsOf(value, loop.getLoopBody());
    if (found.parts.size() < 2 || !found.matchAxis(growth.axis) ||
        !isOfCarried(found, *growth.axis))
      return false;
    // The whole stays, and parts of it are added to it; of parts, one stays
    // that may be long.
    std::optional<unsigned> own;
    unsigned best = 0;
    Growth chosen;
    for (auto [k, part] : llvm::enumerate(found.parts)) {
      Growth trial = growth;
      if (!matchValue(part.getSource(), trial))
        continue;
      unsigned rank = !trial.hasCuts()                                 ? 3
                      : getConstantIntValue(sizeOf(part, *trial.axis)) ? 1
                                                                       : 2;
      // Twice itself: it does not stay where it is.
      if (rank == 3 && best == 3)
        return false;
      if (rank <= best)
        continue;
      own = k;
      best = rank;
      chosen = std::move(trial);
    }
    if (!own)
      return false;
    growth = std::move(chosen);
    found.own = *own;
    growth.steps.push_back({found, {}, {}, {}});
    return true;
  }

  /// True if `cut` is a part of such a value, along one axis.
  bool matchCut(tensor::ExtractSliceOp cut, Growth &growth) {
    if (!cut.hasUnitStride() ||
        cut.getType().getRank() != cut.getSourceType().getRank())
      return false;
    Growth trial = growth;
    for (auto [k, offset, size] :
         llvm::enumerate(cut.getMixedOffsets(), cut.getMixedSizes())) {
      int64_t along = k;
      if (isConstantIntValue(offset, 0) && isCarriedExtent(size, along))
        continue;
      if (trial.axis.value_or(along) != along)
        return false;
      trial.axis = along;
    }
    if (!trial.axis || !matchValue(cut.getSource(), trial))
      return false;
    growth = std::move(trial);
    growth.steps.push_back({{}, cut, {}, {}});
    return true;
  }

  /// True if `result` is what has become of such a value in another loop.
  bool matchLoop(OpResult result, Growth &growth) {
    auto inner = cast<LoopOp>(result.getOwner());
    unsigned k = result.getResultNumber();
    Growth trial = growth;
    if (k >= inner.getNumCarried() || !matchValue(inner.getInits()[k], trial))
      return false;
    std::optional<Growth> within = GrowthMatcher(inner, k).match(trial.axis);
    if (!within)
      return false;
    growth = std::move(trial);
    growth.axis = within->axis;
    growth.steps.push_back({{}, {}, inner, std::make_shared<Growth>(*within)});
    return true;
  }

  /// True where `result` of a branch is such a value with something added.
  bool matchBranches(OpResult result, Growth &growth) {
    auto isExtent = [&](OpFoldResult extent, int64_t axis) {
      return isCarriedExtent(extent, axis);
    };
    for (Value base : BranchAppend::findBases(result)) {
      Growth trial = growth;
      BranchAppend append(result, base);
      if (!append.match(trial.axis, isExtent) || !matchValue(base, trial))
        continue;
      growth = std::move(trial);
      growth.branches.push_back(append);
      return true;
    }
    return false;
  }

  /// True if `found` has no gaps; other extents are those of the carried value.
  bool isOfCarried(const Concatenation &found, int64_t axis) {
    auto areCarried = [&](ArrayRef<OpFoldResult> extents) {
      for (auto [k, extent] : llvm::enumerate(extents))
        if (static_cast<int64_t>(k) != axis && !isCarriedExtent(extent, k))
          return false;
      return true;
    };
    return found.isGapless(axis) && areCarried(found.extents()) &&
           llvm::all_of(found.parts, [&](tensor::InsertSliceOp part) {
             return areCarried(part.getMixedSizes());
           });
  }

  bool isCarriedExtent(OpFoldResult extent, int64_t axis) {
    auto type = cast<RankedTensorType>(arg.getType());
    if (!type.isDynamicDim(axis))
      return isConstantIntValue(extent, type.getDimSize(axis));
    OpBuilder b(loop);
    if (isEqualConstantIntOrValue(
            extent, resolveDim(b, loop.getLoc(), loop.getInits()[port], axis)))
      return true;
    auto value = dyn_cast<Value>(extent);
    auto dim = value ? value.getDefiningOp<tensor::DimOp>() : tensor::DimOp();
    return dim && dim.getConstantIndex() == axis &&
           withoutCasts(dim.getSource()) == arg;
  }

  LoopOp loop;
  unsigned port;
  Value arg;
  /// Values that were looked at with an axis, or with none (-1).
  llvm::DenseMap<std::pair<Value, int64_t>, std::optional<Growth>> matches;
};
} // namespace

std::optional<Growth> loopc::findGrowth(IRRewriter &rewriter, LoopOp loop,
                                        unsigned port) {
  return GrowthMatcher(loop, port).match(rewriter);
}
