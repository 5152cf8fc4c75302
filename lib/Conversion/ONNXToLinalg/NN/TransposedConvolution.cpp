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
#include "Framework/ShapeUtils.h"
#include "Window.h"

using namespace mlir;
using namespace loopc;

using Axis = ConvolutionAxis;

/// More are left to the loop over the kernel, for the sake of the code's size.
static constexpr int64_t kMaxPhases = 64;

namespace {
/// Phases of an axis with as many elements of the kernel each.
struct Phases {
  int64_t first, count, taps;
};

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
  void strideOverKernels();
  /// What is added at kernel position `at`, to the positions of `sum`, [N, (G,)
  /// M / G, padded...], that it touches.
  Value addAt(Value sum, ValueRange at, Value x, Value w);
  /// True where the kernel falls into phases, which convolutions compute.
  bool hasPhases();
  bool isWhole();
  Value phaseWeights(ArrayRef<Phases> part, bool phasesFirst);
  Window partWindow(ArrayRef<Phases> part, ArrayRef<OpFoldResult> places);
  Value phaseBias(ArrayRef<Phases> part, bool phasesFirst, Value bias);
  Value computePart(ArrayRef<Phases> part, bool phasesFirst, Value bias);
  Dims phasePlaces();
  int64_t mostTaps(unsigned axis);
  Value padForAll(ArrayRef<OpFoldResult> places);
  Value computeInside(Value padded, ArrayRef<Phases> part,
                      ArrayRef<OpFoldResult> places, Value bias);
  bool runAlongPositions(ArrayRef<OpFoldResult> places);
  Value orderPhases(ArrayRef<OpFoldResult> places, Value bias);
  Value placePhases(Value sum, Value bias);

  NodeLowering &l;
  Type element, compute;
  int64_t group = 1;
  SmallVector<int64_t> outputPadding;
  Window window;
  OpFoldResult channels;
  /// What convolutions compute, one each: phases along each axis.
  SmallVector<SmallVector<Phases>> parts;
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
  if (failed(settlePadding()))
    return failure();
  strideOverKernels();
  return success();
}

/// The kernel of a single element meets no other, whatever the stride: with one
/// of the kernel's extent all of it are phases, which are a product of
/// matrices.
void Transposed::strideOverKernels() {
  for (auto [axis, extra] : llvm::zip_equal(window, outputPadding)) {
    std::optional<int64_t> kernel = getConstantIntValue(axis.kernel);
    if (isConstantIntValue(axis.in, 1) && kernel && *kernel > 0 &&
        axis.dilation == 1 && extra == 0 && !l.hasAttr("output_shape"))
      axis.stride = *kernel;
  }
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
        return l.refuse("pads must not be negative");
      axis.before = l.fold(before);
      axis.after = l.fold(after);
      axis.out = l.sub(full, l.add(axis.before, axis.after));
    } else {
      axis.out =
          isGiven ? l.fold((*shape)[k]) : l.mul(axis.in, l.fold(axis.stride));
      // Where the full result is too short for a given extent, zeros follow.
      OpFoldResult total = maxSigned(l, l.sub(full, axis.out), l.fold(0));
      OpFoldResult half = quotient(l, total, l.fold(2));
      OpFoldResult rest = l.sub(total, half);
      axis.before = mode == "SAME_UPPER" ? half : rest;
      axis.after = l.sub(total, axis.before);
      // Of itself a result is no longer than it is without padding.
      if (!isGiven)
        axis.out = l.sub(full, total);
    }
    axis.out = requireNonNegative(l, axis.out, "extent of the result");
  }
  return success();
}

Value Transposed::addAt(Value sum, ValueRange at, Value x, Value w) {
  unsigned spatial = window.size(), lead = group > 1 ? 3 : 2;
  Dims sizes, offsets(lead, l.fold(0)), strides(lead, l.fold(1));
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
  ConvolutionLoops loops(l, window, group,
                         {Axis::Image, Axis::Group, Axis::Out, Axis::Leading,
                          Axis::In, Axis::Last});
  Value added = multiplyAdd(
      l, {x}, {weights}, touched,
      {loops.map({Axis::Image, Axis::Group, Axis::In, Axis::Positions}),
       loops.map({Axis::Group, Axis::In, Axis::Out, Axis::Point}),
       loops.map({Axis::Image, Axis::Group, Axis::Out, Axis::Positions})});
  return l.insert(added, sum, offsets, sizes, strides);
}

