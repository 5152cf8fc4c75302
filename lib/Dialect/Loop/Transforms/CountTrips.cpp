//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// loop-count-trips: a loop whose condition compares a number that grows or
// shrinks by a constant with one that does not change gets a trip count, and
// loses the condition.
//
// A condition that an iteration yields is tested before the next one. With f
// the number of iterations, from the first on, that yield true, the loop runs
// 1 + f times if the first condition holds, and the trip count at most. Numbers
// wrap around as in the model; f is exact up to the largest number of 64 bits,
// which no loop reaches.

#include "loopc/Dialect/Loop/Transforms/Passes.h"
#include "loopc/Dialect/Loop/Transforms/Utils.h"
#include "loopc/Support/Remarks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace loopc {
#define GEN_PASS_DEF_LOOPCOUNTTRIPS
#include "loopc/Dialect/Loop/Transforms/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;
using namespace loopc::loop;

using Predicate = arith::CmpIPredicate;

/// `predicate` with its operands exchanged.
static Predicate swapSides(Predicate predicate) {
  switch (predicate) {
  case Predicate::slt:
    return Predicate::sgt;
  case Predicate::sle:
    return Predicate::sge;
  case Predicate::sgt:
    return Predicate::slt;
  case Predicate::sge:
    return Predicate::sle;
  case Predicate::ult:
    return Predicate::ugt;
  case Predicate::ule:
    return Predicate::uge;
  case Predicate::ugt:
    return Predicate::ult;
  case Predicate::uge:
    return Predicate::ule;
  default:
    return predicate;
  }
}

static bool isUnsigned(Predicate predicate) {
  return predicate == Predicate::ult || predicate == Predicate::ule ||
         predicate == Predicate::ugt || predicate == Predicate::uge;
}

namespace {
/// A number of the body: in iteration i it is the sum of `terms`, values from
/// outside, and of offset + step * i, all modulo its width.
struct Progression {
  llvm::MapVector<Value, uint64_t> terms; ///< how often each is in it
  uint64_t offset = 0;
  uint64_t step = 0;
  /// How often the argument is in it that is being followed.
  uint64_t starts = 0;
};

class TripCounter {
public:
  TripCounter(IRRewriter &rewriter, LoopOp loop)
      : b(loop.getLoc(), rewriter), loop(loop) {}

  /// Why the loop keeps its condition; "" where it is gone.
  std::string run();

private:
  SmallVector<Operation *> sumsOf(Value value);
  std::optional<Progression> follow(Value value, BlockArgument start = {});
  bool addTerm(Progression &sum, Value part, uint64_t times,
               BlockArgument start);
  /// A condition, and 1 where its negation is asked for.
  using Test = std::pair<Value, unsigned>;
  bool canCount(Value condition, bool negated);
  bool canCountAnew(Value condition, bool negated);
  bool canCount(arith::CmpIOp test, bool negated);
  Value count(Value condition, bool negated);
  Value countAnew(Value condition, bool negated);
  Value count(arith::CmpIOp test, bool negated);
  Value countUp(Predicate predicate, Value first, Value bound, uint64_t step,
                unsigned width);
  bool isOutside(Value value) { return loop.isDefinedOutsideOfLoop(value); }
  /// The sides of a test, the one that varies first.
  std::optional<std::pair<Progression, Value>> sidesOf(arith::CmpIOp test,
                                                       Predicate &predicate);

  Value number(int64_t value) {
    return arith::ConstantIntOp::create(b, b.getI64Type(), value);
  }
  Value select(Value condition, Value one, Value other) {
    return b.createOrFold<arith::SelectOp>(condition, one, other);
  }
  Value never() { return number(std::numeric_limits<int64_t>::max()); }

  ImplicitLocOpBuilder b;
  LoopOp loop;
  /// What was found out: conditions may be parts of several others.
  llvm::DenseMap<Test, bool> countable;
  llvm::DenseMap<Test, Value> counts;
};
} // namespace

//===----------------------------------------------------------------------===//
// What can be counted
//===----------------------------------------------------------------------===//

