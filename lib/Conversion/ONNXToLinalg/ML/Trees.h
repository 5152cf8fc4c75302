//===- Trees.h - Ensembles of decision trees --------------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The nodes of tree ensembles, and the tables that compiled code reads them
// from.

#ifndef LOOPC_LIB_CONVERSION_ONNXTOLINALG_ML_TREES_H
#define LOOPC_LIB_CONVERSION_ONNXTOLINALG_ML_TREES_H

#include "ClassScores.h"

namespace loopc {

/// The modes of nodes, by the numbers that TreeEnsemble gives them.
enum TreeMode : uint8_t { LEQ, LT, GTE, GT, EQ, NEQ, Member, Leaf };

enum class Aggregate { Sum, Average, Min, Max };

/// The nodes of all trees by place, and what the leaves contribute.
struct Trees {
  /// Of TreeMode; after simplify() all that are no leaves are LEQ.
  std::vector<uint8_t> modes;
  std::vector<int32_t> features, whenTrue, whenFalse;
  std::vector<double> splits;
  /// 1 where NaN goes the way of what is true. Empty: it does nowhere.
  std::vector<uint8_t> trueIfNaN;
  std::vector<int32_t> roots;
  /// The sets of nodes of mode Member, by place.
  llvm::DenseMap<int32_t, llvm::SmallVector<double>> members;
  /// What the leaf at place k adds, and to which targets:
  /// [leafStart[k], leafStart[k + 1]) of these.
  std::vector<int32_t> leafStart, targets;
  std::vector<double> weights;

  int64_t numTargets = 0;
  Aggregate aggregate = Aggregate::Sum;
  llvm::SmallVector<double> base;

  /// Puts the contributions of each leaf behind one another, in their order.
  void sortContributions(llvm::ArrayRef<int32_t> leaves,
                         llvm::ArrayRef<int64_t> targetIds,
                         llvm::ArrayRef<double> values);
  /// Fails after an error where a walk would not end, a feature is negative or
  /// a target is none of numTargets.
  mlir::LogicalResult verify(NodeLowering &l) const;
  /// Puts one comparison or several, `x <= split` each, in the place of every
  /// other mode. Numbers are compared in f32, or in f64 where `isDouble`.
  void simplify(bool isDouble);
  /// One more than the largest feature that is asked for.
  int64_t numFeatures() const;
  bool isMinOrMax() const {
    return aggregate == Aggregate::Min || aggregate == Aggregate::Max;
  }
};

/// Trees of few leaves, of which each has a bit in a word: a node of which `x`
/// is greater than the split leaves the bits of its mask, and the first bit
/// that all nodes have left is that of the leaf. Nodes are asked in any order,
/// so that many rows go through a tree side by side.
struct LeafMasks {
  /// Leaves that a word has bits for; the first leaf's is the highest.
  int64_t bits = 0;
  /// The nodes of tree k that NaN is true of are [starts[2 k], starts[2 k +
  /// 1]), and its others end at starts[2 k + 2].
  std::vector<int32_t> starts;
  /// Of each node.
  std::vector<int32_t> features;
  std::vector<double> splits;
  std::vector<int64_t> masks;
  /// Of each tree: the number of its first leaf. The leaves by number.
  std::vector<int32_t> firstLeaves, leaves;

  bool isEmpty() const { return bits == 0; }
};

/// The masks of `trees`; empty where trees have more leaves than bits, or a
/// node asks for NaN alone.
LeafMasks maskLeaves(const Trees &trees);

/// Trees as code walks them. The two nodes that a node leads to are neighbours,
/// the one for false first; trees lie one behind the other, the first levels of
/// each breadth first, then subtrees.
/// A node is 64 bits: the low 32 are what packMeta() of Trees.cpp says, the
/// high 32 the split, of a leaf what it contributes. Where those do not suffice
/// (doubles, very many features or nodes) the first are 64 bits, and the splits
/// lie in a table of their own.
struct PackedTrees {
  /// Bits of a node, from the lowest on.
  static constexpr int64_t kInner = 1, ///< is no leaf
      kInnerChild = 2,                 ///< leads to one that is no leaf
      kTrueIfNaN = 4, kFeatureShift = 3;
  /// Of the feature; what is above them is the distance to the first of the two
  /// nodes that this one leads to, signed.
  unsigned featureBits = 0;
  bool isSplit = false, tracksNaN = false, isDouble = false;
  std::vector<int64_t> nodes;
  /// The bits of the splits that are not in `nodes`.
  std::vector<int64_t> doubles;
  std::vector<int32_t> floats;
  std::vector<int32_t> roots;
  /// The trees from groups[k] to groups[k + 1] take as much memory as stays in
  /// a cache while many rows go through them.
  std::vector<int32_t> groups;
  bool areStumps = false; ///< every tree is a leaf
  /// Of each tree: steps of the longest walk, and of a walk that turns either
  /// way at each node equally often. For cost models.
  std::vector<int32_t> longestWalks;
  std::vector<double> expectedWalks;

  /// What leaves contribute.
  enum Kind {
    /// One number, all leaves of a tree to the same target: `treeTargets`, or
    /// the first where that is empty. The number stands in the leaf itself.
    One,
    /// A number for each target: numTargets of `weights`, from the place on
    /// that stands in the leaf.
    All,
    /// Others: the leaf holds k, and [leafStart[k], leafStart[k + 1]) of
    /// `weights` and `targets` are its contributions.
    Some
  } kind = One;
  std::vector<int32_t> treeTargets, leafStart, targets;
  std::vector<double> weights;

  /// The same trees by masks; empty: blocks of rows walk.
  LeafMasks masks;
  /// The number of each leaf of `masks`, or the place of its weights.
  std::vector<double> leafNumbers;
  std::vector<int32_t> leafPlaces;
};

/// Fails after an error where there are more nodes than 31 bits count.
mlir::FailureOr<PackedTrees> packTrees(NodeLowering &l, const Trees &trees,
                                       bool isDouble);

/// The nodes of TreeEnsembleRegressor and -Classifier, which are called by tree
/// and number; `prefix` is "target" or "class".
mlir::LogicalResult readNumberedTrees(NodeLowering &l, llvm::StringRef prefix,
                                      Trees &trees);
/// The nodes of TreeEnsemble, which are called by place.
mlir::LogicalResult readPlacedTrees(NodeLowering &l, Trees &trees);

/// (rows, targets): what the leaves that `rows` (rows, features) come to
/// contribute, aggregated, and the base values.
mlir::Value treeScores(NodeLowering &l, const Trees &trees,
                       const PackedTrees &packed, mlir::Value rows);

} // namespace loopc

#endif // LOOPC_LIB_CONVERSION_ONNXTOLINALG_ML_TREES_H
