//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Shapes: what asks for them, what changes them, and tensors made from them.

#include "Framework/ElementwiseUtils.h"
#include "Framework/ShapeUtils.h"
#include "ReshapeShape.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace loopc;
using IP = arith::CmpIPredicate;

//===----------------------------------------------------------------------===//
// Shape, Size
//===----------------------------------------------------------------------===//

static Value dimAsInteger(NodeLowering &l, OpFoldResult extent) {
  return l.b.createOrFold<arith::IndexCastOp>(l.b.getI64Type(),
                                              l.asIndex(extent));
}

static LogicalResult lowerShape(NodeLowering &l) {
  Dims dims = l.dims(l.in(0));
  int64_t rank = dims.size();
  auto clamp = [&](int64_t position) {
    return std::clamp<int64_t>(position < 0 ? position + rank : position, 0,
                               rank);
  };
  int64_t start = clamp(l.intAttr("start", 0));
  int64_t end = clamp(l.intAttr("end", rank));
  SmallVector<Value> elements;
  for (int64_t k = start; k < end; ++k)
    elements.push_back(dimAsInteger(l, dims[k]));
  l.setResult(tensor::FromElementsOp::create(
      l.b,
      RankedTensorType::get({static_cast<int64_t>(elements.size())},
                            l.b.getI64Type()),
      elements));
  return success();
}

static LogicalResult lowerSize(NodeLowering &l) {
  Value size = dimAsInteger(l, l.product(l.dims(l.in(0))));
  l.setResult(tensor::FromElementsOp::create(
      l.b, RankedTensorType::get({}, l.b.getI64Type()), size));
  return success();
}

//===----------------------------------------------------------------------===//
// Reshape
//===----------------------------------------------------------------------===//

/// A result that only its type matters of: what goes before has ended the run.
static Value unreachable(NodeLowering &l, ArrayRef<OpFoldResult> dims) {
  return l.empty(dims, l.elementType(0));
}

static LogicalResult reshapeTo(NodeLowering &l, Dims target, bool allowZero) {
  Value value = l.in(0);
  ReshapeShape shape(l, l.dims(value), allowZero);
  if (failed(shape.resolve(std::move(target))))
    return failure();
  if (shape.isProven) {
    l.setResult(reshapeByGroups(l, value, shape.dims));
    return success();
  }
  std::optional<int64_t> from = getConstantIntValue(l.product(l.dims(value)));
  std::optional<int64_t> to = getConstantIntValue(l.product(shape.dims));
  bool isImpossible = from && to && *from != *to;
  l.setResult(isImpossible ? unreachable(l, shape.dims)
                           : l.reshape(value, shape.dims));
  return success();
}

/// Version 1: the shape is an attribute.
static LogicalResult lowerReshapeAttribute(NodeLowering &l) {
  l.ignoreAttr("consumed_inputs");
  Dims target;
  for (int64_t extent : l.intsAttr("shape").value_or(SmallVector<int64_t>()))
    target.push_back(l.fold(extent));
  return reshapeTo(l, std::move(target), /*allowZero=*/false);
}

static LogicalResult lowerReshape(NodeLowering &l) {
  std::optional<int64_t> rank;
  if (auto type = dyn_cast<RankedTensorType>(l.resultType()))
    rank = type.getRank();
  FailureOr<Dims> target = integers(l, 1, rank, "shape");
  if (failed(target))
    return failure();
  return reshapeTo(l, std::move(*target), l.intAttr("allowzero", 0) != 0);
}

static LogicalResult lowerFlatten(NodeLowering &l) {
  Value value = l.in(0);
  Dims dims = l.dims(value);
  int64_t rank = dims.size(), axis = l.intAttr("axis", 1);
  if (axis < -rank || axis > rank)
    return l.refuse("axis " + Twine(axis) + " is out of range for rank " +
                    Twine(rank));
  axis = axis < 0 ? axis + rank : axis;
  ArrayRef<OpFoldResult> all(dims);
  l.setResult(reshapeByGroups(
      l, value,
      {l.product(all.take_front(axis)), l.product(all.drop_front(axis))}));
  return success();
}

//===----------------------------------------------------------------------===//
// Squeeze, Unsqueeze
//===----------------------------------------------------------------------===//

