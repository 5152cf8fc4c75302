//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Pooling of regions of images: RoiAlign, MaxRoiPool.

#include "Framework/ShapeUtils.h"
#include "NN/Contraction.h"
#include "Vision.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace loopc;
using IP = arith::CmpIPredicate;

static Value toReal(ScalarBuilder &s, Value index, Type type) {
  return s.make<arith::SIToFPOp>(
      type, s.make<arith::IndexCastOp>(s.b.getI64Type(), index));
}

static Value toIndexOf(ScalarBuilder &s, Value real) {
  return s.make<arith::IndexCastOp>(
      s.b.getIndexType(), s.make<arith::FPToSIOp>(s.b.getI64Type(), real));
}

namespace {
/// A place between two elements of an axis: where they are and what part of
/// each counts; no part where the place is outside.
struct Between {
  Value low, high, lowPart, highPart;
};

/// The points that an element of a region is pooled from, by columns and rows.
/// The counts are real numbers: those of a region far larger than the image are
/// no integers.
struct Samples {
  Value begins[2], steps[2], bins[2], counts[2];
};

/// The points along an axis that are looked at: `number` from `first` on, from
/// the first of all where that is null. Others are outside of the image.
struct PointRange {
  Value first;
  OpFoldResult number;
};

/// What a bin becomes: the mean of the interpolated points, the largest of the
/// elements around them, each with its part (ONNX), or the largest of the
/// points and of 0 (OpenVINO: `interpolated_max`).
enum class BinMode { Mean, Max, InterpolatedMax };

struct RoiAlign {
  NodeLowering &l;
  bool isHalfPixel;
  BinMode mode;
  int64_t height, width, ratio;
  double scale;
  Type compute;

  Value number(ScalarBuilder &s, double value) const {
    return s.constant(compute, value);
  }
  Samples samplesOf(Value region) const;
  Between between(ScalarBuilder &s, Value x, Value extent) const;
  /// The points of an element along axis `k` that may be in the image. There
  /// are no more than a multiple of its extent.
  PointRange range(const Samples &samples, int64_t k, Value element) const;
  /// Where point `i` (row, column) of `range` is, along axis `k`.
  Between place(const Samples &samples, int64_t k, Value element,
                const PointRange &range, Value i) const;
  Value sample(ValueRange imageAndChannel, const Between &row,
               const Between &column) const;
  /// Of two points.
  Value combine(Value x, Value y) const {
    ScalarBuilder s(l.b, l.b.getLoc());
    return mode == BinMode::Mean ? s.add(x, y) : s.max(x, y);
  }
  Value finish(const Samples &samples, const PointRange &columns,
               const PointRange &rows, Value sum) const;
  Value start() const {
    ScalarBuilder s(l.b, l.b.getLoc());
    return number(s, mode == BinMode::Max ? -INFINITY : 0);
  }
  Value pool(ValueRange at, Value batch) const;
  Value poolChannels(ValueRange at, Value batch, Value result) const;
};
} // namespace

Between RoiAlign::between(ScalarBuilder &s, Value x, Value extent) const {
  Value limit = toReal(s, extent, compute);
  Value inside =
      s.both(s.lessOrEqual(number(s, -1), x), s.lessOrEqual(x, limit));
  Value zero = number(s, 0), last = s.sub(limit, number(s, 1));
  x = s.min(s.max(s.select(inside, x, zero), zero), last);
  Value low = s.make<math::FloorOp>(x);
  Value high = s.min(s.add(low, number(s, 1)), last);
  Value fraction = s.sub(x, low);
  return {toIndexOf(s, low), toIndexOf(s, high),
          s.select(inside, s.sub(number(s, 1), fraction), zero),
          s.select(inside, fraction, zero)};
}

Samples RoiAlign::samplesOf(Value region) const {
  ScalarBuilder s(l.b, l.b.getLoc());
  auto side = [&](int64_t k) {
    Value value = s.cast(elementAt(l, l.in(1), {region, l.index(k)}), compute);
    return s.sub(s.mul(value, number(s, scale)),
                 number(s, isHalfPixel ? 0.5 : 0));
  };
  // First column, then row, as the regions have them.
  Samples samples;
  int64_t counts[2] = {width, height};
  for (int64_t k = 0; k < 2; ++k) {
    samples.begins[k] = side(k);
    Value length = s.sub(side(k + 2), samples.begins[k]);
    if (!isHalfPixel)
      length = s.max(length, number(s, 1));
    samples.bins[k] = s.div(length, number(s, counts[k]));
    samples.counts[k] =
        ratio > 0 ? number(s, ratio)
                  : s.max(s.make<math::CeilOp>(samples.bins[k]), number(s, 0));
    samples.steps[k] = s.div(samples.bins[k], samples.counts[k]);
  }
  return samples;
}

