//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// MaxPool, AveragePool, LpPool and MaxUnpool.

#include "Contraction.h"
#include "Framework/ElementwiseUtils.h"
#include "Framework/ShapeUtils.h"
#include "Window.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace loopc;
using utils::IteratorType;

/// Larger windows are rare, and products of their extents large.
static constexpr int64_t kLargestKernel = 1000;
/// Windows of so many elements may be all of an image, where only the run knows
/// how large that is.
static constexpr int64_t kWholeImage = 36;

namespace {
using ReduceFn =
    llvm::function_ref<Value(OpBuilder &, Location, Value element, Value sum)>;

/// The windows of a pooling over [N, C, in...].
struct Pooling {
  explicit Pooling(NodeLowering &l)
      : l(l), x(l.in(0)), element(l.elementType(0)),
        compute(NodeLowering::computeType(element)) {}

  LogicalResult read();
  Dims resultDims() {
    Dims dims(ArrayRef(in).take_front(2));
    dims.append(outExtents(window));
    return dims;
  }
  /// Folds the elements of each window into `start` by `reduce`; padding is
  /// `filler`. In any order, if that is no matter, of what it folded before.
  Value reduceWindows(Value filler, Value start, Type type, ReduceFn reduce,
                      bool inAnyOrder = false);

  NodeLowering &l;
  Value x;
  Type element, compute;
  Dims in;
  Window window;

  /// The same of elements that are padded, along `axes` of the window; `body`
  /// is also given what `offsets` has for each place in a window, where only
  /// its shape counts if null, and `results`, if any, for each window.
  Value foldWindows(Value padded, ArrayRef<unsigned> axes, Value offsets,
                    Value results, Value start, NodeLowering::ScalarBody body);

private:
  Value reduceAlong(Value padded, ArrayRef<unsigned> axes, Value start,
                    Type type, ReduceFn reduce);
  Value reduceParts(Value filler, Value start, Type type, ReduceFn reduce,
                    bool inAnyOrder);
  /// True (i1) if a window is, or turns out to be, all of the image; null where
  /// that is known to be false, or hardly so.
  Value findWholeImage();
  Value reduceWhole(Value start, Type type, ReduceFn reduce);
  /// The axes in the order in which one after the other is less work than all
  /// at once; none where it is not.
  SmallVector<unsigned> separateOrder();
};
} // namespace

LogicalResult Pooling::read() {
  int64_t rank = l.rank(0);
  if (rank < 3)
    return l.refuse("the input has rank " + Twine(rank) +
                    ", expected 3 or more");
  in = l.dims(x);
  FailureOr<Window> read = readWindow(l, ArrayRef(in).drop_front(2));
  if (failed(read))
    return failure();
  window = *read;
  return success();
}

SmallVector<unsigned> Pooling::separateOrder() {
  // A window that is all of the image is one row.
  if (llvm::all_of(window, [](const WindowAxis &axis) {
        return isConstantIntValue(axis.out, 1);
      }))
    return {};
  // Neighbours of a result are read as a vector, every second element of two
  // vectors, others one by one; those of a kernel by as many threads.
  constexpr int64_t kOneByOne = 5;
  int64_t apart = window.back().stride;
  int64_t ofRow = l.forKernels ? 1 : apart <= 2 ? apart : kOneByOne;
  // For each element of the result: all at once, the last axis first along rows
  // that the others have yet to reduce, or the last one last, behind axes along
  // which whole rows are reduced.
  int64_t atOnce = 1, lastFirst = 0, lastLast = 0, rows = 1, columns = 1;
  for (const WindowAxis &axis : window) {
    std::optional<int64_t> kernel = getConstantIntValue(axis.kernel);
    if (!kernel || *kernel > kLargestKernel || axis.stride > kLargestKernel)
      return {};
    bool isLast = &axis == &window.back();
    atOnce *= *kernel;
    lastFirst += *kernel * rows * (isLast ? ofRow : 1);
    rows *= axis.stride;
  }
  for (const WindowAxis &axis : llvm::reverse(window)) {
    bool isLast = &axis == &window.back();
    lastLast +=
        *getConstantIntValue(axis.kernel) * columns * (isLast ? ofRow : 1);
    columns *= axis.stride;
  }
  if (atOnce * ofRow < 2 * std::min(lastFirst, lastLast))
    return {};
  auto order = llvm::to_vector(llvm::seq<unsigned>(0, window.size()));
  // Rows are only as many as the image has where the last axis comes first.
  if (lastFirst < lastLast)
    std::reverse(order.begin(), order.end());
  return order;
}