// Positions p of the result for which p mod stride is the same, a phase, are
// reached by the same elements of the kernel, one in each stride: a convolution
// of the input with those, in reverse. Along an axis, phases below kernel mod
// stride have one element more than the others; the phases with equal numbers
// of elements are channels of one convolution.

bool Transposed::hasPhases() {
  if (!l.channelsLast || isKnownEmpty(l.dims(l.in(0))))
    return false;
  parts.assign(1, {});
  int64_t phases = 1;
  for (auto [axis, extra] : llvm::zip_equal(window, outputPadding)) {
    std::optional<int64_t> kernel = getConstantIntValue(axis.kernel);
    if (!kernel || *kernel == 0 || axis.dilation != 1)
      return false;
    phases *= std::min(*kernel, axis.stride);
    int64_t whole = *kernel / axis.stride, rest = *kernel % axis.stride;
    SmallVector<Phases> along;
    if (rest > 0)
      along.push_back({0, rest, whole + 1});
    // Phases that the kernel does not reach have nothing but the bias.
    if (whole > 0)
      along.push_back({rest, axis.stride - rest, whole});
    SmallVector<SmallVector<Phases>> all;
    for (ArrayRef<Phases> before : parts)
      for (const Phases &part : along) {
        all.emplace_back(before);
        all.back().push_back(part);
      }
    parts = std::move(all);
  }
  // Each is put in place by itself.
  return isWhole() || phases <= kMaxPhases;
}

/// True if the one convolution yields all of the result.
bool Transposed::isWhole() {
  if (parts.size() != 1)
    return false;
  for (auto [axis, extra, part] :
       llvm::zip_equal(window, outputPadding, parts.front())) {
    if (part.count != axis.stride)
      return false;
    if (extra == 0 && !l.hasAttr("output_shape"))
      continue;
    // A result of a given extent may reach beyond all phases.
    OpFoldResult reached =
        l.mul(l.add(axis.in, l.fold(part.taps - 1)), l.fold(axis.stride));
    std::optional<int64_t> most = getConstantIntValue(reached),
                           last = getConstantIntValue(
                               l.add(axis.before, axis.out));
    if (!most || !last || *last > *most)
      return false;
  }
  return true;
}

/// The weights of phases as [M * phases, C / group, taps...]. The phases come
/// last in the first axis, in front of the channels where `phasesFirst`.
Value Transposed::phaseWeights(ArrayRef<Phases> part, bool phasesFirst) {
  Value w = l.in(1);
  // [G, C / G, M / G, (taps, phases)...]
  Dims dims = l.dims(w),
       split{l.fold(group), quotient(l, dims[0], l.fold(group)), dims[1]};
  Dims whole = split;
  llvm::append_range(whole, ArrayRef(dims).drop_front(2));
  w = l.reshape(w, whole);
  SmallVector<int64_t> order{0}, back{1};
  if (!phasesFirst)
    order.push_back(2);
  Dims joined{channels, split[1]};
  for (auto [k, axis, along] : llvm::enumerate(window, part)) {
    // Axis 3 + 2 k, [kernel], becomes [taps, phases], the last tap first.
    unsigned at = 3 + 2 * k;
    Dims from(whole.size(), l.fold(0)), sizes = whole;
    whole[at] = l.fold(along.taps);
    whole.insert(whole.begin() + at + 1, l.fold(along.count));
    sizes[at] = l.fold(along.count);
    Value taken;
    auto take = [&](int64_t tap) {
      from[at] = l.fold(along.first + tap * axis.stride);
      Dims shape = sizes;
      shape.insert(shape.begin() + at, l.fold(1));
      return l.reshape(sliceOf(l, w, from, sizes), shape);
    };
    if (along.taps == 1) {
      taken = take(0);
    } else {
      taken = l.empty(whole, element);
      Dims to(whole.size(), l.fold(0)), one = whole;
      one[at] = l.fold(1);
      for (int64_t tap : llvm::seq(along.taps)) {
        to[at] = l.fold(along.taps - 1 - tap);
        taken = l.insert(take(tap), taken, to, one);
      }
    }
    w = taken;
    back.push_back(at);
    order.push_back(at + 1);
    joined[0] = l.mul(joined[0], l.fold(along.count));
    joined.push_back(l.fold(along.taps));
  }
  if (phasesFirst)
    order.push_back(2);
  order.append(back);
  return l.reshape(reordered(l, w, order), joined);
}

