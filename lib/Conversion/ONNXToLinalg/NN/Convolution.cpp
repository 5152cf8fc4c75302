//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Conv and its integer forms for any number of spatial axes.

#include "Convolution.h"
#include "Contraction.h"
#include "Framework/ElementwiseUtils.h"
#include "Framework/ShapeUtils.h"
#include "Window.h"

#include <algorithm>

using namespace mlir;
using namespace loopc;

using Axis = ConvolutionAxis;

ConvolutionLoops::ConvolutionLoops(NodeLowering &l, const Window &window,
                                   int64_t groups, ArrayRef<Axis> order,
                                   bool skipsPoints)
    : context(l.b.getContext()), window(window), positions(window.size()),
      offsets(window.size()) {
  auto dim = [&] { return l.b.getAffineDimExpr(count++); };
  auto dims = [&](MutableArrayRef<AffineExpr> exprs) {
    std::generate(exprs.begin(), exprs.end(), dim);
  };
  for (Axis axis : order) {
    if (axis == Axis::Image) {
      image = dim();
    } else if (axis == Axis::Group) {
      if (groups > 1)
        group = dim();
    } else if (axis == Axis::In) {
      in = dim();
    } else if (axis == Axis::Out) {
      out = dim();
    } else if (axis == Axis::Positions) {
      dims(positions);
    } else if (axis == Axis::Leading) {
      dims(MutableArrayRef(positions).drop_back());
    } else if (axis == Axis::Last) {
      positions.back() = dim();
    } else {
      assert(axis == Axis::Offsets && "not a loop");
      for (auto [offset, along] : llvm::zip_equal(offsets, window)) {
        bool isPoint = skipsPoints && isConstantIntValue(along.kernel, 1);
        offset = isPoint ? l.b.getAffineConstantExpr(0) : dim();
      }
    }
  }
}

AffineMap ConvolutionLoops::map(ArrayRef<Axis> axes) const {
  SmallVector<AffineExpr> exprs;
  for (Axis axis : axes) {
    if (axis == Axis::Image) {
      exprs.push_back(image);
    } else if (axis == Axis::Group) {
      if (group)
        exprs.push_back(group);
    } else if (axis == Axis::In) {
      exprs.push_back(in);
    } else if (axis == Axis::Out) {
      exprs.push_back(out);
    } else if (axis == Axis::Positions) {
      llvm::append_range(exprs, positions);
    } else if (axis == Axis::Places) {
      for (auto [k, along] : llvm::enumerate(window))
        exprs.push_back(along.position(positions[k], offsets[k]));
    } else if (axis == Axis::Offsets) {
      llvm::copy_if(offsets, std::back_inserter(exprs), [](AffineExpr offset) {
        return isa<AffineDimExpr>(offset);
      });
    } else {
      assert(axis == Axis::Point && "not an axis");
      exprs.append(window.size(), getAffineConstantExpr(0, context));
    }
  }
  return AffineMap::get(count, 0, exprs, context);
}

LogicalResult loopc::checkPerChannel(NodeLowering &l, unsigned i,
                                     OpFoldResult channels, StringRef name) {
  if (l.rank(i) != 1)
    return l.refuse("'" + name + "' has rank " + Twine(l.rank(i)) +
                    ", expected 1");
  if (!requireEqual(l, l.dim(l.in(i), 0), channels,
                    "length of '" + name + "' and number of channels"))
    return l.refuse("'" + name + "' and the weights differ in their channels");
  return success();
}

//===----------------------------------------------------------------------===//
// Convolution
//===----------------------------------------------------------------------===//

namespace {
/// A convolution of [N, C, in...] with [M, C / group, kernel...].
struct Convolution {
  NodeLowering &l;
  Factor x, w;
  int64_t group = 1;
  Window window;
  /// What lies around the image, an element of it; null: 0.
  Value border = {};