Value Pooling::findWholeImage() {
  bool isOpen = false;
  int64_t elements = 1;
  Value isWhole = l.constantInt(l.b.getI1Type(), 1);
  for (const WindowAxis &axis : window) {
    std::optional<int64_t> kernel = getConstantIntValue(axis.kernel);
    if (!kernel || *kernel > kLargestKernel || !axis.isUnpadded() ||
        axis.dilation != 1 || l.forKernels)
      return {};
    isOpen |= !getConstantIntValue(axis.in);
    elements *= *kernel;
    isWhole = both(l, isWhole,
                   compare(l, arith::CmpIPredicate::eq, axis.in, axis.kernel));
  }
  bool isRare = isOpen && elements < kWholeImage;
  return isRare || isConstantIntValue(isWhole, 0) ? Value() : isWhole;
}

/// The images as rows, whose extents are those of the window.
Value Pooling::reduceWhole(Value start, Type type, ReduceFn reduce) {
  int64_t rank = l.rank(0);
  auto shape = llvm::to_vector(cast<RankedTensorType>(x.getType()).getShape());
  for (auto [k, axis] : llvm::enumerate(window))
    shape[k + 2] = *getConstantIntValue(axis.kernel);
  Value image = l.b.createOrFold<tensor::CastOp>(
      RankedTensorType::get(shape, element), x);
  SmallVector<IteratorType> iterators(rank, IteratorType::reduction);
  std::fill_n(iterators.begin(), 2, IteratorType::parallel);
  AffineMap all = l.b.getMultiDimIdentityMap(rank);
  Value init = l.filled(ArrayRef(in).take_front(2), start);
  bool isUnsigned = l.isUnsigned(0);
  auto rows = linalg::GenericOp::create(
      l.b, init.getType(), image, init, {all, all.getMajorSubMap(2)}, iterators,
      [&](OpBuilder &b, Location loc, ValueRange args) {
        Value value = NodeLowering::castScalar(b, loc, args[0], isUnsigned,
                                               type, isUnsigned);
        linalg::YieldOp::create(b, loc, reduce(b, loc, value, args[1]));
      });
  return restoreAxes(l, rows.getResult(0),
                     llvm::to_vector(llvm::seq<int64_t>(2, rank)));
}

Value Pooling::reduceWindows(Value filler, Value start, Type type,
                             ReduceFn reduce, bool inAnyOrder) {
  auto reduceSome = [&] {
    return reduceParts(filler, start, type, reduce, inAnyOrder);
  };
  Value isWhole = findWholeImage();
  if (!isWhole)
    return reduceSome();
  if (getConstantIntValue(isWhole))
    return reduceWhole(start, type, reduce);
  Type result = l.empty(resultDims(), type).getType();
  auto cast = [&](Value value) {
    return l.b.createOrFold<tensor::CastOp>(result, value);
  };
  return ifElse(
      l, result, isWhole,
      [&] { return cast(reduceWhole(start, type, reduce)); },
      [&] { return cast(reduceSome()); });
}

Value Pooling::reduceParts(Value filler, Value start, Type type,
                           ReduceFn reduce, bool inAnyOrder) {
  SmallVector<unsigned> order;
  if (inAnyOrder)
    order = separateOrder();
  if (order.empty())
    return reduceAlong(padSpatial(l, x, window, filler),
                       llvm::to_vector(llvm::seq<unsigned>(0, window.size())),
                       start, type, reduce);
  // Each axis is padded for what is reduced along it alone: the others read no
  // padding of it.
  Value reduced = x;
  for (unsigned k : order) {
    Value padded = padSpatial(l, reduced, window, filler, /*first=*/2, k);
    reduced = reduceAlong(padded, k, start, type, reduce);
    filler = start;
  }
  return reduced;
}

