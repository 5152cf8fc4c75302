//===- LeafMasks.cpp - Decision trees whose leaves are bits ---------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The leaf that a row comes to, without a walk (QuickScorer, Lucchese et al.,
// SIGIR 2015). The leaves are numbered from the way of what is true on:
//
//         x0 <= 0.5                   x0 > 0.5 leaves 001
//        /         \                  x1 > 2.0 leaves 011
//    x1 <= 2.0      C
//     /     \
//    A       B                        A: 100, B: 010, C: 001
//
// A node that is not true of the row takes the bits of all leaves away that it
// would lead to if it were. Of those that are left the first one is the leaf:
// each leaf before it is on the true side of a node on its way.

#include "Framework/ShapeUtils.h"
#include "TreeWalker.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace loopc;
using FP = arith::CmpFPredicate;
using utils::IteratorType;

/// Bits of the widest word.
static constexpr int64_t kMaxLeaves = 64;

namespace {
class LeafMasker {
public:
  LeafMasker(const Trees &trees, LeafMasks &masks)
      : trees(trees), masks(masks) {}

  /// False where the tree cannot be written.
  bool write(int32_t root);

private:
  struct Question {
    int32_t node;
    int64_t first, end; ///< leaves where it is true
  };
  bool tracksNaN(int32_t node) const {
    return !trees.trueIfNaN.empty() && trees.trueIfNaN[node];
  }
  bool number(int32_t node, int64_t depth);
  void writeQuestions(bool tracked);

  const Trees &trees;
  LeafMasks &masks;
  SmallVector<Question> questions;
  SmallVector<int32_t> leaves;
};
} // namespace

/// Numbers the leaves behind `node`. A node that several lead to is there once
/// for each of them.
bool LeafMasker::number(int32_t node, int64_t depth) {
  if (trees.modes[node] == Leaf) {
    leaves.push_back(node);
    return static_cast<int64_t>(leaves.size()) <= kMaxLeaves;
  }
  // There is a leaf beside each node of a way. No number is up to NaN: a node
  // may be true of NaN alone.
  if (depth == kMaxLeaves ||
      (tracksNaN(node) && std::isnan(trees.splits[node])))
    return false;
  int64_t first = leaves.size();
  if (!number(trees.whenTrue[node], depth + 1))
    return false;
  questions.push_back({node, first, static_cast<int64_t>(leaves.size())});
  return number(trees.whenFalse[node], depth + 1);
}

void LeafMasker::writeQuestions(bool tracked) {
  for (const Question &question : questions) {
    if (tracksNaN(question.node) != tracked)
      continue;
    masks.features.push_back(trees.features[question.node]);
    masks.splits.push_back(trees.splits[question.node]);
    uint64_t gone = llvm::maskLeadingOnes<uint64_t>(question.end) ^
                    llvm::maskLeadingOnes<uint64_t>(question.first);
    masks.masks.push_back(static_cast<int64_t>(~gone));
  }
  masks.starts.push_back(masks.features.size());
}

bool LeafMasker::write(int32_t root) {
  questions.clear();
  leaves.clear();
  if (!number(root, 0))
    return false;
  masks.firstLeaves.push_back(masks.leaves.size());
  masks.leaves.insert(masks.leaves.end(), leaves.begin(), leaves.end());
  masks.bits = std::max<int64_t>(masks.bits, leaves.size() <= 32 ? 32 : 64);
  writeQuestions(/*tracked=*/true);
  writeQuestions(/*tracked=*/false);
  return true;
}

LeafMasks loopc::maskLeaves(const Trees &trees) {
  LeafMasks masks;
  masks.starts.push_back(0);
  LeafMasker masker(trees, masks);
  for (int32_t root : trees.roots)
    if (!masker.write(root))
      return {};
  // The features of a block of rows are put in order for it.
  if (masks.features.empty() ||
      trees.numFeatures() > static_cast<int64_t>(masks.features.size()))
    return {};
  return masks;
}

//===----------------------------------------------------------------------===//
// A block of rows through one tree
//===----------------------------------------------------------------------===//

void TreeWalker::makeMaskTables() {
  const LeafMasks &tables = packed.masks;
  starts = tableOf<int32_t>(l, i32, tables.starts);
  features = tableOf<int32_t>(l, i32, tables.features);
  splits = floatTable(l, tables.splits, type);
  if (tables.bits == 64) {
    masks = tableOf<int64_t>(l, l.b.getI64Type(), tables.masks);
  } else {
    std::vector<int32_t> high;
    for (int64_t mask : tables.masks)
      high.push_back(static_cast<int32_t>(mask >> 32));
    masks = tableOf<int32_t>(l, i32, high);
  }
  firstLeaves = tableOf<int32_t>(l, i32, tables.firstLeaves);
  if (packed.kind == PackedTrees::One)
    leafNumbers = floatTable(l, packed.leafNumbers, type);
  else
    leafPlaces = tableOf<int32_t>(l, i32, packed.leafPlaces);
}

