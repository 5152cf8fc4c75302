//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// loop-fuse-loops: a loop that reads, row by row, what the loop before it
// collected, and runs as often, becomes a part of that loop. The rows are never
// written where nobody else reads them.

#include "loopc/Dialect/Loop/Transforms/Passes.h"
#include "loopc/Dialect/Loop/Transforms/Speculation.h"
#include "loopc/Dialect/Loop/Transforms/Utils.h"
#include "loopc/Dialect/Loopc/IR/Loopc.h"
#include "loopc/Support/IndexCasts.h"
#include "loopc/Support/Remarks.h"
#include "loopc/Support/Walk.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace loopc {
#define GEN_PASS_DEF_LOOPFUSELOOPS
#include "loopc/Dialect/Loop/Transforms/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;
using namespace loopc::loop;

/// The trip count of `loop` without conversions; null where a condition may end
/// the loop.
static Value getCount(LoopOp loop) {
  Value trips = loop.getTripCount();
  if (!trips || loop.getCondition() || isa<TensorType>(trips.getType()))
    return {};
  return withoutIndexCasts(trips);
}

static bool runAsOften(LoopOp one, LoopOp other) {
  Value first = getCount(one), second = getCount(other);
  if (!first || !second)
    return false;
  if (first == second)
    return true;
  std::optional<int64_t> count = getConstantIntValue(first);
  return count && count == getConstantIntValue(second);
}

/// True for a body that is over and done with: no products of matrices, which
/// are better computed for all iterations at once and whose weights want the
/// cache for themselves, and no loops.
static bool isLight(LoopOp loop) {
  return !anyNested(loop.getLoopBody(), [](Operation *op) {
    auto linalg = dyn_cast<linalg::LinalgOp>(op);
    return (linalg && linalg.getNumReductionLoops() > 0) ||
           isa<LoopLikeOpInterface>(op);
  });
}

/// True where the body computes elementary functions. Each of them is a
/// polynomial whose constants stay in registers of a CPU as long as one body
/// has few of them.
static bool computesFunctions(LoopOp loop) {
  return anyNested(loop.getLoopBody(), [](Operation *op) {
    return isa_and_nonnull<math::MathDialect>(op->getDialect()) &&
           !isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::CopySignOp,
                math::FloorOp, math::FmaOp, math::RoundEvenOp, math::SqrtOp,
                math::TruncOp>(op);
  });
}

/// True where the body has no effects, but for checks.
static bool onlyChecks(LoopOp loop) {
  return allNested(loop.getLoopBody(), [](Operation *op) {
    return isa<CheckOp>(op) || isMemoryEffectFree(op) ||
           op->hasTrait<OpTrait::HasRecursiveMemoryEffects>();
  });
}

namespace {
/// Two loops of a block, the second behind the first.
class LoopFusion {
public:
  LoopFusion(IRRewriter &rewriter, LoopOp first, LoopOp second)
      : rewriter(rewriter), first(first), second(second) {}

  /// Why they stay two; "" where they can be one. Nothing is said of loops that
  /// have nothing to do with each other.
  std::string match();
  LoopOp rewrite();

private:
  std::string matchUse(OpOperand &use, unsigned port);
  bool isRow(Operation *user, unsigned port);
  bool mayRunAhead();
  bool isNumber(OpFoldResult offset);

  IRRewriter &rewriter;
  LoopOp first, second;
  /// What in the second loop reads this iteration's row, and of which port.
  SmallVector<std::pair<Operation *, unsigned>> rows;
};
} // namespace

/// True for the second loop's iteration number.
bool LoopFusion::isNumber(OpFoldResult offset) {
  auto value = dyn_cast<Value>(offset);
  return value && withoutIndexCasts(value) == second.getCounter();
}

/// True if `user` takes the row of its iteration out of collected value `port`.
bool LoopFusion::isRow(Operation *user, unsigned port) {
  int64_t axis = first.getCollectAxes()[port];
  if (first.getCollectReverse()[port] || first.getLengthOf(port) ||
      !second->isProperAncestor(user))
    return false;
  Type yielded = first.getYield().getCollected()[port].getType();
  if (auto extract = dyn_cast<tensor::ExtractOp>(user))
    return extract.getIndices().size() == 1 &&
           isNumber(extract.getIndices()[0]) && extract.getType() == yielded;
  auto slice = dyn_cast<tensor::ExtractSliceOp>(user);
  if (!slice || !slice.hasUnitStride() ||
      !isNumber(slice.getMixedOffsets()[axis]) ||
      !isConstantIntValue(slice.getMixedSizes()[axis], 1))
    return false;
  auto row = dyn_cast<RankedTensorType>(yielded);
  if (!row || !row.hasStaticShape() ||
      slice.getType().getElementType() != row.getElementType())
    return false;
  // All of the row, without the axis or with an axis of one.
  SmallVector<OpFoldResult> offsets = slice.getMixedOffsets();
  SmallVector<OpFoldResult> sizes = slice.getMixedSizes();
  offsets.erase(offsets.begin() + axis);
  sizes.erase(sizes.begin() + axis);
  for (auto [offset, size, extent] :
       llvm::zip_equal(offsets, sizes, row.getShape()))
    if (!isConstantIntValue(offset, 0) || !isConstantIntValue(size, extent))
      return false;
  return slice.getType() == row;
}

std::string LoopFusion::matchUse(OpOperand &use, unsigned port) {
  Operation *user = use.getOwner();
  if (second->isAncestor(user)) {
    if (port < first.getNumCarried() ||
        !isRow(user, port - first.getNumCarried()))
      return "the second one reads more of the first than the row of its "
             "iteration";
    rows.push_back({user, port - first.getNumCarried()});
    return "";
  }
  // What else reads it must come behind both.
  Operation *there = second->getBlock()->findAncestorOpInBlock(*user);
  return there && second->isBeforeInBlock(there)
             ? ""
             : "what the first one computes is read between them";
}

