//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// CumSum and CumProd.

#include "Framework/ElementwiseUtils.h"
#include "Framework/ShapeUtils.h"
#include "loopc/Dialect/Loop/IR/Loop.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace loopc;
using IP = arith::CmpIPredicate;

/// Rows that are worth a vector.
static constexpr int64_t kMinColumns = 4;

namespace {
/// How elements are accumulated along an axis.
struct Accumulation {
  Combiner combiner;
  bool exclusive, reverse;
  /// Type of the elements and of what they are accumulated in.
  Type element, compute;
};
} // namespace

/// Position `k` of `extent` from the end that the accumulation begins at.
static Value fromStart(NodeLowering &l, const Accumulation &a, Value k,
                       OpFoldResult extent) {
  if (!a.reverse)
    return k;
  return l.asIndex(l.sub(l.sub(extent, l.fold(1)), k));
}

/// Along `axis`, as a loop over what lies across it: it runs as a Scan over
/// that axis does.
static Value accumulateSlices(NodeLowering &l, const Accumulation &a,
                              Value value, int64_t axis, Value identity) {
  Dims dims = l.dims(value), across = dims;
  across.erase(across.begin() + axis);
  auto [shape, dynamic] = decomposeMixedValues(dims);
  auto type = RankedTensorType::get(shape, a.element);
  value = l.b.createOrFold<tensor::CastOp>(l.b.getLoc(), type, value);
  Value start = l.filled(across, identity);
  Type i64 = l.b.getI64Type();
  Value trips = l.b.createOrFold<arith::IndexCastOp>(l.b.getLoc(), i64,
                                                     l.asIndex(dims[axis]));
  SmallVector<int64_t> acrossShape(shape);
  acrossShape.erase(acrossShape.begin() + axis);
  auto slice = RankedTensorType::get(acrossShape, a.element);
  loop::LoopSignature signature(trips);
  signature.inits = {start};
  signature.slices.push_back({value, slice, axis, a.reverse});
  signature.collected.push_back({type, axis, a.reverse, /*length=*/Value()});
  auto loop = loop::LoopOp::create(l.b, l.b.getLoc(), signature);
  {
    OpBuilder::InsertionGuard guard(l.b);
    l.b.setInsertionPointToEnd(loop.getLoopBody());
    auto map = [&](ArrayRef<Value> slices, Type element, ScalarsBody body) {
      SmallVector<SpaceOperand> operands;
      for (Value each : slices)
        operands.push_back({each, allAxes(across.size())});
      return mapSpace(l, operands, across, element, body);
    };
    Value before = loop.getCarriedArgs()[0];
    Value next = map({loop.getSliceArgs()[0], before}, a.compute,
                     [&](ScalarBuilder &s, ArrayRef<Value> e) {
                       return combineScalars(s, a.combiner,
                                             s.cast(e[0], a.compute), e[1]);
                     });
    Value stored = map(a.exclusive ? before : next, a.element,
                       [&](ScalarBuilder &s, ArrayRef<Value> e) {
                         return s.cast(e[0], a.element);
                       });
    loop::YieldOp::create(l.b, l.b.getLoc(), l.constantInt(l.b.getI1Type(), 1),
                          next, stored);
  }
  Value result = loop.getResult(1);
  if (!type.isDynamicDim(axis) || slice.hasStaticShape())
    return result;
  // A loop that does not run knows nothing of the extents of its slices.
  Value isEmpty = compare(l, IP::eq, dims[axis], l.fold(0));
  return ifElse(
      l, type, isEmpty, [&] { return l.empty(dims, a.element); },
      [&] { return result; });
}

/// Along the last axis of a matrix with few rows: the accumulator is a scalar.
static Value accumulateRows(NodeLowering &l, const Accumulation &a, Value value,
                            Value identity) {
  Dims dims = l.dims(value);
  ScalarBuilder s(l.b, l.b.getLoc());
  Value init = l.empty(dims, a.element);
  auto accumulateRow = [&](ValueRange row, ValueRange outer) {
    SmallVector<Value> end = loopNest(
        l, dims[1], {outer[0], identity}, [&](ValueRange k, ValueRange inner) {
          Value at = fromStart(l, a, k[0], dims[1]);
          Value x = elementAt(l, value, {row[0], at});
          Value next =
              combineScalars(s, a.combiner, s.cast(x, a.compute), inner[1]);
          Value stored = s.cast(a.exclusive ? inner[1] : next, a.element);
          Value out = tensor::InsertOp::create(l.b, stored, inner[0],
                                               ValueRange{row[0], at});
          return SmallVector<Value>{out, next};
        });
    return SmallVector<Value>{end[0]};
  };
  return loopNest(l, dims[0], init, accumulateRow, /*numParallel=*/1)[0];
}