/// The features that trees ask for, (features, rows), of the `size` rows from
/// `first` on; zeros fill up the block.
Value TreeWalker::columnsOf(Value first, Value size) {
  Dims sizes{OpFoldResult(size), l.fold(trees.numFeatures())};
  Value own = l.slice(rows, Dims{OpFoldResult(first), l.fold(0)}, sizes);
  Value block =
      l.filled(Dims{l.fold(kBlockRows), sizes[1]}, l.constant(type, 0));
  block = l.insert(own, block, Dims{l.fold(0), l.fold(0)}, sizes);
  return l.transpose(block, {1, 0});
}

/// What is left of the leaves of each row once the nodes from `from` to `to`
/// are asked. `gone` is how the feature compares with the split where a node is
/// not true.
Value TreeWalker::askNodes(Value left, Value columns, Value from, Value to,
                           FP gone) {
  Value count = arith::SubIOp::create(l.b, to, from);
  return loopOver(count, left, [&](Value number, ValueRange carried) {
    Value node = arith::AddIOp::create(l.b, from, number);
    Value column = sliceDropping(
        l, columns, Dims{OpFoldResult(readPlace(features, node)), l.fold(0)},
        Dims{l.fold(1), l.fold(kBlockRows)}, {0});
    Value split = read(splits, node), mask = read(masks, node);
    Value all = integer(mask.getType(), -1);
    SmallVector<AffineMap> maps(2, l.b.getMultiDimIdentityMap(1));
    return SmallVector<Value>{
        linalg::GenericOp::create(
            l.b, left.getType(), column, carried[0], maps,
            IteratorType::parallel,
            [&](OpBuilder &b, Location loc, ValueRange args) {
              Value isGone =
                  arith::CmpFOp::create(b, loc, gone, args[0], split);
              Value stays = arith::SelectOp::create(b, loc, isGone, mask, all);
              linalg::YieldOp::create(
                  b, loc,
                  ValueRange{arith::AndIOp::create(b, loc, args[1], stays)});
            })
            .getResult(0)};
  })[0];
}

/// The numbers of the leaves of `tree` that the rows come to.
Value TreeWalker::leavesOf(Value tree, Value columns) {
  Type word = l.b.getIntegerType(packed.masks.bits);
  Value left = l.filled(l.fold(kBlockRows), integer(word, -1));
  Value at = arith::MulIOp::create(l.b, tree, l.index(2));
  auto start = [&](int64_t k) {
    return readPlace(starts, arith::AddIOp::create(l.b, at, l.index(k)));
  };
  // Neither is true of NaN: one of them of nodes that it is greater than.
  Value middle = start(1);
  if (packed.tracksNaN)
    left = askNodes(left, columns, start(0), middle, FP::OGT);
  left = askNodes(left, columns, middle, start(2), FP::UGT);
  Value first = read(firstLeaves, tree);
  return mapSpace(l, {{left, {0}}}, l.fold(kBlockRows), i32,
                  [&](ScalarBuilder &s, ArrayRef<Value> e) {
                    Value place = math::CountLeadingZerosOp::create(l.b, e[0]);
                    if (packed.masks.bits == 64)
                      place = arith::TruncIOp::create(l.b, i32, place);
                    return arith::AddIOp::create(l.b, first, place).getResult();
                  });
}

Value TreeWalker::addMaskedBlock(Value sums, Value first, Value size,
                                 Value fromTree, Value toTree) {
  Value columns = columnsOf(first, size);
  Value all = l.filled(sumDims(l.fold(kBlockRows)), l.constant(type, 0));
  Value own = l.slice(sums, sumPlace(first), sumDims(size));
  own = l.insert(own, all, sumPlace(l.fold(0)), sumDims(size));
  if (!rowsFirst())
    own = l.transpose(own, {1, 0});
  Value count = arith::SubIOp::create(l.b, toTree, fromTree);
  own = loopOver(count, own, [&](Value number, ValueRange carried) {
    Value tree = arith::AddIOp::create(l.b, fromTree, number);
    Value leaves = leavesOf(tree, columns);
    if (packed.kind == PackedTrees::One)
      return SmallVector<Value>{
          addOne(carried[0], leaves, tree,
                 [&](Value leaf) { return read(leafNumbers, toIndex(leaf)); })};
    return SmallVector<Value>{addAll(carried[0], leaves, tree, [&](Value leaf) {
      return readPlace(leafPlaces, toIndex(leaf));
    })};
  })[0];
  if (!rowsFirst())
    own = l.transpose(own, {1, 0});
  own = l.slice(own, sumPlace(l.fold(0)), sumDims(size));
  return l.insert(own, sums, sumPlace(first), sumDims(size));
}
