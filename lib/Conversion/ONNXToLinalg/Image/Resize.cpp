//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Resize and Upsample. Resizing is one axis after the other: tables hold for
// each place of the result where on the axis it reads and with which weights;
// coordinates are computed in f64.

#include "Resize.h"
#include "Framework/ShapeUtils.h"
#include "Vision.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace loopc;
using namespace loopc::resize;
using IP = arith::CmpIPredicate;

/// Extents from here on are more than memory has, and no i64 in the end.
static constexpr double kLargestExtent = 0x1p62;

Value loopc::resize::realOf(ScalarBuilder &s, Value index) {
  Type i64 = s.b.getI64Type();
  return s.make<arith::SIToFPOp>(s.b.getF64Type(),
                                 s.make<arith::IndexCastOp>(i64, index));
}

Value loopc::resize::indexOf(ScalarBuilder &s, Value real) {
  return s.make<arith::IndexCastOp>(
      s.b.getIndexType(), s.make<arith::FPToSIOp>(s.b.getI64Type(), real));
}

/// Where place `at` of the result lies on the axis of the input.
static Value originalPlace(ScalarBuilder &s, const Options &options,
                           const Axis &axis, Value at, Value fromExtent,
                           Value toExtent) {
  Type f64 = s.b.getF64Type();
  auto number = [&](double x) { return s.constant(f64, x); };
  Value x = realOf(s, at), from = realOf(s, fromExtent);
  // Scales give a length that has a part behind the point: output_width of the
  // definition, and what ONNX's tests divide by in align_corners.
  Value to = axis.isBySize ? realOf(s, toExtent) : s.mul(axis.scale, from);
  Value one = number(1), half = number(0.5);
  // length_resized of the definition, which is whole.
  Value whole = realOf(s, toExtent);
  Value isPoint = s.equal(whole, one);
  auto steps = [&](Value extent) { return s.sub(extent, one); };
  auto halfPixel = [&] {
    return s.sub(s.div(s.add(x, half), axis.scale), half);
  };
  StringRef mode = options.coordinates;
  if (mode == "align_corners")
    return s.select(isPoint, number(0),
                    s.div(s.mul(x, steps(from)), steps(to)));
  if (mode == "asymmetric")
    return s.div(x, axis.scale);
  // An axis that stays as it is is not moved.
  if (mode == "tf_half_pixel_for_nn")
    return s.select(s.equal(axis.scale, one), x,
                    s.div(s.add(x, half), axis.scale));
  if (mode == "pytorch_half_pixel")
    return s.select(isPoint, number(0), halfPixel());
  if (mode == "half_pixel_symmetric") {
    Value adjustment = s.div(whole, to);
    Value offset = s.mul(s.div(from, number(2)), s.sub(one, adjustment));
    return s.add(offset, halfPixel());
  }
  if (mode == "tf_crop_and_resize") {
    Value length = s.mul(s.sub(axis.end, axis.begin), steps(from));
    Value moved = s.select(isPoint, s.div(length, number(2)),
                           s.div(s.mul(x, length), steps(whole)));
    Value place = s.add(moved, s.mul(axis.begin, steps(from)));
    // What lies outside need not lie far outside, and no number lies there too:
    // as an integer either could be poison, and an access to any address.
    Value low = number(-2), high = s.add(from, one);
    place = s.select(s.less(place, high), place, high);
    return s.select(s.less(low, place), place, low);
  }
  return halfPixel();
}

Value loopc::resize::clampTo(ScalarBuilder &s, Value index, Value extent) {
  Value zero = arith::ConstantIndexOp::create(s.b, s.loc, 0);
  Value one = arith::ConstantIndexOp::create(s.b, s.loc, 1);
  Value last = s.make<arith::SubIOp>(extent, one);
  return s.make<arith::MaxSIOp>(s.make<arith::MinSIOp>(index, last), zero);
}

