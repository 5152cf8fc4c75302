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

#include "loopc/Conversion/Passes.h"
#include "loopc/Dialect/Loop/IR/Loop.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace loopc {
#define GEN_PASS_DEF_CONVERTLOOPTOSCF
#include "loopc/Conversion/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;
using namespace loopc::loop;

/// A loop whose body holds no loop or call is polled every so many iterations,
/// others every time.
static constexpr int64_t kPollStrip = 1024;
/// A loop with fewer constant trips than this, whose body is cheap, is not
/// polled: it ends soon.
static constexpr int64_t kUnpolledTrips = 4096;

namespace {
class LoopConversion {
public:
  LoopConversion(IRRewriter &rewriter, LoopOp loop)
      : rewriter(rewriter), b(loop.getLoc(), rewriter), loop(loop) {}

  LogicalResult run() {
    if (!loop.getSlices().empty() || loop.getNumCollected())
      return loop.emitOpError("slices and collected values must be lowered "
                              "before convert-loop-to-scf");
    for (Value value : loop.getInits())
      if (isa<TensorType>(value.getType()))
        return loop.emitOpError("tensors must be bufferized before "
                                "convert-loop-to-scf");
    b.setInsertionPoint(loop);
    heavy = loop.getBody()
                .walk([&](Operation *op) {
                  return isa<LoopLikeOpInterface, CallOpInterface>(op)
                             ? WalkResult::interrupt()
                             : WalkResult::advance();
                })
                .wasInterrupted();
    loop.walk([&](CheckOp check) {
      if (!check.getIteration() && check->getParentOfType<LoopOp>() == loop)
        check.getIterationMutable().assign(loop.getCounter());
    });
    // The yielded condition matters where there is a condition, or where the
    // body reads it.
    conditionCarried =
        loop.getCondition() || !loop.getConditionArg().use_empty();
    if (loop.getTripCount() && !loop.getCondition())
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
    if (heavy) {
      PollOp::create(b);
      return;
    }
    Value mask = constant(counter.getType(), kPollStrip - 1);
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
    Type type = loop.getTripCount().getType();
    Value zero = constant(type, 0), one = constant(type, 1);
    // loop_m: no iterations where it is negative.
    Value trips = b.createOrFold<arith::MaxSIOp>(loop.getTripCount(), zero);
    Value always = constant(b.getI1Type(), 1);
    auto made = scf::ForOp::create(b, zero, trips, one,
                                   withCondition(always, loop.getInits()));
    Block *body = made.getBody();
    if (!body->empty())
      rewriter.eraseOp(body->getTerminator());
    b.setInsertionPointToStart(body);
    std::optional<int64_t> count = getConstantIntValue(trips);
    if (heavy || !count || *count > kUnpolledTrips)
      poll(made.getInductionVar());
    SmallVector<Value> args{made.getInductionVar()};
    args.push_back(conditionCarried ? Value(made.getRegionIterArgs().front())
                                    : always);
    llvm::append_range(args,
                       made.getRegionIterArgs().drop_front(conditionCarried));
    YieldOp yield = loop.getYield();
    rewriter.mergeBlocks(loop.getLoopBody(), body, args);
    b.setInsertionPoint(yield);
    scf::YieldOp::create(
        b, withCondition(yield.getCondition(), yield.getCarried()));
    rewriter.eraseOp(yield);
    rewriter.replaceOp(loop, made.getResults().drop_front(conditionCarried));
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
  bool heavy = false, conditionCarried = false;
};

struct ConvertLoopToSCF : loopc::impl::ConvertLoopToSCFBase<ConvertLoopToSCF> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    // Outer loops first: a check belongs to the innermost loop around it, and
    // whether a body is heavy is asked while its loops are still there.
    SmallVector<LoopOp> loops;
    getOperation().walk<WalkOrder::PreOrder>(
        [&](LoopOp loop) { loops.push_back(loop); });
    for (LoopOp loop : loops)
      if (failed(LoopConversion(rewriter, loop).run()))
        return signalPassFailure();
  }
};
} // namespace
