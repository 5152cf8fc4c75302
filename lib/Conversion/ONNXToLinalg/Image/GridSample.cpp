//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// GridSample: samples at places that a grid says, over any number of axes.

#include "Framework/ElementwiseUtils.h"
#include "Framework/ShapeUtils.h"
#include "Vision.h"

using namespace mlir;
using namespace loopc;
using IP = arith::CmpIPredicate;

namespace {
enum class Padding { Zeros, Border, Reflection };

struct Sampler {
  int64_t taps; ///< along each axis: 1 nearest, 2 linear, 4 cubic
  Padding padding;
  bool alignsCorners;

  /// The lowest place (the highest one is as far from the other end).
  Value lowest(ScalarBuilder &s, Type type) const {
    return s.constant(type, alignsCorners ? 0 : -0.5);
  }
  Value place(ScalarBuilder &s, Value normalized, Value extent) const;
  Value reflect(ScalarBuilder &s, Value x, Value extent) const;
  Value weight(ScalarBuilder &s, Value fraction, Value tap) const;
};
} // namespace

/// Folds `x` back at the borders until it is between them.
Value Sampler::reflect(ScalarBuilder &s, Value x, Value extent) const {
  Type type = x.getType();
  Value low = lowest(s, type), one = s.constant(type, 1);
  Value range = alignsCorners ? s.sub(extent, one) : extent;
  Value high = s.add(low, range);
  // An axis of one element has its only place; nothing is divided by 0.
  Value isPoint = s.lessOrEqual(range, s.constant(type, 0));
  Value divisor = s.select(isPoint, one, range);
  Value below = s.less(x, low);
  Value distance = s.select(below, s.sub(low, x), s.sub(x, high));
  Value times = s.make<math::FloorOp>(s.div(distance, divisor));
  Value rest = s.sub(distance, s.mul(times, divisor));
  Value half = s.make<math::FloorOp>(s.mul(times, s.constant(type, 0.5)));
  Value isEven = s.equal(s.add(half, half), times);
  // Even: at the border that it went over.
  Value fromLow = s.select(below, isEven, s.invert(isEven));
  Value folded = s.select(fromLow, s.add(low, rest), s.sub(high, rest));
  Value inside = s.both(s.lessOrEqual(low, x), s.lessOrEqual(x, high));
  return s.select(isPoint, s.constant(type, 0), s.select(inside, x, folded));
}

/// A coordinate in [-1, 1] as a place on the axis.
Value Sampler::place(ScalarBuilder &s, Value normalized, Value extent) const {
  Type type = normalized.getType();
  Value one = s.constant(type, 1), half = s.constant(type, 0.5);
  Value moved = s.add(normalized, one);
  Value x = alignsCorners ? s.mul(s.mul(moved, half), s.sub(extent, one))
                          : s.mul(s.sub(s.mul(moved, extent), one), half);
  if (taps == 1)
    x = s.make<math::RoundEvenOp>(x);
  if (padding == Padding::Zeros)
    return x;
  if (padding == Padding::Reflection)
    return reflect(s, x, extent);
  Value low = lowest(s, type), high = s.sub(s.sub(extent, one), low);
  Value inside = s.both(s.lessOrEqual(low, x), s.lessOrEqual(x, high));
  Value clamped = s.min(s.max(x, s.constant(type, 0)), s.sub(extent, one));
  return s.select(inside, x, clamped);
}

/// Weight of tap `tap` (a float), where the place is `fraction` behind the
/// element to its left.
Value Sampler::weight(ScalarBuilder &s, Value fraction, Value tap) const {
  Type type = fraction.getType();
  auto number = [&](double x) { return s.constant(type, x); };
  if (taps == 1)
    return number(1);
  Value first = number(taps == 2 ? 0 : -1);
  Value distance = s.abs(s.sub(s.add(tap, first), fraction));
  if (taps == 2)
    return s.sub(number(1), distance);
  return cubicWeight(s, distance, -0.75);
}

Value loopc::cubicWeight(ScalarBuilder &s, Value distance, double a) {
  Type type = distance.getType();
  auto number = [&](double v) { return s.constant(type, v); };
  auto polynomial = [&](double c3, double c2, double c1, double c0) {
    Value sum = s.add(s.mul(number(c3), distance), number(c2));
    sum = s.add(s.mul(sum, distance), number(c1));
    return s.add(s.mul(sum, distance), number(c0));
  };
  Value near = polynomial(a + 2, -(a + 3), 0, 1);
  Value far = polynomial(a, -5 * a, 8 * a, -4 * a);
  Value beyond = s.select(s.less(distance, number(2)), far, number(0));
  return s.select(s.lessOrEqual(distance, number(1)), near, beyond);
}

