//===- Trees.cpp - Ensembles of decision trees as tables ------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Trees.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace loopc;

/// Bytes of trees that all rows go through before the next trees follow: they
/// stay in the second-level cache, with the rows beside them.
static constexpr size_t kBytesOfGroup = size_t(1) << 19;
/// Targets up to which a leaf has a number for each of them, most of them zero.
static constexpr int64_t kFewTargets = 4;
/// Levels of a tree that stand breadth first, and of the subtrees below them.
/// Random forests of 500 nodes a tree in f32 have been measured: with more
/// levels at the top single rows wait for memory, with fewer blocks of rows do.
static constexpr int kLevelsOfTop = 7, kLevelsOfSubtree = 4;

void Trees::sortContributions(ArrayRef<int32_t> leaves,
                              ArrayRef<int64_t> targetIds,
                              ArrayRef<double> values) {
  leafStart.assign(modes.size() + 1, 0);
  for (int32_t leaf : leaves)
    ++leafStart[leaf + 1];
  for (size_t k = 1; k < leafStart.size(); ++k)
    leafStart[k] += leafStart[k - 1];
  std::vector<int32_t> next(leafStart.begin(), leafStart.end() - 1);
  targets.resize(leaves.size());
  weights.resize(leaves.size());
  for (auto [leaf, target, value] :
       llvm::zip_equal(leaves, targetIds, values)) {
    int32_t place = next[leaf]++;
    targets[place] = std::clamp<int64_t>(target, -1, INT32_MAX);
    weights[place] = value;
  }
}

LogicalResult Trees::verify(NodeLowering &l) const {
  enum State : uint8_t { New, OnTheWay, Done };
  std::vector<uint8_t> state(modes.size(), New);
  SmallVector<std::pair<int32_t, int>> path;
  for (int32_t root : roots) {
    path.push_back({root, 0});
    while (!path.empty()) {
      auto &[node, step] = path.back();
      if (step == 0 && state[node] == OnTheWay)
        return l.refuse("node " + Twine(node) + " leads back to itself");
      if (step == 2 || modes[node] == Leaf || state[node] == Done) {
        state[node] = Done;
        path.pop_back();
        continue;
      }
      state[node] = OnTheWay;
      if (features[node] < 0)
        return l.refuse("feature " + Twine(features[node]) + " is negative");
      int32_t next = step++ ? whenFalse[node] : whenTrue[node];
      path.push_back({next, 0});
    }
  }
  for (int32_t target : targets)
    if (target < 0 || target >= numTargets)
      return l.refuse("target " + Twine(target) + " is not one of " +
                      Twine(numTargets));
  return success();
}

int64_t Trees::numFeatures() const {
  int32_t last = -1;
  for (auto [feature, mode] : llvm::zip_equal(features, modes))
    if (mode != Leaf)
      last = std::max(last, feature);
  return static_cast<int64_t>(last) + 1;
}

//===----------------------------------------------------------------------===//
// One mode in the place of all
//===----------------------------------------------------------------------===//

namespace {
/// What a node asks of a number, by limits in ascending order: it is true of
/// those up to the first limit, or (unless `beginsTrue`) from there to the
/// second, and so on in turn.
struct Question {
  SmallVector<double> limits;
  bool beginsTrue = false;
  bool isTrueOfNaN = false;
};

/// Writes the nodes that answer a question, as a binary search of its limits.
class QuestionWriter {
public:
  QuestionWriter(Trees &trees, bool isDouble)
      : trees(trees), isDouble(isDouble) {}

  void write(int32_t node);

private:
  Question ask(int32_t node) const;
  double round(double value) const {
    return isDouble ? value : static_cast<float>(value);
  }
  void addEqual(Question &question, double value) const;
  void addBelow(Question &question, double value) const;
  /// `node` asks for the limits [begin, end); NaN comes here or does not.
  void search(int32_t node, const Question &question, size_t begin, size_t end,
              bool takesNaN);
  int32_t wayOf(const Question &question, size_t begin, size_t end,
                bool takesNaN);

  Trees &trees;
  bool isDouble;
  int32_t feature = 0, yes = 0, no = 0;
};
} // namespace

