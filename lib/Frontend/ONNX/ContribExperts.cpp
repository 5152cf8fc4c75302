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
      llvm::formatv("rest = Constant<value_ints = [-1]>()\n"
                    "front = Constant<value_ints = [0]>()\n"
                    "second = Constant<value_ints = [1]>()\n"
                    "hidden = Shape<start = -1>(input)\n"
                    "rows_shape = Concat<axis = 0>(rest, hidden)\n"
                    "input32 = Cast<to = 1>(input)\n"
                    "x = Reshape(input32, rows_shape)\n"
                    "routes = Cast<to = 1>(router_probs)\n"
                    "most = Constant<value_ints = [{0}]>()\n"
                    "best, chosen = TopK<axis = 1>(routes, most)\n",
                    call.getInt("k", 1));
  if (call.getInt("normalize_routing_weights"))
    return text + "shares = Softmax<axis = 1>(best)\n";
  return text + "all_shares = Softmax<axis = 1>(routes)\n"
                "shares = GatherElements<axis = 1>(all_shares, chosen)\n";
}

/// `to` = `from` times the weights of expert `e`, transposed, and the bias.
std::string Experts::writeLayer(unsigned weights, unsigned bias, StringRef from,
                                StringRef to) const {
  unsigned number = 1 + (weights - W1) / 2;
  std::string text =
      llvm::formatv("{0}_w0 = Gather<axis = 0>(fc{1}_experts_weights, e)\n"
                    "{0}_w1 = Cast<to = 1>({0}_w0)\n"
                    "{0}_w = Transpose<perm = [1, 0]>({0}_w1)\n"
                    "{0}_product = MatMul({2}, {0}_w)\n",
                    to, number, from);
  if (!call.has(bias))
    return text + llvm::formatv("{0} = Identity({0}_product)\n", to).str();
  return text +
         llvm::formatv("{0}_b0 = Gather<axis = 0>(fc{1}_experts_bias, e)\n"
                       "{0}_b = Cast<to = 1>({0}_b0)\n"
                       "{0} = Add({0}_product, {0}_b)\n",
                       to, number)
             .str();
}

/// act of gate and linear: gate * sigmoid(alpha * gate) * (linear + beta).
std::string Experts::writeGated() const {
  std::string text;
  if (float limit = call.getFloat("swiglu_limit", INFINITY); limit < INFINITY)
    text = "high = Constant<value_float: float = @swiglu_limit>()\n"
           "low = Neg(high)\n"
           "gate1 = Min(gate, high)\n"
           "linear1 = Clip(linear, low, high)\n";
  else
    text = "gate1 = Identity(gate)\nlinear1 = Identity(linear)\n";
  return text + "alpha = Constant<value_float: float = @activation_alpha>()\n"
                "beta = Constant<value_float: float = @activation_beta>()\n"
                "bent = Mul(gate1, alpha)\n"
                "open = Sigmoid(bent)\n"
                "gated = Mul(gate1, open)\n"
                "moved = Add(linear1, beta)\n"
                "act = Mul(gated, moved)\n";
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
    return "open = Sigmoid(first)\nact = Mul(first, open)\n";
  if (kind != "swiglu")
    return call.refuse("the activation '" + kind + "' is unknown");
  switch (call.getInt("swiglu_fusion")) {
  case 1:
    return "row_count = Shape<start = 0, end = 1>(first)\n"
           "two = Constant<value_ints = [2]>()\n"
           "width = Shape<start = 1, end = 2>(first)\n"
           "half = Div(width, two)\n"
           "pairs_shape = Concat<axis = 0>(row_count, half, two)\n"
           "pairs = Reshape<allowzero = 1>(first, pairs_shape)\n"
           "gate0, linear0 = Split<axis = 2, num_outputs = 2>(pairs)\n"
           "last = Constant<value_ints = [2]>()\n"
           "gate = Squeeze(gate0, last)\n"
           "linear = Squeeze(linear0, last)\n" +
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
         "count1 = Shape<start = 1, end = 2>(routes)\n"
         "count = Squeeze(count1, front)\n"
         "going = Constant<value = bool {1}>()\n"
         "nothing = Sub(x, x)\n"
         "sums = Loop<body = expert (int64 e, bool c, float[] before)\n"
         "    => (bool c1, float[] after) {\n"
         "c1 = Identity(c)\n"
         "is_here = Equal(chosen, e)\n"
         "here = Cast<to = 1>(is_here)\n"
         "counted = Mul(here, shares)\n"
         "weight = ReduceSum<keepdims = 1>(counted, second)\n"
         "has0 = ReduceMax<keepdims = 0>(here, second)\n"
         "has = Cast<to = 9>(has0)\n"
         "found = NonZero(has)\n"
         "places = Reshape(found, rest)\n"
         "rows_in = Gather<axis = 0>(x, places)\n" +
         experts.writeLayer(Experts::W1, Experts::B1, "rows_in", "first") +
         activation +
         experts.writeLayer(Experts::W2, Experts::B2, "act", "result") +
         "own = Gather<axis = 0>(weight, places)\n"
         "weighed = Mul(result, own)\n"
         "columns = Unsqueeze(places, second)\n"
         "after = ScatterND<reduction = \"add\">(before, columns, weighed)\n"
         "}>(count, going, nothing)\n"
         "shape = Shape(input)\n"
         "sums_as_given = Reshape<allowzero = 1>(sums, shape)\n"
         "output = CastLike(sums_as_given, input)\n";
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