  /// Reads the node's attributes; `xInput` and `wInput` are its operands.
  LogicalResult read(unsigned xInput, unsigned wInput);
  Dims resultDims() {
    Dims dims{l.dim(x.value, 0), l.dim(w.value, 0)};
    dims.append(outExtents(window));
    return dims;
  }
  /// The result in elements of `type`; `bias`, [M], may be null.
  Value compute(Value bias, Type type);
  /// True if vectors run along enough channels of the result, and sums along
  /// those of the image.
  bool sumsChannels() {
    return l.channelsLast && prefersChannelsLast() && !isDepthwise();
  }
  /// True if neighbours in the result are better computed by channel than by
  /// position.
  bool runsAcrossChannels();
  /// True if the channels come last, of the image and of the result, where the
  /// order is free to be chosen.
  bool prefersChannelsLast();

private:
  Value alongPositions(Value padded, Value init);
  Value acrossChannels(Value padded, Value init);
  /// True if all that is known is that there is a filter for each channel.
  bool isDepthwise();
  Value channelsLast(Value bias, Type type);
  /// Sums over [N, positions..., C] into `init`.
  Value denseLast(Value padded, Value init);
  Value groupedLast(Value padded, Value init);
  Value depthwiseLast(Value padded, Value init);
  /// True if enough of what the kernel reads is padding to leave it out.
  bool isMostlyPadding();
  /// Sums over the part of `image`, which is not padded, that one element of
  /// the kernel reads after the other.
  Value elementsLast(Value image, Value init);
};

/// A part of an axis of the result and where the image begins that it reads.
struct Reach {
  OpFoldResult to, from, size;
};
} // namespace

/// With fewer positions in a row than this, channels fill vectors better.
static constexpr int64_t kFewPositions = 16;
/// So many channels fill a vector.
static constexpr int64_t kManyChannels = 8;
/// So many fill vectors whatever the number of positions is.
static constexpr int64_t kFullChannels = 16;
/// Where the number of positions is not known: so many channels, and so many
/// products in each element that its way into the result's order does not
/// count.
static constexpr int64_t kEnoughChannels = 32;
static constexpr int64_t kManyProducts = 128;

/// Elements of a kernel are products of their own, which leave padding out, if
/// they are so few, and channels so many that sums may go to memory.
static constexpr int64_t kMaxElements = 9;
static constexpr int64_t kManySums = 64;
/// No more than so much of what is read is not padding then: of a result of few
/// positions, for which reading the weights is the work, or of a larger one.
static constexpr int64_t kSmallImage = 128;
static constexpr double kMaxReadOfSmall = 0.85, kMaxRead = 0.8;
/// Where the extents are not known: elements so far apart, of so many channels.
static constexpr int64_t kFarApart = 6;
static constexpr int64_t kManySumsOfOpen = 128;

LogicalResult Convolution::read(unsigned xInput, unsigned wInput) {
  int64_t rank = l.rank(xInput);
  if (rank < 3 || l.rank(wInput) != rank)
    return l.refuse("the input has rank " + Twine(rank) +
                    ", the weights have rank " + Twine(l.rank(wInput)));
  group = l.intAttr("group", 1);
  if (group < 1)
    return l.refuse("'group' is " + Twine(group));
  Dims in = l.dims(x.value), weights = l.dims(w.value);
  OpFoldResult needed = l.mul(weights[1], l.fold(group));
  if (!requireEqual(l, in[1], needed, "channels of input and weights"))
    return l.refuse("the input has " + Twine(*getConstantIntValue(in[1])) +
                    " channels, the weights take " +
                    Twine(*getConstantIntValue(needed)));
  // Checked: the plans of the sum ask the type how many there are.
  if (std::optional<int64_t> known = getConstantIntValue(needed)) {
    auto type = cast<RankedTensorType>(x.value.getType());
    SmallVector<int64_t> shape(type.getShape());
    if (std::exchange(shape[1], *known) != *known)
      x.value = tensor::CastOp::create(
          l.b, RankedTensorType::get(shape, type.getElementType()), x.value);
  }
  OpFoldResult rest = remainder(l, weights[0], l.fold(group));
  if (!requireEqual(l, rest, l.fold(0), "channels beyond whole groups"))
    return l.refuse("'group' does not divide the number of channels");
  FailureOr<Window> read = readWindow(l, ArrayRef(in).drop_front(2),
                                      ArrayRef(weights).drop_front(2));
  if (failed(read))
    return failure();
  window = *read;
  return success();
}

