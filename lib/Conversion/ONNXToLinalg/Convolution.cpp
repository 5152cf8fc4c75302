//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Conv, ConvTranspose and their integer forms for any number of spatial axes.

#include "Contraction.h"
#include "ShapeUtils.h"
#include "Window.h"

using namespace mlir;
using namespace loopc;

static AffineMap mapOf(NodeLowering &l, unsigned count,
                       ArrayRef<AffineExpr> exprs) {
  return AffineMap::get(count, 0, exprs, l.b.getContext());
}

/// Input `i`, a bias or other value for each of `channels` channels; fails
/// after an error where it cannot be.
static LogicalResult checkPerChannel(NodeLowering &l, unsigned i,
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

  /// Reads the node's attributes; `xInput` and `wInput` are its operands.
  LogicalResult read(unsigned xInput, unsigned wInput);
  Dims resultDims() {
    Dims dims{l.dim(x.value, 0), l.dim(w.value, 0)};
    dims.append(outExtents(window));
    return dims;
  }
  /// The result in elements of `type`; `bias`, [M], may be null.
  Value compute(Value bias, Type type);

private:
  /// True if neighbours in the result are better computed by channel than by
  /// position.
  bool runsAcrossChannels();
  Value alongPositions(Value padded, Value init);
  Value acrossChannels(Value padded, Value init);
  /// True if all that is known is that there is a filter for each channel.
  bool isDepthwise();
  /// True if the channels come last, of the image and of the result, where the
  /// order is free to be chosen.
  bool prefersChannelsLast();
  Value channelsLast(Value bias, Type type);
  /// Sums over [N, positions..., C] into `init`.
  Value denseLast(Value padded, Value init);
  Value groupedLast(Value padded, Value init);
  Value depthwiseLast(Value padded, Value init);
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
  OpFoldResult rest = remainder(l, weights[0], l.fold(group));
  if (!requireEqual(l, rest, l.fold(0), "channels beyond whole groups"))
    return l.refuse("'group' does not divide the number of channels");
  FailureOr<Dims> kernel =
      kernelShape(l, rank - 2, ArrayRef(weights).drop_front(2));
  if (failed(kernel))
    return failure();
  FailureOr<Window> read = readWindow(l, ArrayRef(in).drop_front(2), *kernel);
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
  Value padded = padSpatial(l, x.value, window, l.constant(element, 0));
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

Value Convolution::alongPositions(Value padded, Value init) {
  Value weights = splitAxis(l, w.value, 0, group);
  // Loops: image, group, channel of the result, its positions but for the last
  // axis; channel of the input, the kernel; along the last axis of the result,
  // whose row stays in the cache and grows by rows of the input.
  unsigned spatial = window.size(), next = 0;
  auto dim = [&] { return l.b.getAffineDimExpr(next++); };
  SmallVector<AffineExpr> xs, ws, os, positions, offsets;
  AffineExpr n = dim();
  xs = {n};
  os = {n};
  if (group > 1) {
    AffineExpr g = dim();
    xs.push_back(g);
    ws.push_back(g);
    os.push_back(g);
  }
  AffineExpr m = dim();
  ws.push_back(m);
  os.push_back(m);
  for (unsigned k = 0; k + 1 < spatial; ++k)
    positions.push_back(dim());
  AffineExpr c = dim();
  xs.push_back(c);
  ws.push_back(c);
  for (unsigned k = 0; k < spatial; ++k)
    offsets.push_back(dim());
  positions.push_back(dim());
  for (auto [axis, o, k] : llvm::zip_equal(window, positions, offsets)) {
    xs.push_back(axis.position(o, k));
    ws.push_back(k);
    os.push_back(o);
  }
  return multiplyAdd(
      l, {padded, x.isUnsigned}, {weights, w.isUnsigned}, init,
      {mapOf(l, next, xs), mapOf(l, next, ws), mapOf(l, next, os)});
}

Value Convolution::acrossChannels(Value padded, Value init) {
  Value weights = splitAxis(l, w.value, 0, group);
  unsigned spatial = window.size(), next = 0;
  // The result's channels come last in the weights: [(G,) C, kernel..., M].
  unsigned first = group > 1 ? 1 : 0;
  SmallVector<int64_t> order(first, 0);
  llvm::append_range(order, llvm::seq<int64_t>(first + 1, first + spatial + 2));
  order.push_back(first);
  // The named operation is not fused into the product: it would read columns.
  Dims dims;
  for (int64_t axis : order)
    dims.push_back(l.dim(weights, axis));
  Value columns = l.empty(dims, getElementTypeOrSelf(weights.getType()));
  weights =
      linalg::TransposeOp::create(l.b, weights, columns, order)->getResult(0);
  // Loops: image, group, positions; channel of the input, the kernel; channels
  // of the result.
  auto dim = [&] { return l.b.getAffineDimExpr(next++); };
  SmallVector<AffineExpr> xs, ws, os, positions, offsets;
  AffineExpr n = dim(), g;
  xs = {n};
  os = {n};
  if (group > 1) {
    g = dim();
    xs.push_back(g);
    ws.push_back(g);
  }
  for (unsigned k = 0; k < spatial; ++k)
    positions.push_back(dim());
  AffineExpr c = dim();
  xs.push_back(c);
  ws.push_back(c);
  for (unsigned k = 0; k < spatial; ++k)
    offsets.push_back(dim());
  AffineExpr m = dim();
  for (auto [axis, o, k] : llvm::zip_equal(window, positions, offsets)) {
    xs.push_back(axis.position(o, k));
    ws.push_back(k);
    os.push_back(o);
  }
  if (group > 1)
    os.push_back(g);
  ws.push_back(m);
  os.push_back(m);
  return multiplyAdd(
      l, {padded, x.isUnsigned}, {weights, w.isUnsigned}, init,
      {mapOf(l, next, xs), mapOf(l, next, ws), mapOf(l, next, os)});
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
  Value padded = padSpatial(l, l.transpose(x.value, toLast), window,
                            l.constant(element, 0), /*first=*/1);
  Dims dims{l.dim(x.value, 0)};
  dims.append(outExtents(window));
  dims.push_back(l.dim(w.value, 0));
  Value init = bias ? l.broadcastTo(castElements(l, bias, type), dims)
                    : l.filled(dims, l.constant(type, 0));
  Value sum = isDepthwise() ? depthwiseLast(padded, init)
              : group > 1   ? groupedLast(padded, init)
                            : denseLast(padded, init);
  return l.transpose(sum, back);
}

/// `value` with its axes in another order, as an operation of its own that is
/// not fused into what reads it.
static Value reordered(NodeLowering &l, Value value, ArrayRef<int64_t> order) {
  Dims dims;
  for (int64_t axis : order)
    dims.push_back(l.dim(value, axis));
  Value init = l.empty(dims, getElementTypeOrSelf(value.getType()));
  return linalg::TransposeOp::create(l.b, value, init, order)->getResult(0);
}

Value Convolution::denseLast(Value padded, Value init) {
  // Weights as [kernel..., C, M], without the axes of a kernel that is a point.
  unsigned spatial = window.size(), next = 0;
  SmallVector<int64_t> order;
  llvm::append_range(order, llvm::seq<int64_t>(2, spatial + 2));
  order.append({1, 0});
  Value weights = reordered(l, w.value, order);
  auto dim = [&] { return l.b.getAffineDimExpr(next++); };
  SmallVector<AffineExpr> xs{dim()}, ws, os{xs[0]}, positions;
  for (unsigned k = 0; k < spatial; ++k)
    positions.push_back(dim());
  SmallVector<ReassociationIndices> groups{{}};
  for (auto [k, axis] : llvm::enumerate(window)) {
    AffineExpr offset = l.b.getAffineConstantExpr(0);
    groups.back().push_back(k);
    if (!isConstantIntValue(axis.kernel, 1)) {
      offset = dim();
      ws.push_back(offset);
      groups.push_back({});
    }
    xs.push_back(axis.position(positions[k], offset));
    os.push_back(positions[k]);
  }
  groups.back().push_back(spatial);
  groups.push_back({spatial + 1});
  AffineExpr c = dim(), m = dim();
  xs.push_back(c);
  ws.append({c, m});
  os.push_back(m);
  if (groups.size() < spatial + 2)
    weights = tensor::CollapseShapeOp::create(l.b, weights, groups);
  return multiplyAdd(
      l, {padded, x.isUnsigned}, {weights, w.isUnsigned}, init,
      {mapOf(l, next, xs), mapOf(l, next, ws), mapOf(l, next, os)});
}

Value Convolution::groupedLast(Value padded, Value init) {
  // Weights as [G, kernel..., C, M].
  unsigned spatial = window.size(), next = 0;
  Value weights = splitAxis(l, w.value, 0, group);
  SmallVector<int64_t> order{0};
  llvm::append_range(order, llvm::seq<int64_t>(3, spatial + 3));
  order.append({2, 1});
  weights = reordered(l, weights, order);
  padded = splitAxis(l, padded, spatial + 1, group);
  OpFoldResult channels = l.dim(w.value, 0);
  init = splitAxis(l, init, spatial + 1, group);
  auto dim = [&] { return l.b.getAffineDimExpr(next++); };
  SmallVector<AffineExpr> positions, offsets;
  AffineExpr n = dim(), g = dim();
  for (unsigned k = 0; k < spatial; ++k)
    positions.push_back(dim());
  for (unsigned k = 0; k < spatial; ++k)
    offsets.push_back(dim());
  AffineExpr c = dim(), m = dim();
  SmallVector<AffineExpr> xs{n}, ws{g}, os{n};
  for (auto [axis, o, k] : llvm::zip_equal(window, positions, offsets)) {
    xs.push_back(axis.position(o, k));
    ws.push_back(k);
    os.push_back(o);
  }
  xs.append({g, c});
  ws.append({c, m});
  os.append({g, m});
  Value sum =
      multiplyAdd(l, {padded, x.isUnsigned}, {weights, w.isUnsigned}, init,
                  {mapOf(l, next, xs), mapOf(l, next, ws), mapOf(l, next, os)});
  return mergeAxis(l, sum, spatial + 1, group, channels);
}

Value Convolution::depthwiseLast(Value padded, Value init) {
  // Weights as [kernel..., C].
  unsigned spatial = window.size(), next = 0;
  SmallVector<ReassociationIndices> groups{{0, 1}};
  SmallVector<int64_t> order;
  for (unsigned k = 0; k < spatial; ++k) {
    groups.push_back({k + 2});
    order.push_back(k + 1);
  }
  order.push_back(0);
  Value weights = tensor::CollapseShapeOp::create(l.b, w.value, groups);
  weights = reordered(l, weights, order);
  auto dim = [&] { return l.b.getAffineDimExpr(next++); };
  SmallVector<AffineExpr> xs{dim()}, ws, os{xs[0]}, positions, offsets;
  for (unsigned k = 0; k < spatial; ++k)
    positions.push_back(dim());
  for (unsigned k = 0; k < spatial; ++k)
    offsets.push_back(dim());
  AffineExpr c = dim();
  for (auto [axis, o, k] : llvm::zip_equal(window, positions, offsets)) {
    xs.push_back(axis.position(o, k));
    ws.push_back(k);
    os.push_back(o);
  }
  xs.push_back(c);
  ws.push_back(c);
  os.push_back(c);
  return multiplyAdd(
      l, {padded, x.isUnsigned}, {weights, w.isUnsigned}, init,
      {mapOf(l, next, xs), mapOf(l, next, ws), mapOf(l, next, os)});
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

static LogicalResult lowerConvInteger(NodeLowering &l) {
  int64_t rank = l.rank(1);
  // Padding is the zero point: 0 once that is subtracted.
  Value x = subtractZeroPoint(l, {l.in(0), l.isUnsigned(0)},
                              {perChannel(l, 2, 1, rank), l.isUnsigned(0)});
  Value w = subtractZeroPoint(l, {l.in(1), l.isUnsigned(1)},
                              {perChannel(l, 3, 0, rank), l.isUnsigned(1)});
  Convolution conv{l, {x}, {w}, 1, {}};
  if (failed(conv.read(0, 1)))
    return failure();
  l.setResult(conv.compute(Value(), l.b.getI32Type()));
  return success();
}

static LogicalResult lowerQLinearConv(NodeLowering &l) {
  int64_t rank = l.rank(3);
  Value x = subtractZeroPoint(l, {l.in(0), l.isUnsigned(0)},
                              {l.in(2), l.isUnsigned(0)});
  Value w = subtractZeroPoint(l, {l.in(3), l.isUnsigned(3)},
                              {perChannel(l, 5, 0, rank), l.isUnsigned(3)});
  Convolution conv{l, {x}, {w}, 1, {}};
  if (failed(conv.read(0, 3)))
    return failure();
  Dims dims = conv.resultDims();
  Value bias;
  if (l.numInputs() > 8 && l.has(8)) {
    if (failed(checkPerChannel(l, 8, dims[1], "B")))
      return failure();
    bias = l.in(8);
  }
  Value sum = conv.compute(bias, l.b.getI32Type());
  l.setResult(requantize(l, sum, l.in(1), perChannel(l, 4, 1, rank), l.in(6),
                         {l.in(7), l.isUnsigned(7)}));
  return success();
}

//===----------------------------------------------------------------------===//
// Transposed convolution
//===----------------------------------------------------------------------===//

namespace {
/// [N, C, in...] with [C, M / group, kernel...]: each element of the input adds
/// its kernel to the result.
struct Transposed {
  explicit Transposed(NodeLowering &l)
      : l(l), element(l.elementType(0)),
        compute(NodeLowering::computeType(element)) {}

  LogicalResult lower();

private:
  LogicalResult read();
  LogicalResult settlePadding();
  /// What is added at kernel position `at`, to the positions of `sum`, [N, (G,)
  /// M / G, padded...], that it touches.
  Value addAt(Value sum, ValueRange at, Value x, Value w);

  NodeLowering &l;
  Type element, compute;
  int64_t group = 1;
  SmallVector<int64_t> outputPadding;
  Window window;
  OpFoldResult channels;
};
} // namespace

LogicalResult Transposed::read() {
  int64_t rank = l.rank(0), spatial = rank - 2;
  if (rank < 3 || l.rank(1) != rank)
    return l.refuse("the input has rank " + Twine(rank) +
                    ", the weights have rank " + Twine(l.rank(1)));
  group = l.intAttr("group", 1);
  if (group < 1)
    return l.refuse("'group' is " + Twine(group));
  Dims in = l.dims(l.in(0)), weights = l.dims(l.in(1));
  if (!requireEqual(l, in[1], weights[0], "channels of input and weights"))
    return l.refuse("input and weights differ in their channels");
  OpFoldResult rest = remainder(l, in[1], l.fold(group));
  if (!requireEqual(l, rest, l.fold(0), "channels beyond whole groups"))
    return l.refuse("'group' does not divide the number of channels");
  channels = l.mul(weights[1], l.fold(group));
  FailureOr<Dims> kernel =
      kernelShape(l, spatial, ArrayRef(weights).drop_front(2));
  FailureOr<SmallVector<int64_t>> strides = perAxis(l, "strides", spatial, 1);
  FailureOr<SmallVector<int64_t>> dilations =
      perAxis(l, "dilations", spatial, 1);
  FailureOr<SmallVector<int64_t>> extra =
      perAxis(l, "output_padding", spatial, 0);
  if (failed(kernel) || failed(strides) || failed(dilations) || failed(extra))
    return failure();
  outputPadding = *extra;
  for (int64_t k : llvm::seq(spatial)) {
    WindowAxis axis{in[k + 2], (*kernel)[k], (*strides)[k], (*dilations)[k]};
    if (axis.stride < 1 || axis.dilation < 1)
      return l.refuse("strides and dilations must be positive");
    window.push_back(axis);
  }
  return settlePadding();
}

LogicalResult Transposed::settlePadding() {
  int64_t spatial = window.size();
  FailureOr<SmallVector<int64_t>> pads = perAxis(l, "pads", 2 * spatial, 0);
  FailureOr<SmallVector<int64_t>> shape =
      perAxis(l, "output_shape", spatial, -1);
  if (failed(pads) || failed(shape))
    return failure();
  std::string mode = l.stringAttr("auto_pad", "NOTSET");
  bool isSame = mode == "SAME_UPPER" || mode == "SAME_LOWER";
  if (!isSame && mode != "NOTSET" && mode != "VALID")
    return l.refuse("unknown 'auto_pad' value '" + mode + "'");
  for (auto [k, axis] : llvm::enumerate(window)) {
    OpFoldResult full =
        l.add(l.add(l.mul(l.sub(axis.in, l.fold(1)), l.fold(axis.stride)),
                    effectiveKernel(l, axis)),
              l.fold(outputPadding[k]));
    bool isGiven = (*shape)[k] >= 0;
    if (!isGiven && !isSame) {
      bool isValid = mode == "VALID";
      int64_t before = isValid ? 0 : (*pads)[k];
      int64_t after = isValid ? 0 : (*pads)[k + spatial];
      if (before < 0 || after < 0)
        return l.refuse("negative pads are not supported");
      axis.before = l.fold(before);
      axis.after = l.fold(after);
      axis.out = l.sub(full, l.add(axis.before, axis.after));
    } else {
      axis.out =
          isGiven ? l.fold((*shape)[k]) : l.mul(axis.in, l.fold(axis.stride));
      // Where the full result is too short, zeros follow.
      OpFoldResult total = maxSigned(l, l.sub(full, axis.out), l.fold(0));
      OpFoldResult half = quotient(l, total, l.fold(2));
      OpFoldResult rest = l.sub(total, half);
      axis.before = mode == "SAME_UPPER" ? half : rest;
      axis.after = l.sub(total, axis.before);
    }
    axis.out = requireNonNegative(l, axis.out, "extent of the result");
  }
  return success();
}

Value Transposed::addAt(Value sum, ValueRange at, Value x, Value w) {
  unsigned spatial = window.size(), lead = group > 1 ? 3 : 2;
  Dims xDims = l.dims(x), sizes, offsets(lead, l.fold(0)),
       strides(lead, l.fold(1));
  Dims all = l.dims(sum);
  sizes.append(all.begin(), all.begin() + lead);
  for (auto [axis, k] : llvm::zip_equal(window, at)) {
    offsets.push_back(l.mul(k, l.fold(axis.dilation)));
    sizes.push_back(axis.in);
    strides.push_back(l.fold(axis.stride));
  }
  Value touched = l.slice(sum, offsets, sizes, strides);
  // The weights at this position: [(G,) C / G, M / G, 1...]. The axes of the
  // kernel stay: slices that drop some unit axes and keep others are
  // canonicalised wrongly (MLIR 22).
  Dims wSizes = l.dims(w), wOffsets(wSizes.size(), l.fold(0));
  for (unsigned k = 0; k < spatial; ++k) {
    wOffsets[lead + k] = at[k];
    wSizes[lead + k] = l.fold(1);
  }
  Value weights = sliceOf(l, w, wOffsets, wSizes);
  unsigned next = 0;
  auto dim = [&] { return l.b.getAffineDimExpr(next++); };
  SmallVector<AffineExpr> xs, ws, os, positions;
  AffineExpr n = dim();
  xs = {n};
  os = {n};
  if (group > 1) {
    AffineExpr g = dim();
    xs.push_back(g);
    ws.push_back(g);
    os.push_back(g);
  }
  AffineExpr m = dim();
  for (unsigned k = 0; k + 1 < spatial; ++k)
    positions.push_back(dim());
  AffineExpr c = dim();
  positions.push_back(dim());
  xs.push_back(c);
  ws.append({c, m});
  ws.append(spatial, l.b.getAffineConstantExpr(0));
  os.push_back(m);
  xs.append(positions);
  os.append(positions);
  Value added =
      multiplyAdd(l, {x}, {weights}, touched,
                  {mapOf(l, next, xs), mapOf(l, next, ws), mapOf(l, next, os)});
  return tensor::InsertSliceOp::create(l.b, added, sum, offsets, sizes,
                                       strides);
}

LogicalResult Transposed::lower() {
  if (failed(read()))
    return failure();
  OpFoldResult batch = l.dim(l.in(0), 0);
  Dims dims{batch, channels}, full = dims, kernel;
  dims.append(outExtents(window));
  Value bias;
  if (l.numInputs() > 2 && l.has(2)) {
    if (failed(checkPerChannel(l, 2, channels, "B")))
      return failure();
    bias = l.in(2);
  }
  // The result before padding is cut off; as long as what is kept reaches.
  Dims offsets(2, l.fold(0));
  for (const WindowAxis &axis : window) {
    OpFoldResult last =
        l.mul(maxSigned(l, l.sub(axis.in, l.fold(1)), l.fold(0)),
              l.fold(axis.stride));
    OpFoldResult touched = l.add(last, effectiveKernel(l, axis));
    full.push_back(maxSigned(l, touched, l.add(axis.before, axis.out)));
    offsets.push_back(axis.before);
    kernel.push_back(axis.kernel);
  }
  Value sum = splitAxis(l, biasOrZero(l, bias, full, compute), 1, group);
  Value x = splitAxis(l, l.in(0), 1, group);
  Value w = splitAxis(l, l.in(1), 0, group);
  if (!isKnownEmpty(l.dims(x)))
    sum = loopNest(l, kernel, sum, [&](ValueRange at, ValueRange carried) {
      return SmallVector<Value>{addAt(carried[0], at, x, w)};
    })[0];
  sum = mergeAxis(l, sum, 1, group, channels);
  sum = sliceOf(l, sum, offsets, dims);
  l.setResult(castElements(l, sum, element));
  return success();
}

static LogicalResult lowerConvTranspose(NodeLowering &l) {
  return Transposed(l).lower();
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
