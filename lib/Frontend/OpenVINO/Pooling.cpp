//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Pooling.

#include "ImporterImpl.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace loopc;
using namespace loopc::openvino;

namespace {
/// The windows of MaxPool and AvgPool, as ONNX's operators with rounding down
/// have them: a window that rounding up adds is one in more padding.
struct PoolWindows {
  explicit PoolWindows(LayerImport &l, Value x);

  SmallVector<NamedAttribute> attributes() const;
  /// `pooled` without windows that begin in the padding behind, where the layer
  /// rounds as torch does.
  Value begunInside(Value pooled) const;
  /// True if a window may have nothing but padding.
  bool mayBeEmpty() const;

  bool isPadded; ///< whether the layer itself pads

private:
  void roundUp();

  LayerImport &l;
  Value x;
  std::string mode, rounding;
  Ints kernel, strides, dilations, begin, end;
};
} // namespace

PoolWindows::PoolWindows(LayerImport &l, Value x)
    : l(l), x(x), mode(l.str("auto_pad", "explicit").lower()),
      rounding(l.str("rounding_type", "floor").lower()),
      kernel(l.integers("kernel")) {
  l.expect("auto_pad", mode,
           {"explicit", "notset", "same_upper", "same_lower", "valid"});
  l.expect("rounding_type", rounding, {"floor", "ceil", "ceil_torch"});
  Ints ones(kernel.size(), 1), zeros(kernel.size(), 0);
  strides = l.integers("strides", ones);
  dilations = l.integers("dilations", ones);
  begin = l.integers("pads_begin", zeros);
  end = l.integers("pads_end", zeros);
  bool isSame = mode == "same_upper" || mode == "same_lower";
  if (mode == "valid")
    begin = end = zeros;
  auto isSome = [](int64_t pad) { return pad != 0; };
  isPadded = isSame || llvm::any_of(begin, isSome) || llvm::any_of(end, isSome);
  if (isSame)
    rounding = "floor";
  // What is wrong with these the pooling says.
  for (ArrayRef<int64_t> each :
       {ArrayRef(strides), ArrayRef(dilations), ArrayRef(begin), ArrayRef(end)})
    if (each.size() != kernel.size() || !llvm::all_of(each, llvm::isInt<31>))
      return;
  if (!l.isBad && rounding != "floor" &&
      l.rank(x) == static_cast<int64_t>(kernel.size()) + 2)
    roundUp();
}

void PoolWindows::roundUp() {
  for (size_t k = 0; k < kernel.size(); ++k) {
    int64_t stride = std::max<int64_t>(strides[k], 1), more = stride - 1;
    int64_t extent = l.extent(x, k + 2);
    // No more than the last window needs, where that is known.
    if (ShapedType::isStatic(extent)) {
      int64_t span =
          extent + begin[k] + end[k] - (kernel[k] - 1) * dilations[k] - 1;
      more =
          std::min(more, llvm::divideCeilSigned(span, stride) * stride - span);
    }
    end[k] += more;
  }
}

SmallVector<NamedAttribute> PoolWindows::attributes() const {
  Ints pads(begin);
  llvm::append_range(pads, end);
  bool isSame = mode == "same_upper" || mode == "same_lower";
  return {l.attr("kernel_shape", ArrayRef<int64_t>(kernel)),
          l.attr("strides", ArrayRef<int64_t>(strides)),
          l.attr("dilations", ArrayRef<int64_t>(dilations)),
          isSame ? l.attr("auto_pad", StringRef(mode).upper())
                 : l.attr("pads", ArrayRef<int64_t>(pads))};
}

bool PoolWindows::mayBeEmpty() const {
  for (size_t k = 0; k < std::min(kernel.size(), end.size()); ++k)
    if (std::max(begin[k], end[k]) > (kernel[k] - 1) * dilations[k])
      return true;
  return false;
}

