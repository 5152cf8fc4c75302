//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Elements that keep their values and change their places: transposition,
// concatenation, splitting, slicing and blocks.

#include "Framework/ElementwiseUtils.h"
#include "Framework/ShapeUtils.h"

using namespace mlir;
using namespace loopc;
using IP = arith::CmpIPredicate;

static constexpr int64_t kMaxInt = std::numeric_limits<int64_t>::max();

//===----------------------------------------------------------------------===//
// Transpose, Concat, Split
//===----------------------------------------------------------------------===//

/// A transposition that moves no axis but those of extent 1 past others is a
/// view.
static Value transposed(NodeLowering &l, Value value,
                        ArrayRef<int64_t> permutation) {
  Dims dims = l.dims(value), target;
  int64_t last = -1;
  bool keepsOrder = true;
  for (int64_t axis : permutation) {
    target.push_back(dims[axis]);
    if (isConstantIntValue(dims[axis], 1))
      continue;
    keepsOrder &= axis > last;
    last = axis;
  }
  return keepsOrder ? reshapeByGroups(l, value, target)
                    : l.transpose(value, permutation);
}

static LogicalResult lowerTranspose(NodeLowering &l) {
  int64_t rank = l.rank(0);
  SmallVector<int64_t> permutation =
      l.intsAttr("perm").value_or(llvm::to_vector(
          llvm::reverse(llvm::to_vector(llvm::seq<int64_t>(0, rank)))));
  if (static_cast<int64_t>(permutation.size()) != rank)
    return l.refuse("'perm' has " + Twine(permutation.size()) +
                    " elements, the input has rank " + Twine(rank));
  llvm::SmallBitVector seen(rank);
  for (int64_t &axis : permutation) {
    FailureOr<int64_t> normal = l.normalizeAxis(axis, rank);
    if (failed(normal))
      return failure();
    axis = *normal;
    if (seen.test(axis))
      return l.refuse("'perm' names axis " + Twine(axis) + " twice");
    seen.set(axis);
  }
  l.setResult(transposed(l, l.in(0), permutation));
  return success();
}

/// Concatenates shape vectors in scalars.
static Value concatScalars(NodeLowering &l, ValueRange inputs,
                           OpFoldResult extent) {
  SmallVector<Value> elements;
  for (Value input : inputs)
    for (int64_t k : llvm::seq(*getConstantIntValue(l.dim(input, 0))))
      elements.push_back(elementAt(l, input, l.index(k)));
  return fromElements(l, extent, l.elementType(0),
                      [&](int64_t k) { return elements[k]; });
}

/// Bufferization compares each slice of a chain with every other and with all
/// that stands between: two hundred parts take it a minute. So many are one
/// operation, and copies; fewer are computed where they go.
static constexpr size_t kMaxInsertedParts = 32;

/// A tensor of these extents of the parts, in order along the axis.
static Value joinParts(NodeLowering &l, ArrayRef<Value> parts,
                       const Dims &target, int64_t axis) {
  if (parts.size() > kMaxInsertedParts)
    return tensor::ConcatOp::create(l.b, axis, parts);
  Value result = l.empty(target, l.elementType(0));
  Dims offsets(target.size(), l.fold(0));
  for (Value part : parts) {
    Dims sizes = target;
    sizes[axis] = l.dim(part, axis);
    result = l.insert(part, result, offsets, sizes);
    offsets[axis] = l.add(offsets[axis], sizes[axis]);
  }
  return result;
}

