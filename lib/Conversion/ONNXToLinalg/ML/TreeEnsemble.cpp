//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Ensembles of decision trees: TreeEnsembleRegressor, TreeEnsembleClassifier,
// and TreeEnsemble of ai.onnx.ml 5. The nodes lie in constant tables, which a
// loop walks from the root to a leaf: the code is the same for any number of
// trees.

#include "ClassScores.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/StringSwitch.h"

#include <set>

using namespace mlir;
using namespace loopc;
using IP = arith::CmpIPredicate;
using FP = arith::CmpFPredicate;

namespace {
enum Mode : int64_t { LEQ, LT, GTE, GT, EQ, NEQ, Member, Leaf };
enum class Aggregate { Sum, Average, Min, Max };

/// The nodes of all trees by place, and what the leaves contribute.
struct Trees {
  SmallVector<int64_t> roots, modes, features, whenTrue, whenFalse, missing;
  SmallVector<double> splits;
  /// Members of the sets: those of node k are [memberStart[k],
  /// memberStart[k + 1]).
  SmallVector<int64_t> memberStart;
  SmallVector<double> members;
  /// Contributions, in the order of the leaves: likewise.
  SmallVector<int64_t> leafStart, targets;
  SmallVector<double> weights;
  int64_t numTargets = 0;
  Aggregate aggregate = Aggregate::Sum;
  SmallVector<double> base;

  LogicalResult verify(NodeLowering &l) const;
  void sortContributions(ArrayRef<std::pair<int64_t, int64_t>> leafAndTarget,
                         ArrayRef<double> values);
};
} // namespace

/// Puts the contributions of each leaf behind one another.
void Trees::sortContributions(
    ArrayRef<std::pair<int64_t, int64_t>> leafAndTarget,
    ArrayRef<double> values) {
  auto order = llvm::to_vector(llvm::seq<size_t>(leafAndTarget.size()));
  llvm::sort(order, [&](size_t x, size_t y) {
    return std::pair(leafAndTarget[x].first, x) <
           std::pair(leafAndTarget[y].first, y);
  });
  leafStart.assign(modes.size() + 1, 0);
  for (size_t k : order) {
    ++leafStart[leafAndTarget[k].first + 1];
    targets.push_back(leafAndTarget[k].second);
    weights.push_back(values[k]);
  }
  for (size_t k = 1; k < leafStart.size(); ++k)
    leafStart[k] += leafStart[k - 1];
}

/// Every walk must end: nodes are reached once.
LogicalResult Trees::verify(NodeLowering &l) const {
  int64_t count = modes.size();
  if (count >= std::numeric_limits<int32_t>::max() ||
      weights.size() >= std::numeric_limits<int32_t>::max())
    return l.unsupported("there are too many nodes");
  SmallVector<char> state(count, 0); // 1: on the way from a root; 2: done
  for (int64_t root : roots) {
    SmallVector<std::pair<int64_t, int>> path{{root, 0}};
    while (!path.empty()) {
      auto &[node, step] = path.back();
      if (step == 0 && state[node] == 1)
        return l.refuse("node " + Twine(node) + " leads back to itself");
      if (step == 2 || modes[node] == Leaf || state[node] == 2) {
        state[node] = 2;
        path.pop_back();
        continue;
      }
      state[node] = 1;
      if (features[node] < 0)
        return l.refuse("feature " + Twine(features[node]) + " is negative");
      int64_t next = step++ ? whenFalse[node] : whenTrue[node];
      path.push_back({next, 0});
    }
  }
  for (int64_t target : targets)
    if (target < 0 || target >= numTargets)
      return l.refuse("target " + Twine(target) + " is not one of " +
                      Twine(numTargets));
  return success();
}

//===----------------------------------------------------------------------===//
// The older operators: nodes are called by tree and number
//===----------------------------------------------------------------------===//

static SmallVector<int64_t> integersAttr(NodeLowering &l, StringRef name) {
  return l.intsAttr(name).value_or(SmallVector<int64_t>{});
}

