//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// One sum of products on buffers as loops over tiles (VectorizeContractions.cpp
// finds out how, ContractionLoops.cpp writes the loops, ContractionBody.cpp
// what is in them).

#ifndef LOOPC_LIB_CODEGEN_CPU_CONTRACTIONS_CONTRACTIONVECTORIZER_H
#define LOOPC_LIB_CODEGEN_CPU_CONTRACTIONS_CONTRACTIONVECTORIZER_H

#include "Contractions.h"
#include "loopc/Dialect/Loop/Transforms/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/DenseMap.h"

#include <map>

namespace loopc {

/// The element's bits if vectors of it can be loaded and computed with.
std::optional<unsigned> vectorBitsOf(mlir::Type type);

/// The addition that yields the sum, if its order may be changed; else null.
mlir::Operation *reorderableAddition(mlir::linalg::LinalgOp op);

/// Which of the three directions of a tile a value depends on.
struct Extent {
  bool rows = false, columns = false, lanes = false;

  Extent &operator|=(Extent other) {
    rows |= other.rows;
    columns |= other.columns;
    lanes |= other.lanes;
    return *this;
  }
};

/// A tile: `rows` times `columns` sums, each a vector of `lanes`. Vectors run
/// along the columns or along the sum.
struct Tile {
  int64_t rows = 1, columns = 1, lanes = 1;
  /// Along the columns: which elements of each vector are there, null where all
  /// are; empty: all are.
  llvm::SmallVector<mlir::Value> masks = {};
  /// For each mask how many elements are there, which may be more than lanes.
  llvm::SmallVector<mlir::Value> counts = {};
  /// Where each row, or column, is; empty: one behind the other.
  llvm::SmallVector<mlir::Value> rowAt = {}, columnAt = {};
};

/// The map of `operand`, read by `map` in loops whose axes are joined by
/// `groups`; null where it cannot be read so.
mlir::AffineMap joinedMap(mlir::AffineMap map, mlir::Value operand,
                          llvm::ArrayRef<mlir::ReassociationIndices> groups);

/// The number that `expr` grows by along `dim`, if it is one and the same
/// everywhere; else none.
std::optional<int64_t> stepAlong(mlir::AffineExpr expr, unsigned dim,
                                 unsigned numDims);

class ContractionBody;

/// Turns one operation into loops over tiles.
class ContractionVectorizer {
public:
  ContractionVectorizer(mlir::RewriterBase &rewriter, mlir::linalg::LinalgOp op,
                        CpuModel cpu)
      : b(op.getLoc(), rewriter), op(op), cpu(cpu), isRare(loop::isCold(op)) {}

  /// Finds how `op` can be computed; false if not this way.
  bool choose();
  /// The same for many rows of an unknown number, where what would be read as
  /// vectors along the result lies along the sum: it is transposed in strips.
  bool chooseTransposed();
  /// Writes the loops in front of `op`; by `many`, if given, where there turn
  /// out to be many rows.
  void emit(ContractionVectorizer *many = nullptr);
  /// The operation that was computed with `op`, and is needed no more; or null.
  mlir::linalg::GenericOp getEpilogue() { return epilogue; }
  /// True if vectors run along the sum.
  bool alongSum() {
    return op.getIteratorTypesArray()[laneDim] ==
           mlir::utils::IteratorType::reduction;
  }

private:
  bool isSupported();
  void begin();
  bool chooseAlongResult();
  bool chooseAlongSum();
  /// The loop over rows that share vectors, with the most of them.
  std::optional<unsigned> bestRows(unsigned without);
  /// The loop over rows that share no vectors but other elements: for rows of
  /// so few vectors that their sums would wait for each other.
  std::optional<unsigned> independentRows(unsigned without);
  /// How far apart neighbours along `dim` are in memory: 1, or a few elements
  /// where only the last index grows by them; none where it is not so.
  std::optional<int64_t> strideAlong(mlir::OpOperand &operand, unsigned dim);
  bool isContiguous(mlir::OpOperand &operand, unsigned dim) {
    return strideAlong(operand, dim) == 1;
  }
  int64_t lanesFor(int64_t extent);
  bool canMask();

  bool isDynamic(unsigned dim) {
    return mlir::ShapedType::isDynamic(statics[dim]);
  }
  mlir::Value extent(unsigned dim) {
    return mlir::getValueOrCreateConstantIndexOp(b, b.getLoc(), extents[dim]);
  }
  mlir::Value index(int64_t value) {
    return mlir::arith::ConstantIndexOp::create(b, value);
  }
  /// The value of `expr` at `dims`.
  mlir::Value apply(mlir::AffineExpr expr, mlir::ValueRange dims);
  mlir::Value maskOf(mlir::Value count);
  mlir::Value added(mlir::Value x, mlir::Value y);

