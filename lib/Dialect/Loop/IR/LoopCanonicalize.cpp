//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Canonicalisations of loop.loop: its ports and its condition. Those that look
// at the number of trips are in LoopCanonicalizeTrips.cpp, those that look at
// types in LoopCanonicalizeTypes.cpp.
//
// A port that nobody reads goes, and with it the run-time errors that only it
// could have given (loop_slice, loop_collect_shape, loop_collect_length).
//
// The driver visits a loop with each change in its body. What has to go through
// all that a loop yields is therefore no pattern: ports that are equal become
// one in loopc-eliminate-common.

#include "loopc/Dialect/Loop/IR/Loop.h"
#include "loopc/Dialect/Loop/IR/LoopRewrite.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace loopc::loop;

namespace {

//===----------------------------------------------------------------------===//
// Dead ports
//===----------------------------------------------------------------------===//

/// What of a loop's body and ports is needed: an operation with effects, a
/// result that is used, the condition that is tested, and from there on
/// backwards, through the yield to the carried values.
class LoopLiveness {
public:
  explicit LoopLiveness(LoopOp loop)
      : loop(loop), body(loop.getLoopBody()), yield(loop.getYield()),
        kept(loop) {
    kept.carried.reset();
    kept.slices.reset();
    kept.collected.reset();
    // Even where it is ignored the condition is computed; another pattern makes
    // it a constant then.
    markValue(yield.getCondition());
    for (auto [k, result] : llvm::enumerate(loop.getCarriedResults()))
      if (!result.use_empty())
        markCarried(k);
    for (auto [k, result] : llvm::enumerate(loop.getCollectedResults()))
      if (!result.use_empty()) {
        kept.collected.set(k);
        markValue(yield.getCollected()[k]);
      }
    for (Operation &op : body->without_terminator())
      if (!wouldOpBeTriviallyDead(&op))
        markOp(&op);
    while (!worklist.empty())
      visit(worklist.pop_back_val());
  }

  const KeptPorts &getKept() const { return kept; }

  SmallVector<Operation *> getDeadOps() const {
    SmallVector<Operation *> dead;
    for (Operation &op : body->without_terminator())
      if (!live.contains(&op))
        dead.push_back(&op);
    return dead;
  }

private:
  void markOp(Operation *op) {
    if (live.insert(op).second)
      worklist.push_back(op);
  }
  void markCarried(unsigned k) {
    if (kept.carried.test(k))
      return;
    kept.carried.set(k);
    markValue(yield.getCarried()[k]);
  }
  void markValue(Value value) {
    if (Operation *op = value.getDefiningOp()) {
      if (Operation *inBody = body->findAncestorOpInBlock(*op))
        markOp(inBody);
      return;
    }
    auto arg = cast<BlockArgument>(value);
    if (arg.getOwner() != body)
      return;
    unsigned k = arg.getArgNumber(), carried = loop.getNumCarried();
    if (k >= 2 + carried)
      kept.slices.set(k - 2 - carried);
    else if (k >= 2)
      markCarried(k - 2);
  }
  /// All that `op` and the operations in it use.
  void visit(Operation *op) {
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        markValue(operand);
    });
  }

  LoopOp loop;
  Block *body;
  YieldOp yield;
  KeptPorts kept;
  llvm::SmallPtrSet<Operation *, 32> live;
  SmallVector<Operation *> worklist;
};

/// Finds quickly that every port is needed, as is usual: what is computed from
/// each is followed until it comes to something that is needed, which is mostly
/// on the way of another port as well. The driver visits a loop as often as
/// anything in its body changes, far too often to go through the body.
class QuickLiveness {
public:
  explicit QuickLiveness(LoopOp loop)
      : loop(loop), body(loop.getLoopBody()), yield(loop.getYield()) {}

  /// False where a port is not needed, or where that is not easily seen.
  bool allNeeded() {
    for (Value result : loop.getCollectedResults())
      if (result.use_empty())
        return false;
    return llvm::all_of(body->getArguments().drop_front(2),
                        [&](BlockArgument arg) { return isNeeded(arg); });
  }

private:
  /// A value or port on the way, and the step that led to it.
  struct Step {
    Value value;
    size_t from;
  };
  static constexpr size_t kFirst = SIZE_MAX;

  bool isNeeded(BlockArgument port) {
    if (needed.contains(port) || isResultUsed(port))
      return true;
    SmallVector<Step> steps{{port, kFirst}};
    SmallVector<size_t> open{0};
    while (!open.empty()) {
      size_t k = open.pop_back_val();
      for (OpOperand &use : steps[k].value.getUses())
        if (follow(use, k, steps, open)) {
          for (; k != kFirst; k = steps[k].from)
            needed.insert(steps[k].value);
          return true;
        }
    }
    return false;
  }