namespace {
/// Where the taps around a place of the grid are, the same for all channels.
class Taps {
public:
  /// Builds in a body over [N, taps..., positions...].
  Taps(ScalarBuilder &s, const Sampler &sampler, Value grid,
       ArrayRef<Value> extents, Type compute);

  /// Product of the weights along all axes.
  Value weight() const { return product; }
  /// Number of the element among all of a channel; -1: there is none.
  Value number() const { return position; }

private:
  Value real(Value v) {
    return s.make<arith::SIToFPOp>(
        compute, s.make<arith::IndexCastOp>(s.b.getI64Type(), v));
  }
  void addAxis(const Sampler &sampler, Value normalized, Value tap,
               Value extent);

  ScalarBuilder &s;
  Type compute;
  Value product, position, isInside;
};
} // namespace

Taps::Taps(ScalarBuilder &s, const Sampler &sampler, Value grid,
           ArrayRef<Value> extents, Type compute)
    : s(s), compute(compute) {
  int64_t axes = extents.size();
  auto at = [&](int64_t k) -> Value {
    return linalg::IndexOp::create(s.b, s.loc, k);
  };
  SmallVector<Value> where = {at(0)};
  for (int64_t k = 0; k < axes; ++k)
    where.push_back(at(1 + axes + k));
  where.push_back({});
  for (int64_t k = 0; k < axes; ++k) {
    // The grid has the last axis first.
    where.back() = arith::ConstantIndexOp::create(s.b, s.loc, axes - 1 - k);
    Value normalized =
        s.cast(tensor::ExtractOp::create(s.b, s.loc, grid, where), compute);
    addAxis(sampler, normalized, real(at(1 + k)), extents[k]);
  }
  if (sampler.padding == Padding::Zeros)
    position = s.select(isInside, position, s.integer(position.getType(), -1));
}

void Taps::addAxis(const Sampler &sampler, Value normalized, Value tap,
                   Value extent) {
  Type i64 = s.b.getI64Type();
  Value place = sampler.place(s, normalized, real(extent));
  Value left = s.make<math::FloorOp>(place);
  Value part = sampler.weight(s, s.sub(place, left), tap);
  product = product ? s.mul(product, part) : part;
  Value first = s.constant(compute, sampler.taps == 4 ? -1 : 0);
  Value element = s.add(s.add(left, first), tap);
  if (sampler.padding == Padding::Reflection)
    element = sampler.reflect(s, element, real(extent));
  Value zero = s.constant(compute, 0);
  Value last = s.sub(real(extent), s.constant(compute, 1));
  Value inside =
      s.both(s.lessOrEqual(zero, element), s.lessOrEqual(element, last));
  isInside = isInside ? s.both(isInside, inside) : inside;
  // NaN and what is far outside must not be read: 0 in that case.
  Value clamped =
      s.select(inside, element, s.select(s.less(last, element), last, zero));
  Value here = s.make<arith::FPToSIOp>(i64, clamped);
  position =
      position ? s.add(s.mul(position, s.make<arith::IndexCastOp>(i64, extent)),
                       here)
               : here;
}

