//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// ConvTranspose for any number of spatial axes.

#include "Contraction.h"
#include "Convolution.h"
#include "ShapeUtils.h"
#include "Window.h"

using namespace mlir;
using namespace loopc;

static AffineMap mapOf(NodeLowering &l, unsigned count,
                       ArrayRef<AffineExpr> exprs) {
  return AffineMap::get(count, 0, exprs, l.b.getContext());
}

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
  /// True where the kernel falls into phases, of which a convolution computes
  /// each for all of the result.
  bool hasPhases();
  Value phaseWeights();
  Value computePhases(Value bias);

  NodeLowering &l;
  Type element, compute;
  int64_t group = 1;
  SmallVector<int64_t> outputPadding;
  Window window;
  OpFoldResult channels;
  /// Elements of a phase of the kernel along each axis.
  SmallVector<int64_t> taps;
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

// Positions p of the result for which p mod stride is the same are reached by
// the same elements of the kernel, one in each stride: a convolution of the
// input with those, in reverse. All phases are channels of one convolution, and
// its result, [N, M, stride..., positions...], only has to be put in order.

bool Transposed::hasPhases() {
  if (!l.channelsLast || isKnownEmpty(l.dims(l.in(0))))
    return false;
  int64_t elements = 1, padded = 1;
  for (auto [axis, extra] : llvm::zip_equal(window, outputPadding)) {
    std::optional<int64_t> kernel = getConstantIntValue(axis.kernel);
    if (!kernel || *kernel == 0 || axis.dilation != 1)
      return false;
    taps.push_back(llvm::divideCeil(*kernel + extra, axis.stride));
    elements *= *kernel;
    padded *= taps.back() * axis.stride;
    // A result of a given extent may reach beyond all phases.
    if (!l.hasAttr("output_shape"))
      continue;
    OpFoldResult reached =
        l.mul(l.add(axis.in, l.fold(taps.back() - 1)), l.fold(axis.stride));
    std::optional<int64_t> most = getConstantIntValue(reached),
                           last = getConstantIntValue(
                               l.add(axis.before, axis.out));
    if (!most || !last || *last > *most)
      return false;
  }
  // The kernel is filled up with zeros, which infinities of the input would make
  // NaN; and of many zeros the products take longer than they save.
  return padded == elements ||
         (element.isInteger() && padded <= 2 * elements);
}

/// The weights as [M * strides, C / group, taps...].
Value Transposed::phaseWeights() {
  Value w = l.in(1);
  Dims dims = l.dims(w), whole(dims.begin(), dims.begin() + 2);
  for (auto [axis, count] : llvm::zip_equal(window, taps))
    whole.push_back(l.fold(count * axis.stride));
  Dims ones(dims.size(), l.fold(1));
  if (!llvm::equal(dims, whole))
    w = tensor::InsertSliceOp::create(l.b, w,
                                      l.filled(whole, l.constant(element, 0)),
                                      Dims(dims.size(), l.fold(0)), dims, ones);
  // [G, C / G, M / G, taps, stride, ...]
  Dims split{l.fold(group), quotient(l, whole[0], l.fold(group)), whole[1]};
  SmallVector<int64_t> order{0, 2}, back{1};
  Dims joined{channels, split[1]};
  for (auto [axis, count] : llvm::zip_equal(window, taps)) {
    back.push_back(split.size());
    order.push_back(split.size() + 1);
    split.append({l.fold(count), l.fold(axis.stride)});
    joined[0] = l.mul(joined[0], l.fold(axis.stride));
    joined.push_back(l.fold(count));
  }
  w = l.reshape(w, split);
  for (auto [count, at] : llvm::zip_equal(taps, ArrayRef(back).drop_front())) {
    if (count == 1)
      continue;
    Value turned = l.empty(split, element);
    Dims from(split.size(), l.fold(0)), to = from, sizes = split;
    Dims steps(split.size(), l.fold(1));
    sizes[at] = l.fold(1);
    for (int64_t k : llvm::seq(count)) {
      from[at] = l.fold(k);
      to[at] = l.fold(count - 1 - k);
      turned = tensor::InsertSliceOp::create(l.b, sliceOf(l, w, from, sizes),
                                             turned, to, sizes, steps);
    }
    w = turned;
  }
  order.append(back);
  return l.reshape(reordered(l, w, order), joined);
}

Value Transposed::computePhases(Value bias) {
  unsigned spatial = window.size();
  Window parts;
  Dims dims{l.dim(l.in(0), 0), channels}, places, last = dims;
  SmallVector<int64_t> order{0, 1};
  OpFoldResult phases = l.fold(1);
  for (auto [k, axis] : llvm::enumerate(window)) {
    OpFoldResult around = l.fold(taps[k] - 1);
    WindowAxis part{axis.in, l.fold(taps[k])};
    part.before = part.after = around;
    part.out = l.add(axis.in, around);
    parts.push_back(part);
    dims.push_back(l.fold(axis.stride));
    places.push_back(part.out);
    order.append(
        {2 + spatial + static_cast<int64_t>(k), 2 + static_cast<int64_t>(k)});
    last.push_back(l.mul(part.out, l.fold(axis.stride)));
    phases = l.mul(phases, l.fold(axis.stride));
  }
  if (bias)
    bias = l.reshape(l.broadcastTo(l.reshape(bias, {channels, l.fold(1)}),
                                   {channels, phases}),
                     {l.mul(channels, phases)});
  Value sum = convolve(l, l.in(0), phaseWeights(), group, parts, bias, compute);
  dims.append(places);
  return l.reshape(l.transpose(l.reshape(sum, dims), order), last);
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
  if (hasPhases()) {
    Value sum = sliceOf(l, computePhases(bias), offsets, dims);
    l.setResult(castElements(l, sum, element));
    return success();
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

LogicalResult loopc::lowerConvTranspose(NodeLowering &l) {
  return Transposed(l).lower();
}
