//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Resizing, sampling, transforms.

#include "ImporterImpl.h"

using namespace mlir;
using namespace loopc;
using namespace loopc::openvino;

static void importInterpolate(LayerImport &l) {
  Value x = l.in(0);
  bool isNew = l.layer.opset() >= 11;
  std::string mode = l.str("mode", "nearest").lower();
  l.expect("mode", mode, {"nearest", "linear", "linear_onnx", "cubic"});
  std::string how = l.str("shape_calculation_mode", "sizes").lower();
  l.expect("shape_calculation_mode", how, {"sizes", "scales"});
  std::string coordinates =
      l.str("coordinate_transformation_mode", "half_pixel").lower();
  l.expect("coordinate_transformation_mode", coordinates,
           {"half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners"});
  std::string nearest = l.str("nearest_mode", "round_prefer_floor").lower();
  l.expect("nearest_mode", nearest,
           {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"});
  int64_t rank = l.rank(x);
  Ints begin = l.integers("pads_begin", Ints{}),
       end = l.integers("pads_end", Ints{});
  begin.resize(rank, 0);
  end.resize(rank, 0);
  Ints pads(begin);
  llvm::append_range(pads, end);
  if (llvm::any_of(pads, [](int64_t p) { return p != 0; }))
    x = l.node("Pad", {x, l.ints(pads)});
  unsigned axesAt = isNew ? 2 : 3;
  Ints axes;
  if (l.has(axesAt))
    axes =
        l.axesOf(l.needConstant(l.in(axesAt), "the axes of Interpolate"), rank);
  else
    for (int64_t k = 0; k < rank; ++k)
      axes.push_back(k);
  Value scales, sizes;
  if (how == "scales")
    scales = l.cast(l.in(isNew ? 1 : 2), l.builder().getF32Type());
  else
    sizes = l.toI64(l.in(1));
  SmallVector<NamedAttribute> attrs{
      l.attr("axes", ArrayRef<int64_t>(axes)),
      l.attr("mode", mode == "linear_onnx" ? "linear" : StringRef(mode)),
      l.attr("coordinate_transformation_mode", StringRef(coordinates)),
      l.attr("antialias",
             int(l.boolean("antialias", false) && mode != "nearest"))};
  if (mode == "nearest")
    attrs.push_back(l.attr("nearest_mode", StringRef(nearest)));
  if (mode == "cubic")
    attrs.push_back(l.attr("cubic_coeff_a", l.number("cube_coeff", -0.75)));
  if (l.isBad)
    return;
  l.set(l.node("Resize", {x, Value(), scales, sizes}, attrs));
}

static void importGridSample(LayerImport &l) {
  StringRef mode = l.str("mode", "bilinear");
  l.expect("mode", mode, {"bilinear", "nearest", "bicubic"});
  StringRef padding = l.str("padding_mode", "zeros");
  Value x = l.in(0);
  StringRef name = mode == "bilinear"  ? "linear"
                   : mode == "bicubic" ? "cubic"
                                       : mode;
  l.set(l.node(
      "GridSample", {x, l.cast(l.in(1), l.element(x))},
      {l.attr("mode", name), l.attr("padding_mode", padding),
       l.attr("align_corners", int(l.boolean("align_corners", false)))}));
}

static void importROIAlign(LayerImport &l) {
  StringRef mode = l.str("mode", "avg");
  l.expect("mode", mode, {"avg", "max"});
  // Version 3 knows one way only.
  StringRef aligned =
      l.layer.opset() < 9 ? "asymmetric" : l.str("aligned_mode", "asymmetric");
  l.expect("aligned_mode", aligned,
           {"asymmetric", "half_pixel", "half_pixel_for_nn"});
  Value boxes = l.in(1);
  // (x + 0.5) * scale - 0.5, where ONNX has x * scale - 0.5.
  if (aligned == "half_pixel")
    boxes = l.node("Add", {boxes, l.scalarLike(boxes, 0.5)});
  l.set(l.node(
      "RoiAlign", {l.in(0), boxes, l.toI64(l.in(2))},
      {l.attr("mode", mode), l.attr("output_height", l.integer("pooled_h")),
       l.attr("output_width", l.integer("pooled_w")),
       l.attr("sampling_ratio", l.integer("sampling_ratio")),
       l.attr("spatial_scale", l.number("spatial_scale")),
       l.attr("coordinate_transformation_mode",
              aligned == "asymmetric" ? "output_half_pixel" : "half_pixel")}));
}

/// Pairs of real and imaginary part in the last axis; one axis after the other.
template <bool IsInverse> static void importDFT(LayerImport &l) {
  Value x = l.in(0);
  int64_t rank = l.rank(x);
  // The last axis does not count.
  Ints axes = l.axesOf(l.needConstant(l.in(1), "the axes"), rank - 1);
  if (l.isBad)
    return;
  Value sizes = l.has(2) ? l.toI64(l.in(2)) : Value();
  std::optional<Ints> known =
      sizes ? l.constantOf(sizes) : Ints(axes.size(), -1);
  if (!known || known->size() != axes.size())
    return (
        void)(l.fail(Diag::UnsupportedNode)
              << "the signal sizes must be known when the model is compiled");
  for (auto [axis, size] : llvm::zip(axes, *known))
    x = l.node("DFT",
               {x, size == -1 ? Value() : l.scalarInt(size), l.scalarInt(axis)},
               {l.attr("inverse", int(IsInverse)), l.attr("onesided", 0)});
  l.set(x);
}

/// Real numbers to the first half of their spectrum: along the last of the
/// axes, then along the others.
static void importRDFT(LayerImport &l) {
  Value x = l.unsqueeze(l.in(0), {-1});
  int64_t rank = l.rank(x);
  Ints axes = l.axesOf(l.needConstant(l.in(1), "the axes"), rank - 1);
  Ints sizes(axes.size(), -1);
  if (l.has(2))
    sizes = l.needConstant(l.in(2), "the signal sizes");
  if (l.isBad || sizes.size() != axes.size() || axes.empty())
    return (void)(l.fail() << "the signal sizes do not fit the axes");
  for (size_t k = axes.size(); k-- > 0;)
    x = l.node("DFT",
               {x, sizes[k] == -1 ? Value() : l.scalarInt(sizes[k]),
                l.scalarInt(axes[k])},
               {l.attr("onesided", int(k + 1 == axes.size()))});
  l.set(x);
}

static void importIRDFT(LayerImport &l) {
  Value x = l.in(0);
  int64_t rank = l.rank(x);
  Ints axes = l.axesOf(l.needConstant(l.in(1), "the axes"), rank - 1);
  Ints sizes(axes.size(), -1);
  if (l.has(2))
    sizes = l.needConstant(l.in(2), "the signal sizes");
  if (l.isBad || sizes.size() != axes.size() || axes.empty())
    return (void)(l.fail() << "the signal sizes do not fit the axes");
  for (auto [k, axis] : llvm::enumerate(axes)) {
    bool isLast = k + 1 == axes.size();
    Value length = sizes[k] == -1 ? Value() : l.scalarInt(sizes[k]);
    x = l.node("DFT", {x, length, l.scalarInt(axis)},
               {l.attr("inverse", 1), l.attr("onesided", int(isLast))});
  }
  l.set(l.squeeze(x, {-1}));
}

static void importCol2Im(LayerImport &l) {
  auto list = [&](const char *name, Ints otherwise) {
    return l.integers(name, otherwise);
  };
  Ints pads = list("pads_begin", {0, 0});
  llvm::append_range(pads, list("pads_end", {0, 0}));
  Value x = l.in(0);
  bool isOne = l.rank(x) == 2;
  Value y = l.node(
      "Col2Im",
      {isOne ? l.unsqueeze(x, {0}) : x, l.toI64(l.in(1)), l.toI64(l.in(2))},
      {l.attr("dilations", ArrayRef<int64_t>(list("dilations", {1, 1}))),
       l.attr("strides", ArrayRef<int64_t>(list("strides", {1, 1}))),
       l.attr("pads", ArrayRef<int64_t>(pads))});
  l.set(isOne ? l.squeeze(y, {0}) : y);
}

llvm::ArrayRef<LayerRow> openvino::getImageRows() {
  static const LayerRow rows[] = {
      {"Interpolate", opsets({4, 11}), importInterpolate},
      {"GridSample", opsets({9}), importGridSample},
      {"ROIAlign", opsets({3, 9}), importROIAlign},
      {"DFT", opsets({7}), importDFT<false>},
      {"IDFT", opsets({7}), importDFT<true>},
      {"RDFT", opsets({9}), importRDFT},
      {"IRDFT", opsets({9}), importIRDFT},
      {"Col2Im", opsets({15}), importCol2Im}};
  return rows;
}
