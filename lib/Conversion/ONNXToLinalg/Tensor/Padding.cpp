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
  /// No pad is longer than what it repeats: nothing is divided by its extent.
  bool isShort;

  /// Some instructions, which take no longer than to look it up.
  bool isSimple() const { return isShort && mode != PadMode::Wrap; }
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

namespace {
/// Fills the borders of a padded tensor, axis by axis.
class BorderFiller {
public:
  BorderFiller(NodeLowering &l, ArrayRef<AxisPad> pads, PadMode mode,
               Value stays, Value result)
      : l(l), pads(pads), mode(mode), stays(stays), result(result) {
    for (const AxisPad &pad : pads) {
      places.push_back(pad.before);
      sizes.push_back(pad.inner);
    }
  }

  Value fillAll();

private:
  using Origin = std::function<Value(OpBuilder &, Location, Value)>;

  void fill(unsigned axis, OpFoldResult place, OpFoldResult count);
  Value readStaying(unsigned axis, OpFoldResult place, Dims &part);
  Value readResult(unsigned axis, ArrayRef<OpFoldResult> to, const Dims &part);
  Origin originOf(unsigned axis, OpFoldResult place, OpFoldResult count);

  NodeLowering &l;
  ArrayRef<AxisPad> pads;
  PadMode mode;
  Value stays, result;
  /// What of the result is there already.
  Dims places, sizes;
  /// No axis has its border yet.
  bool isFirst = true;
};
} // namespace

/// Where elements of a border come from along its axis, counted in the result.
/// It has few elements there, and many of each: the places are a table.
BorderFiller::Origin BorderFiller::originOf(unsigned axis, OpFoldResult place,
                                            OpFoldResult count) {
  PadSource source = sourceOf(l, pads[axis], mode);
  Value begin = l.asIndex(place);
  auto origin = [source, begin](OpBuilder &b, Location loc, Value at) {
    return source(b, loc, arith::AddIOp::create(b, loc, at, begin));
  };
  if (source.isSimple())
    return origin;
  Value table = l.generate({count}, l.b.getIndexType(),
                           [&](OpBuilder &b, Location loc, ValueRange at) {
                             return origin(b, loc, at[0]);
                           });
  return [table](OpBuilder &b, Location loc, Value at) {
    return tensor::ExtractOp::create(b, loc, table, at).getResult();
  };
}

/// The border of the first axis, of the elements that stay: it is computed in
/// its place, as nothing of the result is read. Where there are none, which a
/// check refuses, none is read: the border is empty.
Value BorderFiller::readStaying(unsigned axis, OpFoldResult place, Dims &part) {
  const AxisPad &pad = pads[axis];
  Origin origin = originOf(axis, place, part[axis]);
  std::optional<int64_t> known = getConstantIntValue(pad.inner);
  if (!known || *known < 1) {
    // By an axis that only the run knows, so that others stay known.
    unsigned guard = axis;
    for (auto [k, extent] : llvm::enumerate(part))
      if (!getConstantIntValue(extent))
        guard = k;
    part[guard] = l.mul(part[guard], minSigned(l, pad.inner, l.fold(1)));
  }
  Value before = l.asIndex(pad.before);
  return l.generate(
      part, getElementTypeOrSelf(stays.getType()),
      [&](OpBuilder &b, Location loc, ValueRange at) {
        SmallVector<Value> indices(at);
        indices[axis] =
            arith::SubIOp::create(b, loc, origin(b, loc, at[axis]), before);
        return tensor::ExtractOp::create(b, loc, stays, indices).getResult();
      });
}

/// The border of a further axis, of what is in the result.
Value BorderFiller::readResult(unsigned axis, ArrayRef<OpFoldResult> to,
                               const Dims &part) {
  Origin origin = originOf(axis, to[axis], part[axis]);
  SmallVector<Value> begins;
  for (OpFoldResult begin : to)
    begins.push_back(l.asIndex(begin));
  return l.generate(
      part, getElementTypeOrSelf(stays.getType()),
      [&](OpBuilder &b, Location loc, ValueRange at) {
        SmallVector<Value> indices;
        for (auto [index, begin] : llvm::zip_equal(at, begins))
          indices.push_back(arith::AddIOp::create(b, loc, index, begin));
        indices[axis] = origin(b, loc, at[axis]);
        return tensor::ExtractOp::create(b, loc, result, indices).getResult();
      });
}

