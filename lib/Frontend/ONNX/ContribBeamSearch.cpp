//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Searches that follow several sequences of each prompt.

#include "ContribSearch.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace loopc;
using namespace loopc::importer;
namespace pb = ::onnx;

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
    "[max_length_less_the_prompt] fill# = Expand(pad, fillShape#)\n"
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
    "summed# = Add(changed#, beamColumn#)\n"
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

/// Rules for Whisper's timestamps, which are the words from `stamp` on,
/// changed# of chosen#: they come in pairs but for the first, do not decrease,
/// begin early, and are chosen where all of them are likelier than any other
/// word.
static constexpr StringLiteral kTimestamps =
    "isStamp# = GreaterOrEqual(sequence#, stamp32)\n"
    "stampBits# = Cast<to = 6>(isStamp#)\n"
    "hasStamp32# = ReduceMax<keepdims = 1>(stampBits#, axis1)\n"
    "hasStamp# = Cast<to = 9>(hasStamp32#)\n"
    "firstStamp# = ArgMax<axis = 1>(stampBits#)\n"
    "behindFirst# = Add(firstStamp#, one)\n"
    "begin# = Where(hasStamp#, behindFirst#, length#)\n"
    "goesOnBehind# = Greater(length#, begin#)\n"
    "isBegin# = Not(goesOnBehind#)\n"
    "wasStamp# = Slice(isStamp#, lastColumn, most64s, axis1)\n"
    "before0# = Sub(length#, twoWords)\n"
    "before# = Max(before0#, none)\n"
    "wasBefore0# = Gather<axis = 1>(isStamp#, before#)\n"
    "wasBefore# = Or(isBegin#, wasBefore0#)\n"
    "wasAlone0# = Not(wasBefore#)\n"
    "wasAlone# = And(wasStamp#, wasAlone0#)\n"
    "wasPair# = And(wasStamp#, wasBefore#)\n"
    "lastStamp# = ArgMax<axis = 1, select_last_index = 1>(stampBits#)\n"
    "lastValue32# = GatherElements<axis = 1>(sequence#, lastStamp#)\n"
    "lastValue# = Cast<to = 7>(lastValue32#)\n"
    "nextValue# = Add(lastValue#, one)\n"
    "least# = Where(wasAlone#, lastValue#, nextValue#)\n"
    "isLower# = Less(stampNumbers, least#)\n"
    "isOld0# = And(isLower#, isStampWord)\n"
    "isOld# = And(isOld0#, hasStamp#)\n"
    "isTask# = And(goesOnBehind#, isTaskWord)\n"
    "isThird# = And(wasPair#, isStampWord)\n"
    "isText# = And(wasAlone#, isTextWord)\n"
    "isLate# = And(isBegin#, isLateWord)\n"
    "out1# = Or(isNeverWord, isTask#)\n"
    "out2# = Or(isThird#, isText#)\n"
    "out3# = Or(isOld#, isLate#)\n"
    "out4# = Or(out1#, out2#)\n"
    "out# = Or(out4#, out3#)\n"
    "allowed# = Where(out#, lowest, chosen#)\n"
    "stampScore# = Where(isStampWord, allowed#, lowest)\n"
    "topStamp# = ReduceMax<keepdims = 1>(stampScore#, axis1)\n"
    "fromTop# = Sub(stampScore#, topStamp#)\n"
    "stampWeight0# = Exp(fromTop#)\n"
    "isCounted# = Greater(stampScore#, lowest)\n"
    "stampWeight# = Where(isCounted#, stampWeight0#, zero)\n"
    "stampSum# = ReduceSum<keepdims = 1>(stampWeight#, axis1)\n"
    "stampLog0# = Log(stampSum#)\n"
    "stampLog1# = Add(stampLog0#, topStamp#)\n"
    "hasSum# = Greater(stampSum#, zero)\n"
    "stampLog# = Where(hasSum#, stampLog1#, lowest)\n"
    "textScore# = Where(isStampWord, lowest, allowed#)\n"
    "topText# = ReduceMax<keepdims = 1>(textScore#, axis1)\n"
    "isStampNow# = Greater(stampLog#, topText#)\n"
    "isOther# = And(isStampNow#, isOtherWord)\n"
    "ruled# = Where(isOther#, lowest, allowed#)\n"
    "changed# = Where(hasRules, ruled#, chosen#)\n";

/// The words that the rules are about: names of bodies, and of attributes.
static constexpr std::pair<StringLiteral, StringLiteral> kTimestampWords[] = {
    {"stampWord", "beginning_timestamp_token_id"},
    {"noStampWord", "no_timestamps_token_id"},
    {"modelWord", "start_of_lm_token_id"},
    {"startWord", "decoder_start_token_id"},
    {"translateWord", "translate_token_id"},
    {"transcribeWord", "transcribe_token_id"}};