bool Convolution::runsAcrossChannels() {
  std::optional<int64_t> all = getConstantIntValue(l.dim(w.value, 0));
  if (!all || *all / group < kManyChannels)
    return false;
  const WindowAxis &last = window.back();
  // Positions that are apart are no vector.
  if (last.stride > 1)
    return true;
  int64_t channels = *all / group;
  if (std::optional<int64_t> positions = getConstantIntValue(last.out))
    return *positions < kFewPositions && *positions < channels;
  OpFoldResult products = l.dim(w.value, 1);
  for (const WindowAxis &axis : window)
    products = l.mul(products, axis.kernel);
  std::optional<int64_t> known = getConstantIntValue(products);
  return known && *known >= kManyProducts && channels >= kEnoughChannels;
}

Value Convolution::compute(Value bias, Type type) {
  if (l.channelsLast && prefersChannelsLast())
    return channelsLast(bias, type);
  Type element = getElementTypeOrSelf(x.value.getType());
  Value padded =
      padSpatial(l, x.value, window, border ? border : l.constant(element, 0));
  padded = splitAxis(l, padded, 1, group);
  Dims dims = resultDims();
  OpFoldResult channels = dims[1];
  if (!runsAcrossChannels()) {
    Value init = splitAxis(l, biasOrZero(l, bias, dims, type), 1, group);
    return mergeAxis(l, alongPositions(padded, init), 1, group, channels);
  }
  // Computed with the channels last, then brought into the order of the result.
  int64_t rank = dims.size();
  dims.erase(dims.begin() + 1);
  dims.push_back(channels);
  Value init = bias ? l.broadcastTo(castElements(l, bias, type), dims)
                    : l.filled(dims, l.constant(type, 0));
  Value sum = acrossChannels(padded, splitAxis(l, init, rank - 1, group));
  SmallVector<int64_t> order{0, rank - 1};
  llvm::append_range(order, llvm::seq<int64_t>(1, rank - 1));
  return l.transpose(mergeAxis(l, sum, rank - 1, group, channels), order);
}

/// `weights` without the axes of `window`, which begin at `first`, whose kernel
/// is a point: each joins the axis before it, or the ones behind it.
static Value withoutPoints(NodeLowering &l, Value weights, const Window &window,
                           int64_t first) {
  int64_t rank = cast<RankedTensorType>(weights.getType()).getRank();
  int64_t end = first + static_cast<int64_t>(window.size());
  SmallVector<ReassociationIndices> groups{{}};
  bool isStarted = false;
  for (int64_t axis : llvm::seq(rank)) {
    bool isPoint = axis >= first && axis < end &&
                   isConstantIntValue(window[axis - first].kernel, 1);
    if (!isPoint && std::exchange(isStarted, true))
      groups.push_back({});
    groups.back().push_back(axis);
  }
  if (static_cast<int64_t>(groups.size()) == rank)
    return weights;
  return tensor::CollapseShapeOp::create(l.b, weights, groups);
}

Value Convolution::alongPositions(Value padded, Value init) {
  Value weights = splitAxis(l, w.value, 0, group);
  weights = withoutPoints(l, weights, window, group > 1 ? 3 : 2);
  // Along the last axis of the result, whose row stays in the cache and grows
  // by rows of the input.
  ConvolutionLoops loops(l, window, group,
                         {Axis::Image, Axis::Group, Axis::Out, Axis::Leading,
                          Axis::In, Axis::Offsets, Axis::Last},
                         /*skipsPoints=*/true);
  return multiplyAdd(
      l, {padded, x.isUnsigned}, {weights, w.isUnsigned}, init,
      {loops.map({Axis::Image, Axis::Group, Axis::In, Axis::Places}),
       loops.map({Axis::Group, Axis::Out, Axis::In, Axis::Offsets}),
       loops.map({Axis::Image, Axis::Group, Axis::Out, Axis::Positions})});
}

