//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Normalisations and quantisation.

#include "ImporterImpl.h"

using namespace mlir;
using namespace loopc;
using namespace loopc::openvino;

static Value reduce(LayerImport &l, StringRef op, Value x, Value axes) {
  return l.node(op, {x, axes},
                {l.attr("keepdims", 1), l.attr("noop_with_empty_axes", 1)});
}

static void importMVN(LayerImport &l) {
  Value x = l.in(0), axes;
  if (l.layer.opset() == 1 || l.layer.opset() == 2) {
    Ints list;
    int64_t rank = l.rank(x);
    if (l.hasAttr("reduction_axes"))
      list = l.integers("reduction_axes");
    else
      for (int64_t k = l.boolean("across_channels", false) ? 1 : 2; k < rank;
           ++k)
        list.push_back(k);
    axes = l.ints(list);
  } else {
    axes = l.toI64(l.in(1));
  }
  std::string mode = l.str("eps_mode", "inside_sqrt").lower();
  l.expect("eps_mode", mode, {"inside_sqrt", "outside_sqrt"});
  Value centred = l.node("Sub", {x, reduce(l, "ReduceMean", x, axes)});
  if (!l.boolean("normalize_variance", true))
    return l.set(centred);
  Value eps = l.scalarLike(x, l.number("eps"));
  Value variance =
      reduce(l, "ReduceMean", l.node("Mul", {centred, centred}), axes);
  Value deviation = mode == "inside_sqrt"
                        ? l.node("Sqrt", {l.node("Add", {variance, eps})})
                        : l.node("Add", {l.node("Sqrt", {variance}), eps});
  l.set(l.node("Div", {centred, deviation}));
}

static void importBatchNorm(LayerImport &l) {
  bool isOld = l.layer.opset() < 5;
  Value x = l.in(isOld ? 2 : 0), gamma = l.in(isOld ? 0 : 1),
        beta = l.in(isOld ? 1 : 2);
  double epsilon = l.number(l.hasAttr("epsilon") ? "epsilon" : "eps");
  l.set(l.node("BatchNormalization", {x, gamma, beta, l.in(3), l.in(4)},
               {l.attr("epsilon", epsilon)}));
}

static void importNormalizeL2(LayerImport &l) {
  Value x = l.in(0), axes = l.toI64(l.in(1));
  if (l.rank(axes) == 0)
    axes = l.unsqueeze(axes, {0});
  StringRef mode = l.str("eps_mode", "add");
  l.expect("eps_mode", mode, {"add", "max"});
  // Each element by itself is 1, the documentation says, whatever `eps` is.
  if (std::optional<Ints> known = l.constantOf(axes); known && known->empty()) {
    Value isZero = l.node("Equal", {x, l.scalarLike(x, 0)});
    return l.set(l.cast(l.node("Not", {isZero}), LayerImport::element(x)));
  }
  Value eps = l.scalarLike(x, l.number("eps"));
  Value sum = reduce(l, "ReduceSum", l.node("Mul", {x, x}), axes);
  sum = l.node(mode == "add" ? "Add" : "Max", {sum, eps});
  l.set(l.node("Div", {x, l.node("Sqrt", {sum})}));
}