Value Pooling::reduceAlong(Value padded, ArrayRef<unsigned> axes, Value start,
                           Type type, ReduceFn reduce) {
  bool isUnsigned = l.isUnsigned(0);
  return foldWindows(padded, axes, /*offsets=*/{}, /*results=*/{}, start,
                     [&](OpBuilder &b, Location loc, ValueRange args) {
                       Value value = NodeLowering::castScalar(
                           b, loc, args[0], isUnsigned, type, isUnsigned);
                       return reduce(b, loc, value, args.back());
                     });
}

Value Pooling::foldWindows(Value padded, ArrayRef<unsigned> axes, Value offsets,
                           Value results, Value start,
                           NodeLowering::ScalarBody body) {
  Dims kernel, dims = l.dims(padded);
  for (unsigned k : axes) {
    kernel.push_back(window[k].kernel);
    dims[k + 2] = window[k].out;
  }
  if (!offsets)
    offsets = l.empty(kernel, element);
  Value init = l.filled(dims, start);
  // As in convolutions: along the last axis of the result innermost.
  unsigned next = 0, spatial = window.size();
  auto dim = [&] { return l.b.getAffineDimExpr(next++); };
  AffineExpr n = dim(), c = dim();
  SmallVector<AffineExpr> positions, places, xs{n, c}, os{n, c};
  for (unsigned k = 0; k + 1 < spatial; ++k)
    positions.push_back(dim());
  for (unsigned k = 0; k < axes.size(); ++k)
    places.push_back(dim());
  positions.push_back(dim());
  llvm::append_range(xs, positions);
  llvm::append_range(os, positions);
  for (auto [k, place] : llvm::zip_equal(axes, places))
    xs[k + 2] = window[k].position(positions[k], place);
  auto map = [&](ArrayRef<AffineExpr> exprs) {
    return AffineMap::get(next, 0, exprs, l.b.getContext());
  };
  SmallVector<Value> inputs{padded, offsets};
  SmallVector<AffineMap> maps{map(xs), map(places)};
  if (results) {
    inputs.push_back(results);
    maps.push_back(map(os));
  }
  maps.push_back(map(os));
  SmallVector<IteratorType> iterators;
  for (unsigned k : llvm::seq(next))
    iterators.push_back(maps.back().isFunctionOfDim(k)
                            ? IteratorType::parallel
                            : IteratorType::reduction);
  return linalg::GenericOp::create(
             l.b, init.getType(), inputs, init, maps, iterators,
             [&](OpBuilder &b, Location loc, ValueRange args) {
               linalg::YieldOp::create(b, loc, body(b, loc, args));
             })
      .getResult(0);
}

//===----------------------------------------------------------------------===//
// Maximum
//===----------------------------------------------------------------------===//

/// The least value of `type`.
static Value leastOf(NodeLowering &l, Type type, bool isUnsigned) {
  if (isa<FloatType>(type))
    return l.constant(type, -std::numeric_limits<double>::infinity());
  unsigned bits = type.getIntOrFloatBitWidth();
  APInt least =
      isUnsigned ? APInt::getMinValue(bits) : APInt::getSignedMinValue(bits);
  return arith::ConstantOp::create(l.b, l.b.getIntegerAttr(type, least));
}

static Value maximum(OpBuilder &b, Location loc, Value x, Value y,
                     bool isUnsigned) {
  // NaN wins. To order the zeros, too, would take twice as long.
  if (isa<FloatType>(x.getType()))
    return arith::MaximumFOp::create(b, loc, x, y, arith::FastMathFlags::nsz);
  if (isUnsigned)
    return arith::MaxUIOp::create(b, loc, x, y);
  return arith::MaxSIOp::create(b, loc, x, y);
}

