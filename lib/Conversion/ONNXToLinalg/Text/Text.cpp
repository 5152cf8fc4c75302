//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Texts to words and words to numbers: StringSplit, StringNormalizer,
// TfIdfVectorizer.

#include "Framework/ShapeUtils.h"
#include "ML/LookupTable.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <map>

using namespace mlir;
using namespace loopc;
using IP = arith::CmpIPredicate;

/// A new tensor of empty strings.
static Value emptyStrings(NodeLowering &l, ArrayRef<OpFoldResult> dims) {
  return l.filled(dims, l.constant(getStringType(l.b.getContext()), 0));
}

//===----------------------------------------------------------------------===//
// StringSplit
//===----------------------------------------------------------------------===//

static LogicalResult lowerStringSplit(NodeLowering &l) {
  Value x = l.in(0);
  Type i64 = l.b.getI64Type(), string = l.elementType(0);
  int64_t limit = l.intAttr("maxsplit", -1);
  Value delimiter = stringLiteral(l.b, l.stringAttr("delimiter"));
  Value splits = l.constantInt(i64, limit);
  Value counts =
      l.elementwise(x, i64, [&](OpBuilder &b, Location loc, ValueRange e) {
        return callRuntime(b, loc, "loopc_rt_string_split_count",
                           {e[0], delimiter, splits}, i64);
      });
  Dims dims = l.dims(x);
  Value most =
      loopNest(l, dims, l.index(0), [&](ValueRange at, ValueRange carried) {
        Value count = l.toIndex(elementAt(l, counts, at));
        return SmallVector<Value>{
            arith::MaxSIOp::create(l.b, count, carried[0])};
      })[0];
  Dims target = dims;
  target.push_back(most);
  auto call = [&](StringRef name, ValueRange arguments) {
    return callRuntime(l.b, l.b.getLoc(), name, arguments, string);
  };
  Value pieces = loopNest(
      l, dims, emptyStrings(l, target), [&](ValueRange at, ValueRange carried) {
        Value count = l.toIndex(elementAt(l, counts, at));
        Value text = elementAt(l, x, at);
        return SmallVector<Value>{loopNest(
            l, OpFoldResult(count), {carried[0], text},
            [&](ValueRange k, ValueRange inner) {
              Value left = splits;
              if (limit >= 0)
                left = arith::SubIOp::create(
                    l.b, splits, arith::IndexCastOp::create(l.b, i64, k[0]));
              Value piece = call("loopc_rt_string_split_first",
                                 {inner[1], delimiter, left});
              Value rest =
                  call("loopc_rt_string_split_rest", {inner[1], delimiter});
              SmallVector<Value> place(at);
              place.push_back(k[0]);
              Value filled =
                  tensor::InsertOp::create(l.b, piece, inner[0], place);
              return SmallVector<Value>{filled, rest};
            })[0]};
      })[0];
  l.setResult(0, pieces);
  if (l.numResults() > 1 && l.hasResult(1))
    l.setResult(1, counts);
  return success();
}

//===----------------------------------------------------------------------===//
// StringNormalizer
//===----------------------------------------------------------------------===//

/// True (i1) where `text` is none of the stop words.
static Value isKept(NodeLowering &l, Value text, Value words, int64_t count,
                    bool isCaseSensitive) {
  Type string = text.getType();
  auto lower = [&](Value value) {
    return isCaseSensitive
               ? value
               : callRuntime(l.b, l.b.getLoc(), "loopc_rt_string_lower", value,
                             string);
  };
  Value folded = lower(text);
  Value yes = l.constantInt(l.b.getI1Type(), 1);
  return loopNest(l, l.fold(count), yes, [&](ValueRange at, ValueRange c) {
    Value word = lower(elementAt(l, words, at));
    Value same = equalStrings(l.b, l.b.getLoc(), folded, word);
    Value other = arith::XOrIOp::create(l.b, same, yes);
    return SmallVector<Value>{arith::AndIOp::create(l.b, c[0], other)};
  })[0];
}

