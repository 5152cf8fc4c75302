//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// loop-unroll-small: a loop of a few iterations in registers becomes its
// iterations, one behind the other.

#include "loopc/Dialect/Loop/Transforms/Passes.h"
#include "loopc/Dialect/Loop/Transforms/Utils.h"
#include "loopc/Support/Remarks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"

#include <variant>

namespace loopc {
#define GEN_PASS_DEF_LOOPUNROLLSMALL
#include "loopc/Dialect/Loop/Transforms/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;
using namespace loopc::loop;

/// The trips of `loop` if they are few and each is a few operations on scalars
/// and vectors; otherwise why it stays.
static std::variant<int64_t, std::string> match(LoopOp loop, int64_t maxTrips,
                                                int64_t maxOps) {
  std::optional<int64_t> trips = loop.getTripCount()
                                     ? getConstantIntValue(loop.getTripCount())
                                     : std::nullopt;
  if (!trips || loop.getCondition() ||
      isa<TensorType>(loop.getTripCount().getType()))
    return "how often it runs is known to the run only";
  if (*trips < 0 || *trips > maxTrips)
    return "it runs too often";
  if (loop.getNumCollected() || !loop.getSlices().empty())
    return "it collects or slices values";
  // Those of one element, and of two types, are made scalars first.
  if (!loop.getCounter().getType().isIntOrIndex() ||
      !loop.getConditionArg().getType().isInteger(1) ||
      !loop.getYield().getCondition().getType().isInteger(1))
    return "its number or its condition is a tensor";
  int64_t ops = 0;
  for (Operation &op : loop.getLoopBody()->without_terminator()) {
    // The work of such an operation is a loop of its own.
    if (op.getNumRegions() != 0 || isa<linalg::LinalgOp>(op))
      return "its iterations are large";
    ops += !op.hasTrait<OpTrait::ConstantLike>();
  }
  if (ops * *trips > maxOps)
    return "its iterations are large";
  return *trips;
}

static void unroll(IRRewriter &rewriter, LoopOp loop, int64_t trips) {
  rewriter.setInsertionPoint(loop);
  Location loc = loop.getLoc();
  YieldOp yield = loop.getYield();
  Value always =
      arith::ConstantIntOp::create(rewriter, loc, rewriter.getI1Type(), 1);
  Value condition = always;
  SmallVector<Value> carried(loop.getInits());
  for (int64_t k : llvm::seq(trips)) {
    IRMapping mapping;
    Type counter = loop.getCounter().getType();
    Value number = arith::ConstantOp::create(
        rewriter, loc, rewriter.getIntegerAttr(counter, k));
    mapping.map(loop.getCounter(), number);
    mapping.map(loop.getConditionArg(), condition);
    mapping.map(loop.getCarriedArgs(), carried);
    for (Operation &op : loop.getLoopBody()->without_terminator()) {
      Operation *made = rewriter.clone(op, mapping);
      // Its message names the iteration of the loop that it was in.
      if (auto check = dyn_cast<CheckOp>(made); check && !check.getIteration())
        check.getIterationMutable().assign(number);
    }
    condition = mapping.lookupOrDefault(yield.getCondition());
    for (auto [value, next] : llvm::zip_equal(carried, yield.getCarried()))
      value = mapping.lookupOrDefault(next);
  }
  rewriter.replaceOp(loop, carried);
}

/// Trips of loops over the elements of a short line.
static constexpr int64_t kMaxTrips = 16;

/// True for a loop that a lowering has made over a few elements, and that
/// carries numbers alone: a line that is sorted in registers. What is around it
/// can be vectors where it is straight code.
static bool isSmallOnNumbers(scf::ForOp loop) {
  constexpr int64_t kMaxOps = 640;
  // Trips may be known of a loop whose beginning is not.
  std::optional<APInt> trips = loop.getStaticTripCount();
  if (!trips || trips->ugt(kMaxTrips) || loop.getInitArgs().empty() ||
      !getConstantIntValue(loop.getLowerBound()) ||
      !getConstantIntValue(loop.getStep()) ||
      !loop->getParentOfType<LoopOp>() ||
      !llvm::all_of(loop.getResultTypes(),
                    [](Type type) { return type.isIntOrIndexOrFloat(); }))
    return false;
  int64_t ops = 0;
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (op.getNumRegions() != 0 || !isMemoryEffectFree(&op))
      return false;
    ops += !op.hasTrait<OpTrait::ConstantLike>();
  }
  return ops * trips->getSExtValue() <= kMaxOps;
}