  /// True if `use` makes what is used needed; adds where it leads to.
  bool follow(OpOperand &use, size_t from, SmallVectorImpl<Step> &steps,
              SmallVectorImpl<size_t> &open) {
    auto add = [&](Value value) {
      if (needed.contains(value))
        return true;
      if (seen.insert(value).second) {
        open.push_back(steps.size());
        steps.push_back({value, from});
      }
      return false;
    };
    if (use.getOwner() == yield) {
      // An empty range has no first operand.
      if (loop.getNumCarried() == 0)
        return true;
      unsigned first = yield.getCarried().getBeginOperandIndex();
      unsigned k = use.getOperandNumber() - first;
      if (use.getOperandNumber() < first || k >= loop.getNumCarried())
        return true;
      BlockArgument port = loop.getCarriedArgs()[k];
      return isResultUsed(port) || add(port);
    }
    Operation *op = body->findAncestorOpInBlock(*use.getOwner());
    // Effects take long to ask for, and results mostly lead somewhere.
    if (!op || op->getNumResults() == 0)
      return !op || !wouldOpBeTriviallyDead(op);
    return llvm::any_of(op->getResults(), add);
  }

  bool isResultUsed(BlockArgument port) {
    unsigned k = port.getArgNumber() - 2;
    return k < loop.getNumCarried() && !loop.getCarriedResults()[k].use_empty();
  }

  LoopOp loop;
  Block *body;
  YieldOp yield;
  llvm::SmallPtrSet<Value, 32> needed, seen;
};

/// A carried value of which nothing comes, a collected value and a slice that
/// nobody reads go:
///
///   loop.loop ... carried(%x = %x0 : f32) { ... carried(%x1) }   // unused
///   ->
///   loop.loop ... { ... }
struct DropDeadPorts : OpRewritePattern<LoopOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(LoopOp op,
                                PatternRewriter &rewriter) const override {
    if (QuickLiveness(op).allNeeded())
      return failure();
    LoopLiveness liveness(op);
    if (liveness.getKept().all())
      return failure();
    rebuildLoop(rewriter, op, liveness.getKept(), liveness.getDeadOps());
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Carried values that are not carried
//===----------------------------------------------------------------------===//

/// A carried value that is its init in every iteration becomes a capture
/// (loop_capture):
///
///   loop.loop ... carried(%x = %x0 : T) { ... loop.yield carried(%x : T) }
///   ->
///   loop.loop ... { ... %x0 for %x ... }             // and %x0 for the result
///
/// Several may do so together, as two that are swapped and begin alike.
struct CaptureInvariants : OpRewritePattern<LoopOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(LoopOp op,
                                PatternRewriter &rewriter) const override {
    unsigned n = op.getNumCarried();
    YieldOp yield = op.getYield();
    llvm::BitVector invariant(n, true);
    // What is yielded, if all that is thought invariant so far is.
    auto yieldsInit = [&](unsigned k) {
      Value value = yield.getCarried()[k], init = op.getInits()[k];
      if (auto arg = dyn_cast<BlockArgument>(value);
          arg && arg.getOwner() == op.getLoopBody()) {
        unsigned j = arg.getArgNumber() - 2;
        return arg.getArgNumber() >= 2 && j < n && invariant[j] &&
               sameConstant(op.getInits()[j], init);
      }
      return sameConstant(value, init);
    };
    for (bool changed = true; std::exchange(changed, false);)
      for (unsigned k = 0; k < n; ++k)
        if (invariant[k] && !yieldsInit(k)) {
          invariant.reset(k);
          changed = true;
        }
    if (invariant.none())
      return failure();
    KeptPorts kept(op);
    kept.carried.reset(invariant);
    for (unsigned k : invariant.set_bits()) {
      rewriter.replaceAllUsesWith(op.getCarriedArgs()[k], op.getInits()[k]);
      rewriter.replaceAllUsesWith(op.getResult(k), op.getInits()[k]);
    }
    rebuildLoop(rewriter, op, kept);
    return success();
  }

  /// One value, or two constants that are the same.
  static bool sameConstant(Value a, Value b) {
    if (a == b)
      return true;
    Attribute left, right;
    return a.getType() == b.getType() && matchPattern(a, m_Constant(&left)) &&
           matchPattern(b, m_Constant(&right)) && left == right;
  }
};

//===----------------------------------------------------------------------===//
// The condition
//===----------------------------------------------------------------------===//

static bool isTrue(Value value) {
  std::optional<APInt> constant = getConstantInteger(value);
  return constant && !constant->isZero();
}