static LogicalResult readModes(NodeLowering &l, Trees &trees) {
  static const llvm::StringMap<int64_t> names = {
      {"BRANCH_LEQ", LEQ}, {"BRANCH_LT", LT}, {"BRANCH_GTE", GTE},
      {"BRANCH_GT", GT},   {"BRANCH_EQ", EQ}, {"BRANCH_NEQ", NEQ},
      {"LEAF", Leaf}};
  for (StringRef name : stringsAttr(l, "nodes_modes")) {
    auto found = names.find(name);
    if (found == names.end())
      return l.refuse("there is no mode '" + name + "'");
    trees.modes.push_back(found->second);
  }
  return success();
}

/// `prefix` is "target" or "class".
static LogicalResult readNodes(NodeLowering &l, StringRef prefix,
                               Trees &trees) {
  l.ignoreAttr("nodes_hitrates");
  l.ignoreAttr("nodes_hitrates_as_tensor");
  if (failed(readModes(l, trees)))
    return failure();
  SmallVector<int64_t> treeIds = integersAttr(l, "nodes_treeids"),
                       nodeIds = integersAttr(l, "nodes_nodeids"),
                       whenTrue = integersAttr(l, "nodes_truenodeids"),
                       whenFalse = integersAttr(l, "nodes_falsenodeids");
  trees.features = integersAttr(l, "nodes_featureids");
  trees.missing = integersAttr(l, "nodes_missing_value_tracks_true");
  trees.splits = numbersAttr(l, "nodes_values");
  size_t count = trees.modes.size();
  if (trees.missing.empty())
    trees.missing.assign(count, 0);
  for (size_t size :
       {treeIds.size(), nodeIds.size(), whenTrue.size(), whenFalse.size(),
        trees.features.size(), trees.missing.size(), trees.splits.size()})
    if (size != count || count == 0)
      return l.refuse("the attributes of the nodes differ in length: " +
                      Twine(size) + " and " + Twine(count));
  llvm::DenseMap<std::pair<int64_t, int64_t>, int64_t> places;
  for (size_t k = 0; k < count; ++k)
    if (!places.try_emplace({treeIds[k], nodeIds[k]}, k).second)
      return l.refuse("tree " + Twine(treeIds[k]) + " has two nodes " +
                      Twine(nodeIds[k]));
  SmallVector<bool> isChild(count, false);
  trees.whenTrue.assign(count, 0);
  trees.whenFalse.assign(count, 0);
  for (size_t k = 0; k < count; ++k) {
    if (trees.modes[k] == Leaf)
      continue;
    auto yes = places.find({treeIds[k], whenTrue[k]}),
         no = places.find({treeIds[k], whenFalse[k]});
    if (yes == places.end() || no == places.end())
      return l.refuse("node " + Twine(nodeIds[k]) + " of tree " +
                      Twine(treeIds[k]) + " leads to a node that is not there");
    trees.whenTrue[k] = yes->second;
    trees.whenFalse[k] = no->second;
    isChild[yes->second] = isChild[no->second] = true;
  }
  std::set<int64_t> hasRoot;
  for (size_t k = 0; k < count; ++k)
    if (!isChild[k] && hasRoot.insert(treeIds[k]).second)
      trees.roots.push_back(k);
  for (int64_t tree : treeIds)
    if (!hasRoot.contains(tree))
      return l.refuse("tree " + Twine(tree) + " has no root");

  SmallVector<int64_t> leafTrees = integersAttr(l, (prefix + "_treeids").str()),
                       leafNodes = integersAttr(l, (prefix + "_nodeids").str()),
                       ids = integersAttr(l, (prefix + "_ids").str());
  SmallVector<double> weights = numbersAttr(l, (prefix + "_weights").str());
  for (size_t size : {leafTrees.size(), leafNodes.size(), weights.size()})
    if (size != ids.size())
      return l.refuse("the attributes of the " + prefix +
                      " weights differ in length");
  SmallVector<std::pair<int64_t, int64_t>> contributions;
  for (auto [tree, node, id] : llvm::zip_equal(leafTrees, leafNodes, ids)) {
    auto place = places.find({tree, node});
    if (place == places.end())
      return l.refuse("tree " + Twine(tree) + " has no node " + Twine(node));
    contributions.push_back({place->second, id});
  }
  trees.sortContributions(contributions, weights);
  trees.base = numbersAttr(l, "base_values");
  return success();
}

