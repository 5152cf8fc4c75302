//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// One sum of products on buffers as loops over tiles, by its plan
// (ContractionPlan.h): ContractionLoops.cpp writes the loops,
// ContractionBody.cpp what is in them.

#ifndef LOOPC_LIB_CODEGEN_CPU_CONTRACTIONS_CONTRACTIONEMITTER_H
#define LOOPC_LIB_CODEGEN_CPU_CONTRACTIONS_CONTRACTIONEMITTER_H

#include "ContractionPlan.h"
#include "loopc/Support/IndexEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "llvm/ADT/DenseMap.h"

#include <map>

namespace loopc {

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
  /// Where each row is in the loop that is joined with that of the rows.
  llvm::SmallVector<mlir::Value> joinedAt = {};
};

class ContractionBody;

/// Turns one operation into the loops over tiles that its plan describes.
class ContractionEmitter : IndexEmitter {
public:
  ContractionEmitter(mlir::RewriterBase &rewriter, mlir::linalg::LinalgOp op,
                     const ContractionPlan &plan)
      : IndexEmitter(op.getLoc(), rewriter), rewriter(rewriter), op(op),
        plan(plan), rowDim(plan.rowDim), columnDim(plan.columnDim),
        laneDim(plan.laneDim), lanes(plan.lanes) {}

  /// Writes the loops in front of `op`, and erases what is done in them.
  void emit();

private:
  /// Values that stand in front of the loops.
  void begin();
  /// Moves `op` to its epilogue, and what must come behind that.
  void takeEpilogue();

  bool isDynamic(unsigned dim) { return plan.isDynamic(dim); }
  mlir::Value extent(unsigned dim) {
    return mlir::getValueOrCreateConstantIndexOp(b, b.getLoc(), extents[dim]);
  }
  /// Iterations along `dim`: of the rows with those of the loop that is joined.
  mlir::Value trips(unsigned dim);
  /// The value of `expr` at `dims`.
  mlir::Value apply(mlir::AffineExpr expr, mlir::ValueRange dims);
  mlir::Value maskOf(mlir::Value count);
  mlir::Value added(mlir::Value x, mlir::Value y);
  bool canPair(const Tile &tile);
  void shufflePairs(llvm::MutableArrayRef<mlir::Value> sums, bool apart);

  void storeThroughEpilogue(ContractionBody &borders, const Tile &tile,
                            llvm::ArrayRef<mlir::Value> sums);
  /// The outer loops from the one with number `next` on.
  void emitNest(unsigned next = 0);
  /// The versions from the one with number `next` on.
  void emitVersions(unsigned next = 0);
  void emitVersion(const RowsPlan &rows);
  /// Blocks of the sum, one behind the other.
  void emitSumBlocks();
  /// All columns of as many rows as fit into a cache before the next rows.
  void emitRowBlocks();
  void makeStripPlace();
  /// Brings together what the tiles of the current columns read as vectors, if
  /// that pays.
  void emitStrip(const Tile &tile);
  void emitTransposedStrip();
  void emitWidenedStrip(const Tile &tile);
  void emitWidenedRows(const Tile &tile, unsigned next);
  /// The row of the strip for the current point of the sum.
  mlir::Value stripRow(int64_t number = 0);
  void emitColumns();
  void emitColumn(const Tile &tile, int64_t unit);
  void emitHalves(mlir::Value from);
  void emitRows(Tile tile, unsigned outer = 0);
  void emitTile(const Tile &tile);
  /// Sets where the rows of `tile` are, of which `places` has the numbers;
  /// none: one behind the other.
  void placeRows(Tile &tile, llvm::ArrayRef<mlir::Value> places);
  llvm::SmallVector<mlir::Value> emitSum(const Tile &tile,
                                         mlir::ValueRange sums, unsigned next);
  /// The first and the last place of the rows of `tile` along `dim`, or two
  /// that all of them are between.
  std::pair<mlir::Value, mlir::Value> placesAlong(const Tile &tile,
                                                  unsigned dim);
  /// Sets where loops over the sum begin and end for `tile`.
  void findSumBounds(const Tile &tile);
  /// The innermost loop of the sum in `chains` sets of sums.
  llvm::SmallVector<mlir::Value>
  emitChains(const Tile &tile, mlir::ValueRange given, int64_t chains);
  /// `sums` to `count` sums, each of which has its parts `count` apart.
  void addParts(llvm::SmallVectorImpl<mlir::Value> &sums, size_t count);
  /// What is added along the innermost loop, which is summed by groups.
  llvm::SmallVector<mlir::Value> emitDots(const Tile &tile,
                                          mlir::ValueRange sums);
  /// The sums of integers along the innermost loop.
  llvm::SmallVector<mlir::Value> emitGroups(const Tile &tile,
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
  mlir::Value wholeRest(mlir::Value whole, mlir::Value size, int64_t rows);
  using SumBody =
      llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::ValueRange)>;
  llvm::SmallVector<mlir::Value> sumOver(unsigned dim, mlir::Value from,
                                         mlir::Value to, int64_t step,
                                         mlir::ValueRange sums, SumBody body);

