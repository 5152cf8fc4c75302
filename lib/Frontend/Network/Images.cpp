//===- Images.cpp - Layers of images and boxes ----------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayerEmitter.h"

using namespace mlir;
using namespace loopc;
using namespace loopc::network;

void LayerEmitter::emit(const ILRNLayer &) {
  int64_t window = layer->getInt("window_size");
  if (window < 1 || window % 2 == 0)
    return void(fail(Diag::BadLayer)
                << "window_size is " << window << " but must be odd");
  RankedTensorType type = inputType(0);
  if (!type)
    return;
  if (type.getRank() < 3)
    return void(fail(Diag::LayerTypes)
                << "'" << layer->getInput(0)->getName() << "' has rank "
                << type.getRank() << " but must be [N, C, spatial...]");
  set(node("LRN", input(0),
           {attr("size", window), attr("alpha", layer->getFloat("alpha")),
            attr("beta", layer->getFloat("beta")),
            attr("bias", layer->getFloat("k"))}));
}

/// What ONNX's GridSample calls `mode`; null where it has no such.
static const char *paddingOf(SampleMode mode) {
  switch (mode) {
  case SampleMode::kFILL:
    return "zeros";
  case SampleMode::kCLAMP:
    return "border";
  case SampleMode::kREFLECT:
    return "reflection";
  default:
    return nullptr;
  }
}

void LayerEmitter::emit(const IGridSampleLayer &) {
  const char *padding =
      paddingOf(static_cast<SampleMode>(layer->getInt("sample_mode")));
  if (!padding)
    return void(fail(Diag::BadLayer)
                << "sample_mode must be FILL, CLAMP or REFLECT");
  static constexpr const char *kModes[] = {"nearest", "linear", "cubic"};
  if (!sameRank(0, 1))
    return;
  set(node("GridSample", {input(0), input(1)},
           {attr("mode", kModes[layer->getInt("interpolation_mode")]),
            attr("padding_mode", padding),
            attr("align_corners", layer->getInt("align_corners"))}));
}

Value LayerEmitter::part(Value value, int64_t axis, int64_t index) {
  return node("Slice", {value, constantInts(index), constantInts(index + 1),
                        constantInts(axis)});
}

Value LayerEmitter::boxesOfClasses(Value boxes, Value scores,
                                   ArrayRef<Value> limits) {
  // A box for each class: items of a batch that have one class each.
  Value shape = node("Shape", scores), batch = part(shape, 0, 0),
        count = part(shape, 0, 1), classes = part(shape, 0, 2);
  Value items = node("Mul", {batch, classes});
  auto joined = [&](ArrayRef<Value> extents) {
    return node("Concat", extents, attr("axis", int64_t(0)));
  };
  auto reshapedTo = [&](Value value, ArrayRef<Value> extents) {
    return node("Reshape", {value, joined(extents)},
                attr("allowzero", int64_t(1)));
  };
  Value each = node("Expand", {boxes, joined({shape, constantInts(4)})});
  each = node("Transpose", each, attr("perm", ArrayRef<int64_t>{0, 2, 1, 3}));
  each = reshapedTo(each, {items, count, constantInts(4)});
  Value own =
      node("Transpose", scores, attr("perm", ArrayRef<int64_t>{0, 2, 1}));
  own = reshapedTo(own, {items, constantInts(1), count});
  SmallVector<Value> operands = {each, own};
  llvm::append_range(operands, limits);
  Value found =
      node("NonMaxSuppression", operands,
           attr("center_point_box", layer->getInt("bounding_box_format")));
  if (!found)
    return {};
  Value item = part(found, 1, 0), number = node("Div", {item, classes});
  Value kind = node("Sub", {item, node("Mul", {number, classes})});
  return node("Concat", {number, kind, part(found, 1, 2)},
              attr("axis", int64_t(1)));
}

void LayerEmitter::emit(const INMSLayer &) {
  RankedTensorType boxes = inputType(0), scores = inputType(1);
  if (!boxes || !scores || !sameType(0, 1))
    return;
  if (boxes.getRank() != 3 && boxes.getRank() != 4)
    return void(fail(Diag::LayerTypes)
                << "'" << layer->getInput(0)->getName() << "' has rank "
                << boxes.getRank()
                << " but must be [batch, boxes, 4] or [batch, boxes, classes, "
                   "4]");
  if (scores.getRank() != 3)
    return void(fail(Diag::LayerTypes)
                << "'" << layer->getInput(1)->getName() << "' has rank "
                << scores.getRank() << " but must be [batch, boxes, classes]");
  if (failed(expectScalar(input(2), *layer->getInput(2), false,
                          Diag::LayerTypes, "the number of boxes")))
    return;
  // ONNX has FLOAT boxes, and scores as [batch, classes, boxes].
  Type wide = builder.getF32Type();
  Value box = castTo(input(0), wide), score = castTo(input(1), wide);
  SmallVector<Value> limits = {castTo(input(2), builder.getI64Type())};
  for (int32_t index : {3, 4})
    limits.push_back(has(index) ? castTo(input(index), wide) : none());
  Value found;
  if (boxes.getRank() == 4) {
    found = boxesOfClasses(box, score, limits);
  } else {
    Value turned =
        node("Transpose", score, attr("perm", ArrayRef<int64_t>{0, 2, 1}));
    found = node(
        "NonMaxSuppression", {box, turned, limits[0], limits[1], limits[2]},
        attr("center_point_box", layer->getInt("bounding_box_format")));
  }
  if (!found)
    return;
  Type index = builder.getI32Type();
  set(castTo(found, index));
  Value count = part(node("Shape", found), 0, 0);
  set(castTo(node("Squeeze", {count, constantInts(0)}), index));
}