/// The axes of attribute or input "axes" of a value of rank `rank`; nothing
/// where they are left out.
static FailureOr<std::optional<Dims>> axesOf(NodeLowering &l, int64_t rank,
                                             std::optional<int64_t> expected) {
  Dims axes;
  if (std::optional<SmallVector<int64_t>> given = l.intsAttr("axes")) {
    for (int64_t axis : *given)
      axes.push_back(l.fold(axis));
  } else if (l.has(1)) {
    FailureOr<Dims> read = integers(l, 1, expected, "axes");
    if (failed(read))
      return failure();
    axes = std::move(*read);
  } else {
    return std::optional<Dims>();
  }
  FailureOr<Dims> normal = normalizedAxes(l, axes, rank);
  if (failed(normal))
    return failure();
  return std::optional<Dims>(std::move(*normal));
}

/// For each of `rank` axes, whether it is one of `axes`.
static SmallVector<Value>
membership(NodeLowering &l, ArrayRef<OpFoldResult> axes, int64_t rank) {
  SmallVector<Value> member(rank, l.constantInt(l.b.getI1Type(), 0));
  for (OpFoldResult axis : axes)
    for (int64_t k : llvm::seq(rank))
      member[k] = either(l, member[k], compare(l, IP::eq, axis, l.fold(k)));
  return member;
}

/// Puts the `values` whose `keep` is true together, in order.
static Dims compacted(NodeLowering &l, ArrayRef<OpFoldResult> values,
                      ArrayRef<Value> keep, int64_t count) {
  Dims result(count, l.fold(1));
  OpFoldResult position = l.fold(0);
  for (auto [value, kept] : llvm::zip_equal(values, keep)) {
    for (int64_t k : llvm::seq(count))
      result[k] =
          select(l, both(l, kept, compare(l, IP::eq, position, l.fold(k))),
                 value, result[k]);
    position = l.add(position, select(l, kept, l.fold(1), l.fold(0)));
  }
  l.check(compare(l, IP::eq, position, l.fold(count)), "an axis is repeated");
  return result;
}

/// A slice with extent 1 in its type at the `dropped` axes, which was checked:
/// nothing is copied to collapse such a view, whatever its strides are, and the
/// extents that are left stay those of the slice. It is a slice of its own, as
/// what is before the check may be empty.
static Value withUnitAxes(NodeLowering &l, Value value,
                          ArrayRef<Value> dropped) {
  auto slice = stripCasts(value).getDefiningOp<tensor::ExtractSliceOp>();
  if (!slice)
    return value;
  Dims sizes = l.dims(slice);
  for (auto [size, isDropped] : llvm::zip_equal(sizes, dropped))
    if (matchPattern(isDropped, m_One()))
      size = l.fold(1);
  if (sizes == l.dims(slice))
    return value;
  return l.slice(slice, Dims(sizes.size(), l.fold(0)), sizes);
}

static LogicalResult lowerSqueeze(NodeLowering &l) {
  Value value = l.in(0);
  Dims dims = l.dims(value);
  int64_t rank = dims.size();
  auto inferred = dyn_cast<RankedTensorType>(l.resultType());
  std::optional<int64_t> expected;
  if (inferred)
    expected = rank - inferred.getRank();
  FailureOr<std::optional<Dims>> axes = axesOf(l, rank, expected);
  if (failed(axes))
    return failure();
  if (!*axes) {
    // All axes of extent 1: which they are must be known.
    Dims ones;
    bool isKnown = true;
    for (auto [k, extent] : llvm::enumerate(dims)) {
      isKnown &= getConstantIntValue(extent).has_value();
      if (isConstantIntValue(extent, 1))
        ones.push_back(l.fold(k));
    }
    if (!isKnown && expected != static_cast<int64_t>(ones.size()))
      return l.unsupported("without axes every dimension must be known");
    *axes = ones;
  }
  if (static_cast<int64_t>((**axes).size()) > rank)
    return l.refuse("an axis is repeated");
  SmallVector<Value> member = membership(l, **axes, rank), keep;
  for (auto [k, dropped] : llvm::enumerate(member)) {
    Value isOne = compare(l, IP::eq, dims[k], l.fold(1));
    Value kept = l.b.createOrFold<arith::XOrIOp>(
        dropped, l.constantInt(l.b.getI1Type(), 1));
    l.check(either(l, kept, isOne),
            "axis " + Twine(k) + " has extent {}, not 1, and is not squeezed",
            l.asIndex(dims[k]));
    keep.push_back(kept);
  }
  int64_t count = rank - (**axes).size();
  Dims target = compacted(l, dims, keep, count);
  // Statically wrong extents: the check has ended the run.
  for (auto [k, dropped] : llvm::enumerate(member))
    if (matchPattern(dropped, m_One()) && getConstantIntValue(dims[k]) &&
        !isConstantIntValue(dims[k], 1)) {
      l.setResult(unreachable(l, target));
      return success();
    }
  l.setResult(reshapeByGroups(l, withUnitAxes(l, value, member), target));
  return success();
}

