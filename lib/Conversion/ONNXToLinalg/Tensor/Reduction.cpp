//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Reductions: Reduce*, ArgMax, ArgMin, global pooling. Over axes that are known
// they are linalg.generic; over axes that only the run knows, loops in which
// each element finds its place in the result.

#include "Framework/ElementwiseUtils.h"
#include "Framework/ShapeUtils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace loopc;
using IP = arith::CmpIPredicate;

//===----------------------------------------------------------------------===//
// Axes
//===----------------------------------------------------------------------===//

namespace {
/// What a node reduces over.
struct ReducedAxes {
  bool keepDims = true;
  /// Ascending, where they are known.
  SmallVector<int64_t> fixed;
  /// Otherwise, for each axis of the operand, whether it is reduced (i1).
  SmallVector<Value> flags;
  /// Number of axes that stay, where `flags` are used and it is known.
  std::optional<int64_t> kept;
};
} // namespace

/// The axes as the node's attribute or constant input gives them; nothing where
/// they are computed at run time.
static std::optional<SmallVector<int64_t>> givenAxes(NodeLowering &l) {
  if (std::optional<SmallVector<int64_t>> values = l.intsAttr("axes"))
    return values;
  if (!l.has(1))
    return SmallVector<int64_t>();
  if (std::optional<SmallVector<int64_t>> values = l.constantInts(1))
    return values;
  if (isConstantIntValue(lengthOf(l, 1), 0))
    return SmallVector<int64_t>();
  return std::nullopt;
}

/// flags[k] becomes true where `axis` is k.
static void markAxis(NodeLowering &l, Value axis,
                     MutableArrayRef<Value> flags) {
  for (auto [k, flag] : llvm::enumerate(flags))
    flag = either(l, flag, compare(l, IP::eq, axis, l.fold(k)));
}

/// Number of flags that are set, as index.
static Value countFlags(NodeLowering &l, ArrayRef<Value> flags) {
  OpFoldResult count = l.fold(0);
  for (Value flag : flags)
    count = l.add(count, select(l, flag, l.fold(1), l.fold(0)));
  return l.asIndex(count);
}

/// Axes of a number that is known.
static LogicalResult readCountedAxes(NodeLowering &l, int64_t count,
                                     ReducedAxes &axes) {
  int64_t rank = l.rank(0);
  if (count > rank)
    return l.refuse("'axes' has " + Twine(count) +
                    " elements but the input has rank " + Twine(rank));
  FailureOr<Dims> given = integers(l, 1, count, "axes");
  if (failed(given))
    return failure();
  given = normalizedAxes(l, *given, rank);
  if (failed(given))
    return failure();
  for (OpFoldResult axis : *given)
    markAxis(l, l.asIndex(axis), axes.flags);
  Value distinct = countFlags(l, axes.flags);
  l.check(compare(l, IP::eq, distinct, l.fold(count)),
          "'axes' names an axis twice");
  axes.kept = rank - count;
  return success();
}

/// Axes of a number that only the run knows; none of them may mean all.
static LogicalResult readUncountedAxes(NodeLowering &l, bool emptyIsAll,
                                       ReducedAxes &axes) {
  int64_t rank = l.rank(0);
  OpFoldResult length = lengthOf(l, 1);
  Value indices = l.in(1);
  SmallVector<Value> state = axes.flags;
  state.push_back(l.constantInt(l.b.getI1Type(), 1));
  state = loopNest(l, length, state, [&](ValueRange at, ValueRange carried) {
    OpFoldResult axis = l.toIndex(elementAt(l, indices, at));
    axis = select(l, compare(l, IP::slt, axis, l.fold(0)),
                  l.add(axis, l.fold(rank)), axis);
    SmallVector<Value> next(carried);
    Value inRange = compare(l, IP::ult, axis, l.fold(rank));
    next.back() = both(l, next.back(), inRange);
    markAxis(l, l.asIndex(axis), MutableArrayRef<Value>(next).drop_back());
    return next;
  });
  l.check(state.pop_back_val(),
          "'axes' has an axis that is out of range for rank " + Twine(rank));
  axes.flags = state;
  l.check(compare(l, IP::eq, countFlags(l, axes.flags), length),
          "'axes' names an axis twice");
  if (emptyIsAll) {
    Value isEmpty = compare(l, IP::eq, length, l.fold(0));
    for (Value &flag : axes.flags)
      flag = either(l, flag, isEmpty);
  }
  if (axes.keepDims)
    return success();
  auto type = dyn_cast<RankedTensorType>(l.resultType());
  if (!type)
    return l.unsupported("the rank of the result is not known at compile time");
  axes.kept = type.getRank();
  OpFoldResult reduced = countFlags(l, axes.flags);
  l.check(compare(l, IP::eq, reduced, l.fold(rank - type.getRank())),
          "the number of axes does not give a result of rank " +
              Twine(type.getRank()));
  return success();
}

