//===- IterationPlaces.cpp - Where iterations read and write --------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// A dependence test for nests whose iterations are said to be independent. It
// is made for what passes write: linear indices, views of parts, and axes that
// were divided. `x[i / 2]` says nothing that tells two iterations apart, and
// what is read at `x[i - 1]` another iteration writes.

#include "loopc/Dialect/Nest/Analysis/IterationPlaces.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace loopc;

IterationPlaces::IterationPlaces(scf::ForOp nest)
    : induction(nest.getInductionVar()), upperBound(nest.getUpperBound()),
      step(getConstantIntValue(nest.getStep())) {
  dependent.insert(induction);
  nest.getBody()->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (llvm::none_of(op->getOperands(),
                      [&](Value value) { return depends(value); }))
      return;
    dependent.insert(op->result_begin(), op->result_end());
    if (auto inner = dyn_cast<scf::ForOp>(op))
      dependent.insert(inner.getInductionVar());
  });
}

void IterationPlaces::Sum::add(const Sum &sum, int64_t factor) {
  if (factor == 0)
    return;
  constant += sum.constant * factor;
  iterations += sum.iterations * factor;
  for (auto [value, times] : sum.others)
    others[value] += times * factor;
  isScaled |= sum.isScaled;
  isOther |= sum.isOther;
  // Of more than one only that there are several is asked.
  llvm::append_range(parts, sum.parts);
  parts.truncate(std::min<size_t>(parts.size(), 2));
}

IterationPlaces::Sum IterationPlaces::partOf(Value value,
                                             std::optional<int64_t> divisor,
                                             Value by, bool isQuotient) const {
  Sum sum;
  if (divisor ? *divisor > 0 : by && !depends(by))
    sum.parts.push_back({value, divisor, divisor ? Value() : by, isQuotient});
  else
    sum.isOther = true;
  return sum;
}

IterationPlaces::Sum IterationPlaces::sumOf(AffineExpr expr,
                                            ValueRange operands,
                                            unsigned dims) const {
  auto operandOf = [&](AffineExpr leaf) -> Value {
    if (auto dim = dyn_cast<AffineDimExpr>(leaf))
      return operands[dim.getPosition()];
    auto symbol = dyn_cast<AffineSymbolExpr>(leaf);
    return symbol ? operands[dims + symbol.getPosition()] : Value();
  };
  Sum sum;
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    sum.constant = constant.getValue();
    return sum;
  }
  if (Value operand = operandOf(expr))
    return sumOf(operand);
  auto both = cast<AffineBinaryOpExpr>(expr);
  Sum lhs = sumOf(both.getLHS(), operands, dims);
  auto factor = dyn_cast<AffineConstantExpr>(both.getRHS());
  switch (both.getKind()) {
  case AffineExprKind::Add:
    sum.add(lhs, 1);
    sum.add(sumOf(both.getRHS(), operands, dims), 1);
    return sum;
  case AffineExprKind::Mul:
    if (factor) {
      sum.add(lhs, factor.getValue());
      return sum;
    }
    break;
  case AffineExprKind::FloorDiv:
  case AffineExprKind::Mod:
    if (Value value = operandOf(both.getLHS()); value && depends(value))
      return partOf(
          value, factor ? std::optional(factor.getValue()) : std::nullopt,
          operandOf(both.getRHS()), both.getKind() == AffineExprKind::FloorDiv);
    break;
  default:
    break;
  }
  // Of values that do not depend on the iteration it is one of these, but one
  // without a name, which equals no other.
  sum.isOther = true;
  return sum;
}

// A value that is used twice is looked at once: chains of `x + x` would take
// time that doubles with each.
IterationPlaces::Sum IterationPlaces::sumOf(Value value) const {
  if (auto known = sums.find(value); known != sums.end())
    return known->second;
  Sum sum = findSumOf(value);
  sums.try_emplace(value, sum);
  return sum;
}

IterationPlaces::Sum IterationPlaces::findSumOf(Value value) const {
  Sum sum;
  if (std::optional<int64_t> constant = getConstantIntValue(value)) {
    sum.constant = *constant;
    return sum;
  }
  if (value == induction) {
    sum.iterations = 1;
    return sum;
  }
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    // A loop within the part that an iteration has: its bounds say how far.
    auto inner = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    bool isInduction = inner && inner.getInductionVar() == argument;
    if (depends(value) && isInduction)
      sum = sumOf(inner.getLowerBound());
    sum.isOther |= depends(value) && !isInduction;
    sum.others[value] = 1;
    return sum;
  }
  sum = sumOfOp(value.getDefiningOp());
  if (depends(value) || (!sum.isOther && sum.parts.empty()))
    return sum;
  sum = {};
  sum.others[value] = 1;
  return sum;
}