static void unroll(IRRewriter &rewriter, scf::ForOp loop) {
  rewriter.setInsertionPoint(loop);
  int64_t first = *getConstantIntValue(loop.getLowerBound());
  int64_t step = *getConstantIntValue(loop.getStep());
  SmallVector<Value> carried(loop.getInitArgs());
  for (int64_t k : llvm::seq(loop.getStaticTripCount()->getSExtValue())) {
    IRMapping mapping;
    mapping.map(loop.getInductionVar(),
                arith::ConstantOp::create(
                    rewriter, loop.getLoc(),
                    rewriter.getIntegerAttr(loop.getInductionVar().getType(),
                                            first + k * step)));
    mapping.map(loop.getRegionIterArgs(), carried);
    for (Operation &op : loop.getBody()->without_terminator())
      rewriter.clone(op, mapping);
    for (auto [value, next] : llvm::zip_equal(carried, loop.getYieldedValues()))
      value = mapping.lookupOrDefault(next);
  }
  rewriter.replaceOp(loop, carried);
}

/// An element of a short tensor, all of which are read in front of it, is
/// chosen from them: what it is chosen by may be in the lanes of a vector.
///
///     tensor.extract %x[%i] : tensor<2xf32>
///     ->  select(%i == 0, %x0, %x1)
static void chooseElements(IRRewriter &rewriter, Operation *root) {
  // More are read from memory in less time.
  constexpr size_t kMaxChosen = 2;
  llvm::MapVector<
      std::pair<Value, Block *>,
      std::pair<SmallVector<tensor::ExtractOp>, SmallVector<tensor::ExtractOp>>>
      reads;
  root->walk([&](tensor::ExtractOp read) {
    auto type = read.getTensor().getType();
    // Of no elements none is chosen: nothing is read when it runs.
    if (type.getRank() != 1 || !type.hasStaticShape() ||
        type.getNumElements() == 0 || type.getNumElements() > kMaxTrips)
      return;
    auto &[known, chosen] = reads[{read.getTensor(), read->getBlock()}];
    auto at = getConstantIntValue(read.getIndices().front());
    known.resize(type.getNumElements());
    if (!at)
      chosen.push_back(read);
    else if (*at >= 0 && *at < type.getNumElements() && !known[*at] &&
             chosen.empty())
      known[*at] = read;
  });
  for (auto &[_, both] : reads) {
    auto &[known, chosen] = both;
    if (chosen.size() > kMaxChosen || llvm::is_contained(known, nullptr))
      continue;
    for (tensor::ExtractOp read : chosen) {
      rewriter.setInsertionPoint(read);
      Value element = known.back().getResult();
      for (auto [k, one] : llvm::enumerate(llvm::drop_end(known))) {
        Value number =
            arith::ConstantIndexOp::create(rewriter, read.getLoc(), k);
        Value isIt = arith::CmpIOp::create(rewriter, read.getLoc(),
                                           arith::CmpIPredicate::eq,
                                           read.getIndices().front(), number);
        element = arith::SelectOp::create(rewriter, read.getLoc(), isIt,
                                          one.getResult(), element);
      }
      rewriter.replaceOp(read, element);
    }
  }
}

namespace {
struct LoopUnrollSmall : loopc::impl::LoopUnrollSmallBase<LoopUnrollSmall> {
  using LoopUnrollSmallBase::LoopUnrollSmallBase;

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<LoopOp> loops;
    // Inner loops first: what is around them may become small.
    getOperation().walk([&](LoopOp loop) { loops.push_back(loop); });
    for (LoopOp loop : loops) {
      auto found = match(loop, maxTrips, maxOps);
      if (auto *why = std::get_if<std::string>(&found)) {
        remarkMissed(loop.getLoc(), "UnrollSmall",
                     "it is not unrolled: " + *why);
        continue;
      }
      int64_t trips = std::get<int64_t>(found);
      remarkDone(loop.getLoc(), "UnrollSmall",
                 "its " + Twine(trips) +
                     " iterations stand one behind the other");
      unroll(rewriter, loop, trips);
      ++numUnrolled;
    }
    SmallVector<scf::ForOp> counted;
    getOperation().walk([&](scf::ForOp loop) {
      if (isSmallOnNumbers(loop))
        counted.push_back(loop);
    });
    for (scf::ForOp loop : counted)
      unroll(rewriter, loop);
    numUnrolled += counted.size();
    if (!counted.empty())
      chooseElements(rewriter, getOperation());
  }
};
} // namespace
