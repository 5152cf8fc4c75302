//===- IterationBounds.cpp - Bounds of indices in iterations --------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Bounds of the indices in an iteration of a nest: of loops within it, of what
// is the least of several numbers, and by branches around an access.

#include "loopc/Dialect/Nest/Analysis/Bounds.h"
#include "loopc/Dialect/Nest/Analysis/IterationPlaces.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace loopc;

/// So many bounds are looked at for one index.
static constexpr unsigned kMaxBounds = 64;

/// What `value` is the least of; itself where it is no minimum.
static SmallVector<std::pair<AffineExpr, Value>> operandsOfMin(Value value) {
  if (auto min = value.getDefiningOp<arith::MinSIOp>())
    return {{{}, min.getLhs()}, {{}, min.getRhs()}};
  SmallVector<std::pair<AffineExpr, Value>> operands;
  if (auto min = value.getDefiningOp<affine::AffineMinOp>())
    for (AffineExpr expr : min.getAffineMap().getResults())
      operands.push_back({expr, value});
  if (operands.empty())
    operands.push_back({{}, value});
  return operands;
}

SmallVector<IterationPlaces::Sum, 1>
IterationPlaces::sumsOfMin(Value value) const {
  SmallVector<Sum, 1> all;
  for (auto [expr, operand] : operandsOfMin(value)) {
    auto min = operand.getDefiningOp<affine::AffineMinOp>();
    all.push_back(expr ? sumOf(expr, min.getMapOperands(),
                               min.getAffineMap().getNumDims())
                       : sumOf(operand));
  }
  return all;
}

/// True if a number below `upper` is at most `last`: `last` is `upper - 1` or
/// more, or so much for one of the numbers that `upper` is the least of.
bool IterationPlaces::isLast(const Sum &last, Value upper) const {
  auto isBehind = [&](const Sum &end) {
    Sum difference = last;
    difference.add(end, -1);
    return difference.isConstant() && difference.constant >= -1;
  };
  return isBehind(sumOf(upper)) || llvm::any_of(sumsOfMin(upper), isBehind);
}

/// A lower bound of `value`, which varies: where the loop begins; of the least
/// of `i + c` and a number that is not below the last `i`: `i`.
std::optional<IterationPlaces::Sum>
IterationPlaces::leastOf(Value value) const {
  if (scf::ForOp loop = getLoopOf(value))
    return sumOf(loop.getLowerBound());
  SmallVector<Sum, 1> operands = sumsOfMin(value);
  if (operands.size() < 2)
    return std::nullopt;
  for (const Sum &operand : operands) {
    if (operand.terms.size() != 1 || operand.constant < 0 || operand.isOther ||
        !operand.parts.empty())
      continue;
    auto [term, factor] = operand.terms.front();
    scf::ForOp loop = getLoopOf(term.first);
    bool isLeast =
        loop && factor == 1 && !term.second &&
        llvm::all_of(operands, [&](const Sum &other) {
          return &other == &operand || isLast(other, loop.getUpperBound());
        });
    if (!isLeast)
      continue;
    Sum least;
    least.addTerm(term, 1);
    return least;
  }
  return std::nullopt;
}

/// True for a sum of numbers that are not negative.
bool IterationPlaces::isNonNegative(const Sum &sum) const {
  return !sum.isOther && sum.parts.empty() && sum.constant >= 0 &&
         llvm::all_of(sum.terms, [](const auto &entry) {
           auto [term, factor] = entry;
           scf::ForOp loop = getLoopOf(term.first);
           return loop && !term.second && factor > 0 &&
                  getConstantIntValue(loop.getLowerBound()).value_or(-1) >= 0;
         });
}

/// The numbers that branches around `op` say to be more than `value`.
SmallVector<IterationPlaces::Sum, 1>
IterationPlaces::findGuards(Value value, Operation *op) const {
  SmallVector<Sum, 1> guards;
  for (Operation *inner = op; inner != nest; inner = inner->getParentOp()) {
    auto branch = dyn_cast<scf::IfOp>(inner->getParentOp());
    if (!branch)
      continue;
    SmallVector<Order> orders;
    listOrders(branch.getCondition(),
               inner->getParentRegion() == &branch.getThenRegion(), orders);
    for (const Order &order : orders) {
      if (order.less != value || !order.isStrict)
        continue;
      Sum guard = sumOf(order.more);
      // Below a number that is not negative it is the same without signs.
      if (order.isSigned || isNonNegative(guard))
        guards.push_back(std::move(guard));
    }
  }
  return guards;
}

/// What the number of `loop`'s iteration is at most where branches around `at`
/// compare it, or a sum with it, with the number that it stays below.
SmallVector<IterationPlaces::Sum, 1>
IterationPlaces::findBoundsAt(scf::ForOp loop, Operation *at) const {
  SmallVector<Sum, 1> bounds;
  // In the loop the number that it stays below is not negative: a comparison
  // without signs is one with signs.
  if (getConstantIntValue(loop.getLowerBound()).value_or(-1) < 0)
    return bounds;
  for (; at != loop; at = at->getParentOp()) {
    auto branch = dyn_cast<scf::IfOp>(at->getParentOp());
    if (!branch)
      continue;
    SmallVector<Order> orders;
    listOrders(branch.getCondition(),
               at->getParentRegion() == &branch.getThenRegion(), orders);
    for (const Order &order : orders) {
      if (order.more != loop.getUpperBound())
        continue;
      Sum less = sumOf(order.less);
      if (less.isOther || !less.parts.empty() || less.terms.size() != 1 ||
          less.constant < 0 ||
          less.getFactor({loop.getInductionVar(), Value()}) != 1)
        continue;
      Sum bound = sumOf(order.more);
      bound.addConstant(less.constant, -1);
      bound.addConstant(order.isStrict ? -1 : 0);
      bounds.push_back(std::move(bound));
    }
  }
  return bounds;
}