//===----------------------------------------------------------------------===//
// TreeEnsemble: nodes are called by place, leaves have places of their own
//===----------------------------------------------------------------------===//

static SmallVector<double> tensorAttr(NodeLowering &l, StringRef name) {
  DenseElementsAttr tensor = denseElements(l.attr(name));
  return tensor ? numbersOf(tensor) : SmallVector<double>();
}

static LogicalResult readSets(NodeLowering &l, Trees &trees, int64_t inner) {
  SmallVector<double> values = tensorAttr(l, "membership_values");
  // A NaN ends a set.
  size_t at = 0;
  for (int64_t k = 0, e = trees.modes.size(); k < e; ++k) {
    trees.memberStart.push_back(trees.members.size());
    if (k >= inner || trees.modes[k] != Member)
      continue;
    if (at >= values.size())
      return l.refuse("there are fewer sets in 'membership_values' than nodes "
                      "that ask for one");
    for (; at < values.size() && !std::isnan(values[at]); ++at)
      trees.members.push_back(values[at]);
    ++at;
  }
  trees.memberStart.push_back(trees.members.size());
  return success();
}

static LogicalResult readPlacedNodes(NodeLowering &l, Trees &trees) {
  l.ignoreAttr("nodes_hitrates");
  for (double mode : tensorAttr(l, "nodes_modes"))
    trees.modes.push_back(static_cast<int64_t>(mode));
  trees.roots = integersAttr(l, "tree_roots");
  trees.features = integersAttr(l, "nodes_featureids");
  trees.missing = integersAttr(l, "nodes_missing_value_tracks_true");
  trees.whenTrue = integersAttr(l, "nodes_truenodeids");
  trees.whenFalse = integersAttr(l, "nodes_falsenodeids");
  trees.splits = tensorAttr(l, "nodes_splits");
  SmallVector<int64_t> trueLeafs = integersAttr(l, "nodes_trueleafs"),
                       falseLeafs = integersAttr(l, "nodes_falseleafs"),
                       targets = integersAttr(l, "leaf_targetids");
  SmallVector<double> weights = tensorAttr(l, "leaf_weights");
  size_t inner = trees.modes.size(), leaves = targets.size();
  if (trees.missing.empty())
    trees.missing.assign(inner, 0);
  for (size_t size : {trees.features.size(), trees.missing.size(),
                      trees.whenTrue.size(), trees.whenFalse.size(),
                      trees.splits.size(), trueLeafs.size(), falseLeafs.size()})
    if (size != inner)
      return l.refuse("the attributes of the nodes differ in length: " +
                      Twine(size) + " and " + Twine(inner));
  if (weights.size() != leaves || leaves == 0)
    return l.refuse("the attributes of the leaves differ in length");
  for (size_t k = 0; k < inner; ++k) {
    if (trees.modes[k] < LEQ || trees.modes[k] > Member)
      return l.refuse("there is no mode " + Twine(trees.modes[k]));
    for (auto [next, isLeaf] :
         {std::pair(&trees.whenTrue[k], trueLeafs[k]),
          std::pair(&trees.whenFalse[k], falseLeafs[k])}) {
      if (*next < 0 || static_cast<size_t>(*next) >= (isLeaf ? leaves : inner))
        return l.refuse("node " + Twine(k) +
                        " leads to a node that is not there");
      *next += isLeaf ? inner : 0;
    }
  }
  for (int64_t root : trees.roots)
    if (root < 0 || static_cast<size_t>(root) >= inner)
      return l.refuse("root " + Twine(root) + " is no node");
  SmallVector<std::pair<int64_t, int64_t>> contributions;
  for (size_t k = 0; k < leaves; ++k) {
    trees.modes.push_back(Leaf);
    for (auto *table :
         {&trees.features, &trees.missing, &trees.whenTrue, &trees.whenFalse})
      table->push_back(0);
    trees.splits.push_back(0);
    contributions.push_back({inner + k, targets[k]});
  }
  trees.sortContributions(contributions, weights);
  return readSets(l, trees, inner);
}

