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

#include "ContribSearch.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace loopc;
using namespace loopc::importer;
namespace pb = ::onnx;

std::string importer::withSuffix(StringRef text, StringRef suffix) {
  std::string result;
  for (char c : text)
    c == '#' ? result.append(suffix) : result.append(1, c);
  return result;
}

std::string importer::listNames(StringRef prefix, unsigned count,
                                StringRef type) {
  std::string result;
  for (unsigned k = 0; k < count; ++k)
    result += llvm::formatv(", {0}{1}{2}", type, prefix, k);
  return result;
}

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

std::string importer::writeNGrams(StringRef sequences, int64_t size) {
  std::string text =
      llvm::formatv("gramLength# = Shape<start = 1, end = 2>({0})\n"
                    "gramEnds# = Slice({0}, [{1}], gramLength#, [1])\n",
                    sequences, size - 1);
  // Of one word each: all that were there.
  if (size == 1)
    return text + "isThere# = gramEnds# == gramEnds#\n";
  // What is shorter than an n-gram has none: nothing is compared.
  return text +
         llvm::formatv(
             "gramCount# = Max(Squeeze(gramLength#, [0]) - {1}, 0)\n"
             "gramWidth# = Min(gramLength#, [{1}])\n"
             "gramPlaces# = Unsqueeze(Range(0, gramCount#, 1), [1]) + Range(0, "
             "Squeeze(gramWidth#, [0]), 1)\n"
             "grams# = Gather<axis = 1>({0}, gramPlaces#)\n"
             "gramTail# = Slice({0}, gramLength# - gramWidth#, gramLength#, "
             "[1])\n"
             "sameWords# = int32(grams# == Unsqueeze(gramTail#, [1]))\n"
             "isThere# = bool(ReduceMin<keepdims = 0>(sameWords#, [2]))\n",
             sequences, size - 1)
             .str();
}

std::string importer::writeChanges(const ContribCall &call,
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
    change(writeNGrams("sequence#", n) +
               "limit# = Where(isThere#, lowest, highest)\n"
               "fresh# = ScatterElements<axis = 1, reduction = \"min\">"
               "(SCORES, gramEnds#, limit#)\n",
           "fresh#");
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

std::string importer::writeShared(const ContribCall &call,
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
// Loops
//===----------------------------------------------------------------------===//

std::string importer::writeRepeated(const SearchModel &model, StringRef owner) {
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

std::string importer::writeStates(const SearchModel &model, StringRef from,
                                  StringRef rows, StringRef to) {
  std::string text;
  for (unsigned k = 0; k < model.states; ++k)
    if (rows.empty())
      text += llvm::formatv("{0}{1} = Identity({2}{1})\n", to, k, from);
    else
      text += llvm::formatv("{0}{1} = Gather<axis = {3}>({2}{1}, {4})\n", to, k,
                            from, model.axis, rows);
  return text;
}

std::string importer::writeLoop(const SearchModel &model, StringRef step,
                                ArrayRef<SearchState> carried, StringRef rows,
                                StringRef collected) {
  std::string ends = "tokenEnd", arguments = "int32[] token";
  std::string results = "int32[] tokenB", inits = "tokenA";
  for (const SearchModel::Extra &extra : model.extras) {
    ends += (", " + extra.argument + "End").str();
    arguments += (", int32[] " + extra.argument).str();
    results += (", int32[] " + extra.result).str();
    inits += (", " + extra.init).str();
  }
  for (const SearchState &value : carried) {
    ends += (", " + value.name + "End").str();
    arguments += (", " + value.type + " " + value.name + "B").str();
    results += (", " + value.type + " " + value.name + "NextB").str();
    inits += (", " + value.name + "NextA").str();
  }
  ends += listNames("endState", model.states);
  arguments +=
      listNames(rows.empty() ? "pastB" : "heldB", model.states, model.element);
  results += listNames("presentB", model.states, model.element);
  inits += listNames("nextA", model.states);
  if (!collected.empty()) {
    ends += (", " + collected).str();
    results += (", float[] " + collected + "B").str();
  }
  return "startLength = Shape<start = 1, end = 2>(start)\n"
         "left = Sub(most, startLength)\n"
         "trips = Sub(left, one)\n" +
         ends + " = Loop<body = decode (int64 i, bool c, " + arguments +
         ") => (bool[] openB, " + results + ") {\n" +
         (rows.empty() ? "" : writeStates(model, "heldB", rows, "pastB")) +
         model.call + withSuffix(step, "B") + "} >(trips, openA, " + inits +
         ")\n";
}

std::string importer::joinShared(std::string shared, StringRef prompt) {
  size_t split = std::min(shared.find("words1 = "), shared.size());
  return shared.substr(0, split) + prompt.str() + shared.substr(split);
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
