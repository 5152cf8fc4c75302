//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// loop-hoist-checks: that the number of the iteration, or one at a known
// distance from it, is a valid index is checked once for all iterations.

#include "loopc/Dialect/Loop/Transforms/Passes.h"
#include "loopc/Dialect/Loop/Transforms/Speculation.h"
#include "loopc/Dialect/Loop/Transforms/Utils.h"
#include "loopc/Dialect/Loopc/IR/Loopc.h"
#include "loopc/Support/IndexCasts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace loopc {
#define GEN_PASS_DEF_LOOPHOISTCHECKS
#include "loopc/Dialect/Loop/Transforms/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;
using namespace loopc::loop;
using arith::CmpIPredicate;

namespace {
/// `factor` times the number of the iteration, and what is added to it.
struct Linear {
  /// 1 or -1.
  int factor = 1;
  int64_t constant = 0;
  /// Values from outside of the loop that are added, or else subtracted.
  SmallVector<std::pair<Value, bool>> terms;

  bool isNumber() const {
    return factor == 1 && constant == 0 && terms.empty();
  }
};

/// `check`, which holds up to an iteration: while an index is below an extent,
/// or in none or all where its condition does not change.
struct Bound {
  CheckOp check;
  /// The comparison with the extent; null where the condition does not change.
  arith::CmpIOp compare;
  Linear index;
  /// Indices below 0 count from the end.
  bool wraps = false;
  /// The first iteration in which it does not hold.
  Value firstFailing;
};

class CheckHoisting {
public:
  CheckHoisting(IRRewriter &rewriter, LoopOp loop)
      : rewriter(rewriter), b(loop.getLoc(), rewriter), loop(loop) {}

  /// Returns the number of checks that were moved before the loop.
  unsigned run();

private:
  std::optional<Linear> linearOf(Value value);
  bool isNumber(Value value);
  bool isNeverNegative(Value value);
  bool canBeComputedBefore(Value value);
  Value computeBefore(Value value, Value iteration, IRMapping &known);
  void foldSigns();
  std::optional<Bound> boundOf(CheckOp check);
  Value firstFailing(Bound &bound);
  void hoist(Bound &bound, MutableArrayRef<Bound> later, Value trips);
  void foldClamps(Bound &bound);

  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }
  Value asIndex(Value value) {
    return value.getType().isIndex()
               ? value
               : b.createOrFold<arith::IndexCastOp>(b.getIndexType(), value);
  }

  IRRewriter &rewriter;
  ImplicitLocOpBuilder b;
  LoopOp loop;
  /// What `canBeComputedBefore` has said of operations in the body.
  DenseMap<Operation *, bool> computable;
};
} // namespace

/// `value` as a linear function of the number of the iteration, computed with
/// 64 bits.
std::optional<Linear> CheckHoisting::linearOf(Value value) {
  if (value == loop.getCounter())
    return Linear();
  Operation *made = value.getDefiningOp();
  if (!made || made->getBlock() != loop.getLoopBody() ||
      !isWideInteger(value.getType()))
    return std::nullopt;
  if (auto cast = dyn_cast<arith::IndexCastOp>(made))
    return linearOf(cast.getIn());
  if (!isa<arith::AddIOp, arith::SubIOp>(made))
    return std::nullopt;
  bool subtracts = isa<arith::SubIOp>(made);
  Value term = made->getOperand(1), rest = made->getOperand(0);
  bool isReversed = loop.isDefinedOutsideOfLoop(rest);
  if (isReversed)
    std::swap(term, rest);
  std::optional<Linear> linear = linearOf(rest);
  if (!linear || !loop.isDefinedOutsideOfLoop(term))
    return std::nullopt;
  if (subtracts && isReversed) {
    linear->factor = -linear->factor;
    linear->constant = -linear->constant;
    for (auto &[_, isAdded] : linear->terms)
      isAdded = !isAdded;
  }
  bool isAdded = !subtracts || isReversed;
  if (std::optional<int64_t> constant = getConstantIntValue(term)) {
    // Extents and distances of them have no more bits.
    constexpr int64_t kMaxConstant = int64_t(1) << 48;
    if (*constant > kMaxConstant || *constant < -kMaxConstant ||
        llvm::AbsoluteValue(linear->constant) > kMaxConstant)
      return std::nullopt;
    linear->constant += isAdded ? *constant : -*constant;
  } else {
    linear->terms.push_back({term, isAdded});
  }
  return linear;
}

/// True for the number of the iteration.
bool CheckHoisting::isNumber(Value value) {
  std::optional<Linear> linear = linearOf(value);
  return linear && linear->isNumber();
}