static LogicalResult lowerConcat(NodeLowering &l) {
  SmallVector<Value> inputs = l.allInputs();
  int64_t rank = l.rank(0);
  FailureOr<int64_t> axis = l.axisAttr("axis", rank, 1);
  if (failed(axis))
    return failure();
  if (inputs.size() == 1) {
    l.setResult(inputs[0]);
    return success();
  }
  for (Value &input : inputs) {
    input = stripCasts(input);
    if (int64_t own = cast<RankedTensorType>(input.getType()).getRank();
        own != rank)
      return l.refuse("inputs of rank " + Twine(rank) + " and " + Twine(own));
  }
  // Static extents decide over run-time ones.
  Dims target = l.dims(inputs[0]);
  for (Value input : inputs)
    for (auto [k, extent] : llvm::enumerate(l.dims(input)))
      if (getConstantIntValue(extent) && !getConstantIntValue(target[k]))
        target[k] = extent;
  OpFoldResult total = l.fold(0);
  bool isPossible = true;
  for (auto [number, input] : llvm::enumerate(inputs)) {
    Dims dims = l.dims(input);
    total = l.add(total, dims[*axis]);
    for (int64_t k : llvm::seq(rank)) {
      if (k != *axis)
        isPossible &= requireEqual(l, dims[k], target[k],
                                   "axis " + Twine(k) + " of input " +
                                       Twine(number) + " and of the result");
    }
  }
  target[*axis] = total;
  if (!isPossible || (isKnownEmpty(target) && rank > 1)) {
    l.setResult(l.empty(target, l.elementType(0)));
    return success();
  }
  if (isSmallIntegers(target, l.elementType(0))) {
    l.setResult(concatScalars(l, inputs, total));
    return success();
  }
  SmallVector<Value> parts;
  for (Value input : inputs) {
    Dims sizes = target;
    sizes[*axis] = l.dim(input, *axis);
    if (isConstantIntValue(sizes[*axis], 0))
      continue;
    // An extent known from another input may be unknown in this one's type.
    SmallVector<int64_t> shape;
    for (OpFoldResult size : sizes)
      shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
    auto type = RankedTensorType::get(shape, l.elementType(0));
    if (input.getType() != type)
      input = l.b.createOrFold<tensor::CastOp>(type, input);
    parts.push_back(input);
  }
  l.setResult(joinParts(l, parts, target, *axis));
  return success();
}

/// The part [offset, offset + size) of `value` along `axis`, a view.
static Value part(NodeLowering &l, Value value, int64_t axis,
                  OpFoldResult offset, OpFoldResult size) {
  Dims offsets(l.dims(value).size(), l.fold(0)), sizes = l.dims(value);
  if (sameExtent(sizes[axis], size) && isConstantIntValue(offset, 0))
    return value;
  offsets[axis] = offset;
  sizes[axis] = size;
  auto element = cast<RankedTensorType>(value.getType()).getElementType();
  if (isSmallIntegers({size}, element) && sizes.size() == 1)
    return fromElements(l, {size}, element, [&](int64_t k) {
      return elementAt(l, value, l.asIndex(l.add(offset, l.fold(k))));
    });
  return sliceOf(l, value, offsets, sizes);
}

/// Sizes of `count` parts of `extent`. From version 18 on, the last are smaller
/// where they are not equal.
static Dims equalParts(NodeLowering &l, OpFoldResult extent, int64_t count) {
  if (l.node.getSinceVersion() < 18) {
    l.check(compare(l, IP::eq, remainder(l, extent, l.fold(count)), l.fold(0)),
            "extent {} is not divided evenly by " + Twine(count),
            l.asIndex(extent));
    return Dims(count, quotient(l, extent, l.fold(count)));
  }
  OpFoldResult chunk =
      quotient(l, l.add(extent, l.fold(count - 1)), l.fold(count));
  Dims sizes;
  OpFoldResult rest = extent;
  for (int64_t k = 0; k < count; ++k) {
    sizes.push_back(minSigned(l, chunk, rest));
    rest = l.sub(rest, sizes.back());
  }
  return sizes;
}

/// The sizes that attribute or input "split" gives; nothing where neither does.
static FailureOr<Dims> givenParts(NodeLowering &l, int64_t count) {
  Dims sizes;
  if (std::optional<SmallVector<int64_t>> given = l.intsAttr("split")) {
    if (static_cast<int64_t>(given->size()) != count)
      return l.refuse("'split' has " + Twine(given->size()) + " elements for " +
                      Twine(count) + " results");
    for (int64_t size : *given)
      sizes.push_back(l.fold(size));
    return sizes;
  }
  if (!l.has(1))
    return sizes;
  if (!isa<FloatType>(l.elementType(1)))
    return integers(l, 1, count, "split");
  // Version 1 has the sizes in the data's type.
  if (l.rank(1) != 1)
    return l.refuse("'split' must have rank 1");
  requireEqual(l, lengthOf(l, 1), l.fold(count), "number of parts");
  for (int64_t k : llvm::seq(count))
    sizes.push_back(l.toIndex(NodeLowering::castScalar(
        l.b, l.b.getLoc(), elementAt(l, l.in(1), l.index(k)), false,
        l.b.getI64Type(), false)));
  return sizes;
}

