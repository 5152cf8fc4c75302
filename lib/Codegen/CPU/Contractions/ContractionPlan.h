//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// How a sum of products on buffers is computed. A plan is found without
// touching the IR, and prints (--loopc-print-plans); ContractionVectorizer
// writes the code that it describes.

#ifndef LOOPC_LIB_CODEGEN_CPU_CONTRACTIONS_CONTRACTIONPLAN_H
#define LOOPC_LIB_CODEGEN_CPU_CONTRACTIONS_CONTRACTIONPLAN_H

#include "Contractions.h"

#include <memory>

namespace loopc {

/// Vectors run along the sum where there are fewer columns, which leave most of
/// a vector empty, of so many elements and more.
inline constexpr int64_t kFewLongColumns = 8, kLongColumn = 32;

/// Rows of the tiles for which strips and blocks of rows are made.
inline constexpr int64_t kTileRowsOfMany = 4;

/// In a row of so many tiles the last one, which is not whole, does not count.
inline constexpr int64_t kLongRow = 8;

/// More rows make tiles no better.
inline constexpr int64_t kManyRowsOfTiles = 32;

/// What is done with the columns behind the last whole tile.
enum class ColumnRest {
  None,        ///< there are none
  Masked,      ///< a tile of a known number of columns, with masks
  NarrowTiles, ///< narrow tiles with masks: most of a wide one could be empty
  /// Vectors with masks, where there may be one column; those of rows behind
  /// the last whole tile are done as by AllTiles.
  SingleVectors,
  AllTiles, ///< all tiles have masks, which is less code than two kinds
  Halves    ///< vectors of half, a quarter, ... of the lanes, without masks
};

/// How tiles of some number of rows are done.
struct RowsPlan {
  TileShape tile;
  /// So much of the sum is done for all tiles before the rest of it; 0: all.
  int64_t sumBlock = 0;
  /// Blocks are rows of a matrix, each read to its end, and written out.
  bool readsMatrixRows = false;
  /// All columns of so many rows are done before the next rows; 0: of all.
  int64_t rowBlock = 0;
  ColumnRest rest = ColumnRest::None;
  /// Vectors of a tile of the rest, where it is known or narrow.
  int64_t restVectors = 0;
  /// Tiles that turn out to be whole are stored without masks.
  bool storesWhole = false;
  /// Columns that a strip has brought together are read from it.
  bool usesStrip = false;
  /// Rows of the last tile beyond the end are the last row again, so that it is
  /// like all others.
  bool repeatsLastRow = false;
  /// Rows of the tiles behind the last whole one, of an unknown number of rows.
  /// The first of them has one more where no row is then done twice, the last
  /// one less. 0: all are tiles of restRows().
  int64_t lessRows = 0;
};

/// What the sums begin with, in the place of what the result holds. What writes
/// that, in front, need not be done.
struct StartPlan {
  mlir::Operation *writer = nullptr; ///< null: the result's elements
  mlir::Value filled = {};           ///< one number for all
  mlir::Value copied = {};           ///< elements that `map` finds
  mlir::AffineMap map = {};          ///< by the loops of the contraction
};

/// Where, in each axis, the part of a buffer begins and ends that is not known
/// to be zero; sizes are null where nothing is.
struct ZeroBorder {
  llvm::SmallVector<mlir::OpFoldResult> offsets, sizes;
};
using ZeroBorders = llvm::DenseMap<mlir::OpOperand *, ZeroBorder>;

/// What operations in `root` read of buffers that were filled with zeros, and
/// written to in one part only.
ZeroBorders findZeroBorders(mlir::Operation *root);

/// True for a constant whose elements are floats, all of them finite.
bool isFiniteConstant(mlir::memref::GlobalOp global);

/// An axis of an image that windows go along: the loop `position` by `stride`,
/// the loop `element`, of the sum, by `dilation`, from `first` on. All that is
/// not among the `size` elements from `begin` on adds nothing to the sum.
struct PaddedAxis {
  unsigned position, element;
  int64_t stride, dilation, first;
  mlir::OpFoldResult begin = {}, size = {};
};

/// What is computed on the sums, element by element, before they are stored.
struct EpiloguePlan {
  mlir::linalg::GenericOp op = {}; ///< null: nothing
  /// Which operand the sums are.
  unsigned sums = 0;
  /// Where the operands are, by the loops of the contraction.
  llvm::SmallVector<mlir::AffineMap> maps = {};
  /// The axes of the sums, which `op` knows more of; none: it knows the same.
  std::optional<llvm::SmallVector<mlir::ReassociationIndices>> groups = {};
  /// The result has the rows of the tiles along its last axis.
  bool isTurned = false;
  /// What must come behind it.
  llvm::SmallVector<mlir::Operation *> behind = {};
};

struct ContractionPlan {
  /// Extents of the loops.
  llvm::SmallVector<int64_t> extents;
  /// Loops over rows of tiles, columns of tiles, and along which vectors run.
  std::optional<unsigned> rowDim, columnDim;
  /// A loop around that of the rows which is gone through as one with it: the
  /// rows of a tile are neighbours in both, so that only the last tile of all
  /// is not whole.
  std::optional<unsigned> joinedDim;
  unsigned laneDim = 0;
  llvm::SmallVector<unsigned> outerDims, sumDims;
  int64_t lanes = 1;
  bool isAlongSum = false;
  bool canMask = false;
  /// The operand that is packed, if one is.
  std::optional<Panels> panels;
  /// Products that are summed in groups by one instruction.
  std::optional<DotProduct> dot;
  /// The operand of an unknown number of rows that is brought together, if they
  /// turn out to be many, and elements of the sum that its place has.
  mlir::OpOperand *strip = nullptr;
  /// What the body makes of that operand for all rows alike (narrow weights,
  /// widened), which is then brought together in its place, several numbers of
  /// one element behind one another; none: the operand as it is.
  llvm::SmallVector<mlir::Value, 2> stripValues = {};
  int64_t stripRows = 0;
  bool isStripTransposed = false;
  /// The products that are added to a sum one by one, each rounded with it;
  /// none: what the body makes is added.
  llvm::SmallVector<mlir::Value, 2> terms = {};
  /// All rows are done for some columns before the next columns.
  bool areColumnsOutside = false;
  /// Columns share nothing of a row, which has vectors of its own: one filter a
  /// channel.
  bool isFilter = false;
  /// The last loop over the sum is written out.
  bool isSumWrittenOut = false;
  /// Of an unknown number of rows fewer than this are done by the first
  /// version, fewer than the next number by the second, ...; the last has no
  /// number.
  llvm::SmallVector<int64_t, 2> fewerRows;
  llvm::SmallVector<RowsPlan, 3> versions;
  /// Widens elements of bf16 of the packed operand, those of two vectors at a
  /// time; null: each vector by itself.
  mlir::Operation *pairs = nullptr;
  /// Loops over the sum that leave out what no row of a tile reads but padding.
  llvm::SmallVector<PaddedAxis, 2> padded;
  StartPlan start;
  EpiloguePlan epilogue;
  /// How it is done where there turn out to be many rows; null: so as well.
  std::unique_ptr<ContractionPlan> many;

