//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Windows over padded rows, as PaddedWindows.cpp plans them:
//
//     for row of the result
//       the first vector, some lanes of which read the padding in front
//       for strip of the row, whose windows are not padded
//       for what is left, a vector at a time
//
// of which each is
//
//     sums = what the result begins with
//     for rows of the window that are not padding
//       for columns of the window (written out)
//         sums = body(vectors, sums)
//     the result holds epilogue(sums)

#include "PaddedWindows.h"
#include "Rows/VectorElements.h"
#include "loopc/Dialect/Nest/IR/Parallel.h"
#include "loopc/Support/IndexEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace loopc;
using utils::IteratorType;

namespace {
/// Vectors of a row that are done at once.
struct Strip {
  unsigned vectors = 1;
  /// Lanes may be behind the row, or read what is padded behind it.
  bool isMasked = true;
  /// Lanes may read what is padded in front of the row.
  bool isFirst = false;
};

class WindowEmitter : IndexEmitter {
public:
  WindowEmitter(IRRewriter &rewriter, linalg::GenericOp op,
                const WindowPlan &plan)
      : IndexEmitter(op.getLoc(), rewriter), rewriter(rewriter), op(op),
        plan(plan), padded(plan.padded),
        map(op.getMatchingIndexingMap(plan.input)), last(op.getNumLoops() - 1),
        stride(*along(map.getNumResults() - 1, last)),
        before(*getConstantIntValue(padded.part.getMixedOffsets().back())) {}

  void emit();

private:
  std::optional<int64_t> along(unsigned axis, unsigned dim) {
    return stepAlong(map.getResult(axis), dim, op.getNumLoops());
  }
  Value notNegative(Value x) {
    return b.createOrFold<arith::MaxSIOp>(x, index(0));
  }
  /// Steps of `step` that it takes to come to `distance`; none if it is less
  /// than 0.
  Value stepsTo(Value distance, int64_t step) {
    distance = add(notNegative(distance), index(step - 1));
    return b.createOrFold<arith::DivUIOp>(distance, index(step));
  }
  Value maskOfFirstLanes(Value count) {
    return b.createOrFold<vector::CreateMaskOp>(
        VectorType::get({plan.lanes}, b.getI1Type()), count);
  }
  /// Elements of a row that are reduced for one of the result.
  int64_t rowWindow() {
    return plan.rowWindow ? knownExtents(op)[*plan.rowWindow] : 1;
  }
  /// The place in the source of what the loops `at` read along `axis`.
  Value sourcePlace(unsigned axis, ArrayRef<Value> at) {
    SmallVector<Value> dims(at);
    for (Value &dim : dims)
      if (!dim)
        dim = index(0);
    Value place = applyTo(b, map.getResult(axis), dims);
    return sub(place, toValue(padded.part.getMixedOffsets()[axis]));
  }
  Value load(ValueRange place, const Strip &strip);
  Value read(ArrayRef<Value> at, const Strip &strip);
  SmallVector<Value> reduceColumns(SmallVector<Value> at,
                                   ArrayRef<Value> columns, const Strip &strip,
                                   SmallVector<Value> sums);
  SmallVector<Value> reduceRows(SmallVector<Value> at, ArrayRef<Value> columns,
                                const Strip &strip, SmallVector<Value> sums);
  SmallVector<Value> startOf(SmallVector<Value> at, ArrayRef<Value> columns,
                             Value mask);
  void findRows(SmallVector<Value> at);
  SmallVector<Value> placeBy(AffineMap by, ArrayRef<Value> at);
  void store(ArrayRef<Value> at, Value mask, Value sums);
  void emitStrip(SmallVector<Value> at, const Strip &strip);
  void emitRow(SmallVector<Value> &at);
  void erase();

  IRRewriter &rewriter;
  linalg::GenericOp op;
  const WindowPlan &plan;
  PaddedCopy padded;
  AffineMap map;              ///< of the input
  unsigned last;              ///< number of the last loop
  int64_t stride;             ///< of windows along a row
  int64_t before;             ///< elements of padding in front of a row
  Value width;                ///< elements of a row of the source
  SmallVector<Value> extents; ///< of the loops
  /// What is reduced, but along rows, from where to where.
  SmallVector<std::pair<unsigned, std::pair<Value, Value>>> rowBounds;
};
} // namespace

/// The neighbours at `place` of the source. Lanes outside of the row are what
/// the padding is filled with.
Value WindowEmitter::load(ValueRange place, const Strip &strip) {
  if (!strip.isMasked && !strip.isFirst)
    return loadLanes(b, padded.source(), place, Value(), plan.lanes);
  Value column = place.back();
  Value mask = maskOfFirstLanes(sub(width, column));
  if (strip.isFirst) {
    Value outside = maskOfFirstLanes(sub(index(0), column));
    Value all = arith::ConstantOp::create(
        b, cast<TypedAttr>(b.getOneAttr(outside.getType())));
    Value inside = b.createOrFold<arith::XOrIOp>(outside, all);
    mask = b.createOrFold<arith::AndIOp>(mask, inside);
  }
  Type element = getElementTypeOrSelf(padded.source().getType());
  return vector::MaskedLoadOp::create(b, VectorType::get({plan.lanes}, element),
                                      padded.source(), place, mask,
                                      widen(b, padded.filler(), plan.lanes));
}

