//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// convert-loop-to-scf: loop.loop on memrefs and scalars to scf.for where the
// trips are known on entry, scf.while otherwise; checks get the iteration, and
// loops that could run long are polled for cancellation (loop_cancel).

#include "loopc/Conversion/LoopToSCF/Passes.h"
#include "loopc/Dialect/Loop/IR/Loop.h"
#include "loopc/Dialect/Loopc/IR/Loopc.h"
#include "loopc/Dialect/Nest/Analysis/Cost.h"
#include "loopc/Dialect/Nest/IR/Iterations.h"
#include "loopc/Support/Remarks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace loopc {
#define GEN_PASS_DEF_CONVERTLOOPTOSCF
#include "loopc/Conversion/LoopToSCF/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;
using namespace loopc::loop;

/// A loop is polled about every so many operations, but not less often than
/// every `kMaxPollStrip` iterations.
static constexpr int64_t kPolledCost = 1 << 16;
static constexpr int64_t kMaxPollStrip = 1024;
/// A loop that ends within so many operations is not polled.
static constexpr int64_t kUnpolledCost = 1 << 18;
/// What an inner loop of unknown trips counts as, which polls by itself where
/// it has many: between two polls of a loop around it there are some thousand
/// times `kPolledCost` operations at most, however it is nested.
static constexpr double kPolledTrips = 16;
/// The cost of what takes as long as its operands want.
static constexpr int64_t kUnboundedCost = kUnpolledCost + 1;

namespace {
class LoopConversion {
public:
  LoopConversion(IRRewriter &rewriter, LoopOp loop, bool markIterations)
      : rewriter(rewriter), b(loop.getLoc(), rewriter), loop(loop),
        markIterations(markIterations) {}

  LogicalResult run() {
    if (!loop.getSlices().empty() || loop.getNumCollected())
      return loop.emitOpError("slices and collected values must be lowered "
                              "before convert-loop-to-scf");
    SmallVector<Value> values(loop.getInits());
    llvm::append_range(values, loop.getLoopBody()->getArguments());
    llvm::append_range(values, loop.getYield()->getOperands());
    for (Value value : {loop.getTripCount(), loop.getCondition()})
      if (value)
        values.push_back(value);
    for (Value value : values)
      if (isa<TensorType>(value.getType()))
        return loop.emitOpError("tensors must be bufferized before "
                                "convert-loop-to-scf");
    b.setInsertionPoint(loop);
    WorkRules rules = kCpuWork;
    rules.polledTrips = kPolledTrips;
    cost = WorkEstimate(loop, rules)
               .of(loop.getBody())
               .getKnown(kUnboundedCost)
               .value_or(kUnboundedCost);
    cost = std::max<int64_t>(cost, 1);
    strip = static_cast<int64_t>(llvm::bit_floor(static_cast<uint64_t>(
        std::clamp<int64_t>(kPolledCost / cost, 1, kMaxPollStrip))));
    loop.walk([&](CheckOp check) {
      if (!check.getIteration() && check->getParentOfType<LoopOp>() == loop)
        check.getIterationMutable().assign(loop.getCounter());
    });
    // The yielded condition matters where there is a condition, or where the
    // body reads it.
    conditionCarried =
        loop.getCondition() || !loop.getConditionArg().use_empty();
    bool counted = loop.getTripCount() && !loop.getCondition();
    remarkFact(loop.getLoc(), "Trips",
               counted ? "the number of iterations is known when it begins"
                       : "a condition is tested before each iteration");
    if (counted)
      convertToFor();
    else
      convertToWhile();
    return success();
  }

private:
  Value constant(Type type, int64_t value) {
    return arith::ConstantOp::create(b, b.getIntegerAttr(type, value));
  }

  void poll(Value counter) {
    if (strip == 1) {
      PollOp::create(b);
      return;
    }
    Value mask = constant(counter.getType(), strip - 1);
    Value low = arith::AndIOp::create(b, counter, mask);
    Value now = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, low, mask);
    auto branch = scf::IfOp::create(b, now, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    PollOp::create(b);
  }

  /// Inits, or yielded values, with the condition in front where it is carried.
  SmallVector<Value> withCondition(Value condition, ValueRange values) {
    SmallVector<Value> all;
    if (conditionCarried)
      all.push_back(condition);
    llvm::append_range(all, values);
    return all;
  }

  void convertToFor() {
    Value trips = loop.getTripCount();
    // Only loops that hand nothing on can be shared by threads, and those count
    // with indices.
    bool isShareable =
        !conditionCarried && !isForGPU(loop) &&
        llvm::equal(loop.getCarriedArgs(), loop.getYield().getCarried());
    if (isShareable)
      trips = b.createOrFold<arith::IndexCastOp>(b.getIndexType(), trips);
    Type type = trips.getType();
    Value zero = constant(type, 0), one = constant(type, 1);
    // loop_m: no iterations where it is negative.
    trips = b.createOrFold<arith::MaxSIOp>(trips, zero);
    Value always = constant(b.getI1Type(), 1);
    SmallVector<Value> values = withCondition(always, loop.getInits());
    std::optional<int64_t> count = getConstantIntValue(trips);
    bool polled = !count || *count > kUnpolledCost / cost;
    scf::ForOp strips;
    if (polled && strip > 1) {
      strips = makeFor(zero, trips, constant(type, strip), values);
      Value begin = strips.getInductionVar();
      b.setInsertionPointToStart(strips.getBody());
      Value left = arith::SubIOp::create(b, trips, begin);
      Value size = arith::MinSIOp::create(b, left, constant(type, strip));
      Value end = arith::AddIOp::create(b, begin, size);
      values.assign(strips.getRegionIterArgs().begin(),
                    strips.getRegionIterArgs().end());
      scf::ForOp inner = makeFor(begin, end, one, values);
      mark(strips, kStrips);
      mark(inner, kEachIteration);
      // What ends sooner than a strip is not polled at all.
      Value whole = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, size,
                                          constant(type, strip));
      auto branch = scf::IfOp::create(b, whole, /*withElseRegion=*/false);
      scf::YieldOp::create(b, inner.getResults());
      b.setInsertionPointToStart(branch.thenBlock());
      PollOp::create(b);
      fillFor(inner, always);
    } else {
      strips = makeFor(zero, trips, one, values);
      mark(strips, kEachIteration);
      b.setInsertionPointToStart(strips.getBody());
      if (polled)
        PollOp::create(b);
      fillFor(strips, always);
    }
    rewriter.replaceOp(loop, strips.getResults().drop_front(conditionCarried));
  }