Value Convolution::acrossChannels(Value padded, Value init) {
  Value weights = splitAxis(l, w.value, 0, group);
  unsigned spatial = window.size();
  // The result's channels come last in the weights: [(G,) C, kernel..., M].
  unsigned first = group > 1 ? 1 : 0;
  SmallVector<int64_t> order(first, 0);
  llvm::append_range(order, llvm::seq<int64_t>(first + 1, first + spatial + 2));
  order.push_back(first);
  // Fused into the product it would be read by columns.
  weights = reordered(l, weights, order);
  ConvolutionLoops loops(l, window, group,
                         {Axis::Image, Axis::Group, Axis::Positions, Axis::In,
                          Axis::Offsets, Axis::Out});
  return multiplyAdd(
      l, {padded, x.isUnsigned}, {weights, w.isUnsigned}, init,
      {loops.map({Axis::Image, Axis::Group, Axis::In, Axis::Places}),
       loops.map({Axis::Group, Axis::In, Axis::Offsets, Axis::Out}),
       loops.map({Axis::Image, Axis::Positions, Axis::Group, Axis::Out})});
}

//===----------------------------------------------------------------------===//
// With the channels last
//===----------------------------------------------------------------------===//

bool Convolution::isDepthwise() {
  return group > 1 && isConstantIntValue(l.dim(w.value, 0), group) &&
         isConstantIntValue(l.dim(w.value, 1), 1);
}

bool Convolution::prefersChannelsLast() {
  std::optional<int64_t> all = getConstantIntValue(l.dim(w.value, 0));
  if (!all)
    return false;
  return *all / (isDepthwise() ? 1 : group) >= kFullChannels ||
         runsAcrossChannels();
}

Value Convolution::channelsLast(Value bias, Type type) {
  int64_t rank = window.size() + 2;
  SmallVector<int64_t> toLast{0}, back{0, rank - 1};
  llvm::append_range(toLast, llvm::seq<int64_t>(2, rank));
  toLast.push_back(1);
  llvm::append_range(back, llvm::seq<int64_t>(1, rank - 1));
  Type element = getElementTypeOrSelf(x.value.getType());
  Value image = l.transpose(x.value, toLast);
  Dims dims{l.dim(x.value, 0)};
  dims.append(outExtents(window));
  dims.push_back(l.dim(w.value, 0));
  Value init = bias ? l.broadcastTo(castElements(l, bias, type), dims)
                    : l.filled(dims, l.constant(type, 0));
  if (isMostlyPadding())
    return l.transpose(elementsLast(image, init), back);
  Value padded =
      padSpatial(l, image, window, border ? border : l.constant(element, 0),
                 /*first=*/1);
  Value sum = isDepthwise() ? depthwiseLast(padded, init)
              : group > 1   ? groupedLast(padded, init)
                            : denseLast(padded, init);
  return l.transpose(sum, back);
}

Value Convolution::denseLast(Value padded, Value init) {
  // Weights as [kernel..., C, M], without the axes of a kernel that is a point.
  unsigned spatial = window.size();
  SmallVector<int64_t> order;
  llvm::append_range(order, llvm::seq<int64_t>(2, spatial + 2));
  order.append({1, 0});
  Value weights = reordered(l, w.value, order);
  weights = withoutPoints(l, weights, window, 0);
  ConvolutionLoops loops(
      l, window, /*group=*/1,
      {Axis::Image, Axis::Positions, Axis::Offsets, Axis::In, Axis::Out},
      /*skipsPoints=*/true);
  return multiplyAdd(l, {padded, x.isUnsigned}, {weights, w.isUnsigned}, init,
                     {loops.map({Axis::Image, Axis::Places, Axis::In}),
                      loops.map({Axis::Offsets, Axis::In, Axis::Out}),
                      loops.map({Axis::Image, Axis::Positions, Axis::Out})});
}