namespace {
/// MaxPool's second result: where in the input each maximum stands.
///
///     ordinals = 0, 1, 2, ... for the places of a window
///     first = least of the ordinals whose element is the maximum, or NaN
///     number in the input of what `first` tells of its window
struct MaxIndices {
  Pooling &pooling;
  NodeLowering &l;
  bool byColumns;

  /// `maxima` are those of the windows, in the type they are computed in.
  Value build(Value maxima);

private:
  /// Integers for the places of a window.
  Type ordinalType();
  Value makeOrdinals();
  Value findFirst(Value maxima);
  /// Where along spatial axis `k` the window at `at` has its element `place`,
  /// the first inside where that is in front; adds to `inside`.
  Value placeOf(ScalarBuilder &s, unsigned k, Value at, Value place,
                Value &inside);
};
} // namespace

Type MaxIndices::ordinalType() {
  int64_t count = 1;
  for (const WindowAxis &axis : pooling.window)
    count = llvm::SaturatingMultiply<uint64_t>(
        count, *getConstantIntValue(axis.kernel));
  return l.b.getIntegerType(llvm::isInt<32>(count) ? 32 : 64);
}

Value MaxIndices::makeOrdinals() {
  Dims kernel;
  for (const WindowAxis &axis : pooling.window)
    kernel.push_back(axis.kernel);
  return l.generate(
      kernel, ordinalType(), [&](OpBuilder &b, Location loc, ValueRange at) {
        Value number = at[0];
        for (unsigned k = 1; k < at.size(); ++k) {
          number = arith::MulIOp::create(b, loc, number, l.asIndex(kernel[k]));
          number = arith::AddIOp::create(b, loc, number, at[k]);
        }
        return arith::IndexCastOp::create(b, loc, ordinalType(), number);
      });
}

Value MaxIndices::findFirst(Value maxima) {
  bool isUnsigned = l.isUnsigned(0);
  Type type = ordinalType();
  Value least = leastOf(l, pooling.element, isUnsigned);
  Value padded = padSpatial(l, pooling.x, pooling.window, least);
  auto axes = llvm::to_vector(llvm::seq<unsigned>(0, pooling.window.size()));
  Value last = ScalarBuilder(l.b, l.b.getLoc()).highest(type);
  return pooling.foldWindows(padded, axes, makeOrdinals(), maxima, last,
                             [&](OpBuilder &b, Location loc, ValueRange args) {
                               ScalarBuilder s(b, loc, isUnsigned);
                               Value x = NodeLowering::castScalar(
                                   b, loc, args[0], isUnsigned, pooling.compute,
                                   isUnsigned);
                               Value isFound = s.equal(x, args[2]);
                               if (isa<FloatType>(x.getType()))
                                 isFound = s.either(isFound, s.isNaN(x));
                               Value found = s.select(isFound, args[1], last);
                               return s.make<arith::MinSIOp>(found, args[3]);
                             });
}

Value MaxIndices::placeOf(ScalarBuilder &s, unsigned k, Value at, Value place,
                          Value &inside) {
  const WindowAxis &axis = pooling.window[k];
  Type type = s.b.getI64Type();
  auto number = [&](OpFoldResult value) {
    return s.make<arith::IndexCastOp>(type, l.asIndex(value));
  };
  Value begin = s.mul(at, s.integer(type, axis.stride));
  Value step = s.integer(type, axis.dilation);
  if (axis.isUnpadded() && !l.intAttr("ceil_mode"))
    return s.add(begin, s.mul(place, step));
  // All elements are the least there is, as what is padded in front of them.
  Value zero = s.integer(type, 0);
  begin = s.sub(begin, number(axis.before));
  Value first = s.sub(step, s.add(begin, s.integer(type, 1)));
  first = s.make<arith::DivUIOp>(s.max(first, zero), step);
  Value which = s.max(place, first);
  Value found = s.add(begin, s.mul(which, step));
  // Of nothing but padding none is inside: in front of the axis, or behind it.
  inside = s.both(inside, s.less(which, number(axis.kernel)));
  inside = s.both(inside, s.less(found, number(axis.in)));
  return found;
}