Value PoolWindows::begunInside(Value pooled) const {
  if (rounding != "ceil_torch" || l.isBad)
    return pooled;
  for (size_t k = 0; k < kernel.size(); ++k) {
    int64_t axis = k + 2, stride = strides[k], extent = l.extent(x, axis);
    if (stride < 2)
      continue;
    Ints count{llvm::divideCeilSigned(extent + begin[k], stride)};
    if (ShapedType::isStatic(extent)) {
      pooled = l.slice(pooled, 0, count[0], axis);
      continue;
    }
    Value reach =
        l.node("Add", {l.extentOf(x, axis), l.ints({begin[k] + stride - 1})});
    Value last = l.node("Div", {reach, l.ints({stride})});
    pooled = l.node("Slice", {pooled, l.ints({0}), last, l.ints({axis})});
  }
  return pooled;
}

/// Indices count in the input from `axis` on.
static void importMaxPool(LayerImport &l) {
  Value x = l.in(0);
  PoolWindows windows(l, x);
  bool hasIndices = l.layer.outputs.size() > 1;
  SmallVector<Value> found =
      l.nodes("MaxPool", {x}, windows.attributes(), hasIndices ? 2 : 1);
  auto type = dyn_cast<FloatType>(LayerImport::element(x));
  if (windows.mayBeEmpty() && type) {
    auto least = APFloat::getLargest(type.getFloatSemantics(), true);
    found[0] =
        l.node("Max", {found[0], l.scalarLike(x, least.convertToDouble())});
  }
  l.set(windows.begunInside(found[0]));
  if (!hasIndices)
    return;
  Type number = l.elementAttr("index_element_type", "i64");
  int64_t axis = l.axisOf(l.integer("axis", 0), l.rank(x));
  Value indices = found[1];
  if (windows.mayBeEmpty())
    indices = l.node("Max", {indices, l.scalarInt(0)});
  if (axis) {
    Value inner =
        l.node("ReduceProd", {l.node("Shape", {x}, {l.attr("start", axis)})},
               {l.attr("keepdims", 0)});
    indices = l.node("Mod", {indices, inner});
  }
  l.set(l.cast(windows.begunInside(indices), number));
}

/// Without `exclude-pad` a mean is the sum by the kernel's size, also where the
/// window reaches behind the padding, but where there is no padding at all.
static void importAvgPool(LayerImport &l) {
  Value x = l.in(0);
  PoolWindows windows(l, x);
  const char *name = l.hasAttr("exclude-pad") ? "exclude-pad" : "exclude_pad";
  bool excludes = l.boolean(name, false);
  SmallVector<NamedAttribute> attrs = windows.attributes();
  attrs.push_back(
      l.attr("count_include_pad", int(!excludes && windows.isPadded)));
  l.set(windows.begunInside(l.node("AveragePool", {x}, attrs)));
}

/// Windows that are cut out one by one; more are read by a table.
static constexpr int64_t kFewWindows = 32;
/// Windows along an axis: a table has so many rows.
static constexpr int64_t kMaxWindows = 1 << 20;

