//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Recurrent cells and sequences. A sequence is ONNX's operator, whose lowering
// is a loop; a cell is written out, so that in the body of a loop its weights
// are used as they are.

#include "ImporterImpl.h"

using namespace mlir;
using namespace loopc;
using namespace loopc::openvino;

//===----------------------------------------------------------------------===//
// Cells
//===----------------------------------------------------------------------===//

static SmallVector<StringRef> activationsOf(LayerImport &l,
                                            ArrayRef<StringRef> otherwise) {
  SmallVector<StringRef> names;
  StringRef text = l.str("activations", "");
  if (!text.empty())
    text.split(names, ',');
  for (size_t k = names.size(); k < otherwise.size(); ++k)
    names.push_back(otherwise[k]);
  for (StringRef &name : names)
    name = name.trim();
  return names;
}

/// The operator that an activation is in ONNX; "" where it is none.
static StringRef onnxActivation(StringRef name) {
  for (StringRef op : {"Sigmoid", "Tanh", "Relu", "Elu", "Softsign",
                       "HardSigmoid", "LeakyRelu", "Affine", "ScaledTanh"})
    if (op.equals_insensitive(name))
      return op;
  return "";
}

namespace {
/// What all cells share.
struct Cell {
  Cell(LayerImport &l, ArrayRef<StringRef> otherwise)
      : l(l), names(activationsOf(l, otherwise)),
        alphas(l.numbers("activations_alpha")),
        betas(l.numbers("activations_beta")), clip(l.number("clip", 0)) {}

  LayerImport &l;
  SmallVector<StringRef> names;
  SmallVector<float> alphas, betas;
  double clip;

  /// Clips and applies activation `k`.
  Value activate(Value x, unsigned k) {
    if (clip > 0)
      x = l.node("Clip", {x, l.scalarLike(x, -clip), l.scalarLike(x, clip)});
    StringRef op = onnxActivation(names[k]);
    SmallVector<NamedAttribute> attrs;
    if (k < alphas.size() &&
        (op == "Elu" || op == "HardSigmoid" || op == "LeakyRelu"))
      attrs.push_back(l.attr("alpha", static_cast<double>(alphas[k])));
    if (k < betas.size() && op == "HardSigmoid")
      attrs.push_back(l.attr("beta", static_cast<double>(betas[k])));
    if (op.empty() || op == "Affine" || op == "ScaledTanh") {
      l.fail(Diag::UnsupportedNode)
          << "there is no activation '" << names[k] << "'";
      return x;
    }
    return l.node(op, {x}, attrs);
  }

  /// x times the transposed weights.
  Value product(Value x, Value weights) {
    return l.node("MatMul", {x, l.transpose(weights, {1, 0})});
  }
  SmallVector<Value> split(Value x, int64_t axis, int64_t count) {
    return l.nodes("Split", {x},
                   {l.attr("axis", axis), l.attr("num_outputs", count)}, count);
  }
};
} // namespace

/// The order of the gates in an LSTM's weights: "fico", or with version 1 some
/// other. \returns where the gates of `wanted` are.
static SmallVector<unsigned> gateOrder(LayerImport &l, StringRef wanted) {
  std::string format = l.str("weights_format", "fico").lower();
  l.expect("weights_format", format, {"fico", "icof", "ifco", "ifoc", "iofc"});
  SmallVector<unsigned> order;
  for (char gate : wanted)
    order.push_back(std::min(format.find(gate), size_t(3)));
  return order;
}