  bool isDynamic(unsigned dim) const {
    return mlir::ShapedType::isDynamic(extents[dim]);
  }
  /// Rows that tiles go through; dynamic where only the run knows.
  int64_t rows() const {
    if (!rowDim)
      return 1;
    if (isDynamic(*rowDim) || (joinedDim && isDynamic(*joinedDim)))
      return mlir::ShapedType::kDynamic;
    return extents[*rowDim] * (joinedDim ? extents[*joinedDim] : 1);
  }
  /// Rows of the tiles behind the last whole one of `version`, where only the
  /// run knows how many there are: half as many, or so few that their sums are
  /// enough to be under way. The largest of them, where they have lessRows.
  int64_t restRows(const RowsPlan &version) const;
  /// How many tiles a block of rows has.
  int64_t rowTiles(mlir::linalg::LinalgOp op, TileShape tile) const;
  /// True if what `map` finds differs from row to row.
  bool isOfRows(mlir::AffineMap map) const {
    return (rowDim && map.isFunctionOfDim(*rowDim)) ||
           (joinedDim && map.isFunctionOfDim(*joinedDim));
  }
  /// Iterations of the loops over the sum in the outermost one; dynamic where
  /// only the run knows.
  int64_t innerSums() const {
    int64_t count = 1;
    for (unsigned dim : llvm::drop_begin(sumDims)) {
      if (isDynamic(dim))
        return mlir::ShapedType::kDynamic;
      count *= extents[dim];
    }
    return count;
  }
  /// Products in a sum; dynamic where only the run knows.
  int64_t products() const {
    int64_t count = 1;
    for (unsigned dim : sumDims) {
      if (isDynamic(dim))
        return mlir::ShapedType::kDynamic;
      count *= extents[dim];
    }
    return count;
  }
  /// True if `map` is that of the operand that is packed along `dim`.
  bool isPacked(mlir::AffineMap map, unsigned dim) const {
    return panels && panels->map == map && panels->dim == dim;
  }
  /// True if all rows are better done for some columns before the next columns.
  /// The loop inside reads its operand again for each iteration of the one
  /// outside: the smaller operand, or the one that stays in the cache.
  bool wantsColumnsOutside(mlir::linalg::LinalgOp op) const;
  /// True if one tile of many vectors has all columns of a single row, which
  /// are read of a matrix that takes longer to arrive than to be multiplied
  /// with.
  bool isOneTileOfLarge(mlir::linalg::LinalgOp op, int64_t rows,
                        TileShape tile) const;
  /// Vectors of each sum that are under way at a time where vectors run along
  /// the sum and a tile has `sums`.
  int64_t countUnrolled(int64_t sums) const;
  /// Sets of sums along the columns that take turns, where a tile has only
  /// `sums`, each of which would wait for the product before. Other tiles would
  /// add up in another order, so that there must be none.
  int64_t countChains(int64_t sums) const;
  /// True if each sum is added up one product behind the other, in the order of
  /// the loops over it, whatever tile it is in.
  bool keepsOrder() const;
  /// Makes tiles as high as a vector is wide: transposed, whole cache lines are
  /// stored, where the halves of most came in turns. Of longer sums a tile of
  /// two vectors loads less.
  void squareTiles(CpuModel cpu);
  void print(llvm::raw_ostream &os) const;
};

/// How many kinds of tiles a product may have.
enum class TileKinds {
  Fastest, ///< as many as run fastest
  One,     ///< one, and no copies: the least code
  /// One, and no copies, where each sum is then added up in the order that it
  /// has with the fastest ones, and with these where not: the same bits.
  OneInOrder
};

/// How `op` is computed; none if not by tiles of vectors.
std::optional<ContractionPlan>
planContraction(mlir::linalg::LinalgOp op, CpuModel cpu,
                const ZeroBorders &borders,
                TileKinds kinds = TileKinds::Fastest);

/// The axes of what `op` reads of which enough is padding that the loops of
/// `plan` over the sum leave it out (ZeroBorders.cpp).
llvm::SmallVector<PaddedAxis, 2> findPaddedAxes(mlir::linalg::LinalgOp op,
                                                const ContractionPlan &plan,
                                                const ZeroBorders &borders);

/// The loop over rows that share vectors along `laneDim`, with the most of
/// them; `without` is none.
std::optional<unsigned> findSharingRows(mlir::linalg::LinalgOp op,
                                        unsigned laneDim, unsigned without);

/// True if the body of `op` puts a number of a row and one of the sum together,
/// not of `columns`: along the columns that is computed one by one, along the
/// sum in vectors.
bool computesOfRowsAndSum(mlir::linalg::LinalgOp op, unsigned columns);

/// What widens bf16 of panels in the body of `op`, if that can be done for two
/// vectors at a time by `plan` (ContractionPairs.cpp); null if not.
mlir::Operation *findPairs(mlir::linalg::LinalgOp op,
                           const ContractionPlan &plan);

/// Finds what the sums of `op` begin with by `plan`, and what can be computed
/// on them (FusedNeighbours.cpp).
StartPlan findStart(mlir::linalg::LinalgOp op, const ContractionPlan &plan);
EpiloguePlan findEpilogue(mlir::linalg::LinalgOp op,
                          const ContractionPlan &plan, CpuModel cpu);

} // namespace loopc

#endif // LOOPC_LIB_CODEGEN_CPU_CONTRACTIONS_CONTRACTIONPLAN_H
