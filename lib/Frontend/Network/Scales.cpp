//===- Scales.cpp - Layers that scale, pad and resize ---------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayerEmitter.h"

#include <limits>

using namespace mlir;
using namespace loopc;
using namespace loopc::network;

/// How the numbers of a scale lie beside an input of shape `extents`; empty
/// where an extent that they need is not known.
static std::vector<int64_t> shapeOfScale(ArrayRef<int64_t> extents,
                                         ScaleMode mode, int64_t axis) {
  std::vector<int64_t> shape(extents.size(), 1);
  if (mode == ScaleMode::kUNIFORM)
    return shape;
  auto last = mode == ScaleMode::kCHANNEL ? axis + 1
                                          : static_cast<int64_t>(shape.size());
  for (int64_t dim = axis; dim < last; ++dim) {
    if (ShapedType::isDynamic(extents[dim]))
      return {};
    shape[dim] = extents[dim];
  }
  return shape;
}

void LayerEmitter::emit(const IScaleLayer &) {
  RankedTensorType type = inputType(0);
  if (!type)
    return;
  auto mode = static_cast<ScaleMode>(layer->getInt("mode"));
  int64_t axis = 0;
  if (mode != ScaleMode::kUNIFORM) {
    std::optional<int64_t> found =
        axisOf(layer->getInt("channel_axis"), type.getRank(), Diag::BadLayer,
               "channel_axis");
    if (!found)
      return;
    axis = *found;
  }
  std::vector<int64_t> shape = shapeOfScale(type.getShape(), mode, axis);
  Value x = input(0);
  static constexpr std::pair<const char *, const char *> kSteps[] = {
      {"scale", "Mul"}, {"shift", "Add"}, {"power", "Pow"}};
  for (auto [name, op] : kSteps) {
    const auto *given = layer->getAttribute(name);
    if (!given)
      continue;
    Constant numbers = std::get<Constant>(*given);
    int64_t count = numbers.shape.empty() ? 0 : numbers.shape.front();
    if (count == 0)
      continue;
    if (shape.empty() && type.getRank() != 0)
      return void(fail(Diag::LayerTypes)
                  << "has a number for each element along axis " << axis
                  << ", whose extents must be known");
    int64_t wanted = 1;
    for (int64_t extent : shape)
      wanted *= extent;
    if (count != wanted)
      return void(fail(Diag::BadLayer) << "'" << name << "' has " << count
                                       << " numbers but must have " << wanted);
    numbers.shape = shape;
    Value constants = constant(toElements(numbers, layer->getName()));
    x = node(op, {x, castTo(constants, type.getElementType())});
  }
  set(x == input(0) ? node("Identity", x) : x);
}

void LayerEmitter::emit(const IPaddingLayer &) {
  RankedTensorType type = inputType(0);
  if (!type)
    return;
  const std::vector<int64_t> &before = layer->getInts("pre_padding");
  const std::vector<int64_t> &behind = layer->getInts("post_padding");
  auto rank = static_cast<size_t>(type.getRank());
  if (before.size() != behind.size() || before.size() > rank)
    return void(fail(Diag::BadLayer)
                << before.size() << " paddings in front and " << behind.size()
                << " behind do not fit a rank of " << rank);
  SmallVector<int64_t> pads(rank - before.size(), 0);
  llvm::append_range(pads, before);
  pads.append(rank - behind.size(), 0);
  llvm::append_range(pads, behind);
  set(node("Pad", {input(0), constantInts(pads)}));
}

void LayerEmitter::emit(const IResizeLayer &) {
  if (static_cast<ResizeSelector>(layer->getInt("selector_for_single_pixel")) !=
      ResizeSelector::kFORMULA)
    return void(fail(Diag::BadLayer)
                << "selector_for_single_pixel must be FORMULA");
  Value sizes, scales = none();
  if (has(1))
    sizes = castTo(input(1), builder.getI64Type());
  else if (layer->hasAttribute("output_dimensions"))
    sizes = constantInts(layer->getInts("output_dimensions"));
  else if (const auto *given = layer->getAttribute("scales"))
    scales = castTo(
        constant(toElements(std::get<Constant>(*given), layer->getName())),
        builder.getF32Type());
  else
    return void(fail(Diag::BadLayer)
                << "has neither output_dimensions, an input 1, nor scales");
  if (!sizes)
    sizes = none();
  static constexpr const char *kModes[] = {"nearest", "linear", "cubic"};
  static constexpr const char *kPlaces[] = {"align_corners", "asymmetric",
                                            "half_pixel"};
  static constexpr const char *kRounds[] = {
      "round_prefer_ceil", "round_prefer_floor", "floor", "ceil"};
  set(node("Resize", {input(0), none(), scales, sizes},
           {attr("mode", kModes[layer->getInt("resize_mode")]),
            attr("coordinate_transformation_mode",
                 kPlaces[layer->getInt("coordinate_transformation")]),
            attr("nearest_mode", kRounds[layer->getInt("nearest_rounding")]),
            attr("exclude_outside", layer->getInt("exclude_outside")),
            attr("cubic_coeff_a", layer->getFloat("cubic_coeff"))}));
}

void LayerEmitter::emit(const IQuantizeLayer &) {
  auto to = static_cast<DataType>(layer->getInt("to_type"));
  Type element = elementType(to);
  if (to != DataType::kINT8 && to != DataType::kFP8 && to != DataType::kINT4)
    return void(fail(Diag::BadLayer) << "to_type must be INT8, FP8 or INT4");
  set(node("QuantizeLinear",
           {input(0), input(1), has(2) ? castTo(input(2), element) : none()},
           {attr("axis", layer->getInt("axis")),
            attr("output_dtype", onnxCode(to))}));
}

void LayerEmitter::emit(const IDequantizeLayer &) {
  Value x =
      node("DequantizeLinear", {input(0), input(1), has(2) ? input(2) : none()},
           attr("axis", layer->getInt("axis")));
  if (x)
    set(castTo(x,
               elementType(static_cast<DataType>(layer->getInt("to_type")))));
}

void LayerEmitter::emit(const IRaggedSoftMaxLayer &) {
  RankedTensorType type = inputType(0);
  if (!type || !sameRank(0, 1))
    return;
  if (type.getRank() == 0)
    return void(fail(Diag::LayerTypes) << "needs an axis");
  Type index = builder.getI64Type(), element = type.getElementType();
  Value extent = part(node("Shape", input(0)), 0, type.getRank() - 1);
  Value count = node("Squeeze", {extent, constantInts(0)});
  Value places = node("Range", {constantInt(0), count, constantInt(1)});
  Value inside = node("Less", {places, castTo(input(1), index)});
  Value masked =
      node("Where",
           {inside, input(0),
            constantNumber(element, -std::numeric_limits<double>::infinity())});
  Value soft = node("Softmax", masked, attr("axis", int64_t(-1)));
  // Of no element it is not a number.
  set(node("Where", {inside, soft, constantNumber(element, 0)}));
}