/// The table of the places on the axis, f64.
Value loopc::resize::placeTable(NodeLowering &l, const Options &options,
                                const Axis &axis) {
  Value from = l.asIndex(axis.from), to = l.asIndex(axis.to);
  return l.generate(axis.to, l.b.getF64Type(),
                    [&](OpBuilder &b, Location loc, ValueRange at) {
                      ScalarBuilder s(b, loc);
                      return originalPlace(s, options, axis, at[0], from, to);
                    });
}

/// True (i1) where a place lies outside of the input (tf_crop_and_resize).
Value loopc::resize::isOutside(ScalarBuilder &s, Value place, Value extent) {
  Value last = s.sub(realOf(s, extent), s.constant(s.b.getF64Type(), 1));
  Value zero = s.constant(s.b.getF64Type(), 0);
  return s.either(s.less(place, zero), s.less(last, place));
}

//===----------------------------------------------------------------------===//
// Linear and cubic
//===----------------------------------------------------------------------===//

/// So many elements that make up one are written out.
static constexpr int64_t kFewTaps = 4;

/// Weight of an element at distance `x`.
static Value kernel(ScalarBuilder &s, const Options &options, Value x) {
  Type f64 = s.b.getF64Type();
  auto number = [&](double v) { return s.constant(f64, v); };
  x = s.abs(x);
  if (options.mode == Mode::Linear)
    return s.max(s.sub(number(1), x), number(0));
  return cubicWeight(s, x, options.cubicCoefficient);
}

namespace {
/// For each place of the result `taps` weights, for the elements from `first`
/// on (f64, [to, taps] and [to]); those outside of the axis are at its ends.
struct WeightTable {
  OpFoldResult taps;
  Value weights, places, first;
};
} // namespace

/// The element left of place `x`, or `x` - 1 where that is one: the part behind
/// it is in (0, 1].
static Value leftOf(ScalarBuilder &s, Value x) {
  return s.sub(s.make<math::CeilOp>(x), s.constant(x.getType(), 1));
}

static WeightTable weightTable(NodeLowering &l, const Options &options,
                               const Axis &axis) {
  ScalarBuilder s(l.b, l.b.getLoc());
  Type f64 = l.b.getF64Type();
  double support = options.mode == Mode::Linear ? 1 : 2;
  WeightTable table;
  Value squeeze = s.constant(f64, 1), start = s.constant(f64, 1 - support);
  table.taps = l.fold(static_cast<int64_t>(2 * support));
  if (options.antialiases) {
    // Shrinking widens the kernel.
    squeeze = s.min(axis.scale, squeeze);
    start =
        s.add(s.make<math::FloorOp>(s.div(s.constant(f64, -support), squeeze)),
              s.constant(f64, 1));
    Value taps = indexOf(s, s.sub(s.constant(f64, 2), s.add(start, start)));
    if (std::optional<int64_t> known = getConstantIntValue(taps))
      table.taps = l.fold(*known);
    else
      table.taps = taps;
  }
  table.places = placeTable(l, options, axis);
  table.first = l.elementwise(table.places, f64,
                              [&](OpBuilder &b, Location loc, ValueRange e) {
                                ScalarBuilder s(b, loc);
                                return s.add(leftOf(s, e[0]), start);
                              });
  Value extent = l.asIndex(axis.from);
  Value raw = l.generate(
      {axis.to, table.taps}, f64,
      [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
        ScalarBuilder s(b, loc);
        Value place = tensor::ExtractOp::create(b, loc, table.places, at[0]);
        Value index = s.add(s.add(leftOf(s, place), start), realOf(s, at[1]));
        Value weight = kernel(s, options, s.mul(s.sub(index, place), squeeze));
        if (!options.excludesOutside)
          return weight;
        Value zero = s.constant(f64, 0);
        Value inside = s.both(s.lessOrEqual(zero, index),
                              s.less(index, realOf(s, extent)));
        return s.select(inside, weight, zero);
      });
  table.weights = raw;
  if (!options.antialiases && !options.excludesOutside)
    return table;
  // The weights make up 1.
  Dims space = {axis.to, table.taps};
  Value sums =
      reduceSpace(l, {{raw, {0, 1}}}, space, {1}, Combiner::Sum, f64, false,
                  [](ScalarBuilder &, ArrayRef<Value> e) { return e[0]; });
  table.weights = mapSpace(l, {{raw, {0, 1}}, {sums, {0}}}, space, f64,
                           [&](ScalarBuilder &s, ArrayRef<Value> e) {
                             Value zero = s.constant(f64, 0);
                             Value sum = s.select(s.equal(e[1], zero),
                                                  s.constant(f64, 1), e[1]);
                             return s.div(e[0], sum);
                           });
  return table;
}