static LogicalResult lowerUnsqueeze(NodeLowering &l) {
  Value value = l.in(0);
  Dims dims = l.dims(value);
  int64_t rank = dims.size();
  std::optional<int64_t> expected;
  if (auto inferred = dyn_cast<RankedTensorType>(l.resultType()))
    expected = inferred.getRank() - rank;
  // The axes are those of the result, whose rank their number tells.
  std::optional<int64_t> count = expected;
  if (std::optional<SmallVector<int64_t>> given = l.intsAttr("axes"))
    count = given->size();
  else if (std::optional<int64_t> length =
               l.has(1) ? getConstantIntValue(lengthOf(l, 1)) : std::nullopt)
    count = *length;
  if (!count)
    return l.unsupported("the number of axes is not known at compile time");
  FailureOr<std::optional<Dims>> axes = axesOf(l, rank + *count, *count);
  if (failed(axes))
    return failure();
  if (!*axes)
    return l.refuse("axes are missing");
  SmallVector<Value> isNew = membership(l, **axes, rank + *count);
  Dims target;
  OpFoldResult position = l.fold(0);
  for (Value inserted : isNew) {
    OpFoldResult extent = l.fold(1);
    for (int64_t k : llvm::seq(rank))
      extent =
          select(l, compare(l, IP::eq, position, l.fold(k)), dims[k], extent);
    target.push_back(select(l, inserted, l.fold(1), extent));
    position = l.add(position, select(l, inserted, l.fold(0), l.fold(1)));
  }
  if (std::optional<int64_t> used = getConstantIntValue(position);
      used && *used != rank)
    return l.refuse("an axis is repeated");
  l.check(compare(l, IP::eq, position, l.fold(rank)), "an axis is repeated");
  l.setResult(reshapeByGroups(l, value, target));
  return success();
}

//===----------------------------------------------------------------------===//
// Expand, Tile
//===----------------------------------------------------------------------===//

/// One dimension of two that broadcast to each other; emits the check.
static OpFoldResult broadcastExtent(NodeLowering &l, OpFoldResult own,
                                    OpFoldResult wanted) {
  if (sameExtent(own, wanted) || isConstantIntValue(wanted, 1))
    return own;
  if (isConstantIntValue(own, 1))
    return wanted;
  Value ownIsOne = compare(l, IP::eq, own, l.fold(1));
  Value wantedIsOne = compare(l, IP::eq, wanted, l.fold(1));
  Value same = compare(l, IP::eq, own, wanted);
  l.check(either(l, same, either(l, ownIsOne, wantedIsOne)),
          "dimension {} does not expand to {}",
          ValueRange{l.asIndex(own), l.asIndex(wanted)});
  if (getConstantIntValue(own))
    return own;
  if (getConstantIntValue(wanted))
    return wanted;
  return select(l, ownIsOne, wanted, own);
}