Value MaxIndices::build(Value maxima) {
  Type i64 = l.b.getI64Type();
  Dims dims = pooling.resultDims();
  Value first = findFirst(maxima);
  SpaceOperand operand{first, allAxes(dims.size())};
  return mapSpace(
      l, operand, dims, i64, [&](ScalarBuilder &s, ArrayRef<Value> elements) {
        auto at = [&](unsigned axis) {
          Value number = linalg::IndexOp::create(s.b, s.loc, axis);
          return s.make<arith::IndexCastOp>(i64, number);
        };
        unsigned rank = dims.size();
        SmallVector<Value> position(rank);
        Value rest = elements[0], inside = s.integer(s.b.getI1Type(), 1);
        for (unsigned k = rank - 2; k-- > 0;) {
          Value kernel = s.integer(
              rest.getType(), *getConstantIntValue(pooling.window[k].kernel));
          Value next = k ? s.make<arith::DivUIOp>(rest, kernel)
                         : s.integer(rest.getType(), 0);
          Value place = s.sub(rest, s.mul(next, kernel));
          position[k + 2] =
              placeOf(s, k, at(k + 2), s.cast(place, i64), inside);
          rest = next;
        }
        Value number = at(0);
        for (unsigned k = 1; k < rank; ++k) {
          unsigned axis = k > 1 && byColumns ? rank + 1 - k : k;
          number = s.mul(number, s.make<arith::IndexCastOp>(
                                     i64, l.asIndex(pooling.in[axis])));
          number = s.add(number, axis == 1 ? at(1) : position[axis]);
        }
        return s.select(inside, number, s.integer(i64, -1));
      });
}

static LogicalResult lowerMaxPool(NodeLowering &l) {
  Pooling pooling(l);
  if (failed(pooling.read()))
    return failure();
  bool isUnsigned = l.isUnsigned(0);
  int64_t order = l.intAttr("storage_order");
  Type type = pooling.compute;
  Value result = pooling.reduceWindows(
      leastOf(l, pooling.element, isUnsigned), leastOf(l, type, isUnsigned),
      type,
      [&](OpBuilder &b, Location loc, Value x, Value best) {
        return maximum(b, loc, x, best, isUnsigned);
      },
      /*inAnyOrder=*/true);
  l.setResult(0, castElements(l, result, pooling.element, isUnsigned));
  if (l.numResults() > 1 && l.hasResult(1))
    l.setResult(1, isKnownEmpty(pooling.in)
                       ? l.filled(pooling.resultDims(),
                                  l.constant(l.b.getI64Type(), -1))
                       : MaxIndices{pooling, l, order == 1}.build(result));
  return success();
}

//===----------------------------------------------------------------------===//
// Average
//===----------------------------------------------------------------------===//

/// How many elements of window `at` lie in [0, extent) of an axis whose windows
/// begin `before` in front of it.
static OpFoldResult elementsInside(NodeLowering &l, const WindowAxis &axis,
                                   Value at, OpFoldResult before,
                                   OpFoldResult extent) {
  OpFoldResult start = l.sub(l.mul(at, l.fold(axis.stride)), before);
  OpFoldResult step = l.fold(axis.dilation), zero = l.fold(0);
  auto stepsUpTo = [&](OpFoldResult distance) {
    // ceil(distance / dilation), no less than 0
    distance = maxSigned(l, distance, zero);
    return quotient(l, l.add(distance, l.sub(step, l.fold(1))), step);
  };
  OpFoldResult first = stepsUpTo(l.sub(zero, start));
  OpFoldResult end = minSigned(l, axis.kernel, stepsUpTo(l.sub(extent, start)));
  return maxSigned(l, l.sub(end, first), zero);
}