/// `x` resized along one axis by `taps` elements at a time, which are written
/// out: neighbours in a row read the same elements of the tables.
static Value resizeByFew(NodeLowering &l, Value x, const Axis &axis,
                         const WeightTable &table, int64_t taps) {
  Type compute = getElementTypeOrSelf(x.getType());
  Type i64 = l.b.getI64Type();
  Value extent = l.asIndex(axis.from);
  Value weights = l.elementwise(
      table.weights, compute, [&](OpBuilder &b, Location loc, ValueRange e) {
        return ScalarBuilder(b, loc).cast(e[0], compute);
      });
  Value elements = l.generate(
      {axis.to, table.taps}, i64,
      [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
        ScalarBuilder s(b, loc);
        Value first = tensor::ExtractOp::create(b, loc, table.first, at[0]);
        Value index = s.make<arith::AddIOp>(indexOf(s, first), at[1]);
        return s.make<arith::IndexCastOp>(i64, clampTo(s, index, extent));
      });
  Dims dims = l.dims(x);
  dims[axis.axis] = axis.to;
  return l.generate(
      dims, compute, [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
        ScalarBuilder s(b, loc);
        SmallVector<Value> from(at);
        Value sum;
        for (int64_t k : llvm::seq(taps)) {
          SmallVector<Value> place{at[axis.axis],
                                   arith::ConstantIndexOp::create(b, loc, k)};
          from[axis.axis] = s.make<arith::IndexCastOp>(
              b.getIndexType(),
              tensor::ExtractOp::create(b, loc, elements, place));
          Value value = tensor::ExtractOp::create(b, loc, x, from);
          Value weight = tensor::ExtractOp::create(b, loc, weights, place);
          Value part = s.mul(weight, value);
          sum = sum ? s.add(sum, part) : part;
        }
        return sum;
      });
}

/// `x`, of the type that is computed in, resized along one axis.
static Value resizeAxis(NodeLowering &l, const Options &options, Value x,
                        const Axis &axis) {
  WeightTable table = weightTable(l, options, axis);
  auto type = cast<RankedTensorType>(x.getType());
  int64_t rank = type.getRank();
  Type compute = type.getElementType();
  Dims dims = l.dims(x);
  dims[axis.axis] = axis.to;
  Dims space = dims;
  space.push_back(table.taps);
  Value extent = l.asIndex(axis.from);
  std::optional<int64_t> taps = getConstantIntValue(table.taps);
  Value result =
      taps && *taps > 0 && *taps <= kFewTaps
          ? resizeByFew(l, x, axis, table, *taps)
          : reduceSpace(
                l,
                {{table.weights, {axis.axis, rank}},
                 {table.first, {axis.axis}}},
                space, {rank}, Combiner::Sum, compute, false,
                [&](ScalarBuilder &s, ArrayRef<Value> e) -> Value {
                  SmallVector<Value> at;
                  for (int64_t k = 0; k < rank; ++k)
                    at.push_back(linalg::IndexOp::create(s.b, s.loc, k));
                  Value tap = linalg::IndexOp::create(s.b, s.loc, rank);
                  Value index = s.make<arith::AddIOp>(indexOf(s, e[1]), tap);
                  at[axis.axis] = clampTo(s, index, extent);
                  Value value = tensor::ExtractOp::create(s.b, s.loc, x, at);
                  return s.mul(s.cast(e[0], compute), value);
                });
  if (options.coordinates != "tf_crop_and_resize")
    return result;
  return mapSpace(l, {{result, allAxes(rank)}, {table.places, {axis.axis}}},
                  dims, compute, [&](ScalarBuilder &s, ArrayRef<Value> e) {
                    return s.select(isOutside(s, e[1], extent),
                                    s.constant(compute, options.extrapolation),
                                    e[0]);
                  });
}

