//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Pad: a border around a tensor, or its edges cut away.

#include "Framework/ShapeUtils.h"

using namespace mlir;
using namespace loopc;
using IP = arith::CmpIPredicate;

namespace {
enum class PadMode { Constant, Reflect, Edge, Wrap };
/// What a Pad does to one axis: its part [crop, crop + inner) stays, behind
/// `before` new elements; all have `extent`.
struct AxisPad {
  OpFoldResult crop, inner, before, after, extent;
};
} // namespace

static AxisPad resolvePad(NodeLowering &l, OpFoldResult before,
                          OpFoldResult after, OpFoldResult extent) {
  auto negative = [&](OpFoldResult x) {
    return maxSigned(l, l.sub(l.fold(0), x), l.fold(0));
  };
  // Within these bounds a sum that wraps around is negative, and refused.
  constexpr int64_t most = int64_t(1) << 62;
  for (OpFoldResult *part : {&before, &after})
    *part = maxSigned(l, minSigned(l, *part, l.fold(most)), l.fold(-most));
  AxisPad pad;
  pad.extent = l.add(l.add(before, extent), after);
  pad.extent = requireNonNegative(l, pad.extent, "extent of a padded axis");
  pad.crop = minSigned(l, negative(before), extent);
  if (isKnownNonNegative(before) && isKnownNonNegative(after)) {
    pad.crop = l.fold(0);
    pad.inner = extent;
    pad.before = before;
    pad.after = after;
    return pad;
  }
  pad.inner = maxSigned(
      l, l.sub(extent, l.add(negative(before), negative(after))), l.fold(0));
  // Where more is cut away than there is, nothing is put anywhere.
  pad.before = minSigned(l, maxSigned(l, before, l.fold(0)),
                         maxSigned(l, l.sub(pad.extent, pad.inner), l.fold(0)));
  pad.after = l.sub(l.sub(pad.extent, pad.inner), pad.before);
  return pad;
}

static Value padConstant(NodeLowering &l, Value value, ArrayRef<AxisPad> pads,
                         Value fill) {
  Dims crops, inner, before, extents;
  bool isCropped = false, isPadded = false;
  for (auto [pad, extent] : llvm::zip_equal(pads, l.dims(value))) {
    crops.push_back(pad.crop);
    inner.push_back(pad.inner);
    before.push_back(pad.before);
    extents.push_back(pad.extent);
    isCropped |= !sameExtent(pad.inner, extent);
    isPadded |= !sameExtent(pad.inner, pad.extent);
  }
  if (isKnownEmpty(inner) || isKnownEmpty(extents))
    return l.filled(extents, fill);
  if (isCropped)
    value = sliceOf(l, value, crops, inner);
  if (!isPadded)
    return value;
  return l.insert(value, l.filled(extents, fill), before, inner);
}

namespace {
/// Where an element of a padded axis comes from: it is the same as one of those
/// that stay, which begin at `before`.
struct PadSource {
  PadMode mode;
  Value before, inner, last, zero, end;
  /// 2 * (inner - 1), or 1 for one element.
  Value period;
  /// No pad is longer than what it repeats: no division is needed.
  bool isShort;

  Value operator()(OpBuilder &b, Location loc, Value index) const;
};
} // namespace

static Value floorModulo(OpBuilder &b, Location loc, Value x, Value divisor,
                         Value zero) {
  Value rest = arith::RemSIOp::create(b, loc, x, divisor);
  Value isNegative = arith::CmpIOp::create(b, loc, IP::slt, rest, zero);
  Value moved = arith::AddIOp::create(b, loc, rest, divisor);
  return arith::SelectOp::create(b, loc, isNegative, moved, rest);
}

Value PadSource::operator()(OpBuilder &b, Location loc, Value index) const {
  Value at = arith::SubIOp::create(b, loc, index, before);
  if (mode == PadMode::Edge) {
    at = arith::MaxSIOp::create(b, loc, at, zero);
    at = arith::MinSIOp::create(b, loc, at, last);
  } else if (mode == PadMode::Reflect) {
    if (isShort) {
      Value mirrored = arith::SubIOp::create(b, loc, zero, at);
      at = arith::MaxSIOp::create(b, loc, at, mirrored);
    } else {
      at = floorModulo(b, loc, at, period, zero);
    }
    // Behind the last element it goes back: min(at, 2 * last - at).
    Value twice = arith::AddIOp::create(b, loc, last, last);
    Value back = arith::SubIOp::create(b, loc, twice, at);
    at = arith::MinSIOp::create(b, loc, at, back);
  } else {
    at = floorModulo(b, loc, at, inner, zero);
  }
  at = arith::AddIOp::create(b, loc, at, before);
  // Nothing stays where a check ends the run.
  return arith::MinSIOp::create(b, loc, at, end);
}

static PadSource sourceOf(NodeLowering &l, const AxisPad &pad, PadMode mode) {
  OpFoldResult inner = maxSigned(l, pad.inner, l.fold(1));
  OpFoldResult last = l.sub(inner, l.fold(1));
  auto isAtMostLast = [&](OpFoldResult count) {
    std::optional<int64_t> c = getConstantIntValue(count);
    std::optional<int64_t> most = getConstantIntValue(last);
    return c && most && *c <= *most;
  };
  return {mode,
          l.asIndex(pad.before),
          l.asIndex(inner),
          l.asIndex(last),
          l.index(0),
          l.asIndex(l.sub(maxSigned(l, pad.extent, l.fold(1)), l.fold(1))),
          l.asIndex(maxSigned(l, l.add(last, last), l.fold(1))),
          isAtMostLast(pad.before) && isAtMostLast(pad.after)};
}