PointRange RoiAlign::range(const Samples &samples, int64_t k,
                           Value element) const {
  if (ratio > 0)
    return {Value(), l.fold(ratio)};
  ScalarBuilder s(l.b, l.b.getLoc());
  Value begin = s.add(samples.begins[k],
                      s.mul(toReal(s, element, compute), samples.bins[k]));
  // The point at `x`, which is seldom a whole one; two more on either side
  // cover what is rounded.
  auto pointAt = [&](Value x) {
    return s.sub(s.div(s.sub(x, begin), samples.steps[k]), number(s, 0.5));
  };
  Value limit = toReal(s, l.asIndex(l.dim(l.in(0), 3 - k)), compute);
  Value low = s.make<math::FloorOp>(pointAt(number(s, -1)));
  Value high = s.make<math::CeilOp>(pointAt(limit));
  Value first = s.max(s.sub(low, number(s, 2)), number(s, 0));
  Value last = s.min(s.add(high, number(s, 3)), samples.counts[k]);
  Value length = s.sub(last, first);
  // None where there is no number.
  Value isSome = s.less(number(s, 0), length);
  return {first, toIndexOf(s, s.select(isSome, length, number(s, 0)))};
}

Between RoiAlign::place(const Samples &samples, int64_t k, Value element,
                        const PointRange &range, Value i) const {
  ScalarBuilder s(l.b, l.b.getLoc());
  Value bin = s.mul(toReal(s, element, compute), samples.bins[k]);
  Value point = toReal(s, i, compute);
  if (range.first)
    point = s.add(range.first, point);
  Value offset = s.mul(s.add(point, number(s, 0.5)), samples.steps[k]);
  Value extent = l.asIndex(l.dim(l.in(0), 3 - k));
  return between(s, s.add(s.add(samples.begins[k], bin), offset), extent);
}

Value RoiAlign::sample(ValueRange imageAndChannel, const Between &row,
                       const Between &column) const {
  ScalarBuilder s(l.b, l.b.getLoc());
  Value result;
  for (auto [r, rowPart] :
       {std::pair(row.low, row.lowPart), std::pair(row.high, row.highPart)})
    for (auto [c, part] : {std::pair(column.low, column.lowPart),
                           std::pair(column.high, column.highPart)}) {
      Value value = s.cast(
          elementAt(l, l.in(0), {imageAndChannel[0], imageAndChannel[1], r, c}),
          compute);
      value = s.mul(s.mul(rowPart, part), value);
      result = !result                ? value
               : mode == BinMode::Max ? s.max(result, value)
                                      : s.add(result, value);
    }
  return result;
}

Value RoiAlign::finish(const Samples &samples, const PointRange &columns,
                       const PointRange &rows, Value sum) const {
  ScalarBuilder s(l.b, l.b.getLoc());
  Value count = s.mul(samples.counts[0], samples.counts[1]),
        zero = number(s, 0);
  if (mode == BinMode::Mean)
    return s.div(sum, s.max(count, number(s, 1)));
  if (ratio > 0 || mode == BinMode::InterpolatedMax)
    return sum;
  // Points outside of the image count as 0.
  auto leavesOut = [&](const PointRange &range, Value all) {
    return s.less(toReal(s, l.asIndex(range.number), compute), all);
  };
  Value isOutside = either(l, leavesOut(columns, samples.counts[0]),
                           leavesOut(rows, samples.counts[1]));
  return s.select(isOutside, s.max(sum, zero),
                  s.select(s.less(zero, count), sum, zero));
}

/// One element: `at` is the region, the channel, the row and the column.
Value RoiAlign::pool(ValueRange at, Value batch) const {
  Samples samples = samplesOf(at[0]);
  PointRange columns = range(samples, 0, at[3]),
             rows = range(samples, 1, at[2]);
  Value sum = loopNest(l, {rows.number, columns.number}, start(),
                       [&](ValueRange i, ValueRange carried) {
                         Between column =
                             place(samples, 0, at[3], columns, i[1]);
                         Between row = place(samples, 1, at[2], rows, i[0]);
                         Value value = sample({batch, at[1]}, row, column);
                         return SmallVector<Value>{combine(carried[0], value)};
                       })[0];
  return finish(samples, columns, rows, sum);
}