/// True if iterations of the second loop may run before the first one has
/// checked all that it does.
bool LoopFusion::mayRunAhead() {
  return llvm::all_of(
      second.getLoopBody()->without_terminator(), [&](Operation &op) {
        return llvm::is_contained(llvm::make_first_range(rows), &op) ||
               mayRunBeforeChecks(&op);
      });
}

std::string LoopFusion::match() {
  for (auto [port, result] : llvm::enumerate(first.getResults()))
    for (OpOperand &use : result.getUses())
      if (std::string why = matchUse(use, port); !why.empty())
        return why;
  if (!runAsOften(first, second))
    return "they do not run equally often";
  if (!first.getSlices().empty() || !second.getSlices().empty())
    return "they have slices";
  if (first.getCounter().getType() != second.getCounter().getType() ||
      first.getConditionArg().getType() != second.getConditionArg().getType() ||
      first.getTripCount().getType() != second.getTripCount().getType() ||
      !first.getConditionArg().use_empty() ||
      !second.getConditionArg().use_empty())
    return "they are counted in different ways";
  if (!isLight(first) || !isLight(second) ||
      (!isForGPU(first) && computesFunctions(first) &&
       computesFunctions(second)))
    return "what they compute is better done one behind the other";
  if (!onlyChecks(first) || !onlyChecks(second))
    return "they have effects";
  // loop_order: all iterations of the first one come first.
  if (mayEndRun(first) && mayEndRun(second))
    return "both can fail";
  if (mayEndRun(first) && !mayRunAhead())
    return "the second one may count on what the first one checks";
  // The first one moves behind what is between them.
  for (Operation *op = first->getNextNode(); op != second;
       op = op->getNextNode())
    if (!isMemoryEffectFree(op))
      return "something with effects is between them";
    else if (mayEndRun(first) && !mayRunBeforeChecks(op))
      return "what is between them may count on what the first one checks";
  return "";
}

/// One loop with the ports of both, in the second one's place.
LoopOp LoopFusion::rewrite() {
  rewriter.setInsertionPoint(second);
  auto both = [](auto one, auto other) {
    auto all = llvm::to_vector(one);
    llvm::append_range(all, other);
    return all;
  };
  LoopSignature signature(first), more(second);
  llvm::append_range(signature.inits, more.inits);
  llvm::append_range(signature.collected, more.collected);
  signature.sinceVersion.reset();
  signature.attributes = {};
  auto made = LoopOp::create(
      rewriter, rewriter.getFusedLoc({first.getLoc(), second.getLoc()}),
      signature);

  auto argumentsFrom = [&](unsigned begin, unsigned count) {
    SmallVector<Value> values{made.getCounter(), made.getConditionArg()};
    llvm::append_range(values, made.getCarriedArgs().slice(begin, count));
    return values;
  };
  unsigned split = first.getNumCarried();
  YieldOp one = first.getYield(), other = second.getYield();
  moveBody(rewriter, first, made, argumentsFrom(0, split));
  for (auto [user, port] : rows)
    rewriter.replaceOp(user, one.getCollected()[port]);
  moveBody(rewriter, second, made,
           argumentsFrom(split, second.getNumCarried()));
  rewriter.setInsertionPointToEnd(made.getLoopBody());
  SmallVector<Value> carried =
      both(SmallVector<Value>(one.getCarried()), other.getCarried());
  SmallVector<Value> collected =
      both(SmallVector<Value>(one.getCollected()), other.getCollected());
  YieldOp::create(rewriter, made.getLoc(), other.getCondition(), carried,
                  collected);
  rewriter.eraseOp(one);
  rewriter.eraseOp(other);

  auto results1 = made.getCarriedResults(),
       results2 = made.getCollectedResults();
  SmallVector<Value> ofFirst(results1.take_front(split));
  llvm::append_range(ofFirst, results2.take_front(first.getNumCollected()));
  SmallVector<Value> ofSecond(results1.drop_front(split));
  llvm::append_range(ofSecond, results2.drop_front(first.getNumCollected()));
  rewriter.replaceOp(first, ofFirst);
  rewriter.replaceOp(second, ofSecond);
  return made;
}

namespace {
struct LoopFuseLoops : loopc::impl::LoopFuseLoopsBase<LoopFuseLoops> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<LoopOp> loops = collectOps<LoopOp>(getOperation());
    if (loops.empty())
      return markAllAnalysesPreserved();
    llvm::SmallPtrSet<Operation *, 8> gone;
    for (LoopOp &loop : loops) {
      if (gone.contains(loop))
        continue;
      while (LoopOp next = findReader(loop)) {
        LoopFusion fusion(rewriter, loop, next);
        std::string why = fusion.match();
        if (!why.empty()) {
          remarkMissed(next.getLoc(), "FuseLoops",
                       "it is not fused with the loop that it reads from: " +
                           why);
          break;
        }
        remarkDone(next.getLoc(), "FuseLoops",
                   "it runs in the loop whose rows it reads");
        gone.insert(next);
        loop = fusion.rewrite();
        ++numFused;
      }
    }
  }

  /// The first loop behind `loop`, in its block, that reads what it collects.
  static LoopOp findReader(LoopOp loop) {
    LoopOp found;
    for (Value result : loop.getCollectedResults())
      for (Operation *user : result.getUsers()) {
        auto reader = dyn_cast_or_null<LoopOp>(
            loop->getBlock()->findAncestorOpInBlock(*user));
        if (reader && (!found || reader->isBeforeInBlock(found)))
          found = reader;
      }
    return found;
  }
};
} // namespace