  /// Begins the sums with what the result is filled with, or copied from, in
  /// front, if that need not be stored; erases what did.
  void takeFirst();
  /// Finds an elementwise operation behind that can be computed on the sums,
  /// and moves `op` to where it is.
  void takeEpilogue();
  bool canTurn();
  void storeThroughEpilogue(ContractionBody &borders, const Tile &tile,
                            llvm::ArrayRef<mlir::Value> sums);
  void emitOuter(unsigned next);
  void emitPlans();
  void emitBlocks(int64_t rows);
  /// Blocks of `block` of the sum, one behind the other.
  void emitSumBlocks(TileShape shape, int64_t block);
  /// All columns of as many rows as fit into a cache before the next rows.
  void emitRowBlocks(TileShape shape);
  /// Finds what may be worth being brought together for tiles of `shape` of an
  /// unknown number of rows, and when; makes the place for it.
  void prepareStrip(TileShape shape);
  /// Brings together what the tiles of the current columns read as vectors, if
  /// that pays.
  void emitStrip(const Tile &tile);
  void emitTransposedStrip();
  /// The operand that is read as vectors for all rows and summed over.
  mlir::OpOperand *findShared();
  TileShape shapeFor(int64_t rows);
  /// How much of the sum is done for all tiles of `rows` rows before the rest
  /// of it; 0: all.
  int64_t blockFor(int64_t rows);
  int64_t rows() { return rowDim ? statics[*rowDim] : 1; }
  void emitColumns(TileShape shape);
  void emitColumn(TileShape shape, const Tile &tile, int64_t unit);
  void emitNarrowColumns(TileShape shape, mlir::Value from);
  void emitRows(TileShape shape, Tile tile, unsigned outer = 0);
  /// True if all positions are done for some columns before the next columns.
  bool wantsColumnsOutside();
  void emitTile(const Tile &tile);
  llvm::SmallVector<mlir::Value> emitSum(const Tile &tile,
                                         mlir::ValueRange sums, unsigned next);
  /// Tiles of sums of which an instruction adds several products at a time.
  bool chooseDots();
  /// The sum along the innermost loop, by groups.
  llvm::SmallVector<mlir::Value> emitDots(const Tile &tile,
                                          mlir::ValueRange sums);
  llvm::SmallVector<mlir::Value> emitLanes(const Tile &tile,
                                           mlir::ValueRange given);
  /// Adds what stands at `count` vectors along the sum to as many sets of sums.
  llvm::SmallVector<mlir::Value> emitPoint(const Tile &tile,
                                           mlir::ValueRange sums,
                                           llvm::ArrayRef<mlir::Value> masks,
                                           int64_t count);
  llvm::SmallVector<mlir::Value> emitMaskedPoint(const Tile &tile,
                                                 mlir::ValueRange sums);
  llvm::SmallVector<mlir::Value> emitSinglePoint(const Tile &tile,
                                                 mlir::ValueRange sums);
  /// Loop over `dim` in [from, to) by `step`; not a loop where that is one.
  void loopOver(unsigned dim, mlir::Value from, mlir::Value to, int64_t step,
                llvm::function_ref<void()> body);
  /// Loops over `dim` by `most`, with a smaller step for the rest. The body
  /// gets the step and, where that may be beyond the end, every place.
  void
  inSteps(unsigned dim, int64_t most,
          llvm::function_ref<void(int64_t, llvm::ArrayRef<mlir::Value>)> body);
  /// How far whole steps of `most` along `dim` reach.
  mlir::Value wholeSteps(unsigned dim, int64_t most);
  using SumBody =
      llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::ValueRange)>;
  llvm::SmallVector<mlir::Value> sumOver(unsigned dim, mlir::Value from,
                                         mlir::Value to, int64_t step,
                                         mlir::ValueRange sums, SumBody body);