static LogicalResult lowerStringNormalizer(NodeLowering &l) {
  int64_t rank = l.rank(0);
  if (rank != 1 && rank != 2)
    return l.refuse("the input has rank " + Twine(rank) +
                    ", expected [C] or [1, C]");
  l.ignoreAttr("locale"); // Case is Unicode's, the same in all languages.
  bool isCaseSensitive = l.intAttr("is_case_sensitive", 0);
  std::string action = l.stringAttr("case_change_action", "NONE");
  if (action != "NONE" && action != "LOWER" && action != "UPPER")
    return l.refuse("unknown case_change_action '" + action + "'");
  SmallVector<StringRef> stop;
  if (auto words = dyn_cast_or_null<ArrayAttr>(l.attr("stopwords")))
    for (Attribute word : words)
      stop.push_back(cast<StringAttr>(word).getValue());
  Dims dims = l.dims(l.in(0));
  if (rank == 2 &&
      !requireEqual(l, dims[0], l.fold(1), "the first axis of [1, C]"))
    return l.refuse("the first axis is not 1");
  OpFoldResult length = dims.back();
  Value x = rank == 1 ? l.in(0) : reshapeByGroups(l, l.in(0), length);
  int64_t numStop = stop.size();
  Value words = stringTensor(l.b, stop, numStop);
  // The words that stay, one behind the other.
  SmallVector<Value> kept = loopNest(
      l, length, {emptyStrings(l, length), l.index(0)},
      [&](ValueRange at, ValueRange carried) {
        Value text = elementAt(l, x, at);
        Value keep = isKept(l, text, words, numStop, isCaseSensitive);
        if (action != "NONE")
          text = callRuntime(l.b, l.b.getLoc(),
                             action == "LOWER" ? "loopc_rt_string_lower"
                                               : "loopc_rt_string_upper",
                             text, text.getType());
        Value filled =
            tensor::InsertOp::create(l.b, text, carried[0], carried[1]);
        Value next = arith::AddIOp::create(l.b, carried[1], l.index(1));
        // The next word overwrites what does not stay.
        return SmallVector<Value>{
            filled, arith::SelectOp::create(l.b, keep, next, carried[1])};
      });
  Value count = arith::MaxSIOp::create(l.b, kept[1], l.index(1));
  Value number = kept[1], all = kept[0];
  Value none = l.constant(l.elementType(0), 0);
  Dims target = {count};
  if (rank == 2)
    target = {l.fold(1), count};
  l.setResult(l.generate(
      target, l.elementType(0),
      [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
        Value isThere =
            arith::CmpIOp::create(b, loc, IP::slt, at.back(), number);
        auto branch = scf::IfOp::create(
            b, loc, isThere,
            [&](OpBuilder &b, Location loc) {
              Value text = tensor::ExtractOp::create(b, loc, all, at.back());
              scf::YieldOp::create(b, loc, text);
            },
            [&](OpBuilder &b, Location loc) {
              scf::YieldOp::create(b, loc, none);
            });
        return branch.getResult(0);
      }));
  return success();
}

//===----------------------------------------------------------------------===//
// TfIdfVectorizer
//===----------------------------------------------------------------------===//

namespace {
/// The n-grams as a tree: state 0 is the root; a state and a word lead to
/// another state, which may be an n-gram.
struct NgramTree {
  std::map<std::pair<int64_t, int64_t>, int64_t> edges;
  SmallVector<int64_t> ngram = {-1}; ///< by state

  void add(ArrayRef<int64_t> words, int64_t number) {
    int64_t state = 0;
    for (int64_t word : words) {
      auto [it, isNew] = edges.try_emplace({state, word}, ngram.size());
      if (isNew)
        ngram.push_back(-1);
      state = it->second;
    }
    ngram[state] = number;
  }
};

/// Counts the n-grams of rows.
class NgramCounter {
public:
  NgramCounter(NodeLowering &l, const LookupTable &words, const NgramTree &tree,
               ArrayRef<int64_t> outputs);

  /// Adds those of `x`, read at `row` and a position below `length`, that have
  /// `least` to `most` words `distance` apart, to `counts`.
  Value count(Value counts, ValueRange row, OpFoldResult length,
              int64_t distance, int64_t least, int64_t most);

private:
  Value constant(ArrayRef<int64_t> values);

  NodeLowering &l;
  const LookupTable &words;
  std::optional<LookupTable> edges;
  Value targets, ngrams, outputs;
};
} // namespace

Value NgramCounter::constant(ArrayRef<int64_t> values) {
  auto type = RankedTensorType::get({static_cast<int64_t>(values.size())},
                                    l.b.getI64Type());
  return arith::ConstantOp::create(l.b, DenseElementsAttr::get(type, values));
}

