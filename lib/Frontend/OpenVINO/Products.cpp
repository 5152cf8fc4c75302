//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Products: matrices, convolutions, Einsum.

#include "ImporterImpl.h"
#include <limits>

using namespace mlir;
using namespace loopc;
using namespace loopc::openvino;

/// The last two axes the other way round; a vector stays what it is.
static Value transposed(LayerImport &l, Value x) {
  int64_t rank = l.rank(x);
  if (rank < 2)
    return x;
  Ints order;
  for (int64_t k = 0; k < rank; ++k)
    order.push_back(k);
  std::swap(order[rank - 1], order[rank - 2]);
  return l.transpose(x, order);
}

static void importMatMul(LayerImport &l) {
  Value a = l.in(0), b = l.in(1);
  bool turnsA = l.boolean("transpose_a", false),
       turnsB = l.boolean("transpose_b", false);
  auto isMatrix = [](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && type.getRank() == 2 && isa<FloatType>(type.getElementType());
  };
  // What a fully connected layer is in ONNX, so that it is computed as there.
  if ((turnsA || turnsB) && isMatrix(a) && isMatrix(b))
    return l.set(
        l.node("Gemm", {a, b},
               {l.attr("transA", int(turnsA)), l.attr("transB", int(turnsB))}));
  if (turnsA)
    a = transposed(l, a);
  if (turnsB)
    b = transposed(l, b);
  Type own = l.element(a), work = own;
  if (own.isInteger() && own.getIntOrFloatBitWidth() < 32)
    work = l.builder().getI32Type();
  l.set(l.cast(l.node("MatMul", {l.cast(a, work), l.cast(b, work)}), own));
}

/// Strides, dilations and pads in ONNX's words.
static SmallVector<NamedAttribute> windowAttributes(LayerImport &l,
                                                    int64_t spatial) {
  SmallVector<NamedAttribute> attrs;
  Ints ones(spatial, 1), zeros(spatial, 0);
  Ints strides = l.integers("strides", ones),
       dilations = l.integers("dilations", ones),
       begin = l.integers("pads_begin", zeros),
       end = l.integers("pads_end", zeros);
  std::string mode = l.str("auto_pad", "explicit").lower();
  l.expect("auto_pad", mode,
           {"explicit", "notset", "same_upper", "same_lower", "valid"});
  for (const Ints *list : {&strides, &dilations, &begin, &end})
    if (list->size() != static_cast<size_t>(spatial))
      l.fail() << "strides, dilations or pads do not fit the " << spatial
               << " spatial axes";
  attrs.push_back(l.attr("strides", ArrayRef<int64_t>(strides)));
  attrs.push_back(l.attr("dilations", ArrayRef<int64_t>(dilations)));
  if (mode == "same_upper" || mode == "same_lower" || mode == "valid") {
    attrs.push_back(l.attr("auto_pad", StringRef(mode).upper()));
  } else {
    llvm::append_range(begin, end);
    attrs.push_back(l.attr("pads", ArrayRef<int64_t>(begin)));
  }
  return attrs;
}

/// The number of groups: they are the first axis of the weights, at least as
/// the port declares them.
static int64_t takeGroups(LayerImport &l, Value &weights) {
  int64_t groups = l.extent(weights, 0);
  ArrayRef<int64_t> declared = l.layer.inputs[1].dims;
  if (ShapedType::isDynamic(groups) && !declared.empty() && declared[0] > 0)
    groups = declared[0];
  if (ShapedType::isDynamic(groups)) {
    l.fail(Diag::UnsupportedNode) << "the number of groups is not known";
    return 1;
  }
  weights = l.mergeAxes(weights, 0);
  return groups;
}

template <bool IsGrouped> static void importConvolution(LayerImport &l) {
  Value x = l.in(0), weights = l.in(1);
  int64_t groups = IsGrouped ? takeGroups(l, weights) : 1;
  SmallVector<NamedAttribute> attrs = windowAttributes(l, l.rank(weights) - 2);
  attrs.push_back(l.attr("group", groups));
  Type own = l.element(x), work = own;
  if (own.isInteger())
    work = l.builder().getF32Type();
  l.set(l.cast(l.node("Conv", {l.cast(x, work), l.cast(weights, work)}, attrs),
               own));
}

/// Pads behind so that the output has the shape asked for, those in front being
/// given; what pads cannot give is added to the output.
static void fitOutputShape(LayerImport &l, ArrayRef<int64_t> shape, Value x,
                           Value weights, Ints &extra,
                           SmallVectorImpl<NamedAttribute> &attrs) {
  size_t spatial = shape.size();
  Ints strides = l.integers("strides", Ints(spatial, 1)),
       dilations = l.integers("dilations", Ints(spatial, 1)),
       pads = l.integers("pads_begin", Ints(spatial, 0));
  for (size_t k = 0; k < spatial; ++k) {
    int64_t extent = l.extent(x, k + 2), window = l.extent(weights, k + 2);
    if (ShapedType::isDynamic(extent) || ShapedType::isDynamic(window))
      return (void)(l.fail(Diag::UnsupportedNode)
                    << "an output shape with explicit pads needs extents that "
                       "are known when the model is compiled");
    int64_t whole = strides[k] * (extent - 1) + dilations[k] * (window - 1) + 1;
    int64_t behind = whole + extra[k] - pads[k] - shape[k];
    pads.push_back(std::max<int64_t>(behind, 0));
    extra[k] -= std::min<int64_t>(behind, 0);
  }
  attrs.push_back(l.attr("pads", ArrayRef<int64_t>(pads)));
}