static FailureOr<ReducedAxes> readAxes(NodeLowering &l) {
  int64_t rank = l.rank(0);
  ReducedAxes axes;
  axes.keepDims = l.intAttr("keepdims", 1);
  bool emptyIsAll = !l.intAttr("noop_with_empty_axes", 0);
  std::optional<SmallVector<int64_t>> given = givenAxes(l);
  if (!given) {
    axes.flags.assign(rank, l.constantInt(l.b.getI1Type(), 0));
    std::optional<int64_t> count = getConstantIntValue(lengthOf(l, 1));
    if (failed(count ? readCountedAxes(l, *count, axes)
                     : readUncountedAxes(l, emptyIsAll, axes)))
      return failure();
    return axes;
  }
  for (int64_t axis : *given) {
    FailureOr<int64_t> normal = l.normalizeAxis(axis, rank);
    if (failed(normal))
      return failure();
    if (llvm::is_contained(axes.fixed, *normal))
      return l.refuse("'axes' names axis " + Twine(*normal) + " twice");
    axes.fixed.push_back(*normal);
  }
  if (given->empty() && emptyIsAll)
    axes.fixed = allAxes(rank);
  llvm::sort(axes.fixed);
  return axes;
}

//===----------------------------------------------------------------------===//
// Reducing
//===----------------------------------------------------------------------===//

namespace {
/// Reductions of one value over the same axes.
class Reducer {
public:
  Reducer(NodeLowering &l, Value value, ReducedAxes axes);

  /// Reduces `body` of the elements and of what an earlier reduction gave at
  /// their place (`reduced`, if any). The result is for finish() and reduce().
  Value reduce(Combiner combiner, Type type, ScalarsBody body,
               Value reduced = {});
  /// How many elements each result is made of.
  Value count(Type type);
  /// `reduced` with the dimensions that the node's result has.
  Value finish(Value reduced);

private:
  Value reduceSmall(Combiner combiner, Type type, ScalarsBody body);
  Value reduceAtRunTime(Combiner combiner, Type type, ScalarsBody body,
                        Value reduced);
  Value dropAtRunTime(Value reduced);

  NodeLowering &l;
  Value value;
  ReducedAxes axes;
  Dims dims;
  bool isUnsigned;
  bool isFixed;
};
} // namespace

Reducer::Reducer(NodeLowering &l, Value value, ReducedAxes axes)
    : l(l), value(value), axes(std::move(axes)), dims(l.dims(value)),
      isUnsigned(l.isUnsigned(0)), isFixed(this->axes.flags.empty()) {}

Value Reducer::reduce(Combiner combiner, Type type, ScalarsBody body,
                      Value reduced) {
  if (!isFixed)
    return reduceAtRunTime(combiner, type, body, reduced);
  if (!reduced && axes.fixed.size() == dims.size() && type.isInteger() &&
      isSmallIntegers(dims, l.elementType(0)))
    return reduceSmall(combiner, type, body);
  int64_t rank = dims.size();
  SmallVector<SpaceOperand> operands = {{value, allAxes(rank)}};
  if (reduced)
    operands.push_back({reduced, otherAxes(rank, axes.fixed)});
  return reduceSpace(l, operands, dims, axes.fixed, combiner, type, isUnsigned,
                     [&](ScalarBuilder &s, ArrayRef<Value> elements) {
                       s.isUnsigned = isUnsigned;
                       return body(s, elements);
                     });
}