/// Elementwise of rows, all of `columns` elements.
static Value mapRows(NodeLowering &l, ArrayRef<Value> rows,
                     OpFoldResult columns, Type type, ScalarsBody body) {
  SmallVector<SpaceOperand> operands;
  for (Value row : rows)
    operands.push_back({row, {0}});
  return mapSpace(l, operands, columns, type, body);
}

/// Along the middle axis of three, where the result has the type that is
/// computed in: each row from the one before it in the result.
static Value accumulateInResult(NodeLowering &l, const Accumulation &a,
                                Value value, Value identity) {
  Dims dims = l.dims(value);
  OpFoldResult one = l.fold(1), zero = l.fold(0);
  Dims sizes = {one, one, dims[2]};
  // The first row, if there is one, and all others.
  OpFoldResult first = minSigned(l, dims[1], one);
  OpFoldResult others = l.sub(dims[1], first);
  auto place = [&](Value plane, OpFoldResult k) -> Dims {
    return {plane, fromStart(l, a, l.asIndex(k), dims[1]), zero};
  };
  auto combine = [&](Value x, Value before) {
    return mapRows(l, {x, before}, dims[2], a.compute,
                   [&](ScalarBuilder &s, ArrayRef<Value> e) {
                     return combineScalars(s, a.combiner, e[0], e[1]);
                   });
  };
  auto rowOf = [&](Value from, const Dims &offsets) {
    return sliceDropping(l, from, offsets, sizes, {0, 1});
  };
  auto put = [&](Value row, Value into, const Dims &offsets) {
    Value out = l.insert(row, into, offsets, sizes, /*strides=*/{}, {0, 1});
    return SmallVector<Value>{out};
  };
  Value init = l.empty(dims, a.element);
  return loopNest(l, dims[0], init, [&](ValueRange plane, ValueRange outer) {
    Value begun =
        loopNest(l, first, outer[0], [&](ValueRange k, ValueRange inner) {
          Dims here = place(plane[0], k[0]);
          Value row = l.filled(dims[2], identity);
          if (!a.exclusive)
            row = combine(rowOf(value, here), row);
          return put(row, inner[0], here);
        })[0];
    return loopNest(l, others, begun, [&](ValueRange k, ValueRange inner) {
      Dims before = place(plane[0], k[0]);
      Dims here = place(plane[0], l.add(k[0], one));
      Value x = rowOf(value, a.exclusive ? before : here);
      return put(combine(x, rowOf(inner[0], before)), inner[0], here);
    });
  })[0];
}

/// Along the middle axis of three: the accumulator is a row.
static Value accumulatePlanes(NodeLowering &l, const Accumulation &a,
                              Value value, Value identity) {
  if (a.element == a.compute)
    return accumulateInResult(l, a, value, identity);
  Dims dims = l.dims(value);
  OpFoldResult one = l.fold(1), zero = l.fold(0);
  Dims sizes = {one, one, dims[2]};
  Value init = l.empty(dims, a.element);
  return loopNest(l, dims[0], init, [&](ValueRange plane, ValueRange outer) {
    Value start = l.filled(dims[2], identity);
    SmallVector<Value> end = loopNest(
        l, dims[1], {outer[0], start}, [&](ValueRange k, ValueRange inner) {
          Value at = fromStart(l, a, k[0], dims[1]);
          Dims offsets = {plane[0], at, zero};
          Value x = sliceDropping(l, value, offsets, sizes, {0, 1});
          Value next =
              mapRows(l, {x, inner[1]}, dims[2], a.compute,
                      [&](ScalarBuilder &s, ArrayRef<Value> e) {
                        return combineScalars(s, a.combiner,
                                              s.cast(e[0], a.compute), e[1]);
                      });
          Value stored =
              mapRows(l, a.exclusive ? inner[1] : next, dims[2], a.element,
                      [&](ScalarBuilder &s, ArrayRef<Value> e) {
                        return s.cast(e[0], a.element);
                      });
          Value out = l.insert(stored, inner[0], offsets, sizes,
                               /*strides=*/{}, {0, 1});
          return SmallVector<Value>{out, next};
        });
    return SmallVector<Value>{end[0]};
  })[0];
}