/// `x` with `count` windows of the `extent` elements along `axis`, of which
/// `isMax` or the mean is taken: from floor(i * n / out) to
/// ceil((i + 1) * n / out).
static Value adaptAxis(LayerImport &l, Value x, int64_t axis, int64_t extent,
                       int64_t count, bool isMax) {
  const char *op = isMax ? "ReduceMax" : "ReduceMean";
  auto reduce = [&](const char *op, Value value, int64_t along, int keepdims) {
    return l.node(op, {value, l.ints({along})}, {l.attr("keepdims", keepdims)});
  };
  if (count == 1)
    return reduce(op, x, axis, 1);
  auto beginOf = [&](int64_t i) { return i * extent / count; };
  auto endOf = [&](int64_t i) {
    return llvm::divideCeilSigned((i + 1) * extent, count);
  };
  if (count <= kFewWindows) {
    SmallVector<Value> parts;
    for (int64_t i = 0; i < count; ++i)
      parts.push_back(
          reduce(op, l.slice(x, beginOf(i), endOf(i), axis), axis, 1));
    return l.concat(parts, axis);
  }
  // Shorter windows than the longest end with their last element again.
  int64_t longest = 1;
  for (int64_t i = 0; i < count; ++i)
    longest = std::max<int64_t>(longest, endOf(i) - beginOf(i));
  Ints places, lengths;
  for (int64_t i = 0; i < count; ++i) {
    int64_t begin = beginOf(i), length = endOf(i) - begin;
    lengths.push_back(length);
    for (int64_t k = 0; k < longest; ++k)
      places.push_back(begin + std::min(k, length - 1));
  }
  Value table = l.reshape(l.ints(places), {count, longest});
  Value windows = l.node("Gather", {x, table}, {l.attr("axis", axis)});
  if (isMax)
    return reduce("ReduceMax", windows, axis + 1, 0);
  // [count, 1...], of the axes behind `axis` and that of a window.
  int64_t behind = l.rank(x) - axis - 1;
  Ints shape(behind + 1, 1);
  shape[0] = count;
  Value sizes = l.reshape(l.ints(lengths), shape);
  Value numbers = l.ints(llvm::to_vector(llvm::seq<int64_t>(0, longest)));
  shape[0] = longest;
  Value isThere =
      l.node("Less", {l.reshape(numbers, shape), l.unsqueeze(sizes, {1})});
  Value held = l.node("Where", {isThere, windows, l.scalarLike(x, 0)});
  Value sums = reduce("ReduceSum", held, axis + 1, 0);
  return l.node("Div", {sums, l.cast(sizes, LayerImport::element(x))});
}

template <bool IsMax> static void importAdaptive(LayerImport &l) {
  Value x = l.in(0);
  int64_t rank = l.rank(x);
  Ints sizes = l.needConstant(l.in(1), "the output shape");
  if (l.isBad)
    return;
  if (sizes.size() + 2 != static_cast<size_t>(rank) ||
      (IsMax && l.layer.outputs.size() > 1 &&
       !llvm::all_of(sizes, [](int64_t n) { return n == 1; })))
    return (void)(l.fail(Diag::UnsupportedNode)
                  << "this output shape is not there");
  if (IsMax && l.layer.outputs.size() > 1) {
    // The whole of it: the place in the flattened spatial axes.
    Value flat = x;
    for (int64_t k = rank - 2; k >= 2; --k)
      flat = l.mergeAxes(flat, k);
    Type type = l.elementAttr("index_element_type", "i64");
    Value at = l.node("ArgMax", {flat}, {l.attr("axis", 2)});
    Ints axes;
    for (int64_t k = 3; k < rank; ++k)
      axes.push_back(k);
    l.set(l.unsqueeze(l.node("GatherElements", {flat, at}, {l.attr("axis", 2)}),
                      axes));
    return l.set(l.cast(l.unsqueeze(at, axes), type));
  }
  for (int64_t k = 0; k + 2 < rank; ++k) {
    int64_t axis = k + 2, extent = l.extent(x, axis), count = sizes[k];
    if (ShapedType::isDynamic(extent) && count != 1)
      return (void)(l.fail(Diag::UnsupportedNode)
                    << "the extent of axis " << axis << " is not known");
    if (count < 1 || count > kMaxWindows || (extent == 0 && count != 1))
      return (void)(l.fail(Diag::UnsupportedNode)
                    << "the output shape has the extent " << count
                    << " for one of " << extent << ", expected 1 to "
                    << (extent == 0 ? 1 : kMaxWindows));
    x = adaptAxis(l, x, axis, extent, count, IsMax);
  }
  l.set(x);
}

llvm::ArrayRef<LayerRow> openvino::getPoolingRows() {
  static const LayerRow rows[] = {
      {"MaxPool", opsets({1, 8, 14}), importMaxPool},
      {"AvgPool", opsets({1, 14, 16}), importAvgPool},
      {"AdaptiveAvgPool", opsets({8}), importAdaptive<false>},
      {"AdaptiveMaxPool", opsets({8}), importAdaptive<true>}};
  return rows;
}
