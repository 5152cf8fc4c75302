//===- Coverage.cpp - Do writes cover what is read? -----------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Stores that stand side by side fill a small box. Each loop around them moves
// it along one axis, no further than it is long, so that a larger box is filled
// from where the loop begins to where it ends. The extremes of a read are those
// of the loops that it is in. Both are compared as affine expressions: what is
// the same number in both drops out, and what is left must be a constant.

#include "loopc/Dialect/Nest/Analysis/Coverage.h"
#include "loopc/Dialect/Nest/Analysis/Accesses.h"
#include "loopc/Dialect/Nest/Analysis/Bounds.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/MapVector.h"

#include <set>

using namespace mlir;
using namespace loopc;

/// So many loops are looked at for one index.
static constexpr unsigned kMaxLoops = 16;

//===----------------------------------------------------------------------===//
// Affine forms
//===----------------------------------------------------------------------===//

AffineExpr Coverage::simplify(AffineExpr expr) const {
  return simplifyAffineExpr(expr, leaves.size(), 0);
}

AffineExpr Coverage::formOf(Value index) {
  if (auto known = forms.find(index); known != forms.end())
    return known->second;
  MLIRContext *context = index.getContext();
  AffineExpr form;
  Operation *op = index.getDefiningOp();
  if (std::optional<int64_t> constant = getConstantIntValue(index)) {
    form = getAffineConstantExpr(*constant, context);
  } else if (auto apply = dyn_cast_or_null<affine::AffineApplyOp>(op)) {
    SmallVector<AffineExpr> operands;
    for (Value operand : apply.getMapOperands())
      operands.push_back(formOf(operand));
    unsigned dims = apply.getAffineMap().getNumDims();
    form = apply.getAffineMap().getResult(0).replaceDimsAndSymbols(
        ArrayRef(operands).take_front(dims),
        ArrayRef(operands).drop_front(dims));
    if (!form.isPureAffine())
      form = {};
  } else if (isa_and_nonnull<arith::AddIOp>(op)) {
    form = formOf(op->getOperand(0)) + formOf(op->getOperand(1));
  } else if (isa_and_nonnull<arith::SubIOp>(op)) {
    form = formOf(op->getOperand(0)) - formOf(op->getOperand(1));
  }
  if (!form) {
    form = getAffineDimExpr(leaves.size(), context);
    leaves.push_back(index);
  }
  form = simplify(form);
  forms[index] = form;
  return form;
}

/// By what `expr` grows where `leaf` grows by one, if that is a constant.
std::optional<int64_t> Coverage::factorOf(AffineExpr expr,
                                          AffineExpr leaf) const {
  auto factor = dyn_cast<AffineConstantExpr>(
      simplify(expr.replace(leaf, leaf + 1) - expr));
  return factor ? std::optional(factor.getValue()) : std::nullopt;
}

bool Coverage::isAtLeast(AffineExpr one, AffineExpr other) const {
  auto difference = dyn_cast<AffineConstantExpr>(simplify(one - other));
  return difference && difference.getValue() >= 0;
}

/// The leaf of `expr` that the innermost operation within `scope` defines.
std::optional<unsigned> Coverage::findInnermost(AffineExpr expr,
                                                Operation *scope) const {
  std::optional<unsigned> found;
  unsigned depth = 0;
  for (auto [k, leaf] : llvm::enumerate(leaves)) {
    if (!expr.isFunctionOfDim(k))
      continue;
    unsigned own = 1;
    Operation *op = Value(leaf).getParentBlock()->getParentOp();
    for (; op && op != scope; op = op->getParentOp())
      ++own;
    if (op && own > depth) {
      found = k;
      depth = own;
    }
  }
  return found;
}

