//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// onnxruntime's operators that generate tokens by calling a decoder again and
// again. The body is the first call, of the whole prompt, and a Loop around the
// others, of one token each; the decoder is an attribute of the node and is
// inlined in both places by kCallGraph.

#include "ContribOperators.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace loopc::importer;
namespace pb = ::onnx;

/// `text` with each '#' replaced by `suffix`: names inside of a loop's body may
/// not be those around it.
static std::string withSuffix(StringRef text, StringRef suffix) {
  std::string result;
  for (char c : text)
    c == '#' ? result.append(suffix) : result.append(1, c);
  return result;
}

/// ", prefix0, prefix1" and so on, each with `type` in front.
static std::string listNames(StringRef prefix, unsigned count,
                             StringRef type = "") {
  std::string result;
  for (unsigned k = 0; k < count; ++k)
    result += llvm::formatv(", {0}{1}{2}", type, prefix, k);
  return result;
}

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
// Scores
//===----------------------------------------------------------------------===//

namespace {

/// Where an operator has what changes scores; absent ones are -1.
struct ScoreInputs {
  int minLength = -1, repetition = -1, words = -1, prefixWords = -1;
};

} // namespace

/// Words that would make the last n words of a sequence ones that it has had.
/// Each place is compared with the end, shifted by one word after the other.
static std::string writeRepeatedWords(int64_t n) {
  std::string text = llvm::formatv(
      "gram# = Constant<value_ints = [{0}]>()\n"
      "gramLess# = Constant<value_ints = [{1}]>()\n"
      "gramMost0# = Sub(length#, gramLess#)\n"
      "gramMost# = Max(gramMost0#, none)\n"
      "gramEnd# = Add(gramMost#, gramLess#)\n"
      "gramWords# = Slice(sequence#, gramLess#, gramEnd#, axis1)\n"
      "same0# = Equal(gramWords#, gramWords#)\n",
      n, n - 1);
  for (int64_t k = 0; k < n - 1; ++k)
    text += llvm::formatv(
        "from{0}# = Constant<value_ints = [{0}]>()\n"
        "to{0}# = Add(from{0}#, gramMost#)\n"
        "had{0}# = Slice(sequence#, from{0}#, to{0}#, axis1)\n"
        "last{0}# = Constant<value_ints = [{2}]>()\n"
        "lastEnd{0}# = Constant<value_ints = [{3}]>()\n"
        "tail{0}# = Slice(sequence#, last{0}#, lastEnd{0}#, axis1)\n"
        "equal{0}# = Equal(had{0}#, tail{0}#)\n"
        "same{1}# = And(same{0}#, equal{0}#)\n",
        k, k + 1, k - (n - 1),
        k + 1 == n - 1 ? std::numeric_limits<int64_t>::max() : k + 2 - n);
  return text +
         llvm::formatv("limit# = Where(same{0}#, lowest, highest)\n"
                       "fresh# = ScatterElements<axis = 1, reduction = \"min\">"
                       "(SCORES, gramWords#, limit#)\n",
                       n - 1)
             .str();
}

/// chosen# [N, V] from scores# and sequence# [N, L], changed as the inputs say,
/// in onnxruntime's order. `isFirst`: of the prompt.
static std::string writeChanges(const ContribCall &call,
                                const ScoreInputs &inputs, bool isFirst) {
  std::string text = "length# = Shape<start = 1, end = 2>(sequence#)\n";
  std::string scores = "scores#";
  auto change = [&](StringRef nodes, StringRef result) {
    for (StringRef rest = nodes; !rest.empty();) {
      auto [head, tail] = rest.split("SCORES");
      text += head.str();
      if (head.size() != rest.size())
        text += scores;
      rest = tail;
    }
    scores = result.str();
  };
  auto has = [&](int input) { return input >= 0 && call.has(input); };
  if (has(inputs.repetition))
    change("had# = GatherElements<axis = 1>(SCORES, sequence#)\n"
           "less# = Mul(had#, penalty)\n"
           "part# = Div(had#, penalty)\n"
           "isLess# = Less(had#, zero)\n"
           "again# = Where(isLess#, less#, part#)\n"
           "repeated# = ScatterElements<axis = 1>(SCORES, sequence#, again#)\n",
           "repeated#");
  if (int64_t n = call.getInt("no_repeat_ngram_size"); n > 0)
    change(writeRepeatedWords(n), "fresh#");
  if (has(inputs.words))
    change("known# = Where(isWord, SCORES, lowest)\n", "known#");
  if (has(inputs.prefixWords) && isFirst)
    change("begun# = Where(isPrefix, SCORES, lowest)\n", "begun#");
  if (has(inputs.minLength))
    change("short# = Less(length#, least)\n"
           "early# = And(short#, isEnd)\n"
           "ended# = Where(early#, lowest, SCORES)\n",
           "ended#");
  return text + "chosen# = Identity(" + scores + ")\n";
}

