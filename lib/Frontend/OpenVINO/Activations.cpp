//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Activation functions.

#include "ImporterImpl.h"
#include <cmath>

using namespace mlir;
using namespace loopc;
using namespace loopc::openvino;

static void importRelu(LayerImport &l) {
  Value x = l.in(0);
  l.set(l.isFloat(x) ? l.node("Relu", {x})
                     : l.node("Max", {x, l.scalarLike(x, 0)}));
}

static void importSimple(LayerImport &l) { l.set(l.node(l.op, {l.in(0)})); }

static void importElu(LayerImport &l) {
  l.set(l.node("Elu", {l.in(0)}, {l.attr("alpha", l.number("alpha"))}));
}

/// Alpha and lambda are inputs.
static void importSelu(LayerImport &l) {
  Value x = l.in(0), alpha = l.in(1), lambda = l.in(2);
  Value positive = l.node("Greater", {x, l.scalarLike(x, 0)});
  Value down = l.node("Sub", {l.node("Exp", {x}), l.scalarLike(x, 1)});
  Value y = l.node("Where", {positive, x, l.node("Mul", {alpha, down})});
  l.set(l.node("Mul", {lambda, y}));
}

/// A vector of slopes for `x`: for its channels, axis 1, where there are as
/// many, else for its last axis. Where only a run tells, it is reshaped to
///   Equal(n, channels) ? [1, n, 1, ..] : [.., 1, 1, n]
static Value slopesOf(LayerImport &l, Value slope, Value x) {
  int64_t own = l.extent(slope, 0), rank = l.rank(x);
  int64_t channels = l.extent(x, 1), last = l.extent(x, rank - 1);
  bool isOpen = ShapedType::isDynamic(own) || ShapedType::isDynamic(channels);
  if (own == 1 || (!isOpen && own != channels))
    return slope;
  Ints axes = llvm::to_vector(llvm::seq<int64_t>(1, rank - 1));
  bool fitsLast =
      ShapedType::isDynamic(own) || ShapedType::isDynamic(last) || own == last;
  if (!isOpen || !fitsLast)
    return l.unsqueeze(slope, axes);
  Value number = l.extentOf(slope, 0);
  Ints ones(rank - 2, 1);
  Value ofChannels = l.concat({l.ints({1}), number, l.ints(ones)});
  Value ofLast = l.concat({l.ints({1}), l.ints(ones), number});
  Value isChannels = l.node("Equal", {number, l.extentOf(x, 1)});
  Value shape = l.node("Where", {isChannels, ofChannels, ofLast});
  return l.node("Reshape", {slope, shape}, {l.attr("allowzero", 1)});
}

static void importPRelu(LayerImport &l) {
  Value x = l.in(0), slope = l.in(1);
  if (l.isRanked(slope) && l.rank(slope) == 1 && l.rank(x) > 2)
    slope = slopesOf(l, slope, x);
  Value negative = l.node("Less", {x, l.scalarLike(x, 0)});
  l.set(l.node("Where", {negative, l.node("Mul", {x, slope}), x}));
}

static void importGelu(LayerImport &l) {
  std::string mode = l.str("approximation_mode", "ERF").lower();
  l.expect("approximation_mode", mode, {"erf", "tanh"});
  l.set(l.node("Gelu", {l.in(0)},
               {l.attr("approximate", mode == "erf" ? "none" : "tanh")}));
}

static void importSwish(LayerImport &l) {
  Value x = l.in(0);
  Value inner = l.has(1) ? l.node("Mul", {x, l.oneElement(l.in(1))}) : x;
  l.set(l.node("Mul", {x, l.node("Sigmoid", {inner})}));
}

/// min(max(x + 3, 0), 6)
static Value hardSix(LayerImport &l, Value x) {
  Value moved = l.node("Add", {x, l.scalarLike(x, 3)});
  return l.node("Clip", {moved, l.scalarLike(x, 0), l.scalarLike(x, 6)});
}

static void importHSwish(LayerImport &l) {
  Value x = l.in(0);
  Value y = l.node("Mul", {x, hardSix(l, x)});
  l.set(l.node("Div", {y, l.scalarLike(x, 6)}));
}

static void importHSigmoid(LayerImport &l) {
  Value x = l.in(0);
  l.set(l.node("Div", {hardSix(l, x), l.scalarLike(x, 6)}));
}

static void importHardSigmoid(LayerImport &l) {
  Value x = l.in(0);
  Value line = l.node("Add", {l.node("Mul", {x, l.oneElement(l.in(1))}),
                              l.oneElement(l.in(2))});
  l.set(l.node("Clip", {line, l.scalarLike(x, 0), l.scalarLike(x, 1)}));
}

/// Bounds of an integer type are rounded to the inside.
static void importClamp(LayerImport &l) {
  Value x = l.in(0);
  double low = l.number("min"), high = l.number("max");
  if (auto type = dyn_cast<IntegerType>(l.element(x))) {
    unsigned bits = type.getWidth() - !type.isUnsigned();
    // The largest number below 2^bits that a double holds.
    double most = bits > 53 ? std::ldexp(1.0, bits) - std::ldexp(1.0, bits - 53)
                            : std::ldexp(1.0, bits) - 1;
    double least = type.isUnsigned() ? 0 : -std::ldexp(1.0, bits);
    low = std::max(std::ceil(low), least);
    bool isOpen = high >= most;
    high = std::max(std::min(std::floor(high), most), least);
    Value bound = isOpen ? Value() : l.scalarLike(x, high);
    return l.set(l.node("Clip", {x, l.scalarLike(x, low), bound}));
  }
  l.set(l.node("Clip", {x, l.scalarLike(x, low), l.scalarLike(x, high)}));
}

static void importSoftmax(LayerImport &l) {
  int64_t otherwise = l.op == "Softmax" ? 1 : -1;
  int64_t axis = l.integer(l.hasAttr("axis") ? "axis" : "axes", otherwise);
  l.set(l.node(l.op, {l.in(0)}, {l.attr("axis", axis)}));
}

llvm::ArrayRef<LayerRow> openvino::getActivationRows() {
  static const LayerRow rows[] = {
      {"ReLU", opsets({1}), importRelu},
      {"Sigmoid", opsets({1}), importSimple, "Sigmoid"},
      {"Mish", opsets({4}), importSimple, "Mish"},
      {"SoftPlus", opsets({4}), importSimple, "Softplus"},
      {"SoftSign", opsets({9}), importSimple, "Softsign"},
      {"Elu", opsets({1}), importElu},
      {"Selu", opsets({1}), importSelu},
      {"PReLU", opsets({1}), importPRelu},
      {"Gelu", opsets({2, 7}), importGelu},
      {"Swish", opsets({4}), importSwish},
      {"HSwish", opsets({4}), importHSwish},
      {"HSigmoid", opsets({5}), importHSigmoid},
      {"HardSigmoid", opsets({1}), importHardSigmoid},
      {"Clamp", opsets({1}), importClamp},
      {"SoftMax", opsets({1, 8}), importSoftmax, "Softmax"},
      {"Softmax", opsets({1, 8}), importSoftmax, "Softmax"},
      {"LogSoftmax", opsets({5}), importSoftmax, "LogSoftmax"}};
  return rows;
}