template <bool IsGrouped> static void importDeconvolution(LayerImport &l) {
  Value x = l.in(0), weights = l.in(1);
  // [G, I / G, O / G, ...] becomes [I, O / G, ...].
  int64_t groups = IsGrouped ? takeGroups(l, weights) : 1;
  int64_t spatial = std::max<int64_t>(l.rank(weights) - 2, 0);
  SmallVector<NamedAttribute> attrs = windowAttributes(l, spatial);
  // Pads are for an output shape to be had; without one there are none.
  llvm::erase_if(
      attrs, [](NamedAttribute attr) { return attr.getName() == "auto_pad"; });
  attrs.push_back(l.attr("group", groups));
  Ints extra = l.integers("output_padding", Ints(spatial, 0));
  if (l.isBad || extra.size() != static_cast<size_t>(spatial))
    return (void)(l.fail() << "output_padding does not fit the rank");
  if (l.has(2)) {
    Ints shape = l.needConstant(l.in(2), "the output shape");
    if (l.isBad || shape.size() != extra.size())
      return (void)(l.fail() << "the output shape does not fit the rank");
    std::string mode = l.str("auto_pad", "explicit").lower();
    llvm::erase_if(
        attrs, [](NamedAttribute attr) { return attr.getName() == "pads"; });
    if (mode == "same_upper" || mode == "same_lower") {
      // Which side gets the odd one is the other way round in ONNX.
      attrs.push_back(l.attr("auto_pad", mode == "same_upper" ? "SAME_LOWER"
                                                              : "SAME_UPPER"));
      attrs.push_back(l.attr("output_shape", ArrayRef<int64_t>(shape)));
    } else {
      fitOutputShape(l, shape, x, weights, extra, attrs);
    }
  }
  attrs.push_back(l.attr("output_padding", ArrayRef<int64_t>(extra)));
  if (!l.isBad)
    l.set(l.node("ConvTranspose", {x, weights}, attrs));
}

static void importEinsum(LayerImport &l) {
  SmallVector<Value> inputs(l.inputs);
  l.set(l.node("Einsum", inputs, {l.attr("equation", l.str("equation", ""))}));
}

/// softmax(q k^T * scale + mask) v. The mask is boolean (false: not attended)
/// or added; causal is from the upper left corner.
static void importAttention(LayerImport &l) {
  Value q = l.in(0), k = l.in(1), v = l.in(2);
  Type type = l.element(q);
  Value scale;
  if (l.has(4)) {
    scale = l.oneElement(l.in(4));
  } else {
    Value size = l.cast(l.oneElement(l.extentOf(q, l.rank(q) - 1)), type);
    scale = l.node("Div", {l.scalar(type, 1), l.node("Sqrt", {size})});
  }
  Value scores =
      l.node("MatMul", {l.node("Mul", {q, scale}), transposed(l, k)});
  if (l.isBad)
    return;
  Value low = l.scalar(type, -std::numeric_limits<double>::infinity());
  if (l.boolean("causal", false)) {
    auto upTo = [&](Value x) {
      return l.node("Range",
                    {l.scalarInt(0), l.oneElement(l.extentOf(x, l.rank(x) - 2)),
                     l.scalarInt(1)});
    };
    Value seen = l.node("LessOrEqual", {upTo(k), l.unsqueeze(upTo(q), {1})});
    scores = l.node("Where", {seen, scores, low});
  } else if (l.has(3)) {
    Value mask = l.in(3);
    scores = l.isBool(mask) ? l.node("Where", {mask, scores, low})
                            : l.node("Add", {scores, mask});
  }
  // A sink is a place that takes its part and has no value.
  bool sinks = l.has(5);
  if (sinks) {
    Value rows = l.node("Shape", {scores}, {l.attr("end", -1)});
    Value sink = l.node("Expand", {l.in(5), l.concat({rows, l.ints({1})})});
    scores = l.concat({scores, sink}, -1);
  }
  Value weights = l.node("Softmax", {scores}, {l.attr("axis", -1)});
  if (sinks)
    weights = l.slice(weights, 0, -1, -1);
  l.set(l.node("MatMul", {weights, v}));
}

llvm::ArrayRef<LayerRow> openvino::getProductRows() {
  static const LayerRow rows[] = {
      {"MatMul", opsets({1}), importMatMul},
      {"Convolution", opsets({1}), importConvolution<false>},
      {"GroupConvolution", opsets({1}), importConvolution<true>},
      {"ConvolutionBackpropData", opsets({1}), importDeconvolution<false>},
      {"GroupConvolutionBackpropData", opsets({1}), importDeconvolution<true>},
      {"ScaledDotProductAttention", opsets({13}), importAttention},
      {"Einsum", opsets({7}), importEinsum}};
  return rows;
}