/// The nearest value of the result's type, which holds no more than it can.
static Value narrow(NodeLowering &l, Value x, Type type, bool toUnsigned) {
  return l.elementwise(
      x, type, [&](OpBuilder &b, Location loc, ValueRange e) -> Value {
        ScalarBuilder s(b, loc);
        Value value = e[0];
        if (auto integer = dyn_cast<IntegerType>(type)) {
          value = s.make<math::RoundEvenOp>(value);
          unsigned bits = integer.getWidth() - (toUnsigned ? 0 : 1);
          double limit = std::ldexp(1.0, bits);
          double most = bits > 52 ? std::nextafter(limit, 0) : limit - 1;
          value = s.max(value,
                        s.constant(value.getType(), toUnsigned ? 0 : -limit));
          value = s.min(value, s.constant(value.getType(), most));
        }
        return NodeLowering::castScalar(b, loc, value, false, type, toUnsigned);
      });
}

/// The same of an axis that may turn out to stay as it is: batches and channels
/// mostly do, and each axis that is resized goes through all elements.
static Value resizeUnlessEqual(NodeLowering &l, const Options &options, Value x,
                               const Axis &axis) {
  auto type = cast<RankedTensorType>(x.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[axis.axis] = ShapedType::kDynamic;
  // A cast of what is handed on, to the extent that is known, would copy it.
  auto open = type.clone(shape);
  auto opened = [&](Value made) {
    return l.b.createOrFold<tensor::CastOp>(open, made);
  };
  return ifElse(
      l, open, compare(l, IP::eq, axis.from, axis.to),
      [&] { return opened(x); },
      [&] { return opened(resizeAxis(l, options, x, axis)); });
}

static Value resizeSmooth(NodeLowering &l, const Options &options, Value x,
                          ArrayRef<Axis> axes) {
  Type type = cast<RankedTensorType>(x.getType()).getElementType();
  Type f64 = l.b.getF64Type();
  bool isWide = type.isF64() ||
                (isa<IntegerType>(type) && type.getIntOrFloatBitWidth() > 16);
  Type compute = isWide ? f64 : Type(l.b.getF32Type());
  bool isUnsigned = l.isUnsigned(0);
  Value value = x;
  if (type != compute)
    value = l.elementwise(x, compute,
                          [&](OpBuilder &b, Location loc, ValueRange e) {
                            return NodeLowering::castScalar(
                                b, loc, e[0], isUnsigned, compute, false);
                          });
  int64_t rank = cast<RankedTensorType>(x.getType()).getRank();
  SmallVector<int64_t> shape(
      cast<RankedTensorType>(value.getType()).getShape());
  for (const Axis &axis : axes) {
    shape[axis.axis] =
        getConstantIntValue(axis.to).value_or(ShapedType::kDynamic);
    bool mayStay =
        axis.isBySize && !axis.begin && axis.axis < rank - kImageAxes &&
        !(getConstantIntValue(axis.from) && getConstantIntValue(axis.to));
    value = mayStay ? resizeUnlessEqual(l, options, value, axis)
                    : resizeAxis(l, options, value, axis);
  }
  value = l.b.createOrFold<tensor::CastOp>(
      l.b.getLoc(), RankedTensorType::get(shape, compute), value);
  return type == compute ? value : narrow(l, value, type, isUnsigned);
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

static FailureOr<Mode> modeNamed(NodeLowering &l, StringRef name) {
  if (name == "nearest")
    return Mode::Nearest;
  if (name == "linear" || name == "bilinear" || name == "trilinear")
    return Mode::Linear;
  if (name == "cubic" || name == "bicubic")
    return Mode::Cubic;
  return l.refuse("unknown mode '" + name + "'");
}

/// Element `k` of float input `i`, as f64.
static Value floatElement(NodeLowering &l, unsigned i, int64_t k) {
  Value element = elementAt(l, l.in(i), ValueRange{l.index(k)});
  return ScalarBuilder(l.b, l.b.getLoc()).cast(element, l.b.getF64Type());
}

/// True for a scale that is known to leave an axis as it is.
static bool isOne(Value scale) {
  FloatAttr constant;
  return matchPattern(scale, m_Constant(&constant)) &&
         constant.getValueAsDouble() == 1;
}

/// floor(extent * scale); the result cannot be negative.
static OpFoldResult scaledExtent(NodeLowering &l, OpFoldResult extent,
                                 Value scale, double rounding = 0) {
  if (isOne(scale))
    return extent;
  ScalarBuilder s(l.b, l.b.getLoc());
  Value scaled = s.mul(realOf(s, l.asIndex(extent)), scale);
  if (rounding != 0)
    scaled = s.add(scaled, s.constant(scaled.getType(), rounding));
  Value most = s.constant(scaled.getType(), kLargestExtent);
  // A scale that is no number or infinite is refused, so its extent is never
  // used; but memory of that extent may be asked for where the check is not.
  Value infinity =
      s.constant(scaled.getType(), std::numeric_limits<double>::infinity());
  Value large =
      s.select(s.less(scaled, infinity), most, s.constant(scaled.getType(), 0));
  scaled = s.select(s.less(scaled, most), scaled, large);
  Value result = indexOf(s, s.make<math::FloorOp>(scaled));
  if (std::optional<int64_t> known = getConstantIntValue(result))
    return l.fold(std::max<int64_t>(*known, 0));
  return maxSigned(l, result, l.fold(0));
}

static bool isPositiveConstant(Value value) {
  FloatAttr constant;
  return matchPattern(value, m_Constant(&constant)) &&
         constant.getValue().isFinite() && constant.getValueAsDouble() > 0;
}

static LogicalResult resizeBy(NodeLowering &l, const Options &options,
                              SmallVector<Axis> axes) {
  Value x = l.in(0);
  ScalarBuilder s(l.b, l.b.getLoc());
  for (Axis &axis : axes)
    if (!isPositiveConstant(axis.scale)) {
      Type type = axis.scale.getType();
      double infinity = std::numeric_limits<double>::infinity();
      Value isScale = s.both(s.less(s.constant(type, 0), axis.scale),
                             s.less(axis.scale, s.constant(type, infinity)));
      // An axis without elements stays one.
      Value isEmpty = compare(l, IP::eq, axis.from, l.fold(0));
      l.check(s.either(isScale, isEmpty), "the scale of axis " +
                                              Twine(axis.axis) +
                                              " is not positive and finite");
    }
  for (Axis &axis : axes) {
    Value fits = either(l, compare(l, IP::ne, axis.from, l.fold(0)),
                        compare(l, IP::eq, axis.to, l.fold(0)));
    l.check(fits, "axis " + Twine(axis.axis) + " has no elements to resize");
  }
  // What stays as it is costs nothing.
  llvm::erase_if(axes, [&](const Axis &axis) {
    return !axis.begin && sameExtent(axis.from, axis.to) && isOne(axis.scale);
  });
  if (options.mode == Mode::Nearest) {
    l.setResult(resizeNearest(l, options, x, axes));
    return success();
  }
  if (failed(requireArithmetic(l, 0)))
    return failure();
  l.setResult(resizeSmooth(l, options, x, axes));
  return success();
}

//===----------------------------------------------------------------------===//
// Resize
//===----------------------------------------------------------------------===//

static LogicalResult readOptions(NodeLowering &l, Options &options) {
  FailureOr<Mode> mode = modeNamed(l, l.stringAttr("mode", "nearest"));
  if (failed(mode))
    return failure();
  options.mode = *mode;
  options.roundsUpWhereShorter = l.node.getSinceVersion() < 11;
  if (options.roundsUpWhereShorter)
    return success();
  options.coordinates =
      l.stringAttr("coordinate_transformation_mode", "half_pixel");
  options.nearest = l.stringAttr("nearest_mode", "round_prefer_floor");
  options.cubicCoefficient = l.floatAttr("cubic_coeff_a", -0.75);
  options.excludesOutside = l.intAttr("exclude_outside", 0);
  options.extrapolation = l.floatAttr("extrapolation_value", 0);
  options.policy = l.stringAttr("keep_aspect_ratio_policy", "stretch");
  options.antialiases = l.intAttr("antialias", 0);
  if (!llvm::is_contained({"align_corners", "asymmetric", "half_pixel",
                           "half_pixel_symmetric", "pytorch_half_pixel",
                           "tf_crop_and_resize", "tf_half_pixel_for_nn"},
                          StringRef(options.coordinates)))
    return l.refuse("unknown coordinate_transformation_mode '" +
                    options.coordinates + "'");
  if (!llvm::is_contained(
          {"floor", "ceil", "round_prefer_floor", "round_prefer_ceil"},
          StringRef(options.nearest)))
    return l.refuse("unknown nearest_mode '" + options.nearest + "'");
  if (!llvm::is_contained({"stretch", "not_larger", "not_smaller"},
                          StringRef(options.policy)))
    return l.refuse("unknown keep_aspect_ratio_policy '" + options.policy +
                    "'");
  return success();
}

/// How many times `extent` the size `size` is, if that follows from how it is
/// computed (of a tensor's shape, and not below 0); else 0.
static int64_t timesOf(OpFoldResult size, OpFoldResult extent) {
  int64_t times = 1;
  while (!sameExtent(size, extent)) {
    auto value = dyn_cast<Value>(size);
    Operation *op = value ? value.getDefiningOp() : nullptr;
    if (auto cast = dyn_cast_or_null<arith::IndexCastOp>(op)) {
      size = cast.getIn();
      continue;
    }
    if (!isa_and_nonnull<arith::MulIOp, arith::MaxSIOp>(op))
      return 0;
    std::optional<int64_t> by = getConstantIntValue(op->getOperand(1));
    bool isProduct = isa<arith::MulIOp>(op);
    if (!by || (isProduct ? *by < 1 || *by > kMaxRepeats / times : *by != 0))
      return 0;
    times *= isProduct ? *by : 1;
    size = op->getOperand(0);
  }
  return times;
}

/// Scales from sizes, all the same where the ratio is kept.
static void scaleBySizes(NodeLowering &l, const Options &options,
                         ArrayRef<OpFoldResult> sizes,
                         MutableArrayRef<Axis> axes) {
  ScalarBuilder s(l.b, l.b.getLoc());
  Value common;
  for (auto [axis, size] : llvm::zip_equal(axes, sizes)) {
    axis.to = size;
    axis.isBySize = true;
    if (int64_t times = timesOf(size, axis.from)) {
      axis.scale = s.constant(l.b.getF64Type(), times);
      axis.isBySize = false;
    } else {
      Value from = l.asIndex(maxSigned(l, axis.from, l.fold(1)));
      axis.scale = s.div(realOf(s, l.asIndex(size)), realOf(s, from));
    }
    if (!common)
      common = axis.scale;
    else
      common = options.policy == "not_larger" ? s.min(common, axis.scale)
                                              : s.max(common, axis.scale);
  }
  if (options.policy == "stretch")
    return;
  for (Axis &axis : axes) {
    axis.scale = common;
    axis.isBySize = false;
    axis.to = scaledExtent(l, axis.from, common, 0.5);
  }
}

static LogicalResult lowerResize(NodeLowering &l) {
  Options options;
  if (failed(readOptions(l, options)))
    return failure();
  int64_t rank = l.rank(0), since = l.node.getSinceVersion();
  SmallVector<int64_t> numbers = allAxes(rank);
  if (std::optional<SmallVector<int64_t>> given = l.intsAttr("axes")) {
    numbers = *given;
    for (int64_t &axis : numbers) {
      FailureOr<int64_t> normal = l.normalizeAxis(axis, rank);
      if (failed(normal))
        return failure();
      axis = *normal;
    }
  }
  int64_t count = numbers.size();
  unsigned scales = since < 11 ? 1 : 2, sizes = 3, roi = 1;
  auto isGiven = [&](unsigned i) {
    return l.has(i) && !isConstantIntValue(l.dim(l.in(i), 0), 0);
  };
  bool bySizes = since >= 11 && isGiven(sizes);
  if (!bySizes && !isGiven(scales))
    return l.refuse("neither scales nor sizes are given");
  SmallVector<Axis> axes;
  for (int64_t axis : numbers)
    axes.push_back({axis, l.dim(l.in(0), axis), {}, {}, {}, {}, false});
  auto hasLength = [&](unsigned i, int64_t expected, StringRef what) {
    return requireEqual(l, l.dim(l.in(i), 0), l.fold(expected), what);
  };
  if (bySizes) {
    FailureOr<Dims> given = integers(l, sizes, count, "sizes");
    if (failed(given) || static_cast<int64_t>(given->size()) != count)
      return failed(given) ? failure()
                           : LogicalResult(l.refuse("wrong number of sizes"));
    for (OpFoldResult &size : *given)
      size = requireNonNegative(l, size, "a size");
    scaleBySizes(l, options, *given, axes);
  } else {
    if (!hasLength(scales, count, "the number of scales"))
      return l.refuse("wrong number of scales");
    for (auto [k, axis] : llvm::enumerate(axes)) {
      axis.scale = floatElement(l, scales, k);
      axis.to = scaledExtent(l, axis.from, axis.scale);
    }
  }
  if (options.coordinates == "tf_crop_and_resize") {
    if (!isGiven(roi) || !hasLength(roi, 2 * count, "the region"))
      return l.refuse("tf_crop_and_resize needs a region for every axis");
    for (auto [k, axis] : llvm::enumerate(axes)) {
      axis.begin = floatElement(l, roi, k);
      axis.end = floatElement(l, roi, count + k);
    }
  }
  return resizeBy(l, options, axes);
}

//===----------------------------------------------------------------------===//
// Upsample
//===----------------------------------------------------------------------===//

static LogicalResult lowerUpsample(NodeLowering &l) {
  Options options;
  FailureOr<Mode> mode = modeNamed(l, l.stringAttr("mode", "nearest"));
  if (failed(mode))
    return failure();
  options.mode = *mode;
  int64_t rank = l.rank(0), since = l.node.getSinceVersion();
  if (since >= 9)
    return lowerResize(l);
  SmallVector<double> scales(rank, 1);
  if (since == 1) {
    if (rank != 4)
      return l.refuse("the input has rank " + Twine(rank) + ", expected 4");
    scales[2] = l.floatAttr("height_scale");
    scales[3] = l.floatAttr("width_scale");
  } else {
    scales = *l.floatsAttr("scales");
    if (static_cast<int64_t>(scales.size()) != rank)
      return l.refuse(Twine(scales.size()) + " scales for rank " + Twine(rank));
  }
  SmallVector<Axis> axes;
  for (auto [k, scale] : llvm::enumerate(scales)) {
    Value value = l.constant(l.b.getF64Type(), scale);
    OpFoldResult from = l.dim(l.in(0), k);
    axes.push_back({static_cast<int64_t>(k),
                    from,
                    scaledExtent(l, from, value),
                    value,
                    {},
                    {},
                    false});
  }
  return resizeBy(l, options, axes);
}

void loopc::addResizeRows(LoweringTable &table) {
  table.add({
      {"", "Resize", 10, kLatest, lowerResize},
      {"", "Upsample", 1, 9, lowerUpsample},
  });
}
