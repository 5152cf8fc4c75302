//===- TreeWalker.h - Code of tree ensembles --------------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What writes the code that goes from the roots to the leaves: by walks
// (TreeWalk.cpp), and of blocks of rows by masks (LeafMasks.cpp).

#ifndef LOOPC_LIB_CONVERSION_ONNXTOLINALG_ML_TREEWALKER_H
#define LOOPC_LIB_CONVERSION_ONNXTOLINALG_ML_TREEWALKER_H

#include "Trees.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace loopc {

/// Walks that go on at once through a block of trees.
constexpr int64_t kWalks = 64;
/// Rows of a block: half as many hide what a load takes as well, and threads
/// have blocks of 64 rows to share.
constexpr int64_t kBlockRows = 32;
/// Targets from which on the numbers of a leaf are added as vectors; with fewer
/// it is those of neighbouring rows.
constexpr int64_t kManyTargets = 8;

/// A node as it was read.
struct NodeBits {
  mlir::Value meta;  ///< see PackedTrees
  mlir::Value value; ///< of the type that is compared
};

class TreeWalker {
public:
  TreeWalker(NodeLowering &l, const Trees &trees, const PackedTrees &packed,
             mlir::Value rows);

  /// (rows, targets), without base values.
  mlir::Value scores();

private:
  using OffsetFn = llvm::function_ref<mlir::Value()>;
  using ValueFn = llvm::function_ref<mlir::Value()>;

  mlir::Value integer(mlir::Type type, int64_t value) {
    return l.constantInt(type, value);
  }
  mlir::Value toIndex(mlir::Value value) {
    return mlir::arith::IndexCastOp::create(l.b, l.b.getIndexType(), value);
  }
  mlir::Value read(mlir::Value table, mlir::Value place) {
    return mlir::tensor::ExtractOp::create(l.b, table, place);
  }
  mlir::Value readPlace(mlir::Value table, mlir::Value place) {
    return toIndex(read(table, place));
  }
  NodeBits readNode(mlir::Value node);
  mlir::Value readFeature(mlir::Value meta, mlir::Value offset);
  mlir::Value child(mlir::Value node, mlir::Value meta, mlir::Value number);
  mlir::Value step(mlir::Value node, const NodeBits &bits, mlir::Value offset);
  mlir::Value branch(mlir::Value condition, bool expected, ValueFn thenValue,
                     ValueFn elseValue);
  mlir::Value branchStep(mlir::Value node, const NodeBits &bits,
                         mlir::Value offset);
  mlir::Value masked(mlir::Value meta, int64_t flag);
  mlir::Value toLeaves(mlir::Value starts, OffsetFn offset);
  mlir::Value toLeaf(mlir::Value root, mlir::Value offset);
  mlir::Value placeOf(mlir::Value node);
  mlir::Value combine(mlir::Value sum, mlir::Value weight, mlir::Value isFirst);

  using LoopBody = llvm::function_ref<llvm::SmallVector<mlir::Value>(
      mlir::Value number, mlir::ValueRange carried)>;
  llvm::SmallVector<mlir::Value>
  loopOver(mlir::Value count, mlir::ValueRange inits, LoopBody body);

  mlir::Value blocksOfRows(mlir::Value sums, mlir::OpFoldResult count);
  mlir::Value addBlock(mlir::Value sums, mlir::Value first, mlir::Value size,
                       mlir::Value fromTree, mlir::Value toTree);
  mlir::Value addTree(mlir::Value tree, mlir::Value sums, mlir::Value firstRow,
                      mlir::Value size);
  mlir::Value addMaskedBlock(mlir::Value sums, mlir::Value first,
                             mlir::Value size, mlir::Value fromTree,
                             mlir::Value toTree);
  mlir::Value columnsOf(mlir::Value first, mlir::Value size);
  mlir::Value askNodes(mlir::Value left, mlir::Value columns, mlir::Value from,
                       mlir::Value to, mlir::arith::CmpFPredicate gone);
  mlir::Value leavesOf(mlir::Value tree, mlir::Value columns);
  /// Reads what a leaf adds, or the place of its weights.
  using LeafFn = llvm::function_ref<mlir::Value(mlir::Value leaf)>;
  mlir::Value addOne(mlir::Value sums, mlir::Value leaves, mlir::Value tree,
                     LeafFn number);
  mlir::Value addAll(mlir::Value sums, mlir::Value leaves, mlir::Value tree,
                     LeafFn place);

  mlir::Value singleRows(mlir::Value sums, mlir::OpFoldResult first);
  llvm::SmallVector<mlir::Value> ownSums(mlir::Value sums, mlir::Value row);
  mlir::Value insertSums(mlir::Value own, mlir::Value sums, mlir::Value row);
  llvm::SmallVector<mlir::Value> addTrees(mlir::Value offset,
                                          mlir::ValueRange sums);
  llvm::SmallVector<mlir::Value> addTreesOneByOne(mlir::Value offset,
                                                  mlir::ValueRange sums);
  llvm::SmallVector<mlir::Value> addLeaf(mlir::Value node, mlir::Value tree,
                                         mlir::ValueRange sums);
  llvm::SmallVector<mlir::Value> addNumber(mlir::Value target,
                                           mlir::Value weight,
                                           mlir::Value isFirst,
                                           mlir::ValueRange sums);

  mlir::OpFoldResult countOfBlocks();
  /// Blocks of trees are of one size, in whole vectors.
  int64_t numTreeBlocks() const { return llvm::divideCeil(numTrees, kWalks); }
  int64_t treesOfBlock() const {
    int64_t blocks = std::max<int64_t>(numTreeBlocks(), 1);
    return llvm::alignTo(llvm::divideCeil(numTrees, blocks), 8);
  }
  bool walksAlone() const;
  void makeMaskTables();
  /// Which targets have a number yet is to be known.
  bool hasFlags() const {
    return trees.isMinOrMax() && packed.kind == PackedTrees::Some;
  }
  bool hasMasks() const { return !packed.masks.isEmpty() && !l.forKernels; }
  /// The sums of a block are (rows, targets), else (targets, rows).
  bool rowsFirst() const {
    return packed.kind != PackedTrees::One && trees.numTargets >= kManyTargets;
  }
  Dims sumDims(mlir::OpFoldResult rows) {
    return {rows, l.fold(trees.numTargets)};
  }
  Dims sumPlace(mlir::OpFoldResult row) { return {row, l.fold(0)}; }

  NodeLowering &l;
  const Trees &trees;
  const PackedTrees &packed;
  int64_t numTrees;
  bool isAlone; ///< trees are walked one after the other
  mlir::Type type, metaType, i32;
  mlir::OpFoldResult numRows, width;
  mlir::Value rows, flat; ///< the features of all rows
  mlir::Value nodes, values, roots, treeTargets, weights, targets, leafStart;
  /// Tables of LeafMasks.
  mlir::Value starts, features, splits, masks, firstLeaves, leafNumbers,
      leafPlaces;
};

} // namespace loopc

#endif // LOOPC_LIB_CONVERSION_ONNXTOLINALG_ML_TREEWALKER_H