static LogicalResult lowerSplit(NodeLowering &l) {
  Value value = l.in(0);
  int64_t count = l.numResults();
  FailureOr<int64_t> axis = l.axisAttr("axis", l.rank(0), 0);
  if (failed(axis))
    return failure();
  if (l.node.getSinceVersion() >= 18 && l.hasAttr("num_outputs") &&
      l.intAttr("num_outputs") != count)
    return l.refuse("'num_outputs' is " + Twine(l.intAttr("num_outputs")) +
                    ", the node has " + Twine(count) + " results");
  OpFoldResult extent = l.dim(value, *axis);
  FailureOr<Dims> sizes = givenParts(l, count);
  if (failed(sizes))
    return failure();
  bool isPossible = true;
  if (sizes->empty()) {
    *sizes = equalParts(l, extent, count);
  } else {
    OpFoldResult total = l.fold(0);
    for (auto [k, size] : llvm::enumerate(*sizes)) {
      size = requireNonNegative(l, size, "size of part " + Twine(k));
      total = l.add(total, size);
    }
    isPossible = requireEqual(l, total, extent,
                              "sum of the parts and extent of the axis");
  }
  OpFoldResult offset = l.fold(0);
  Dims dims = l.dims(value);
  for (auto [k, size] : llvm::enumerate(*sizes)) {
    dims[*axis] = size;
    if (l.hasResult(k))
      l.setResult(k, isPossible ? part(l, value, *axis, offset, size)
                                : l.empty(dims, l.elementType(0)));
    offset = l.add(offset, size);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Slice
//===----------------------------------------------------------------------===//

namespace {
/// Where a slice along one axis begins, how many elements it has and how far
/// they are apart.
struct AxisSlice {
  OpFoldResult start, size, step;
};
} // namespace

/// Number of steps of size `step` (not negative) from `low` up to below `high`.
static OpFoldResult stepsBetween(NodeLowering &l, OpFoldResult low,
                                 OpFoldResult high, OpFoldResult step) {
  if (isConstantIntValue(step, 1))
    return maxSigned(l, l.sub(high, low), l.fold(0));
  OpFoldResult distance = maxSigned(l, l.sub(high, low), l.fold(0));
  OpFoldResult whole =
      l.add(quotient(l, l.sub(distance, l.fold(1)), step), l.fold(1));
  return select(l, compare(l, IP::eq, distance, l.fold(0)), l.fold(0), whole);
}

static AxisSlice forwardSlice(NodeLowering &l, OpFoldResult start,
                              OpFoldResult end, OpFoldResult step,
                              OpFoldResult extent) {
  auto clamp = [&](OpFoldResult position) {
    return minSigned(l, maxSigned(l, position, l.fold(0)), extent);
  };
  start = clamp(start);
  return {start, stepsBetween(l, start, clamp(end), step), step};
}

static AxisSlice backwardSlice(NodeLowering &l, OpFoldResult start,
                               OpFoldResult end, OpFoldResult step,
                               OpFoldResult extent) {
  auto clamp = [&](OpFoldResult position, int64_t least) {
    return minSigned(l, maxSigned(l, position, l.fold(least)),
                     l.sub(extent, l.fold(1)));
  };
  start = clamp(start, 0);
  OpFoldResult size =
      stepsBetween(l, clamp(end, -1), start, l.sub(l.fold(0), step));
  return {start, size, step};
}

/// The slice from `start` to before `end`, or to the end of the axis without
/// it, of an extent that is not known; none where its size is no simple term.
/// Sizes that are equal are equal terms then, and what is at most 1 is known to
/// be.
static std::optional<AxisSlice> simpleSlice(NodeLowering &l, int64_t start,
                                            std::optional<int64_t> end,
                                            OpFoldResult extent) {
  auto upTo = [&](int64_t most) { return minSigned(l, extent, l.fold(most)); };
  auto without = [&](int64_t count) {
    return maxSigned(l, l.sub(extent, l.fold(count)), l.fold(0));
  };
  // Of an empty axis too; sums of them stay what they are.
  constexpr int64_t kMaxStart = int64_t(1) << 32;
  if (llvm::AbsoluteValue(start) > kMaxStart ||
      (end && llvm::AbsoluteValue(*end) > kMaxStart))
    return std::nullopt;
  OpFoldResult one = l.fold(1);
  if (start < 0 && !end) {
    OpFoldResult size = upTo(-start);
    return AxisSlice{l.sub(extent, size), size, one};
  }
  if (start == 0 && end && *end >= 0)
    return AxisSlice{l.fold(0), upTo(*end), one};
  if (start >= 0 && (!end || *end < 0))
    return AxisSlice{start == 0 ? l.fold(0) : upTo(start),
                     without(start - end.value_or(0)), one};
  return std::nullopt;
}

/// Negative positions count from the end; what is out of range is clamped.
static AxisSlice resolveSlice(NodeLowering &l, OpFoldResult start,
                              OpFoldResult end, OpFoldResult step,
                              OpFoldResult extent) {
  std::optional<int64_t> first = getConstantIntValue(start);
  std::optional<int64_t> behind = getConstantIntValue(end);
  if (first && behind && isConstantIntValue(step, 1) &&
      !getConstantIntValue(extent)) {
    if (behind == kMaxInt)
      behind.reset();
    if (auto slice = simpleSlice(l, *first, behind, extent))
      return *slice;
  }
  auto fromEnd = [&](OpFoldResult position) -> OpFoldResult {
    if (isKnownNonNegative(position))
      return position;
    return select(l, compare(l, IP::slt, position, l.fold(0)),
                  l.add(position, extent), position);
  };
  start = fromEnd(start);
  // Up to the end, whatever that is.
  end = isConstantIntValue(end, kMaxInt) ? extent : fromEnd(end);
  if (std::optional<int64_t> constant = getConstantIntValue(step))
    return *constant > 0 ? forwardSlice(l, start, end, step, extent)
                         : backwardSlice(l, start, end, step, extent);
  l.check(compare(l, IP::ne, step, l.fold(0)), "a step is 0");
  Value isForward = compare(l, IP::sgt, step, l.fold(0));
  // The side not taken, and a step of 0, must not divide by zero.
  OpFoldResult up = maxSigned(l, step, l.fold(1));
  OpFoldResult down = minSigned(l, step, l.fold(-1));
  AxisSlice forward = forwardSlice(l, start, end, up, extent);
  AxisSlice backward = backwardSlice(l, start, end, down, extent);
  return {select(l, isForward, forward.start, backward.start),
          select(l, isForward, forward.size, backward.size), step};
}

/// What `value` is a slice of, where that is made here and keeps all axes;
/// offsets and steps become those in it. Chains of slices would be chains of
/// views, each of which bufferization compares with every other.
///
///   %a = tensor.extract_slice %x[2] [8] [3]
///   %b = tensor.extract_slice %a[1] [4] [2]
///   ->
///   %b = tensor.extract_slice %x[5] [4] [6]
static Value throughSlice(NodeLowering &l, Value value, Dims &offsets,
                          Dims &steps) {
  auto outer = value.getDefiningOp<tensor::ExtractSliceOp>();
  if (!outer || outer->getBlock() != l.b.getInsertionBlock() ||
      outer.getDroppedDims().any())
    return value;
  for (auto [offset, step, first, stride] : llvm::zip_equal(
           offsets, steps, outer.getMixedOffsets(), outer.getMixedStrides())) {
    offset = l.add(first, l.mul(offset, stride));
    step = l.mul(step, stride);
  }
  return outer.getSource();
}

static Value sliced(NodeLowering &l, Value value, ArrayRef<AxisSlice> slices) {
  Dims offsets, sizes, steps;
  bool isView = true, isWhole = true;
  for (auto [slice, extent] : llvm::zip_equal(slices, l.dims(value))) {
    offsets.push_back(slice.start);
    sizes.push_back(slice.size);
    steps.push_back(slice.step);
    std::optional<int64_t> step = getConstantIntValue(slice.step);
    isView &= step && *step > 0;
    isWhole &= isConstantIntValue(slice.start, 0) &&
               isConstantIntValue(slice.step, 1) &&
               sameExtent(slice.size, extent);
  }
  if (isWhole)
    return value;
  auto element = cast<RankedTensorType>(value.getType()).getElementType();
  if (isSmallIntegers(sizes, element) && sizes.size() == 1)
    return fromElements(l, sizes, element, [&](int64_t k) {
      return elementAt(
          l, value, l.asIndex(l.add(offsets[0], l.mul(steps[0], l.fold(k)))));
    });
  if (isView) {
    value = throughSlice(l, value, offsets, steps);
    return sliceOf(l, value, offsets, sizes, steps);
  }
  SmallVector<Value> starts, strides;
  for (auto [offset, step] : llvm::zip_equal(offsets, steps)) {
    starts.push_back(l.asIndex(offset));
    strides.push_back(l.asIndex(step));
  }
  return l.generate(
      sizes, element,
      [&](OpBuilder &b, Location loc, ValueRange indices) -> Value {
        SmallVector<Value> source;
        for (auto [k, index] : llvm::enumerate(indices)) {
          Value moved = b.createOrFold<arith::MulIOp>(loc, index, strides[k]);
          source.push_back(
              b.createOrFold<arith::AddIOp>(loc, moved, starts[k]));
        }
        return tensor::ExtractOp::create(b, loc, value, source);
      });
}

static LogicalResult sliceAlong(NodeLowering &l, ArrayRef<OpFoldResult> axes,
                                ArrayRef<OpFoldResult> starts,
                                ArrayRef<OpFoldResult> ends,
                                ArrayRef<OpFoldResult> steps) {
  Value value = stripCasts(l.in(0));
  Dims dims = l.dims(value);
  int64_t rank = dims.size();
  Dims start(rank, l.fold(0)), end = dims, step(rank, l.fold(1));
  spread(l, axes, starts, start);
  spread(l, axes, ends, end);
  spread(l, axes, steps, step);
  SmallVector<AxisSlice> slices;
  for (int64_t k : llvm::seq(rank)) {
    if (isConstantIntValue(step[k], 0))
      return l.refuse("the step of axis " + Twine(k) + " is 0");
    slices.push_back(resolveSlice(l, start[k], end[k], step[k], dims[k]));
  }
  l.setResult(sliced(l, value, slices));
  return success();
}

/// Version 1: all is in attributes.
static LogicalResult lowerSliceAttributes(NodeLowering &l) {
  auto read = [&](StringRef name) {
    Dims values;
    for (int64_t value : l.intsAttr(name).value_or(SmallVector<int64_t>()))
      values.push_back(l.fold(value));
    return values;
  };
  Dims starts = read("starts"), ends = read("ends"), axes = read("axes");
  if (axes.empty())
    for (int64_t k : llvm::seq(starts.size()))
      axes.push_back(l.fold(k));
  FailureOr<Dims> normal = normalizedAxes(l, axes, l.rank(0));
  if (failed(normal))
    return failure();
  if (ends.size() != starts.size() || axes.size() != starts.size())
    return l.refuse("starts, ends and axes differ in length");
  return sliceAlong(l, *normal, starts, ends, Dims(starts.size(), l.fold(1)));
}

/// How many axes the inputs of a Slice name; nothing where that is only known
/// at run time.
static std::optional<int64_t> countOfAxes(NodeLowering &l) {
  for (unsigned i = 1; i < l.numInputs() && i < 5; ++i)
    if (l.has(i))
      if (auto count = getConstantIntValue(lengthOf(l, i)))
        return count;
  return std::nullopt;
}

static LogicalResult lowerSlice(NodeLowering &l) {
  int64_t rank = l.rank(0);
  std::optional<int64_t> count = countOfAxes(l);
  static constexpr StringRef names[] = {"data", "starts", "ends", "axes",
                                        "steps"};
  Dims inputs[5];
  for (unsigned i : {1, 2, 3, 4}) {
    if (!l.has(i))
      continue;
    if (count) {
      FailureOr<Dims> values = integers(l, i, *count, names[i]);
      if (failed(values))
        return failure();
      inputs[i] = std::move(*values);
      continue;
    }
    if (l.rank(i) != 1)
      return l.refuse("'" + names[i] + "' must have rank 1");
    l.check(compare(l, IP::ule, lengthOf(l, i), l.fold(rank)),
            "'" + names[i] + "' has {} elements, more than the input has axes",
            l.asIndex(lengthOf(l, i)));
    requireEqual(l, lengthOf(l, i), lengthOf(l, 1),
                 "numbers of elements of '" + names[i] + "' and 'starts'");
    // Those beyond the end slice nothing: 0, the most, axis, 1.
    int64_t filler[] = {0, 0, kMaxInt, 0, 1};
    inputs[i] = integersUpTo(l, i, rank, filler[i]);
  }
  int64_t limit = count.value_or(rank);
  Dims axes = inputs[3], steps = inputs[4];
  if (!l.has(3)) {
    if (limit > rank)
      return l.refuse("'starts' has " + Twine(limit) +
                      " elements, the input has rank " + Twine(rank));
    for (int64_t k : llvm::seq(limit))
      axes.push_back(l.fold(k));
  }
  FailureOr<Dims> normal = normalizedAxes(l, axes, rank);
  if (failed(normal))
    return failure();
  if (l.has(3) && !count) {
    // An axis that is not there is no axis.
    for (auto [k, axis] : llvm::enumerate(*normal))
      axis = select(l, compare(l, IP::sgt, lengthOf(l, 3), l.fold(k)), axis,
                    l.fold(-1));
  }
  if (!l.has(4))
    steps.assign(limit, l.fold(1));
  return sliceAlong(l, *normal, inputs[1], inputs[2], steps);
}

//===----------------------------------------------------------------------===//
// DepthToSpace, SpaceToDepth
//===----------------------------------------------------------------------===//

/// Extent / divisor; the run ends with an error where that is not whole.
static OpFoldResult dividedBy(NodeLowering &l, OpFoldResult extent,
                              int64_t divisor, StringRef what) {
  l.check(compare(l, IP::eq, remainder(l, extent, l.fold(divisor)), l.fold(0)),
          what + " {} is not divided evenly by " + Twine(divisor),
          l.asIndex(extent));
  return quotient(l, extent, l.fold(divisor));
}

namespace {
struct BlockOptions {
  int64_t size;
  bool isColumnFirst;
};
} // namespace

static FailureOr<BlockOptions> blockOptions(NodeLowering &l) {
  BlockOptions options{l.intAttr("blocksize"), false};
  std::string mode = l.stringAttr("mode", "DCR");
  if (mode != "DCR" && mode != "CRD")
    return l.refuse("mode '" + mode + "' is not known");
  options.isColumnFirst = mode == "CRD";
  if (options.size < 1)
    return l.refuse("'blocksize' is " + Twine(options.size));
  if (l.rank(0) != 4)
    return l.refuse("the input has rank " + Twine(l.rank(0)) + ", expected 4");
  return options;
}

static LogicalResult lowerDepthToSpace(NodeLowering &l) {
  FailureOr<BlockOptions> options = blockOptions(l);
  if (failed(options))
    return failure();
  Value value = l.in(0);
  Dims d = l.dims(value);
  OpFoldResult block = l.fold(options->size);
  OpFoldResult depth =
      dividedBy(l, d[1], options->size * options->size, "depth");
  Value blocks =
      options->isColumnFirst
          ? l.transpose(reshapeByGroups(
                            l, value, {d[0], depth, block, block, d[2], d[3]}),
                        {0, 1, 4, 2, 5, 3})
          : l.transpose(reshapeByGroups(
                            l, value, {d[0], block, block, depth, d[2], d[3]}),
                        {0, 3, 4, 1, 5, 2});
  l.setResult(reshapeByGroups(
      l, blocks, {d[0], depth, l.mul(d[2], block), l.mul(d[3], block)}));
  return success();
}

static LogicalResult lowerSpaceToDepth(NodeLowering &l) {
  FailureOr<BlockOptions> options = blockOptions(l);
  if (failed(options))
    return failure();
  Value value = l.in(0);
  Dims d = l.dims(value);
  OpFoldResult block = l.fold(options->size);
  OpFoldResult height = dividedBy(l, d[2], options->size, "height");
  OpFoldResult width = dividedBy(l, d[3], options->size, "width");
  Value blocks =
      reshapeByGroups(l, value, {d[0], d[1], height, block, width, block});
  blocks = options->isColumnFirst ? l.transpose(blocks, {0, 1, 3, 5, 2, 4})
                                  : l.transpose(blocks, {0, 3, 5, 1, 2, 4});
  OpFoldResult depth = l.mul(d[1], l.fold(options->size * options->size));
  l.setResult(reshapeByGroups(l, blocks, {d[0], depth, height, width}));
  return success();
}

//===----------------------------------------------------------------------===//
// ReverseSequence, Trilu
//===----------------------------------------------------------------------===//

static LogicalResult lowerReverseSequence(NodeLowering &l) {
  Value value = l.in(0), lengths = l.in(1);
  int64_t rank = l.rank(0);
  FailureOr<int64_t> batch = l.axisAttr("batch_axis", rank, 1);
  FailureOr<int64_t> time = l.axisAttr("time_axis", rank, 0);
  if (failed(batch) || failed(time))
    return failure();
  if (*batch == *time || l.rank(1) != 1)
    return l.refuse("batch and time axes must differ, and the lengths have "
                    "rank 1");
  requireEqual(l, l.dim(lengths, 0), l.dim(value, *batch),
               "number of lengths and extent of the batch");
  auto checked = CheckedIndices::ofLengths(l, 1, l.dim(value, *time));
  l.setResult(l.generate(
      l.dims(value), l.elementType(0),
      [&](OpBuilder &b, Location loc, ValueRange indices) -> Value {
        SmallVector<Value> from(indices);
        Value raw = tensor::ExtractOp::create(b, loc, lengths, indices[*batch]);
        Value length = checked.position(b, loc, raw);
        Value one = arith::ConstantIndexOp::create(b, loc, 1);
        Value last = arith::SubIOp::create(b, loc, length, one);
        Value mirrored = arith::SubIOp::create(b, loc, last, indices[*time]);
        Value isInside =
            arith::CmpIOp::create(b, loc, IP::ult, indices[*time], length);
        from[*time] =
            arith::SelectOp::create(b, loc, isInside, mirrored, indices[*time]);
        return tensor::ExtractOp::create(b, loc, value, from);
      }));
  return success();
}

static LogicalResult lowerEyeLike(NodeLowering &l) {
  l.ignoreAttr("dtype"); // The result's type says it.
  if (l.rank(0) != 2)
    return l.refuse("the input has rank " + Twine(l.rank(0)) + ", expected 2");
  Type element = l.resultElementType();
  Value one = l.constant(element, 1), zero = l.constant(element, 0);
  if (element.isInteger(1))
    one = l.constantInt(element, 1);
  Value k = l.index(l.intAttr("k", 0));
  l.setResult(l.generate(
      l.dims(l.in(0)), element,
      [&](OpBuilder &b, Location loc, ValueRange indices) -> Value {
        Value diagonal = arith::SubIOp::create(b, loc, indices[1], indices[0]);
        Value isOn = arith::CmpIOp::create(b, loc, IP::eq, diagonal, k);
        return arith::SelectOp::create(b, loc, isOn, one, zero);
      }));
  return success();
}

static LogicalResult lowerTrilu(NodeLowering &l) {
  Value value = l.in(0);
  int64_t rank = l.rank(0);
  if (rank < 2)
    return l.refuse("the input has rank " + Twine(rank) +
                    ", expected 2 or more");
  Value diagonal = l.has(1) ? l.toIndex(l.scalar(l.in(1))) : l.index(0);
  IP keeps = l.intAttr("upper", 1) ? IP::sge : IP::sle;
  Type element = l.elementType(0);
  Value zero = zeroOf(l, element);
  if (!zero)
    return l.unsupported("the element type is not supported");
  l.setResult(mapSpace(
      l, {{value, allAxes(rank)}}, l.dims(value), element,
      [&](ScalarBuilder &s, ArrayRef<Value> e) {
        Value row = linalg::IndexOp::create(s.b, s.loc, rank - 2);
        Value column = linalg::IndexOp::create(s.b, s.loc, rank - 1);
        Value kept = s.make<arith::CmpIOp>(keeps, s.sub(column, row), diagonal);
        return s.select(kept, e[0], zero);
      }));
  return success();
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

void loopc::addMovementRows(LoweringTable &table) {
  table.add({
      {"", "Transpose", 1, kLatest, lowerTranspose},
      {"", "Concat", 1, kLatest, lowerConcat},
      {"", "Split", 1, kLatest, lowerSplit},
      {"", "Slice", 1, 9, lowerSliceAttributes},
      {"", "Slice", 10, kLatest, lowerSlice},
      {"", "DepthToSpace", 1, kLatest, lowerDepthToSpace},
      {"", "SpaceToDepth", 1, kLatest, lowerSpaceToDepth},
      {"", "ReverseSequence", 10, kLatest, lowerReverseSequence},
      {"", "EyeLike", 9, kLatest, lowerEyeLike},
      {"", "Trilu", 14, kLatest, lowerTrilu},
  });
}