/// What the changes of scores share, with the names that they use. Inputs go by
/// the names of the operator. logits0 are those of the prompt.
static std::string writeShared(const ContribCall &call,
                               const ScoreInputs &inputs) {
  auto has = [&](int input) { return input >= 0 && call.has(input); };
  call.addConstant("scalarShape", {0}, ArrayRef<int64_t>());
  std::string text =
      "axis0 = Constant<value_ints = [0]>()\n"
      "axis1 = Constant<value_ints = [1]>()\n"
      "none = Constant<value_ints = [0]>()\n"
      "one = Constant<value_ints = [1]>()\n"
      "lastPlace = Constant<value_int = -1>()\n"
      "along = Constant<value_int = 1>()\n"
      "zero = Constant<value_float = 0.0>()\n"
      "lowest = Constant<value = float {-3.4028234663852886e38}>()\n"
      "highest = Constant<value = float {3.4028234663852886e38}>()\n"
      "pad64 = Constant<value_int: int = @pad_token_id>()\n"
      "pad = Cast<to = 6>(pad64)\n"
      "end64 = Constant<value_int: int = @eos_token_id>()\n"
      "end = Cast<to = 6>(end64)\n"
      "most64 = Cast<to = 7>(max_length)\n"
      "most = Reshape(most64, one)\n"
      "batch = Shape<start = 0, end = 1>(input_ids)\n";
  if (has(inputs.repetition))
    text += "penalty = Reshape(repetition_penalty, scalarShape)\n";
  if (has(inputs.words))
    text += "wordBits = Cast<to = 9>(vocab_mask)\n"
            "isWord = Unsqueeze(wordBits, axis0)\n";
  if (has(inputs.prefixWords))
    text += "isPrefix = Cast<to = 9>(prefix_vocab_mask)\n";
  if (has(inputs.minLength))
    text += "least64 = Cast<to = 7>(min_length)\n"
            "least = Reshape(least64, one)\n"
            "first = Constant<value_int = 0>()\n"
            "step = Constant<value_int = 1>()\n"
            "words1 = Shape<start = 2, end = 3>(logits0)\n"
            "words = Reshape(words1, scalarShape)\n"
            "numbers = Range(first, words, step)\n"
            "isEnd = Equal(numbers, end64)\n";
  return text;
}

//===----------------------------------------------------------------------===//
// Prompts
//===----------------------------------------------------------------------===//

/// The first call of a decoder that has the prompt: logits0 and states s0, s1
/// and so on, positions and mask0 [B, S], lengths [B, 1] without padding.
static std::string writePrompt(const ContribCall &call,
                               const Decoder &decoder) {
  std::string text = llvm::formatv(
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
      call.has(6) ? "attention_mask" : "read", decoder.heads, decoder.size,
      static_cast<int>(decoder.element));
  text += llvm::formatv(
      "logits0{0} = {1}<graph: graph = @{2}>(input_ids, positions, mask0",
      listNames("s", decoder.states), kCallGraph,
      call.getAttr("init_decoder") ? "init_decoder" : "decoder");
  for (unsigned k = 0; k < decoder.states; ++k)
    text += ", noState";
  return text + ")\n";
}

//===----------------------------------------------------------------------===//
// Greedy search
//===----------------------------------------------------------------------===//

/// scores# [B, V], of the last token of logits#.
static constexpr StringLiteral kLastScores =
    "given# = Cast<to = 1>(logits#)\n"
    "scores# = Gather<axis = 1>(given#, lastPlace)\n";

/// next# [B, 1] and sequence and done with it, from picked#: what a sequence
/// that has ended goes on with is padding.
static constexpr StringLiteral kAppend =
    "atEnd# = Equal(picked#, end)\n"
    "doneNext# = Or(done#, atEnd#)\n"
    "next# = Where(doneNext#, pad, picked#)\n"
    "sequenceNext# = Concat<axis = 1>(sequence#, next#)\n"
    "doneBits# = Cast<to = 6>(doneNext#)\n"
    "allDone32# = ReduceMin<keepdims = 0>(doneBits#)\n"
    "allDone# = Cast<to = 9>(allDone32#)\n"
    "open# = Not(allDone#)\n";