/// Gates f, i, c, o. Version 1 may have peepholes, for i, o and f, and may
/// couple the forget gate to the input gate.
static void importLSTMCell(LayerImport &l) {
  Cell cell(l, {"sigmoid", "tanh", "tanh"});
  SmallVector<unsigned> order = gateOrder(l, "fico");
  bool isCoupled = l.boolean("input_forget", false);
  Value sum = l.node(
      "Add", {cell.product(l.in(0), l.in(3)), cell.product(l.in(1), l.in(4))});
  if (l.has(5))
    sum = l.node("Add", {sum, l.in(5)});
  SmallVector<Value> gates = cell.split(sum, 1, 4), peepholes;
  if (l.has(6))
    peepholes = cell.split(l.in(6), 0, 3);
  if (l.isBad)
    return;
  enum { PI, PO, PF };
  auto gate = [&](unsigned k, unsigned peephole, Value state) {
    Value x = gates[order[k]];
    if (!peepholes.empty())
      x = l.node("Add", {x, l.node("Mul", {peepholes[peephole], state})});
    return cell.activate(x, 0);
  };
  Value i = gate(1, PI, l.in(2));
  Value f =
      isCoupled ? l.node("Sub", {l.scalarLike(i, 1), i}) : gate(0, PF, l.in(2));
  Value c = cell.activate(gates[order[2]], 1);
  Value state =
      l.node("Add", {l.node("Mul", {f, l.in(2)}), l.node("Mul", {i, c})});
  Value o = gate(3, PO, state);
  // The state itself is not clipped.
  Cell plain = cell;
  plain.clip = 0;
  l.set(l.node("Mul", {o, plain.activate(state, 2)}));
  l.set(state);
}

/// Gates z, r, h.
static void importGRUCell(LayerImport &l) {
  Cell cell(l, {"sigmoid", "tanh"});
  bool linear = l.boolean("linear_before_reset", false);
  Value x = l.in(0), h = l.in(1), w = l.in(2), r = l.in(3);
  SmallVector<Value> xs = cell.split(cell.product(x, w), 1, 3);
  SmallVector<Value> rs = cell.split(r, 0, 3);
  SmallVector<Value> bias;
  if (l.has(4))
    bias = cell.split(l.in(4), 0, linear ? 4 : 3);
  if (l.isBad)
    return;
  auto gate = [&](unsigned k) {
    Value sum = l.node("Add", {xs[k], cell.product(h, rs[k])});
    return cell.activate(bias.empty() ? sum : l.node("Add", {sum, bias[k]}), 0);
  };
  Value update = gate(0), reset = gate(1), inner;
  if (linear) {
    Value hidden = cell.product(h, rs[2]);
    if (!bias.empty())
      hidden = l.node("Add", {hidden, bias[3]});
    inner = l.node("Mul", {reset, hidden});
  } else {
    inner = cell.product(l.node("Mul", {reset, h}), rs[2]);
  }
  Value sum = l.node("Add", {xs[2], inner});
  if (!bias.empty())
    sum = l.node("Add", {sum, bias[2]});
  Value fresh = cell.activate(sum, 1);
  Value rest = l.node("Sub", {l.scalarLike(update, 1), update});
  l.set(l.node("Add",
               {l.node("Mul", {rest, fresh}), l.node("Mul", {update, h})}));
}

static void importRNNCell(LayerImport &l) {
  Cell cell(l, {"tanh"});
  Value sum = l.node(
      "Add", {cell.product(l.in(0), l.in(2)), cell.product(l.in(1), l.in(3))});
  if (l.has(4))
    sum = l.node("Add", {sum, l.in(4)});
  l.set(cell.activate(sum, 0));
}

//===----------------------------------------------------------------------===//
// Sequences
//===----------------------------------------------------------------------===//

namespace {
/// A sequence of either kind: batch first, states [batch, directions, hidden].
struct Sequence {
  Sequence(LayerImport &l, ArrayRef<StringRef> otherwise) : l(l) {
    direction = l.str("direction", "forward").lower();
    l.expect("direction", direction, {"forward", "reverse", "bidirectional"});
    int64_t directions = direction == "bidirectional" ? 2 : 1;
    SmallVector<StringRef> names = activationsOf(l, otherwise);
    SmallVector<Attribute> list;
    for (int64_t k = 0; k < directions; ++k)
      for (StringRef name : names) {
        if (onnxActivation(name).empty())
          l.fail(Diag::UnsupportedNode)
              << "there is no activation '" << name << "'";
        list.push_back(l.builder().getStringAttr(onnxActivation(name)));
      }
    attrs.push_back(named("activations", l.builder().getArrayAttr(list)));
    addNumbers("activations_alpha", "activation_alpha", directions);
    addNumbers("activations_beta", "activation_beta", directions);
    if (double clip = l.number("clip", 0); clip > 0)
      attrs.push_back(l.attr("clip", clip));
    attrs.push_back(l.attr("direction", StringRef(direction)));
    attrs.push_back(l.attr("hidden_size", l.integer("hidden_size")));
  }

  LayerImport &l;
  std::string direction;
  SmallVector<NamedAttribute> attrs;

