//===- ReadTrees.cpp - The attributes of tree ensembles -------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Ensembles may have millions of nodes: lists are read where they are, and
// nothing is made for each node alone.

#include "Trees.h"
#include "loopc/Support/ConstantElements.h"

using namespace mlir;
using namespace loopc;

static ArrayRef<int64_t> integerList(NodeLowering &l, StringRef name) {
  auto list = dyn_cast_or_null<DenseI64ArrayAttr>(l.attr(name));
  return list ? list.asArrayRef() : ArrayRef<int64_t>();
}

/// Fails where lists are not of `count` elements each.
static LogicalResult checkLengths(NodeLowering &l, StringRef what,
                                  ArrayRef<size_t> sizes, size_t count) {
  for (size_t size : sizes)
    if (size != count)
      return l.refuse("the attributes of the " + what + " differ in length: " +
                      Twine(size) + " and " + Twine(count));
  if (count >= std::numeric_limits<int32_t>::max())
    return l.unsupported("there are too many nodes");
  return success();
}

/// The features and the ways of NaN of all nodes.
static LogicalResult readFeatures(NodeLowering &l, Trees &trees) {
  ArrayRef<int64_t> features = integerList(l, "nodes_featureids"),
                    missing = integerList(l, "nodes_missing_value_tracks_true");
  size_t count = trees.modes.size();
  if (failed(checkLengths(l, "nodes",
                          {features.size(),
                           missing.empty() ? count : missing.size(),
                           trees.splits.size()},
                          count)))
    return failure();
  trees.features.reserve(count);
  for (int64_t feature : features) {
    if (feature >= std::numeric_limits<int32_t>::max())
      return l.refuse("no input has a feature " + Twine(feature));
    trees.features.push_back(std::max<int64_t>(feature, INT32_MIN));
  }
  if (llvm::any_of(missing, [](int64_t flag) { return flag != 0; }))
    for (int64_t flag : missing)
      trees.trueIfNaN.push_back(flag != 0);
  return success();
}

//===----------------------------------------------------------------------===//
// The older operators: nodes are called by tree and number
//===----------------------------------------------------------------------===//

namespace {
/// Where the node is that a tree calls by a number. Exporters write trees one
/// behind the other, and their nodes by number, so that nothing is sorted.
class NumberedNodes {
public:
  /// Fails after an error where a tree has two nodes of one number.
  LogicalResult fill(NodeLowering &l, ArrayRef<int64_t> treeIds,
                     ArrayRef<int64_t> numbers);
  /// None where there is no such node.
  std::optional<int32_t> find(int64_t tree, int64_t number) const;

private:
  std::pair<int64_t, int64_t> name(size_t k) const {
    size_t place = order.empty() ? k : order[k];
    return {trees[place], ids[place]};
  }

  ArrayRef<int64_t> trees, ids;
  std::vector<int32_t> order; ///< by tree and number; empty: as they are
  /// The nodes of a tree, [first, second) in this order.
  llvm::DenseMap<int64_t, std::pair<size_t, size_t>> ranges;
};
} // namespace

LogicalResult NumberedNodes::fill(NodeLowering &l, ArrayRef<int64_t> treeIds,
                                  ArrayRef<int64_t> numbers) {
  trees = treeIds;
  ids = numbers;
  size_t count = trees.size();
  bool isSorted = true;
  for (size_t k = 1; k < count && isSorted; ++k)
    isSorted = name(k - 1) < name(k);
  if (!isSorted) {
    auto all = llvm::seq<int32_t>(count);
    std::vector<int32_t> places(all.begin(), all.end());
    llvm::sort(places, [&](int32_t x, int32_t y) {
      return std::tie(trees[x], ids[x], x) < std::tie(trees[y], ids[y], y);
    });
    order = std::move(places);
  }
  for (size_t k = 0; k < count; ++k) {
    auto [tree, number] = name(k);
    if (k > 0 && name(k - 1) == name(k))
      return l.refuse("tree " + Twine(tree) + " has two nodes " +
                      Twine(number));
    auto [range, isNew] = ranges.try_emplace(tree, k, k + 1);
    range->second.second = k + 1;
  }
  return success();
}

std::optional<int32_t> NumberedNodes::find(int64_t tree, int64_t number) const {
  auto found = ranges.find(tree);
  if (found == ranges.end())
    return std::nullopt;
  auto [begin, end] = found->second;
  std::pair<int64_t, int64_t> wanted{tree, number};
  // Where no number is left out the node is as far from the first.
  uint64_t distance =
      static_cast<uint64_t>(number) - static_cast<uint64_t>(name(begin).second);
  size_t k = begin + distance;
  if (distance >= end - begin || name(k) != wanted) {
    auto places = llvm::seq<size_t>(begin, end);
    k = *llvm::partition_point(places,
                               [&](size_t at) { return name(at) < wanted; });
    if (k == end || name(k) != wanted)
      return std::nullopt;
  }
  return order.empty() ? k : order[k];
}