static LogicalResult lowerExpand(NodeLowering &l) {
  Value value = l.in(0);
  Dims dims = l.dims(value);
  int64_t rank = dims.size();
  std::optional<int64_t> expected;
  if (auto inferred = dyn_cast<RankedTensorType>(l.resultType());
      inferred && inferred.getRank() > rank)
    expected = inferred.getRank();
  FailureOr<Dims> shape = integers(l, 1, expected, "shape");
  if (failed(shape))
    return failure();
  for (auto [k, extent] : llvm::enumerate(*shape))
    extent =
        requireNonNegative(l, extent, "element " + Twine(k) + " of the shape");
  int64_t count = shape->size();
  if (count < rank)
    shape->insert(shape->begin(), rank - count, l.fold(1));
  else
    dims.insert(dims.begin(), count - rank, l.fold(1));
  Dims target;
  bool isImpossible = false;
  for (auto [own, wanted] : llvm::zip_equal(dims, *shape)) {
    target.push_back(broadcastExtent(l, own, wanted));
    isImpossible |= getConstantIntValue(own) && getConstantIntValue(wanted) &&
                    !sameExtent(target.back(), own) &&
                    !isConstantIntValue(own, 1);
    isImpossible |= getConstantIntValue(own) && getConstantIntValue(wanted) &&
                    !sameExtent(target.back(), wanted) &&
                    !isConstantIntValue(wanted, 1);
  }
  if (isImpossible) {
    l.setResult(unreachable(l, target));
    return success();
  }
  if (isSmallIntegers(target, l.elementType(0)) && rank <= 1) {
    bool isOne = rank == 0 || isConstantIntValue(dims[0], 1);
    if (isOne || sameExtent(dims[0], target[0])) {
      l.setResult(fromElements(l, target, l.elementType(0), [&](int64_t k) {
        SmallVector<Value> at(rank, l.index(isOne ? 0 : k));
        return elementAt(l, value, at);
      }));
      return success();
    }
  }
  l.setResult(l.broadcastTo(value, target));
  return success();
}

/// Repeats along each axis: [d0, d1] is broadcast to [r0, d0, r1, d1], whose
/// axes are then merged (a view).
static Value tile(NodeLowering &l, Value value,
                  ArrayRef<OpFoldResult> repeats) {
  auto type = cast<RankedTensorType>(value.getType());
  Dims dims = l.dims(value), loops, target;
  for (auto [extent, repeat] : llvm::zip_equal(dims, repeats))
    target.push_back(l.mul(extent, repeat));
  if (isSmallIntegers(target, type.getElementType()) && type.getRank() == 1)
    return fromElements(l, target, type.getElementType(), [&](int64_t k) {
      return elementAt(l, value,
                       l.index(k % getConstantIntValue(dims[0]).value_or(1)));
    });
  SmallVector<int64_t> axes;
  for (auto [extent, repeat] : llvm::zip_equal(dims, repeats)) {
    bool isRepeated = !isConstantIntValue(repeat, 1);
    bool isOne = isConstantIntValue(extent, 1);
    if (isRepeated)
      loops.push_back(repeat);
    axes.push_back(isOne ? -1 : loops.size());
    if (!isOne)
      loops.push_back(extent);
    else if (!isRepeated)
      loops.push_back(l.fold(1));
  }
  Value wide =
      mapSpace(l, {{value, axes}}, loops, type.getElementType(),
               [](ScalarBuilder &, ArrayRef<Value> e) { return e[0]; });
  return reshapeByGroups(l, wide, target);
}

static LogicalResult lowerTile(NodeLowering &l) {
  int64_t rank = l.rank(0);
  FailureOr<Dims> repeats = integers(l, 1, rank, "repeats");
  if (failed(repeats))
    return failure();
  for (auto [k, repeat] : llvm::enumerate(*repeats))
    repeat = requireNonNegative(l, repeat,
                                "element " + Twine(k) + " of the repeats");
  l.setResult(rank == 0 ? l.in(0) : tile(l, l.in(0), *repeats));
  return success();
}

/// Version 1: a number of copies along one axis, both of the data's type.
static LogicalResult lowerTileAxis(NodeLowering &l) {
  int64_t rank = l.rank(0);
  auto read = [&](unsigned i) -> OpFoldResult {
    Value number =
        NodeLowering::castScalar(l.b, l.b.getLoc(), l.scalar(l.in(i)),
                                 l.isUnsigned(i), l.b.getI64Type(), false);
    Value value = l.toIndex(number);
    if (std::optional<int64_t> constant = getConstantIntValue(value))
      return l.fold(*constant);
    return value;
  };
  OpFoldResult tiles = read(1);
  tiles = requireNonNegative(l, tiles, "number of tiles");
  FailureOr<Dims> axis = normalizedAxes(l, {read(2)}, rank);
  if (failed(axis))
    return failure();
  Dims repeats(rank, l.fold(1));
  spread(l, *axis, tiles, repeats);
  l.setResult(tile(l, l.in(0), repeats));
  return success();
}