/// The elements of the source for the vector of the result at `at`.
Value WindowEmitter::read(ArrayRef<Value> at, const Strip &strip) {
  SmallVector<Value> place;
  for (unsigned axis = 0; axis < map.getNumResults(); ++axis)
    place.push_back(sourcePlace(axis, at));
  Value lead = load(place, strip);
  if (stride == 1)
    return lead;
  // Every second number of two vectors, of which the second ends with the last
  // number that is wanted.
  place.back() = add(place.back(), index(plan.lanes - 1));
  Value trail = load(place, strip);
  SmallVector<int64_t> from;
  for (int64_t k = 0; k < plan.lanes; ++k)
    from.push_back(2 * k < plan.lanes ? 2 * k : 2 * k + 1);
  return vector::ShuffleOp::create(b, lead, trail, from);
}

/// The sums of `columns`, once the columns of their windows are in them.
SmallVector<Value> WindowEmitter::reduceColumns(SmallVector<Value> at,
                                                ArrayRef<Value> columns,
                                                const Strip &strip,
                                                SmallVector<Value> sums) {
  for (int64_t k = 0; k < rowWindow(); ++k) {
    if (plan.rowWindow)
      at[*plan.rowWindow] = index(k);
    for (auto [column, sum] : llvm::zip_equal(columns, sums)) {
      at[last] = column;
      IRMapping mapping;
      mapping.map(op.getMatchingBlockArgument(plan.input), read(at, strip));
      mapping.map(op.getRegionOutputArgs()[0], sum);
      sum = cloneWide(b, *op.getBody(), mapping, plan.lanes).front();
    }
  }
  return sums;
}

/// The same of all rows of the windows but those of padding.
SmallVector<Value> WindowEmitter::reduceRows(SmallVector<Value> at,
                                             ArrayRef<Value> columns,
                                             const Strip &strip,
                                             SmallVector<Value> sums) {
  SmallVector<Value> begins, ends;
  for (auto [dim, bounds] : rowBounds) {
    begins.push_back(bounds.first);
    ends.push_back(bounds.second);
  }
  SmallVector<Value> steps(begins.size(), index(1));
  auto body = [&](OpBuilder &, Location, ValueRange numbers, ValueRange args) {
    for (auto [bounds, number] : llvm::zip_equal(rowBounds, numbers))
      at[bounds.first] = number;
    return reduceColumns(at, columns, strip, SmallVector<Value>(args));
  };
  return scf::buildLoopNest(b, b.getLoc(), begins, ends, steps, sums, body)
      .results;
}

/// Finds which rows of the windows at `at` are not padding.
void WindowEmitter::findRows(SmallVector<Value> at) {
  for (unsigned dim : plan.reduced) {
    if (dim == plan.rowWindow)
      continue;
    Value begin = index(0), end = extents[dim];
    for (auto [axis, window] : llvm::enumerate(plan.windows)) {
      if (window != dim)
        continue;
      at[dim] = index(0);
      Value first = sourcePlace(axis, at);
      int64_t step = *along(axis, dim);
      Value size = toValue(padded.part.getMixedSizes()[axis]);
      begin = b.createOrFold<arith::MaxSIOp>(
          begin, stepsTo(sub(index(0), first), step));
      end =
          b.createOrFold<arith::MinSIOp>(end, stepsTo(sub(size, first), step));
    }
    rowBounds.push_back({dim, {begin, end}});
  }
}

SmallVector<Value> WindowEmitter::placeBy(AffineMap by, ArrayRef<Value> at) {
  SmallVector<Value> dims(at);
  for (Value &dim : dims)
    if (!dim)
      dim = index(0);
  SmallVector<Value> place;
  for (AffineExpr expr : by.getResults())
    place.push_back(applyTo(b, expr, dims));
  return place;
}

SmallVector<Value> WindowEmitter::startOf(SmallVector<Value> at,
                                          ArrayRef<Value> columns, Value mask) {
  SmallVector<Value> sums;
  OpOperand &init = *op.getDpsInitOperand(0);
  for (Value column : columns) {
    at[last] = column;
    sums.push_back(
        plan.start.filled
            ? widen(b, plan.start.filled, plan.lanes)
            : loadLanes(b, init.get(),
                        placeBy(op.getMatchingIndexingMap(&init), at), mask,
                        plan.lanes));
  }
  return sums;
}