/// One element of each channel: `at` is the region, the row and the column.
/// Where the points are is found out once for all channels.
Value RoiAlign::poolChannels(ValueRange at, Value batch, Value result) const {
  Samples samples = samplesOf(at[0]);
  PointRange columns = range(samples, 0, at[2]),
             rows = range(samples, 1, at[1]);
  OpFoldResult channels = l.dim(l.in(0), 1);
  auto forAll = [&](Value result,
                    llvm::function_ref<Value(Value, Value)> next) {
    return loopNest(l, channels, result, [&](ValueRange c, ValueRange carried) {
      SmallVector<Value> place{at[0], c[0], at[1], at[2]};
      Value old = tensor::ExtractOp::create(l.b, carried[0], place);
      return SmallVector<Value>{
          tensor::InsertOp::create(l.b, next(c[0], old), carried[0], place)};
    })[0];
  };
  result = forAll(result, [&](Value, Value) { return start(); });
  result =
      loopNest(l, {rows.number, columns.number}, result,
               [&](ValueRange i, ValueRange carried) {
                 Between column = place(samples, 0, at[2], columns, i[1]);
                 Between row = place(samples, 1, at[1], rows, i[0]);
                 return SmallVector<Value>{forAll(carried[0], [&](Value channel,
                                                                  Value old) {
                   return combine(old, sample({batch, channel}, row, column));
                 })};
               })[0];
  return forAll(result, [&](Value, Value sum) {
    return finish(samples, columns, rows, sum);
  });
}

/// Fills [regions, channels, height, width].
static void forEachBin(NodeLowering &l, OpFoldResult regions, int64_t height,
                       int64_t width,
                       llvm::function_ref<Value(ValueRange at)> body) {
  Type type = l.elementType(0);
  Dims dims = {regions, l.dim(l.in(0), 1), l.fold(height), l.fold(width)};
  l.setResult(loopNest(
      l, dims, l.empty(dims, type), [&](ValueRange at, ValueRange carried) {
        Value value = ScalarBuilder(l.b, l.b.getLoc()).cast(body(at), type);
        return SmallVector<Value>{
            tensor::InsertOp::create(l.b, value, carried[0], at)};
      })[0]);
}

static LogicalResult lowerRoiAlign(NodeLowering &l) {
  if (l.rank(0) != 4 || l.rank(1) != 2 || l.rank(2) != 1)
    return l.refuse("the operands have other ranks than 4, 2 and 1");
  if (failed(requireArithmetic(l, 0)))
    return failure();
  std::string mode = l.stringAttr("mode", "avg");
  // Before version 16 the corner of an element was its place.
  std::string coordinates =
      l.node.getSinceVersion() < 16
          ? "output_half_pixel"
          : l.stringAttr("coordinate_transformation_mode", "half_pixel");
  auto binMode = llvm::StringSwitch<std::optional<BinMode>>(mode)
                     .Case("avg", BinMode::Mean)
                     .Case("max", BinMode::Max)
                     .Case("interpolated_max", BinMode::InterpolatedMax)
                     .Default(std::nullopt);
  if (!binMode ||
      (coordinates != "half_pixel" && coordinates != "output_half_pixel"))
    return l.refuse("unknown mode '" + mode + "' or '" + coordinates + "'");
  RoiAlign align = {l,
                    coordinates == "half_pixel",
                    *binMode,
                    l.intAttr("output_height", 1),
                    l.intAttr("output_width", 1),
                    l.intAttr("sampling_ratio", 0),
                    l.floatAttr("spatial_scale", 1),
                    NodeLowering::computeType(l.elementType(0))};
  OpFoldResult regions = l.dim(l.in(1), 0);
  if (align.height < 1 || align.width < 1 ||
      !requireEqual(l, regions, l.dim(l.in(2), 0), "the numbers of regions") ||
      !requireEqual(l, l.dim(l.in(1), 1), l.fold(4), "the sides of a region"))
    return l.refuse("regions and output do not fit");
  CheckedIndices batches(l, 2, l.dim(l.in(0), 0), /*wraps=*/false);
  Value isEmpty = either(l, compare(l, IP::eq, l.dim(l.in(0), 2), l.fold(0)),
                         compare(l, IP::eq, l.dim(l.in(0), 3), l.fold(0)));
  l.check(ScalarBuilder(l.b, l.b.getLoc()).invert(isEmpty),
          "the images have no elements");
  auto imageOf = [&](Value region) {
    Value raw = elementAt(l, l.in(2), region);
    return batches.position(l.b, l.b.getLoc(), raw);
  };
  // Kernels compute elements side by side.
  if (!l.channelsLast) {
    forEachBin(l, regions, align.height, align.width,
               [&](ValueRange at) { return align.pool(at, imageOf(at[0])); });
    return success();
  }
  OpFoldResult height = l.fold(align.height), width = l.fold(align.width);
  Value result =
      l.empty({regions, l.dim(l.in(0), 1), height, width}, align.compute);
  result = loopNest(l, {regions, height, width}, result,
                    [&](ValueRange at, ValueRange carried) {
                      return SmallVector<Value>{
                          align.poolChannels(at, imageOf(at[0]), carried[0])};
                    })[0];
  l.setResult(castElements(l, result, l.elementType(0)));
  return success();
}