NgramCounter::NgramCounter(NodeLowering &l, const LookupTable &words,
                           const NgramTree &tree, ArrayRef<int64_t> outputs)
    : l(l), words(words) {
  SmallVector<int64_t> keys, to;
  for (auto [edge, target] : tree.edges) {
    keys.push_back(edge.first * (words.size() + 1) + edge.second);
    to.push_back(target);
  }
  // Where nothing is found: no state.
  to.push_back(-1);
  edges.emplace(l, keys);
  targets = constant(to);
  ngrams = constant(tree.ngram);
  this->outputs = constant(outputs);
}

Value NgramCounter::count(Value counts, ValueRange row, OpFoldResult length,
                          int64_t distance, int64_t least, int64_t most) {
  Value x = l.in(0), end = l.asIndex(length);
  Type i64 = l.b.getI64Type(), f32 = l.b.getF32Type();
  auto indexOf = [&](Value v) {
    return arith::IndexCastOp::create(l.b, l.b.getIndexType(), v).getResult();
  };
  SmallVector<OpFoldResult> space = {length, l.fold(most)};
  Value zero = l.constantInt(i64, 0);
  return loopNest(l, length, counts, [&](ValueRange at, ValueRange carried) {
    return SmallVector<Value>{loopNest(
        l, l.fold(most), {carried[0], zero},
        [&](ValueRange k, ValueRange inner) {
          Value place = arith::AddIOp::create(
              l.b, at[0], arith::MulIOp::create(l.b, k[0], l.index(distance)));
          Value state = inner[1];
          Value goesOn = arith::AndIOp::create(
              l.b, arith::CmpIOp::create(l.b, IP::slt, place, end),
              arith::CmpIOp::create(l.b, IP::sge, state, zero));
          Value lost = l.constantInt(i64, -1);
          SmallVector<Value> next =
              onlyIf(l, goesOn, {inner[0], lost}, [&]() -> SmallVector<Value> {
                ScalarBuilder s(l.b, l.b.getLoc());
                SmallVector<Value> where(row);
                where.push_back(place);
                Value word = elementAt(l, x, where);
                if (word.getType().isInteger(32))
                  word = s.make<arith::ExtSIOp>(i64, word);
                Value key =
                    s.add(s.mul(state, s.integer(i64, words.size() + 1)),
                          words.find(s, word));
                Value target =
                    elementAt(l, targets, indexOf(edges->find(s, key)));
                Value safe = s.make<arith::MaxSIOp>(target, zero);
                Value ngram = elementAt(l, ngrams, indexOf(safe));
                Value isLong =
                    s.make<arith::CmpIOp>(IP::sge, k[0], l.index(least - 1));
                Value isNgram =
                    s.both(s.both(s.make<arith::CmpIOp>(IP::sge, target, zero),
                                  s.make<arith::CmpIOp>(IP::sge, ngram, zero)),
                           isLong);
                Value counted =
                    onlyIf(l, isNgram, inner[0], [&]() -> SmallVector<Value> {
                      SmallVector<Value> to(row);
                      to.push_back(
                          indexOf(elementAt(l, outputs, indexOf(ngram))));
                      Value old = elementAt(l, inner[0], to);
                      Value sum =
                          arith::AddFOp::create(l.b, old, l.constant(f32, 1));
                      return {tensor::InsertOp::create(l.b, sum, inner[0], to)};
                    })[0];
                return {counted, target};
              });
          return next;
        })[0]};
  })[0];
}

/// Integers, strings or nothing of attribute `name`.
static SmallVector<StringRef> stringsAttr(NodeLowering &l, StringRef name) {
  SmallVector<StringRef> values;
  if (auto array = dyn_cast_or_null<ArrayAttr>(l.attr(name)))
    for (Attribute value : array)
      values.push_back(cast<StringAttr>(value).getValue());
  return values;
}

/// The n-grams of the pool, in order: `counts[n]` says where those of n + 1
/// words begin.
static LogicalResult buildTree(NodeLowering &l, const LookupTable &words,
                               int64_t poolSize, ArrayRef<int64_t> counts,
                               size_t numOutputs, NgramTree &tree) {
  int64_t number = 0;
  for (auto [k, begin] : llvm::enumerate(counts)) {
    int64_t end = k + 1 < counts.size() ? counts[k + 1] : poolSize;
    int64_t length = k + 1;
    if (begin < 0 || end < begin || end > poolSize ||
        (end - begin) % length != 0)
      return l.refuse("'ngram_counts' does not fit the pool");
    for (int64_t at = begin; at < end; at += length) {
      SmallVector<int64_t> ngram;
      for (int64_t j = at; j < at + length; ++j)
        ngram.push_back(words.placeOf(j));
      tree.add(ngram, number++);
    }
  }
  if (static_cast<size_t>(number) != numOutputs)
    return l.refuse("'ngram_indexes' has " + Twine(numOutputs) +
                    " entries for " + Twine(number) + " n-grams");
  return success();
}