  NamedAttribute named(StringRef name, Attribute value) {
    return {l.builder().getStringAttr(name), value};
  }
  void addNumbers(const char *from, StringRef to, int64_t directions) {
    SmallVector<float> numbers = l.numbers(from), all;
    for (int64_t k = 0; k < directions; ++k)
      llvm::append_range(all, numbers);
    if (!all.empty())
      attrs.push_back(named(to, l.builder().getDenseF32ArrayAttr(all)));
  }
  Value lengths(unsigned k) {
    return l.cast(l.in(k), l.builder().getI32Type());
  }
  /// [batch, directions, hidden] and [directions, batch, hidden].
  Value turn(Value state) { return l.transpose(state, {1, 0, 2}); }
  Value zeros(Value like) {
    return l.node("Expand", {l.scalarLike(like, 0), l.shapeOf(like)});
  }
  /// Parts of axis 1 in another order.
  Value reorder(Value value, ArrayRef<unsigned> order) {
    SmallVector<Value> parts =
        l.nodes("Split", {value},
                {l.attr("axis", 1),
                 l.attr("num_outputs", static_cast<int64_t>(order.size()))},
                order.size());
    SmallVector<Value> chosen;
    for (unsigned k : order)
      chosen.push_back(parts[k]);
    return l.concat(chosen, 1);
  }
  void run(StringRef op, ArrayRef<Value> inputs, unsigned count) {
    SmallVector<Value> found = l.nodes(op, inputs, attrs, count);
    l.set(l.transpose(found[0], {2, 1, 0, 3}));
    for (Value state : ArrayRef(found).drop_front())
      l.set(turn(state));
  }
};
} // namespace

static void importLSTMSequence(LayerImport &l) {
  Sequence s(l, {"sigmoid", "tanh", "tanh"});
  // Peepholes have the order of ONNX: i, o, f.
  SmallVector<unsigned> order = gateOrder(l, "iofc");
  s.attrs.push_back(
      l.attr("input_forget", int(l.boolean("input_forget", false))));
  Value w = s.reorder(l.in(4), order), r = s.reorder(l.in(5), order),
        b = s.reorder(l.in(6), order);
  s.run("LSTM",
        {l.transpose(l.in(0), {1, 0, 2}), w, r, l.concat({b, s.zeros(b)}, 1),
         s.lengths(3), s.turn(l.in(1)), s.turn(l.in(2)),
         l.has(7) ? l.in(7) : Value()},
        3);
}

static void importGRUSequence(LayerImport &l) {
  Sequence s(l, {"sigmoid", "tanh"});
  bool linear = l.boolean("linear_before_reset", false);
  Value b = l.in(5), bias;
  if (linear) {
    // z, r, h of the input, h of the state: the state's z and r are in the
    // input's.
    SmallVector<Value> parts =
        l.nodes("Split", {b}, {l.attr("axis", 1), l.attr("num_outputs", 4)}, 4);
    Value zero = s.zeros(parts[0]);
    bias = l.concat({parts[0], parts[1], parts[2], zero, zero, parts[3]}, 1);
  } else {
    bias = l.concat({b, s.zeros(b)}, 1);
  }
  s.attrs.push_back(l.attr("linear_before_reset", int(linear)));
  s.run("GRU",
        {l.transpose(l.in(0), {1, 0, 2}), l.in(3), l.in(4), bias, s.lengths(2),
         s.turn(l.in(1))},
        2);
}

static void importRNNSequence(LayerImport &l) {
  Sequence s(l, {"tanh"});
  Value b = l.in(5);
  s.run("RNN",
        {l.transpose(l.in(0), {1, 0, 2}), l.in(3), l.in(4),
         l.concat({b, s.zeros(b)}, 1), s.lengths(2), s.turn(l.in(1))},
        2);
}

llvm::ArrayRef<LayerRow> openvino::getRecurrentRows() {
  static const LayerRow rows[] = {
      {"LSTMCell", opsets({1, 4}), importLSTMCell},
      {"GRUCell", opsets({3}), importGRUCell},
      {"RNNCell", opsets({1}), importRNNCell},
      {"LSTMSequence", opsets({1, 5}), importLSTMSequence},
      {"GRUSequence", opsets({5}), importGRUSequence},
      {"RNNSequence", opsets({5}), importRNNSequence}};
  return rows;
}
