//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What onnxruntime has for state-space models and linear attention: ONNX's
// operators of version 27 with more attributes, and the gates around them. The
// causal convolution of ONNX itself is here, too: the function of its schema
// wants to know the number of channels, a Conv's groups.

#include "ContribOperators.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace loopc::importer;

static std::string writeCausalConv(const ContribCall &call) {
  for (StringRef name : {"state_window", "channels_last"})
    if (call.getInt(name) != 0)
      return call.refuse("attribute '" + name + "'");
  for (StringRef name : {"dilation", "ndim"})
    if (call.getInt(name, 1) != 1)
      return call.refuse("attribute '" + name + "' is not 1");
  return "output, present_state = CausalConvWithState<activation: string = "
         "@activation>(input, weight, bias, past_state)\n";
}

/// Each channel by itself: a Conv of as many groups, or, where nothing tells
/// how many there are, windows of the padded input and a sum over each.
static std::string writeChannelSums(const ContribCall &call) {
  std::optional<int64_t> channels = call.getExtent(0, 1);
  if (!channels)
    channels = call.getExtent(1, 0);
  if (channels)
    return llvm::formatv("sum = Conv<group = {0}>(padded, weight{1})\n",
                         *channels, call.has(2) ? ", bias" : "");
  return std::string("first = Range(0, Squeeze(Shape<start = 2>(input)), 1)\n"
                     "offset = Range(0, Squeeze(kernel), 1)\n"
                     "places = Unsqueeze(first, [1]) + offset\n"
                     "windows = Gather<axis = 2>(padded, places)\n"
                     "part = Einsum<equation = \"bclk,cok->bcl\">"
                     "(windows, weight)\n") +
         (call.has(2) ? "sum = part + Unsqueeze(bias, [1])\n"
                      : "sum = Identity(part)\n");
}

static std::string writeCausalConvolution(const ContribCall &call) {
  StringRef activation = call.getString("activation");
  bool isSilu = activation == "silu" || activation == "swish";
  if (!isSilu && !activation.empty() && activation != "none")
    return call.refuse("the activation '" + activation + "' is unknown");
  std::string text = "kernel = Shape<start = 2, end = 3>(weight)\n"
                     "kept = kernel - [1]\n";
  if (call.has(3))
    text += "padded = Concat<axis = 2>(past_state, input)\n";
  else
    text += "none = ConstantOfShape(Concat<axis = 0>"
            "(Shape<start = 0, end = 2>(input), kept))\n"
            "padded = Concat<axis = 2>(CastLike(none, input), input)\n";
  return text + writeChannelSums(call) +
         (isSilu ? "output = sum * Sigmoid(sum)\n"
                 : "output = Identity(sum)\n") +
         "total = Shape<start = 2, end = 3>(padded)\n"
         "present_state = Slice(padded, total - kept, total, [2])\n";
}

static std::string writeLinearAttention(const ContribCall &call) {
  if (call.getInt("state_window") != 0)
    return call.refuse("attribute 'state_window'");
  if (call.getInt("q_num_heads") < call.getInt("kv_num_heads"))
    return call.refuse("fewer heads of queries than of keys");
  return "output, present_state = LinearAttention<q_num_heads: int = "
         "@q_num_heads, kv_num_heads: int = @kv_num_heads, scale: float = "
         "@scale, update_rule: string = @update_rule>"
         "(query, key, value, past_state, decay, beta)\n";
}

static std::string writeAttentionGate(const ContribCall &call) {
  if (call.wants(1) && !call.has(3))
    return call.refuse("an output 'beta' without the input 'b'");
  std::string text = "decay32 = decay_scale * Softplus(float(a) + dt_bias)\n"
                     "decay = CastLike(decay32, a)\n";
  if (call.has(3))
    text += "beta = CastLike(Sigmoid(float(b)), b)\n";
  return text;
}

static std::string writeGatedNorm(const ContribCall &call) {
  StringRef activation = call.getString("activation");
  std::string text = "x0 = float(X)\n"
                     "scale32 = float(scale)\n"
                     "z = float(gate)\n"
                     "part = Sigmoid(z)\n";
  if (activation.empty() || activation == "silu" || activation == "swish")
    text += "open = z * part\n";
  else if (activation == "sigmoid")
    text += "open = Identity(part)\n";
  else
    return call.refuse("the activation '" + activation + "' is unknown");
  // Heads that lie next to each other are normalized each by itself.
  return text + "x = Reshape(x0, Concat<axis = 0>(Shape<end = -1>(X), [-1], "
                "Shape(scale)))\n"
                "y = Reshape<allowzero = 1>(RMSNormalization<axis = -1, "
                "epsilon: float = @epsilon>(x, scale32), Shape(X)) * open\n"
                "Y = CastLike(y, X)\n";
}

static std::string writeGatedAdd(const ContribCall &) {
  return "output = X + Y * gate\n";
}

static std::string writeScaledSilu(const ContribCall &call) {
  std::string factor = call.has(1) ? "Identity(scale)" : "@alpha";
  return "f = " + factor +
         "\n"
         "z = CastLike(float(X) * float(f), X)\n"
         "Y = z * Sigmoid(z)\n";
}

ArrayRef<ContribOperator> loopc::importer::getContribStates() {
  static const ContribOperator operators[] = {
      {kContribDomain, "CausalConvWithState",
       "activation: string = \"none\", state_window, channels_last, dilation, "
       "ndim",
       "input, weight, bias, past_state", "output, present_state",
       writeCausalConv, 27},
      {"", "CausalConvWithState", "activation: string = \"none\"",
       "input, weight, bias, past_state", "output, present_state",
       writeCausalConvolution, 27, /*replacesSchema=*/true},
      {kContribDomain, "LinearAttention",
       "q_num_heads, kv_num_heads, scale: float = 0.0, "
       "update_rule: string = \"gated_delta\", chunk_size, state_window",
       "query, key, value, past_state, decay, beta", "output, present_state",
       writeLinearAttention, 27},
      {kContribDomain, "LinearAttentionGate", "", "a, dt_bias, decay_scale, b",
       "decay, beta", writeAttentionGate},
      {kContribDomain, "GatedRMSNorm", "activation, epsilon: float = 1e-05",
       "X, scale, gate", "Y", writeGatedNorm},
      {kContribDomain, "GatedAdd", "", "X, Y, gate", "output", writeGatedAdd},
      {kContribDomain, "ScaledSiLU", "alpha: float = 1.0", "X, scale", "Y",
       writeScaledSilu},
  };
  return operators;
}
