//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Parts of the bodies of searches: operators that generate tokens by calling a
// decoder again and again. Texts have '#' behind names that are there once for
// the prompt's step (A), and once in the loop (B).

#ifndef LOOPC_LIB_FRONTEND_ONNX_CONTRIBSEARCH_H
#define LOOPC_LIB_FRONTEND_ONNX_CONTRIBSEARCH_H

#include "ContribOperators.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace loopc::importer {

using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

/// `text` with each '#' replaced by `suffix`: names inside of a loop's body may
/// not be those around it.
std::string withSuffix(StringRef text, StringRef suffix);

/// ", prefix0, prefix1" and so on, each with `type` in front.
std::string listNames(StringRef prefix, unsigned count, StringRef type = "");

/// What a search needs to know of a family of models.
struct SearchModel {
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

/// Of the GPT family; `attentionMask` is the input of that name. Refuses and
/// returns false where the graphs are no such decoders.
bool readGpt(const ContribCall &call, int attentionMask, SearchModel &model);

/// Of the families of T5 and Whisper, which reads `isSpeech`.
bool readEncoderDecoder(const ContribCall &call, bool isSpeech,
                        SearchModel &model);

/// gramEnds# [N, W], the last words of all n-grams of `size` words that
/// `sequences` [N, L] have, and isThere#, true for those whose n-gram the next
/// word would repeat.
std::string writeNGrams(StringRef sequences, int64_t size);

/// Where an operator has what changes scores; absent ones are -1.
struct ScoreInputs {
  int minLength = -1, repetition = -1, words = -1, prefixWords = -1;
  int temperature = -1; ///< Whisper's; Sampling has an attribute
};

/// What the changes of scores share, with the names that they use. Inputs go by
/// the names of the operator. logits0 are those of the prompt.
std::string writeShared(const ContribCall &call, const ScoreInputs &inputs);

/// chosen# [N, V] from scores# and sequence# [N, L], changed as the inputs say,
/// in onnxruntime's order. `isFirst`: of the prompt.
std::string writeChanges(const ContribCall &call, const ScoreInputs &inputs,
                         bool isFirst);

/// `shared`, with what needs the logits' shape behind `prompt`.
std::string joinShared(std::string shared, StringRef prompt);

/// A value that a loop carries, of a search: with A behind it is that of the
/// prompt's step, with B the body's argument; Next is between the two.
struct SearchState {
  StringRef type, name;
};

/// The values of the prompt that the loop needs, for each sequence of the loop:
/// those of `owner`, or the same where there is none.
std::string writeRepeated(const SearchModel &model, StringRef owner);

/// Nodes that make `to`0, `to`1 and so on of the states `from`0 and so on:
/// those at the places `rows`, where there are such.
std::string writeStates(const SearchModel &model, StringRef from,
                        StringRef rows, StringRef to);

/// trips, and the loop behind the prompt's step. `step`, with '#' for what is
/// behind its names, makes nameNext# of each carried name#, token# and open#;
/// states are taken from the places `rows` before they are used, where there
/// are such. Results are nameEnd and `collected` as it is.
std::string writeLoop(const SearchModel &model, StringRef step,
                      ArrayRef<SearchState> carried, StringRef rows,
                      StringRef collected);

/// Whether doneNext# holds for all, as open#.
inline constexpr llvm::StringLiteral kOpen =
    "doneBits# = Cast<to = 6>(doneNext#)\n"
    "allDone32# = ReduceMin<keepdims = 0>(doneBits#)\n"
    "allDone# = Cast<to = 9>(allDone32#)\n"
    "open# = Not(allDone#)\n";

/// The bodies.
std::string writeGreedySearch(const ContribCall &call);
std::string writeSampling(const ContribCall &call);
std::string writeBeamSearch(const ContribCall &call);
std::string writeWhisperSearch(const ContribCall &call);

} // namespace loopc::importer

#endif // LOOPC_LIB_FRONTEND_ONNX_CONTRIBSEARCH_H