//===----------------------------------------------------------------------===//
// MaxRoiPool
//===----------------------------------------------------------------------===//

static LogicalResult lowerMaxRoiPool(NodeLowering &l) {
  Value x = l.in(0), rois = l.in(1);
  std::optional<SmallVector<int64_t>> shape = l.intsAttr("pooled_shape");
  if (l.rank(0) != 4 || l.rank(1) != 2 || !shape || shape->size() != 2 ||
      (*shape)[0] < 1 || (*shape)[1] < 1)
    return l.refuse("ranks or 'pooled_shape' do not fit");
  if (failed(requireArithmetic(l, 0)))
    return failure();
  OpFoldResult regions = l.dim(rois, 0), batches = l.dim(x, 0);
  if (!requireEqual(l, l.dim(rois, 1), l.fold(5), "the numbers of a region"))
    return l.refuse("a region has other than 5 numbers");
  double scale = l.floatAttr("spatial_scale", 1);
  Type compute = NodeLowering::computeType(l.elementType(0));
  // What is no number, or none of an index, becomes -1, which no image has:
  // as an integer it would be poison, and so would be what asks for its range.
  auto batchOf = [&](Value region) {
    ScalarBuilder s(l.b, l.b.getLoc());
    Value raw = s.cast(elementAt(l, rois, {region, l.index(0)}), compute);
    Value isIndex = s.both(s.less(s.constant(compute, -1), raw),
                           s.less(raw, s.constant(compute, 0x1p31)));
    return toIndexOf(s, s.select(isIndex, raw, s.constant(compute, -1)));
  };
  Value yes = l.constantInt(l.b.getI1Type(), 1);
  Value ok = loopNest(l, regions, yes, [&](ValueRange at, ValueRange carried) {
    Value fits = compare(l, IP::ult, batchOf(at[0]), batches);
    return SmallVector<Value>{both(l, carried[0], fits)};
  })[0];
  l.check(ok, "a batch index is out of range");
  forEachBin(l, regions, (*shape)[0], (*shape)[1], [&](ValueRange at) {
    ScalarBuilder s(l.b, l.b.getLoc());
    auto number = [&](double v) { return s.constant(compute, v); };
    Value zero = l.index(0);
    Value begin[2];
    OpFoldResult size[2];
    for (int64_t k = 0; k < 2; ++k) {
      // Rows are the second and fourth number behind the batch.
      auto side = [&](int64_t n) {
        Value value =
            s.cast(elementAt(l, rois, {at[0], l.index(n - k)}), compute);
        // Half up, as C's round() of what is not negative.
        return s.make<math::FloorOp>(
            s.add(s.mul(value, number(scale)), number(0.5)));
      };
      Value first = side(2);
      Value length = s.max(s.add(s.sub(side(4), first), number(1)), number(1));
      Value bin = s.div(length, number((*shape)[k]));
      Value place = toReal(s, at[2 + k], compute);
      Value extent = l.asIndex(l.dim(x, 2 + k));
      auto clamp = [&](Value real) {
        Value index = toIndexOf(s, s.add(real, first));
        return s.make<arith::MaxSIOp>(s.make<arith::MinSIOp>(index, extent),
                                      zero);
      };
      begin[k] = clamp(s.make<math::FloorOp>(s.mul(place, bin)));
      Value end =
          clamp(s.make<math::CeilOp>(s.mul(s.add(place, number(1)), bin)));
      size[k] = s.make<arith::MaxSIOp>(s.sub(end, begin[k]), zero);
    }
    Value batch = s.make<arith::MinUIOp>(batchOf(at[0]),
                                         l.asIndex(l.sub(batches, l.fold(1))));
    Value most = loopNest(
        l, {size[0], size[1]}, number(-INFINITY),
        [&](ValueRange i, ValueRange carried) {
          ScalarBuilder s(l.b, l.b.getLoc());
          Value value = elementAt(
              l, x,
              {batch, at[1], s.add(begin[0], i[0]), s.add(begin[1], i[1])});
          return SmallVector<Value>{s.max(carried[0], s.cast(value, compute))};
        })[0];
    Value count = l.asIndex(l.mul(size[0], size[1]));
    Value none = s.make<arith::CmpIOp>(IP::eq, count, zero);
    return s.select(none, number(0), most);
  });
  return success();
}

void loopc::addRegionRows(LoweringTable &table) {
  table.add({
      {"", "RoiAlign", 10, kLatest, lowerRoiAlign},
      {"", "MaxRoiPool", 1, kLatest, lowerMaxRoiPool},
  });
}