/// The windows of `part`, for `places` of the result or, where there are none,
/// all that its kernel reaches.
Window Transposed::partWindow(ArrayRef<Phases> part,
                              ArrayRef<OpFoldResult> places) {
  Window windows;
  for (auto [k, axis, along] : llvm::enumerate(window, part)) {
    OpFoldResult around = l.fold(along.taps - 1);
    WindowAxis one{axis.in, l.fold(along.taps)};
    one.before = around;
    one.out = places.empty() ? l.add(axis.in, around) : places[k];
    one.after = l.sub(one.out, axis.in);
    windows.push_back(one);
  }
  return windows;
}

/// `bias`, if any, of the channels of the convolution for `part`.
Value Transposed::phaseBias(ArrayRef<Phases> part, bool phasesFirst,
                            Value bias) {
  if (!bias)
    return {};
  OpFoldResult phases = l.fold(1);
  for (const Phases &along : part)
    phases = l.mul(phases, l.fold(along.count));
  Dims rows{phases, channels};
  if (!phasesFirst) {
    std::swap(rows[0], rows[1]);
    bias = l.reshape(bias, {channels, l.fold(1)});
  }
  return l.reshape(l.broadcastTo(bias, rows), {l.mul(channels, phases)});
}

/// The convolution for `part`: [N, M * phases, extents...].
Value Transposed::computePart(ArrayRef<Phases> part, bool phasesFirst,
                              Value bias) {
  return convolve(l, l.in(0), phaseWeights(part, phasesFirst), group,
                  partWindow(part, /*places=*/{}),
                  phaseBias(part, phasesFirst, bias), compute);
}

int64_t Transposed::mostTaps(unsigned axis) {
  int64_t taps = 0;
  for (ArrayRef<Phases> part : parts)
    taps = std::max(taps, part[axis].taps);
  return taps;
}

/// The image with as much padding as any part reads for `places`.
Value Transposed::padForAll(ArrayRef<OpFoldResult> places) {
  SmallVector<Phases> all;
  for (unsigned k : llvm::seq<unsigned>(window.size()))
    all.push_back({0, 1, mostTaps(k)});
  return padSpatial(l, l.in(0), partWindow(all, places),
                    l.constant(element, 0));
}

/// The convolution for `part` and `places`, the phases behind each channel, of
/// an image that is padded for all parts: one with fewer taps reads less of it.
Value Transposed::computeInside(Value padded, ArrayRef<Phases> part,
                                ArrayRef<OpFoldResult> places, Value bias) {
  Dims from(2, l.fold(0)), sizes(ArrayRef(l.dims(padded)).take_front(2));
  Window windows = partWindow(part, places);
  for (auto [k, axis] : llvm::enumerate(windows)) {
    from.push_back(l.fold(mostTaps(k) - part[k].taps));
    axis.in = l.add(axis.out, l.fold(part[k].taps - 1));
    axis.before = axis.after = l.fold(0);
    sizes.push_back(axis.in);
  }
  return convolve(l, sliceOf(l, padded, from, sizes),
                  phaseWeights(part, /*phasesFirst=*/false), group, windows,
                  phaseBias(part, /*phasesFirst=*/false, bias), compute);
}