//===----------------------------------------------------------------------===//
// ConstantOfShape, Range, EyeLike
//===----------------------------------------------------------------------===//

static LogicalResult lowerConstantOfShape(NodeLowering &l) {
  Type element = l.resultElementType();
  Value fill = zeroOf(l, element);
  if (!fill)
    return l.unsupported("element type of the result is not supported");
  if (Attribute attribute = l.attr("value")) {
    auto given = dyn_cast<DenseElementsAttr>(attribute);
    if (!given || given.getNumElements() != 1)
      return l.refuse("'value' must hold one element");
    given = cast<DenseElementsAttr>(toSignless(given));
    if (isa<FloatType>(element))
      fill = arith::ConstantOp::create(
          l.b, l.b.getFloatAttr(element, *given.value_begin<APFloat>()));
    else
      fill = arith::ConstantOp::create(
          l.b, l.b.getIntegerAttr(element, *given.value_begin<APInt>()));
  }
  std::optional<int64_t> rank;
  if (auto inferred = dyn_cast<RankedTensorType>(l.resultType()))
    rank = inferred.getRank();
  FailureOr<Dims> dims = integers(l, 0, rank, "input");
  if (failed(dims))
    return failure();
  for (auto [k, extent] : llvm::enumerate(*dims))
    extent =
        requireNonNegative(l, extent, "element " + Twine(k) + " of the shape");
  if (dims->empty() || isSmallIntegers(*dims, element))
    l.setResult(fromElements(l, *dims, element, [&](int64_t) { return fill; }));
  else
    l.setResult(l.filled(*dims, fill));
  return success();
}

/// max(ceil((limit - start) / delta), 0) of integers, without overflow.
static Value integerRangeCount(NodeLowering &l, Value start, Value limit,
                               Value delta, bool isUnsigned) {
  Type i64 = l.b.getI64Type();
  auto wide = [&](Value v) {
    return NodeLowering::castScalar(l.b, l.b.getLoc(), v, isUnsigned, i64,
                                    false);
  };
  start = wide(start), limit = wide(limit), delta = wide(delta);
  Value zero = l.constantInt(i64, 0), one = l.constantInt(i64, 1);
  Value most = l.constantInt(i64, INT64_MAX); // More than memory holds.
  auto cmp = [&](IP predicate, Value x, Value y) {
    return l.b.createOrFold<arith::CmpIOp>(predicate, x, y);
  };
  auto pick = [&](Value c, Value x, Value y) {
    return l.b.createOrFold<arith::SelectOp>(c, x, y);
  };
  auto minus = [&](Value x, Value y) {
    return l.b.createOrFold<arith::SubIOp>(x, y);
  };
  // All numbers below an extent are as many: other values of that extent are
  // known to fit then.
  if (isConstantIntValue(start, 0) && isConstantIntValue(delta, 1) &&
      !isUnsigned && isKnownNonNegative(limit))
    return limit;
  Value isDown = isUnsigned ? l.constantInt(l.b.getI1Type(), 0)
                            : cmp(IP::slt, delta, zero);
  Value low = pick(isDown, limit, start), high = pick(isDown, start, limit);
  Value step = pick(isDown, minus(zero, delta), delta);
  l.check(cmp(IP::ne, delta, zero), "delta is 0");
  // Zero would trap; the check has ended the run then.
  step = pick(cmp(IP::eq, step, zero), one, step);
  Value whole =
      l.b.createOrFold<arith::DivUIOp>(minus(minus(high, low), one), step);
  Value count = l.b.createOrFold<arith::AddIOp>(whole, one);
  count = l.b.createOrFold<arith::MinUIOp>(count, most);
  return pick(cmp(isUnsigned ? IP::ult : IP::slt, low, high), count, zero);
}