/// A few integers to one: shapes are computed with this.
Value Reducer::reduceSmall(Combiner combiner, Type type, ScalarsBody body) {
  ScalarBuilder s(l.b, l.b.getLoc(), isUnsigned);
  Value result = identityOf(s, combiner, type);
  int64_t count = dims.empty() ? 1 : *getConstantIntValue(dims[0]);
  for (int64_t k = 0; k < count; ++k) {
    SmallVector<Value> indices;
    if (!dims.empty())
      indices.push_back(l.index(k));
    Value element = body(s, elementAt(l, value, indices));
    result = combineScalars(s, combiner, element, result);
  }
  return fromElements(l, {}, type, [&](int64_t) { return result; });
}

/// The result has all axes, with extents of 1 where they are reduced.
Value Reducer::reduceAtRunTime(Combiner combiner, Type type, ScalarsBody body,
                               Value reduced) {
  ScalarBuilder s(l.b, l.b.getLoc(), isUnsigned);
  Dims target;
  for (auto [flag, extent] : llvm::zip_equal(axes.flags, dims))
    target.push_back(select(l, flag, l.fold(1), extent));
  Value init = l.filled(target, identityOf(s, combiner, type));
  return loopNest(l, dims, init, [&](ValueRange position, ValueRange carried) {
    SmallVector<Value> place;
    for (auto [flag, index] : llvm::zip_equal(axes.flags, position))
      place.push_back(s.select(flag, l.index(0), index));
    SmallVector<Value> elements = {elementAt(l, value, position)};
    if (reduced)
      elements.push_back(elementAt(l, reduced, place));
    Value element = body(s, elements);
    Value old = tensor::ExtractOp::create(l.b, carried[0], place);
    Value combined = combineScalars(s, combiner, element, old);
    return SmallVector<Value>{
        tensor::InsertOp::create(l.b, combined, carried[0], place)};
  })[0];
}

Value Reducer::count(Type type) {
  if (isFixed)
    return countAlong(l, dims, axes.fixed, type);
  Dims factors;
  for (auto [flag, extent] : llvm::zip_equal(axes.flags, dims))
    factors.push_back(select(l, flag, extent, l.fold(1)));
  return countAlong(l, factors, allAxes(factors.size()), type);
}

/// Removes the axes that the flags say.
Value Reducer::dropAtRunTime(Value reduced) {
  Dims target;
  for (int64_t j = 0; j < *axes.kept; ++j) {
    OpFoldResult extent = l.fold(0), position = l.fold(0);
    for (auto [flag, own] : llvm::zip_equal(axes.flags, dims)) {
      Value isHere = compare(l, IP::eq, position, l.fold(j));
      OpFoldResult stays = select(l, isHere, own, extent);
      extent = select(l, flag, extent, stays);
      position = select(l, flag, position, l.add(position, l.fold(1)));
    }
    target.push_back(extent);
  }
  return l.reshape(reduced, target);
}

Value Reducer::finish(Value reduced) {
  if (isFixed)
    return axes.keepDims ? restoreAxes(l, reduced, axes.fixed) : reduced;
  return axes.keepDims ? reduced : dropAtRunTime(reduced);
}

//===----------------------------------------------------------------------===//
// Reduce*
//===----------------------------------------------------------------------===//

static Value sameFn(ScalarBuilder &, Value x) { return x; }
static Value absFn(ScalarBuilder &s, Value x) { return s.abs(x); }
static Value squareFn(ScalarBuilder &s, Value x) { return s.mul(x, x); }
static Value sqrtFn(ScalarBuilder &s, Value x) {
  return s.make<math::SqrtOp>(x);
}
static Value logFn(ScalarBuilder &s, Value x) { return s.make<math::LogOp>(x); }

using ElementFn = Value (*)(ScalarBuilder &, Value);