/// True if a number below `upper` is at most `last`: `last` is `upper - 1` or
/// more, or so much for one of the numbers that `upper` is the least of.
bool IterationPlaces::isLast(Value last, Value upper) const {
  Sum left = sumOf(last);
  left.add(sumOf(upper), -1);
  if (left.constant >= -1 && !left.isOther && !left.isScaled &&
      left.iterations == 0 && left.parts.empty() && left.hasNoOthers())
    return true;
  auto least = upper.getDefiningOp<arith::MinSIOp>();
  return least &&
         (isLast(last, least.getLhs()) || isLast(last, least.getRhs()));
}

/// `min(i + c, last)`, where i is the induction variable of the nest or of a
/// loop in it, c is less than its step, and i is at most `last`: a place in the
/// part of the iteration, as `i + c` is one where it is not too far.
std::optional<IterationPlaces::Sum>
IterationPlaces::clampOf(Operation *op) const {
  for (auto [x, y] : {std::pair(0, 1), std::pair(1, 0)}) {
    Sum place = sumOf(op->getOperand(x));
    if (place.iterations != 1 || !place.tells())
      continue;
    Value upper = upperBound;
    std::optional<int64_t> width = step;
    for (auto [value, times] : place.others) {
      if (times == 0)
        continue;
      auto argument = dyn_cast<BlockArgument>(value);
      auto inner =
          argument ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp())
                   : scf::ForOp();
      // One loop, and nothing else.
      upper = inner && times == 1 && upper == upperBound
                  ? Value(inner.getUpperBound())
                  : Value();
      if (!upper)
        break;
      width = getConstantIntValue(inner.getStep());
      place.constant -= sumOf(inner.getLowerBound()).constant;
    }
    if (!upper || place.constant < 0 || place.constant >= width.value_or(1) ||
        !isLast(op->getOperand(y), upper))
      continue;
    Sum clamped;
    clamped.iterations = 1;
    clamped.others[op->getResult(0)] = 1;
    return clamped;
  }
  return std::nullopt;
}

IterationPlaces::Sum IterationPlaces::sumOfOp(Operation *op) const {
  Sum sum;
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op))
    return sumOf(op->getOperand(0));
  if (isa<arith::AddIOp, arith::SubIOp>(op)) {
    sum.add(sumOf(op->getOperand(0)), 1);
    sum.add(sumOf(op->getOperand(1)), isa<arith::AddIOp>(op) ? 1 : -1);
    return sum;
  }
  if (isa<arith::MulIOp>(op)) {
    for (auto [x, y] : {std::pair(0, 1), std::pair(1, 0)}) {
      Value by = op->getOperand(y);
      if (depends(by))
        continue;
      Sum whole = sumOf(op->getOperand(x));
      if (std::optional<int64_t> factor = getConstantIntValue(by)) {
        sum.add(whole, *factor);
        return sum;
      }
      sum.isScaled = whole.tells();
      sum.isOther = !sum.isScaled;
      return sum;
    }
  }
  if (isa<arith::MinSIOp>(op))
    if (std::optional<Sum> clamped = clampOf(op))
      return *clamped;
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op))
    return sumOf(apply.getAffineMap().getResult(0), apply.getMapOperands(),
                 apply.getAffineMap().getNumDims());
  bool isQuotient =
      isa<arith::DivUIOp, arith::DivSIOp, arith::FloorDivSIOp>(op);
  if (isQuotient || isa<arith::RemUIOp, arith::RemSIOp>(op))
    return partOf(op->getOperand(0), getConstantIntValue(op->getOperand(1)),
                  op->getOperand(1), isQuotient);
  sum.isOther = true;
  return sum;
}