static LogicalResult readModes(NodeLowering &l, Trees &trees) {
  static const llvm::StringMap<TreeMode> names = {
      {"BRANCH_LEQ", LEQ}, {"BRANCH_LT", LT}, {"BRANCH_GTE", GTE},
      {"BRANCH_GT", GT},   {"BRANCH_EQ", EQ}, {"BRANCH_NEQ", NEQ},
      {"LEAF", Leaf}};
  auto list = dyn_cast_or_null<ArrayAttr>(l.attr("nodes_modes"));
  if (!list)
    return success();
  // There are few attributes for very many elements.
  llvm::SmallDenseMap<Attribute, uint8_t> known;
  trees.modes.reserve(list.size());
  for (Attribute name : list) {
    auto place = known.find(name);
    if (place == known.end()) {
      StringRef text = cast<StringAttr>(name).getValue();
      auto mode = names.find(text);
      if (mode == names.end())
        return l.refuse("there is no mode '" + text + "'");
      place = known.try_emplace(name, mode->second).first;
    }
    trees.modes.push_back(place->second);
  }
  return success();
}

/// Finds the nodes that nodes lead to, and those that none leads to: roots.
static LogicalResult connect(NodeLowering &l, const NumberedNodes &nodes,
                             Trees &trees) {
  ArrayRef<int64_t> treeIds = integerList(l, "nodes_treeids"),
                    nodeIds = integerList(l, "nodes_nodeids"),
                    whenTrue = integerList(l, "nodes_truenodeids"),
                    whenFalse = integerList(l, "nodes_falsenodeids");
  size_t count = trees.modes.size();
  std::vector<bool> isChild(count, false);
  trees.whenTrue.assign(count, 0);
  trees.whenFalse.assign(count, 0);
  for (size_t k = 0; k < count; ++k) {
    if (trees.modes[k] == Leaf)
      continue;
    std::optional<int32_t> yes = nodes.find(treeIds[k], whenTrue[k]),
                           no = nodes.find(treeIds[k], whenFalse[k]);
    if (!yes || !no)
      return l.refuse("node " + Twine(nodeIds[k]) + " of tree " +
                      Twine(treeIds[k]) + " leads to a node that is not there");
    trees.whenTrue[k] = *yes;
    trees.whenFalse[k] = *no;
    isChild[*yes] = isChild[*no] = true;
  }
  llvm::DenseSet<int64_t> hasRoot;
  for (size_t k = 0; k < count; ++k)
    if (!isChild[k] && hasRoot.insert(treeIds[k]).second)
      trees.roots.push_back(k);
  for (int64_t tree : treeIds)
    if (!hasRoot.contains(tree))
      return l.refuse("tree " + Twine(tree) + " has no root");
  return success();
}

static LogicalResult readWeights(NodeLowering &l, StringRef prefix,
                                 const NumberedNodes &nodes, Trees &trees) {
  ArrayRef<int64_t> leafTrees = integerList(l, (prefix + "_treeids").str()),
                    leafNodes = integerList(l, (prefix + "_nodeids").str()),
                    ids = integerList(l, (prefix + "_ids").str());
  SmallVector<double> weights = numbersAttr(l, (prefix + "_weights").str());
  if (failed(checkLengths(l, (prefix + " weights").str(),
                          {leafTrees.size(), leafNodes.size(), weights.size()},
                          ids.size())))
    return failure();
  std::vector<int32_t> leaves;
  leaves.reserve(ids.size());
  for (auto [tree, node] : llvm::zip_equal(leafTrees, leafNodes)) {
    std::optional<int32_t> place = nodes.find(tree, node);
    if (!place)
      return l.refuse("tree " + Twine(tree) + " has no node " + Twine(node));
    leaves.push_back(*place);
  }
  trees.sortContributions(leaves, ids, weights);
  return success();
}