/// How many elements the windows along spatial axis `k` average over, as
/// numbers of `type`: [extent of the result], or one for all.
static Value windowCounts(Pooling &pooling, unsigned k, bool countsPadding,
                          Type type) {
  NodeLowering &l = pooling.l;
  const WindowAxis &axis = pooling.window[k];
  auto toNumber = [&](OpFoldResult count) -> Value {
    if (std::optional<int64_t> known = getConstantIntValue(count))
      return l.constant(type, static_cast<double>(*known));
    Value number =
        arith::IndexCastOp::create(l.b, l.b.getI64Type(), l.asIndex(count));
    return arith::SIToFPOp::create(l.b, type, number);
  };
  if (!l.intAttr("ceil_mode") && (countsPadding || axis.isUnpadded()))
    return toNumber(axis.kernel);
  OpFoldResult padded = l.add(l.add(axis.before, axis.in), axis.after);
  return l.generate(axis.out, type, [&](OpBuilder &b, Location, ValueRange at) {
    OpBuilder::InsertionGuard guard(l.b);
    l.b.setInsertionPoint(b.getInsertionBlock(), b.getInsertionPoint());
    // A window of nothing but padding is 0.
    return toNumber(maxSigned(
        l,
        countsPadding ? elementsInside(l, axis, at[0], l.fold(0), padded)
                      : elementsInside(l, axis, at[0], axis.before, axis.in),
        l.fold(1)));
  });
}

static LogicalResult lowerAveragePool(NodeLowering &l) {
  Pooling pooling(l);
  if (failed(pooling.read()))
    return failure();
  bool countsPadding = l.intAttr("count_include_pad");
  Type type = pooling.compute;
  Value sum = pooling.reduceWindows(
      l.constant(pooling.element, 0), l.constant(type, 0), type,
      [](OpBuilder &b, Location loc, Value x, Value sum) {
        ScalarBuilder s(b, loc);
        return combineScalars(s, Combiner::Sum, x, sum);
      },
      /*inAnyOrder=*/true);
  Dims dims = pooling.resultDims();
  SmallVector<SpaceOperand> operands{{sum, allAxes(dims.size())}};
  SmallVector<Value> constants;
  for (int64_t k : llvm::seq<int64_t>(pooling.window.size())) {
    Value counts = windowCounts(pooling, k, countsPadding, type);
    if (isa<TensorType>(counts.getType()))
      operands.push_back({counts, {k + 2}});
    else
      constants.push_back(counts);
  }
  l.setResult(mapSpace(l, operands, dims, pooling.element,
                       [&](ScalarBuilder &s, ArrayRef<Value> e) {
                         SmallVector<Value> counts(e.drop_front());
                         llvm::append_range(counts, constants);
                         Value count = counts.front();
                         for (Value more : ArrayRef(counts).drop_front())
                           count = s.mul(count, more);
                         return NodeLowering::castScalar(
                             s.b, s.loc, s.div(e[0], count), false,
                             pooling.element, false);
                       }));
  return success();
}

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

/// |x|^p.
static Value powerOf(OpBuilder &b, Location loc, Value x, double p) {
  if (p == 2)
    return arith::MulFOp::create(b, loc, x, x);
  Value magnitude = math::AbsFOp::create(b, loc, x);
  if (p == 1)
    return magnitude;
  Value exponent =
      arith::ConstantOp::create(b, loc, b.getFloatAttr(x.getType(), p));
  return math::PowFOp::create(b, loc, magnitude, exponent);
}

/// x^(1 / p) of what was summed.
static Value rootOf(NodeLowering &l, Value sum, double p, Type to) {
  return l.elementwise(sum, to, [&](OpBuilder &b, Location loc, ValueRange s) {
    Value x = s[0];
    if (p == 2)
      x = math::SqrtOp::create(b, loc, x);
    else if (p != 1)
      x = math::PowFOp::create(b, loc, x,
                               arith::ConstantOp::create(
                                   b, loc, b.getFloatAttr(x.getType(), 1 / p)));
    return NodeLowering::castScalar(b, loc, x, false, to, false);
  });
}

/// The attribute `p`: a float in version 1, an integer later.
static double normOf(NodeLowering &l) {
  if (isa_and_nonnull<FloatAttr>(l.attr("p")))
    return l.floatAttr("p", 2);
  return static_cast<double>(l.intAttr("p", 2));
}