/// What element `k` of the kernel reads of an axis without its padding.
static Reach reachOf(NodeLowering &l, const WindowAxis &axis, int64_t k) {
  OpFoldResult zero = l.fold(0);
  // Position o of the result reads o + shift.
  OpFoldResult shift = l.sub(l.fold(k * axis.dilation), axis.before);
  OpFoldResult to = maxSigned(l, zero, l.sub(zero, shift));
  OpFoldResult end = minSigned(l, axis.out, l.sub(axis.in, shift));
  OpFoldResult size = maxSigned(l, l.sub(end, to), zero);
  // Parts without elements begin within the axis as well.
  Value isEmpty = compare(l, arith::CmpIPredicate::eq, size, zero);
  to = select(l, isEmpty, zero, to);
  return {to, select(l, isEmpty, zero, l.add(to, shift)), size};
}

bool Convolution::isMostlyPadding() {
  std::optional<int64_t> in = getConstantIntValue(l.dim(w.value, 1)),
                         out = getConstantIntValue(l.dim(w.value, 0));
  if (group != 1 || border || !in || !out || *in < kManySums ||
      *out < kManySums ||
      !isa<FloatType>(getElementTypeOrSelf(x.value.getType())))
    return false;
  int64_t elements = 1, positions = 1;
  double read = 1;
  bool isOpen = false, isFar = *in >= kManySumsOfOpen && window.size() > 1;
  for (const WindowAxis &axis : window) {
    std::optional<int64_t> kernel = getConstantIntValue(axis.kernel),
                           extent = getConstantIntValue(axis.out);
    if (axis.stride != 1 || !kernel || *kernel < 1 || *kernel > kMaxElements ||
        extent == 0)
      return false;
    elements *= *kernel;
    isFar &= *kernel == 1 || (axis.dilation >= kFarApart &&
                              !isConstantIntValue(axis.before, 0));
    int64_t reached = 0;
    for (int64_t k : llvm::seq(*kernel)) {
      std::optional<int64_t> size =
          getConstantIntValue(reachOf(l, axis, k).size);
      isOpen |= !extent || !size;
      reached += size.value_or(0);
    }
    if (isOpen)
      continue;
    positions *= *extent;
    read *= static_cast<double>(reached) / (*kernel * *extent);
  }
  double most = positions <= kSmallImage ? kMaxReadOfSmall : kMaxRead;
  return elements > 1 && elements <= kMaxElements &&
         (isOpen ? isFar : read <= most);
}

Value Convolution::elementsLast(Value image, Value init) {
  unsigned spatial = window.size();
  int64_t count = 1;
  for (const WindowAxis &axis : window)
    count *= *getConstantIntValue(axis.kernel);
  for (int64_t element : llvm::seq(count)) {
    Dims at(spatial + 2, l.fold(0)), to = at, from = at, sizes = l.dims(init),
                                     imageSizes = l.dims(image),
                                     one = l.dims(w.value);
    Window points(spatial);
    int64_t rest = element;
    bool isEmpty = false;
    for (unsigned k = spatial; k-- > 0;) {
      int64_t extent = *getConstantIntValue(window[k].kernel);
      Reach reach = reachOf(l, window[k], rest % extent);
      at[k + 2] = l.fold(rest % extent);
      rest /= extent;
      one[k + 2] = l.fold(1);
      to[k + 1] = reach.to;
      from[k + 1] = reach.from;
      sizes[k + 1] = imageSizes[k + 1] = reach.size;
      points[k] = {reach.size, l.fold(1)};
      points[k].before = points[k].after = l.fold(0);
      points[k].out = reach.size;
      isEmpty |= isConstantIntValue(reach.size, 0);
    }
    if (isEmpty)
      continue;
    Factor weights{sliceOf(l, w.value, at, one), w.isUnsigned};
    Convolution product{l, x, weights, 1, points};
    Value sum = product.denseLast(l.slice(image, from, imageSizes),
                                  l.slice(init, to, sizes));
    init = l.insert(sum, init, to, sizes);
  }
  return init;
}