LogicalResult loopc::readNumberedTrees(NodeLowering &l, StringRef prefix,
                                       Trees &trees) {
  l.ignoreAttr("nodes_hitrates");
  l.ignoreAttr("nodes_hitrates_as_tensor");
  if (failed(readModes(l, trees)))
    return failure();
  SmallVector<double> splits = numbersAttr(l, "nodes_values");
  trees.splits.assign(splits.begin(), splits.end());
  ArrayRef<int64_t> treeIds = integerList(l, "nodes_treeids"),
                    nodeIds = integerList(l, "nodes_nodeids");
  size_t count = trees.modes.size();
  if (count == 0)
    return l.refuse("there are no nodes");
  if (failed(readFeatures(l, trees)) ||
      failed(checkLengths(l, "nodes",
                          {treeIds.size(), nodeIds.size(),
                           integerList(l, "nodes_truenodeids").size(),
                           integerList(l, "nodes_falsenodeids").size()},
                          count)))
    return failure();
  NumberedNodes nodes;
  if (failed(nodes.fill(l, treeIds, nodeIds)) ||
      failed(connect(l, nodes, trees)) ||
      failed(readWeights(l, prefix, nodes, trees)))
    return failure();
  trees.base = numbersAttr(l, "base_values");
  return success();
}

//===----------------------------------------------------------------------===//
// TreeEnsemble: nodes are called by place, leaves have places of their own
//===----------------------------------------------------------------------===//

static SmallVector<double> tensorAttr(NodeLowering &l, StringRef name) {
  DenseElementsAttr tensor = getDenseElements(l.attr(name));
  return tensor ? numbersOf(tensor) : SmallVector<double>();
}

static LogicalResult readSets(NodeLowering &l, Trees &trees) {
  SmallVector<double> values = tensorAttr(l, "membership_values");
  // A NaN ends a set.
  size_t at = 0;
  for (auto [k, mode] : llvm::enumerate(trees.modes)) {
    if (mode != Member)
      continue;
    if (at >= values.size())
      return l.refuse("there are fewer sets in 'membership_values' than nodes "
                      "that ask for one");
    SmallVector<double> &set = trees.members[k];
    for (; at < values.size() && !std::isnan(values[at]); ++at)
      set.push_back(values[at]);
    ++at;
  }
  return success();
}

static LogicalResult readWays(NodeLowering &l, size_t leaves, Trees &trees) {
  size_t inner = trees.modes.size();
  for (auto [ways, flags, result] :
       {std::tuple("nodes_truenodeids", "nodes_trueleafs", &trees.whenTrue),
        std::tuple("nodes_falsenodeids", "nodes_falseleafs",
                   &trees.whenFalse)}) {
    ArrayRef<int64_t> next = integerList(l, ways),
                      isLeaf = integerList(l, flags);
    if (failed(checkLengths(l, "nodes", {next.size(), isLeaf.size()}, inner)))
      return failure();
    for (size_t k = 0; k < inner; ++k) {
      if (next[k] < 0 ||
          static_cast<size_t>(next[k]) >= (isLeaf[k] ? leaves : inner))
        return l.refuse("node " + Twine(k) +
                        " leads to a node that is not there");
      result->push_back(next[k] + (isLeaf[k] ? inner : 0));
    }
    result->resize(inner + leaves, 0);
  }
  return success();
}

LogicalResult loopc::readPlacedTrees(NodeLowering &l, Trees &trees) {
  l.ignoreAttr("nodes_hitrates");
  for (double mode : tensorAttr(l, "nodes_modes")) {
    auto number = static_cast<int64_t>(mode);
    if (number > Member)
      return l.refuse("there is no mode " + Twine(number));
    trees.modes.push_back(number);
  }
  SmallVector<double> splits = tensorAttr(l, "nodes_splits"),
                      weights = tensorAttr(l, "leaf_weights");
  trees.splits.assign(splits.begin(), splits.end());
  ArrayRef<int64_t> targets = integerList(l, "leaf_targetids");
  size_t inner = trees.modes.size(), leaves = targets.size();
  if (leaves == 0)
    return l.refuse("there are no leaves");
  if (failed(readFeatures(l, trees)) ||
      failed(checkLengths(l, "leaves", weights.size(), leaves)) ||
      failed(checkLengths(l, "nodes", {}, inner + leaves)) ||
      failed(readWays(l, leaves, trees)) || failed(readSets(l, trees)))
    return failure();
  for (int64_t root : integerList(l, "tree_roots")) {
    if (root < 0 || static_cast<size_t>(root) >= inner)
      return l.refuse("root " + Twine(root) + " is no node");
    trees.roots.push_back(root);
  }
  size_t count = inner + leaves;
  trees.modes.resize(count, Leaf);
  trees.features.resize(count, 0);
  trees.splits.resize(count, 0);
  if (!trees.trueIfNaN.empty())
    trees.trueIfNaN.resize(count, 0);
  std::vector<int32_t> places;
  for (size_t k = 0; k < leaves; ++k)
    places.push_back(inner + k);
  trees.sortContributions(places, targets, weights);
  return success();
}