/// What stays is put in its place; then each axis, the last one first, gets the
/// elements in front of it and behind, which are in the result already.
static Value padByIndex(NodeLowering &l, Value value, ArrayRef<AxisPad> pads,
                        PadMode mode) {
  Dims extents, crops, places, sizes;
  for (auto [k, pad] : llvm::enumerate(pads)) {
    extents.push_back(pad.extent);
    crops.push_back(pad.crop);
    places.push_back(pad.before);
    sizes.push_back(pad.inner);
    Value isFilled = either(l, compare(l, IP::sgt, pad.inner, l.fold(0)),
                            compare(l, IP::eq, pad.extent, l.fold(0)));
    l.check(isFilled,
            "axis " + Twine(k) + " is empty: there is nothing to pad it with");
  }
  Type element = getElementTypeOrSelf(value.getType());
  Value result = l.empty(extents, element);
  if (isKnownEmpty(extents) || isKnownEmpty(sizes))
    return result;
  result = l.insert(sliceOf(l, value, crops, sizes), result, places, sizes);
  for (unsigned k = pads.size(); k-- > 0;) {
    const AxisPad &pad = pads[k];
    auto fill = [&](OpFoldResult place, OpFoldResult count) {
      if (isConstantIntValue(count, 0))
        return;
      Dims to = places, part = sizes;
      to[k] = place;
      part[k] = count;
      PadSource source = sourceOf(l, pad, mode);
      SmallVector<Value> origin;
      for (OpFoldResult begin : to)
        origin.push_back(l.asIndex(begin));
      Value border = l.generate(
          part, element, [&](OpBuilder &b, Location loc, ValueRange at) {
            SmallVector<Value> from;
            for (auto [index, begin] : llvm::zip_equal(at, origin))
              from.push_back(arith::AddIOp::create(b, loc, index, begin));
            from[k] = source(b, loc, from[k]);
            return tensor::ExtractOp::create(b, loc, result, from).getResult();
          });
      result = l.insert(border, result, to, part);
    };
    fill(l.fold(0), pad.before);
    fill(l.add(pad.before, pad.inner), pad.after);
    places[k] = l.fold(0);
    sizes[k] = pad.extent;
  }
  return result;
}

/// Pads along `axes`: `pads` holds all beginnings, then all ends.
static LogicalResult padAlong(NodeLowering &l, ArrayRef<OpFoldResult> axes,
                              ArrayRef<OpFoldResult> pads, Value fill) {
  auto mode = llvm::StringSwitch<std::optional<PadMode>>(
                  l.stringAttr("mode", "constant"))
                  .Case("constant", PadMode::Constant)
                  .Case("reflect", PadMode::Reflect)
                  .Case("edge", PadMode::Edge)
                  .Case("wrap", PadMode::Wrap)
                  .Default(std::nullopt);
  if (!mode)
    return l.refuse("mode '" + l.stringAttr("mode") + "' is not known");
  Value value = stripCasts(l.in(0));
  Dims dims = l.dims(value);
  int64_t rank = dims.size(), count = axes.size();
  Dims before(rank, l.fold(0)), after(rank, l.fold(0));
  spread(l, axes, pads.take_front(count), before);
  spread(l, axes, pads.drop_front(count), after);
  SmallVector<AxisPad> resolved;
  for (int64_t k : llvm::seq(rank))
    resolved.push_back(resolvePad(l, before[k], after[k], dims[k]));
  l.setResult(*mode == PadMode::Constant
                  ? padConstant(l, value, resolved, fill)
                  : padByIndex(l, value, resolved, *mode));
  return success();
}

static Dims iota(NodeLowering &l, int64_t count) {
  Dims values;
  for (int64_t k : llvm::seq(count))
    values.push_back(l.fold(k));
  return values;
}

/// Versions 1 and 2: pads and value are attributes.
static LogicalResult lowerPadAttributes(NodeLowering &l) {
  StringRef name = l.node.getSinceVersion() == 1 ? "paddings" : "pads";
  int64_t rank = l.rank(0);
  Dims pads;
  for (int64_t pad : l.intsAttr(name).value_or(SmallVector<int64_t>()))
    pads.push_back(l.fold(pad));
  if (static_cast<int64_t>(pads.size()) != 2 * rank)
    return l.refuse("'" + name + "' has " + Twine(pads.size()) +
                    " elements, expected " + Twine(2 * rank));
  Value fill = zeroOf(l, l.elementType(0));
  if (!fill)
    return l.unsupported("the element type is not supported");
  fill = l.constant(l.elementType(0), l.floatAttr("value", 0));
  return padAlong(l, iota(l, rank), pads, fill);
}

static LogicalResult lowerPad(NodeLowering &l) {
  int64_t rank = l.rank(0);
  Value fill = l.has(2) ? l.scalar(l.in(2)) : zeroOf(l, l.elementType(0));
  if (!fill)
    return l.unsupported("the element type is not supported");
  Dims axes = iota(l, rank);
  if (l.has(3)) {
    std::optional<int64_t> count = getConstantIntValue(lengthOf(l, 3));
    if (std::optional<int64_t> pads = getConstantIntValue(lengthOf(l, 1)))
      count = *pads / 2;
    FailureOr<Dims> given = integers(l, 3, count, "axes");
    if (failed(given))
      return failure();
    FailureOr<Dims> normal = normalizedAxes(l, *given, rank);
    if (failed(normal))
      return failure();
    axes = std::move(*normal);
  }
  FailureOr<Dims> pads = integers(l, 1, 2 * axes.size(), "pads");
  if (failed(pads))
    return failure();
  return padAlong(l, axes, *pads, fill);
}

void loopc::addPaddingRows(LoweringTable &table) {
  table.add({
      {"", "Pad", 1, 10, lowerPadAttributes},
      {"", "Pad", 11, kLatest, lowerPad},
  });
}