Value Convolution::groupedLast(Value padded, Value init) {
  // Weights as [G, kernel..., C, M].
  unsigned spatial = window.size();
  Value weights = splitAxis(l, w.value, 0, group);
  SmallVector<int64_t> order{0};
  llvm::append_range(order, llvm::seq<int64_t>(3, spatial + 3));
  order.append({2, 1});
  weights = reordered(l, weights, order);
  padded = splitAxis(l, padded, spatial + 1, group);
  OpFoldResult channels = l.dim(w.value, 0);
  init = splitAxis(l, init, spatial + 1, group);
  ConvolutionLoops loops(l, window, group,
                         {Axis::Image, Axis::Group, Axis::Positions,
                          Axis::Offsets, Axis::In, Axis::Out});
  Value sum = multiplyAdd(
      l, {padded, x.isUnsigned}, {weights, w.isUnsigned}, init,
      {loops.map({Axis::Image, Axis::Places, Axis::Group, Axis::In}),
       loops.map({Axis::Group, Axis::Offsets, Axis::In, Axis::Out}),
       loops.map({Axis::Image, Axis::Positions, Axis::Group, Axis::Out})});
  return mergeAxis(l, sum, spatial + 1, group, channels);
}

Value Convolution::depthwiseLast(Value padded, Value init) {
  // Weights as [kernel..., C].
  unsigned spatial = window.size();
  SmallVector<ReassociationIndices> groups{{0, 1}};
  SmallVector<int64_t> order;
  for (unsigned k = 0; k < spatial; ++k) {
    groups.push_back({k + 2});
    order.push_back(k + 1);
  }
  order.push_back(0);
  Value weights = tensor::CollapseShapeOp::create(l.b, w.value, groups);
  weights = reordered(l, weights, order);
  ConvolutionLoops loops(
      l, window, /*group=*/1,
      {Axis::Image, Axis::Positions, Axis::Offsets, Axis::Out});
  return multiplyAdd(l, {padded, x.isUnsigned}, {weights, w.isUnsigned}, init,
                     {loops.map({Axis::Image, Axis::Places, Axis::Out}),
                      loops.map({Axis::Offsets, Axis::Out}),
                      loops.map({Axis::Image, Axis::Positions, Axis::Out})});
}

Value loopc::convolve(NodeLowering &l, Value x, Value w, int64_t group,
                      const Window &window, Value bias, Type type) {
  return Convolution{l, {x}, {w}, group, window}.compute(bias, type);
}

bool loopc::runsAlongPositions(NodeLowering &l, Value x, Value w, int64_t group,
                               const Window &window) {
  Convolution conv{l, {x}, {w}, group, window};
  return !(l.channelsLast && conv.prefersChannelsLast()) &&
         !conv.runsAcrossChannels();
}

static LogicalResult lowerConv(NodeLowering &l) {
  Type element = l.elementType(0);
  Type compute = NodeLowering::computeType(element);
  Convolution conv{l, {l.in(0)}, {l.in(1)}, 1, {}};
  if (failed(conv.read(0, 1)))
    return failure();
  Dims dims = conv.resultDims();
  Value bias;
  if (l.numInputs() > 2 && l.has(2)) {
    if (failed(checkPerChannel(l, 2, dims[1], "B")))
      return failure();
    bias = l.in(2);
  }
  Value sum = conv.compute(bias, compute);
  l.setResult(castElements(l, sum, element));
  return success();
}

//===----------------------------------------------------------------------===//
// Integers with zero points and scales
//===----------------------------------------------------------------------===//

/// Input `i`, one value or one for each channel (axis `axis` of `rank`), so
/// that it broadcasts; null where it is left out.
static Value perChannel(NodeLowering &l, unsigned i, int64_t axis,
                        int64_t rank) {
  if (i >= l.numInputs() || !l.has(i))
    return {};
  Value value = l.in(i);
  if (l.rank(i) != 1)
    return value;
  Dims shape(rank - axis, l.fold(1));
  shape[0] = l.dim(value, 0);
  return l.reshape(value, shape);
}