/// Sums over a window along each of the axes.
static void importLRN(LayerImport &l) {
  Value x = l.in(0);
  int64_t rank = l.rank(x), size = l.integer("size");
  Ints axes = l.axesOf(l.needConstant(l.in(1), "the axes of LRN"), rank);
  if (l.isBad)
    return;
  SmallVector<NamedAttribute> attrs{
      l.attr("alpha", l.number("alpha")), l.attr("beta", l.number("beta")),
      l.attr("bias", l.number("bias")), l.attr("size", size)};
  if (axes == Ints{1} && rank >= 2)
    return l.set(l.node("LRN", {x}, attrs));
  Value sum = l.node("Mul", {x, x});
  double count = 1;
  for (int64_t axis : axes) {
    // Shifted by -(size / 2) .. size - 1 - size / 2, zero outside.
    Ints pads(2 * rank, 0);
    int64_t before = (size - 1) / 2;
    pads[axis] = before;
    pads[rank + axis] = size - 1 - before;
    Value padded = l.node("Pad", {sum, l.ints(pads)});
    Value extent = l.extentOf(x, axis), total;
    for (int64_t k = 0; k < size; ++k) {
      Value part = l.node("Slice", {padded, l.ints({k}),
                                    l.node("Add", {extent, l.ints({k})}),
                                    l.ints({axis})});
      total = total ? l.node("Add", {total, part}) : part;
    }
    sum = total;
    count *= static_cast<double>(size);
  }
  Value scaled =
      l.node("Mul", {sum, l.scalarLike(x, l.number("alpha") / count)});
  Value base = l.node("Add", {scaled, l.scalarLike(x, l.number("bias"))});
  l.set(l.node("Div",
               {x, l.node("Pow", {base, l.scalarLike(x, l.number("beta"))})}));
}

static void importGroupNorm(LayerImport &l) {
  l.set(l.node("GroupNormalization", {l.in(0), l.in(1), l.in(2)},
               {l.attr("num_groups", l.integer("num_groups")),
                l.attr("epsilon", l.number("epsilon"))}));
}

static void importFakeQuantize(LayerImport &l) {
  Value x = l.in(0), lowIn = l.in(1), highIn = l.in(2), lowOut = l.in(3),
        highOut = l.in(4);
  int64_t levels = l.integer("levels");
  Value steps = l.scalarLike(x, static_cast<double>(levels - 1));
  Value part = l.node(
      "Div", {l.node("Sub", {x, lowIn}), l.node("Sub", {highIn, lowIn})});
  Value level = l.node("Round", {l.node("Mul", {part, steps})});
  Value range = l.node("Sub", {highOut, lowOut});
  Value y = l.node(
      "Add", {l.node("Mul", {l.node("Div", {level, steps}), range}), lowOut});
  Value below = l.node("LessOrEqual", {x, l.node("Min", {lowIn, highIn})});
  Value above = l.node("Greater", {x, l.node("Max", {lowIn, highIn})});
  l.set(l.node("Where", {below, lowOut, l.node("Where", {above, highOut, y})}));
}

/// To an 8-bit float and back.
static void importFakeConvert(LayerImport &l) {
  Value x = l.in(0), scale = l.in(1);
  Value scaled = l.node("Mul", {x, scale});
  if (l.has(2))
    scaled = l.node("Sub", {scaled, l.in(2)});
  Type narrow = l.elementAttr("destination_type", "f8e4m3");
  Value y = l.cast(l.cast(scaled, narrow), l.element(x));
  if (l.has(2))
    y = l.node("Add", {y, l.in(2)});
  l.set(l.node("Div", {y, scale}));
}

static void importGRN(LayerImport &l) {
  Value x = l.in(0);
  Value sum = reduce(l, "ReduceSum", l.node("Mul", {x, x}), l.ints({1}));
  Value bias = l.scalarLike(x, l.number("bias"));
  l.set(l.node("Div", {x, l.node("Sqrt", {l.node("Add", {sum, bias})})}));
}

llvm::ArrayRef<LayerRow> openvino::getNormalizationRows() {
  static const LayerRow rows[] = {
      {"MVN", opsets({1, 2, 6}), importMVN},
      {"BatchNormInference", opsets({1, 5}), importBatchNorm},
      {"NormalizeL2", opsets({1}), importNormalizeL2},
      {"LRN", opsets({1}), importLRN},
      {"GroupNormalization", opsets({12}), importGroupNorm},
      {"FakeQuantize", opsets({1}), importFakeQuantize},
      {"FakeConvert", opsets({13}), importFakeConvert},
      {"GRN", opsets({1}), importGRN}};
  return rows;
}