/// Strides that phases have elements in, along each axis: as many as the kernel
/// reaches, and as are kept of the result.
Dims Transposed::phasePlaces() {
  Dims places;
  for (auto [k, axis, extra] : llvm::enumerate(window, outputPadding)) {
    OpFoldResult reached = l.add(axis.in, l.fold(mostTaps(k) - 1));
    if (extra != 0 || l.hasAttr("output_shape")) {
      OpFoldResult kept =
          l.add(l.add(axis.before, axis.out), l.fold(axis.stride - 1));
      kept = quotient(l, kept, l.fold(axis.stride));
      reached = maxSigned(l, reached, kept);
    }
    places.push_back(reached);
  }
  return places;
}

/// True if a part's vectors run along positions, which must be neighbours then
/// where they are stored.
bool Transposed::runAlongPositions(ArrayRef<OpFoldResult> places) {
  return llvm::any_of(parts, [&](ArrayRef<Phases> part) {
    return runsAlongPositions(l, l.in(0),
                              phaseWeights(part, /*phasesFirst=*/false), group,
                              partWindow(part, places));
  });
}

/// Each part is computed where its phases stand in [N, M, stride...,
/// places...], which then only has to be put in order.
Value Transposed::orderPhases(ArrayRef<OpFoldResult> places, Value bias) {
  int64_t spatial = window.size(), phases = 1, reached = 0;
  Dims dims{l.dim(l.in(0), 0), channels}, last = dims;
  SmallVector<int64_t> order{0, 1};
  for (auto [k, axis] : llvm::enumerate(window)) {
    phases *= axis.stride;
    dims.push_back(l.fold(axis.stride));
    int64_t at = 2 + static_cast<int64_t>(k);
    order.append({at + spatial, at});
    last.push_back(l.mul(places[k], l.fold(axis.stride)));
  }
  llvm::append_range(dims, places);
  for (ArrayRef<Phases> part : parts) {
    int64_t count = 1;
    for (const Phases &along : part)
      count *= along.count;
    reached += count;
  }
  // Phases that the kernel does not reach have nothing but the bias.
  Value sum = reached == phases ? l.empty(dims, compute)
                                : biasOrZero(l, bias, dims, compute);
  Value padded = padForAll(places);
  for (ArrayRef<Phases> part : parts) {
    Dims at(dims.size(), l.fold(0)), sizes = dims;
    for (auto [k, along] : llvm::enumerate(part)) {
      at[k + 2] = l.fold(along.first);
      sizes[k + 2] = l.fold(along.count);
    }
    Value some = l.reshape(computeInside(padded, part, places, bias), sizes);
    sum = parts.size() == 1 && reached == phases
              ? some
              : l.insert(some, sum, at, sizes);
  }
  return l.reshape(l.transpose(sum, order), last);
}

/// Puts each phase at every stride'th place of `sum`, which holds the bias.
Value Transposed::placePhases(Value sum, Value bias) {
  bool phasesFirst = group == 1;
  for (ArrayRef<Phases> part : parts) {
    Value all = computePart(part, phasesFirst, bias);
    Dims from(window.size() + 2, l.fold(0)), sizes = l.dims(all), to = from;
    Dims ones(from.size(), l.fold(1)), steps = ones, places = ones;
    int64_t phases = 1;
    for (auto [k, axis, along] : llvm::enumerate(window, part)) {
      phases *= along.count;
      places[k + 2] = l.fold(axis.stride);
    }
    sizes[1] = channels;
    if (!phasesFirst)
      steps[1] = l.fold(phases);
    for (int64_t phase : llvm::seq(phases)) {
      from[1] = phasesFirst ? l.mul(channels, l.fold(phase)) : l.fold(phase);
      int64_t rest = phase;
      for (unsigned k = window.size(); k-- > 0;) {
        to[k + 2] = l.fold(part[k].first + rest % part[k].count);
        rest /= part[k].count;
      }
      Value one = phases == 1 ? all : l.slice(all, from, sizes, steps);
      sum = l.insert(one, sum, to, sizes, places);
    }
  }
  return sum;
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
    Dims places = phasePlaces();
    Value sum = isWhole() || runAlongPositions(places)
                    ? orderPhases(places, bias)
                    : placePhases(biasOrZero(l, bias, full, compute), bias);
    l.setResult(castElements(l, sliceOf(l, sum, offsets, dims), element));
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