/// The sums and differences that `value`, a number of the body, is made of, in
/// the order of the body.
SmallVector<Operation *> TripCounter::sumsOf(Value value) {
  llvm::SetVector<Operation *> sums;
  auto add = [&](Value each) {
    Operation *op = isOutside(each) ? nullptr : each.getDefiningOp();
    if (isa_and_nonnull<arith::AddIOp, arith::SubIOp>(op))
      sums.insert(op);
  };
  add(value);
  for (unsigned k = 0; k < sums.size(); ++k)
    llvm::for_each(sums[k]->getOperands(), add);
  SmallVector<Operation *> ordered = sums.takeVector();
  llvm::sort(ordered,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return ordered;
}

/// `value` as a progression; null where it is none. With `start`, in terms of
/// that argument, whose own progression is what is looked for.
///
/// How often each number is in the sum is known when all sums that it is in
/// have been looked at: each is looked at once, from the last one on.
std::optional<Progression> TripCounter::follow(Value value,
                                               BlockArgument start) {
  struct Share {
    uint64_t times = 0;
    bool isSubtracted = false;
  };
  llvm::MapVector<Value, Share> shares;
  shares[value] = {1, false};
  SmallVector<Operation *> sums = sumsOf(value);
  for (Operation *op : llvm::reverse(sums)) {
    Share whole = shares.lookup(op->getResult(0));
    for (unsigned k : {0, 1}) {
      bool isSubtracted = k == 1 && isa<arith::SubIOp>(op);
      Share &share = shares[op->getOperand(k)];
      share.times += isSubtracted ? -whole.times : whole.times;
      share.isSubtracted |= isSubtracted || whole.isSubtracted;
    }
  }
  Progression found;
  for (auto [part, share] : shares) {
    if (std::optional<APInt> constant = getConstantInteger(part)) {
      found.offset +=
          share.times * static_cast<uint64_t>(constant->getSExtValue());
    } else if (start && part == start) {
      found.starts += share.times;
    } else if (part == loop.getCounter()) {
      found.step += share.times;
    } else if (!isOutside(part) &&
               isa_and_nonnull<arith::AddIOp, arith::SubIOp>(
                   part.getDefiningOp())) {
      continue;
    } else if (share.isSubtracted ||
               !addTerm(found, part, share.times, start)) {
      // Terms are added only.
      return std::nullopt;
    }
  }
  return found;
}

/// Adds `times` times `part`, a value from outside or a carried value, to
/// `sum`; false where that is no progression.
bool TripCounter::addTerm(Progression &sum, Value part, uint64_t times,
                          BlockArgument start) {
  if (isOutside(part)) {
    sum.terms[part] += times;
    return true;
  }
  auto arg = dyn_cast<BlockArgument>(part);
  if (start || !arg || !llvm::is_contained(loop.getCarriedArgs(), arg))
    return false;
  unsigned port = arg.getArgNumber() - 2;
  std::optional<Progression> next =
      follow(loop.getYield().getCarried()[port], arg);
  // One step is the same in every iteration.
  if (!next || next->starts != 1 || !next->terms.empty() || next->step != 0)
    return false;
  sum.terms[loop.getInits()[port]] += times;
  sum.step += times * next->offset;
  return true;
}

/// `step` as a number of `width` bits with a sign.
static int64_t signedStep(uint64_t step, unsigned width) {
  return llvm::SignExtend64(step, width);
}

static unsigned widthOf(Value value) {
  return value.getType().isIndex() ? 64
                                   : value.getType().getIntOrFloatBitWidth();
}

std::optional<std::pair<Progression, Value>>
TripCounter::sidesOf(arith::CmpIOp test, Predicate &predicate) {
  predicate = test.getPredicate();
  for (bool swapped : {false, true}) {
    Value varying = test->getOperand(swapped ? 1 : 0);
    Value bound = test->getOperand(swapped ? 0 : 1);
    if (isOutside(varying) || !isOutside(bound))
      continue;
    std::optional<Progression> found = follow(varying);
    if (!found)
      return std::nullopt;
    if (swapped)
      predicate = swapSides(predicate);
    return std::pair(*found, bound);
  }
  return std::nullopt;
}

bool TripCounter::canCount(arith::CmpIOp test, bool negated) {
  Predicate predicate;
  auto sides = sidesOf(test, predicate);
  unsigned width = widthOf(test.getLhs());
  if (!sides || width < 8 || width > 64)
    return false;
  if (negated)
    predicate = arith::invertPredicate(predicate);
  int64_t step = signedStep(sides->first.step, width);
  if (step == 1 || step == -1)
    return true;
  if (step == 0 || step == std::numeric_limits<int64_t>::min())
    return false;
  if (predicate == Predicate::eq)
    return true;
  // Further steps may jump over the end of the numbers, and begin anew.
  std::optional<APInt> bound = getConstantInteger(sides->second);
  if (!bound || predicate == Predicate::ne)
    return false;
  APInt end = bound->sextOrTrunc(width);
  if (step < 0) {
    end.flipAllBits();
    predicate = swapSides(predicate);
    step = -step;
  }
  bool isUpward = predicate == Predicate::slt || predicate == Predicate::sle ||
                  predicate == Predicate::ult || predicate == Predicate::ule;
  APInt most = isUnsigned(predicate) ? APInt::getMaxValue(width)
                                     : APInt::getSignedMaxValue(width);
  APInt room = most - end;
  return isUpward && room.uge(static_cast<uint64_t>(step));
}

bool TripCounter::canCount(Value condition, bool negated) {
  if (auto known = countable.find({condition, negated});
      known != countable.end())
    return known->second;
  bool can = canCountAnew(condition, negated);
  countable[{condition, negated}] = can;
  return can;
}

bool TripCounter::canCountAnew(Value condition, bool negated) {
  if (getConstantInteger(condition) || isOutside(condition))
    return true;
  Operation *op = condition.getDefiningOp();
  if (!op)
    return false;
  if (auto test = dyn_cast<arith::CmpIOp>(op))
    return canCount(test, negated);
  if (auto flip = dyn_cast<arith::XOrIOp>(op)) {
    std::optional<APInt> constant = getConstantInteger(flip.getRhs());
    return constant && canCount(flip.getLhs(), negated != !constant->isZero());
  }
  // Both hold, or, negated, neither of them: the first that fails ends it.
  if (negated ? isa<arith::OrIOp>(op) : isa<arith::AndIOp>(op))
    return canCount(op->getOperand(0), negated) &&
           canCount(op->getOperand(1), negated);
  return false;
}

//===----------------------------------------------------------------------===//
// The count
//===----------------------------------------------------------------------===//

/// The number of i, from 0 on, for which first + step * i compares so with
/// `bound`, up to the first one for which it does not.
Value TripCounter::countUp(Predicate predicate, Value first, Value bound,
                           uint64_t step, unsigned width) {
  bool wide = width == 64;
  auto constant = [&](const APInt &value) {
    return arith::ConstantOp::create(
        b, b.getIntegerAttr(b.getIntegerType(width), value));
  };
  auto widen = [&](Value value) -> Value {
    return wide ? value : arith::ExtUIOp::create(b, b.getI64Type(), value);
  };
  Value zero = number(0), most = never();
  // All differences are those of numbers without a sign: of the larger and the
  // smaller they are exact.
  auto difference = [&](Value larger, Value smaller) {
    return widen(b.createOrFold<arith::SubIOp>(larger, smaller));
  };
  auto atMost = [&](Value value) {
    return b.createOrFold<arith::MinUIOp>(value, most);
  };
  auto steps = [&](Value distance) {
    if (step == 1)
      return distance;
    return Value(arith::CeilDivUIOp::create(b, distance, number(step)));
  };
  auto oneMore = [&](Value value) {
    Value limited = b.createOrFold<arith::MinUIOp>(
        value, number(std::numeric_limits<int64_t>::max() - 1));
    return b.createOrFold<arith::AddIOp>(limited, number(1));
  };
  Value holds = b.createOrFold<arith::CmpIOp>(predicate, first, bound);
  APInt last = isUnsigned(predicate) ? APInt::getMaxValue(width)
                                     : APInt::getSignedMaxValue(width);
  APInt lowest = isUnsigned(predicate) ? APInt::getMinValue(width)
                                       : APInt::getSignedMinValue(width);
  auto isConstant = [&](const APInt &value) {
    return b.createOrFold<arith::CmpIOp>(Predicate::eq, bound, constant(value));
  };
  switch (predicate) {
  case Predicate::eq:
    return select(holds, number(1), zero);
  case Predicate::ne:
    return atMost(difference(bound, first));
  case Predicate::slt:
  case Predicate::ult:
    return select(holds, atMost(steps(difference(bound, first))), zero);
  case Predicate::sle:
  case Predicate::ule: {
    Value distance = difference(bound, first);
    if (step != 1)
      distance = arith::DivUIOp::create(b, distance, number(step));
    // All numbers are at most the largest one.
    return select(isConstant(last), most,
                  select(holds, oneMore(distance), zero));
  }
  case Predicate::sgt:
  case Predicate::ugt:
  case Predicate::sge:
  case Predicate::uge: {
    // Up to the largest number, behind which comes the smallest.
    Value distance = difference(constant(last), first);
    Value upToEnd = select(holds, oneMore(distance), zero);
    bool orEqual = predicate == Predicate::sge || predicate == Predicate::uge;
    return orEqual ? select(isConstant(lowest), most, upToEnd) : upToEnd;
  }
  }
  llvm_unreachable("all predicates are there");
}

Value TripCounter::count(arith::CmpIOp test, bool negated) {
  Predicate predicate;
  auto [found, bound] = *sidesOf(test, predicate);
  if (negated)
    predicate = arith::invertPredicate(predicate);
  unsigned width = widthOf(bound);
  Type type = b.getIntegerType(width);
  auto toInteger = [&](Value value) {
    return value.getType().isIndex()
               ? b.createOrFold<arith::IndexCastOp>(type, value)
               : value;
  };
  Value first = arith::ConstantOp::create(
      b, b.getIntegerAttr(type, APInt(width, found.offset, /*isSigned=*/false,
                                      /*implicitTrunc=*/true)));
  for (auto [value, times] : found.terms) {
    Value term = toInteger(value);
    if (times != 1)
      term = b.createOrFold<arith::MulIOp>(
          term,
          arith::ConstantOp::create(
              b, b.getIntegerAttr(type, APInt(width, times, /*isSigned=*/false,
                                              /*implicitTrunc=*/true))));
    first = b.createOrFold<arith::AddIOp>(term, first);
  }
  bound = toInteger(bound);
  int64_t step = signedStep(found.step, width);
  if (step < 0) {
    // ~x grows where x shrinks, and is the larger the smaller x is.
    Value ones = arith::ConstantOp::create(
        b, b.getIntegerAttr(type, APInt::getAllOnes(width)));
    first = b.createOrFold<arith::XOrIOp>(first, ones);
    bound = b.createOrFold<arith::XOrIOp>(bound, ones);
    predicate = swapSides(predicate);
    step = -step;
  }
  return countUp(predicate, first, bound, step, width);
}

Value TripCounter::count(Value condition, bool negated) {
  if (Value known = counts.lookup({condition, negated}))
    return known;
  Value counted = countAnew(condition, negated);
  counts[{condition, negated}] = counted;
  return counted;
}

Value TripCounter::countAnew(Value condition, bool negated) {
  if (getConstantInteger(condition) || isOutside(condition)) {
    // The same in all iterations.
    Value ends = negated ? never() : number(0);
    Value goesOn = negated ? number(0) : never();
    return select(condition, goesOn, ends);
  }
  Operation *op = condition.getDefiningOp();
  if (auto test = dyn_cast<arith::CmpIOp>(op))
    return count(test, negated);
  if (auto flip = dyn_cast<arith::XOrIOp>(op))
    return count(flip.getLhs(),
                 negated != !getConstantInteger(flip.getRhs())->isZero());
  Value one = count(op->getOperand(0), negated);
  Value other = count(op->getOperand(1), negated);
  return b.createOrFold<arith::MinSIOp>(one, other);
}

//===----------------------------------------------------------------------===//
// The loop
//===----------------------------------------------------------------------===//

std::string TripCounter::run() {
  Value given = loop.getTripCount();
  Type counter = loop.getCounter().getType();
  if (!counter.isInteger(64) || (given && given.getType() != counter) ||
      !loop.getCondition().getType().isInteger(1) ||
      !loop.getConditionArg().getType().isInteger(1))
    return "its iterations are not counted in 64 bits";
  Value condition = loop.getYield().getCondition();
  if (!canCount(condition, /*negated=*/false))
    return "its condition depends on what it computes";
  // A trip count or a condition that is always true is no reason for a count.
  std::optional<APInt> constant = getConstantInteger(condition);
  bool isAlways = constant && !constant->isZero();
  if (isAlways && !given)
    return "its condition never ends it";
  // loop_slice: a reversed slice is read from the given trip count on, or else
  // from the extent, wherever the condition ends the loop.
  if (!isAlways && llvm::is_contained(loop.getSliceReverse(), true))
    return "its trip count says where a reversed slice begins";
  b.setInsertionPoint(loop);
  Value further = count(condition, /*negated=*/false);
  Value limited = b.createOrFold<arith::MinSIOp>(
      further, number(std::numeric_limits<int64_t>::max() - 1));
  Value trips = b.createOrFold<arith::AddIOp>(limited, number(1));
  if (given)
    trips = b.createOrFold<arith::MinSIOp>(trips, given);
  trips = select(loop.getCondition(), trips, number(0));
  loop.getTripCountMutable().assign(trips);
  loop.getConditionMutable().clear();
  Value always = arith::ConstantIntOp::create(b, b.getI1Type(), 1);
  // It is true where the body runs.
  loop.getConditionArg().replaceAllUsesWith(always);
  loop.getYield().getConditionMutable().assign(always);
  return "";
}

/// The length of what `loop` collects is its trip count.
static void replaceLengths(IRRewriter &rewriter, LoopOp loop) {
  Value trips = loop.getTripCount();
  if (!trips || loop.getCondition() || isa<TensorType>(trips.getType()))
    return;
  for (auto [k, result] : llvm::enumerate(loop.getCollectedResults())) {
    if (loop.getLengthOf(k) || !isa<RankedTensorType>(result.getType()))
      continue;
    for (Operation *user : llvm::make_early_inc_range(result.getUsers())) {
      auto dim = dyn_cast<tensor::DimOp>(user);
      if (!dim || dim.getConstantIndex() != loop.getCollectAxes()[k])
        continue;
      rewriter.setInsertionPoint(loop);
      rewriter.replaceOp(dim, tripsAsIndex(rewriter, loop.getLoc(), trips));
    }
  }
}

namespace {
struct LoopCountTrips : loopc::impl::LoopCountTripsBase<LoopCountTrips> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<LoopOp> loops;
    // In order: how long a collected value is may be a bound behind it.
    getOperation().walk<WalkOrder::PreOrder>(
        [&](LoopOp loop) { loops.push_back(loop); });
    if (loops.empty())
      return markAllAnalysesPreserved();
    for (LoopOp loop : loops) {
      countTrips(rewriter, loop);
      replaceLengths(rewriter, loop);
    }
  }

  void countTrips(IRRewriter &rewriter, LoopOp loop) {
    if (!loop.getCondition())
      return;
    // Bounds that are computed in the body from what is outside.
    hoistInvariants(loop);
    std::string why = TripCounter(rewriter, loop).run();
    if (!why.empty())
      return remarkMissed(loop.getLoc(), "CountTrips",
                          "its iterations are not counted: " + why);
    remarkDone(loop.getLoc(), "CountTrips",
               "its condition is that of a count: the number of iterations is "
               "known when it begins");
    ++numCounted;
  }
};
} // namespace