static LogicalResult lowerTfIdfVectorizer(NodeLowering &l) {
  std::string mode = l.stringAttr("mode");
  if (mode != "TF" && mode != "IDF" && mode != "TFIDF")
    return l.refuse("unknown mode '" + mode + "'");
  int64_t least = l.intAttr("min_gram_length"),
          most = l.intAttr("max_gram_length"),
          skips = l.intAttr("max_skip_count");
  SmallVector<int64_t> pool =
      l.intsAttr("pool_int64s").value_or(SmallVector<int64_t>());
  SmallVector<StringRef> texts = stringsAttr(l, "pool_strings");
  SmallVector<int64_t> outputs = *l.intsAttr("ngram_indexes"),
                       counts = *l.intsAttr("ngram_counts");
  std::optional<SmallVector<double>> weights = l.floatsAttr("weights");
  int64_t rank = l.rank(0);
  if (rank > 2)
    return l.refuse("the input has rank " + Twine(rank) +
                    ", expected at most 2");
  if (least < 1 || most < least || skips < 0)
    return l.refuse("the lengths of the n-grams do not fit each other");
  if (weights && weights->size() != outputs.size())
    return l.refuse("'weights' has " + Twine(weights->size()) +
                    " entries for " + Twine(outputs.size()) + " n-grams");
  int64_t width = 0;
  for (int64_t output : outputs) {
    if (output < 0)
      return l.refuse("'ngram_indexes' holds " + Twine(output));
    width = std::max(width, output + 1);
  }
  LookupTable words =
      l.isString(0) ? LookupTable(l, texts) : LookupTable(l, ArrayRef(pool));
  NgramTree tree;
  int64_t poolSize = l.isString(0) ? texts.size() : pool.size();
  if (failed(buildTree(l, words, poolSize, counts, outputs.size(), tree)))
    return failure();
  // An n-gram has at most as many words as the tree is deep.
  most = std::min<int64_t>(most, counts.size());
  NgramCounter counter(l, words, tree, outputs);
  Type f32 = l.b.getF32Type();
  Value x = l.in(0);
  // A scalar is a row of one word.
  if (rank == 0)
    return l.refuse("a scalar holds no words");
  Dims dims = l.dims(x);
  OpFoldResult length = dims.back();
  dims.back() = l.fold(width);
  Value result = l.filled(dims, l.constant(f32, 0));
  ArrayRef<OpFoldResult> rows = ArrayRef(dims).drop_back();
  result = loopNest(l, rows, result, [&](ValueRange row, ValueRange carried) {
    Value sum = carried[0];
    for (int64_t skip = 0; skip <= skips && most > 0; ++skip) {
      // Single words have no distance: they are counted once.
      int64_t from = skip > 0 ? std::max<int64_t>(least, 2) : least;
      if (from <= most)
        sum = counter.count(sum, row, length, skip + 1, from, most);
    }
    return SmallVector<Value>{sum};
  })[0];
  if (mode != "TF") {
    SmallVector<float> factors(width, 1);
    if (weights)
      for (auto [output, weight] : llvm::zip_equal(outputs, *weights))
        factors[output] = weight;
    Value scale = arith::ConstantOp::create(
        l.b, DenseElementsAttr::get(RankedTensorType::get({width}, f32),
                                    ArrayRef(factors)));
    result = mapSpace(l, {{result, allAxes(rank)}, {scale, {rank - 1}}}, dims,
                      f32, [&](ScalarBuilder &s, ArrayRef<Value> e) {
                        Value count = mode == "IDF"
                                          ? s.min(e[0], s.constant(f32, 1))
                                          : e[0];
                        return s.mul(count, e[1]);
                      });
  }
  l.setResult(result);
  return success();
}

void loopc::addTextRows(LoweringTable &table) {
  table.add({
      {"", "StringSplit", 20, kLatest, lowerStringSplit},
      {"", "StringNormalizer", 10, kLatest, lowerStringNormalizer},
      {"", "TfIdfVectorizer", 9, kLatest, lowerTfIdfVectorizer},
  });
}
