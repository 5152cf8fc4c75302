//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Searches that choose one token after the other: the best, or one by chance.

#include "ContribSearch.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace loopc;
using namespace loopc::importer;
namespace pb = ::onnx;

//===----------------------------------------------------------------------===//
// Greedy search
//===----------------------------------------------------------------------===//

/// scores# [N, V], of the last token of logits#.
static constexpr StringLiteral kLastScores =
    "given# = Cast<to = 1>(logits#)\n"
    "scores# = Gather<axis = 1>(given#, lastPlace)\n";

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
                                 StringRef pick, ArrayRef<SearchState> others) {
  if (call.getInt("model_type") != 0)
    return call.refuse("a model_type that is not 0, GPT");
  SearchModel model;
  if (!readGpt(call, 6, model))
    return {};
  ScoreInputs inputs{2, 3, 4, 5};
  auto step = [&](bool isFirst) {
    return kLastScores.str() + writeChanges(call, inputs, isFirst) +
           pick.str() + kAppend.str() + kOpen.str();
  };
  SmallVector<SearchState> carried = {{"int32[]", "sequence"},
                                      {"bool[]", "done"}};
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
         writeStates(model, "s", "", "nextA") +
         writeLoop(model, step(false), carried, "", "") +
         "length = Shape<start = 1, end = 2>(sequenceEnd)\n"
         "rest = Sub(most, length)\n"
         "restShape = Concat<axis = 0>(batch, rest)\n"
         // Named for the error of a prompt that leaves no room.
         "[max_length_less_the_prompt] blanks = Expand(pad, restShape)\n"
         "sequences = Concat<axis = 1>(sequenceEnd, blanks)\n";
}

std::string importer::writeGreedySearch(const ContribCall &call) {
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

std::string importer::writeSampling(const ContribCall &call) {
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