/// Applies `fn` to each element of `reduced`, in f64 for integers, and converts
/// to the result's type.
static Value after(NodeLowering &l, Value reduced, ElementFn fn) {
  Type from = cast<RankedTensorType>(reduced.getType()).getElementType();
  Type to = l.resultElementType();
  if (!fn && from == to)
    return reduced;
  bool isUnsigned = l.isUnsigned(0);
  return l.elementwise(
      reduced, to, [&](OpBuilder &b, Location loc, ValueRange elements) {
        ScalarBuilder s(b, loc, isUnsigned);
        Value x = elements[0];
        if (fn)
          x = fn(s, isa<FloatType>(from) ? x : s.cast(x, b.getF64Type()));
        return s.cast(x, to);
      });
}

/// Lets the products that `reduced` sums up be fused into the sum.
static void allowFusedProducts(Value reduced) {
  auto op = reduced.getDefiningOp<linalg::GenericOp>();
  auto sum = op ? op.getBody()
                      ->getTerminator()
                      ->getOperand(0)
                      .getDefiningOp<arith::AddFOp>()
                : nullptr;
  if (sum)
    sum.setFastmath(sum.getFastmath() | arith::FastMathFlags::contract);
}

/// combiner(before(x)), then `last` of that.
template <Combiner combiner, ElementFn before = sameFn,
          ElementFn last = nullptr>
static LogicalResult lowerReduce(NodeLowering &l) {
  if (failed(requireArithmetic(l)))
    return failure();
  FailureOr<ReducedAxes> axes = readAxes(l);
  if (failed(axes))
    return failure();
  Reducer reducer(l, l.in(0), *axes);
  Type compute = NodeLowering::computeType(l.elementType(0));
  Value reduced = reducer.reduce(combiner, compute,
                                 [&](ScalarBuilder &s, ArrayRef<Value> e) {
                                   return before(s, s.cast(e[0], compute));
                                 });
  // Of bodies of operators alone, which are sums of products.
  if (l.intAttr("__sums_products", 0))
    allowFusedProducts(reduced);
  l.setResult(reducer.finish(after(l, reduced, last)));
  return success();
}

static LogicalResult lowerReduceMean(NodeLowering &l) {
  if (failed(requireArithmetic(l)))
    return failure();
  FailureOr<ReducedAxes> axes = readAxes(l);
  if (failed(axes))
    return failure();
  Reducer reducer(l, l.in(0), *axes);
  Type element = l.elementType(0), compute = NodeLowering::computeType(element);
  Value sum = reducer.reduce(Combiner::Sum, compute,
                             [&](ScalarBuilder &s, ArrayRef<Value> e) {
                               return s.cast(e[0], compute);
                             });
  Value count = reducer.count(compute);
  bool isUnsigned = l.isUnsigned(0);
  Value mean = l.elementwise(
      sum, element, [&](OpBuilder &b, Location loc, ValueRange elements) {
        ScalarBuilder s(b, loc, isUnsigned);
        return s.cast(s.div(elements[0], count), element);
      });
  l.setResult(reducer.finish(mean));
  return success();
}

/// log(sum(exp(x - m))) + m with the maximum m, or 0 where that is infinite.
static LogicalResult lowerReduceLogSumExp(NodeLowering &l) {
  if (failed(requireArithmetic(l)))
    return failure();
  FailureOr<ReducedAxes> axes = readAxes(l);
  if (failed(axes))
    return failure();
  Reducer reducer(l, l.in(0), *axes);
  Type element = l.elementType(0), compute = NodeLowering::computeType(element);
  if (!isa<FloatType>(compute))
    compute = l.b.getF64Type();
  bool isUnsigned = l.isUnsigned(0);
  Value maximum = reducer.reduce(Combiner::Max, compute,
                                 [&](ScalarBuilder &s, ArrayRef<Value> e) {
                                   return s.cast(e[0], compute);
                                 });
  auto finite = [&](ScalarBuilder &s, Value x) {
    Value isInfinite = s.equal(s.abs(x), s.highest(compute));
    return s.select(isInfinite, s.constant(compute, 0), x);
  };
  Value sum = reducer.reduce(
      Combiner::Sum, compute,
      [&](ScalarBuilder &s, ArrayRef<Value> e) {
        return s.exp(s.sub(s.cast(e[0], compute), finite(s, e[1])));
      },
      maximum);
  Value result = l.elementwise(
      {sum, maximum}, element, [&](OpBuilder &b, Location loc, ValueRange e) {
        ScalarBuilder s(b, loc, isUnsigned);
        return s.cast(s.add(logFn(s, e[0]), finite(s, e[1])), element);
      });
  l.setResult(reducer.finish(result));
  return success();
}

