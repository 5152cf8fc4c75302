//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Window.h"
#include "Contraction.h"
#include "Framework/ShapeUtils.h"

using namespace mlir;
using namespace loopc;

OpFoldResult loopc::effectiveKernel(NodeLowering &l, const WindowAxis &axis) {
  OpFoldResult holes =
      l.mul(l.sub(axis.kernel, l.fold(1)), l.fold(axis.dilation));
  return l.add(holes, l.fold(1));
}

FailureOr<SmallVector<int64_t>> loopc::perAxis(NodeLowering &l, StringRef name,
                                               int64_t rank, int64_t fallback) {
  std::optional<SmallVector<int64_t>> given = l.intsAttr(name);
  if (!given || given->empty())
    return SmallVector<int64_t>(rank, fallback);
  if (static_cast<int64_t>(given->size()) != rank)
    return l.refuse("'" + name + "' has " + Twine(given->size()) +
                    " values, expected " + Twine(rank));
  return *given;
}

FailureOr<Dims> loopc::kernelShape(NodeLowering &l, int64_t rank,
                                   ArrayRef<OpFoldResult> dims) {
  std::optional<SmallVector<int64_t>> given = l.intsAttr("kernel_shape");
  if (!given || given->empty()) {
    if (dims.empty())
      return l.refuse("'kernel_shape' is missing");
    OpFoldResult elements = l.fold(1);
    for (OpFoldResult extent : dims)
      elements = l.mul(elements, extent);
    l.check(compare(l, arith::CmpIPredicate::sgt, elements, l.fold(0)),
            "the weights have windows of {} elements", l.asIndex(elements));
    return Dims(dims);
  }
  if (static_cast<int64_t>(given->size()) != rank)
    return l.refuse("'kernel_shape' has " + Twine(given->size()) +
                    " values, expected " + Twine(rank));
  Dims kernel;
  for (auto [k, extent] : llvm::enumerate(*given)) {
    if (extent < 1)
      return l.refuse("'kernel_shape' has the value " + Twine(extent));
    kernel.push_back(l.fold(extent));
    if (!dims.empty() &&
        !requireEqual(l, dims[k], kernel[k],
                      "axis " + Twine(k) + " of the weights and kernel_shape"))
      return l.refuse("'kernel_shape' and the weights differ");
  }
  return kernel;
}

/// ceil(x / y) for x >= 0.
static OpFoldResult dividedUp(NodeLowering &l, OpFoldResult x, int64_t y) {
  return quotient(l, l.add(x, l.fold(y - 1)), l.fold(y));
}

/// Padding such that there are ceil(in / stride) windows.
static void padToSame(NodeLowering &l, WindowAxis &axis, bool isUpper) {
  axis.out = dividedUp(l, axis.in, axis.stride);
  OpFoldResult last = l.mul(l.sub(axis.out, l.fold(1)), l.fold(axis.stride));
  OpFoldResult reach = l.add(last, effectiveKernel(l, axis));
  OpFoldResult total = maxSigned(l, l.sub(reach, axis.in), l.fold(0));
  OpFoldResult half = quotient(l, total, l.fold(2));
  OpFoldResult rest = l.sub(total, half);
  axis.before = isUpper ? half : rest;
  axis.after = isUpper ? rest : half;
}

static LogicalResult settleOutput(NodeLowering &l, WindowAxis &axis,
                                  bool ceil) {
  OpFoldResult padded = l.add(l.add(axis.in, axis.before), axis.after);
  OpFoldResult kernel = effectiveKernel(l, axis);
  OpFoldResult span = l.sub(padded, kernel);
  // Rounded up, the last window may reach beyond the end; so may the only one.
  if (ceil)
    span = l.add(span, l.fold(axis.stride - 1));
  if (getConstantIntValue(span).value_or(0) < 0)
    return l.refuse("a window of extent " +
                    Twine(*getConstantIntValue(kernel)) +
                    " does not fit into a padded axis of " +
                    Twine(*getConstantIntValue(padded)));
  bool isKnown = isKnownNonNegative(span);
  if (isKnown && axis.stride == 1 && !ceil) {
    // Not by way of `span`: an axis that keeps its extent keeps the value.
    OpFoldResult more = l.sub(l.add(axis.before, axis.after), kernel);
    axis.out = l.add(axis.in, l.add(more, l.fold(1)));
    return success();
  }
  if (!isKnown)
    l.check(compare(l, arith::CmpIPredicate::sge, span, l.fold(0)),
            "a window of extent {} does not fit into a padded axis of {}",
            ValueRange{l.asIndex(kernel), l.asIndex(padded)});
  // What is built behind the check must be valid.
  span = maxSigned(l, span, l.fold(0));
  axis.out = l.add(quotient(l, span, l.fold(axis.stride)), l.fold(1));
  if (!ceil)
    return success();
  // A window that would start in the padding behind is left out.
  OpFoldResult start = l.mul(l.sub(axis.out, l.fold(1)), l.fold(axis.stride));
  Value isOutside =
      compare(l, arith::CmpIPredicate::sge, start, l.add(axis.in, axis.before));
  axis.out = l.sub(axis.out, select(l, isOutside, l.fold(1), l.fold(0)));
  return success();
}

