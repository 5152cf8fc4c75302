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
/// What leads from the argument to a value: one step or branch after another.
/// Several values share their beginning, so that each is as long as one link.
struct Link {
  std::shared_ptr<const Link> before;
  Step step;
  std::optional<BranchAppend> branch;
};

/// A growth that is being looked for.
struct Path {
  std::optional<int64_t> axis;
  std::shared_ptr<const Link> last;
  bool hasCuts = false;

  void add(Step step) {
    hasCuts |= step.cut || (step.loop && step.growth->hasCuts());
    last = std::make_shared<Link>(Link{std::move(last), std::move(step), {}});
  }
  void add(const BranchAppend &branch) {
    last = std::make_shared<Link>(Link{std::move(last), {}, branch});
  }
  Growth getGrowth(unsigned port) const;
};

class GrowthMatcher {
public:
  GrowthMatcher(LoopOp loop, unsigned port)
      : loop(loop), port(port), arg(loop.getCarriedArgs()[port]) {}

  /// `axis`: along which, if that is known.
  std::optional<Growth> match(std::optional<int64_t> axis = std::nullopt) {
    auto type = dyn_cast<RankedTensorType>(arg.getType());
    if (!type || type.hasStaticShape())
      return std::nullopt;
    Path path;
    path.axis = axis;
    if (!matchValue(loop.getYield().getCarried()[port], path) || !path.last ||
        !type.isDynamicDim(*path.axis))
      return std::nullopt;
    return path.getGrowth(port);
  }

  /// The same, once branches that concatenate are concatenations.
  std::optional<Growth> match(IRRewriter &rewriter) {
    std::optional<Growth> growth = match();
    while (growth) {
      FailureOr<bool> rewritten = rewriteBranch(rewriter, *growth);
      if (failed(rewritten))
        return std::nullopt;
      if (!*rewritten)
        break;
      matches.clear();
      growth = match();
    }
    return growth;
  }

private:
  /// Takes one concatenation out of branches; false if none is in any, failure
  /// if it has to stay in one.
  FailureOr<bool> rewriteBranch(IRRewriter &rewriter, Growth &growth) {
    if (!growth.branches.empty()) {
      auto isExtent = [&](OpFoldResult extent, int64_t axis) {
        return isCarriedExtent(extent, axis);
      };
      if (failed(growth.branches.front().rewrite(rewriter, isExtent)))
        return failure();
      return true;
    }
    for (Step &step : growth.steps) {
      if (!step.loop)
        continue;
      FailureOr<bool> rewritten = GrowthMatcher(step.loop, step.growth->port)
                                      .rewriteBranch(rewriter, *step.growth);
      if (failed(rewritten) || *rewritten)
        return rewritten;
    }
    return false;
  }

  /// True where `value` is the argument, or what steps make of it: `path`,
  /// which has none yet, has these then.
  bool matchValue(Value value, Path &path) {
    value = withoutCasts(value);
    if (value == arg)
      return true;
    // Several parts of a concatenation may be made of the same value.
    std::pair<Value, int64_t> key(value, path.axis.value_or(-1));
    auto known = matches.find(key);
    if (known == matches.end()) {
      Path found = path;
      bool isMatch = matchStep(value, found);
      known = matches
                  .try_emplace(key, isMatch ? std::optional(std::move(found))
                                            : std::nullopt)
                  .first;
    }
    if (!known->second)
      return false;
    path = *known->second;
    return true;
  }

  bool matchStep(Value value, Path &path) {
    Operation *op = value.getDefiningOp();
    if (!op || op->getBlock() != loop.getLoopBody())
      return false;
    if (isa<scf::IfOp>(op))
      return matchBranches(cast<OpResult>(value), path);
    if (isa<LoopOp>(op))
      return matchLoop(cast<OpResult>(value), path);
    if (auto cut = dyn_cast<tensor::ExtractSliceOp>(op))
      return matchCut(cut, path);
    return matchConcatenation(value, path);
  }

  bool matchConcatenation(Value value, Path &path) {
    Concatenation found;
    found.parts = insertionsOf(value, loop.getLoopBody());
    if (found.parts.size() < 2 || !found.matchAxis(path.axis) ||
        !isOfCarried(found, *path.axis))
      return false;
    // The whole stays, and parts of it are added to it; of parts, one stays
    // that may be long.
    std::optional<unsigned> own;
    unsigned best = 0;
    Path chosen;
    for (auto [k, part] : llvm::enumerate(found.parts)) {
      Path trial = path;
      if (!matchValue(part.getSource(), trial))
        continue;
      unsigned rank = !trial.hasCuts                                   ? 3
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
    path = std::move(chosen);
    found.own = *own;
    path.add({found, {}, {}, {}});
    return true;
  }

  /// True if `cut` is a part of such a value, along one axis.
  bool matchCut(tensor::ExtractSliceOp cut, Path &path) {
    if (!cut.hasUnitStride() ||
        cut.getType().getRank() != cut.getSourceType().getRank())
      return false;
    Path trial = path;
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
    path = std::move(trial);
    path.add({{}, cut, {}, {}});
    return true;
  }

  /// True if `result` is what has become of such a value in another loop.
  bool matchLoop(OpResult result, Path &path) {
    auto inner = cast<LoopOp>(result.getOwner());
    unsigned k = result.getResultNumber();
    Path trial = path;
    if (k >= inner.getNumCarried() || !matchValue(inner.getInits()[k], trial))
      return false;
    std::optional<Growth> within = GrowthMatcher(inner, k).match(trial.axis);
    if (!within)
      return false;
    path = std::move(trial);
    path.axis = within->axis;
    path.add({{}, {}, inner, std::make_shared<Growth>(*within)});
    return true;
  }

  /// True where `result` of a branch is such a value with something added.
  bool matchBranches(OpResult result, Path &path) {
    auto isExtent = [&](OpFoldResult extent, int64_t axis) {
      return isCarriedExtent(extent, axis);
    };
    for (Value base : BranchAppend::findBases(result)) {
      Path trial = path;
      BranchAppend append(result, base);
      if (!append.match(trial.axis, isExtent) || !matchValue(base, trial))
        continue;
      path = std::move(trial);
      path.add(append);
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
  llvm::DenseMap<std::pair<Value, int64_t>, std::optional<Path>> matches;
};
} // namespace

Growth Path::getGrowth(unsigned port) const {
  Growth growth;
  growth.port = port;
  growth.axis = axis;
  for (const Link *link = last.get(); link; link = link->before.get())
    if (link->branch)
      growth.branches.push_back(*link->branch);
    else
      growth.steps.push_back(link->step);
  std::reverse(growth.steps.begin(), growth.steps.end());
  std::reverse(growth.branches.begin(), growth.branches.end());
  return growth;
}

std::optional<Growth> loopc::findGrowth(IRRewriter &rewriter, LoopOp loop,
                                        unsigned port) {
  return GrowthMatcher(loop, port).match(rewriter);
}