//===----------------------------------------------------------------------===//
// ArgMax and ArgMin
//===----------------------------------------------------------------------===//

Value loopc::argExtremum(NodeLowering &l, Value value, int64_t axis,
                         Combiner combiner, bool isUnsigned, bool wantsLast) {
  Dims dims = l.dims(value);
  int64_t rank = dims.size();
  auto type = cast<RankedTensorType>(value.getType());
  Type element = type.getElementType();
  Type compute = NodeLowering::computeType(element), i64 = l.b.getI64Type();
  // As narrow as the elements mostly are, where it is known that indices fit.
  bool isShort =
      !type.isDynamicDim(axis) && llvm::isInt<32>(type.getDimSize(axis));
  Type narrow = isShort ? l.b.getI32Type() : i64;
  Value extremum =
      reduceSpace(l, {{value, allAxes(rank)}}, dims, axis, combiner, compute,
                  isUnsigned, [&](ScalarBuilder &s, ArrayRef<Value> e) {
                    return s.cast(e[0], compute);
                  });
  // NaN is the extremum where there is one, and only equal to itself here. What
  // stands for the others is not the neutral element of the reduction: LLVM
  // would fold that into a form that it does not vectorise.
  Value filler = l.constantInt(narrow, -1);
  if (!wantsLast)
    filler =
        l.b.createOrFold<arith::IndexCastOp>(narrow, l.asIndex(dims[axis]));
  Value index = reduceSpace(
      l, {{value, allAxes(rank)}, {extremum, otherAxes(rank, axis)}}, dims,
      axis, wantsLast ? Combiner::Max : Combiner::Min, narrow,
      /*isUnsigned=*/false, [&](ScalarBuilder &s, ArrayRef<Value> e) {
        Value x = NodeLowering::castScalar(s.b, s.loc, e[0], isUnsigned,
                                           compute, isUnsigned);
        Value isIt = s.equal(x, e[1]);
        if (isa<FloatType>(compute))
          isIt = s.either(isIt, s.isNaN(x));
        Value index = linalg::IndexOp::create(s.b, s.loc, axis);
        return s.select(isIt, s.make<arith::IndexCastOp>(narrow, index),
                        filler);
      });
  if (!isShort)
    return index;
  return l.elementwise(index, i64,
                       [&](OpBuilder &b, Location loc, ValueRange e) {
                         return arith::ExtSIOp::create(b, loc, i64, e[0]);
                       });
}

template <Combiner combiner> static LogicalResult lowerArg(NodeLowering &l) {
  if (failed(requireArithmetic(l)))
    return failure();
  FailureOr<int64_t> axis = l.axisAttr("axis", l.rank(0));
  if (failed(axis))
    return failure();
  Value hasSome = compare(l, IP::ne, l.dim(l.in(0), *axis), l.fold(0));
  l.check(hasSome, "axis " + Twine(*axis) + " has no elements");
  Value index = argExtremum(l, l.in(0), *axis, combiner, l.isUnsigned(0),
                            /*wantsLast=*/l.intAttr("select_last_index", 0));
  l.setResult(l.intAttr("keepdims", 1) ? restoreAxes(l, index, *axis) : index);
  return success();
}

//===----------------------------------------------------------------------===//
// Global pooling
//===----------------------------------------------------------------------===//

/// All axes behind the channels are reduced; they stay with an extent of 1.
static FailureOr<ReducedAxes> spatialAxes(NodeLowering &l) {
  if (l.rank(0) < 2)
    return l.refuse("the input has rank " + Twine(l.rank(0)) +
                    ", expected 2 or more");
  ReducedAxes axes;
  axes.fixed = llvm::to_vector(llvm::seq<int64_t>(2, l.rank(0)));
  return axes;
}