/// A limit at the last number that is less than `value`.
void QuestionWriter::addBelow(Question &question, double value) const {
  double least = -std::numeric_limits<double>::infinity();
  if (value == least)
    question.beginsTrue = !question.beginsTrue; // there is none
  else
    question.limits.push_back(
        isDouble ? std::nextafter(value, least)
                 : std::nextafter(static_cast<float>(value),
                                  -std::numeric_limits<float>::infinity()));
}

void QuestionWriter::addEqual(Question &question, double value) const {
  double before = question.limits.empty()
                      ? std::numeric_limits<double>::quiet_NaN()
                      : question.limits.back();
  if (before == value)
    return; // twice the same
  size_t count = question.limits.size();
  addBelow(question, value);
  // The limit of the number before is this one's: nothing is between them.
  if (count > 0 && question.limits.back() == before)
    question.limits.pop_back_n(2);
  question.limits.push_back(value);
}

Question QuestionWriter::ask(int32_t node) const {
  Question question;
  uint8_t mode = trees.modes[node];
  double split = round(trees.splits[node]);
  bool tracks = !trees.trueIfNaN.empty() && trees.trueIfNaN[node];
  question.isTrueOfNaN = tracks || mode == NEQ;
  if (mode == Member) {
    SmallVector<double> set = llvm::map_to_vector(
        trees.members.lookup(node), [&](double value) { return round(value); });
    llvm::sort(set);
    for (double value : set)
      addEqual(question, value);
    return question;
  }
  // Nothing compares with NaN, but it differs from everything.
  question.beginsTrue = mode == NEQ;
  if (std::isnan(split))
    return question;
  question.beginsTrue = mode == LEQ || mode == LT || mode == NEQ;
  if (mode == EQ || mode == NEQ)
    addEqual(question, split);
  else if (mode == LT || mode == GTE)
    addBelow(question, split);
  else
    question.limits.push_back(split);
  return question;
}

/// Where numbers between the limits [begin, end) go; makes a node where they
/// are to be asked for.
int32_t QuestionWriter::wayOf(const Question &question, size_t begin,
                              size_t end, bool takesNaN) {
  // What NaN goes another way from is asked once more.
  bool isTrue = question.beginsTrue != (begin % 2 != 0);
  if (begin == end && (!takesNaN || isTrue == question.isTrueOfNaN))
    return isTrue ? yes : no;
  int32_t made = trees.modes.size();
  trees.modes.push_back(LEQ);
  trees.features.push_back(feature);
  for (auto *ways : {&trees.whenTrue, &trees.whenFalse})
    ways->push_back(0);
  trees.splits.push_back(0);
  trees.trueIfNaN.push_back(0);
  trees.leafStart.push_back(trees.leafStart.back());
  search(made, question, begin, end, takesNaN);
  return made;
}

void QuestionWriter::search(int32_t node, const Question &question,
                            size_t begin, size_t end, bool takesNaN) {
  trees.modes[node] = LEQ;
  if (begin == end) {
    // No number is up to NaN.
    trees.splits[node] = std::numeric_limits<double>::quiet_NaN();
    trees.trueIfNaN[node] = takesNaN;
    trees.whenTrue[node] = question.isTrueOfNaN ? yes : no;
    trees.whenFalse[node] = wayOf(question, begin, end, /*takesNaN=*/false);
    return;
  }
  size_t middle = begin + (end - begin) / 2;
  bool isFirstTrue = question.beginsTrue != (begin % 2 != 0);
  // NaN goes where it need not be asked for again, if there is such a way.
  bool goesFirst =
      takesNaN && (middle > begin || isFirstTrue == question.isTrueOfNaN);
  trees.splits[node] = question.limits[middle];
  trees.trueIfNaN[node] = goesFirst;
  int32_t first = wayOf(question, begin, middle, goesFirst);
  int32_t second = wayOf(question, middle + 1, end, takesNaN && !goesFirst);
  trees.whenTrue[node] = first;
  trees.whenFalse[node] = second;
}

void QuestionWriter::write(int32_t node) {
  Question question = ask(node);
  feature = trees.features[node];
  yes = trees.whenTrue[node];
  no = trees.whenFalse[node];
  search(node, question, 0, question.limits.size(), /*takesNaN=*/true);
}