/// True for extents, numbers of iterations, and sums of them: neither has so
/// many bits that a few of them wrap around.
static bool isCount(Value value, unsigned depth = 4) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return *constant >= 0;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<LoopOp>(argument.getOwner()->getParentOp());
    return loop && argument == loop.getCounter();
  }
  Operation *made = value.getDefiningOp();
  if (depth == 0 || !isWideInteger(value.getType()))
    return false;
  auto isOne = [&](Value operand) { return isCount(operand, depth - 1); };
  if (isa<arith::MaxSIOp>(made))
    return llvm::any_of(made->getOperands(), isOne);
  return isa<tensor::DimOp>(made) ||
         (isa<arith::AddIOp, arith::IndexCastOp, arith::MinSIOp>(made) &&
          llvm::all_of(made->getOperands(), isOne));
}

/// True for the number of the iteration, or more by what is never negative.
bool CheckHoisting::isNeverNegative(Value value) {
  std::optional<Linear> linear = linearOf(value);
  return linear && linear->factor == 1 && linear->constant >= 0 &&
         llvm::all_of(linear->terms, [](auto term) {
           return term.second && isCount(term.first);
         });
}

/// select(i < 0, i + n, i)  ->  i
void CheckHoisting::foldSigns() {
  for (auto compare :
       llvm::make_early_inc_range(loop.getLoopBody()->getOps<arith::CmpIOp>()))
    if (compare.getPredicate() == CmpIPredicate::slt &&
        isNeverNegative(compare.getLhs()) &&
        matchPattern(compare.getRhs(), m_Zero()))
      for (Operation *user : llvm::make_early_inc_range(compare->getUsers()))
        if (auto select = dyn_cast<arith::SelectOp>(user);
            select && select.getCondition() == compare.getResult())
          rewriter.replaceOp(select, select.getFalseValue());
}

/// True if `value` depends on nothing in the loop but the iteration's number,
/// and may be computed for an iteration that does not happen: that is what a
/// check's numbers are computed for where it holds.
bool CheckHoisting::canBeComputedBefore(Value value) {
  if (loop.isDefinedOutsideOfLoop(value) || value == loop.getCounter())
    return true;
  Operation *made = value.getDefiningOp();
  if (!made || made->getBlock() != loop.getLoopBody() ||
      made->getNumRegions() != 0)
    return false;
  auto [known, isNew] = computable.try_emplace(made, false);
  if (!isNew)
    return known->second;
  bool can = mayRunBeforeChecks(made) &&
             llvm::all_of(made->getOperands(), [&](Value operand) {
               return canBeComputedBefore(operand);
             });
  return computable[made] = can;
}

/// What `value` is in `iteration`.
Value CheckHoisting::computeBefore(Value value, Value iteration,
                                   IRMapping &known) {
  if (loop.isDefinedOutsideOfLoop(value))
    return value;
  if (value == loop.getCounter())
    return value.getType().isIndex()
               ? iteration
               : b.createOrFold<arith::IndexCastOp>(value.getType(), iteration);
  if (Value done = known.lookupOrNull(value))
    return done;
  Operation *made = value.getDefiningOp();
  SmallVector<Value> operands;
  for (Value operand : made->getOperands())
    operands.push_back(computeBefore(operand, iteration, known));
  Operation *copy = b.clone(*made);
  copy->setOperands(operands);
  SmallVector<Value> folded;
  if (succeeded(b.tryFold(copy, folded)) && !folded.empty()) {
    b.setInsertionPoint(loop);
    rewriter.replaceOp(copy, folded);
    known.map(made->getResults(), folded);
  } else {
    known.map(made->getResults(), copy->getResults());
  }
  return known.lookup(value);
}

std::optional<Bound> CheckHoisting::boundOf(CheckOp check) {
  Bound bound;
  bound.check = check;
  for (Value value : check.getValues())
    if (!canBeComputedBefore(value))
      return std::nullopt;
  if (Value iteration = check.getIteration();
      iteration && !canBeComputedBefore(iteration))
    return std::nullopt;
  if (loop.isDefinedOutsideOfLoop(check.getCondition()))
    return bound;
  auto compare = check.getCondition().getDefiningOp<arith::CmpIOp>();
  if (!compare || !loop.isDefinedOutsideOfLoop(compare.getRhs()) ||
      (compare.getPredicate() != CmpIPredicate::ult &&
       compare.getPredicate() != CmpIPredicate::slt))
    return std::nullopt;
  bound.compare = compare;
  Value extent = compare.getRhs(), index = compare.getLhs();
  if (auto select = index.getDefiningOp<arith::SelectOp>()) {
    index = select.getFalseValue();
    auto negative = select.getCondition().getDefiningOp<arith::CmpIOp>();
    auto fromEnd = select.getTrueValue().getDefiningOp<arith::AddIOp>();
    if (!negative || negative.getPredicate() != CmpIPredicate::slt ||
        negative.getLhs() != index ||
        !matchPattern(negative.getRhs(), m_Zero()) || !fromEnd ||
        fromEnd.getLhs() != index ||
        !isEqualConstantIntOrValue(fromEnd.getRhs(), extent))
      return std::nullopt;
    bound.wraps = true;
  }
  std::optional<Linear> linear = linearOf(index);
  if (!linear)
    return std::nullopt;
  bound.index = *linear;
  bool isOfExtents = isSizeOfExtents(asIndex(extent));
  bool isUnsigned = compare.getPredicate() == CmpIPredicate::ult;
  if (!bound.index.isNumber() && (!isUnsigned || !isOfExtents))
    return std::nullopt;
  return bound;
}

