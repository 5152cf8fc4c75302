//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Resizing to the nearest element: a table holds for each place of the result
// which element of the axis it is, or elements are repeated.

#include "Framework/ShapeUtils.h"
#include "Resize.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace loopc;
using namespace loopc::resize;
using IP = arith::CmpIPredicate;

static Value roundPlace(ScalarBuilder &s, const Options &options, Value x) {
  StringRef mode = options.nearest;
  if (mode == "floor")
    return s.make<math::FloorOp>(x);
  if (mode == "ceil")
    return s.make<math::CeilOp>(x);
  Value half = s.constant(x.getType(), 0.5);
  return mode == "round_prefer_ceil" ? s.make<math::FloorOp>(s.add(x, half))
                                     : s.make<math::CeilOp>(s.sub(x, half));
}

/// Resize-10 divides in f32: 7 / 0.7 is 10 there.
static Value roundUpWhereShorter(ScalarBuilder &s, const Axis &axis, Value x) {
  Type f64 = x.getType();
  Value rounded =
      s.make<arith::ExtFOp>(f64, s.make<arith::TruncFOp>(s.b.getF32Type(), x));
  return s.make<arith::SelectOp>(s.less(axis.scale, s.constant(f64, 1)),
                                 s.make<math::CeilOp>(rounded),
                                 s.make<math::FloorOp>(x));
}

/// For each place on the axis the element of the input, i64.
static Value nearestTable(NodeLowering &l, const Options &options,
                          const Axis &axis, Value places) {
  Value extent = l.asIndex(axis.from);
  Type i64 = l.b.getI64Type();
  return l.elementwise(
      places, i64, [&](OpBuilder &b, Location loc, ValueRange e) -> Value {
        ScalarBuilder s(b, loc);
        Value rounded = indexOf(s, options.roundsUpWhereShorter
                                       ? roundUpWhereShorter(s, axis, e[0])
                                       : roundPlace(s, options, e[0]));
        return s.make<arith::IndexCastOp>(i64, clampTo(s, rounded, extent));
      });
}

/// True if a whole scale repeats each element of the axis: the middle of an
/// element of the result, (x + 0.5) / scale, or its begin, x / scale, is
/// rounded down.
static bool repeatsElements(const Options &options) {
  StringRef mode = options.coordinates, nearest = options.nearest;
  if (mode == "asymmetric" || mode == "tf_half_pixel_for_nn")
    return nearest == "floor";
  bool isMiddle = mode == "half_pixel" || mode == "half_pixel_symmetric" ||
                  mode == "pytorch_half_pixel";
  return isMiddle && nearest.starts_with("round_prefer");
}

/// How often each element of the axis stands in the result, if that is known
/// and they stand one behind the other; else 0.
static int64_t repeatsOf(const Options &options, const Axis &axis) {
  FloatAttr constant;
  if (axis.begin || !matchPattern(axis.scale, m_Constant(&constant)))
    return 0;
  double scale = constant.getValueAsDouble();
  if (scale < 1 || scale > kMaxRepeats || scale != std::floor(scale))
    return 0;
  int64_t times = static_cast<int64_t>(scale);
  std::optional<int64_t> from = getConstantIntValue(axis.from);
  std::optional<int64_t> to = getConstantIntValue(axis.to);
  // By sizes the scale may have been rounded.
  if (axis.isBySize && (!from || !to || *to != *from * times))
    return 0;
  return repeatsElements(options) ? times : 0;
}

/// All axes at once: each element of the result is one of the input.
static Value resizeAtOnce(NodeLowering &l, const Options &options, Value x,
                          ArrayRef<Axis> axes) {
  SmallVector<Value> places, tables, extents;
  SmallVector<int64_t> repeats;
  Dims dims = l.dims(x);
  Type type = cast<RankedTensorType>(x.getType()).getElementType();
  bool crops = options.coordinates == "tf_crop_and_resize";
  for (const Axis &axis : axes) {
    repeats.push_back(repeatsOf(options, axis));
    bool isTable = repeats.back() == 0;
    places.push_back(isTable ? placeTable(l, options, axis) : Value());
    tables.push_back(isTable ? nearestTable(l, options, axis, places.back())
                             : Value());
    extents.push_back(l.asIndex(axis.from));
    dims[axis.axis] = axis.to;
  }
  Value outside = crops ? l.constant(type, options.extrapolation) : Value();
  return l.generate(
      dims, type, [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
        ScalarBuilder s(b, loc);
        SmallVector<Value> from(at);
        Value cut;
        for (auto [k, axis] : llvm::enumerate(axes)) {
          if (crops) {
            Value place =
                tensor::ExtractOp::create(b, loc, places[k], at[axis.axis]);
            Value beyond = isOutside(s, place, extents[k]);
            cut = cut ? s.either(cut, beyond) : beyond;
          }
          Value &here = from[axis.axis];
          if (repeats[k])
            here = s.make<arith::DivUIOp>(
                here, arith::ConstantIndexOp::create(b, loc, repeats[k]));
          else
            here = s.make<arith::IndexCastOp>(
                b.getIndexType(),
                tensor::ExtractOp::create(b, loc, tables[k], here));
        }
        Value value = tensor::ExtractOp::create(b, loc, x, from);
        return cut ? s.select(cut, outside, value) : value;
      });
}

/// The same where sizes are known to the run alone: of twice as many rows and
/// columns, which most of them turn out to be, each element is repeated.
///
///   %r = scf.if %are_twice { x[i / 2, j / 2] } else { x[rows[i], columns[j]] }
Value loopc::resize::resizeNearest(NodeLowering &l, const Options &options,
                                   Value x, ArrayRef<Axis> axes) {
  constexpr int64_t kTimes = 2;
  auto isOpen = [](const Axis &axis) {
    return axis.isBySize &&
           !(getConstantIntValue(axis.from) && getConstantIntValue(axis.to));
  };
  if (!repeatsElements(options) || llvm::none_of(axes, isOpen) ||
      llvm::any_of(
          axes, [](const Axis &axis) { return axis.begin || !axis.isBySize; }))
    return resizeAtOnce(l, options, x, axes);
  // Batches and channels stay.
  int64_t images = cast<RankedTensorType>(x.getType()).getRank() - kImageAxes;
  SmallVector<Axis> twice(axes);
  Value areTwice;
  for (Axis &axis : twice) {
    int64_t times = axis.axis >= images ? kTimes : 1;
    Value fits = compare(l, IP::eq, axis.to, l.mul(axis.from, l.fold(times)));
    areTwice = areTwice ? both(l, areTwice, fits) : fits;
    axis.scale = l.constant(l.b.getF64Type(), times);
    axis.isBySize = false;
  }
  auto make = [&](ArrayRef<Axis> of) {
    return [&l, &options, x, of](OpBuilder &, Location loc) {
      scf::YieldOp::create(l.b, loc, resizeAtOnce(l, options, x, of));
    };
  };
  return scf::IfOp::create(l.b, l.b.getLoc(), areTwice, make(twice), make(axes))
      .getResult(0);
}