/// The number of the last iteration of `loop`, or one that is larger.
AffineExpr Coverage::lastOf(scf::ForOp loop) {
  AffineExpr begin = formOf(loop.getLowerBound()),
             end = formOf(loop.getUpperBound());
  std::optional<int64_t> step = getConstantIntValue(loop.getStep());
  auto length = dyn_cast<AffineConstantExpr>(simplify(end - begin));
  if (!length || length.getValue() <= 0 || !step || *step <= 0)
    return end - 1;
  return begin + (length.getValue() - 1) / *step * *step;
}

/// The last value of `expr` within `scope`, or the first one: at least as far
/// on; none where nobody knows.
std::optional<AffineExpr> Coverage::findBound(AffineExpr expr, Operation *scope,
                                              bool last) {
  for (unsigned steps = 0;
       std::optional<unsigned> k = findInnermost(expr, scope); ++steps) {
    AffineExpr leaf = getAffineDimExpr(*k, expr.getContext());
    scf::ForOp loop = getLoopOf(leaves[*k]);
    std::optional<int64_t> factor = factorOf(expr, leaf);
    if (!loop || !factor || steps == kMaxLoops)
      return std::nullopt;
    bool isEnd = (*factor > 0) == last;
    AffineExpr bound = isEnd ? lastOf(loop) : formOf(loop.getLowerBound());
    expr = simplify(expr.replace(leaf, bound));
  }
  return expr;
}

//===----------------------------------------------------------------------===//
// Boxes
//===----------------------------------------------------------------------===//

/// What `read` may read in one run of `scope`: all of an axis that nobody knows
/// better; none if that has no known extent.
std::optional<Coverage::Box> Coverage::findRead(Operation *read,
                                                Operation *scope, bool isView) {
  Access access = getAccess(read);
  MLIRContext *context = read->getContext();
  Box box;
  for (auto [axis, extent] : llvm::enumerate(buffer.getType().getShape())) {
    std::optional<AffineExpr> first, last;
    if (!isView && !access.isAnywhere) {
      AffineExpr form = formOf(access.place[axis]);
      first = findBound(form, scope, /*last=*/false);
      last = findBound(form, scope, /*last=*/true);
    }
    if (first && last)
      box.push_back({*first, *last + access.getExtent(axis)});
    else if (ShapedType::isStatic(extent))
      box.push_back({getAffineConstantExpr(0, context),
                     getAffineConstantExpr(extent, context)});
    else
      return std::nullopt;
  }
  return box;
}

/// How long one axis of a box is that is put together of parts of `extent`
/// elements at `offsets`; none if there are gaps.
static std::optional<int64_t> joinParts(const std::set<int64_t> &offsets,
                                        int64_t extent) {
  int64_t next = *offsets.begin();
  for (int64_t offset : offsets) {
    if (offset != next)
      return std::nullopt;
    next += extent;
  }
  return next - *offsets.begin();
}

/// The box that `stores`, which are in one block, fill without a gap.
std::optional<Coverage::Box>
Coverage::findFilled(ArrayRef<Operation *> stores) {
  Access first = getAccess(stores.front());
  unsigned rank = first.place.size();
  std::set<SmallVector<int64_t>> places;
  SmallVector<std::set<int64_t>> offsets(rank);
  for (Operation *store : stores) {
    Access access = getAccess(store);
    SmallVector<int64_t> place;
    for (unsigned axis = 0; axis < rank; ++axis) {
      auto offset = dyn_cast<AffineConstantExpr>(
          simplify(formOf(access.place[axis]) - formOf(first.place[axis])));
      if (!offset || access.getExtent(axis) != first.getExtent(axis))
        return std::nullopt;
      place.push_back(offset.getValue());
      offsets[axis].insert(offset.getValue());
    }
    places.insert(std::move(place));
  }
  // Every combination is there.
  size_t count = 1;
  Box box;
  for (unsigned axis = 0; axis < rank; ++axis) {
    count *= offsets[axis].size();
    std::optional<int64_t> length =
        joinParts(offsets[axis], first.getExtent(axis));
    if (!length)
      return std::nullopt;
    AffineExpr begin = formOf(first.place[axis]) + *offsets[axis].begin();
    box.push_back({begin, begin + *length});
  }
  return places.size() == count ? std::optional(box) : std::nullopt;
}

