//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The models that searches call: decoders that have the prompt (GPT), and those
// that an encoder read it for (T5, Whisper).

#include "ContribSearch.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace loopc;
using namespace loopc::importer;
namespace pb = ::onnx;

//===----------------------------------------------------------------------===//
// Decoders
//===----------------------------------------------------------------------===//

namespace {

/// What the signature of a decoder with past states says: input_ids,
/// position_ids, attention_mask and states [2, N, heads, P, size], to logits
/// and the states with what was seen.
struct Decoder {
  unsigned states = 0;
  int64_t heads = 0, size = 0;
  pb::TensorProto::DataType element = pb::TensorProto::FLOAT;

  /// As the text of types has it.
  StringRef getElement() const {
    return element == pb::TensorProto::FLOAT ? "float[] " : "float16[] ";
  }
};

} // namespace

/// Fills `decoder` from the graph; refuses and returns false where it is none.
static bool readDecoder(const ContribCall &call, StringRef name,
                        Decoder &decoder) {
  const pb::AttributeProto *attr = call.getAttr(name);
  auto refuse = [&](const Twine &why) {
    call.refuse("graph '" + name + "' " + why);
    return false;
  };
  if (!attr || !attr->has_g())
    return refuse("is missing");
  const pb::GraphProto &graph = attr->g();
  if (graph.output_size() < 2)
    return refuse("has no states among its outputs");
  decoder.states = graph.output_size() - 1;
  if (graph.input_size() != static_cast<int>(decoder.states) + 3)
    return refuse("has " + Twine(graph.input_size()) +
                  " inputs, expected tokens, positions, a mask and " +
                  Twine(decoder.states) +
                  " states: states that share a buffer with what they become "
                  "are those of GPU kernels");
  for (unsigned k = 0; k < decoder.states; ++k) {
    const pb::TypeProto_Tensor &type = graph.input(3 + k).type().tensor_type();
    const auto &shape = type.shape();
    if (shape.dim_size() != 5 || !shape.dim(2).has_dim_value() ||
        !shape.dim(4).has_dim_value())
      return refuse("does not declare input '" + graph.input(3 + k).name() +
                    "' as a state with known heads and their size");
    auto element = static_cast<pb::TensorProto::DataType>(type.elem_type());
    if (element != pb::TensorProto::FLOAT &&
        element != pb::TensorProto::FLOAT16)
      return refuse("has states that are neither float nor float16");
    if (k && (decoder.heads != shape.dim(2).dim_value() ||
              decoder.size != shape.dim(4).dim_value() ||
              decoder.element != element))
      return refuse("has states of different heads");
    decoder.heads = shape.dim(2).dim_value();
    decoder.size = shape.dim(4).dim_value();
    decoder.element = element;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Prompts
//===----------------------------------------------------------------------===//

/// The first call of a decoder that has the prompt, and the others.
static std::string writePrompt(const ContribCall &call, const Decoder &decoder,
                               int attentionMask) {
  std::string text = llvm::formatv(
      "start = Identity(input_ids)\n"
      "isPad = Equal(input_ids, pad)\n"
      "isRead = Not(isPad)\n"
      "read = Cast<to = 6>(isRead)\n"
      "count = CumSum(read, along)\n"
      "before = Sub(count, read)\n"
      "positions = Mul(before, read)\n"
      "lengths = ReduceSum<keepdims = 1>(read, axis1)\n"
      "mask0 = Identity({0})\n"
      "two = Constant<value_ints = [2]>()\n"
      "heads = Constant<value_ints = [{1}]>()\n"
      "size = Constant<value_ints = [{2}]>()\n"
      "noShape = Concat<axis = 0>(two, batch, heads, none, size)\n"
      "noState32 = ConstantOfShape(noShape)\n"
      "noState = Cast<to = {3}>(noState32)\n",
      call.has(attentionMask) ? "attention_mask" : "read", decoder.heads,
      decoder.size, static_cast<int>(decoder.element));
  text += llvm::formatv(
      "logits0{0} = {1}<graph: graph = @{2}>(input_ids, positions, mask0",
      listNames("s", decoder.states), kCallGraph,
      call.getAttr("init_decoder") ? "init_decoder" : "decoder");
  for (unsigned k = 0; k < decoder.states; ++k)
    text += ", noState";
  return text + ")\n";
}

bool importer::readGpt(const ContribCall &call, int attentionMask,
                       SearchModel &model) {
  Decoder decoder, first;
  if (!readDecoder(call, "decoder", decoder))
    return false;
  if (call.getAttr("init_decoder") && !readDecoder(call, "init_decoder", first))
    return false;
  model.states = decoder.states;
  model.element = decoder.getElement();
  model.axis = 1;
  model.prompt = writePrompt(call, decoder, attentionMask);
  model.repeat("lengths");
  model.repeat("mask0");
  model.extras = {{"lengthsRows", "position", "positionNext"},
                  {"mask0Rows", "mask", "maskNext"}};
  model.call = llvm::formatv(
      "seen = Shape(token)\n"
      "bit = Constant<value = int32 {{1}>()\n"
      "bits = Expand(bit, seen)\n"
      "maskNext = Concat<axis = 1>(mask, bits)\n"
      "positionNext = Add(position, bit)\n"
      "logitsB{0} = {1}<graph: graph = @decoder>(token, position, maskNext{2})"
      "\n",
      listNames("presentB", decoder.states), kCallGraph,
      listNames("pastB", decoder.states));
  return true;
}

//===----------------------------------------------------------------------===//
// Encoders and decoders
//===----------------------------------------------------------------------===//

/// The start of sequences, encoderMask and what an encoder of tokens is called
/// with.
static std::string writeEncoderInputs(const ContribCall &call) {
  std::string text = "startToken64 = Constant<value_int: int = "
                     "@decoder_start_token_id>()\n"
                     "startToken = Cast<to = 6>(startToken64)\n"
                     "startShape = Concat<axis = 0>(batch, one)\n"
                     "start = Expand(startToken, startShape)\n";
  if (call.has(9))
    return text + "encoderMask = Identity(attention_mask)\n";
  // Padding in front is not read. What is behind may be the end's token.
  return text + "isPad = Equal(input_ids, pad)\n"
                "isRead = Not(isPad)\n"
                "read = Cast<to = 6>(isRead)\n"
                "count = CumSum(read, along)\n"
                "bit0 = Constant<value = int32 {1}>()\n"
                "encoderMask = Min(count, bit0)\n";
}

/// The inputs of a decoder: `token`, `states` of it, and what the encoder made,
/// with `suffix` behind the names. Refuses and returns an empty text where
/// there are others.
static std::string listDecoderInputs(const ContribCall &call,
                                     const pb::GraphProto &decoder,
                                     unsigned states, StringRef token,
                                     StringRef state, StringRef suffix,
                                     SearchModel &model) {
  std::string text = token.str();
  unsigned pasts = 0;
  for (int k = 1; k < decoder.input_size(); ++k) {
    StringRef name = decoder.input(k).name();
    std::string value = name == "encoder_input_ids"        ? "input_ids"
                        : name == "encoder_attention_mask" ? "encoderMask"
                        : name == "encoder_hidden_states"  ? "hidden"
                                                           : "";
    if (value.empty() && pasts++ < states) {
      text +=
          llvm::formatv(", {0}{1}", state,
                        state == "noState" ? "" : std::to_string(pasts - 1));
      continue;
    }
    if (value.empty())
      value = llvm::formatv("cross{0}", pasts - 1 - states);
    text += ", " + value + suffix.str();
    model.repeat(value);
  }
  if (pasts != 2 * states)
    return call.refuse("graph 'decoder' has " + Twine(pasts) +
                       " states, expected " + Twine(2 * states) +
                       ": states that share a buffer with what they become are "
                       "those of GPU kernels");
  return text;
}

bool importer::readEncoderDecoder(const ContribCall &call, bool isSpeech,
                                  SearchModel &model) {
  auto refuse = [&](const Twine &why) {
    call.refuse(why);
    return false;
  };
  const pb::AttributeProto *first = call.getAttr("encoder");
  const pb::AttributeProto *next = call.getAttr("decoder");
  if (!first || !first->has_g() || !next || !next->has_g())
    return refuse("graph 'encoder' or 'decoder' is missing");
  const pb::GraphProto &encoder = first->g(), &decoder = next->g();
  model.states = decoder.output_size() - 1;
  const pb::TypeProto_Tensor &token =
      decoder.input_size() ? decoder.input(0).type().tensor_type()
                           : pb::TypeProto_Tensor();
  if (decoder.output_size() < 3 || decoder.output_size() % 2 == 0 ||
      token.shape().dim_size() != 2)
    return refuse("graph 'decoder' has no tokens or no states");
  if (call.getInt("decoder_start_token_id", -1) < 0 && !call.has(10))
    return refuse("decoder_start_token_id is missing");
  bool isShort = token.shape().dim(1).dim_value() == 1;
  auto element = decoder.output(1).type().tensor_type().elem_type();
  model.element =
      element == pb::TensorProto::FLOAT16 ? "float16[] " : "float[] ";
  std::string inputs = listDecoderInputs(call, decoder, model.states,
                                         isShort ? "token" : "sequenceB",
                                         "pastB", "Rows", model);
  if (inputs.empty())
    return false;
  model.call =
      llvm::formatv("logitsB{0} = {1}<graph: graph = @decoder>({2})\n",
                    listNames("presentB", model.states), kCallGraph, inputs);
  std::string cross = listNames("cross", model.states);
  bool makesLogits = encoder.output_size() == int(2 + 2 * model.states);
  bool makesKeys = !isSpeech && !llvm::is_contained(model.repeated, "hidden") &&
                   encoder.output_size() == int(model.states);
  if (!makesLogits && !makesKeys)
    return refuse("graph 'encoder' has " + Twine(encoder.output_size()) +
                  " outputs, expected logits, what it read and " +
                  Twine(2 * model.states) + " states" +
                  (isSpeech ? "" : ", or the keys and values that it made"));
  if (isSpeech) {
    model.prompt = call.has(10) ? "start = Identity(decoder_input_ids)\n"
                                : "startToken64 = Constant<value_int: int = "
                                  "@decoder_start_token_id>()\n"
                                  "startToken = Cast<to = 6>(startToken64)\n"
                                  "startShape = Concat<axis = 0>(batch, one)\n"
                                  "start = Expand(startToken, startShape)\n";
    model.prompt += llvm::formatv(
        "logits0, hidden{0}{1} = {2}<graph: graph = @encoder>(input_ids, "
        "start)\n",
        listNames("s", model.states), cross, kCallGraph);
    return true;
  }
  model.prompt = writeEncoderInputs(call);
  if (makesLogits) {
    model.prompt += llvm::formatv(
        "logits0, hidden{0}{1} = {2}<graph: graph = @encoder>(input_ids, "
        "encoderMask, start)\n",
        listNames("s", model.states), cross, kCallGraph);
    return true;
  }
  // The decoder makes the first logits, too.
  model.prompt += llvm::formatv(
      "{0} = {1}<graph: graph = @encoder>(input_ids, encoderMask)\n"
      "heads = Shape<start = 1, end = 2>(cross0)\n"
      "size = Shape<start = 3, end = 4>(cross0)\n"
      "noShape = Concat<axis = 0>(batch, heads, none, size)\n"
      "noState32 = ConstantOfShape(noShape)\n"
      "noState = CastLike(noState32, cross0)\n"
      "logits0{2} = {1}<graph: graph = @decoder>({3})\n",
      StringRef(cross).drop_front(2), kCallGraph, listNames("s", model.states),
      listDecoderInputs(call, decoder, model.states, "start", "noState", "",
                        model));
  return true;
}