/// Sums over `axes` of `value` less `zeroPoint`, as i32, with extents of 1
/// there.
static Value sumDifferences(NodeLowering &l, Factor value, Value zeroPoint,
                            ArrayRef<int64_t> axes) {
  Dims dims = l.dims(value.value);
  Type i32 = l.b.getI32Type();
  SmallVector<SpaceOperand> operands{{value.value, allAxes(dims.size())}};
  if (zeroPoint)
    operands.push_back({zeroPoint, {}});
  Value sums = reduceSpace(
      l, operands, dims, axes, Combiner::Sum, i32, /*isUnsigned=*/false,
      [&](ScalarBuilder &s, ArrayRef<Value> e) {
        auto widen = [&](Value x) {
          return NodeLowering::castScalar(s.b, s.loc, x, value.isUnsigned, i32,
                                          false);
        };
        return zeroPoint ? s.sub(widen(e[0]), widen(e[1])) : widen(e[0]);
      });
  return restoreAxes(l, sums, axes);
}

namespace {
/// A convolution of integers less their zero points.
struct IntegerConvolution {
  NodeLowering &l;
  Factor x, w;
  /// One for each image, one for all or for each channel of the result.
  Value xZero, wZero;
  unsigned xInput, wInput;

  /// \returns the sums, i32; null after an error. `bias`, an input or null, is
  /// added.
  Value compute(std::optional<unsigned> biasInput);

private:
  /// True if bytes are better multiplied as they are than less their zero
  /// points.
  bool wantsBytes(Convolution &conv);
  Value computeBytes(Convolution &conv, Value bias);
  /// `bias` (or 0) less what the zero point of the image makes of the sums.
  Value startOfSums(Value bias);
  /// Sums of the image less its zero point, which the zero points of the
  /// weights belong to.
  Value windowSums(Convolution &conv);
};
} // namespace

Value IntegerConvolution::startOfSums(Value bias) {
  int64_t rank = l.dims(w.value).size();
  OpFoldResult channels = l.dim(w.value, 0);
  Value sums = sumDifferences(l, w, Value(),
                              llvm::to_vector(llvm::seq<int64_t>(1, rank)));
  SmallVector<Value> operands{l.reshape(sums, {channels}),
                              l.reshape(xZero, ArrayRef<OpFoldResult>())};
  if (bias)
    operands.push_back(bias);
  Type i32 = l.b.getI32Type();
  return l.elementwise(
      operands, i32, [&](OpBuilder &b, Location loc, ValueRange e) {
        ScalarBuilder s(b, loc);
        Value zero =
            NodeLowering::castScalar(b, loc, e[1], x.isUnsigned, i32, false);
        return s.sub(bias ? e[2] : s.integer(i32, 0), s.mul(zero, e[0]));
      });
}

Value IntegerConvolution::windowSums(Convolution &conv) {
  // All channels of the image at once, then windows of ones.
  Value one = xZero ? l.reshape(xZero, ArrayRef<OpFoldResult>()) : Value();
  Value image = sumDifferences(l, x, one, {1});
  Dims kernel = l.dims(w.value);
  kernel[0] = kernel[1] = l.fold(1);
  Type i32 = l.b.getI32Type();
  Value ones = l.filled(kernel, l.constantInt(i32, 1));
  Convolution windows{l, {image}, {ones}, 1, conv.window};
  return windows.compute(Value(), i32);
}