/// Makes `box`, which each iteration of `loop` fills, what all of them fill;
/// false where that is no box.
bool Coverage::sweep(scf::ForOp loop, Box &box) {
  AffineExpr number = formOf(loop.getInductionVar());
  std::optional<int64_t> step = getConstantIntValue(loop.getStep());
  bool isSwept = false;
  for (Side &side : box) {
    std::optional<int64_t> factor = factorOf(side.begin, number);
    std::optional<int64_t> atEnd = factorOf(side.end, number);
    if (factor == 0 && atEnd == 0)
      continue;
    // The next iteration begins where this one ends, or before that.
    auto length = dyn_cast<AffineConstantExpr>(simplify(side.end - side.begin));
    if (isSwept || !step || !factor || factor != atEnd || *factor <= 0 ||
        !length || *factor * *step > length.getValue())
      return false;
    AffineExpr upper = formOf(loop.getUpperBound());
    side.end = simplify(side.begin.replace(number, upper));
    side.begin =
        simplify(side.begin.replace(number, formOf(loop.getLowerBound())));
    isSwept = true;
  }
  // One that goes nowhere must be there.
  std::optional<APInt> trips = loop.getStaticTripCount();
  return isSwept || (trips && !trips->isZero());
}

/// What `writer` fills; none where that is not known.
std::optional<Coverage::Box> Coverage::findWritten(const Writer &writer) {
  std::optional<Box> box = findFilled(writer.stores);
  for (Operation *op = writer.stores.front(); box && op != writer.op;) {
    op = op->getParentOp();
    auto loop = dyn_cast<scf::ForOp>(op);
    if (!loop || !sweep(loop, *box))
      return std::nullopt;
  }
  return box;
}

const std::optional<Coverage::Box> &Coverage::boxOf(const Writer &writer) {
  auto [entry, isNew] = known.try_emplace(
      {writer.op, writer.stores.front()->getBlock()}, std::nullopt);
  if (isNew)
    entry->second = findWritten(writer);
  return entry->second;
}

/// What of `wanted` is not in `there`, where that is a box: along one axis at
/// most some of it is missing, at one end. An empty one if nothing is missing;
/// none where what is missing is no box, or nobody knows.
std::optional<Coverage::Box> Coverage::subtract(const Box &wanted,
                                                const Box &there) const {
  Box rest = wanted;
  std::optional<unsigned> open;
  for (unsigned axis = 0; axis < wanted.size(); ++axis) {
    const Side &want = wanted[axis], &have = there[axis];
    bool hasBegin = isAtLeast(want.begin, have.begin),
         hasEnd = isAtLeast(have.end, want.end);
    if (hasBegin && hasEnd)
      continue;
    if (open || (!hasBegin && !hasEnd))
      return std::nullopt;
    open = axis;
    // They meet.
    if (!isAtLeast(have.end, want.begin) || !isAtLeast(want.end, have.begin))
      return std::nullopt;
    (hasBegin ? rest[axis].begin : rest[axis].end) =
        hasBegin ? have.end : have.begin;
  }
  return open ? rest : Box();
}

bool Coverage::covers(ArrayRef<Writer> writers, Operation *read,
                      Operation *scope, bool isView) {
  SmallVector<Box> parts;
  for (const Writer &writer : writers)
    if (const std::optional<Box> &box = boxOf(writer))
      parts.push_back(*box);
  std::optional<Box> wanted =
      parts.empty() ? std::nullopt : findRead(read, scope, isView);
  if (!wanted)
    return false;
  // In whatever order parts are behind one another.
  for (bool isSmaller = true; isSmaller;) {
    isSmaller = false;
    for (const Box &part : parts)
      if (std::optional<Box> rest = subtract(*wanted, part)) {
        if (rest->empty())
          return true;
        isSmaller |= *rest != *wanted;
        wanted = rest;
      }
  }
  return false;
}