//===----------------------------------------------------------------------===//
// Walking the trees
//===----------------------------------------------------------------------===//

namespace {
/// The tables as tensors, and the code that reads them.
class TreeWalker {
public:
  TreeWalker(NodeLowering &l, const Trees &trees, Value rows, Type type)
      : l(l), trees(trees), rows(rows), type(type) {
    modes = integerTable(l, trees.modes);
    features = integerTable(l, trees.features);
    whenTrue = integerTable(l, trees.whenTrue);
    whenFalse = integerTable(l, trees.whenFalse);
    roots = integerTable(l, trees.roots);
    leafStart = integerTable(l, trees.leafStart);
    targets = integerTable(l, trees.targets);
    splits = floatTable(l, trees.splits, type);
    weights = floatTable(l, trees.weights, type);
    if (llvm::any_of(trees.missing, [](int64_t flag) { return flag != 0; }))
      missing = integerTable(l, trees.missing);
    if (llvm::is_contained(trees.modes, Member)) {
      memberStart = integerTable(l, trees.memberStart);
      members = floatTable(l, trees.members, type);
    }
  }

  /// (rows, targets): the aggregated contributions and the base values.
  Value scores();

private:
  Value read(Value table, Value place) {
    return tensor::ExtractOp::create(l.b, table, place);
  }
  Value readPlace(Value table, Value place) {
    return arith::IndexCastOp::create(l.b, l.b.getIndexType(),
                                      read(table, place));
  }
  Value isMode(Value mode, int64_t which) {
    return arith::CmpIOp::create(l.b, IP::eq, mode,
                                 l.constantInt(l.b.getI32Type(), which));
  }
  Value isTrue(Value node, Value x, Value mode);
  Value isMember(Value node, Value x);
  Value leafOf(Value row, Value tree);
  SmallVector<Value> addLeaf(Value row, Value leaf, ValueRange carried);

  bool keepsExtremum() const {
    return trees.aggregate == Aggregate::Min ||
           trees.aggregate == Aggregate::Max;
  }

  NodeLowering &l;
  const Trees &trees;
  Value rows;
  Type type;
  Value modes, features, whenTrue, whenFalse, missing, roots, splits;
  Value leafStart, targets, weights, memberStart, members;
};
} // namespace

Value TreeWalker::isMember(Value node, Value x) {
  Value one = l.index(1);
  Value from = readPlace(memberStart, node),
        to = readPlace(memberStart, arith::AddIOp::create(l.b, node, one));
  Value none = l.constantInt(l.b.getI1Type(), 0);
  auto loop = scf::ForOp::create(l.b, from, to, one, ValueRange{none});
  OpBuilder::InsertionGuard guard(l.b);
  l.b.setInsertionPointToStart(loop.getBody());
  Value same = arith::CmpFOp::create(l.b, FP::OEQ, x,
                                     read(members, loop.getInductionVar()));
  Value either = arith::OrIOp::create(l.b, loop.getRegionIterArg(0), same);
  scf::YieldOp::create(l.b, either);
  return loop.getResult(0);
}