  void mark(Operation *made, StringRef iterations) {
    if (markIterations)
      made->setAttr(kIterationsAttrName, b.getStringAttr(iterations));
  }

  /// A loop with an empty body, without a terminator.
  scf::ForOp makeFor(Value begin, Value end, Value step, ValueRange inits) {
    auto made = scf::ForOp::create(b, begin, end, step, inits);
    if (!made.getBody()->empty())
      rewriter.eraseOp(made.getBody()->getTerminator());
    return made;
  }

  /// Moves the loop's body to the end of that of `made`.
  void fillFor(scf::ForOp made, Value always) {
    b.setInsertionPointToEnd(made.getBody());
    Value counter = made.getInductionVar();
    if (counter.getType().isIndex())
      counter =
          arith::IndexCastOp::create(b, loop.getCounter().getType(), counter);
    SmallVector<Value> args{counter};
    args.push_back(conditionCarried ? Value(made.getRegionIterArgs().front())
                                    : always);
    llvm::append_range(args,
                       made.getRegionIterArgs().drop_front(conditionCarried));
    YieldOp yield = loop.getYield();
    rewriter.mergeBlocks(loop.getLoopBody(), made.getBody(), args);
    b.setInsertionPoint(yield);
    scf::YieldOp::create(
        b, withCondition(yield.getCondition(), yield.getCarried()));
    rewriter.eraseOp(yield);
  }

  /// loop_test: trip count and condition are tested before every iteration.
  void convertToWhile() {
    Type type = loop.getCounter().getType();
    Value zero = constant(type, 0), always = constant(b.getI1Type(), 1);
    Value first = loop.getCondition() ? loop.getCondition() : always;
    SmallVector<Value> inits{zero};
    llvm::append_range(inits, withCondition(first, loop.getInits()));
    SmallVector<Type> types(ValueRange(inits).getTypes());
    SmallVector<Location> locs(types.size(), loop.getLoc());
    auto made = scf::WhileOp::create(b, types, inits);
    mark(made, kEachIteration);
    Block *before = b.createBlock(&made.getBefore(), {}, types, locs);
    Value proceed = always;
    if (loop.getTripCount())
      proceed =
          arith::CmpIOp::create(b, arith::CmpIPredicate::slt,
                                before->getArgument(0), loop.getTripCount());
    if (loop.getCondition())
      proceed = b.createOrFold<arith::AndIOp>(proceed, before->getArgument(1));
    scf::ConditionOp::create(b, proceed, before->getArguments());

    Block *after = b.createBlock(&made.getAfter(), {}, types, locs);
    poll(after->getArgument(0));
    SmallVector<Value> args{after->getArgument(0)};
    args.push_back(conditionCarried ? Value(after->getArgument(1)) : always);
    llvm::append_range(args,
                       after->getArguments().drop_front(1 + conditionCarried));
    YieldOp yield = loop.getYield();
    rewriter.mergeBlocks(loop.getLoopBody(), after, args);
    b.setInsertionPoint(yield);
    Value next =
        arith::AddIOp::create(b, after->getArgument(0), constant(type, 1));
    SmallVector<Value> yielded{next};
    llvm::append_range(yielded,
                       withCondition(yield.getCondition(), yield.getCarried()));
    scf::YieldOp::create(b, yielded);
    rewriter.eraseOp(yield);
    rewriter.replaceOp(loop,
                       made.getResults().drop_front(1 + conditionCarried));
  }

  IRRewriter &rewriter;
  ImplicitLocOpBuilder b;
  LoopOp loop;
  int64_t cost = 1;  ///< of an iteration
  int64_t strip = 1; ///< iterations between polls
  bool conditionCarried = false;
  bool markIterations;
};

struct ConvertLoopToSCF : loopc::impl::ConvertLoopToSCFBase<ConvertLoopToSCF> {
  using ConvertLoopToSCFBase::ConvertLoopToSCFBase;

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    // Outer loops first: a check belongs to the innermost loop around it, and
    // what a body costs is asked while its loops are still there.
    SmallVector<LoopOp> loops;
    getOperation().walk<WalkOrder::PreOrder>(
        [&](LoopOp loop) { loops.push_back(loop); });
    for (LoopOp loop : loops)
      if (failed(LoopConversion(rewriter, loop, markIterations).run()))
        return signalPassFailure();
  }
};
} // namespace