/// The sums of the taps of each place, times their weights.
static Value sumTaps(NodeLowering &l, const Sampler &sampler,
                     ArrayRef<Value> extents, Type compute) {
  Value x = l.in(0), grid = l.in(1);
  int64_t axes = extents.size();
  Dims from = l.dims(x), to = l.dims(grid);
  Dims space = {from[0], from[1]}, shared = {from[0]}, joined = {from[0]};
  for (Dims *dims : {&space, &shared, &joined})
    dims->append(axes, l.fold(sampler.taps));
  shared.append(to.begin() + 1, to.end() - 1);
  // Places as one axis: a long one, for vectors.
  OpFoldResult places = l.product(ArrayRef(to).drop_front().drop_back());
  joined.push_back(places);
  space.push_back(places);
  auto ofTaps = [&](Type type, auto &&part) {
    Value made =
        mapSpace(l, {}, shared, type, [&](ScalarBuilder &s, ArrayRef<Value>) {
          return part(Taps(s, sampler, grid, extents, compute));
        });
    return reshapeByGroups(l, made, joined);
  };
  Value weights =
      ofTaps(compute, [](const Taps &taps) { return taps.weight(); });
  Value numbers =
      ofTaps(l.b.getI64Type(), [](const Taps &taps) { return taps.number(); });
  // Channels as lines, of which a number picks an element.
  Dims flat = {from[0], from[1], l.product(ArrayRef(from).drop_front(2))};
  Value lines = l.reshape(x, flat);
  SmallVector<int64_t> along = {0};
  llvm::append_range(along, llvm::seq<int64_t>(2, space.size()));
  auto reduced = llvm::to_vector(llvm::seq<int64_t>(2, 2 + axes));
  bool isUnsigned = l.isUnsigned(0);
  Value sums = reduceSpace(
      l, {{weights, along}, {numbers, along}}, space, reduced, Combiner::Sum,
      compute, false, [&](ScalarBuilder &s, ArrayRef<Value> e) {
        Value zero = s.integer(e[1].getType(), 0);
        Value isThere = s.lessOrEqual(zero, e[1]);
        Value number = s.make<arith::IndexCastOp>(
            s.b.getIndexType(), s.select(isThere, e[1], zero));
        SmallVector<Value> place = {linalg::IndexOp::create(s.b, s.loc, 0),
                                    linalg::IndexOp::create(s.b, s.loc, 1),
                                    number};
        s.isUnsigned = isUnsigned;
        Value value = s.cast(
            tensor::ExtractOp::create(s.b, s.loc, lines, place), compute);
        value = s.mul(value, e[0]);
        return sampler.padding == Padding::Zeros
                   ? s.select(isThere, value, s.constant(compute, 0))
                   : value;
      });
  Dims result = {from[0], from[1]};
  result.append(to.begin() + 1, to.end() - 1);
  return l.reshape(sums, result);
}

static LogicalResult lowerGridSample(NodeLowering &l) {
  Value x = l.in(0), grid = l.in(1);
  int64_t axes = l.rank(0) - 2;
  if (axes < 1 || l.rank(1) != l.rank(0))
    return l.refuse("input and grid have ranks " + Twine(l.rank(0)) + " and " +
                    Twine(l.rank(1)));
  if (failed(requireArithmetic(l)))
    return failure();
  Sampler sampler;
  std::string mode = l.stringAttr("mode"),
              padding = l.stringAttr("padding_mode");
  if (mode == "nearest")
    sampler.taps = 1;
  else if (mode == "linear" || mode == "bilinear")
    sampler.taps = 2;
  else if (mode == "cubic" || mode == "bicubic")
    sampler.taps = 4;
  else
    return l.refuse("unknown mode '" + mode + "'");
  if (padding == "zeros")
    sampler.padding = Padding::Zeros;
  else if (padding == "border")
    sampler.padding = Padding::Border;
  else if (padding == "reflection")
    sampler.padding = Padding::Reflection;
  else
    return l.refuse("unknown padding_mode '" + padding + "'");
  sampler.alignsCorners = l.intAttr("align_corners", 0);
  Dims from = l.dims(x), to = l.dims(grid);
  if (!requireEqual(l, from[0], to[0], "the batches of input and grid") ||
      !requireEqual(l, to.back(), l.fold(axes), "the coordinates of the grid"))
    return l.refuse("input and grid do not fit each other");
  SmallVector<Value> extents;
  for (int64_t k = 0; k < axes; ++k)
    extents.push_back(l.asIndex(from[2 + k]));
  for (Value extent : extents)
    l.check(compare(l, IP::ne, extent, l.fold(0)),
            "the input has no elements to sample");
  Type type = l.elementType(0);
  Type compute = isa<FloatType>(type) ? NodeLowering::computeType(type)
                                      : Type(l.b.getF64Type());
  Value result = sumTaps(l, sampler, extents, compute);
  l.setResult(
      compute == type
          ? result
          : l.elementwise(result, type,
                          [&](OpBuilder &b, Location loc, ValueRange e) {
                            return NodeLowering::castScalar(
                                b, loc, e[0], false, type, l.isUnsigned(0));
                          }));
  return success();
}

void loopc::addGridSampleRows(LoweringTable &table) {
  table.add({{"", "GridSample", 16, kLatest, lowerGridSample}});
}