/// The same of floats. The quotient is taken in f64, as the onnx library's
/// inference and onnxruntime do: 0.3f / 0.1f counts four elements, not three.
static Value floatRangeCount(NodeLowering &l, Value start, Value limit,
                             Value delta) {
  Type wide = l.b.getF64Type();
  auto extended = [&](Value v) {
    return NodeLowering::castScalar(l.b, l.b.getLoc(), v, false, wide, false);
  };
  Value distance = arith::SubFOp::create(l.b, limit, start);
  Value steps = math::CeilOp::create(
      l.b, arith::DivFOp::create(l.b, extended(distance), extended(delta)));
  // NaN, infinity and what no memory holds are refused here.
  Value isSane = arith::CmpFOp::create(l.b, arith::CmpFPredicate::OLT, steps,
                                       l.constant(wide, 0x1p62));
  l.check(isSane, "the number of elements is not finite, or more than memory "
                  "holds (delta 0, NaN, or small beside the distance)");
  Value isPositive = arith::CmpFOp::create(l.b, arith::CmpFPredicate::OGT,
                                           steps, l.constant(wide, 0));
  Value isUsable = both(l, isSane, isPositive);
  Value used =
      arith::SelectOp::create(l.b, isUsable, steps, l.constant(wide, 0));
  return arith::FPToSIOp::create(l.b, l.b.getI64Type(), used);
}

static LogicalResult lowerRange(NodeLowering &l) {
  if (l.node.getSinceVersion() >= 27)
    l.ignoreAttr(
        "stash_type"); // Elements are computed in f32 and rounded once.
  Type element = l.resultElementType();
  Type compute = NodeLowering::computeType(element);
  bool isUnsigned = l.isUnsigned(0), isFloat = isa<FloatType>(element);
  SmallVector<Value> bounds;
  for (unsigned i : {0, 1, 2})
    bounds.push_back(NodeLowering::castScalar(
        l.b, l.b.getLoc(), l.scalar(l.in(i)), isUnsigned, compute, isUnsigned));
  Value start = bounds[0], delta = bounds[2];
  Value count = isFloat
                    ? floatRangeCount(l, start, bounds[1], delta)
                    : integerRangeCount(l, start, bounds[1], delta, isUnsigned);
  Value extent = l.toIndex(count);
  OpFoldResult dim = extent;
  if (std::optional<int64_t> constant = getConstantIntValue(extent))
    dim = l.fold(*constant);
  auto at = [&](OpBuilder &b, Location loc, Value position) -> Value {
    Value number =
        b.createOrFold<arith::IndexCastOp>(loc, b.getI64Type(), position);
    number =
        NodeLowering::castScalar(b, loc, number, false, compute, isUnsigned);
    Value value;
    if (isFloat) {
      Value offset = arith::MulFOp::create(b, loc, number, delta);
      value = arith::AddFOp::create(b, loc, start, offset);
    } else {
      Value offset = b.createOrFold<arith::MulIOp>(loc, number, delta);
      value = b.createOrFold<arith::AddIOp>(loc, start, offset);
    }
    return NodeLowering::castScalar(b, loc, value, isUnsigned, element,
                                    isUnsigned);
  };
  if (isSmallIntegers({dim}, element))
    l.setResult(fromElements(l, {dim}, element, [&](int64_t k) {
      return at(l.b, l.b.getLoc(), l.index(k));
    }));
  else
    l.setResult(l.generate({dim}, element,
                           [&](OpBuilder &b, Location loc, ValueRange indices) {
                             return at(b, loc, indices[0]);
                           }));
  return success();
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

void loopc::addShapeRows(LoweringTable &table) {
  table.add({
      {"", "Shape", 1, kLatest, lowerShape},
      {"", "Size", 1, kLatest, lowerSize},
      {"", "Reshape", 1, 4, lowerReshapeAttribute},
      {"", "Reshape", 5, kLatest, lowerReshape},
      {"", "Flatten", 1, kLatest, lowerFlatten},
      {"", "Squeeze", 1, kLatest, lowerSqueeze},
      {"", "Unsqueeze", 1, kLatest, lowerUnsqueeze},
      {"", "Expand", 8, kLatest, lowerExpand},
      {"", "Tile", 1, 5, lowerTileAxis},
      {"", "Tile", 6, kLatest, lowerTile},
      {"", "ConstantOfShape", 9, kLatest, lowerConstantOfShape},
      {"", "Range", 11, kLatest, lowerRange},
  });
}
