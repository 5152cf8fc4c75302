//===- IterationPlaces.cpp - Where iterations read and write --------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// A dependence test for nests whose iterations are said to be independent. It
// is made for what passes write: linear indices, tiles, views of parts, and
// axes that were divided. An index is a sum of terms. Bounds of the loops
// within the nest take their place, until what is left says which part of the
// axis an iteration has, or the view that it is accessed in does. `x[i / 2]`
// says nothing that tells two iterations apart, and what is read at `x[i - 1]`
// another iteration writes.

#include "loopc/Dialect/Nest/Analysis/IterationPlaces.h"
#include "loopc/Dialect/Nest/Analysis/Bounds.h"
#include "loopc/Dialect/Nest/Analysis/Views.h"
#include "loopc/Support/SubViews.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace loopc;

IterationPlaces::IterationPlaces(scf::ForOp nest)
    : nest(nest), induction(nest.getInductionVar()),
      step(getConstantIntValue(nest.getStep()).value_or(1)) {
  nest.walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (Region &region : op->getRegions())
      for (Block &block : region)
        varying.insert(block.args_begin(), block.args_end());
    auto isVarying = [&](Value value) { return varies(value); };
    if (op != nest && (op->getNumRegions() != 0 || !isMemoryEffectFree(op) ||
                       llvm::any_of(op->getOperands(), isVarying)))
      varying.insert(op->result_begin(), op->result_end());
  });
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

void IterationPlaces::Sum::addConstant(int64_t value, int64_t times) {
  std::optional<int64_t> sum =
      llvm::checkedMulAdd<int64_t>(value, times, constant);
  isOther |= !sum;
  constant = sum.value_or(0);
}

void IterationPlaces::Sum::addTerm(Term term, int64_t factor, int64_t times) {
  auto *entry = llvm::find_if(
      terms, [&](const auto &entry) { return entry.first == term; });
  if (entry == terms.end())
    entry = terms.insert(entry, {term, 0});
  std::optional<int64_t> sum =
      llvm::checkedMulAdd<int64_t>(factor, times, entry->second);
  isOther |= !sum;
  entry->second = sum.value_or(0);
  if (entry->second == 0)
    terms.erase(entry);
}

int64_t IterationPlaces::Sum::getFactor(Term term) const {
  const auto *entry = llvm::find_if(
      terms, [&](const auto &entry) { return entry.first == term; });
  return entry == terms.end() ? 0 : entry->second;
}

void IterationPlaces::Sum::add(const Sum &sum, int64_t factor) {
  if (factor == 0)
    return;
  addConstant(sum.constant, factor);
  for (auto [term, times] : sum.terms)
    addTerm(term, times, factor);
  isOther |= sum.isOther || (!sum.parts.empty() && factor != 1);
  // Of more than one only that there are several is asked.
  llvm::append_range(parts, sum.parts);
  parts.truncate(std::min<size_t>(parts.size(), 2));
}

bool IterationPlaces::Sum::isEqual(const Sum &other) const {
  return !isOther && !other.isOther && constant == other.constant &&
         terms.size() == other.terms.size() &&
         llvm::all_of(terms,
                      [&](const auto &entry) {
                        return other.getFactor(entry.first) == entry.second;
                      }) &&
         parts.size() < 2 && parts == other.parts;
}

IterationPlaces::Sum IterationPlaces::partOf(Value value,
                                             std::optional<int64_t> divisor,
                                             Value by, bool isQuotient,
                                             Rounding rounding) const {
  Sum sum;
  if (divisor ? *divisor <= 0 : !by || varies(by)) {
    sum.isOther = true;
    return sum;
  }
  // Of a number that is not negative all are the same; a divisor that only the
  // run knows may be a large number or a negative one.
  if ((divisor || rounding != Rounding::Unsigned) &&
      (loopc::isNonNegative(value) || isNonNegative(sumOf(value))))
    rounding = Rounding::Down;
  sum.parts.push_back(
      {value, divisor, divisor ? Value() : by, isQuotient, rounding});
  return sum;
}