/// Whether `x` goes the way of `node` for what is true.
Value TreeWalker::isTrue(Value node, Value x, Value mode) {
  static constexpr std::pair<int64_t, FP> comparisons[] = {
      {LEQ, FP::OLE}, {LT, FP::OLT}, {GTE, FP::OGE},
      {GT, FP::OGT},  {EQ, FP::OEQ}, {NEQ, FP::UNE}};
  Value split = read(splits, node), result;
  auto choose = [&](int64_t which, Value value) {
    result = result ? arith::SelectOp::create(l.b, isMode(mode, which), value,
                                              result)
                          .getResult()
                    : value;
  };
  if (memberStart)
    choose(Member, isMember(node, x));
  for (auto [which, predicate] : comparisons)
    if (llvm::is_contained(trees.modes, which))
      choose(which, arith::CmpFOp::create(l.b, predicate, x, split));
  if (!missing)
    return result;
  Value isNaN = arith::CmpFOp::create(l.b, FP::UNO, x, x);
  Value tracks = arith::CmpIOp::create(l.b, IP::ne, read(missing, node),
                                       l.constantInt(l.b.getI32Type(), 0));
  return arith::OrIOp::create(l.b, result,
                              arith::AndIOp::create(l.b, isNaN, tracks));
}

/// The place of the leaf that `row` comes to.
Value TreeWalker::leafOf(Value row, Value tree) {
  Value root = readPlace(roots, tree);
  if (llvm::all_of(trees.modes, [](int64_t mode) { return mode == Leaf; }))
    return root;
  Type index = l.b.getIndexType();
  auto loop = scf::WhileOp::create(
      l.b, TypeRange{index}, ValueRange{root},
      [&](OpBuilder &b, Location loc, ValueRange node) {
        OpBuilder::InsertionGuard guard(l.b);
        l.b.setInsertionPoint(b.getInsertionBlock(), b.getInsertionPoint());
        Value isInner =
            arith::CmpIOp::create(l.b, IP::ne, read(modes, node[0]),
                                  l.constantInt(l.b.getI32Type(), Leaf));
        scf::ConditionOp::create(l.b, isInner, node);
      },
      [&](OpBuilder &b, Location loc, ValueRange node) {
        OpBuilder::InsertionGuard guard(l.b);
        l.b.setInsertionPoint(b.getInsertionBlock(), b.getInsertionPoint());
        Value feature = readPlace(features, node[0]);
        Value x =
            tensor::ExtractOp::create(l.b, rows, ValueRange{row, feature});
        x = NodeLowering::castScalar(l.b, l.b.getLoc(), x,
                                     /*fromUnsigned=*/false, type,
                                     /*toUnsigned=*/false);
        Value next = arith::SelectOp::create(
            l.b, isTrue(node[0], x, read(modes, node[0])),
            readPlace(whenTrue, node[0]), readPlace(whenFalse, node[0]));
        scf::YieldOp::create(l.b, next);
      });
  return loop.getResult(0);
}

/// The scores (and, for extrema, which of them there are) with those of `leaf`.
SmallVector<Value> TreeWalker::addLeaf(Value row, Value leaf,
                                       ValueRange carried) {
  Value one = l.index(1);
  Value from = readPlace(leafStart, leaf),
        to = readPlace(leafStart, arith::AddIOp::create(l.b, leaf, one));
  auto loop = scf::ForOp::create(l.b, from, to, one, carried);
  OpBuilder::InsertionGuard guard(l.b);
  l.b.setInsertionPointToStart(loop.getBody());
  Value at = loop.getInductionVar();
  ValueRange current = loop.getRegionIterArgs();
  SmallVector<Value> place{row, readPlace(targets, at)};
  Value weight = read(weights, at);
  Value old = tensor::ExtractOp::create(l.b, current[0], place), score;
  SmallVector<Value> next;
  if (keepsExtremum()) {
    Value isThere = tensor::ExtractOp::create(l.b, current[1], place);
    Value better = arith::CmpFOp::create(
        l.b, trees.aggregate == Aggregate::Min ? FP::OLT : FP::OGT, weight,
        old);
    Value takes = arith::OrIOp::create(
        l.b, better,
        arith::XOrIOp::create(l.b, isThere, l.constantInt(l.b.getI1Type(), 1)));
    score = arith::SelectOp::create(l.b, takes, weight, old);
  } else {
    score = arith::AddFOp::create(l.b, old, weight);
  }
  next.push_back(tensor::InsertOp::create(l.b, score, current[0], place));
  if (keepsExtremum())
    next.push_back(tensor::InsertOp::create(
        l.b, l.constantInt(l.b.getI1Type(), 1), current[1], place));
  scf::YieldOp::create(l.b, next);
  return SmallVector<Value>(loop.getResults());
}

