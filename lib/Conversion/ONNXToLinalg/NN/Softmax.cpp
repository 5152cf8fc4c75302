//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Softmax and its relatives.

#include "Framework/ElementwiseUtils.h"
#include "Framework/ShapeUtils.h"

using namespace mlir;
using namespace loopc;

/// The axes that are normalized together: one, or before version 13 all from
/// `axis` on (the operand was seen as a matrix).
static FailureOr<SmallVector<int64_t>> normalizedTogether(NodeLowering &l) {
  int64_t rank = l.rank(0);
  if (l.node.getSinceVersion() >= 13) {
    FailureOr<int64_t> axis = l.axisAttr("axis", rank, -1);
    if (failed(axis))
      return failure();
    return SmallVector<int64_t>{*axis};
  }
  int64_t axis = l.intAttr("axis", 1);
  // An axis behind the last gives rows of one element.
  if (axis != rank) {
    FailureOr<int64_t> normal = l.normalizeAxis(axis, rank);
    if (failed(normal))
      return failure();
    axis = *normal;
  }
  return llvm::to_vector(llvm::seq(axis, rank));
}

namespace {
/// The operand of a softmax, and its rows' maxima.
struct Rows {
  SpaceOperand value, maximum;
  Dims dims;
  SmallVector<int64_t> axes, kept;
  Type element, compute;
};
} // namespace

static FailureOr<Rows> readRows(NodeLowering &l) {
  if (failed(requireArithmetic(l)))
    return failure();
  FailureOr<SmallVector<int64_t>> axes = normalizedTogether(l);
  if (failed(axes))
    return failure();
  Rows rows;
  int64_t rank = l.rank(0);
  rows.dims = l.dims(l.in(0));
  rows.axes = *axes;
  rows.kept = otherAxes(rank, *axes);
  rows.element = l.elementType(0);
  rows.compute = NodeLowering::computeType(rows.element);
  rows.value = {l.in(0), allAxes(rank)};
  Value maximum = reduceSpace(l, rows.value, rows.dims, rows.axes,
                              Combiner::Max, rows.compute, /*isUnsigned=*/false,
                              [&](ScalarBuilder &s, ArrayRef<Value> e) {
                                return s.cast(e[0], rows.compute);
                              });
  rows.maximum = {maximum, rows.kept};
  return rows;
}

static LogicalResult lowerSoftmax(NodeLowering &l) {
  FailureOr<Rows> rows = readRows(l);
  if (failed(rows))
    return failure();
  SpaceOperand powers = {
      mapSpace(l, {rows->value, rows->maximum}, rows->dims, rows->compute,
               [&](ScalarBuilder &s, ArrayRef<Value> e) {
                 return s.exp(s.sub(s.cast(e[0], rows->compute), e[1]));
               }),
      rows->value.axes};
  Value sum =
      reduceSpace(l, powers, rows->dims, rows->axes, Combiner::Sum,
                  rows->compute, /*isUnsigned=*/false,
                  [](ScalarBuilder &, ArrayRef<Value> e) { return e[0]; });
  // One division for a row. The sum is 1 at least.
  Value share = l.elementwise(
      sum, rows->compute, [&](OpBuilder &b, Location loc, ValueRange e) {
        ScalarBuilder s(b, loc);
        return s.div(s.constant(rows->compute, 1), e[0]);
      });
  l.setResult(mapSpace(l, {powers, {share, rows->kept}}, rows->dims,
                       rows->element, [&](ScalarBuilder &s, ArrayRef<Value> e) {
                         return s.cast(s.mul(e[0], e[1]), rows->element);
                       }));
  return success();
}

/// (x - m) - log(sum(exp(x - m))).
static LogicalResult lowerLogSoftmax(NodeLowering &l) {
  FailureOr<Rows> rows = readRows(l);
  if (failed(rows))
    return failure();
  Value sum =
      reduceSpace(l, {rows->value, rows->maximum}, rows->dims, rows->axes,
                  Combiner::Sum, rows->compute, /*isUnsigned=*/false,
                  [&](ScalarBuilder &s, ArrayRef<Value> e) {
                    return s.exp(s.sub(s.cast(e[0], rows->compute), e[1]));
                  });
  Value logarithm = l.elementwise(
      sum, rows->compute, [](OpBuilder &b, Location loc, ValueRange e) {
        return ScalarBuilder(b, loc).make<math::LogOp>(e[0]);
      });
  l.setResult(mapSpace(
      l, {rows->value, rows->maximum, {logarithm, rows->kept}}, rows->dims,
      rows->element, [&](ScalarBuilder &s, ArrayRef<Value> e) {
        Value shifted = s.sub(s.cast(e[0], rows->compute), e[1]);
        return s.cast(s.sub(shifted, e[2]), rows->element);
      }));
  return success();
}

/// 1 at the first maximum, else 0.
static LogicalResult lowerHardmax(NodeLowering &l) {
  if (failed(requireArithmetic(l)))
    return failure();
  FailureOr<SmallVector<int64_t>> axes = normalizedTogether(l);
  if (failed(axes))
    return failure();
  Value value = l.in(0);
  Dims dims = l.dims(value);
  int64_t axis = axes->empty() ? 1 : axes->front();
  // Rows over several axes: as a matrix.
  bool isMatrix = axes->size() != 1;
  if (isMatrix) {
    size_t rows = dims.size() - axes->size();
    ArrayRef<OpFoldResult> all = dims;
    value = reshapeByGroups(
        l, value,
        {l.product(all.take_front(rows)), l.product(all.drop_front(rows))});
    axis = 1;
  }
  Dims space = l.dims(value);
  int64_t rank = space.size();
  if (isKnownEmpty(space)) {
    l.setResult(l.in(0));
    return success();
  }
  Type element = l.elementType(0), i64 = l.b.getI64Type();
  Value index = argExtremum(l, value, axis, Combiner::Max,
                            /*isUnsigned=*/false, /*wantsLast=*/false);
  Value result = mapSpace(
      l, SpaceOperand{index, otherAxes(rank, axis)}, space, element,
      [&](ScalarBuilder &s, ArrayRef<Value> e) {
        Value at = linalg::IndexOp::create(s.b, s.loc, axis);
        Value isIt = s.equal(s.make<arith::IndexCastOp>(i64, at), e[0]);
        return s.select(isIt, s.constant(element, 1), s.constant(element, 0));
      });
  l.setResult(isMatrix ? reshapeByGroups(l, result, dims) : result);
  return success();
}

void loopc::addSoftmaxRows(LoweringTable &table) {
  table.add({
      {"", "Softmax", 1, kLatest, lowerSoftmax},
      {"", "LogSoftmax", 1, kLatest, lowerLogSoftmax},
      {"", "Hardmax", 1, kLatest, lowerHardmax},
  });
}