/// The condition's argument, where it is true in every iteration:
/// - a condition is given: it held before every iteration (loop_test), and so
///   did the one given before the first;
/// - none is given: the argument is true, later the last yielded (loop_cond),
///   and what is yielded is true, or the argument.
struct ConditionArgIsTrue : OpRewritePattern<LoopOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(LoopOp op,
                                PatternRewriter &rewriter) const override {
    BlockArgument arg = op.getConditionArg();
    Value given = op.getCondition(), yielded = op.getYield().getCondition();
    auto inBody = [&](OpOperand &use) {
      return op.getBody().isAncestor(use.getOwner()->getParentRegion());
    };
    bool argIsTrue = given || yielded == arg || isTrue(yielded);
    bool replaceArg = argIsTrue && !arg.use_empty();
    bool replaceGiven =
        given && !isTrue(given) && llvm::any_of(given.getUses(), inBody);
    if (!replaceArg && !replaceGiven)
      return failure();
    rewriter.setInsertionPointToStart(op.getLoopBody());
    bool changed = false;
    if (replaceArg)
      if (Value yes =
              createIntegerConstant(rewriter, op.getLoc(), arg.getType(), 1)) {
        rewriter.replaceAllUsesWith(arg, yes);
        changed = true;
      }
    if (replaceGiven)
      if (Value yes = createIntegerConstant(rewriter, op.getLoc(),
                                            given.getType(), 1)) {
        rewriter.replaceUsesWithIf(given, yes, inBody);
        changed = true;
      }
    return success(changed);
  }
};

/// A condition that is computed and ignored (loop_cond_ignored) is not
/// computed:
///
///   loop.loop (%i : i64, %c : i1) trips(%m : i64) { ... while(%go : i1) }
///   ->
///   loop.loop (%i : i64, %c : i1) trips(%m : i64) { ... while(%true : i1) }
struct IgnoredCondition : OpRewritePattern<LoopOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(LoopOp op,
                                PatternRewriter &rewriter) const override {
    YieldOp yield = op.getYield();
    if (op.getCondition() || !op.getConditionArg().use_empty() ||
        isTrue(yield.getCondition()))
      return failure();
    rewriter.setInsertionPoint(yield);
    Value yes = createIntegerConstant(rewriter, yield.getLoc(),
                                      yield.getCondition().getType(), 1);
    if (!yes)
      return failure();
    rewriter.modifyOpInPlace(
        yield, [&]() { yield.getConditionMutable().assign(yes); });
    return success();
  }
};

/// A condition that can fail before the first iteration only:
///
///   loop.loop ... trips(%m : i64) while(%true : i1) { ... while(%true : i1) }
///   ->
///   loop.loop ... trips(%m : i64) { ... while(%true : i1) }
///
/// and, where it is not known before the loop, into the trip count:
///
///   loop.loop ... trips(%m : i64) while(%c : i1) { ... while(%true : i1) }
///   ->
///   %n = arith.select %c, %m, %zero : i64
///   loop.loop ... trips(%n : i64) { ... while(%true : i1) }
///
/// Without a trip count the second stays: the loop ends at once or never.
struct DropTrueCondition : OpRewritePattern<LoopOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(LoopOp op,
                                PatternRewriter &rewriter) const override {
    Value given = op.getCondition(), trips = op.getTripCount();
    if (!given || !isTrue(op.getYield().getCondition()))
      return failure();
    if (!isTrue(given)) {
      if (!trips)
        return failure();
      auto tensor = dyn_cast<RankedTensorType>(trips.getType());
      Type conditionType = rewriter.getI1Type();
      if (tensor)
        conditionType = tensor.clone(conditionType);
      if (given.getType() != conditionType)
        return failure();
      Value zero =
          createIntegerConstant(rewriter, op.getLoc(), trips.getType(), 0);
      if (!zero)
        return failure();
      trips =
          arith::SelectOp::create(rewriter, op.getLoc(), given, trips, zero);
    }
    rewriter.modifyOpInPlace(op, [&]() {
      op.getConditionMutable().clear();
      if (trips)
        op.getTripCountMutable().assign(trips);
    });
    return success();
  }
};
} // namespace

void LoopOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                         MLIRContext *context) {
  patterns.add<DropDeadPorts, CaptureInvariants, ConditionArgIsTrue,
               IgnoredCondition, DropTrueCondition>(context);
  populateTripPatterns(patterns);
  populateTypePatterns(patterns);
  populateSlicePatterns(patterns);
  // Loops become scf's.
  populateSuccessorInputPatterns(patterns);
  populateBranchConditionPatterns(patterns);
}