void Trees::simplify(bool isDouble) {
  if (llvm::all_of(modes, [](uint8_t m) { return m == LEQ || m == Leaf; }))
    return;
  size_t count = modes.size();
  if (trueIfNaN.empty())
    trueIfNaN.assign(count, 0);
  QuestionWriter writer(*this, isDouble);
  for (size_t k = 0; k < count; ++k)
    if (modes[k] != LEQ && modes[k] != Leaf)
      writer.write(k);
  if (llvm::all_of(trueIfNaN, [](uint8_t flag) { return flag == 0; }))
    trueIfNaN.clear();
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

namespace {
class TreePacker {
public:
  TreePacker(const Trees &trees, bool isDouble)
      : trees(trees), firstOf(trees.modes.size(), -1),
        leafOf(trees.modes.size(), -1) {
    packed.isDouble = isDouble;
    packed.tracksNaN = !trees.trueIfNaN.empty();
  }

  LogicalResult place(NodeLowering &l);
  void measureWalks();
  void chooseKind();
  void writeContributions();
  void writeNodes();
  void writeMasks();

  PackedTrees packed;

private:
  bool isLeaf(int32_t node) const { return trees.modes[node] == Leaf; }
  ArrayRef<int32_t> targetsOf(int32_t leaf) const {
    return ArrayRef(trees.targets)
        .slice(trees.leafStart[leaf],
               trees.leafStart[leaf + 1] - trees.leafStart[leaf]);
  }
  /// What a leaf of one contribution adds.
  double numberOf(int32_t leaf) const {
    return targetsOf(leaf).empty() ? 0 : trees.weights[trees.leafStart[leaf]];
  }
  bool isOneTarget();
  bool areAllTargets() const;
  int64_t distance(size_t at) const {
    return isLeaf(nodeAt[at]) ? 0
                              : firstOf[nodeAt[at]] - static_cast<int64_t>(at);
  }
  void placeBehind(size_t root);
  bool placeChildren(int32_t node);
  int64_t packMeta(size_t at) const;
  uint64_t valueBits(int32_t node) const;

  const Trees &trees;
  std::vector<int32_t> nodeAt;  ///< by place in the table
  std::vector<int32_t> firstOf; ///< where the nodes behind a node are
  std::vector<int32_t> leaves;  ///< in the order of the table
  std::vector<int32_t> leafOf;  ///< a leaf's number among them
};
} // namespace

/// Places the nodes behind the one at `root`. The first levels stand breadth
/// first: many walks go through them, in the order of memory. Below them a walk
/// finds several of its nodes in neighbouring cache lines: some levels of a
/// subtree stand beside each other, and the subtrees depth first.
void TreePacker::placeBehind(size_t root) {
  SmallVector<size_t> subtrees{root}, level, below;
  int levels = kLevelsOfTop;
  while (!subtrees.empty()) {
    level.assign(1, subtrees.pop_back_val());
    for (int depth = 0; depth < levels && !level.empty(); ++depth) {
      below.clear();
      for (size_t at : level)
        if (placeChildren(nodeAt[at]))
          below.append({nodeAt.size() - 2, nodeAt.size() - 1});
      std::swap(level, below);
    }
    subtrees.append(level.rbegin(), level.rend());
    levels = kLevelsOfSubtree;
  }
}

/// Places what a node leads to, and tells whether it did: a leaf is numbered,
/// and what is placed already stays there.
bool TreePacker::placeChildren(int32_t node) {
  if (isLeaf(node)) {
    if (leafOf[node] < 0) {
      leafOf[node] = leaves.size();
      leaves.push_back(node);
    }
    return false;
  }
  if (firstOf[node] >= 0)
    return false;
  firstOf[node] = nodeAt.size();
  nodeAt.push_back(trees.whenFalse[node]);
  nodeAt.push_back(trees.whenTrue[node]);
  return true;
}

/// Gives the nodes of each tree their places. A node that several lead to
/// stands beside each neighbour, and what it leads to once.
LogicalResult TreePacker::place(NodeLowering &l) {
  size_t inner =
      llvm::count_if(trees.modes, [](uint8_t m) { return m != Leaf; });
  if (trees.roots.size() + 2 * inner >= std::numeric_limits<int32_t>::max())
    return l.unsupported("there are too many nodes");
  nodeAt.reserve(trees.roots.size() + 2 * inner);
  size_t groupStart = 0;
  for (auto [tree, root] : llvm::enumerate(trees.roots)) {
    size_t at = nodeAt.size();
    if (tree == 0 || (at - groupStart) * sizeof(int64_t) >= kBytesOfGroup) {
      packed.groups.push_back(tree);
      groupStart = at;
    }
    packed.roots.push_back(at);
    nodeAt.push_back(root);
    placeBehind(at);
  }
  packed.groups.push_back(trees.roots.size());
  packed.areStumps =
      llvm::all_of(trees.roots, [&](int32_t root) { return isLeaf(root); });
  return success();
}

/// What a node leads to stands behind it, but where several nodes lead to it:
/// walks that go back within a tree are counted as if they ended there.
void TreePacker::measureWalks() {
  std::vector<int32_t> longest(nodeAt.size());
  std::vector<double> expected(nodeAt.size());
  for (size_t tree = 0; tree < packed.roots.size(); ++tree) {
    size_t root = packed.roots[tree];
    size_t end =
        tree + 1 < packed.roots.size() ? packed.roots[tree + 1] : nodeAt.size();
    for (size_t at = end; at-- > root;) {
      if (isLeaf(nodeAt[at]))
        continue;
      int32_t first = firstOf[nodeAt[at]];
      longest[at] = 1 + std::max(longest[first], longest[first + 1]);
      expected[at] = 1 + (expected[first] + expected[first + 1]) / 2;
    }
    packed.longestWalks.push_back(longest[root]);
    packed.expectedWalks.push_back(expected[root]);
  }
}

/// True if each leaf has one contribution, to the target of its tree. To a sum
/// one without contributions adds zero. The least and the most have to know
/// which tree is the first of a target: it is, where there is one target.
bool TreePacker::isOneTarget() {
  if (trees.isMinOrMax() && trees.numTargets > 1)
    return false;
  std::vector<int32_t> treeTargets;
  for (size_t tree = 0; tree < packed.roots.size(); ++tree) {
    size_t end =
        tree + 1 < packed.roots.size() ? packed.roots[tree + 1] : nodeAt.size();
    int32_t target = -1;
    for (size_t at = packed.roots[tree]; at < end; ++at) {
      int32_t node = nodeAt[at];
      if (!isLeaf(node) && trees.numTargets > 1 &&
          firstOf[node] < packed.roots[tree])
        return false; // leads into another tree
      if (!isLeaf(node))
        continue;
      ArrayRef<int32_t> own = targetsOf(node);
      if (own.size() > 1 || (own.empty() && trees.isMinOrMax()) ||
          (!own.empty() && target >= 0 && target != own[0]))
        return false;
      if (!own.empty())
        target = own[0];
    }
    treeTargets.push_back(std::max(target, 0));
  }
  if (trees.numTargets > 1)
    packed.treeTargets = std::move(treeTargets);
  return true;
}

/// True if leaves contribute once to each target, or so nearly that zeros in
/// the place of the others cost less than a list.
bool TreePacker::areAllTargets() const {
  size_t count = 0;
  for (int32_t leaf : leaves) {
    SmallVector<int32_t> own(targetsOf(leaf));
    llvm::sort(own);
    if (llvm::adjacent_find(own) != own.end())
      return false;
    count += own.size();
  }
  // There may be more targets than memory has room for.
  auto all =
      llvm::SaturatingMultiply<uint64_t>(leaves.size(), trees.numTargets);
  if (trees.isMinOrMax())
    return count == all;
  return 2 * count >= all || trees.numTargets <= kFewTargets;
}

void TreePacker::chooseKind() {
  packed.kind = isOneTarget()     ? PackedTrees::One
                : areAllTargets() ? PackedTrees::All
                                  : PackedTrees::Some;
}

void TreePacker::writeContributions() {
  if (packed.kind == PackedTrees::All)
    packed.weights.assign(leaves.size() * trees.numTargets, 0);
  if (packed.kind == PackedTrees::Some)
    packed.leafStart.push_back(0);
  for (auto [k, leaf] : llvm::enumerate(leaves)) {
    for (auto [i, target] : llvm::enumerate(targetsOf(leaf))) {
      double weight = trees.weights[trees.leafStart[leaf] + i];
      if (packed.kind == PackedTrees::All) {
        packed.weights[k * trees.numTargets + target] = weight;
      } else if (packed.kind == PackedTrees::Some) {
        packed.weights.push_back(weight);
        packed.targets.push_back(target);
      }
    }
    if (packed.kind == PackedTrees::Some)
      packed.leafStart.push_back(packed.weights.size());
  }
}

/// distance << (kFeatureShift + featureBits) | feature << kFeatureShift | flags
int64_t TreePacker::packMeta(size_t at) const {
  int32_t node = nodeAt[at];
  if (isLeaf(node))
    return 0;
  int64_t flags = PackedTrees::kInner;
  if (!isLeaf(trees.whenTrue[node]) || !isLeaf(trees.whenFalse[node]))
    flags |= PackedTrees::kInnerChild;
  if (packed.tracksNaN && trees.trueIfNaN[node])
    flags |= PackedTrees::kTrueIfNaN;
  int64_t feature = trees.features[node];
  uint64_t far = static_cast<uint64_t>(distance(at))
                 << (PackedTrees::kFeatureShift + packed.featureBits);
  return static_cast<int64_t>(far) | feature << PackedTrees::kFeatureShift |
         flags;
}

/// The bits of a node's split; of a leaf those of its number, or the place of
/// its contributions.
uint64_t TreePacker::valueBits(int32_t node) const {
  double value = trees.splits[node];
  if (isLeaf(node)) {
    uint64_t place = leafOf[node];
    if (packed.kind != PackedTrees::One)
      return packed.kind == PackedTrees::All ? place * trees.numTargets : place;
    value = numberOf(node);
  }
  return packed.isDouble ? llvm::bit_cast<uint64_t>(value)
                         : llvm::bit_cast<uint32_t>(static_cast<float>(value));
}

void TreePacker::writeNodes() {
  int64_t least = 0, most = 0, feature = 0;
  for (size_t at = 0; at < nodeAt.size(); ++at) {
    least = std::min(least, distance(at));
    most = std::max(most, distance(at));
    if (!isLeaf(nodeAt[at]))
      feature = std::max<int64_t>(feature, trees.features[nodeAt[at]]);
  }
  packed.featureBits = llvm::bit_width<uint64_t>(feature);
  unsigned bits = 1 + llvm::bit_width<uint64_t>(std::max(most, -least)) +
                  packed.featureBits + PackedTrees::kFeatureShift;
  packed.isSplit = packed.isDouble || bits > 32;
  packed.nodes.reserve(nodeAt.size());
  for (auto [at, node] : llvm::enumerate(nodeAt)) {
    uint64_t meta = packMeta(at), value = valueBits(node);
    if (packed.isDouble)
      packed.doubles.push_back(value);
    else if (packed.isSplit)
      packed.floats.push_back(value);
    else
      meta = static_cast<uint32_t>(meta) | value << 32;
    packed.nodes.push_back(meta);
  }
}

void TreePacker::writeMasks() {
  if (packed.kind == PackedTrees::Some)
    return;
  packed.masks = maskLeaves(trees);
  for (int32_t leaf : packed.masks.leaves) {
    if (packed.kind == PackedTrees::All)
      packed.leafPlaces.push_back(leafOf[leaf] * trees.numTargets);
    else
      packed.leafNumbers.push_back(numberOf(leaf));
  }
}

FailureOr<PackedTrees> loopc::packTrees(NodeLowering &l, const Trees &trees,
                                        bool isDouble) {
  TreePacker packer(trees, isDouble);
  if (failed(packer.place(l)))
    return failure();
  packer.measureWalks();
  packer.chooseKind();
  packer.writeContributions();
  if (packer.packed.weights.size() >= std::numeric_limits<int32_t>::max())
    return l.unsupported("there are too many weights");
  packer.writeNodes();
  packer.writeMasks();
  return std::move(packer.packed);
}