/// Along an axis that only the run knows: each element from the one before it
/// in the result, which C order (or its reverse) has already.
static Value accumulateAtRunTime(NodeLowering &l, const Accumulation &a,
                                 Value value, Value axis, Value identity) {
  Dims dims = l.dims(value);
  int64_t rank = dims.size();
  ScalarBuilder s(l.b, l.b.getLoc());
  SmallVector<Value> isAxis;
  for (int64_t k = 0; k < rank; ++k)
    isAxis.push_back(compare(l, IP::eq, axis, l.fold(k)));
  Value init = l.empty(dims, a.compute);
  Value sums =
      loopNest(l, dims, init, [&](ValueRange order, ValueRange carried) {
        SmallVector<Value> at, before;
        Value isFirst = s.integer(l.b.getI1Type(), 0);
        for (int64_t k = 0; k < rank; ++k) {
          at.push_back(fromStart(l, a, order[k], dims[k]));
          Value atStart = compare(l, IP::eq, order[k], l.fold(0));
          Value here = both(l, isAxis[k], atStart);
          isFirst = either(l, isFirst, here);
          // The first stays where it is: what is read there is not used.
          Value moves = both(l, isAxis[k], s.invert(atStart));
          Value previous = l.asIndex(a.reverse ? l.add(at[k], l.fold(1))
                                               : l.sub(at[k], l.fold(1)));
          before.push_back(s.select(moves, previous, at[k]));
        }
        Value old = tensor::ExtractOp::create(l.b, carried[0], before);
        Value sum = s.select(isFirst, identity, old);
        Value x = elementAt(l, value, a.exclusive ? before : at);
        x = s.cast(x, a.compute);
        Value next = combineScalars(s, a.combiner, x, sum);
        if (a.exclusive)
          next = s.select(isFirst, identity, next);
        return SmallVector<Value>{
            tensor::InsertOp::create(l.b, next, carried[0], at)};
      })[0];
  if (a.element == a.compute)
    return sums;
  return l.elementwise(sums, a.element,
                       [&](OpBuilder &b, Location loc, ValueRange e) {
                         return ScalarBuilder(b, loc).cast(e[0], a.element);
                       });
}

template <Combiner combiner>
static LogicalResult lowerCumulative(NodeLowering &l) {
  if (failed(requireArithmetic(l)))
    return failure();
  int64_t rank = l.rank(0);
  Accumulation a = {combiner, l.intAttr("exclusive", 0) != 0,
                    l.intAttr("reverse", 0) != 0, l.elementType(0),
                    NodeLowering::computeType(l.elementType(0))};
  ScalarBuilder s(l.b, l.b.getLoc());
  Value identity = identityOf(s, combiner, a.compute), value = l.in(0);
  Dims given = {OpFoldResult(l.toIndex(l.scalar(l.in(1))))};
  if (std::optional<int64_t> constant = getConstantIntValue(given[0]))
    given[0] = l.fold(*constant);
  FailureOr<Dims> axes = normalizedAxes(l, given, rank);
  if (failed(axes))
    return failure();
  std::optional<int64_t> axis = getConstantIntValue(axes->front());
  if (!axis) {
    l.setResult(
        accumulateAtRunTime(l, a, value, l.asIndex(axes->front()), identity));
    return success();
  }
  Dims dims = l.dims(value);
  ArrayRef<OpFoldResult> all = dims;
  OpFoldResult outer = l.product(all.take_front(*axis));
  OpFoldResult inner = l.product(all.drop_front(*axis + 1));
  bool inVectors =
      a.element.isIntOrFloat() && a.element.getIntOrFloatBitWidth() >= 8;
  bool isStatic = getConstantIntValue(l.product(all)).has_value();
  Value result;
  if (isConstantIntValue(inner, 1)) {
    value = reshapeByGroups(l, value, {outer, dims[*axis]});
    std::optional<int64_t> rows = getConstantIntValue(outer);
    // Columns of small floats are not transposed in registers.
    bool isNarrow = a.element != a.compute;
    result = !inVectors || isNarrow || (rows && *rows < kMinColumns)
                 ? accumulateRows(l, a, value, identity)
                 : accumulateSlices(l, a, value, 1, identity);
  } else if (inVectors && isConstantIntValue(outer, 1) &&
             getConstantIntValue(inner)) {
    value = reshapeByGroups(l, value, {dims[*axis], inner});
    result = accumulateSlices(l, a, value, 0, identity);
  } else {
    // Of open extents the loop's state would be one tensor of all planes, which
    // no tile of registers holds through all iterations.
    value = reshapeByGroups(l, value, {outer, dims[*axis], inner});
    result = inVectors && isStatic ? accumulateSlices(l, a, value, 1, identity)
                                   : accumulatePlanes(l, a, value, identity);
  }
  l.setResult(reshapeByGroups(l, result, dims));
  return success();
}

void loopc::addCumulativeRows(LoweringTable &table) {
  table.add({
      {"", "CumSum", 11, kLatest, lowerCumulative<Combiner::Sum>},
      {"", "CumProd", 26, kLatest, lowerCumulative<Combiner::Prod>},
  });
}
