//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Mixtures of experts: a loop over the experts, each of which computes the rows
// that chose it, and no others.

#include "ContribOperators.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace loopc::importer;

namespace {
/// MoE: its inputs, and the parts of its body.
struct Experts {
  const ContribCall &call;

  enum { Input, Routes, W1, B1, W2, B2, W3, B3 };

  std::string writeRoutes() const;
  std::string writeLayer(unsigned weights, unsigned bias, StringRef from,
                         StringRef to) const;
  std::string writeGated() const;
  std::string writeActivation() const;
};
} // namespace

/// chosen and shares [rows, k]: the experts of each row, and what they count.
std::string Experts::writeRoutes() const {
  std::string text =
      llvm::formatv("x = Reshape(float(input), Concat<axis = 0>([-1], "
                    "Shape<start = -1>(input)))\n"
                    "routes = float(router_probs)\n"
                    "best, chosen = TopK<axis = 1>(routes, [{0}])\n",
                    call.getInt("k", 1));
  if (call.getInt("normalize_routing_weights"))
    return text + "shares = Softmax<axis = 1>(best)\n";
  return text + "shares = GatherElements<axis = 1>(Softmax<axis = 1>(routes), "
                "chosen)\n";
}

/// `to` = `from` times the weights of expert `e`, transposed, and the bias.
std::string Experts::writeLayer(unsigned weights, unsigned bias, StringRef from,
                                StringRef to) const {
  unsigned number = 1 + (weights - W1) / 2;
  std::string text =
      llvm::formatv("{0}_product = MatMul({2}, Transpose<perm = [1, "
                    "0]>(float(Gather<axis = 0>(fc{1}_experts_weights, e))))\n",
                    to, number, from);
  if (!call.has(bias))
    return text + llvm::formatv("{0} = Identity({0}_product)\n", to).str();
  return text + llvm::formatv("{0} = {0}_product + float(Gather<axis = "
                              "0>(fc{1}_experts_bias, e))\n",
                              to, number)
                    .str();
}

/// act of gate and linear: gate * sigmoid(alpha * gate) * (linear + beta).
std::string Experts::writeGated() const {
  std::string text;
  if (float limit = call.getFloat("swiglu_limit", INFINITY); limit < INFINITY)
    text = "high = @swiglu_limit\n"
           "gate1 = Min(gate, high)\n"
           "linear1 = Clip(linear, Neg(high), high)\n";
  else
    text = "gate1 = Identity(gate)\nlinear1 = Identity(linear)\n";
  return text + "gated = gate1 * Sigmoid(gate1 * @activation_alpha)\n"
                "act = gated * (linear1 + @activation_beta)\n";
}

/// act of first [rows, inner], what the first layer makes of `rows_in`.
std::string Experts::writeActivation() const {
  StringRef kind = call.getString("activation_type");
  if (kind.empty() || kind == "relu")
    return "act = Relu(first)\n";
  if (kind == "gelu")
    return "act = Gelu<approximate = \"tanh\">(first)\n";
  if (kind == "identity")
    return "act = Identity(first)\n";
  if (kind == "silu")
    return "act = first * Sigmoid(first)\n";
  if (kind != "swiglu")
    return call.refuse("the activation '" + kind + "' is unknown");
  switch (call.getInt("swiglu_fusion")) {
  case 1:
    return "pairs_shape = Concat<axis = 0>(Shape<start = 0, end = 1>(first), "
           "Shape<start = 1, end = 2>(first) / [2], [2])\n"
           "gate0, linear0 = Split<axis = 2, num_outputs = "
           "2>(Reshape<allowzero = 1>(first, pairs_shape))\n"
           "gate = Squeeze(gate0, [2])\n"
           "linear = Squeeze(linear0, [2])\n" +
           writeGated();
  case 2:
    return "gate, linear = Split<axis = 1, num_outputs = 2>(first)\n" +
           writeGated();
  default:
    if (!call.has(W3))
      return call.refuse("'swiglu' without a third layer, not fused");
    return "gate = Identity(first)\n" +
           writeLayer(W3, B3, "rows_in", "linear") + writeGated();
  }
}

static std::string writeExperts(const ContribCall &call) {
  Experts experts{call};
  if (call.getInt("k", 1) < 1)
    return call.refuse("'k' is not above 0");
  if (call.getInt("use_sparse_mixer"))
    return call.refuse("attribute 'use_sparse_mixer'");
  bool isGated = call.getString("activation_type") == "swiglu";
  if (call.has(Experts::W3) && !(isGated && !call.getInt("swiglu_fusion")))
    return call.refuse("a third layer, but for 'swiglu' that is not fused");
  std::string activation = experts.writeActivation();
  if (activation.empty())
    return {};
  std::string text = experts.writeRoutes();
  return text +
         "count = Squeeze(Shape<start = 1, end = 2>(routes), [0])\n"
         "going = Constant<value = bool {1}>()\n"
         "nothing = x - x\n"
         "sums = Loop<body = expert (int64 e, bool c, float[] before)\n"
         "    => (bool c1, float[] after) {\n"
         "c1 = Identity(c)\n"
         "here = float(chosen == e)\n"
         "weight = ReduceSum<keepdims = 1>(here * shares, [1])\n"
         "places = Reshape(NonZero(bool(ReduceMax<keepdims = 0>(here, [1]))), "
         "[-1])\n"
         "rows_in = Gather<axis = 0>(x, places)\n" +
         experts.writeLayer(Experts::W1, Experts::B1, "rows_in", "first") +
         activation +
         experts.writeLayer(Experts::W2, Experts::B2, "act", "result") +
         "after = ScatterND<reduction = \"add\">(before, Unsqueeze(places, "
         "[1]), result * Gather<axis = 0>(weight, places))\n"
         "}>(count, going, nothing)\n"
         "output = CastLike(Reshape<allowzero = 1>(sums, Shape(input)), "
         "input)\n";
}

ArrayRef<ContribOperator> loopc::importer::getContribExperts() {
  static const ContribOperator operators[] = {
      {kContribDomain, "MoE",
       "k, activation_type, normalize_routing_weights, use_sparse_mixer, "
       "swiglu_fusion, swiglu_limit, activation_alpha: float = 1.0, "
       "activation_beta: float = 0.0",
       "input, router_probs, fc1_experts_weights, fc1_experts_bias, "
       "fc2_experts_weights, fc2_experts_bias, fc3_experts_weights, "
       "fc3_experts_bias",
       "output", writeExperts},
  };
  return operators;
}
