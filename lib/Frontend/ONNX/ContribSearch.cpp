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
  int temperature = -1; ///< Whisper's; Sampling has an attribute
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
           "lasting# = Where(early#, lowest, SCORES)\n",
           "lasting#");
  if (has(inputs.temperature) || call.getAttr("temperature"))
    change("cooled# = Div(SCORES, temperatureOrOne)\n", "cooled#");
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
  // One that is not above zero changes nothing.
  if (has(inputs.temperature) || call.getAttr("temperature"))
    text +=
        (has(inputs.temperature)
             ? "warmth = Reshape(temperature, scalarShape)\n"
             : "warmth = Constant<value_float: float = @temperature>()\n") +
        std::string("isWarm = Greater(warmth, zero)\n"
                    "unchanged = Constant<value_float = 1.0>()\n"
                    "temperatureOrOne = Where(isWarm, warmth, unchanged)\n");
  if (has(inputs.words))
    text += "wordBits = Cast<to = 9>(vocab_mask)\n"
            "isWord = Unsqueeze(wordBits, axis0)\n";
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

namespace {

/// What a search needs to know of a family of models.
struct Model {
  /// Nodes that make start [B, S], the words that sequences begin with, logits0
  /// behind them, states s0, s1 and so on, and what else the calls need.
  std::string prompt;
  /// Nodes of the loop's body that make logitsB and presentB0, presentB1 and so
  /// on of token [N, 1], pastB0, pastB1 and so on, and the new values of
  /// extras.
  std::string call;
  unsigned states = 0;
  /// The axis of the states that goes by sequences, and their type.
  unsigned axis = 0;
  StringRef element;
  /// What the calls need of the prompt, by sequences along axis 0: the loop
  /// finds it under the same names with "Rows" behind.
  SmallVector<std::string> repeated;

  void repeat(StringRef name) {
    if (!llvm::is_contained(repeated, name))
      repeated.push_back(name.str());
  }
  /// Other values that the loop carries: int32, initial value, argument,
  /// result.
  struct Extra {
    StringRef init, argument, result;
  };
  SmallVector<Extra> extras;
};

} // namespace

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

