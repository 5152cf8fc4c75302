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

static SmallVector<NamedAttribute> poolAttributes(LayerImport &l) {
  SmallVector<NamedAttribute> attrs;
  Ints kernel = l.integers("kernel");
  Ints ones(kernel.size(), 1), zeros(kernel.size(), 0);
  Ints begin = l.integers("pads_begin", zeros),
       end = l.integers("pads_end", zeros);
  std::string mode = l.str("auto_pad", "explicit").lower();
  std::string rounding = l.str("rounding_type", "floor").lower();
  l.expect("auto_pad", mode,
           {"explicit", "notset", "same_upper", "same_lower", "valid"});
  l.expect("rounding_type", rounding, {"floor", "ceil", "ceil_torch"});
  attrs.push_back(l.attr("kernel_shape", ArrayRef<int64_t>(kernel)));
  attrs.push_back(
      l.attr("strides", ArrayRef<int64_t>(l.integers("strides", ones))));
  attrs.push_back(
      l.attr("dilations", ArrayRef<int64_t>(l.integers("dilations", ones))));
  if (mode == "same_upper" || mode == "same_lower" || mode == "valid") {
    attrs.push_back(l.attr("auto_pad", StringRef(mode).upper()));
  } else {
    llvm::append_range(begin, end);
    attrs.push_back(l.attr("pads", ArrayRef<int64_t>(begin)));
    attrs.push_back(l.attr("ceil_mode", int(rounding != "floor")));
  }
  return attrs;
}

/// What ONNX leaves out of `pooled`, rounded up: a window that begins in the
/// padding behind, which has nothing but `filler`. Rounding as torch does
/// leaves it out, too.
static Value addOutside(LayerImport &l, Value x, Value pooled, Value filler) {
  Ints kernel = l.integers("kernel");
  Ints ones(kernel.size(), 1), zeros(kernel.size(), 0);
  Ints strides = l.integers("strides", ones),
       dilations = l.integers("dilations", ones);
  Ints begin = l.integers("pads_begin", zeros),
       end = l.integers("pads_end", zeros);
  StringRef mode = l.str("auto_pad", "explicit");
  bool isExplicit =
      mode.equals_insensitive("explicit") || mode.equals_insensitive("notset");
  if (!isExplicit || l.isBad ||
      !l.str("rounding_type", "floor").equals_insensitive("ceil") ||
      llvm::all_of(end, [](int64_t pad) { return pad == 0; }))
    return pooled;
  int64_t rank = l.rank(x);
  // What is wrong with these the pooling says.
  for (ArrayRef<int64_t> each :
       {ArrayRef(kernel), ArrayRef(strides), ArrayRef(dilations),
        ArrayRef(begin), ArrayRef(end)})
    if (each.size() + 2 != static_cast<size_t>(rank) ||
        !llvm::all_of(each, llvm::isInt<32>))
      return pooled;
  SmallVector<Value> more{l.ints({0, 0})};
  bool isAny = false;
  for (auto [k, size] : llvm::enumerate(kernel)) {
    int64_t stride = strides[k], extent = l.extent(x, k + 2);
    int64_t slack = begin[k] + end[k] - (size - 1) * dilations[k] - 1;
    if (stride < 1)
      return pooled;
    if (ShapedType::isStatic(extent)) {
      int64_t last = llvm::divideCeilSigned(extent + slack, stride) * stride;
      isAny |= last >= extent + begin[k];
      more.push_back(l.ints({last >= extent + begin[k]}));
      continue;
    }
    isAny = true;
    Value from = l.extentOf(x, k + 2);
    auto add = [&](Value value, int64_t number) {
      return l.node("Add", {value, l.ints({number})});
    };
    Value steps =
        l.node("Div", {add(from, slack + stride - 1), l.ints({stride})});
    Value isOutside =
        l.node("GreaterOrEqual",
               {l.node("Mul", {steps, l.ints({stride})}), add(from, begin[k])});
    more.push_back(l.toI64(isOutside));
  }
  if (!isAny)
    return pooled;
  Ints front(rank, 0);
  more.insert(more.begin(), l.ints(front));
  std::optional<Ints> known;
  Ints all;
  for (Value part : more) {
    known = l.constantOf(part);
    if (!known)
      break;
    all.append(*known);
  }
  return l.node("Pad", {pooled, known ? l.ints(all) : l.concat(more), filler});
}

/// Indices count in the input from `axis` on.
static void importMaxPool(LayerImport &l) {
  Value x = l.in(0);
  SmallVector<NamedAttribute> attrs = poolAttributes(l);
  bool hasIndices = l.layer.outputs.size() > 1;
  auto filler = [&] {
    Type type = LayerImport::element(x);
    double least = -std::numeric_limits<double>::infinity();
    if (auto integer = dyn_cast<IntegerType>(type))
      least = integer.isUnsigned() ? 0 : -std::ldexp(1, integer.getWidth() - 1);
    return l.scalar(type, least);
  };
  if (!hasIndices)
    return l.set(addOutside(l, x, l.node("MaxPool", {x}, attrs), filler()));
  Type type = l.elementAttr("index_element_type", "i64");
  int64_t axis = l.axisOf(l.integer("axis", 0), l.rank(x));
  SmallVector<Value> found = l.nodes("MaxPool", {x}, attrs, 2);
  Value indices = found[1];
  if (axis) {
    Value inner =
        l.node("ReduceProd", {l.node("Shape", {x}, {l.attr("start", axis)})},
               {l.attr("keepdims", 0)});
    indices = l.node("Mod", {indices, inner});
  }
  indices = addOutside(l, x, indices, l.scalarInt(-1));
  l.set(addOutside(l, x, found[0], filler()));
  l.set(l.cast(indices, type));
}

static void importAvgPool(LayerImport &l) {
  SmallVector<NamedAttribute> attrs = poolAttributes(l);
  const char *name = l.hasAttr("exclude-pad") ? "exclude-pad" : "exclude_pad";
  attrs.push_back(l.attr("count_include_pad", int(!l.boolean(name, false))));
  Value x = l.in(0);
  l.set(
      addOutside(l, x, l.node("AveragePool", {x}, attrs), l.scalarLike(x, 0)));
}

/// Windows that are cut out one by one; more are read by a table.
static constexpr int64_t kFewWindows = 32;
/// Windows along an axis: a table has so many rows.
static constexpr int64_t kMostWindows = 1 << 20;

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
    if (count < 1 || count > kMostWindows || (extent == 0 && count != 1))
      return (void)(l.fail(Diag::UnsupportedNode)
                    << "the output shape has the extent " << count
                    << " for one of " << extent << ", expected 1 to "
                    << (extent == 0 ? 1 : kMostWindows));
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