/// How `op`, a division or a remainder, rounds.
static IterationPlaces::Rounding getRounding(Operation *op) {
  using Rounding = IterationPlaces::Rounding;
  if (isa<arith::DivUIOp, arith::RemUIOp>(op))
    return Rounding::Unsigned;
  return isa<arith::FloorDivSIOp>(op) ? Rounding::Down : Rounding::ToZero;
}

IterationPlaces::Sum IterationPlaces::productOf(const Sum &sum,
                                                OpFoldResult factor) const {
  Sum product;
  if (std::optional<int64_t> constant = getConstantIntValue(factor)) {
    product.add(sum, *constant);
    return product;
  }
  Value by = cast<Value>(factor);
  auto isProduct = [](const auto &entry) { return entry.first.second; };
  product.isOther = sum.isOther || !sum.parts.empty() || varies(by) ||
                    llvm::any_of(sum.terms, isProduct);
  for (auto [term, times] : sum.terms)
    product.addTerm({term.first, by}, times);
  if (sum.constant != 0)
    product.addTerm({by, Value()}, sum.constant);
  return product;
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
    if (Value by = operandOf(both.getRHS()))
      return productOf(lhs, by);
    break;
  case AffineExprKind::FloorDiv:
  case AffineExprKind::Mod:
    if (Value value = operandOf(both.getLHS()); value && varies(value))
      return partOf(value,
                    factor ? std::optional(factor.getValue()) : std::nullopt,
                    operandOf(both.getRHS()),
                    both.getKind() == AffineExprKind::FloorDiv, Rounding::Down);
    break;
  default:
    break;
  }
  sum.isOther = true;
  return sum;
}

IterationPlaces::Sum IterationPlaces::sumOf(OpFoldResult value) const {
  if (auto dynamic = dyn_cast<Value>(value))
    return sumOf(dynamic);
  Sum sum;
  sum.constant = *getConstantIntValue(value);
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
  if (Operation *op = value.getDefiningOp()) {
    sum = findSumOf(op);
    if (varies(value) || (!sum.isOther && sum.parts.empty()))
      return sum;
  }
  // A loop of one iteration is where it begins.
  scf::ForOp loop = getLoopOf(value);
  std::optional<APInt> trips =
      loop && value != induction ? loop.getStaticTripCount() : std::nullopt;
  if (trips && trips->isOne())
    return sumOf(loop.getLowerBound());
  sum = {};
  sum.addTerm({value, Value()}, 1);
  return sum;
}

IterationPlaces::Sum IterationPlaces::findSumOf(Operation *op) const {
  Sum sum;
  if (!op->getResult(0).getType().isIntOrIndex() || mayWrap(op)) {
    sum.isOther = true;
    return sum;
  }
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op))
    return sumOf(op->getOperand(0));
  if (isa<arith::AddIOp, arith::SubIOp>(op)) {
    sum.add(sumOf(op->getOperand(0)), 1);
    sum.add(sumOf(op->getOperand(1)), isa<arith::AddIOp>(op) ? 1 : -1);
    return sum;
  }
  if (isa<arith::MulIOp>(op))
    for (auto [x, y] : {std::pair(0, 1), std::pair(1, 0)})
      if (!varies(op->getOperand(y)))
        return productOf(sumOf(op->getOperand(x)), op->getOperand(y));
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op))
    return sumOf(apply.getAffineMap().getResult(0), apply.getMapOperands(),
                 apply.getAffineMap().getNumDims());
  if (auto linearize = dyn_cast<affine::AffineLinearizeIndexOp>(op)) {
    // The extent of the first axis says nothing of the place.
    auto extents = linearize.getEffectiveBasis();
    for (auto [axis, index] : llvm::enumerate(linearize.getMultiIndex())) {
      if (axis > 0)
        sum = productOf(sum, extents[axis - 1]);
      sum.add(sumOf(index), 1);
    }
    return sum;
  }
  // Their bounds are known.
  if (isa<arith::MinSIOp, affine::AffineMinOp>(op)) {
    sum.addTerm({op->getResult(0), Value()}, 1);
    return sum;
  }
  bool isQuotient =
      isa<arith::DivUIOp, arith::DivSIOp, arith::FloorDivSIOp>(op);
  if (isQuotient || isa<arith::RemUIOp, arith::RemSIOp>(op))
    return partOf(op->getOperand(0), getConstantIntValue(op->getOperand(1)),
                  op->getOperand(1), isQuotient, getRounding(op));
  if (auto select = dyn_cast<arith::SelectOp>(op))
    if (std::optional<Sum> next = findSuccessor(select))
      return *next;
  if (auto dim = dyn_cast<memref::DimOp>(op))
    if (std::optional<OpFoldResult> extent = findExtentOfView(dim))
      return sumOf(*extent);
  sum.isOther = true;
  return sum;
}