static constexpr StringLiteral kPickBest =
    "best# = ArgMax<axis = 1, keepdims = 1>(chosen#)\n"
    "picked# = Cast<to = 6>(best#)\n";

/// The loop behind the prompt, and its result as `sequences`.
static std::string writeGreedyLoop(const ContribCall &call,
                                   const Decoder &decoder, StringRef step) {
  StringRef element = decoder.getElement();
  std::string states = listNames("pastB", decoder.states);
  std::string text = llvm::formatv(
      "prompt = Shape<start = 1, end = 2>(input_ids)\n"
      "left = Sub(most, prompt)\n"
      "trips = Sub(left, one)\n"
      "nextEnd, positionEnd, maskEnd, sequenceEnd, doneEnd{0} = Loop<body = "
      "decode (int64 i, bool c, int32[] token, int32[] position, int32[] mask, "
      "int32[] sequenceB, bool[] doneB{1}) => (bool[] openB, int32[] nextB, "
      "int32[] positionNext, int32[] maskNext, int32[] sequenceNextB, "
      "bool[] doneNextB{2}) {{\n"
      "seen = Shape(token)\n"
      "bit = Constant<value = int32 {{1}>()\n"
      "bits = Expand(bit, seen)\n"
      "maskNext = Concat<axis = 1>(mask, bits)\n"
      "positionNext = Add(position, bit)\n"
      "logitsB{3} = {4}<graph: graph = @decoder>(token, position, maskNext{5})"
      "\n",
      listNames("endState", decoder.states),
      listNames("pastB", decoder.states, element),
      listNames("presentB", decoder.states, element),
      listNames("presentB", decoder.states), kCallGraph, states);
  text += step;
  text += llvm::formatv(
      "} >(trips, openA, nextA, lengths, mask0, sequenceNextA, doneNextA{0})\n"
      "length = Shape<start = 1, end = 2>(sequenceEnd)\n"
      "rest = Sub(most, length)\n"
      "restShape = Concat<axis = 0>(batch, rest)\n"
      "blanks = Expand(pad, restShape)\n"
      "sequences = Concat<axis = 1>(sequenceEnd, blanks)\n",
      listNames("s", decoder.states));
  return text;
}

static std::string writeGreedySearch(const ContribCall &call) {
  if (call.getInt("model_type") != 0)
    return call.refuse("a model_type that is not 0, GPT");
  Decoder decoder, first;
  if (!readDecoder(call, "decoder", decoder))
    return {};
  if (call.getAttr("init_decoder") && !readDecoder(call, "init_decoder", first))
    return {};
  ScoreInputs inputs{2, 3, 4, 5};
  auto step = [&](bool isFirst) {
    return kLastScores.str() + writeChanges(call, inputs, isFirst) +
           kPickBest.str() + kAppend.str();
  };
  std::string head = "logitsA = Identity(logits0)\n"
                     "sequenceA = Identity(input_ids)\n"
                     "falseBit = Constant<value = bool {0}>()\n"
                     "columnShape = Concat<axis = 0>(batch, one)\n"
                     "doneA = Expand(falseBit, columnShape)\n";
  std::string shared = writeShared(call, inputs);
  std::string prompt = writePrompt(call, decoder);
  // What needs the logits' shape comes behind them.
  size_t split = shared.find("words1 = ");
  std::string behind = split == std::string::npos ? "" : shared.substr(split);
  shared.resize(shared.size() - behind.size());
  return shared + prompt + behind + head + withSuffix(step(true), "A") +
         writeGreedyLoop(call, decoder, withSuffix(step(false), "B"));
}

ArrayRef<ContribOperator> loopc::importer::getContribSearch() {
  static const ContribOperator operators[] = {
      {kContribDomain, "GreedySearch",
       "decoder, init_decoder, encoder, eos_token_id, pad_token_id, "
       "decoder_start_token_id, model_type, no_repeat_ngram_size, vocab_size",
       "input_ids, max_length, min_length, repetition_penalty, vocab_mask, "
       "prefix_vocab_mask, attention_mask",
       "sequences", writeGreedySearch},
  };
  return operators;
}