/// Stores `sums`, or what the epilogue makes of them.
void WindowEmitter::store(ArrayRef<Value> at, Value mask, Value sums) {
  OpOperand *target = op.getDpsInitOperand(0);
  AffineMap to = op.getMatchingIndexingMap(target);
  if (linalg::GenericOp next = plan.epilogue.op) {
    IRMapping values;
    for (auto [k, operand] : llvm::enumerate(next.getDpsInputOperands())) {
      BlockArgument argument = next.getMatchingBlockArgument(operand);
      AffineMap from = plan.epilogue.maps[k];
      if (argument.use_empty())
        continue;
      if (k == plan.epilogue.sums) {
        values.map(argument, sums);
        continue;
      }
      SmallVector<Value> place = placeBy(from, at);
      values.map(argument,
                 from.isFunctionOfDim(last)
                     ? loadLanes(b, operand->get(), place, mask, plan.lanes)
                     : widen(b,
                             memref::LoadOp::create(b, operand->get(), place),
                             plan.lanes));
    }
    sums = cloneWide(b, *next.getBody(), values, plan.lanes).front();
    target = next.getDpsInitOperand(0);
    to = plan.epilogue.maps.back();
  }
  storeLanes(b, sums, target->get(), placeBy(to, at), mask);
}

/// The vectors of a row from at[last] on.
void WindowEmitter::emitStrip(SmallVector<Value> at, const Strip &strip) {
  SmallVector<Value> columns;
  for (unsigned k = 0; k < strip.vectors; ++k)
    columns.push_back(add(at[last], index(k * plan.lanes)));
  Value mask;
  if (strip.isMasked)
    mask = maskOfFirstLanes(sub(extents[last], at[last]));
  SmallVector<Value> sums =
      reduceRows(at, columns, strip, startOf(at, columns, mask));
  for (auto [column, sum] : llvm::zip_equal(columns, sums)) {
    at[last] = column;
    store(at, mask, sum);
  }
}

void WindowEmitter::emitRow(SmallVector<Value> &at) {
  auto loop = [&](Value begin, Value end, const Strip &strip) {
    std::optional<int64_t> from = getConstantIntValue(begin),
                           to = getConstantIntValue(end);
    if (begin == end || (from && to && *from >= *to))
      return;
    OpBuilder::InsertionGuard guard(b);
    auto strips =
        scf::ForOp::create(b, begin, end, index(strip.vectors * plan.lanes));
    markParallel(strips);
    b.setInsertionPointToStart(strips.getBody());
    at[last] = strips.getInductionVar();
    emitStrip(at, strip);
  };
  Value begin = index(0);
  if (before != 0) {
    begin = b.createOrFold<arith::MinSIOp>(extents[last], index(plan.lanes));
    loop(index(0), begin, {.isFirst = true});
    begin = index(plan.lanes);
  }
  // Columns whose windows end within the row.
  int64_t reach =
      plan.rowWindow
          ? *along(map.getNumResults() - 1, *plan.rowWindow) * (rowWindow() - 1)
          : 0;
  Value inside = stepsTo(add(width, index(before - reach)), stride);
  inside = b.createOrFold<arith::MinSIOp>(inside, extents[last]);
  Value step = index(plan.vectors * plan.lanes);
  Value count = notNegative(sub(inside, begin));
  count = sub(count, b.createOrFold<arith::RemUIOp>(count, step));
  Value end = add(begin, count);
  loop(begin, end,
       {.vectors = static_cast<unsigned>(plan.vectors), .isMasked = false});
  loop(end, extents[last], {});
}

void WindowEmitter::erase() {
  Value buffer = padded.part.getSource();
  rewriter.eraseOp(op);
  rewriter.eraseOp(padded.copy);
  rewriter.eraseOp(padded.part);
  rewriter.eraseOp(padded.fill);
  for (Operation *user : llvm::make_early_inc_range(buffer.getUsers()))
    rewriter.eraseOp(user);
  rewriter.eraseOp(buffer.getDefiningOp());
  if (plan.start.writer)
    rewriter.eraseOp(plan.start.writer);
  if (plan.epilogue.op)
    rewriter.eraseOp(plan.epilogue.op);
}

void WindowEmitter::emit() {
  Operation *place = op;
  if (plan.epilogue.op)
    place = plan.epilogue.op;
  for (ArrayRef<Operation *> freed :
       {ArrayRef(padded.freed), ArrayRef(plan.epilogue.behind)})
    for (Operation *each : llvm::reverse(freed))
      each->moveAfter(place);
  b.setInsertionPoint(place);
  for (OpFoldResult extent : createExtents(b, op))
    extents.push_back(toValue(extent));
  width = toValue(padded.part.getMixedSizes().back());
  SmallVector<Value> at(last + 1);
  SmallVector<IteratorType> kinds = op.getIteratorTypesArray();
  for (unsigned k = 0; k < last; ++k) {
    if (kinds[k] == IteratorType::reduction)
      continue;
    auto rows = scf::ForOp::create(b, index(0), extents[k], index(1));
    markParallel(rows);
    at[k] = rows.getInductionVar();
    b.setInsertionPointToStart(rows.getBody());
  }
  findRows(at);
  emitRow(at);
  erase();
}

void loopc::emitWindows(IRRewriter &rewriter, linalg::GenericOp op,
                        const WindowPlan &plan) {
  WindowEmitter(rewriter, op, plan).emit();
}