Value TreeWalker::scores() {
  int64_t last = 0;
  for (auto [feature, mode] : llvm::zip_equal(trees.features, trees.modes))
    if (mode != Leaf)
      last = std::max(last, feature + 1);
  OpFoldResult count = l.dim(rows, 0), width = l.dim(rows, 1);
  Dims dims{count, l.fold(trees.numTargets)};
  Value isWide = compare(l, IP::sge, width, l.fold(last));
  l.check(isWide, "there are {} features, fewer than the trees ask for",
          l.asIndex(width));
  SmallVector<Value> carried{l.filled(dims, l.constant(type, 0))};
  if (keepsExtremum())
    carried.push_back(l.filled(dims, l.constantInt(l.b.getI1Type(), 0)));
  // Rows that are too short are refused, but a branch that is never taken may
  // say so at compile time: no element is read then.
  std::optional<int64_t> known = getConstantIntValue(width);
  if (!known || *known >= last)
    carried =
        loopNest(l, {count, l.fold(static_cast<int64_t>(trees.roots.size()))},
                 carried, [&](ValueRange at, ValueRange current) {
                   return addLeaf(at[0], leafOf(at[0], at[1]), current);
                 });
  Value sums = carried[0];
  double scale = trees.aggregate == Aggregate::Average
                     ? std::max<size_t>(trees.roots.size(), 1)
                     : 1;
  if (scale == 1 && trees.base.empty())
    return sums;
  SmallVector<double> base(trees.base);
  base.resize(trees.numTargets, base.size() == 1 ? base[0] : 0);
  return mapSpace(l, {{sums, {0, 1}}, {floatTable(l, base, type), {1}}}, dims,
                  type, [&](ScalarBuilder &s, ArrayRef<Value> e) {
                    Value sum = e[0];
                    if (scale != 1)
                      sum = s.div(sum, s.constant(type, scale));
                    return s.add(sum, e[1]);
                  });
}

/// Doubles are compared as such, everything else as floats.
static Type comparedType(NodeLowering &l) {
  return l.elementType(0).isF64() ? Type(l.b.getF64Type()) : l.b.getF32Type();
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
      failed(readNodes(l, "target", trees)) || failed(trees.verify(l)) ||
      failed(checkBase(l, trees)))
    return failure();
  Value scores = TreeWalker(l, trees, *rows, comparedType(l)).scores();
  l.setResult(toResultType(l, transformScores(l, scores, *transform)));
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
  if (failed(readNodes(l, "class", trees)) || failed(trees.verify(l)) ||
      failed(checkBase(l, trees)))
    return failure();
  Type type = comparedType(l);
  // Of two classes the first may have all weights: they speak for the second.
  std::set<int64_t> weighted(trees.targets.begin(), trees.targets.end());
  if (labels.size() == 2 && weighted.size() == 1 && weighted.contains(0) &&
      trees.base.size() < 2) {
    trees.numTargets = 1;
    bool isPositive =
        llvm::all_of(trees.weights, [](double weight) { return weight >= 0; });
    setBinaryScores(l, labels, TreeWalker(l, trees, *rows, type).scores(),
                    isPositive ? 0.5 : 0, isPositive, *transform);
    return success();
  }
  setClassScores(l, labels, TreeWalker(l, trees, *rows, type).scores(),
                 *transform);
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
  if (failed(rows) || failed(readPlacedNodes(l, trees)) ||
      failed(trees.verify(l)))
    return failure();
  Value scores = TreeWalker(l, trees, *rows, comparedType(l)).scores();
  l.setResult(
      toResultType(l, transformScores(l, scores, transforms[transform])));
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