static LogicalResult lowerLpPool(NodeLowering &l) {
  Pooling pooling(l);
  if (failed(pooling.read()))
    return failure();
  double p = normOf(l);
  if (!(p > 0))
    return l.refuse("'p' must be positive");
  Type type = pooling.compute;
  Value sum = pooling.reduceWindows(
      l.constant(pooling.element, 0), l.constant(type, 0), type,
      [&](OpBuilder &b, Location loc, Value x, Value sum) -> Value {
        return arith::AddFOp::create(b, loc, sum, powerOf(b, loc, x, p));
      });
  l.setResult(rootOf(l, sum, p, pooling.element));
  return success();
}

//===----------------------------------------------------------------------===//
// MaxUnpool
//===----------------------------------------------------------------------===//

/// The extents that pooling with these attributes was applied to.
static FailureOr<Dims> unpooledDims(NodeLowering &l) {
  int64_t spatial = l.rank(0) - 2;
  FailureOr<Dims> kernel = kernelShape(l, spatial, {});
  FailureOr<SmallVector<int64_t>> strides = perAxis(l, "strides", spatial, 1);
  FailureOr<SmallVector<int64_t>> pads = perAxis(l, "pads", 2 * spatial, 0);
  if (failed(kernel) || failed(strides) || failed(pads))
    return failure();
  Dims dims = l.dims(l.in(0));
  for (int64_t k : llvm::seq(spatial)) {
    OpFoldResult span =
        l.mul(l.sub(dims[k + 2], l.fold(1)), l.fold((*strides)[k]));
    OpFoldResult padding = l.fold((*pads)[k] + (*pads)[k + spatial]);
    dims[k + 2] = requireNonNegative(
        l, l.sub(l.add(span, (*kernel)[k]), padding), "extent of the result");
  }
  return dims;
}

/// Values go to the places that the indices name, elsewhere is 0.
static LogicalResult lowerMaxUnpool(NodeLowering &l) {
  int64_t rank = l.rank(0);
  if (rank < 3 || l.rank(1) != rank)
    return l.refuse("the input has rank " + Twine(rank) +
                    ", the indices have rank " + Twine(l.rank(1)));
  FailureOr<Dims> dims = unpooledDims(l);
  if (failed(dims))
    return failure();
  Dims in = l.dims(l.in(0));
  for (int64_t k : llvm::seq(rank))
    if (!requireEqual(l, in[k], l.dim(l.in(1), k), "input and indices"))
      return l.refuse("input and indices differ in their shapes");
  Type element = l.elementType(0);
  OpFoldResult total = l.product(*dims);
  Value result = l.filled(total, l.constant(element, 0));
  CheckedIndices places(l, 1, total, /*wraps=*/false);
  result = loopNest(l, in, result, [&](ValueRange at, ValueRange carried) {
    Value place = places.position(l.b, l.b.getLoc(), elementAt(l, l.in(1), at));
    return SmallVector<Value>{tensor::InsertOp::create(
        l.b, elementAt(l, l.in(0), at), carried[0], place)};
  })[0];
  result = reshapeByGroups(l, result, *dims);
  if (l.numInputs() > 2 && l.has(2)) {
    // More zeros at the ends of the axes.
    FailureOr<Dims> target = integers(l, 2, rank, "output_shape");
    if (failed(target))
      return failure();
    for (auto [wanted, extent] : llvm::zip_equal(*target, *dims)) {
      l.check(compare(l, arith::CmpIPredicate::sge, wanted, extent),
              "output_shape has {} where at least {} are needed",
              ValueRange{l.asIndex(wanted), l.asIndex(extent)});
      wanted = maxSigned(l, wanted, extent);
    }
    result = l.insert(result, l.filled(*target, l.constant(element, 0)),
                      Dims(rank, l.fold(0)), *dims);
  }
  l.setResult(result);
  return success();
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

void loopc::addPoolingRows(LoweringTable &table) {
  table.add({
      {"", "MaxPool", 1, kLatest, lowerMaxPool},
      {"", "AveragePool", 1, kLatest, lowerAveragePool},
      {"", "LpPool", 1, kLatest, lowerLpPool},
      {"", "MaxUnpool", 9, kLatest, lowerMaxUnpool},
  });
}