static LogicalResult lowerGlobalMaxPool(NodeLowering &l) {
  FailureOr<ReducedAxes> axes = spatialAxes(l);
  if (failed(requireArithmetic(l)) || failed(axes))
    return failure();
  Reducer reducer(l, l.in(0), *axes);
  Type compute = NodeLowering::computeType(l.elementType(0));
  Value maximum = reducer.reduce(Combiner::Max, compute,
                                 [&](ScalarBuilder &s, ArrayRef<Value> e) {
                                   return s.cast(e[0], compute);
                                 });
  l.setResult(reducer.finish(after(l, maximum, nullptr)));
  return success();
}

/// The mean, or with `p` the p-norm.
static LogicalResult poolWith(NodeLowering &l, std::optional<double> p) {
  FailureOr<ReducedAxes> axes = spatialAxes(l);
  if (failed(requireArithmetic(l)) || failed(axes))
    return failure();
  Reducer reducer(l, l.in(0), *axes);
  Type element = l.elementType(0), compute = NodeLowering::computeType(element);
  Value sum = reducer.reduce(
      Combiner::Sum, compute,
      [&](ScalarBuilder &s, ArrayRef<Value> e) -> Value {
        Value x = s.cast(e[0], compute);
        if (!p)
          return x;
        if (*p == 2)
          return s.mul(x, x);
        x = s.abs(x);
        return *p == 1 ? x : s.make<math::PowFOp>(x, s.constant(compute, *p));
      });
  Value count = reducer.count(compute);
  Value pooled = l.elementwise(
      sum, element, [&](OpBuilder &b, Location loc, ValueRange e) {
        ScalarBuilder s(b, loc);
        Value x = e[0];
        if (!p)
          x = s.div(x, count);
        else if (*p == 2)
          x = s.make<math::SqrtOp>(x);
        else if (*p != 1)
          x = s.make<math::PowFOp>(x, s.constant(compute, 1 / *p));
        return s.cast(x, element);
      });
  l.setResult(reducer.finish(pooled));
  return success();
}

static LogicalResult lowerGlobalAveragePool(NodeLowering &l) {
  return poolWith(l, std::nullopt);
}

static LogicalResult lowerGlobalLpPool(NodeLowering &l) {
  double p = isa_and_nonnull<FloatAttr>(l.attr("p")) ? l.floatAttr("p", 2)
                                                     : l.intAttr("p", 2);
  if (p <= 0)
    return l.refuse("'p' is " + Twine(static_cast<int64_t>(p)) +
                    ", expected a positive number");
  return poolWith(l, p);
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

void loopc::addReductionRows(LoweringTable &table) {
  constexpr Combiner sum = Combiner::Sum;
  table.add({
      {"", "ReduceSum", 1, kLatest, lowerReduce<sum>},
      {"", "ReduceMean", 1, kLatest, lowerReduceMean},
      {"", "ReduceProd", 1, kLatest, lowerReduce<Combiner::Prod>},
      {"", "ReduceMax", 1, kLatest, lowerReduce<Combiner::Max>},
      {"", "ReduceMin", 1, kLatest, lowerReduce<Combiner::Min>},
      {"", "ReduceL1", 1, kLatest, lowerReduce<sum, absFn>},
      {"", "ReduceL2", 1, kLatest, lowerReduce<sum, squareFn, sqrtFn>},
      {"", "ReduceSumSquare", 1, kLatest, lowerReduce<sum, squareFn>},
      {"", "ReduceLogSum", 1, kLatest, lowerReduce<sum, sameFn, logFn>},
      {"", "ReduceLogSumExp", 1, kLatest, lowerReduceLogSumExp},
      {"", "ArgMax", 1, kLatest, lowerArg<Combiner::Max>},
      {"", "ArgMin", 1, kLatest, lowerArg<Combiner::Min>},
      {"", "GlobalAveragePool", 1, kLatest, lowerGlobalAveragePool},
      {"", "GlobalMaxPool", 1, kLatest, lowerGlobalMaxPool},
      {"", "GlobalLpPool", 1, kLatest, lowerGlobalLpPool},
  });
}