FailureOr<Window> loopc::readWindow(NodeLowering &l, ArrayRef<OpFoldResult> in,
                                    ArrayRef<OpFoldResult> weights) {
  int64_t rank = in.size();
  FailureOr<Dims> kernel = kernelShape(l, rank, weights);
  if (failed(kernel))
    return failure();
  FailureOr<SmallVector<int64_t>> strides = perAxis(l, "strides", rank, 1);
  FailureOr<SmallVector<int64_t>> dilations = perAxis(l, "dilations", rank, 1);
  FailureOr<SmallVector<int64_t>> pads = perAxis(l, "pads", 2 * rank, 0);
  if (failed(strides) || failed(dilations) || failed(pads))
    return failure();
  // What follows multiplies these with extents.
  for (ArrayRef<int64_t> values : {*strides, *dilations, *pads})
    for (int64_t value : values)
      if (!llvm::isInt<32>(value))
        return l.unsupported(
            "strides, dilations and pads are at most 2147483647, "
            "not " +
            Twine(value));
  std::string mode = l.stringAttr("auto_pad", "NOTSET");
  bool isSame = mode == "SAME_UPPER" || mode == "SAME_LOWER";
  if (!isSame && mode != "NOTSET" && mode != "VALID")
    return l.refuse("unknown 'auto_pad' value '" + mode + "'");
  bool ceil = l.intAttr("ceil_mode");
  Window window;
  for (int64_t k : llvm::seq(rank)) {
    WindowAxis axis{in[k], (*kernel)[k], (*strides)[k], (*dilations)[k]};
    if (axis.stride < 1 || axis.dilation < 1)
      return l.refuse("strides and dilations must be positive");
    if (isSame) {
      padToSame(l, axis, mode == "SAME_UPPER");
      window.push_back(axis);
      continue;
    }
    bool isValid = mode == "VALID";
    int64_t before = isValid ? 0 : (*pads)[k];
    int64_t after = isValid ? 0 : (*pads)[k + rank];
    if (before < 0 || after < 0)
      return l.refuse("pads must not be negative");
    axis.before = l.fold(before);
    axis.after = l.fold(after);
    if (failed(settleOutput(l, axis, ceil)))
      return failure();
    window.push_back(axis);
  }
  return window;
}

Value loopc::padSpatial(NodeLowering &l, Value value, const Window &window,
                        Value filler, int64_t first,
                        std::optional<unsigned> only) {
  Dims dims = l.dims(value), target = dims;
  Dims offsets(dims.size(), l.fold(0));
  bool pads = false;
  for (auto [k, axis] : llvm::enumerate(window)) {
    OpFoldResult held = l.add(axis.before, axis.in);
    OpFoldResult reach =
        l.add(l.mul(l.sub(axis.out, l.fold(1)), l.fold(axis.stride)),
              effectiveKernel(l, axis));
    if (only && only != k)
      continue;
    // With no padding windows reach the end at most, but for rounding up.
    OpFoldResult extent = maxSigned(l, held, reach);
    bool isPlain = axis.isUnpadded() && !l.intAttr("ceil_mode");
    if (isPlain || sameExtent(extent, axis.in))
      continue;
    pads = true;
    target[first + k] = extent;
    offsets[first + k] = axis.before;
  }
  if (!pads)
    return value;
  Value padded = l.filled(target, filler);
  if (isKnownEmpty(dims))
    return padded;
  return l.insert(value, padded, offsets, dims);
}

Dims loopc::outExtents(const Window &window) {
  return llvm::to_vector(
      llvm::map_range(window, [](const WindowAxis &axis) { return axis.out; }));
}

Value loopc::splitAxis(NodeLowering &l, Value value, int64_t axis,
                       int64_t parts) {
  if (parts == 1)
    return value;
  Dims dims = l.dims(value);
  dims[axis] = quotient(l, dims[axis], l.fold(parts));
  dims.insert(dims.begin() + axis, l.fold(parts));
  SmallVector<ReassociationIndices> groups;
  for (int64_t k = 0, e = dims.size(); k < e; ++k)
    if (k == axis + 1)
      groups.back().push_back(k);
    else
      groups.push_back({k});
  Type element = getElementTypeOrSelf(value.getType());
  auto type = cast<RankedTensorType>(l.empty(dims, element).getType());
  return tensor::ExpandShapeOp::create(l.b, type, value, groups, dims);
}

Value loopc::mergeAxis(NodeLowering &l, Value value, int64_t axis,
                       int64_t parts, OpFoldResult extent) {
  if (parts == 1)
    return value;
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<ReassociationIndices> groups;
  for (int64_t k = 0; k < type.getRank(); ++k)
    if (k == axis + 1)
      groups.back().push_back(k);
    else
      groups.push_back({k});
  Value merged = tensor::CollapseShapeOp::create(l.b, value, groups);
  auto shape =
      llvm::to_vector(cast<RankedTensorType>(merged.getType()).getShape());
  shape[axis] = getConstantIntValue(extent).value_or(ShapedType::kDynamic);
  return l.b.createOrFold<tensor::CastOp>(
      cast<RankedTensorType>(merged.getType()).clone(shape), merged);
}

Value loopc::biasOrZero(NodeLowering &l, Value bias,
                        ArrayRef<OpFoldResult> dims, Type type) {
  if (!bias)
    return l.filled(dims, l.constant(type, 0));
  Dims shape(dims.size() - 1, l.fold(1));
  shape[0] = dims[1];
  bias = castElements(l, bias, type);
  return l.broadcastTo(l.reshape(bias, shape), dims);
}
