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

namespace {
/// Interpolate of any version, as Resize has it.
struct Interpolation {
  explicit Interpolation(LayerImport &l) : l(l) {}

  LayerImport &l;
  Value x, scales, sizes; ///< scales or sizes, one for each of the axes
  Ints axes;
  std::string mode, coordinates, nearest;
  bool antialiases = false, excludesOutside = false;
  double cubeCoefficient = -0.75;

  void readFirstVersion();
  void readNewVersion();
  void readMode();
  void pad();
  Value wholeScales(Value scales);
  void run();

private:
  Value resize(StringRef nearestMode, ArrayRef<unsigned> chosen);
  std::optional<bool> isShrunk(unsigned k);
  Value shrinks(unsigned k);
  void runSimple();
};
} // namespace

/// Version 1: no modes of its own for coordinates and rounding.
void Interpolation::readFirstVersion() {
  mode = l.str("mode", "").lower();
  l.expect("mode", mode, {"nearest", "linear", "cubic"});
  coordinates =
      l.boolean("align_corners", true) ? "align_corners" : "asymmetric";
  nearest = "simple";
  axes = l.axesOf(l.integers("axes"), l.rank(x));
  sizes = l.toI64(l.in(1));
}

void Interpolation::readNewVersion() {
  bool isNew = l.layer.opset() >= 11;
  mode = l.str("mode", "nearest").lower();
  SmallVector<StringRef> modes{"nearest", "linear", "linear_onnx", "cubic"};
  if (isNew)
    llvm::append_values(modes, "bilinear_pillow", "bicubic_pillow");
  l.expect("mode", mode, modes);
  std::string how = l.str("shape_calculation_mode", "sizes").lower();
  l.expect("shape_calculation_mode", how, {"sizes", "scales"});
  coordinates = l.str("coordinate_transformation_mode", "half_pixel").lower();
  l.expect("coordinate_transformation_mode", coordinates,
           {"half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners",
            "tf_half_pixel_for_nn"});
  nearest = l.str("nearest_mode", "round_prefer_floor").lower();
  l.expect(
      "nearest_mode", nearest,
      {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil", "simple"});
  cubeCoefficient = l.number("cube_coeff", -0.75);
  unsigned axesAt = isNew ? 2 : 3;
  int64_t rank = l.rank(x);
  if (l.has(axesAt))
    axes =
        l.axesOf(l.needConstant(l.in(axesAt), "the axes of Interpolate"), rank);
  else
    for (int64_t k = 0; k < rank; ++k)
      axes.push_back(k);
  if (how == "scales")
    scales = l.cast(l.in(isNew ? 1 : 2), l.builder().getF32Type());
  else
    sizes = l.toI64(l.in(1));
}

/// What a mode stands for besides its kernel.
void Interpolation::readMode() {
  // Of the other modes OpenVINO does not look at it.
  antialiases = l.boolean("antialias", false) && mode == "linear";
  excludesOutside = antialiases;
  if (mode == "linear_onnx")
    mode = "linear";
  if (mode == "bilinear_pillow" || mode == "bicubic_pillow") {
    // Pillow's kernels widen where the image shrinks, and end at its edges.
    mode = mode == "bilinear_pillow" ? "linear" : "cubic";
    coordinates = "half_pixel";
    antialiases = excludesOutside = true;
  }
}

void Interpolation::pad() {
  int64_t rank = l.rank(x);
  Ints begin = l.integers("pads_begin", Ints{}),
       end = l.integers("pads_end", Ints{});
  begin.resize(rank, 0);
  end.resize(rank, 0);
  Ints pads(begin);
  llvm::append_range(pads, end);
  if (llvm::any_of(pads, [](int64_t p) { return p != 0; }))
    x = l.node("Pad", {x, l.ints(pads)});
}

/// `scales`, a little larger where the new extent would be just below a whole
/// number: a quotient of two extents is rounded. Null where `sizes` are set
/// instead.
Value Interpolation::wholeScales(Value scales) {
  SmallVector<Value> extents;
  for (int64_t axis : axes)
    extents.push_back(l.extentOf(x, axis));
  Type f64 = l.builder().getF64Type();
  Value from = l.cast(l.concat(extents), f64);
  auto newExtents = [&](Value scales) {
    return l.node("Floor", {l.node("Mul", {from, l.cast(scales, f64)})});
  };
  Value larger = l.node("Add", {scales, l.scalarLike(scales, 1e-6)});
  Value isLonger = l.node("Less", {newExtents(scales), newExtents(larger)});
  Value whole = l.node("Where", {isLonger, larger, scales});
  // Corners are those of the new extents, which are whole; ONNX's have the part
  // behind the point that a scale gives them.
  if (coordinates == "align_corners" && !antialiases) {
    sizes = l.toI64(newExtents(whole));
    return {};
  }
  return whole;
}

/// `x` with the axes that have these numbers in `axes` resized.
Value Interpolation::resize(StringRef nearestMode, ArrayRef<unsigned> chosen) {
  Ints wanted, places;
  for (unsigned k : chosen) {
    wanted.push_back(axes[k]);
    places.push_back(k);
  }
  auto part = [&](Value all) {
    return !all || chosen.size() == axes.size()
               ? all
               : l.node("Gather", {all, l.ints(places)}, {l.attr("axis", 0)});
  };
  SmallVector<NamedAttribute> attrs{
      l.attr("axes", ArrayRef<int64_t>(wanted)),
      l.attr("mode", StringRef(mode)),
      l.attr("coordinate_transformation_mode", StringRef(coordinates)),
      l.attr("antialias", int(antialiases)),
      l.attr("exclude_outside", int(excludesOutside))};
  if (mode == "nearest")
    attrs.push_back(l.attr("nearest_mode", nearestMode));
  if (mode == "cubic")
    attrs.push_back(l.attr("cubic_coeff_a", cubeCoefficient));
  return l.node("Resize", {x, Value(), part(scales), part(sizes)}, attrs);
}

/// Whether an axis becomes shorter; nothing where only a run tells.
std::optional<bool> Interpolation::isShrunk(unsigned k) {
  std::optional<Ints> known = sizes ? l.constantOf(sizes) : std::nullopt;
  int64_t extent = l.extent(x, axes[k]);
  if (!known || k >= known->size() || ShapedType::isDynamic(extent))
    return std::nullopt;
  return (*known)[k] < extent;
}

/// The same as a tensor of one element.
Value Interpolation::shrinks(unsigned k) {
  auto at = [&](Value all) {
    return l.node("Gather", {all, l.ints({k})}, {l.attr("axis", 0)});
  };
  if (sizes)
    return l.node("Less", {at(sizes), l.extentOf(x, axes[k])});
  return l.node("Less", {at(scales), l.scalarLike(scales, 1)});
}

/// Rounding mode `simple`: up along axes that become shorter, else down.
void Interpolation::runSimple() {
  SmallVector<unsigned> up, down, open;
  for (unsigned k = 0; k < axes.size(); ++k) {
    std::optional<bool> shrunk = isShrunk(k);
    (!shrunk ? open : *shrunk ? up : down).push_back(k);
  }
  for (unsigned k : open) {
    Value either = l.node(
        "Where", {shrinks(k), resize("ceil", {k}), resize("floor", {k})});
    x = either;
  }
  if (!up.empty())
    x = resize("ceil", up);
  if (!down.empty())
    x = resize("floor", down);
}

void Interpolation::run() {
  if (mode == "nearest" && nearest == "simple") {
    runSimple();
  } else {
    auto all = llvm::to_vector(llvm::seq<unsigned>(0, axes.size()));
    x = resize(nearest, all);
  }
  l.set(x);
}

static void importInterpolate(LayerImport &l) {
  Interpolation op(l);
  op.x = l.in(0);
  op.pad();
  if (l.layer.opset() == 1)
    op.readFirstVersion();
  else
    op.readNewVersion();
  op.readMode();
  if (op.scales)
    op.scales = op.wholeScales(op.scales);
  if (!l.isBad)
    op.run();
}

/// Adds two elements of the edge on each side of `x`, and moves the points of
/// `grid` as much: what surrounds a point beyond the edge is then the edge's
/// element for each by itself, where ONNX moves the point to the edge.
static void extendEdges(LayerImport &l, Value &x, Value &grid, bool aligns) {
  Ints pads{0, 0, 2, 2, 0, 0, 2, 2};
  Value extents = l.concat({l.extentOf(x, 3), l.extentOf(x, 2)});
  if (aligns)
    extents = l.node("Sub", {extents, l.ints({1})});
  Value longer = l.node("Add", {extents, l.ints({4})});
  x = l.node("Pad", {x, l.ints(pads)}, {l.attr("mode", StringRef("edge"))});
  auto real = [&](Value value) {
    return l.cast(value, LayerImport::element(grid));
  };
  grid = l.node("Mul", {grid, l.node("Div", {real(extents), real(longer)})});
}

static void importGridSample(LayerImport &l) {
  StringRef mode = l.str("mode", "bilinear");
  l.expect("mode", mode, {"bilinear", "nearest", "bicubic"});
  StringRef padding = l.str("padding_mode", "zeros");
  Value x = l.in(0), grid = l.cast(l.in(1), l.element(x));
  bool aligns = l.boolean("align_corners", false);
  StringRef name = mode == "bilinear"  ? "linear"
                   : mode == "bicubic" ? "cubic"
                                       : mode;
  if (mode == "bicubic" && padding == "border" && l.rank(x) == 4)
    extendEdges(l, x, grid, aligns);
  l.set(l.node("GridSample", {x, grid},
               {l.attr("mode", name), l.attr("padding_mode", padding),
                l.attr("align_corners", int(aligns))}));
}

/// The largest of the interpolated points, and of 0; ONNX's maximum is that of
/// the elements around the points, each with its part.
static void importROIAlign(LayerImport &l) {
  StringRef mode = l.str("mode", "avg");
  l.expect("mode", mode, {"avg", "max"});
  if (mode == "max")
    mode = "interpolated_max";
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

/// The axes of a transform from or to real numbers, and the size along each;
/// -1: as it is.
static std::pair<Ints, Ints> readSignalAxes(LayerImport &l, int64_t rank) {
  Ints axes = l.axesOf(l.needConstant(l.in(1), "the axes"), rank - 1);
  Ints sizes(axes.size(), -1);
  if (l.has(2))
    sizes = l.needConstant(l.in(2), "the signal sizes");
  if (!l.isBad && (sizes.size() != axes.size() || axes.empty()))
    l.fail() << "the signal sizes do not fit the axes";
  return {axes, sizes};
}

/// Real numbers to the first half of their spectrum: along the last of the
/// axes, then along the others.
static void importRDFT(LayerImport &l) {
  Value x = l.unsqueeze(l.in(0), {-1});
  auto [axes, sizes] = readSignalAxes(l, l.rank(x));
  if (l.isBad)
    return;
  for (size_t k = axes.size(); k-- > 0;)
    x = l.node("DFT",
               {x, sizes[k] == -1 ? Value() : l.scalarInt(sizes[k]),
                l.scalarInt(axes[k])},
               {l.attr("onesided", int(k + 1 == axes.size()))});
  l.set(x);
}

static void importIRDFT(LayerImport &l) {
  Value x = l.in(0);
  auto [axes, sizes] = readSignalAxes(l, l.rank(x));
  if (l.isBad)
    return;
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
      {"Interpolate", opsets({1, 4, 11}), importInterpolate},
      {"GridSample", opsets({9}), importGridSample},
      {"ROIAlign", opsets({3, 9}), importROIAlign},
      {"DFT", opsets({7}), importDFT<false>},
      {"IDFT", opsets({7}), importDFT<true>},
      {"RDFT", opsets({9}), importRDFT},
      {"IRDFT", opsets({9}), importIRDFT},
      {"Col2Im", opsets({15}), importCol2Im}};
  return rows;
}