/// The first iteration in which the check does not hold:
///
///     i + c < n   n - c   where c is an index itself; else 0
///     c - i < n   c + 1 (c + n + 1 if c wraps around), likewise
Value CheckHoisting::firstFailing(Bound &bound) {
  if (!bound.compare)
    return b.createOrFold<arith::SelectOp>(
        bound.check.getCondition(), index(std::numeric_limits<int64_t>::max()),
        index(0));
  Value extent = asIndex(bound.compare.getRhs());
  if (bound.index.isNumber()) {
    // No iteration's number is below a negative one, but there may be none.
    bool isUnsigned = bound.compare.getPredicate() == CmpIPredicate::ult;
    return isUnsigned || isSizeOfExtents(extent)
               ? extent
               : b.createOrFold<arith::MaxSIOp>(extent, index(0));
  }
  Value first = index(bound.index.constant);
  for (auto [term, isAdded] : bound.index.terms)
    first = isAdded ? b.createOrFold<arith::AddIOp>(first, asIndex(term))
                    : b.createOrFold<arith::SubIOp>(first, asIndex(term));
  Value least =
      bound.wraps ? b.createOrFold<arith::SubIOp>(index(0), extent) : index(0);
  Value isIndex = b.createOrFold<arith::AndIOp>(
      b.createOrFold<arith::CmpIOp>(CmpIPredicate::sge, first, least),
      b.createOrFold<arith::CmpIOp>(CmpIPredicate::slt, first, extent));
  Value beyond =
      bound.index.factor == 1
          ? b.createOrFold<arith::SubIOp>(extent, first)
          : b.createOrFold<arith::AddIOp>(
                b.createOrFold<arith::SubIOp>(first, least), index(1));
  return b.createOrFold<arith::SelectOp>(isIndex, beyond, index(0));
}

/// Before the loop: `trips` does not exceed the first iteration that fails.
/// Where several checks fail it is the first that an iteration would have come
/// to (loop_order): what is checked earlier ends the run, and where one of the
/// `later` ones fails in an earlier iteration, this one holds.
void CheckHoisting::hoist(Bound &bound, MutableArrayRef<Bound> later,
                          Value trips) {
  Value holds;
  bool mayNotRun = getConstantIntValue(trips).value_or(0) <= 0;
  if (bound.compare) {
    // Unsigned extents need not be sizes.
    bool isUnsigned = bound.index.isNumber() &&
                      bound.compare.getPredicate() == CmpIPredicate::ult;
    holds = b.createOrFold<arith::CmpIOp>(isUnsigned ? CmpIPredicate::ule
                                                     : CmpIPredicate::sle,
                                          trips, bound.firstFailing);
    for (Bound &other : later)
      if (other.firstFailing != bound.firstFailing)
        holds = b.createOrFold<arith::OrIOp>(
            holds, b.createOrFold<arith::CmpIOp>(CmpIPredicate::ult,
                                                 other.firstFailing,
                                                 bound.firstFailing));
  } else {
    holds = bound.check.getCondition();
    if (mayNotRun)
      holds = b.createOrFold<arith::OrIOp>(
          holds,
          b.createOrFold<arith::CmpIOp>(CmpIPredicate::sle, trips, index(0)));
  }
  if (matchPattern(holds, m_One()))
    return;
  Value iteration = bound.compare ? bound.firstFailing : index(0);
  IRMapping known;
  SmallVector<Value> values;
  for (Value value : bound.check.getValues())
    values.push_back(computeBefore(value, iteration, known));
  Value given = bound.check.getIteration();
  CheckOp::create(
      b, holds, bound.check.getMessageAttr(), values,
      computeBefore(given ? given : loop.getCounter(), iteration, known),
      mayNotRun || bound.check.getGuarded());
}

