//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Ensembles of decision trees: TreeEnsembleRegressor, TreeEnsembleClassifier,
// and TreeEnsemble of ai.onnx.ml 5. The nodes lie in constant tables: the code
// is the same for any number of trees.

#include "Trees.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace loopc;

/// The scores of `rows`; doubles are compared as such, everything else as
/// floats.
static FailureOr<Value> computeScores(NodeLowering &l, Trees &trees,
                                      Value rows) {
  bool isDouble = l.elementType(0).isF64();
  trees.simplify(isDouble);
  FailureOr<PackedTrees> packed = packTrees(l, trees, isDouble);
  if (failed(packed))
    return failure();
  return treeScores(l, trees, *packed, rows);
}

static Value toResultType(NodeLowering &l, Value scores) {
  Type type = l.resultElementType();
  return mapSpace(
      l, {{scores, {0, 1}}}, l.dims(scores), type,
      [&](ScalarBuilder &s, ArrayRef<Value> e) { return s.cast(e[0], type); });
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

static LogicalResult checkBase(NodeLowering &l, const Trees &trees) {
  size_t count = trees.base.size();
  if (count > 1 && static_cast<int64_t>(count) != trees.numTargets)
    return l.refuse(Twine(count) + " base values for " +
                    Twine(trees.numTargets) + " targets");
  return success();
}

static LogicalResult lowerTreeEnsembleRegressor(NodeLowering &l) {
  Trees trees;
  FailureOr<Value> rows = featureRows(l);
  FailureOr<ScoreTransform> transform = readTransform(l);
  std::string name = l.stringAttr("aggregate_function", "SUM");
  auto aggregate = llvm::StringSwitch<std::optional<Aggregate>>(name)
                       .Case("SUM", Aggregate::Sum)
                       .Case("AVERAGE", Aggregate::Average)
                       .Case("MIN", Aggregate::Min)
                       .Case("MAX", Aggregate::Max)
                       .Default(std::nullopt);
  if (!aggregate)
    return l.refuse("there is no aggregate_function '" + Twine(name) + "'");
  trees.aggregate = *aggregate;
  trees.numTargets = l.intAttr("n_targets", 1);
  if (trees.numTargets < 1)
    return l.refuse(Twine(trees.numTargets) + " targets");
  if (failed(rows) || failed(transform) ||
      failed(readNumberedTrees(l, "target", trees)) ||
      failed(trees.verify(l)) || failed(checkBase(l, trees)))
    return failure();
  FailureOr<Value> scores = computeScores(l, trees, *rows);
  if (failed(scores))
    return failure();
  l.setResult(toResultType(l, transformScores(l, *scores, *transform)));
  return success();
}

static LogicalResult lowerTreeEnsembleClassifier(NodeLowering &l) {
  Trees trees;
  ClassLabels labels;
  FailureOr<Value> rows = featureRows(l);
  FailureOr<ScoreTransform> transform = readTransform(l);
  if (failed(rows) || failed(transform) ||
      failed(labels.read(l, "classlabels_int64s")))
    return failure();
  trees.numTargets = labels.size();
  if (failed(readNumberedTrees(l, "class", trees)) || failed(trees.verify(l)) ||
      failed(checkBase(l, trees)))
    return failure();
  // Of two classes the first may have all weights: they speak for the second.
  bool isBinary = labels.size() == 2 && trees.base.size() < 2 &&
                  !trees.targets.empty() &&
                  llvm::all_of(trees.targets, [](int32_t t) { return t == 0; });
  bool isPositive =
      llvm::all_of(trees.weights, [](double weight) { return weight >= 0; });
  if (isBinary)
    trees.numTargets = 1;
  FailureOr<Value> scores = computeScores(l, trees, *rows);
  if (failed(scores))
    return failure();
  if (isBinary)
    setBinaryScores(l, labels, *scores, isPositive ? 0.5 : 0, isPositive,
                    *transform);
  else
    setClassScores(l, labels, *scores, *transform);
  return success();
}

static LogicalResult lowerTreeEnsemble(NodeLowering &l) {
  static constexpr Aggregate aggregates[] = {Aggregate::Average, Aggregate::Sum,
                                             Aggregate::Min, Aggregate::Max};
  static constexpr ScoreTransform transforms[] = {
      ScoreTransform::None, ScoreTransform::Softmax, ScoreTransform::Logistic,
      ScoreTransform::SoftmaxZero, ScoreTransform::Probit};
  int64_t aggregate = l.intAttr("aggregate_function", 1),
          transform = l.intAttr("post_transform", 0);
  if (aggregate < 0 || aggregate > 3)
    return l.refuse("there is no aggregate_function " + Twine(aggregate));
  if (transform < 0 || transform > 4)
    return l.refuse("there is no post_transform " + Twine(transform));
  Trees trees;
  trees.aggregate = aggregates[aggregate];
  trees.numTargets = l.intAttr("n_targets", 1);
  if (trees.numTargets < 1)
    return l.refuse(Twine(trees.numTargets) + " targets");
  FailureOr<Value> rows = featureRows(l);
  if (failed(rows) || failed(readPlacedTrees(l, trees)) ||
      failed(trees.verify(l)))
    return failure();
  FailureOr<Value> scores = computeScores(l, trees, *rows);
  if (failed(scores))
    return failure();
  l.setResult(
      toResultType(l, transformScores(l, *scores, transforms[transform])));
  return success();
}

void loopc::addTreeRows(LoweringTable &table) {
  constexpr llvm::StringLiteral domain = "ai.onnx.ml";
  table.add({
      {domain, "TreeEnsemble", 5, kLatest, lowerTreeEnsemble},
      {domain, "TreeEnsembleRegressor", 1, kLatest, lowerTreeEnsembleRegressor},
      {domain, "TreeEnsembleClassifier", 1, kLatest,
       lowerTreeEnsembleClassifier},
  });
}