void BorderFiller::fill(unsigned axis, OpFoldResult place, OpFoldResult count) {
  if (isConstantIntValue(count, 0))
    return;
  Dims to = places, part = sizes;
  to[axis] = place;
  part[axis] = count;
  Value border =
      isFirst ? readStaying(axis, place, part) : readResult(axis, to, part);
  result = l.insert(border, result, to, part);
}

Value BorderFiller::fillAll() {
  for (unsigned k = pads.size(); k-- > 0;) {
    const AxisPad &pad = pads[k];
    fill(k, l.fold(0), pad.before);
    fill(k, l.add(pad.before, pad.inner), pad.after);
    isFirst &=
        isConstantIntValue(pad.before, 0) && isConstantIntValue(pad.after, 0);
    places[k] = l.fold(0);
    sizes[k] = pad.extent;
  }
  return result;
}

/// What stays is put in its place; then each axis, the last one first, gets the
/// elements in front of it and behind, which are there already.
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
  Value result = l.empty(extents, getElementTypeOrSelf(value.getType()));
  if (isKnownEmpty(extents) || isKnownEmpty(sizes))
    return result;
  Value stays = value;
  if (!llvm::all_of_zip(sizes, l.dims(value), sameExtent))
    stays = sliceOf(l, value, crops, sizes);
  result = l.insert(stays, result, places, sizes);
  return BorderFiller(l, pads, mode, stays, result).fillAll();
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

/// Element `place` of 'pads' where `isGiven`, else 0.
static OpFoldResult padAt(NodeLowering &l, Value isGiven, OpFoldResult place) {
  auto given = [&] {
    Value pad = elementAt(l, l.in(1), l.asIndex(place));
    return l.toIndex(pad, l.isUnsigned(1));
  };
  return ifElse(l, l.b.getIndexType(), isGiven, given,
                [&] { return l.index(0); });
}

/// The pads of all axes where only a run tells how many 'axes' there are.
static FailureOr<Dims> readOpenPads(NodeLowering &l, int64_t rank) {
  for (unsigned i : {1, 3})
    if (l.rank(i) != 1)
      return l.refuse(Twine(i == 1 ? "'pads'" : "'axes'") + " has rank " +
                      Twine(l.rank(i)) + ", expected 1");
  OpFoldResult count = lengthOf(l, 3);
  l.check(compare(l, IP::sle, count, l.fold(rank)),
          "'axes' has {} elements for a value of rank " + Twine(rank),
          l.asIndex(count));
  requireEqual(l, lengthOf(l, 1), l.add(count, count),
               "number of elements of 'pads' and twice that of 'axes'");
  FailureOr<Dims> axes = normalizedAxes(l, integersUpTo(l, 3, rank, 0), rank);
  if (failed(axes))
    return failure();
  Dims pads(2 * rank, l.fold(0));
  for (auto [k, axis] : llvm::enumerate(*axes)) {
    Value isGiven = compare(l, IP::sgt, count, l.fold(k));
    OpFoldResult before = padAt(l, isGiven, l.fold(k));
    OpFoldResult after = padAt(l, isGiven, l.add(count, l.fold(k)));
    for (int64_t d : llvm::seq(rank)) {
      Value isHere = compare(l, IP::eq, axis, l.fold(d));
      for (auto [place, pad] : {std::pair(d, before), {rank + d, after}})
        pads[place] = l.add(pads[place], select(l, isHere, pad, l.fold(0)));
    }
  }
  return pads;
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
    if (!count) {
      FailureOr<Dims> pads = readOpenPads(l, rank);
      return failed(pads) ? failure() : padAlong(l, axes, *pads, fill);
    }
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