/// Of the GPT family; `attentionMask` is the input of that name. Refuses and
/// returns false where the graphs are no such decoders.
static bool readGpt(const ContribCall &call, int attentionMask, Model &model) {
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
                                     Model &model) {
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

/// Of the families of T5 and Whisper, which reads `isSpeech`.
static bool readEncoderDecoder(const ContribCall &call, bool isSpeech,
                               Model &model) {
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
  if (!makesLogits && encoder.output_size() != int(model.states))
    return refuse("graph 'encoder' has " + Twine(encoder.output_size()) +
                  " outputs, expected " + Twine(2 + 2 * model.states) + " or " +
                  Twine(model.states));
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

/// The values of the prompt that the loop needs, for each sequence of the loop:
/// those of `owner`, or the same where there is none.
static std::string writeRepeated(const Model &model, StringRef owner) {
  std::string text;
  auto repeat = [&](StringRef name, unsigned axis) {
    if (owner.empty())
      text += llvm::formatv("{0}Rows = Identity({0})\n", name);
    else
      text += llvm::formatv("{0}Rows = Gather<axis = {1}>({0}, {2})\n", name,
                            axis, owner);
  };
  for (const std::string &name : model.repeated)
    repeat(name, 0);
  return text;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

namespace {

/// A value that a loop carries, of a search: with A behind it is that of the
/// prompt's step, with B the body's argument; Next is between the two.
struct Carried {
  StringRef type, name;
};

} // namespace

/// Nodes that make next0`suffix` and so on of the states `from`0 and so on: of
/// each sequence that goes on, what was at its place in `rows`, where there are
/// such.
static std::string writeStates(const Model &model, StringRef from,
                               StringRef rows, StringRef suffix) {
  std::string text;
  for (unsigned k = 0; k < model.states; ++k)
    if (rows.empty())
      text += llvm::formatv("next{0}{1} = Identity({2}{1})\n", suffix, k, from);
    else
      text += llvm::formatv("next{0}{1} = Gather<axis = {3}>({2}{1}, {4})\n",
                            suffix, k, from, model.axis, rows);
  return text;
}

/// trips, and the loop behind the prompt's step. `step`, with '#' for what is
/// behind its names, makes nameNext# of each carried name#, token# and open#;
/// `rows` are those of states. Results are nameEnd and `collected` as it is.
static std::string writeLoop(const Model &model, StringRef step,
                             ArrayRef<Carried> carried, StringRef rows,
                             StringRef collected) {
  std::string ends = "tokenEnd", arguments = "int32[] token";
  std::string results = "int32[] tokenB", inits = "tokenA";
  for (const Model::Extra &extra : model.extras) {
    ends += (", " + extra.argument + "End").str();
    arguments += (", int32[] " + extra.argument).str();
    results += (", int32[] " + extra.result).str();
    inits += (", " + extra.init).str();
  }
  for (const Carried &value : carried) {
    ends += (", " + value.name + "End").str();
    arguments += (", " + value.type + " " + value.name + "B").str();
    results += (", " + value.type + " " + value.name + "NextB").str();
    inits += (", " + value.name + "NextA").str();
  }
  ends += listNames("endState", model.states);
  arguments += listNames("pastB", model.states, model.element);
  results += listNames("nextB", model.states, model.element);
  inits += listNames("nextA", model.states);
  if (!collected.empty()) {
    ends += (", " + collected).str();
    results += (", float[] " + collected + "B").str();
  }
  return "startLength = Shape<start = 1, end = 2>(start)\n"
         "left = Sub(most, startLength)\n"
         "trips = Sub(left, one)\n" +
         ends + " = Loop<body = decode (int64 i, bool c, " + arguments +
         ") => (bool[] openB, " + results + ") {\n" + model.call +
         withSuffix(step, "B") + writeStates(model, "presentB", rows, "B") +
         "} >(trips, openA, " + inits + ")\n";
}

/// `shared`, with what needs the logits' shape behind `prompt`.
static std::string joinShared(std::string shared, StringRef prompt) {
  size_t split = std::min(shared.find("words1 = "), shared.size());
  return shared.substr(0, split) + prompt.str() + shared.substr(split);
}

//===----------------------------------------------------------------------===//
// Greedy search
//===----------------------------------------------------------------------===//

/// scores# [N, V], of the last token of logits#.
static constexpr StringLiteral kLastScores =
    "given# = Cast<to = 1>(logits#)\n"
    "scores# = Gather<axis = 1>(given#, lastPlace)\n";

/// open#: whether doneNext# holds for all.
static constexpr StringLiteral kOpen =
    "doneBits# = Cast<to = 6>(doneNext#)\n"
    "allDone32# = ReduceMin<keepdims = 0>(doneBits#)\n"
    "allDone# = Cast<to = 9>(allDone32#)\n"
    "open# = Not(allDone#)\n";

/// token# [N, 1] and what becomes of the sequence with it, from picked#: what a
/// sequence that has ended goes on with is padding.
static constexpr StringLiteral kAppend =
    "atEnd# = Equal(picked#, end)\n"
    "doneNext# = Or(done#, atEnd#)\n"
    "token# = Where(doneNext#, pad, picked#)\n"
    "sequenceNext# = Concat<axis = 1>(sequence#, token#)\n";

static constexpr StringLiteral kPickBest =
    "best# = ArgMax<axis = 1, keepdims = 1>(chosen#)\n"
    "picked# = Cast<to = 6>(best#)\n";

/// A greedy search whose choice of a token is `pick`, which makes picked# [B,
/// 1] of chosen# and whatever else is `carried` on.
static std::string writeOneByOne(const ContribCall &call, StringRef prepare,
                                 StringRef pick, ArrayRef<Carried> others) {
  if (call.getInt("model_type") != 0)
    return call.refuse("a model_type that is not 0, GPT");
  Model model;
  if (!readGpt(call, 6, model))
    return {};
  ScoreInputs inputs{2, 3, 4, 5};
  auto step = [&](bool isFirst) {
    return kLastScores.str() + writeChanges(call, inputs, isFirst) +
           pick.str() + kAppend.str() + kOpen.str();
  };
  SmallVector<Carried> carried = {{"int32[]", "sequence"}, {"bool[]", "done"}};
  llvm::append_range(carried, others);
  return joinShared(writeShared(call, inputs), model.prompt) +
         writeRepeated(model, "") +
         "logitsA = Identity(logits0)\n"
         "sequenceA = Identity(start)\n"
         "falseBit = Constant<value = bool {0}>()\n"
         "columnShape = Concat<axis = 0>(batch, one)\n"
         "doneA = Expand(falseBit, columnShape)\n" +
         (call.has(5) ? "isPrefix = Cast<to = 9>(prefix_vocab_mask)\n" : "") +
         prepare.str() + withSuffix(step(true), "A") +
         writeStates(model, "s", "", "A") +
         writeLoop(model, step(false), carried, "", "") +
         "length = Shape<start = 1, end = 2>(sequenceEnd)\n"
         "rest = Sub(most, length)\n"
         "restShape = Concat<axis = 0>(batch, rest)\n"
         "blanks = Expand(pad, restShape)\n"
         "sequences = Concat<axis = 1>(sequenceEnd, blanks)\n";
}

static std::string writeGreedySearch(const ContribCall &call) {
  return writeOneByOne(call, "", kPickBest, {});
}

//===----------------------------------------------------------------------===//
// Sampling
//===----------------------------------------------------------------------===//

/// Scores of tokens that are not among the likeliest become filter_value: what
/// is left has top_p of the probability in all. Ascending as transformers does,
/// or descending where 'custom' is set.
static std::string writeFilter(const ContribCall &call) {
  bool descending = call.getInt("custom");
  std::string text =
      llvm::formatv("sorted#, sortedPlaces# = TopK<axis = 1, largest = {0}>("
                    "chosen#, wordTotal)\n",
                    int(descending));
  text += "shares# = Softmax<axis = 1>(sorted#)\n"
          "below# = CumSum(shares#, along)\n";
  text += descending ? "outside0# = Greater(below#, topShare)\n"
                       "outside1# = Slice(outside0#, none, beforeLast, axis1)\n"
                       "outside# = Concat<axis = 1>(doneA, outside1#)\n"
                     : "outside0# = LessOrEqual(below#, restShare)\n"
                       "outside# = And(outside0#, mayGo)\n";
  return text + "filtered0# = Where(outside#, filterValue, sorted#)\n"
                "filtered# = ScatterElements<axis = 1>(chosen#, "
                "sortedPlaces#, filtered0#)\n";
}

/// One draw for each row, of the generator that onnxruntime has: x becomes
/// 16807 x modulo 2^31 - 1, and two such are a number of 53 bits in [0, 1). The
/// rows' own multipliers are in `jumps`, so that all rows are drawn at once.
static constexpr StringLiteral kDraw =
    "one64# = Mul(random#, jumps1)\n"
    "draw1# = Mod(one64#, modulus)\n"
    "two64# = Mul(random#, jumps2)\n"
    "draw2# = Mod(two64#, modulus)\n"
    "randomNext# = Slice(draw2#, lastRow, most64s, axis0)\n"
    "less1# = Sub(draw1#, unit)\n"
    "less2# = Sub(draw2#, unit)\n"
    "low# = Cast<to = 11>(less1#)\n"
    "high0# = Cast<to = 11>(less2#)\n"
    "high# = Mul(high0#, range)\n"
    "joined# = Add(low#, high#)\n"
    "uniform# = Div(joined#, rangeSquared)\n";

/// The first token whose weights up to it are more than the draw. Those of
/// infinite scores are none.
static constexpr StringLiteral kChoose =
    "wide# = Cast<to = 11>(filtered#)\n"
    "isInfinite# = IsInf(wide#)\n"
    "finite# = Where(isInfinite#, lowest64, wide#)\n"
    "top# = ReduceMax<keepdims = 1>(finite#, axis1)\n"
    "under# = Sub(wide#, top#)\n"
    "weight0# = Exp(under#)\n"
    "weight# = Where(isInfinite#, zero64, weight0#)\n"
    "sums# = CumSum(weight#, along)\n"
    "all# = Slice(sums#, lastColumn, most64s, axis1)\n"
    "wantedSum# = Mul(uniform#, all#)\n"
    "isBefore# = LessOrEqual(sums#, wantedSum#)\n"
    "steps# = Cast<to = 6>(isBefore#)\n"
    "picked# = ReduceSum<keepdims = 1>(steps#, axis1)\n";

/// What draws need: jumps1 and jumps2 [B, 1], 16807 to the powers 1, 3, 5 and
/// so on and 2, 4, 6 and so on, from a loop, and the state behind `seed`.
static constexpr StringLiteral kPrepareDraws =
    "wordTotal = Shape<start = 2, end = 3>(logits0)\n"
    "beforeLast = Constant<value_ints = [-1]>()\n"
    "lastColumn = Constant<value_ints = [-1]>()\n"
    "lastRow = Constant<value_ints = [-1]>()\n"
    "topShare = Constant<value_float: float = @top_p>()\n"
    "wholeShare = Constant<value_float = 1.0>()\n"
    "restShare = Sub(wholeShare, topShare)\n"
    "filterValue = Constant<value_float: float = @filter_value>()\n"
    "from0 = Constant<value_int = 0>()\n"
    "by1 = Constant<value_int = 1>()\n"
    "wordCount = Reshape(wordTotal, scalarShape)\n"
    "wordNumbers = Range(from0, wordCount, by1)\n"
    "notKept = Sub(wordTotal, keptCount)\n"
    "mayGo0 = Less(wordNumbers, notKept)\n"
    "isFirstWord = Equal(wordNumbers, from0)\n"
    "mayGo = Or(mayGo0, isFirstWord)\n"
    "unit = Constant<value_int = 1>()\n"
    "modulus = Constant<value_int = 2147483647>()\n"
    "factor = Constant<value_int = 16807>()\n"
    "range = Constant<value = double {2147483646.0}>()\n"
    "rangeSquared = Mul(range, range)\n"
    "zero64 = Constant<value = double {0.0}>()\n"
    "lowest64 = Constant<value = double {-3.4028234663852886e38}>()\n"
    "drawCount0 = Reshape(batch, scalarShape)\n"
    "always = Constant<value = bool {1}>()\n"
    "power, jumps10, jumps20 = Loop<body = jump (int64 r, bool d, int64 p) => "
    "(bool again, int64 p2, int64 p1s, int64 p2s) {\n"
    "again = Identity(d)\n"
    "p10 = Mul(p, factor)\n"
    "p1 = Mod(p10, modulus)\n"
    "p20 = Mul(p1, factor)\n"
    "p2 = Mod(p20, modulus)\n"
    "p1s = Identity(p1)\n"
    "p2s = Identity(p2)\n"
    "} >(drawCount0, always, unit)\n"
    "jumps1 = Unsqueeze(jumps10, axis1)\n"
    "jumps2 = Unsqueeze(jumps20, axis1)\n";

static std::string writeSampling(const ContribCall &call) {
  if (call.has(7) || call.getFloat("presence_penalty", 0) != 0)
    return call.refuse("input 'presence_mask'");
  if (call.wants(1))
    return call.refuse("output 'filtered_logits'");
  call.addConstant("most64s", {1},
                   ArrayRef<int64_t>(std::numeric_limits<int64_t>::max()));
  call.addConstant("keptCount", {1},
                   ArrayRef<int64_t>(call.getInt("min_tokens_to_keep")));
  std::string prepare = kPrepareDraws.str();
  prepare += call.has(8) ? "seed64 = Cast<to = 7>(seed)\n"
                         : "seed64 = Constant<value_int = 0>()\n";
  // A seed of zero is one for the generator.
  prepare += "square = Constant<value_ints = [1, 1]>()\n"
             "seed1 = Reshape(seed64, square)\n"
             "seed2 = Mod(seed1, modulus)\n"
             "isZero = Equal(seed2, from0)\n"
             "randomA = Where(isZero, unit, seed2)\n";
  return writeOneByOne(call, prepare,
                       writeFilter(call) + kDraw.str() + kChoose.str(),
                       {{"int64[]", "random"}});
}

//===----------------------------------------------------------------------===//
// Beam search
//===----------------------------------------------------------------------===//

// B prompts have K beams each, N = B * K sequences in all, and K hypotheses
// each: sequences that have ended, the best of them first, padded to the most
// words.

/// Adds added# [B, K], scores that are minus infinity where there is none, of
/// addedWords# [N, L], to the hypotheses. Those of equal score keep their
/// order.
static constexpr StringLiteral kMerge =
    "space# = Sub(most, length#)\n"
    "fillShape# = Concat<axis = 0>(rowCount, space#)\n"
    "fill# = Expand(pad, fillShape#)\n"
    "filled# = Concat<axis = 1>(addedWords#, fill#)\n"
    "newWords# = Reshape<allowzero = 1>(filled#, hypothesisShape)\n"
    "bothScores# = Concat<axis = 1>(ended#, added#)\n"
    "bothWords# = Concat<axis = 1>(endedWords#, newWords#)\n"
    "endedNext#, kept# = TopK<axis = 1>(bothScores#, beams)\n"
    "kept3# = Unsqueeze(kept#, axis2)\n"
    "keptAll# = Expand(kept3#, hypothesisShape)\n"
    "endedWordsNext# = GatherElements<axis = 1>(bothWords#, keptAll#)\n";

/// The 2 K best continuations of each prompt: best#, their scores, fromBeam#
/// and bestToken#.
static constexpr StringLiteral kBestTokens =
    "beamColumn# = Reshape(beamScore#, columnShape)\n"
    "summed# = Add(chosen#, beamColumn#)\n"
    "wide# = Reshape<allowzero = 1>(summed#, wideShape)\n"
    "best#, bestPlace# = TopK<axis = 1>(wide#, twice)\n"
    "fromBeam# = Div(bestPlace#, vocabulary)\n"
    "bestToken64# = Mod(bestPlace#, vocabulary)\n"
    "bestToken# = Cast<to = 6>(bestToken64#)\n"
    "isEnding# = Equal(bestToken#, end)\n"
    "penaltyLength# = Cast<to = 1>(length#)\n"
    "norm# = Pow(penaltyLength#, lengthPower)\n";

/// Those of the K best that end a sequence become hypotheses.
static constexpr StringLiteral kAddEnded =
    "headEnding# = Slice(isEnding#, none, beams, axis1)\n"
    "notDone# = Not(done#)\n"
    "isNew# = And(headEnding#, notDone#)\n"
    "headScore# = Slice(best#, none, beams, axis1)\n"
    "headNorm# = Div(headScore#, norm#)\n"
    "added# = Where(isNew#, headNorm#, nothing)\n"
    "headBeam# = Slice(fromBeam#, none, beams, axis1)\n"
    "headRow2# = Add(headBeam#, firstRow)\n"
    "headRow# = Reshape(headRow2#, flat)\n"
    "addedWords# = Gather<axis = 0>(sequence#, headRow#)\n"
    "newBits# = Cast<to = 7>(isNew#)\n"
    "newCount# = ReduceSum<keepdims = 1>(newBits#, axis1)\n"
    "allCount# = Add(endedCount#, newCount#)\n"
    "endedCountNext# = Min(allCount#, beams)\n";

/// The first K of the others go on: beamScoreNext#, token#, and row#, where the
/// sequence was. A prompt that is done has padding and, as in onnxruntime, the
/// first sequence of all.
static constexpr StringLiteral kGoOn =
    "later# = Where(isEnding#, twice, none)\n"
    "order# = Add(later#, places)\n"
    "firstPlace#, goesOn# = TopK<axis = 1, largest = 0>(order#, beams)\n"
    "goingScore# = GatherElements<axis = 1>(best#, goesOn#)\n"
    "goingToken# = GatherElements<axis = 1>(bestToken#, goesOn#)\n"
    "goingBeam# = GatherElements<axis = 1>(fromBeam#, goesOn#)\n"
    "goingRow# = Add(goingBeam#, firstRow)\n"
    "beamScoreNext# = Where(done#, zero, goingScore#)\n"
    "token2# = Where(done#, pad, goingToken#)\n"
    "row2# = Where(done#, none, goingRow#)\n"
    "token# = Reshape(token2#, columnShape)\n"
    "row# = Reshape(row2#, flat)\n"
    "from# = Gather<axis = 0>(sequence#, row#)\n"
    "sequenceNext# = Concat<axis = 1>(from#, token#)\n";

/// A prompt is done when it has K hypotheses and, unless it stops early, none
/// that goes on can be better than the worst. onnxruntime takes the best score
/// for that from two halves that are those of the prompt only for the first
/// prompt: here it does what it does there.
static constexpr StringLiteral kDone =
    "isFull# = Equal(endedCountNext#, beams)\n"
    "halves# = Reshape<allowzero = 1>(best#, halfShape)\n"
    "halfBest# = ReduceMax<keepdims = 1>(halves#, axis1)\n"
    "oneHalf# = Slice(halfBest#, none, batch, axis0)\n"
    "otherHalf# = Slice(halfBest#, one, batchAndOne, axis0)\n"
    "reach0# = Max(oneHalf#, otherHalf#)\n"
    "reach# = Div(reach0#, norm#)\n"
    "worst# = Slice(endedNext#, lastColumn, most64s, axis1)\n"
    "canGain# = Less(worst#, reach#)\n"
    "mayGain# = And(canGain#, patient)\n"
    "cannotGain# = Not(mayGain#)\n"
    "finished# = And(isFull#, cannotGain#)\n"
    "doneNext# = Or(done#, finished#)\n";

/// What the steps share, behind the logits of the prompt.
static std::string writeBeamState(const ContribCall &call) {
  std::string penalty = call.has(5) ? "Reshape(length_penalty, scalarShape)"
                                    : "Constant<value_float = 1.0>()";
  call.addConstant("most64s", {1},
                   ArrayRef<int64_t>(std::numeric_limits<int64_t>::max()));
  call.addConstant("patient64", {1},
                   ArrayRef<int64_t>(int64_t(!call.getInt("early_stopping"))));
  return "lengthPower = " + penalty +
         "\n"
         "beams64 = Cast<to = 7>(num_beams)\n"
         "beams = Reshape(beams64, one)\n"
         "beamCount = Reshape(beams64, scalarShape)\n"
         "patient = Cast<to = 9>(patient64)\n"
         "axis2 = Constant<value_ints = [2]>()\n"
         "nothing = Constant<value = float {-inf}>()\n"
         "flat = Constant<value_ints = [-1]>()\n"
         "lastColumn = Constant<value_ints = [-1]>()\n"
         "from0 = Constant<value_int = 0>()\n"
         "by1 = Constant<value_int = 1>()\n"
         "columnShape = Concat<axis = 0>(flat, one)\n"
         "twice = Add(beams, beams)\n"
         "twiceCount = Reshape(twice, scalarShape)\n"
         "places = Range(from0, twiceCount, by1)\n"
         "rowCount = Mul(batch, beams)\n"
         "rowLimit = Reshape(rowCount, scalarShape)\n"
         "rowNumbers = Range(from0, rowLimit, by1)\n"
         "owner = Div(rowNumbers, beamCount)\n"
         "gridShape = Concat<axis = 0>(batch, beams)\n"
         "rowGrid = Reshape<allowzero = 1>(rowNumbers, gridShape)\n"
         "firstRow = Slice(rowGrid, none, one, axis1)\n"
         "batchAndOne = Add(batch, one)\n"
         "twoBatches = Add(batch, batch)\n"
         "halfShape = Concat<axis = 0>(twoBatches, beams)\n"
         "vocabulary = Shape<start = 2, end = 3>(logits0)\n"
         "wideCount = Mul(beams, vocabulary)\n"
         "wideShape = Concat<axis = 0>(batch, wideCount)\n"
         "hypothesisShape = Concat<axis = 0>(batch, beams, most)\n"
         "endedA = Expand(nothing, gridShape)\n"
         "endedWordsA = Expand(pad, hypothesisShape)\n"
         "sideShape = Concat<axis = 0>(batch, one)\n"
         "endedCountA = Expand(none, sideShape)\n"
         "falseBit = Constant<value = bool {0}>()\n"
         "doneA = Expand(falseBit, sideShape)\n"
         // Beams begin alike: only the first one is to be gone on with.
         "beamPlace = Sub(rowGrid, firstRow)\n"
         "isFirstBeam = Equal(beamPlace, from0)\n"
         "far = Constant<value = float {-1000000000.0}>()\n"
         "beamScoreA = Where(isFirstBeam, zero, far)\n"
         "logitsA = Gather<axis = 0>(logits0, owner)\n"
         "sequenceA = Gather<axis = 0>(start, owner)\n";
}

/// The last step: sequences that have not ended are hypotheses, too.
static std::string writeBeamResults(const ContribCall &call) {
  std::string text =
      "length# = Shape<start = 1, end = 2>(sequence#)\n"
      "finalLength = Cast<to = 1>(length#)\n"
      "finalNorm = Pow(finalLength, lengthPower)\n"
      "finalScore = Div(beamScore#, finalNorm)\n"
      "added# = Where(done#, nothing, finalScore)\n"
      "addedWords# = Identity(sequence#)\n" +
      kMerge.str() +
      "wanted64 = Cast<to = 7>(num_return_sequences)\n"
      "wanted = Reshape(wanted64, one)\n"
      "resultShape = Concat<axis = 0>(batch, wanted, most)\n"
      "placesOfAll = Reshape(wanted, scalarShape)\n"
      "wantedPlaces = Range(from0, placesOfAll, by1)\n"
      "sequences = Gather<axis = 1>(endedWordsNext#, wantedPlaces)\n"
      "sequences_scores = Gather<axis = 1>(endedNext#, wantedPlaces)\n";
  if (call.wants(2))
    text += "collectedA = Reshape<allowzero = 1>(summedA, collectedShape1)\n"
            "made = Concat<axis = 0>(collectedA, collected)\n"
            "madeCount = Shape<start = 0, end = 1>(made)\n"
            "unmade = Sub(left, madeCount)\n"
            "unmadeShape = Concat<axis = 0>(unmade, batch, beams, vocabulary)\n"
            "unmadeZeros = Expand(zero, unmadeShape)\n"
            "scores = Concat<axis = 0>(made, unmadeZeros)\n";
  return withSuffix(text, "End");
}

static std::string writeBeamSearchOf(const ContribCall &call,
                                     const Model &model) {
  ScoreInputs inputs{2, 6, 7, 8, 14};
  bool wantsScores = call.wants(2);
  auto step = [&](bool isFirst) {
    std::string text = "given# = Cast<to = 1>(logits#)\n"
                       "lastLogits# = Gather<axis = 1>(given#, lastPlace)\n"
                       "scores# = LogSoftmax<axis = -1>(lastLogits#)\n" +
                       writeChanges(call, inputs, isFirst) + kBestTokens.str() +
                       kAddEnded.str() + kMerge.str() + kGoOn.str() +
                       kDone.str() + kOpen.str();
    if (wantsScores && !isFirst)
      text += "collected# = Reshape<allowzero = 1>(summed#, collectedShape)\n";
    return text;
  };
  Carried carried[] = {{"int32[]", "sequence"},   {"float[]", "beamScore"},
                       {"bool[]", "done"},        {"float[]", "ended"},
                       {"int32[]", "endedWords"}, {"int64[]", "endedCount"}};
  std::string shapes =
      wantsScores ? "collectedShape = Concat<axis = 0>(batch, beams, "
                    "vocabulary)\n"
                    "collectedShape1 = Concat<axis = 0>(one, batch, beams, "
                    "vocabulary)\n"
                  : "";
  std::string masks = call.has(8)
                          ? "prefixBits = Cast<to = 9>(prefix_vocab_mask)\n"
                            "isPrefix = Gather<axis = 0>(prefixBits, owner)\n"
                          : "";
  return joinShared(writeShared(call, inputs), model.prompt) +
         writeBeamState(call) + shapes + masks + writeRepeated(model, "owner") +
         withSuffix(step(true), "A") +
         "ownerA = Gather<axis = 0>(owner, rowA)\n" +
         writeStates(model, "s", "ownerA", "A") +
         writeLoop(model, step(false), carried, "rowB",
                   wantsScores ? "collected" : "") +
         writeBeamResults(call);
}

static std::string writeBeamSearch(const ContribCall &call) {
  if (call.has(11))
    return call.refuse("input 'logits_processor'");
  int64_t family = call.getInt("model_type");
  if (call.has(10) && family != 2)
    return call.refuse("input 'decoder_input_ids' of a model that is not "
                       "Whisper");
  Model model;
  if (family < 0 || family > 2)
    return call.refuse("model_type " + Twine(family) +
                       ": there are 0 (GPT), 1 (T5) and 2 (Whisper)");
  if (family == 0 ? !readGpt(call, 9, model)
                  : !readEncoderDecoder(call, family == 2, model))
    return {};
  return writeBeamSearchOf(call, model);
}

static std::string writeWhisperSearch(const ContribCall &call) {
  static constexpr StringLiteral inputs[] = {
      "logits_processor", "cross_qk_layer_head", "extra_decoding_ids"};
  for (auto [k, name] : llvm::enumerate(inputs))
    if (call.has(11 + k))
      return call.refuse("input '" + name + "'");
  if (call.wants(3) || call.wants(4))
    return call.refuse("outputs 'cross_qk' and 'non_speech_probs' are those of "
                       "GPU kernels");
  Model model;
  if (!readEncoderDecoder(call, /*isSpeech=*/true, model))
    return {};
  return writeBeamSearchOf(call, model);
}

ArrayRef<ContribOperator> loopc::importer::getContribSearch() {
  static const ContribOperator operators[] = {
      {kContribDomain, "GreedySearch",
       "decoder, init_decoder, encoder, eos_token_id, pad_token_id, "
       "decoder_start_token_id, model_type, no_repeat_ngram_size, vocab_size",
       "input_ids, max_length, min_length, repetition_penalty, vocab_mask, "
       "prefix_vocab_mask, attention_mask",
       "sequences", writeGreedySearch},
      {kContribDomain, "Sampling",
       "decoder, init_decoder, encoder, eos_token_id, pad_token_id, "
       "decoder_start_token_id, model_type, no_repeat_ngram_size, vocab_size, "
       "custom, min_tokens_to_keep, temperature: float = 1.0, "
       "top_p: float = 0.0, filter_value: float = -1e20, presence_penalty",
       "input_ids, max_length, min_length, repetition_penalty, vocab_mask, "
       "prefix_vocab_mask, attention_mask, presence_mask, seed",
       "sequences", writeSampling},
      {kContribDomain, "BeamSearch",
       "decoder, init_decoder, encoder, eos_token_id, pad_token_id, "
       "decoder_start_token_id, model_type, no_repeat_ngram_size, vocab_size, "
       "early_stopping",
       "input_ids, max_length, min_length, num_beams, num_return_sequences, "
       "length_penalty, repetition_penalty, vocab_mask, prefix_vocab_mask, "
       "attention_mask, decoder_input_ids, logits_processor",
       "sequences, sequences_scores, scores", writeBeamSearch},
      {kContribDomain, "WhisperBeamSearch",
       "decoder, init_decoder, encoder, eos_token_id, pad_token_id, "
       "decoder_start_token_id, model_type, no_repeat_ngram_size, vocab_size, "
       "early_stopping, translate_token_id, transcribe_token_id, "
       "start_of_lm_token_id, no_speech_token_id, no_timestamps_token_id, "
       "beginning_timestamp_token_id, decoder_output_cross_qk",
       "input_ids, max_length, min_length, num_beams, num_return_sequences, "
       "length_penalty, repetition_penalty, vocab_mask, prefix_vocab_mask, "
       "attention_mask, decoder_input_ids, logits_processor, "
       "cross_qk_layer_head, extra_decoding_ids, temperature",
       "sequences, sequences_scores, scores, cross_qk, non_speech_probs",
       writeWhisperSearch},
  };
  return operators;
}