static std::string writeTimestampWords(const ContribCall &call) {
  for (auto [name, attr] : kTimestampWords)
    call.addConstant(name, {1}, ArrayRef<int64_t>(call.getInt(attr)));
  call.addConstant("stampsAtFirst", {1}, ArrayRef<int64_t>(50));
  call.addConstant("twoWords", {1}, ArrayRef<int64_t>(2));
  return "rules = Reshape(logits_processor, scalarShape)\n"
         "rules64 = Cast<to = 7>(rules)\n"
         "hasRules = Equal(rules64, by1)\n"
         "stamp32 = Cast<to = 6>(stampWord)\n"
         "vocabularyCount = Reshape(vocabulary, scalarShape)\n"
         "stampNumbers = Range(from0, vocabularyCount, by1)\n"
         "isStampWord = GreaterOrEqual(stampNumbers, stampWord)\n"
         "isOtherWord = Not(isStampWord)\n"
         "isTextWord = Less(stampNumbers, end64)\n"
         "lastAtFirst = Add(stampWord, stampsAtFirst)\n"
         "isLateWord = Greater(stampNumbers, lastAtFirst)\n"
         "isNoStamp = Equal(stampNumbers, noStampWord)\n"
         "isModel = Equal(stampNumbers, modelWord)\n"
         "isNeverWord = Or(isNoStamp, isModel)\n"
         "isStart = Equal(stampNumbers, startWord)\n"
         "isTranslate = Equal(stampNumbers, translateWord)\n"
         "isTranscribe = Equal(stampNumbers, transcribeWord)\n"
         "isEither = Or(isTranslate, isTranscribe)\n"
         "isTaskWord = Or(isStart, isEither)\n";
}

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
         "isAlone = Equal(beams, one)\n"
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
                                     const SearchModel &model, bool isWhisper) {
  ScoreInputs inputs{2, 6, 7, 8, 14};
  bool wantsScores = call.wants(2), hasRules = isWhisper && call.has(11);
  std::string rules =
      hasRules ? kTimestamps.str() : "changed# = Identity(chosen#)\n";
  auto step = [&](bool isFirst) {
    std::string text = "given# = Cast<to = 1>(logits#)\n"
                       "lastLogits# = Gather<axis = 1>(given#, lastPlace)\n"
                       "scores# = LogSoftmax<axis = -1>(lastLogits#)\n" +
                       writeChanges(call, inputs, isFirst) + rules +
                       kBestTokens.str() + kAddEnded.str() + kMerge.str() +
                       kGoOn.str() + kDone.str() + kOpen.str();
    // States are taken from where they were when they are read: the copy is
    // that of the new words behind them. One beam's stay, as in onnxruntime.
    if (!isFirst)
      text += "placeNext# = Where(isAlone, rowNumbers, row#)\n";
    if (wantsScores && !isFirst)
      text += "collected# = Reshape<allowzero = 1>(summed#, collectedShape)\n";
    return text;
  };
  SearchState carried[] = {{"int32[]", "sequence"},   {"float[]", "beamScore"},
                           {"bool[]", "done"},        {"float[]", "ended"},
                           {"int32[]", "endedWords"}, {"int64[]", "endedCount"},
                           {"int64[]", "place"}};
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
         writeBeamState(call) + (hasRules ? writeTimestampWords(call) : "") +
         shapes + masks + writeRepeated(model, "owner") +
         withSuffix(step(true), "A") +
         "ownerA = Gather<axis = 0>(owner, rowA)\n" +
         writeStates(model, "s", "ownerA", "nextA") +
         "placeNextA = Identity(rowNumbers)\n" +
         writeLoop(model, step(false), carried, "placeB",
                   wantsScores ? "collected" : "") +
         writeBeamResults(call);
}

std::string importer::writeBeamSearch(const ContribCall &call) {
  int64_t family = call.getInt("model_type");
  if (family == 2 && call.has(11))
    return call.refuse("input 'logits_processor': the words that its rules "
                       "need are attributes of WhisperBeamSearch");
  if (call.has(10) && family != 2)
    return call.refuse("input 'decoder_input_ids' of a model that is not "
                       "Whisper");
  SearchModel model;
  if (family < 0 || family > 2)
    return call.refuse("model_type " + Twine(family) +
                       ": there are 0 (GPT), 1 (T5) and 2 (Whisper)");
  if (family == 0 ? !readGpt(call, 9, model)
                  : !readEncoderDecoder(call, family == 2, model))
    return {};
  return writeBeamSearchOf(call, model, family == 2);
}

std::string importer::writeWhisperSearch(const ContribCall &call) {
  static constexpr StringLiteral inputs[] = {"cross_qk_layer_head",
                                             "extra_decoding_ids"};
  for (auto [k, name] : llvm::enumerate(inputs))
    if (call.has(12 + k))
      return call.refuse("input '" + name + "'");
  if (call.wants(3) || call.wants(4))
    return call.refuse("outputs 'cross_qk' and 'non_speech_probs' are those of "
                       "GPU kernels");
  for (auto [name, attr] : kTimestampWords)
    if (call.has(11) && !call.getAttr(attr))
      return call.refuse("input 'logits_processor' without attribute '" + attr +
                         "'");
  SearchModel model;
  if (!readEncoderDecoder(call, /*isSpeech=*/true, model))
    return {};
  return writeBeamSearchOf(call, model, /*isWhisper=*/true);
}