  mlir::ImplicitLocOpBuilder b;
  mlir::linalg::LinalgOp op;
  CpuModel cpu;
  llvm::SmallVector<mlir::OpFoldResult> extents;
  llvm::SmallVector<int64_t> statics;
  /// Dimensions of the loops: rows of tiles, columns of tiles, and along which
  /// vectors run.
  std::optional<unsigned> rowDim, columnDim;
  unsigned laneDim = 0;
  llvm::SmallVector<unsigned> outerDims, sumDims;
  int64_t lanes = 1;
  /// Where the loops are: a value for each dimension.
  llvm::SmallVector<mlir::Value> at;
  /// Columns of the current tile begin at `columnNumber` times `columnUnit`,
  /// where that is known: which panel they are in is then, too.
  mlir::Value columnNumber;
  int64_t columnUnit = 1;
  /// The sum's range of the current block; null: all.
  mlir::Value blockBegin, blockEnd;
  mlir::Value sumBegin() { return blockBegin ? blockBegin : index(0); }
  mlir::Value sumEnd() { return blockEnd ? blockEnd : extent(sumDims[0]); }
  /// The operand that is read as vectors if it is worth being brought together,
  /// the place for it, when to do so, and what the current tiles read: rows of
  /// the block, columns of the tile.
  mlir::OpOperand *stripOperand = nullptr;
  mlir::Value stripPlace, isStripCopied, strip;
  bool isStripTransposed = false;
  /// The block has this many elements, which are written out; 0: a loop.
  int64_t wholeBlock = 0;
  /// Blocks are rows of a matrix, each read to its end.
  bool isRowBlocked = false;
  /// Products that are summed in groups, with what is read as vectors by rows
  /// of panels.
  std::optional<DotProduct> dot;
  mlir::Value dotPanels;
  /// The rows of the current block, whole tiles; null: all rows. Those behind
  /// the last whole tile are a block of their own.
  mlir::Value rowsBegin, rowsEnd;
  bool isRestOfRows = false;
  bool areColumnsOutside = false;
  /// Of an unknown number of rows there turned out to be one or two.
  bool isFewRows = false;
  /// The operation is in a version of a loop that hardly runs.
  bool isRare;
  /// What the sums begin with: the elements of the result; if set, `filled` for
  /// all, or those of `first`, which `firstMap` finds by the result's indices.
  mlir::Value filled, first;
  /// Where the sum is done in blocks: true in the first one, whose sums begin
  /// so.
  mlir::Value isFirstBlock;
  mlir::AffineMap firstMap;
  /// What is computed on the sums before they are stored: its operands, where
  /// they are by the loops of `op`, and which of them the sums are.
  mlir::linalg::GenericOp epilogue;
  llvm::SmallVector<mlir::Value> epilogueOperands;
  llvm::SmallVector<mlir::AffineMap> epilogueMaps;
  unsigned epilogueSum = 0;
  /// Its result has the rows of the tiles along its last axis.
  bool isEpilogueTurned = false;

  friend class ContractionBody;
};

/// The values of the operation's body for the elements of one tile at one point
/// of the sum. Each is computed once for the elements that share it.
class ContractionBody {
public:
  ContractionBody(ContractionVectorizer &vectorizer, const Tile &tile,
                  llvm::ArrayRef<mlir::Value> masks)
      : v(vectorizer), tile(tile), masks(masks) {}

  /// The sum `sum` of row `i`, column `j` with what is added at this point;
  /// `k` counts vectors along the sum.
  mlir::Value next(mlir::Value sum, int64_t i, int64_t j, int64_t k);
  /// Element or vector of an operand.
  mlir::Value load(mlir::OpOperand &operand, int64_t i, int64_t j, int64_t k);
  void store(mlir::OpOperand &operand, mlir::Value value, int64_t i, int64_t j);
  void store(mlir::Value buffer, mlir::AffineMap map, mlir::Value value,
             int64_t i, int64_t j);
  /// Stores the vectors `rows` of column `j` along the rows.
  void storeTurned(mlir::Value buffer, mlir::AffineMap map,
                   llvm::ArrayRef<mlir::Value> rows, int64_t j);
  mlir::Value load(mlir::Value buffer, mlir::AffineMap map, int64_t i,
                   int64_t j, int64_t k);
  /// What the current strip has for column `j`.
  mlir::Value loadStrip(int64_t j);
  /// `value` in all lanes.
  mlir::Value widened(mlir::Value value);
  /// The sums with a group of products added to each; of the last group, where
  /// it is not whole, only what is there counts.
  llvm::SmallVector<mlir::Value> dots(mlir::ValueRange sums, bool isWhole);
  /// What the sum of row `i` and column `j` begins with.
  mlir::Value start(mlir::OpOperand &init, int64_t i, int64_t j);

private:
  using Key = std::tuple<void *, int64_t, int64_t, int64_t>;

  Extent extentOf(mlir::Value value);
  Extent extentOf(mlir::OpOperand &operand);
  mlir::Value get(mlir::Value value, int64_t i, int64_t j, int64_t k);
  mlir::Value compute(mlir::Operation *op, int64_t i, int64_t j, int64_t k);
  llvm::SmallVector<mlir::Value> indices(mlir::AffineMap map, int64_t i,
                                         int64_t j, int64_t k);
  /// A group of elements of row `i` in all lanes.
  mlir::Value dotElements(int64_t i, bool isWhole);
  /// A row of a panel of column `j`.
  mlir::Value dotVectors(int64_t j);
  mlir::Value dot(mlir::Value sum, mlir::Value x, mlir::Value w);
  /// Every `stride`th element from `at` on.
  mlir::Value loadApart(mlir::Value buffer, llvm::SmallVector<mlir::Value> at,
                        int64_t stride, int64_t j);

  ContractionVectorizer &v;
  const Tile &tile;
  llvm::ArrayRef<mlir::Value> masks;
  std::map<Key, mlir::Value> values;
  llvm::DenseMap<mlir::Value, mlir::Value> wide;
  llvm::DenseMap<mlir::Value, Extent> known;
  mlir::Value sum;
};

} // namespace loopc

#endif // LOOPC_LIB_CODEGEN_CPU_CONTRACTIONS_CONTRACTIONVECTORIZER_H