IterationPlaces::Place IterationPlaces::placeOf(const Access &access) const {
  Place place{access, access.buffer, {}, {}};
  for (Value index : access.place)
    place.indices.push_back(sumOf(index));
  auto sumOfResult = [&](OpFoldResult value) {
    Sum sum;
    if (std::optional<int64_t> constant = getConstantIntValue(value))
      sum.constant = *constant;
    else
      sum = sumOf(cast<Value>(value));
    return sum;
  };
  while (Operation *op = place.base.getDefiningOp()) {
    if (auto cast = dyn_cast<memref::CastOp>(op)) {
      if (!isa<MemRefType>(cast.getSource().getType()))
        break;
      place.base = cast.getSource();
      continue;
    }
    if (auto view = dyn_cast<memref::ReinterpretCastOp>(op))
      for (OpFoldResult offset : view.getMixedOffsets())
        place.offsets.push_back(sumOfResult(offset));
    auto view = dyn_cast<memref::SubViewOp>(op);
    if (!view || !llvm::all_of(view.getMixedStrides(), isOneInteger))
      break;
    llvm::SmallBitVector dropped = view.getDroppedDims();
    SmallVector<Sum> indices;
    size_t inner = 0;
    for (auto [axis, offset] : llvm::enumerate(view.getMixedOffsets())) {
      indices.push_back(sumOfResult(offset));
      if (!dropped.test(axis))
        indices.back().add(place.indices[inner++], 1);
    }
    place.indices = std::move(indices);
    place.base = view.getSource();
  }
  return place;
}

bool IterationPlaces::tellsByParts(ArrayRef<Sum> sums) const {
  // Indices that are one part and what does not depend on the iteration.
  SmallVector<Part> known;
  for (const Sum &sum : sums)
    if (sum.parts.size() == 1 && !sum.iterations && !sum.isScaled &&
        !sum.isOther)
      known.push_back(sum.parts.front());
  // With quotient and remainder the number that was divided is known.
  for (size_t k = 0; k < known.size(); ++k) {
    Part part = known[k];
    bool hasOther = llvm::any_of(known, [&](const Part &other) {
      return other.value == part.value && other.divisor == part.divisor &&
             other.by == part.by && other.isQuotient != part.isQuotient;
    });
    if (!hasOther || !part.isQuotient)
      continue;
    Sum whole = sumOf(part.value);
    if (whole.tells())
      return true;
    if (whole.parts.size() == 1 && !whole.iterations && !whole.isOther)
      known.push_back(whole.parts.front());
  }
  return false;
}

bool IterationPlaces::tellsIteration(const Access &write) const {
  Place place = placeOf(write);
  auto tells = [](const Sum &sum) { return sum.tells(); };
  return llvm::any_of(place.indices, tells) ||
         llvm::any_of(place.offsets, tells) || tellsByParts(place.indices);
}

bool IterationPlaces::mayConflict(const Place &written,
                                  const Place &other) const {
  auto extentOf = [&](const Place &place, size_t axis) -> int64_t {
    VectorType vector = place.access.vector;
    size_t rank = place.indices.size();
    size_t first = vector ? rank - vector.getRank() : rank;
    return axis < first ? 1 : vector.getDimSize(axis - first);
  };
  bool isCompared = false;
  for (size_t axis = 0; axis < written.indices.size(); ++axis) {
    const Sum &x = written.indices[axis], &y = other.indices[axis];
    if (!x.tells())
      continue;
    isCompared = true;
    // The factor is the run's.
    if (x.isScaled || y.isScaled)
      return false;
    if (!y.tells() || x.iterations != y.iterations)
      continue;
    Sum difference = y;
    difference.add(x, -1);
    if (!difference.hasNoOthers())
      return false;
    int64_t at = difference.constant;
    int64_t begin = std::min<int64_t>(at, 0);
    int64_t end = std::max(at + extentOf(other, axis), extentOf(written, axis));
    if (end - begin <= std::abs(x.iterations) * step.value_or(1))
      return false;
  }
  return isCompared;
}

StringRef IterationPlaces::findConflict(ArrayRef<Access> accesses) const {
  llvm::MapVector<Value, SmallVector<Place, 1>> places;
  llvm::SmallPtrSet<Value, 4> written;
  for (const Access &access : accesses) {
    Place place = placeOf(access);
    if (access.writes)
      written.insert(place.base);
    places[place.base].push_back(std::move(place));
  }
  for (const auto &[base, all] : places) {
    if (!written.contains(base) || depends(base))
      continue;
    const Place &write = *llvm::find_if(
        all, [](const Place &place) { return place.access.writes; });
    for (const Place &place : all)
      if (mayConflict(write, place))
        return place.access.writes
                   ? "iterations may write to one place"
                   : "an iteration may read what another one writes";
  }
  return "";
}