  mlir::RewriterBase &rewriter;
  mlir::linalg::LinalgOp op;
  const ContractionPlan &plan;
  std::optional<unsigned> rowDim, columnDim;
  unsigned laneDim;
  int64_t lanes;
  llvm::SmallVector<mlir::OpFoldResult> extents;
  /// Where the loops are: a value for each dimension.
  llvm::SmallVector<mlir::Value> at;
  /// Columns of the current tile begin at `columnNumber` times `columnUnit`,
  /// where that is known: which panel they are in is then, too.
  mlir::Value columnNumber;
  int64_t columnUnit = 1;
  /// The sum's range of the current block; null: all.
  mlir::Value blockBegin, blockEnd;
  mlir::Value sumBegin() { return blockBegin ? blockBegin : index(0); }
  mlir::Value sumEnd() { return blockEnd ? blockEnd : extent(plan.sumDims[0]); }
  /// Where the loop over `dim`, of the sum, begins and ends for the current
  /// tile, if that leaves out padding.
  llvm::SmallDenseMap<unsigned, std::pair<mlir::Value, mlir::Value>> sumBounds;
  /// How the current rows are done.
  const RowsPlan *version = nullptr;
  /// The place of strips, that of columns which are no whole tile, if there are
  /// any, when they are copied, and what the current tiles read: rows of the
  /// block, columns of the tile.
  mlir::Value stripPlace, restPlace, isStripCopied, strip;
  /// The tile's sums are of even and odd columns of each two vectors.
  bool arePaired = false;
  /// The block has this many elements, which are written out; 0: a loop.
  int64_t wholeBlock = 0;
  /// What is read as vectors, by rows of panels of groups.
  mlir::Value dotPanels;
  /// The rows of the current block, whole tiles; null: all rows. Those behind
  /// the last whole tile are a block of their own.
  mlir::Value rowsBegin, rowsEnd;
  bool isRestOfRows = false;
  /// Where the sum is done in blocks: true in the first one, whose sums begin
  /// with what the plan says.
  mlir::Value isFirstBlock;
  llvm::SmallVector<mlir::Value> epilogueOperands;

  friend class ContractionBody;
};

/// The values of the operation's body for the elements of one tile at one point
/// of the sum. Each is computed once for the elements that share it.
class ContractionBody {
public:
  ContractionBody(ContractionEmitter &emitter, const Tile &tile,
                  llvm::ArrayRef<mlir::Value> masks)
      : v(emitter), tile(tile), masks(masks) {}

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
  /// What the current strip has for column `j`: of several numbers of an
  /// element the one with `number`.
  mlir::Value loadStrip(int64_t j, int64_t number = 0);
  /// What a strip of widened elements gets for column `j`.
  mlir::Value widenedElements(int64_t j, int64_t number) {
    return get(v.plan.stripValues[number], 0, j, 0);
  }
  /// `value` in all lanes.
  mlir::Value widened(mlir::Value value);
  /// The sums with a group of products added to each; of the last group, where
  /// it is not whole, only what is there counts.
  llvm::SmallVector<mlir::Value> dots(mlir::ValueRange sums, bool isWhole);
  /// What a block of integers begins with, and the sum `sum` with it added.
  mlir::Value blockStart(int64_t i, int64_t j);
  mlir::Value addBlock(mlir::Value sum, mlir::Value block, int64_t i,
                       int64_t j);
  /// What the sum of row `i` and column `j` begins with.
  mlir::Value start(mlir::OpOperand &init, int64_t i, int64_t j);

private:
  using Key = std::tuple<void *, int64_t, int64_t, int64_t>;

  /// Elements for which `value` is the same have one key.
  Key keyOf(mlir::Value value, int64_t i, int64_t j, int64_t k);
  Extent extentOf(mlir::Value value);
  Extent extentOf(mlir::OpOperand &operand);
  mlir::Value get(mlir::Value value, int64_t i, int64_t j, int64_t k);
  mlir::Value addTerms(int64_t i, int64_t j, int64_t k);
  std::pair<mlir::Value, mlir::Value> loadPair(int64_t i, int64_t j, int64_t k);
  mlir::Value compute(mlir::Operation *op, int64_t i, int64_t j, int64_t k);
  llvm::SmallVector<mlir::Value> indices(mlir::AffineMap map, int64_t i,
                                         int64_t j, int64_t k);
  /// A group of elements of row `i` in all lanes.
  mlir::Value dotElements(mlir::OpOperand &operand, int64_t i, bool isWhole);
  /// A row of a panel of column `j`.
  mlir::Value dotVectors(int64_t j);
  /// The numbers of `term` in a row of a panel.
  mlir::Value dotNumbers(mlir::Value vector, const DotProduct::Term &term);
  mlir::Value dot(mlir::Value sum, mlir::Value x, mlir::Value w);
  /// Every `stride`th element from `at` on.
  mlir::Value loadApart(mlir::Value buffer, llvm::SmallVector<mlir::Value> at,
                        int64_t stride, int64_t j);

  /// What there is of vectors of column `j`; null: all.
  mlir::Value maskOf(int64_t j) {
    return masks.empty() ? mlir::Value() : masks[j];
  }

  ContractionEmitter &v;
  const Tile &tile;
  llvm::ArrayRef<mlir::Value> masks;
  std::map<Key, mlir::Value> values;
  llvm::DenseMap<mlir::Value, mlir::Value> wide;
  llvm::DenseMap<mlir::Value, Extent> known;
  mlir::Value sum;
};

} // namespace loopc

#endif // LOOPC_LIB_CODEGEN_CPU_CONTRACTIONS_CONTRACTIONEMITTER_H
