//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Pooling.

#include "ImporterImpl.h"

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

/// Indices count in the input from `axis` on.
static void importMaxPool(LayerImport &l) {
  Value x = l.in(0);
  SmallVector<NamedAttribute> attrs = poolAttributes(l);
  bool hasIndices = l.layer.outputs.size() > 1;
  if (!hasIndices)
    return l.set(l.node("MaxPool", {x}, attrs));
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
  l.set(found[0]);
  l.set(l.cast(indices, type));
}

static void importAvgPool(LayerImport &l) {
  SmallVector<NamedAttribute> attrs = poolAttributes(l);
  const char *name = l.hasAttr("exclude-pad") ? "exclude-pad" : "exclude_pad";
  attrs.push_back(l.attr("count_include_pad", int(!l.boolean(name, false))));
  l.set(l.node("AveragePool", {l.in(0)}, attrs));
}

/// Windows from floor(i * n / out) to ceil((i + 1) * n / out): one piece each.
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
    SmallVector<Value> parts;
    for (int64_t i = 0; i < count; ++i) {
      Value part = x;
      if (count != 1)
        part = l.slice(x, i * extent / count,
                       ((i + 1) * extent + count - 1) / count, axis);
      parts.push_back(l.node(IsMax ? "ReduceMax" : "ReduceMean",
                             {part, l.ints({axis})}, {l.attr("keepdims", 1)}));
    }
    x = l.concat(parts, axis);
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