/// 8 bits are multiplied as they are, with the zero point around the image, and
/// what the zero points make of it is taken off:
///
///     sum of (x - a) (w - b) = sum of x w - a sum of w - b sum of (x - a)
Value IntegerConvolution::computeBytes(Convolution &conv, Value bias) {
  Type i32 = l.b.getI32Type();
  conv.border = xZero ? l.scalar(xZero) : Value();
  SmallVector<Value> operands{
      conv.compute(xZero ? startOfSums(bias) : bias, i32)};
  if (!wZero)
    return operands[0];
  Value zeros = wZero;
  size_t rank = l.dims(w.value).size();
  if (l.dims(wZero).size() == rank) {
    // [M, 1, 1...]: M is axis 1 of the result.
    Dims shape(rank - 1, l.fold(1));
    shape[0] = l.dim(wZero, 0);
    zeros = l.reshape(wZero, shape);
  }
  llvm::append_values(operands, zeros, windowSums(conv));
  return l.elementwise(
      operands, i32, [&](OpBuilder &b, Location loc, ValueRange e) {
        ScalarBuilder s(b, loc);
        Value zero =
            NodeLowering::castScalar(b, loc, e[1], w.isUnsigned, i32, false);
        return s.sub(e[0], s.mul(zero, e[2]));
      });
}

bool IntegerConvolution::wantsBytes(Convolution &conv) {
  if (!isOneForAll(l, xZero) || !areBytes(x, w))
    return false;
  if (l.dotBits == 0)
    return l.forKernels && (xZero || wZero) && conv.group == 1;
  return l.dotBits == 8 && conv.sumsChannels();
}

Value IntegerConvolution::compute(std::optional<unsigned> biasInput) {
  Convolution conv{l, x, w, 1, {}};
  if (failed(conv.read(xInput, wInput)))
    return {};
  x = conv.x;
  Value bias;
  if (biasInput) {
    if (failed(checkPerChannel(l, *biasInput, conv.resultDims()[1], "B")))
      return {};
    bias = l.in(*biasInput);
  }
  if (wantsBytes(conv)) {
    Factor left{xZero}, right{wZero};
    makeSignsDiffer(l, x, w, left, right);
    std::tie(xZero, wZero) = std::tie(left.value, right.value);
    conv.x = x;
    conv.w = w;
    // Windows of ones are not told apart by groups.
    if (!wZero || conv.group == 1)
      return computeBytes(conv, bias);
  }
  // Padding is the zero point: 0 once that is subtracted.
  conv.x = {subtractZeroPoint(l, x, {xZero, x.isUnsigned})};
  conv.w = {subtractZeroPoint(l, w, {wZero, w.isUnsigned})};
  return conv.compute(bias, l.b.getI32Type());
}

static LogicalResult lowerConvInteger(NodeLowering &l) {
  int64_t rank = l.rank(1);
  IntegerConvolution conv{l,
                          {l.in(0), l.isUnsigned(0)},
                          {l.in(1), l.isUnsigned(1)},
                          perChannel(l, 2, 1, rank),
                          perChannel(l, 3, 0, rank),
                          0,
                          1};
  Value sum = conv.compute(std::nullopt);
  if (!sum)
    return failure();
  l.setResult(sum);
  return success();
}

static LogicalResult lowerQLinearConv(NodeLowering &l) {
  int64_t rank = l.rank(3);
  IntegerConvolution conv{
      l,       {l.in(0), l.isUnsigned(0)}, {l.in(3), l.isUnsigned(3)},
      l.in(2), perChannel(l, 5, 0, rank),  0,
      3};
  bool hasBias = l.numInputs() > 8 && l.has(8);
  Value sum = conv.compute(hasBias ? std::optional<unsigned>(8) : std::nullopt);
  if (!sum)
    return failure();
  l.setResult(requantize(l, sum, l.in(1), perChannel(l, 4, 1, rank), l.in(6),
                         {l.in(7), l.isUnsigned(7)}));
  return success();
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

void loopc::addConvolutionRows(LoweringTable &table) {
  table.add({
      {"", "Conv", 1, kLatest, lowerConv},
      {"", "ConvInteger", 10, kLatest, lowerConvInteger},
      {"", "QLinearConv", 10, kLatest, lowerQLinearConv},
      {"", "ConvTranspose", 1, kLatest, lowerConvTranspose},
      {"", "DeformConv", 19, kLatest, lowerDeformConv},
  });
}