IterationPlaces::Sum IterationPlaces::dividedBy(const Part &part) const {
  Sum sum = sumOf(part.value);
  sum.addConstant(part.plus);
  return sum;
}

/// Of the number behind one that is divided, counted on from that one's:
/// `r + 1 == n ? 0 : r + 1` is the remainder, `r + 1 == n ? q + 1 : q` the
/// quotient.
std::optional<IterationPlaces::Sum>
IterationPlaces::findSuccessor(arith::SelectOp select) const {
  auto compare = select.getCondition().getDefiningOp<arith::CmpIOp>();
  if (!compare || compare.getPredicate() != arith::CmpIPredicate::eq)
    return std::nullopt;
  Sum next = sumOf(compare.getLhs());
  if (next.isOther || next.parts.size() != 1 || !next.terms.empty() ||
      next.constant != 1)
    return std::nullopt;
  Part part = next.parts.front();
  Value size = compare.getRhs();
  if (part.isQuotient ||
      (part.divisor ? getConstantIntValue(size) != part.divisor
                    : size != part.by))
    return std::nullopt;
  Sum behind = sumOf(select.getTrueValue()),
      within = sumOf(select.getFalseValue());
  Sum successor;
  if (behind.isConstant() && behind.constant == 0 && within.isEqual(next)) {
    ++part.plus;
    successor.parts.push_back(part);
    return successor;
  }
  part.isQuotient = true;
  Sum quotient;
  quotient.parts.push_back(part);
  if (!within.isEqual(quotient))
    return std::nullopt;
  quotient.addConstant(1);
  if (!behind.isEqual(quotient))
    return std::nullopt;
  ++part.plus;
  successor.parts.push_back(part);
  return successor;
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

/// The part of the elements of a buffer that an iteration's view of it has.
std::optional<IterationPlaces::Range>
IterationPlaces::rangeOf(memref::ReinterpretCastOp view) const {
  Sum length;
  length.constant = 1;
  for (auto [size, stride] :
       llvm::zip_equal(view.getMixedSizes(), view.getMixedStrides())) {
    if (getConstantIntValue(stride).value_or(0) < 0)
      return std::nullopt;
    Sum last = sumOf(size);
    last.addConstant(-1);
    length.add(productOf(last, stride), 1);
  }
  return rangeOf(sumOf(view.getMixedOffsets().front()), length);
}

/// The part of axis `axis` of a buffer that an iteration's view of it has: what
/// is accessed in the view is there.
std::optional<IterationPlaces::Range>
IterationPlaces::rangeOf(memref::SubViewOp view, size_t axis,
                         Operation *at) const {
  if (!isConstantIntValue(view.getMixedStrides()[axis], 1))
    return std::nullopt;
  return rangeOf(sumOf(view.getMixedOffsets()[axis]),
                 sumOf(view.getMixedSizes()[axis]), at);
}

/// Makes `place` in `view` one in what that is a view of. Where axes of more
/// than one element were put together, it may be all along each of them: along
/// one of open extent nothing is known of it.
void IterationPlaces::enterCollapsed(memref::CollapseShapeOp view,
                                     Place &place) {
  ArrayRef<int64_t> shape = view.getSrcType().getShape();
  SmallVector<Sum, 1> indices(shape.size());
  SmallVector<int64_t> extents(shape.size(), 1);
  for (auto [own, group] : llvm::enumerate(view.getReassociationIndices())) {
    SmallVector<int64_t, 1> several(llvm::make_filter_range(
        group, [&](int64_t axis) { return shape[axis] != 1; }));
    if (several.size() < 2) {
      int64_t axis = several.empty() ? group.front() : several.front();
      indices[axis] = place.indices[own];
      extents[axis] = place.extents[own];
      continue;
    }
    for (int64_t axis : several) {
      if (ShapedType::isDynamic(shape[axis]))
        indices[axis].isOther = true;
      else
        extents[axis] = shape[axis];
    }
  }
  place.indices = std::move(indices);
  place.extents = std::move(extents);
  place.base = view.getSrc();
}

/// Makes `place` in `view` one in what that is a view of, if axes of one
/// element are all that it has more; false for others.
bool IterationPlaces::enterExpanded(memref::ExpandShapeOp view, Place &place) {
  ArrayRef<int64_t> shape = view.getResultType().getShape();
  SmallVector<Sum, 1> indices;
  SmallVector<int64_t> extents;
  for (ArrayRef<int64_t> group : view.getReassociationIndices()) {
    SmallVector<int64_t, 1> several(llvm::make_filter_range(
        group, [&](int64_t axis) { return shape[axis] != 1; }));
    if (several.size() > 1)
      return false;
    int64_t axis = several.empty() ? group.front() : several.front();
    indices.push_back(place.indices[axis]);
    extents.push_back(place.extents[axis]);
  }
  place.indices = std::move(indices);
  place.extents = std::move(extents);
  place.base = view.getSrc();
  return true;
}

/// True if `index`, and `length` elements from there on, is within an axis of
/// `extent` elements in all iterations.
bool IterationPlaces::isWithin(const Sum &index, int64_t length,
                               int64_t extent) const {
  std::optional<Sum> first = findFirst(index);
  if (!first || !isNonNegative(*first))
    return false;
  Sum end = index;
  end.addConstant(length);
  if (int64_t factor = index.getFactor({induction, Value()})) {
    std::optional<int64_t> upper =
        getConstantIntValue(scf::ForOp(nest).getUpperBound());
    if (!upper)
      return false;
    end.addTerm({induction, Value()}, factor, -1);
    end.addConstant(factor, *upper);
    end.addConstant(factor, -1);
  }
  unsigned steps = 0;
  return findLast(
      end,
      [&](const Sum &last) {
        return last.isConstant() && last.constant <= extent;
      },
      /*at=*/nullptr, steps);
}

/// Makes `place` in `view`, by strides, one in the buffer in C order that it is
/// a view of: each term of the offset belongs to the axis of the longest stride
/// that it is a multiple of. False where what an axis has is not known to be
/// within it.
bool IterationPlaces::enterStrided(memref::ReinterpretCastOp view,
                                   Place &place) const {
  auto source = dyn_cast<MemRefType>(view.getSource().getType());
  if (!source || !source.getLayout().isIdentity() || source.getRank() == 0)
    return false;
  // Not the type's getStridesAndOffset(), which goes by way of an expression.
  if (llvm::is_contained(source.getShape(), 0) ||
      llvm::any_of(source.getShape().drop_front(), ShapedType::isDynamic))
    return false;
  SmallVector<int64_t> strides = mlir::computeStrides(source.getShape());
  Sum offset = sumOf(view.getMixedOffsets().front());
  SmallVector<int64_t> extents(strides.size(), 1);
  for (auto [index, extent, by] :
       llvm::zip_equal(place.indices, place.extents, view.getMixedStrides())) {
    std::optional<int64_t> stride = getConstantIntValue(by);
    if (!stride)
      return false;
    offset.add(index, *stride);
    const auto *axis = llvm::find(strides, *stride);
    if (extent == 1)
      continue;
    if (axis == strides.end() || extents[axis - strides.begin()] != 1)
      return false;
    extents[axis - strides.begin()] = extent;
  }
  if (offset.isOther || !offset.parts.empty() || offset.constant < 0)
    return false;
  SmallVector<Sum, 1> indices(strides.size());
  for (auto [index, stride] : llvm::zip_equal(indices, strides)) {
    index.constant = offset.constant / stride;
    offset.constant %= stride;
    for (auto [term, factor] : Sum(offset).terms) {
      if (term.second || factor % stride != 0)
        continue;
      index.addTerm(term, factor / stride);
      offset.addTerm(term, factor, -1);
    }
  }
  for (size_t axis = 1; axis < indices.size(); ++axis)
    if (!isWithin(indices[axis], extents[axis], source.getDimSize(axis)))
      return false;
  if (!offset.terms.empty())
    return false;
  place.indices = std::move(indices);
  place.extents = std::move(extents);
  place.base = view.getSource();
  return true;
}

IterationPlaces::Place IterationPlaces::placeOf(const Access &access,
                                                bool entersCollapsed) const {
  Place place{access.buffer, {}, {}, {}, {}};
  if (access.isAnywhere)
    return place;
  for (auto [axis, index] : llvm::enumerate(access.place)) {
    place.indices.push_back(sumOf(index));
    place.extents.push_back(access.getExtent(axis));
  }
  memref::SubViewOp outermost;
  while (Operation *op = place.base.getDefiningOp()) {
    if (auto cast = dyn_cast<memref::CastOp>(op)) {
      if (!isa<MemRefType>(cast.getSource().getType()))
        break;
      place.base = cast.getSource();
      continue;
    }
    if (auto view = dyn_cast<memref::CollapseShapeOp>(op);
        view && entersCollapsed) {
      enterCollapsed(view, place);
      continue;
    }
    if (auto view = dyn_cast<memref::ExpandShapeOp>(op);
        view && enterExpanded(view, place))
      continue;
    if (auto view = dyn_cast<memref::ReinterpretCastOp>(op)) {
      place.elements = rangeOf(view);
      if (!place.elements && enterStrided(view, place))
        continue;
    }
    auto view = dyn_cast<memref::SubViewOp>(op);
    auto isKnown = [](OpFoldResult stride) {
      return getConstantIntValue(stride).value_or(0) > 0;
    };
    if (!view || !llvm::all_of(view.getMixedStrides(), isKnown))
      break;
    llvm::SmallBitVector dropped = getDroppedAxes(view);
    SmallVector<Sum, 1> indices;
    SmallVector<int64_t> extents;
    size_t inner = 0;
    for (auto [axis, offset] : llvm::enumerate(view.getMixedOffsets())) {
      int64_t stride = *getConstantIntValue(view.getMixedStrides()[axis]);
      indices.push_back(sumOf(offset));
      extents.push_back(1);
      if (dropped.test(axis))
        continue;
      indices.back().add(place.indices[inner], stride);
      std::optional<int64_t> extent =
          llvm::checkedMulAdd<int64_t>(place.extents[inner++] - 1, stride, 1);
      if (!extent)
        return Place{place.base, {}, {}, {}, {}};
      extents.back() = *extent;
    }
    place.indices = std::move(indices);
    place.extents = std::move(extents);
    place.base = view.getSource();
    outermost = view;
  }
  if (outermost && outermost.getSource() != place.base)
    outermost = {};
  // Indices into a view are places in the buffer only where the view is the
  // same in all iterations. Of one by strides all that it has may be known.
  if (Operation *view = place.base.getDefiningOp();
      view && isViewOp(view) && varies(place.base))
    return Place{place.base, {}, {}, {}, place.elements};
  for (auto [index, extent] : llvm::zip_equal(place.indices, place.extents)) {
    Sum length;
    length.constant = extent;
    std::optional<Range> range = rangeOf(index, length, access.op);
    if (!range && outermost)
      range = rangeOf(outermost, place.ranges.size(), access.op);
    place.ranges.push_back(std::move(range));
  }
  return place;
}

/// The number of `place`'s axis `axis`, if it is one element at a quotient or
/// remainder and what is the same in all of the nest.
const IterationPlaces::Part *IterationPlaces::findPart(const Place &place,
                                                       size_t axis) const {
  const Sum &index = place.indices[axis];
  auto isVarying = [&](const auto &entry) { return varies(entry.first.first); };
  bool isPart = index.parts.size() == 1 && !index.isOther &&
                place.extents[axis] == 1 &&
                llvm::none_of(index.terms, isVarying);
  return isPart ? &index.parts.front() : nullptr;
}

/// True if indices of `place` are quotient and remainder of a number that tells
/// the iteration.
bool IterationPlaces::tellsByParts(const Place &place) const {
  SmallVector<Part> known;
  for (size_t axis = 0; axis < place.indices.size(); ++axis)
    if (const Part *part = findPart(place, axis))
      known.push_back(*part);
  Sum one;
  one.constant = 1;
  // With quotient and remainder the number that was divided is known.
  for (size_t k = 0; k < known.size(); ++k) {
    Part part = known[k];
    bool hasOther = llvm::any_of(known, [&](Part other) {
      other.isQuotient = !other.isQuotient;
      return other == part;
    });
    if (!hasOther || !part.isQuotient)
      continue;
    Sum whole = dividedBy(part);
    if (rangeOf(whole, one))
      return true;
    if (whole.parts.size() == 1 && whole.terms.empty() && whole.constant == 0 &&
        !whole.isOther)
      known.push_back(whole.parts.front());
  }
  return false;
}

bool IterationPlaces::tells(const Place &place) const {
  auto isKnown = [](const std::optional<Range> &range) {
    return range.has_value();
  };
  return place.elements || llvm::any_of(place.ranges, isKnown) ||
         tellsByParts(place);
}

bool IterationPlaces::tellsIteration(const Access &write) const {
  return tells(placeOf(write)) ||
         tells(placeOf(write, /*entersCollapsed=*/false));
}

/// True if the parts `ranges` that an iteration has are together no more than
/// the distance of two iterations.
bool IterationPlaces::areInOnePart(ArrayRef<const Range *> ranges) const {
  const Range &one = *ranges.front();
  int64_t begin = 0, end = 0;
  for (const Range *range : ranges) {
    if (range->iterations != one.iterations || range->scale != one.scale)
      return false;
    Sum difference = range->first;
    difference.add(one.first, -1);
    if (!difference.isConstant() || (one.scale && difference.constant != 0))
      return false;
    if (one.scale)
      continue;
    std::optional<int64_t> behind =
        llvm::checkedAdd(difference.constant, *range->length);
    if (!behind)
      return false;
    begin = std::min(begin, difference.constant);
    end = std::max(end, *behind);
  }
  std::optional<int64_t> all = llvm::checkedSub(end, begin);
  return one.scale || (all && *all <= std::abs(one.iterations) * step);
}

/// The same of the parts along `axis`.
bool IterationPlaces::areInOnePart(ArrayRef<Place> places, size_t axis) const {
  SmallVector<const Range *> ranges;
  for (const Place &place : places) {
    if (!place.ranges[axis])
      return false;
    ranges.push_back(&*place.ranges[axis]);
  }
  return areInOnePart(ranges);
}

std::optional<IterationPlaces::Divided>
IterationPlaces::findDivided(const Place &place) const {
  Sum one;
  one.constant = 1;
  for (size_t axis = 0; axis < place.indices.size(); ++axis) {
    const Part *part = findPart(place, axis);
    if (!part || !part->isQuotient)
      continue;
    Part remainder = *part;
    remainder.isQuotient = false;
    for (size_t other = 0; other < place.indices.size(); ++other) {
      const Part *rest = findPart(place, other);
      if (!rest || !(*rest == remainder))
        continue;
      if (std::optional<Range> range = rangeOf(dividedBy(*part), one))
        return Divided{axis, other, *part, *range};
    }
  }
  return std::nullopt;
}

/// True if `places` are quotients and remainders of numbers, by one divisor and
/// along the same axes, that are together an iteration's part.
bool IterationPlaces::areInOneDivided(ArrayRef<Place> places) const {
  SmallVector<Divided> numbers;
  for (const Place &place : places) {
    std::optional<Divided> number = findDivided(place);
    if (!number)
      return false;
    numbers.push_back(std::move(*number));
  }
  const Divided &one = numbers.front();
  // What is added to quotient and remainder is the same everywhere.
  auto hasSameOffset = [&](const Place &place, size_t axis) {
    Sum here = place.indices[axis], first = places.front().indices[axis];
    here.parts.clear();
    first.parts.clear();
    return here.isEqual(first);
  };
  SmallVector<const Range *> ranges;
  for (auto [place, number] : llvm::zip_equal(places, numbers)) {
    if (number.quotientAxis != one.quotientAxis ||
        number.remainderAxis != one.remainderAxis ||
        number.quotient.divisor != one.quotient.divisor ||
        number.quotient.by != one.quotient.by ||
        !hasSameOffset(place, one.quotientAxis) ||
        !hasSameOffset(place, one.remainderAxis))
      return false;
    ranges.push_back(&number.range);
  }
  return areInOnePart(ranges);
}

/// True if some of `places`, in all iterations, are in front of an element
/// along an axis and the others are not, and an iteration has parts of its own
/// of either: what is put together of several results.
bool IterationPlaces::areInTwoParts(ArrayRef<Place> places) const {
  for (size_t axis = 0; axis < places.front().indices.size(); ++axis) {
    // Nothing is in front of the first element.
    llvm::SmallSetVector<int64_t, 4> bounds;
    for (const Place &place : places)
      if (place.indices[axis].constant > 0)
        bounds.insert(place.indices[axis].constant);
    for (int64_t bound : bounds) {
      SmallVector<Place, 1> before, behind;
      for (const Place &place : places) {
        Sum distance = place.indices[axis];
        distance.addConstant(bound, -1);
        std::optional<Sum> least = findFirst(distance);
        if (least && isNonNegative(*least))
          behind.push_back(place);
        else if (isWithin(place.indices[axis], place.extents[axis], bound))
          before.push_back(place);
      }
      if (!before.empty() && !behind.empty() &&
          before.size() + behind.size() == places.size())
        return areInOnePart(before) && areInOnePart(behind);
    }
  }
  return false;
}

/// True if what an iteration does at `places`, of one buffer, none of them is
/// done by another one.
bool IterationPlaces::areInOnePart(ArrayRef<Place> places) const {
  const Place &one = places.front();
  if (llvm::any_of(places, [&](const Place &place) {
        return place.base != one.base ||
               place.ranges.size() != one.ranges.size();
      }))
    return false;
  if (one.elements)
    return true;
  for (size_t axis = 0; axis < one.ranges.size(); ++axis)
    if (areInOnePart(places, axis))
      return true;
  if (areInOneDivided(places))
    return true;
  auto isInPart = [&](const Place &place) {
    for (size_t axis = 0; axis < one.indices.size(); ++axis)
      if (findPart(one, axis) &&
          (place.extents[axis] != 1 ||
           !one.indices[axis].isEqual(place.indices[axis])))
        return false;
    return true;
  };
  return (tellsByParts(one) && llvm::all_of(places, isInPart)) ||
         areInTwoParts(places);
}

StringRef
IterationPlaces::findConflict(ArrayRef<Access> accesses,
                              llvm::function_ref<Value(Value)> rootOf) const {
  llvm::MapVector<Value, SmallVector<Access>> byRoot;
  for (const Access &access : accesses)
    byRoot[rootOf(access.buffer)].push_back(access);
  for (const auto &[root, all] : byRoot) {
    SmallVector<Access> some;
    SmallVector<Place, 1> places;
    // Axes that were put together tell more than each of them, if all do what
    // they do there.
    auto areJoinedInOnePart = [&] {
      SmallVector<Place, 1> joined;
      for (const Access &access : some)
        joined.push_back(placeOf(access, /*entersCollapsed=*/false));
      return areInOnePart(joined);
    };
    for (bool writes : {true, false}) {
      for (const Access &access : all)
        if (access.writes == writes) {
          some.push_back(access);
          places.push_back(placeOf(access));
        }
      if (places.empty())
        break;
      if (varies(root) || (!areInOnePart(places) && !areJoinedInOnePart()))
        return writes ? "iterations may write to one place"
                      : "an iteration may read what another one writes";
    }
  }
  return "";
}