/// What an iteration of `loop` is below. Of two numbers that is not the one
/// below which no iteration is:
///
///   scf.for %i = 0 to select(%c, %n, 0)    // %n
static Value findUpperBound(scf::ForOp loop) {
  Value upper = loop.getUpperBound();
  auto select = upper.getDefiningOp<arith::SelectOp>();
  std::optional<int64_t> first = getConstantIntValue(loop.getLowerBound());
  if (!select || !first)
    return upper;
  auto isNever = [&](Value value) {
    return getConstantIntValue(value).value_or(*first + 1) <= *first;
  };
  if (isNever(select.getFalseValue()))
    return select.getTrueValue();
  return isNever(select.getTrueValue()) ? select.getFalseValue() : upper;
}

bool IterationPlaces::Sum::isMultipleOf(int64_t number) const {
  return !isOther && parts.empty() && constant % number == 0 &&
         llvm::all_of(terms, [&](const auto &entry) {
           return entry.second % number == 0;
         });
}

/// Upper bounds of `value`, which varies: any of them holds at `at`.
SmallVector<IterationPlaces::Sum, 1>
IterationPlaces::mostOf(Value value, Operation *at) const {
  scf::ForOp loop = getLoopOf(value);
  if (!loop) {
    SmallVector<Sum, 1> operands = sumsOfMin(value);
    return operands.size() > 1 ? operands : SmallVector<Sum, 1>();
  }
  Sum begin = sumOf(loop.getLowerBound());
  int64_t by =
      std::max<int64_t>(getConstantIntValue(loop.getStep()).value_or(1), 1);
  Value upper = findUpperBound(loop);
  SmallVector<Sum, 1> all = sumsOfMin(upper);
  if (all.size() > 1)
    all.push_back(sumOf(upper));
  for (Sum &guard : findGuards(loop.getUpperBound(), loop)) {
    guard.addConstant(-1);
    all.push_back(std::move(guard));
  }
  for (Sum &last : all) {
    Sum length = last;
    length.add(begin, -1);
    // The last multiple of the step.
    if (length.isConstant() && length.constant > 0) {
      last = begin;
      last.addConstant((length.constant - 1) / by, by);
    } else {
      last.addConstant(length.isMultipleOf(by) ? by : 1, -1);
    }
  }
  if (at && loop->isProperAncestor(at))
    llvm::append_range(all, findBoundsAt(loop, at));
  return all;
}

/// A term that is not the same in all of one iteration.
std::optional<IterationPlaces::Term>
IterationPlaces::findVaryingTerm(const Sum &sum) const {
  for (auto [term, factor] : sum.terms)
    if (term.first != induction && varies(term.first))
      return term;
  return std::nullopt;
}

/// The least that `sum` is in an iteration; none where that is not known.
std::optional<IterationPlaces::Sum> IterationPlaces::findFirst(Sum sum) const {
  for (unsigned steps = 0; std::optional<Term> term = findVaryingTerm(sum);
       ++steps) {
    int64_t factor = sum.getFactor(*term);
    std::optional<Sum> least = steps < kMaxBounds && factor > 0 && !term->second
                                   ? leastOf(term->first)
                                   : std::nullopt;
    if (!least)
      return std::nullopt;
    sum.addTerm(*term, factor, -1);
    sum.add(*least, factor);
  }
  return sum;
}

/// Calls `isEnough` with upper bounds of `sum` in an iteration, until it says
/// so.
bool IterationPlaces::findLast(const Sum &sum, Found isEnough, Operation *at,
                               unsigned &steps) const {
  std::optional<Term> term = findVaryingTerm(sum);
  if (!term)
    return isEnough(sum);
  int64_t factor = sum.getFactor(*term);
  if (factor <= 0 || term->second)
    return false;
  for (const Sum &most : mostOf(term->first, at)) {
    if (++steps > kMaxBounds)
      return false;
    Sum bound = sum;
    bound.addTerm(*term, factor, -1);
    bound.add(most, factor);
    if (findLast(bound, isEnough, at, steps))
      return true;
  }
  return false;
}

std::optional<IterationPlaces::Range>
IterationPlaces::rangeOf(const Sum &sum, const Sum &length,
                         Operation *at) const {
  if (sum.isOther || !sum.parts.empty())
    return std::nullopt;
  std::optional<Sum> first = findFirst(sum);
  if (!first || first->isOther || !first->parts.empty())
    return std::nullopt;
  Range range;
  for (auto [term, factor] : first->terms) {
    if (term.first != induction)
      continue;
    if (range.iterations != 0)
      return std::nullopt;
    range.iterations = factor;
    range.scale = term.second;
  }
  // The least number has no positive one beside it.
  if (range.iterations == 0 ||
      range.iterations == std::numeric_limits<int64_t>::min())
    return std::nullopt;
  Sum end = sum;
  end.add(length, 1);
  // What is between two iterations, in `scale`.
  std::optional<int64_t> distance =
      llvm::checkedMul<int64_t>(std::abs(range.iterations), step);
  if (!distance)
    return std::nullopt;
  unsigned steps = 0;
  bool isPart = findLast(
      end,
      [&](Sum last) {
        last.add(*first, -1);
        if (range.scale && range.iterations > 0) {
          // It is positive, as the last place is not before the first one.
          last.add(sumOf(range.scale), -*distance);
          return last.isConstant() && last.constant <= 0;
        }
        range.length = last.constant;
        return !range.scale && last.isConstant() && last.constant <= *distance;
      },
      at, steps);
  if (!isPart)
    return std::nullopt;
  range.first = std::move(*first);
  return range;
}
