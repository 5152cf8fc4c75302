//===- VersionPositions.cpp - Positions that count with iterations --------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VersionPositions.h"
#include "loopc/Support/IndexCasts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace loopc;
using namespace loopc::loop;
using arith::CmpIPredicate;

/// Within these bounds a position does not wrap around between two iterations
/// in which it is none of the largest numbers.
static constexpr int64_t kMaxSlope = int64_t(1) << 16;
static constexpr int64_t kMaxTrips = int64_t(1) << 40;
static constexpr int64_t kMaxPosition = int64_t(1) << 60;
/// Operations that are looked at.
static constexpr unsigned kMaxSeen = 256, kDepth = 16;

namespace {
/// A minimum or maximum of a position, which changes by a constant from one
/// iteration to the next, and a bound that does not change.
struct Clamp {
  Operation *op;
  Value position, bound;
};

class Positions {
public:
  Positions(RewriterBase &rewriter, LoopOp copy, LoopOp loop)
      : rewriter(rewriter), copy(copy), loop(loop) {}

  SmallVector<Clamp> findClamps(Value value);
  Value keepsPosition(const Clamp &clamp);

private:
  bool isOutside(Value value) {
    return !copy->isAncestor(value.getParentRegion()->getParentOp());
  }
  std::optional<int64_t> slopeOf(Value value, unsigned depth = kDepth);
  Value valueAt(Value value, Value iteration);

  RewriterBase &rewriter;
  LoopOp copy, loop;
};
} // namespace

/// By how much `value` changes from one iteration to the next; null where that
/// is no constant.
std::optional<int64_t> Positions::slopeOf(Value value, unsigned depth) {
  if (value == loop.getCounter())
    return 1;
  if (isOutside(value) || getConstantIntValue(value))
    return 0;
  Operation *op = value.getDefiningOp();
  if (!op || depth == 0 || !isWideInteger(value.getType()) ||
      !isa<arith::IndexCastOp, arith::AddIOp, arith::SubIOp, arith::MulIOp>(op))
    return std::nullopt;
  auto slope = [&](unsigned k) {
    return slopeOf(op->getOperand(k), depth - 1);
  };
  std::optional<int64_t> a = slope(0), result;
  if (isa<arith::IndexCastOp>(op))
    return isWideInteger(op->getOperand(0).getType()) ? a : std::nullopt;
  std::optional<int64_t> b = slope(1);
  if (!a || !b)
    return std::nullopt;
  if (isa<arith::AddIOp>(op))
    result = *a + *b;
  else if (isa<arith::SubIOp>(op))
    result = *a - *b;
  else if (auto factor = getConstantIntValue(op->getOperand(1)))
    result = llvm::checkedMul(*a, *factor);
  else if (auto factor = getConstantIntValue(op->getOperand(0)))
    result = llvm::checkedMul(*b, *factor);
  return result && llvm::AbsoluteValue(*result) <= kMaxSlope ? result
                                                             : std::nullopt;
}

/// What `value`, whose slope is known, is in an iteration.
Value Positions::valueAt(Value value, Value iteration) {
  if (value == loop.getCounter())
    return iteration;
  if (isOutside(value))
    return value;
  IRMapping mapping;
  Operation *op = value.getDefiningOp();
  for (Value operand : op->getOperands())
    mapping.map(operand, valueAt(operand, iteration));
  Operation *made = rewriter.clone(*op, mapping);
  // The iteration may not be reached, and promises of its numbers not hold.
  if (auto flags = dyn_cast<arith::ArithIntegerOverflowFlagsInterface>(made))
    made->setAttr(
        flags.getIntegerOverflowAttrName(),
        arith::IntegerOverflowFlagsAttr::get(
            rewriter.getContext(), arith::IntegerOverflowFlags::none));
  return made->getResult(0);
}

/// The clamps that `value` depends on.
SmallVector<Clamp> Positions::findClamps(Value value) {
  SetVector<Operation *> seen;
  auto visit = [&](Value next) {
    if (Operation *op = next.getDefiningOp();
        op && !isOutside(next) && seen.size() < kMaxSeen)
      seen.insert(op);
  };
  visit(value);
  SmallVector<Clamp> clamps;
  for (unsigned k = 0; k < seen.size(); ++k) {
    Operation *op = seen[k];
    llvm::for_each(op->getOperands(), visit);
    if (auto branch = dyn_cast<scf::IfOp>(op))
      for (Region *region : branch.getRegions())
        if (!region->empty())
          llvm::for_each(region->front().getTerminator()->getOperands(), visit);
    if (!isa<arith::MinSIOp, arith::MaxSIOp>(op) ||
        !isWideInteger(op->getResult(0).getType()))
      continue;
    Value position = op->getOperand(0), bound = op->getOperand(1);
    if (slopeOf(position) == 0)
      std::swap(position, bound);
    if (slopeOf(bound) == 0 && slopeOf(position).value_or(0) != 0)
      clamps.push_back({op, position, bound});
  }
  return clamps;
}

/// True at run time if `clamp` leaves the position as it is in every iteration,
/// computed before the copy; null where the trips are not known there.
///
/// A position is between those of the first and the last iteration, as it does
/// not wrap around on its way: both are small, and so are steps and trips.
Value Positions::keepsPosition(const Clamp &clamp) {
  Location loc = clamp.op->getLoc();
  Value trips = loop.getTripCount();
  Type type = loop.getCounter().getType();
  if (!trips || !isOutside(trips) || trips.getType() != type ||
      !isWideInteger(type))
    return {};
  rewriter.setInsertionPoint(copy);
  auto number = [&](Type of, int64_t value) -> Value {
    return arith::ConstantOp::create(rewriter, loc,
                                     rewriter.getIntegerAttr(of, value));
  };
  auto compare = [&](CmpIPredicate predicate, Value a, Value b) -> Value {
    return arith::CmpIOp::create(rewriter, loc, predicate, a, b);
  };
  Value first = number(type, 0), one = number(type, 1);
  Value last = rewriter.createOrFold<arith::MaxSIOp>(
      loc, rewriter.createOrFold<arith::SubIOp>(loc, trips, one), first);
  Value keeps = compare(CmpIPredicate::sle, trips, number(type, kMaxTrips));
  for (Value iteration : {first, last}) {
    Value at = valueAt(clamp.position, iteration);
    Value bound = valueAt(clamp.bound, iteration);
    Value isSmall =
        compare(CmpIPredicate::ult, at, number(at.getType(), kMaxPosition));
    Value isWithin = compare(isa<arith::MinSIOp>(clamp.op) ? CmpIPredicate::sle
                                                           : CmpIPredicate::sge,
                             at, bound);
    keeps = arith::AndIOp::create(rewriter, loc, keeps, isSmall);
    keeps = arith::AndIOp::create(rewriter, loc, keeps, isWithin);
  }
  return keeps;
}

bool loop::assumePositionsKept(RewriterBase &rewriter, LoopOp copy, LoopOp loop,
                               Value value, VersionConditions &conditions) {
  bool any = false;
  Positions positions(rewriter, copy, loop);
  for (const Clamp &clamp : positions.findClamps(value)) {
    Value keeps = positions.keepsPosition(clamp);
    if (!keeps || !conditions.add(keeps))
      continue;
    rewriter.replaceAllUsesWith(clamp.op->getResult(0), clamp.position);
    any = true;
  }
  return any;
}