/// True if `value` is max(extent - 1, 0).
static bool isLastOf(Value value, Value extent) {
  if (std::optional<int64_t> last = getConstantIntValue(value))
    return getConstantIntValue(extent) == *last + 1;
  if (auto max = value.getDefiningOp<arith::MaxSIOp>())
    if (matchPattern(max.getRhs(), m_Zero()))
      value = max.getLhs();
  if (auto sub = value.getDefiningOp<arith::SubIOp>())
    return sub.getLhs() == extent && matchPattern(sub.getRhs(), m_One());
  auto add = value.getDefiningOp<arith::AddIOp>();
  APInt offset;
  return add && add.getLhs() == extent &&
         matchPattern(add.getRhs(), m_ConstantInt(&offset)) &&
         offset.isAllOnes();
}

/// min(i, max(extent - 1, 0))  ->  i, which is below the extent.
void CheckHoisting::foldClamps(Bound &bound) {
  if (!bound.compare)
    return;
  auto isIndex = [&](Value value) {
    return value == bound.compare.getLhs() ||
           (bound.index.isNumber() && isNumber(value));
  };
  SmallVector<Operation *> clamps;
  for (Operation &op : *loop.getLoopBody())
    if (isa<arith::MinUIOp, arith::MinSIOp>(op) && isIndex(op.getOperand(0)) &&
        isLastOf(op.getOperand(1), bound.compare.getRhs()))
      clamps.push_back(&op);
  for (Operation *clamp : clamps)
    rewriter.replaceOp(clamp, clamp->getOperand(0));
}

/// Behind a check that stays an index is one: min(i, max(extent - 1, 0)) is i.
/// An extent that is known keeps its bound, by which an element may be read
/// before the check (`needsNoCheck`); LLVM takes it away.
static void foldClampsBehind(CheckOp check) {
  auto compare = check.getCondition().getDefiningOp<arith::CmpIOp>();
  if (!compare || compare.getPredicate() != CmpIPredicate::ult ||
      getConstantIntValue(compare.getRhs()))
    return;
  Value index = compare.getLhs();
  for (Operation *user : llvm::make_early_inc_range(index.getUsers())) {
    auto clamp = dyn_cast<arith::MinUIOp>(user);
    if (!clamp || clamp.getLhs() != index ||
        !isLastOf(clamp.getRhs(), compare.getRhs()))
      continue;
    clamp.getResult().replaceUsesWithIf(index, [&](OpOperand &use) {
      Operation *reader =
          check->getBlock()->findAncestorOpInBlock(*use.getOwner());
      return reader && check->isBeforeInBlock(reader);
    });
  }
}

unsigned CheckHoisting::run() {
  b.setInsertionPoint(loop);
  if (isa<TensorType>(loop.getCounter().getType()))
    return 0;
  foldSigns();
  if (!loop.getTripCount() || loop.getCondition() ||
      isa<TensorType>(loop.getTripCount().getType()))
    return 0;
  SmallVector<Bound> bounds;
  for (Operation &op : loop.getLoopBody()->without_terminator()) {
    if (auto check = dyn_cast<CheckOp>(op)) {
      std::optional<Bound> bound = boundOf(check);
      if (!bound)
        return 0;
      bounds.push_back(*bound);
      continue;
    }
    // What else an iteration does must not be seen before a check fails: other
    // effects, and loops that may not end.
    if (!isMemoryEffectFree(&op) ||
        (op.getNumRegions() != 0 && !isSafeToSpeculate(&op)))
      return 0;
  }
  if (bounds.empty())
    return 0;
  Value trips = tripsAsIndex(b, b.getLoc(), loop.getTripCount());
  for (Bound &bound : bounds)
    bound.firstFailing = firstFailing(bound);
  for (auto [k, bound] : llvm::enumerate(bounds))
    hoist(bound, MutableArrayRef(bounds).drop_front(k + 1), trips);
  for (Bound &bound : bounds)
    foldClamps(bound);
  for (Bound &bound : bounds)
    rewriter.eraseOp(bound.check);
  eraseDeadOps(rewriter, *loop.getLoopBody());
  return bounds.size();
}

namespace {
struct LoopHoistChecks : loopc::impl::LoopHoistChecksBase<LoopHoistChecks> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<LoopOp> loops;
    getOperation().walk([&](LoopOp loop) { loops.push_back(loop); });
    if (loops.empty())
      return markAllAnalysesPreserved();
    for (LoopOp loop : loops)
      numHoisted += CheckHoisting(rewriter, loop).run();
    // Threads of a kernel may come to an access before one has checked.
    if (!isForGPU(getOperation()))
      getOperation().walk(foldClampsBehind);
  }
};
} // namespace
