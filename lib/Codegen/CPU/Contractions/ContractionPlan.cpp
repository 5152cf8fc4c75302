//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Which way a contraction is computed: along which loops tiles and vectors run,
// how large tiles are, in which order they are done, what is brought together.

#include "ContractionPlan.h"
#include "Rows/Rows.h"
#include "Rows/VectorElements.h"
#include "loopc/Dialect/Loop/Transforms/Utils.h"
#include "loopc/Dialect/Nest/IR/Parallel.h"
#include "loopc/Support/Contractions.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace loopc;
using utils::IteratorType;

/// Elements that are this far apart are taken out of vectors that hold what is
/// between them, too; farther, one by one is as good.
static constexpr int64_t kMaxApart = 4;
/// Rows of a large matrix that one row is multiplied with at a time.
static constexpr int64_t kRowBlock = 8;
/// So many elements of a sum are written out, rather than a loop in others.
static constexpr int64_t kShortSum = 5;
/// So many of one filter a channel: neighbours in a tile read the same vectors
/// of the image, which are then loaded once (7 of 192 channels: 0.82 of the
/// time).
static constexpr int64_t kShortRow = 9;
/// Fewer columns leave most of a vector empty.
static constexpr int64_t kFewColumns = 4;
/// Putting an element together of a vector takes so many instructions; of so
/// many elements sums are long.
static constexpr int64_t kShuffles = 6, kLongSum = 64;
/// So many products of vectors in a tile hide how its rows are found.
static constexpr int64_t kWorkOfJoined = 4096;
/// Sums of so many products are most of the work of a tile.
static constexpr int64_t kManyProducts = 64;
/// Rows of a tile where the least code is wanted: as many as a vector of the
/// other operand has to be multiplied with, so that reading it takes as long.
static constexpr int64_t kCompactRows = 4;

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

static bool isSupported(linalg::LinalgOp op) {
  if (!op.hasPureBufferSemantics() || op.getNumDpsInits() != 1 ||
      !isContraction(op))
    return false;
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<MemRefType>(operand.get().getType());
    // Truth values are read one by one: in vectors they would be bits.
    bool isRead =
        type &&
        (vectorBitsOf(type.getElementType()) ||
         (type.getElementType().isInteger(1) && op.isDpsInput(&operand)));
    if (!isRead || !type.isStrided())
      return false;
  }
  AffineMap out = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  return out.isProjectedPermutation();
}

static bool hasVectorBody(linalg::LinalgOp op) {
  return llvm::all_of(op.getBlock()->without_terminator(), isVectorOperation);
}

/// How far apart neighbours along `dim` are in memory: 1, or a few elements
/// where only the last index grows by them; none where it is not so.
static std::optional<int64_t> strideAlong(linalg::LinalgOp op,
                                          const ContractionPlan &plan,
                                          OpOperand &operand, unsigned dim) {
  AffineMap map = op.getMatchingIndexingMap(&operand);
  if (map.getNumResults() == 0 ||
      !vectorBitsOf(getElementTypeOrSelf(operand.get())))
    return std::nullopt;
  // Groups are read as such only.
  if (plan.isPacked(map, dim) && !plan.panels->group)
    return 1;
  for (AffineExpr expr : map.getResults().drop_back())
    if (expr.isFunctionOfDim(dim))
      return std::nullopt;
  std::optional<int64_t> step =
      stepAlong(map.getResults().back(), dim, map.getNumDims());
  if (!step || *step < 1 || *step > kMaxApart ||
      !cast<MemRefType>(operand.get().getType()).isLastDimUnitStride())
    return std::nullopt;
  return step;
}

//===----------------------------------------------------------------------===//
// The planner
//===----------------------------------------------------------------------===//

namespace {
class ContractionPlanner {
public:
  ContractionPlanner(linalg::LinalgOp op, CpuModel cpu, bool isCompact,
                     bool isTurned = false)
      : op(op), cpu(cpu), types(op.getIteratorTypesArray()),
        isCompact(isCompact), isTurned(isTurned) {
    plan.extents = knownExtents(op);
    plan.panels = getPanels(op);
  }

  bool choose();
  /// For many rows of an unknown number, where what would be read as vectors
  /// along the result lies along the sum: it is transposed in strips.
  bool chooseTransposed();
  /// Sizes and order of the tiles.
  void chooseTiles();
  /// Blocks of tiles below one another, which are done before the next
  /// columns'.
  void chooseRowBlocks();

  ContractionPlan plan;

private:
  bool chooseDots();
  bool areSumsShort();
  bool chooseAlongResult();
  bool chooseAlongSum();
  std::optional<unsigned> findIndependentRows(unsigned without);
  void collectDims();
  bool canMask();
  int64_t lanesFor(int64_t extent);
  void chooseStrip();
  bool sharesVectors(unsigned dim);
  void chooseJoined();
  OpOperand *findShared();
  bool isOfRow(Value value);
  bool chooseWidened();
  bool sharesRowElements();
  bool isWide(int64_t rows);
  TileShape tileFor(int64_t rows);
  TileShape halveTile(TileShape tile, int64_t rows);
  int64_t sumBlockFor(int64_t rows);
  bool readsMatrixRows(int64_t rows);
  RowsPlan planRows(int64_t rows);
  /// One kind of tile for all rows and columns.
  RowsPlan planCompactRows();
  void planRest(RowsPlan &rows);
  void planRestOfRows(RowsPlan &rows);
  int64_t rows() { return plan.rows(); }

  linalg::LinalgOp op;
  CpuModel cpu;
  SmallVector<IteratorType> types;
  /// Rows of tiles are stored one behind the other, in squares.
  bool isCompact;
  bool isTurned;
};
} // namespace

int64_t ContractionPlanner::lanesFor(int64_t extent) {
  Type type = getElementTypeOrSelf(op.getDpsInits()[0].getType());
  int64_t most = cpu.lanesOf(*vectorBitsOf(type));
  if (ShapedType::isDynamic(extent))
    return most;
  // Of no elements there is one lane as well.
  return std::min<int64_t>(most,
                           llvm::PowerOf2Ceil(std::max<int64_t>(extent, 1)));
}

bool ContractionPlanner::canMask() {
  // Panels are read whole.
  if (plan.dot)
    return cpu.canMask(32);
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    std::optional<unsigned> bits = vectorBitsOf(getElementTypeOrSelf(operand));
    return cpu.canMask(bits.value_or(64));
  });
}

/// The loop over rows that share other elements than vectors, for rows of so
/// few vectors that their sums would wait for each other: of those with enough
/// for some tiles the last, whose rows are neighbours in memory.
std::optional<unsigned>
ContractionPlanner::findIndependentRows(unsigned without) {
  std::optional<unsigned> best;
  for (unsigned dim : llvm::seq(op.getNumLoops())) {
    // An element of another operand is read once for all rows.
    bool shares = llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *in) {
      return !op.getMatchingIndexingMap(in).isFunctionOfDim(dim);
    });
    int64_t least = best ? std::min(plan.extents[*best], kManyRowsOfTiles) : 2;
    if (dim != without && types[dim] == IteratorType::parallel && shares &&
        plan.extents[dim] >= least) // an open one is less than any
      best = dim;
  }
  return best;
}

bool ContractionPlanner::chooseAlongResult() {
  OpOperand *init = op.getDpsInitOperand(0);
  AffineMap out = op.getMatchingIndexingMap(init);
  if (out.getNumResults() == 0)
    return false;
  auto last = dyn_cast<AffineDimExpr>(out.getResults().back());
  if (!last || plan.extents[last.getPosition()] == 1)
    return false;
  unsigned dim = last.getPosition();
  bool varies = false;
  for (OpOperand &operand : op->getOpOperands()) {
    if (!op.getMatchingIndexingMap(&operand).isFunctionOfDim(dim))
      continue;
    std::optional<int64_t> stride = strideAlong(op, plan, operand, dim);
    if (!stride || (*stride != 1 && !op.isDpsInput(&operand)))
      return false;
    varies |= op.isDpsInput(&operand);
  }
  plan.rowDim = findSharingRows(op, dim, dim);
  if (!varies || (!plan.rowDim && sumsShortRows(op, cpu)))
    return false;
  plan.columnDim = plan.laneDim = dim;
  plan.lanes = lanesFor(plan.extents[dim]);
  if (!plan.rowDim && !plan.isDynamic(dim) &&
      plan.extents[dim] <= 2 * plan.lanes)
    plan.rowDim = findIndependentRows(dim);
  // A vector lies within one panel.
  return !plan.panels || plan.panels->dim != dim ||
         plan.panels->width % plan.lanes == 0;
}

bool ContractionPlanner::chooseAlongSum() {
  for (unsigned dim : llvm::reverse(llvm::seq(op.getNumLoops()))) {
    if (types[dim] != IteratorType::reduction ||
        (!plan.isDynamic(dim) && plan.extents[dim] < 4))
      continue;
    bool fits = llvm::all_of(op.getDpsInputOperands(), [&](OpOperand *in) {
      return !op.getMatchingIndexingMap(in).isFunctionOfDim(dim) ||
             strideAlong(op, plan, *in, dim) == 1;
    });
    if (!fits || !reorderableAddition(op) || isSumOfRow(op, dim, cpu))
      continue;
    plan.laneDim = dim;
    plan.isAlongSum = true;
    plan.columnDim = findSharingRows(op, dim, dim);
    plan.rowDim.reset();
    if (plan.columnDim)
      plan.rowDim = findSharingRows(op, dim, *plan.columnDim);
    plan.lanes = lanesFor(plan.extents[dim]);
    return true;
  }
  return false;
}

bool ContractionPlanner::chooseDots() {
  std::optional<DotProduct> dot = matchDotProduct(op, cpu);
  // Zero points are taken out when panels are made.
  if (!dot || dot->hasZeros())
    return false;
  AffineMap map = op.getMatchingIndexingMap(dot->vectors);
  const std::optional<Panels> &panels = plan.panels;
  unsigned dim = dot->columns;
  int64_t lanes = dotLanes(cpu, plan.extents[dim]);
  auto isDense = [](OpOperand *operand) {
    return cast<MemRefType>(operand->get().getType()).isLastDimUnitStride();
  };
  // Scales of the columns.
  auto isReadInVectors = [&](OpOperand *operand) {
    return operand == dot->vectors ||
           !op.getMatchingIndexingMap(operand).isFunctionOfDim(dim) ||
           strideAlong(op, plan, *operand, dim) == 1;
  };
  if (!plan.isPacked(map, dim) || !panels->group ||
      panels->group->dim != dot->sum.dim ||
      panels->group->size != dot->sum.size || panels->width % lanes != 0 ||
      strideAlong(op, plan, *op.getDpsInitOperand(0), dim) != 1 ||
      !llvm::all_of(dot->terms,
                    [&](auto &term) { return isDense(term.elements); }) ||
      !llvm::all_of(op.getDpsInputOperands(), isReadInVectors) ||
      !cast<MemRefType>(dot->vectors->get().getType()).getLayout().isIdentity())
    return false;
  plan.dot = dot;
  plan.columnDim = plan.laneDim = dim;
  plan.lanes = lanes;
  plan.rowDim = findSharingRows(op, dim, dim);
  return true;
}

void ContractionPlanner::collectDims() {
  for (auto [dim, type] : llvm::enumerate(types)) {
    if (type == IteratorType::reduction)
      plan.sumDims.push_back(dim);
    else if (dim != plan.rowDim && dim != plan.columnDim)
      plan.outerDims.push_back(dim);
  }
  if (plan.isAlongSum) {
    llvm::erase(plan.sumDims, plan.laneDim);
    plan.sumDims.push_back(plan.laneDim);
  }
  plan.canMask = canMask();
}

/// True if sums of a few columns take less along these, in vectors that are not
/// full, than along the sum, where each element is put together of a vector.
bool ContractionPlanner::areSumsShort() {
  int64_t columns = plan.extents[plan.laneDim], sums = 1;
  for (unsigned dim : llvm::seq(op.getNumLoops()))
    if (types[dim] == IteratorType::reduction) {
      if (plan.isDynamic(dim))
        return false;
      sums *= std::min(plan.extents[dim], kLongSum);
    }
  return sums <= kShuffles * columns;
}

bool ContractionPlanner::choose() {
  if (!isSupported(op))
    return false;
  bool found = chooseDots();
  if (!found && !hasVectorBody(op))
    return false;
  found = found || chooseAlongResult();
  bool isNarrow = found && !plan.dot && !plan.isDynamic(plan.laneDim) &&
                  plan.extents[plan.laneDim] < kFewColumns && !areSumsShort();
  if ((!found || isNarrow) && !chooseAlongSum() && !found)
    return false;
  collectDims();
  return true;
}

/// The operand that is read as vectors for all rows and summed over.
OpOperand *ContractionPlanner::findShared() {
  OpOperand *found = nullptr;
  for (OpOperand *operand : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(operand);
    if (!map.isFunctionOfDim(plan.laneDim) ||
        !map.isFunctionOfDim(plan.sumDims[0]))
      continue;
    if (found || !map.isProjectedPermutation(/*allowZeroInResults=*/true) ||
        plan.isOfRows(map))
      return nullptr;
    found = operand;
  }
  return found;
}

bool ContractionPlanner::chooseTransposed() {
  OpOperand *init = op.getDpsInitOperand(0);
  AffineMap out = op.getMatchingIndexingMap(init);
  if (!isSupported(op) || !hasVectorBody(op) || !canMask() ||
      op.getNumReductionLoops() != 1 || out.getNumResults() == 0)
    return false;
  unsigned dim = cast<AffineDimExpr>(out.getResults().back()).getPosition();
  plan.columnDim = plan.laneDim = dim;
  plan.rowDim = findSharingRows(op, dim, dim);
  plan.lanes = lanesFor(plan.extents[dim]);
  collectDims();
  // One element of what is summed over belongs to each column.
  unsigned sum = plan.sumDims[0];
  // Of sums of few vectors, to add each of which up is half the work, as well.
  constexpr int64_t kFew = 4;
  bool areMany = plan.rowDim &&
                 (plan.isDynamic(*plan.rowDim) ||
                  (rows() >= CpuModel::kRowsOfStrip && !plan.isDynamic(sum) &&
                   plan.extents[sum] < kFew * plan.lanes));
  bool isLong = plan.isDynamic(sum) || plan.extents[sum] >= kLongColumn;
  if (!areMany || strideAlong(op, plan, *init, dim) != 1 ||
      (!plan.isDynamic(dim) &&
       plan.extents[dim] < (isLong ? kFewLongColumns : kFewColumns)) ||
      computesOfRowsAndSum(op, dim) || plan.lanes < 2 ||
      plan.lanes > CpuModel::kSquareLanes)
    return false;
  OpOperand *shared = findShared();
  if (!shared || strideAlong(op, plan, *shared, sum) != 1)
    return false;
  for (OpOperand *input : op.getDpsInputOperands())
    if (input != shared &&
        op.getMatchingIndexingMap(input).isFunctionOfDim(dim))
      return false;
  plan.isStripTransposed = true;
  return true;
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// True if columns share elements of a row. Of one filter a channel a row has
/// vectors of its own.
bool ContractionPlanner::sharesRowElements() {
  return llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *in) {
    AffineMap map = op.getMatchingIndexingMap(in);
    return plan.isOfRows(map) && !map.isFunctionOfDim(plan.laneDim);
  });
}

/// True if tiles of `rows` rows fill the registers for sums: those of windows
/// of an image, most of which are long, if there are columns for them. They
/// need two kinds of tiles, or none as high as others, where these leave no
/// rest.
bool ContractionPlanner::isWide(int64_t rows) {
  if (plan.sumDims.size() < 2 || plan.dot || isTurned ||
      !plan.stripValues.empty() ||
      plan.extents[*plan.columnDim] < cpu.wideTileVectors() * plan.lanes)
    return false;
  int64_t most = cpu.wideTileRows();
  // More vectors share an element of a row.
  return sharesRowElements() &&
         (ShapedType::isDynamic(rows) || rows % cpu.tileRows() != 0 ||
          rows % most == 0 || rows % (most - 1) == 0);
}

/// `tile`, or a smaller one whose sums of integers and of floats both fit into
/// the registers.
TileShape ContractionPlanner::halveTile(TileShape tile, int64_t rows) {
  int64_t most = cpu.sumRegisters() / 4;
  if (tile.rows > most)
    tile.rows = ShapedType::isDynamic(rows)
                    ? most
                    : llvm::divideCeil(rows, llvm::divideCeil(rows, most));
  tile.vectors = std::min<int64_t>(
      tile.vectors,
      llvm::bit_floor(uint64_t(cpu.sumRegisters() / 2 / tile.rows)));
  return tile;
}

TileShape ContractionPlanner::tileFor(int64_t rows) {
  if (!plan.isAlongSum) {
    int64_t columns = plan.extents[*plan.columnDim];
    TileShape tile = chooseTile(cpu, rows, columns, plan.lanes, isWide(rows));
    return plan.dot && plan.dot->block ? halveTile(tile, rows) : tile;
  }
  rows = ShapedType::isDynamic(rows) ? 4 : std::min<int64_t>(rows, 4);
  int64_t columns = !plan.columnDim ? 1
                    : rows > 2      ? CpuModel::kSumsUnderWay / 2
                                    : CpuModel::kSumsUnderWay;
  if (plan.columnDim && !plan.isDynamic(*plan.columnDim))
    columns = std::min(columns, plan.extents[*plan.columnDim]);
  return {rows, columns};
}

/// True if a row, or two, are multiplied with a matrix that does not stay in a
/// cache, so that its rows are read to their ends.
bool ContractionPlanner::readsMatrixRows(int64_t rows) {
  if (plan.isAlongSum || plan.sumDims.size() != 1 ||
      ShapedType::isDynamic(rows) || rows > 2)
    return false;
  int64_t sum = plan.extents[plan.sumDims[0]];
  // One block, in any order: a window of an image most often.
  if (ShapedType::isStatic(sum) && sum <= kRowBlock)
    return false;
  int64_t columns = plan.extents[*plan.columnDim];
  for (OpOperand *operand : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(operand);
    if (!map.isFunctionOfDim(plan.laneDim) ||
        !map.isFunctionOfDim(plan.sumDims[0]))
      continue;
    if (plan.isPacked(map, plan.laneDim))
      return false;
    int64_t bytes = *vectorBitsOf(getElementTypeOrSelf(operand->get())) / 8;
    if (ShapedType::isDynamic(sum) || ShapedType::isDynamic(columns) ||
        sum * columns * bytes > CpuModel::kSecondCache)
      return true;
  }
  return false;
}

int64_t ContractionPlanner::sumBlockFor(int64_t rows) {
  bool isOneSum = plan.sumDims.size() == 1;
  if (plan.isAlongSum || (!isOneSum && plan.stripValues.empty()) ||
      (plan.dot && plan.dot->block))
    return 0;
  // Of small integers there are as many bytes.
  int64_t sum = plan.extents[plan.sumDims[0]];
  if (isOneSum && plan.stripValues.size() <= 1)
    return CpuModel::sumBlock(sum, rows, plan.dot ? plan.dot->sum.size : 1);
  int64_t each = plan.innerSums() * plan.stripValues.size();
  int64_t block =
      CpuModel::sumBlock(ShapedType::isDynamic(sum) ? sum : sum * each, rows);
  return block ? std::max<int64_t>(1, block / each) : 0;
}

/// True if iterations of `dim` share what is read as vectors, or some of it.
bool ContractionPlanner::sharesVectors(unsigned dim) {
  return llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *in) {
    AffineMap map = op.getMatchingIndexingMap(in);
    return map.isFunctionOfDim(plan.laneDim) && !map.isFunctionOfDim(dim);
  });
}

/// Joins the loop of the rows with the one around it, where each would end with
/// a tile that is not whole: rows of an image are short, or of open length.
void ContractionPlanner::chooseJoined() {
  // Of a single loop around, most often a batch, there is often one iteration.
  if (isTurned || isCompact || plan.isAlongSum || !plan.rowDim ||
      loop::isCold(op) || plan.outerDims.size() < 2)
    return;
  unsigned outer = plan.outerDims.back();
  if (plan.extents[outer] == 1 || !isParallelDim(op, outer) ||
      !sharesVectors(outer))
    return;
  // To find where each row is takes time that little work does not hide.
  int64_t products = plan.products();
  TileShape tile = tileFor(ShapedType::kDynamic);
  if (tile.rows < kTileRowsOfMany ||
      (!ShapedType::isDynamic(products) &&
       products * tile.rows * tile.vectors < kWorkOfJoined))
    return;
  int64_t rows = plan.extents[*plan.rowDim];
  if (!ShapedType::isDynamic(rows) &&
      (rows % tileFor(rows).rows == 0 || rows >= kLongRow * tile.rows))
    return;
  plan.joinedDim = outer;
  plan.outerDims.pop_back();
}

/// True if `value` of the body differs from row to row, or is the sum.
bool ContractionPlanner::isOfRow(Value value) {
  Block *body = op.getBlock();
  if (auto argument = dyn_cast<BlockArgument>(value);
      argument && argument.getOwner() == body) {
    OpOperand *operand = op.getMatchingOpOperand(argument);
    return op.isDpsInit(operand) ||
           plan.isOfRows(op.getMatchingIndexingMap(operand));
  }
  Operation *from = value.getDefiningOp();
  return from && from->getBlock() == body &&
         llvm::any_of(from->getOperands(),
                      [&](Value operand) { return isOfRow(operand); });
}

/// Chooses what the body makes of the packed operand before a row is
/// multiplied with it; false if nothing.
bool ContractionPlanner::chooseWidened() {
  if (plan.dot || !plan.rowDim || (plan.panels && plan.panels->group))
    return false;
  for (OpOperand *operand : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(operand);
    if (!plan.isPacked(map, plan.laneDim) ||
        !map.isFunctionOfDim(plan.sumDims[0]) || plan.isOfRows(map))
      continue;
    // What is of all rows and is read by what is of one.
    BlockArgument element = op.getMatchingBlockArgument(operand);
    SmallVector<Value, 2> values;
    auto isReadByRow = [&](Value value) {
      return llvm::any_of(value.getUsers(), [&](Operation *user) {
        return user->getNumResults() != 1 || isOfRow(user->getResult(0));
      });
    };
    SetVector<Operation *> made;
    getForwardSlice(element, &made);
    for (Operation *maker : made)
      if (maker->getNumResults() == 1 && !isOfRow(maker->getResult(0)) &&
          isReadByRow(maker->getResult(0)))
        values.push_back(maker->getResult(0));
    bool areAlike = llvm::all_of(values, [&](Value value) {
      return value.getType() == values.front().getType();
    });
    if (values.empty() || !areAlike || isReadByRow(element) ||
        !vectorBitsOf(values.front().getType()))
      return false;
    plan.strip = operand;
    plan.stripValues = values;
    return true;
  }
  return false;
}

void ContractionPlanner::chooseStrip() {
  bool isOneSum = plan.sumDims.size() == 1;
  if (plan.isAlongSum || ShapedType::isDynamic(plan.innerSums()) ||
      tileFor(ShapedType::kDynamic).rows < kTileRowsOfMany)
    return;
  bool isWidened = !plan.isStripTransposed && chooseWidened();
  if (!isWidened && !isOneSum)
    return;
  if (plan.isStripTransposed || (!isWidened && plan.isDynamic(*plan.rowDim)))
    plan.strip = findShared();
  if (!plan.strip)
    return;
  // Of what stays in the first cache nothing is brought together, but where
  // that also widens it.
  int64_t bytes = *vectorBitsOf(getElementTypeOrSelf(plan.strip->get())) / 8;
  int64_t sum = plan.extents[plan.sumDims[0]],
          columns = plan.extents[*plan.columnDim];
  if (!isWidened && !plan.isStripTransposed && !ShapedType::isDynamic(sum) &&
      !ShapedType::isDynamic(columns) &&
      sum * columns * bytes < CpuModel::kFirstCache) {
    plan.strip = nullptr;
    return;
  }
  int64_t block = sumBlockFor(ShapedType::kDynamic);
  int64_t numbers = std::max<int64_t>(1, plan.stripValues.size());
  // Whole vectors are transposed.
  plan.stripRows =
      llvm::alignTo((block ? block : sum) * plan.innerSums(), plan.lanes) *
      numbers;
}

void ContractionPlanner::planRest(RowsPlan &rows) {
  if (plan.isAlongSum)
    return;
  int64_t columns = plan.extents[*plan.columnDim];
  int64_t width = rows.tile.vectors * plan.lanes;
  bool isOpen = ShapedType::isDynamic(columns);
  if (!isOpen && columns % width == 0)
    return;
  // The other vectors of a tile would be empty.
  bool mayBeFew = rows.tile.vectors > 1 && rows.tile.rows >= kTileRowsOfMany &&
                  plan.sumDims.size() == 1 && !isCompact && !isTurned &&
                  !loop::isCold(op) && !plan.panels && !plan.dot &&
                  plan.stripValues.empty() && !plan.isStripTransposed;
  if (!plan.canMask) {
    rows.rest = ColumnRest::Halves;
  } else if (!isOpen) {
    rows.rest = ColumnRest::Masked;
    rows.restVectors = llvm::divideCeil(columns % width, plan.lanes);
  } else if (rows.tile.vectors >= 4 && !rows.readsMatrixRows) {
    // Rows that share nothing, of short sums, are windows of an image, which
    // has fewer positions in a row than most tiles have.
    int64_t sums = plan.products();
    bool isWindow =
        !plan.rowDim && !ShapedType::isDynamic(sums) && sums <= kRowBlock;
    rows.rest = ColumnRest::NarrowTiles;
    rows.restVectors = isWindow ? 1 : CpuModel::kPanelVectors;
  } else {
    rows.rest = mayBeFew ? ColumnRest::SingleVectors : ColumnRest::AllTiles;
    rows.restVectors = mayBeFew ? 1 : rows.tile.vectors;
    rows.storesWhole = !isCompact && !cpu.hasCheapMasks();
  }
}

RowsPlan ContractionPlanner::planRows(int64_t rows) {
  RowsPlan made;
  made.tile = tileFor(rows);
  // Threads share tiles.
  if (plan.isOneTileOfLarge(op, rows, made.tile))
    made.tile.vectors /= 2;
  made.sumBlock = sumBlockFor(rows);
  made.readsMatrixRows = readsMatrixRows(rows);
  if (made.readsMatrixRows) {
    made.sumBlock = kRowBlock;
    made.tile.vectors = std::min<int64_t>(made.tile.vectors, 4);
  }
  planRest(made);
  return made;
}

/// Of an open number of rows, a batch, there may be few: what is computed twice
/// then, to fill a tile, takes as long as what is computed once.
void ContractionPlanner::planRestOfRows(RowsPlan &made) {
  bool isOneSum = !plan.isAlongSum && plan.sumDims.size() == 1;
  if (isOneSum && !plan.joinedDim && !made.usesStrip && plan.panels &&
      plan.panels->dim == plan.laneDim && made.tile.rows >= kTileRowsOfMany &&
      plan.products() >= kManyProducts)
    made.lessRows = plan.restRows(made) - 1;
}

RowsPlan ContractionPlanner::planCompactRows() {
  RowsPlan made;
  made.tile = tileFor(1);
  if (plan.isAlongSum) {
    made.tile.vectors = 1;
  } else if (plan.rowDim) {
    int64_t rows = plan.rows();
    bool isOpen = ShapedType::isDynamic(rows);
    made.tile.rows = isOpen ? kCompactRows : std::min(rows, kCompactRows);
    made.repeatsLastRow = isOpen || rows % made.tile.rows != 0;
  }
  made.tile.vectors = std::min<int64_t>(
      made.tile.vectors, CpuModel::kSumsUnderWay / made.tile.rows);
  planRest(made);
  if (made.rest != ColumnRest::None && made.rest != ColumnRest::Halves) {
    made.rest = ColumnRest::AllTiles;
    made.restVectors = made.tile.vectors;
  }
  return made;
}

void ContractionPlanner::chooseRowBlocks() {
  // Positions of an image have blocks already, its rows. What was transposed is
  // there for all rows.
  bool hasOther = plan.sumDims.size() != 1 &&
                  (plan.outerDims.size() > 1 || plan.areColumnsOutside);
  if (plan.isAlongSum || !plan.rowDim || hasOther || plan.isStripTransposed)
    return;
  for (RowsPlan &made : plan.versions) {
    int64_t block = made.tile.rows * plan.rowTiles(op, made.tile);
    if (made.tile.rows >= kTileRowsOfMany &&
        (ShapedType::isDynamic(rows()) || rows() > block))
      made.rowBlock = block;
  }
}

void ContractionPlanner::chooseTiles() {
  if (isCompact) {
    plan.versions = {planCompactRows()};
    return;
  }
  chooseJoined();
  bool isOpen = plan.rowDim && ShapedType::isDynamic(rows());
  // What hardly runs is rather short.
  bool isRare = loop::isCold(op);
  bool areMany = isOpen ? !isRare : rows() >= CpuModel::kRowsOfStrip;
  if (plan.isStripTransposed || areMany)
    chooseStrip();
  plan.areColumnsOutside = plan.wantsColumnsOutside(op);
  if (plan.sumDims.size() > 1 && !plan.isAlongSum) {
    int64_t last = plan.extents[plan.sumDims.back()];
    plan.isFilter = plan.rowDim && !sharesRowElements();
    plan.isSumWrittenOut =
        last > 1 && last <= (plan.isFilter ? kShortRow : kShortSum);
  }
  // Nor has a row of an image wider tiles where columns share nothing of it.
  bool isFiltered = plan.isFilter && !isRare;
  if (!isOpen || isFiltered || plan.isStripTransposed || plan.joinedDim) {
    plan.versions = {planRows(rows())};
    plan.versions.back().usesStrip = plan.strip;
    return;
  }
  plan.versions = {planRows(1)};
  if (isRare)
    return;
  // For one row tiles are wide; and for two where what they share is not in
  // panels, which is better read twice in its own order.
  bool readsPanels = plan.panels && plan.panels->dim == plan.laneDim;
  plan.fewerRows.push_back(readsPanels ? 2 : 3);
  RowsPlan many = planRows(ShapedType::kDynamic);
  // Few rows are done before what they share has been stored and read again.
  if (!plan.stripValues.empty()) {
    plan.versions.push_back(many);
    planRestOfRows(plan.versions.back());
    plan.fewerRows.push_back(CpuModel::kRowsOfStrip);
  }
  many.usesStrip = plan.strip;
  planRestOfRows(many);
  plan.versions.push_back(many);
}

static std::optional<ContractionPlan>
planContraction(linalg::LinalgOp op, CpuModel cpu, const ZeroBorders &borders,
                bool isCompact, bool isTurned) {
  ContractionPlanner planner(op, cpu, isCompact, isTurned);
  if (!planner.choose())
    return std::nullopt;
  planner.chooseTiles();
  ContractionPlan &plan = planner.plan;
  plan.pairs = findPairs(op, plan);
  if (!plan.dot)
    plan.terms = findFusedTerms(op);
  ContractionPlanner many(op, cpu, isCompact);
  if (!isCompact && !loop::isCold(op) && plan.isAlongSum &&
      many.chooseTransposed()) {
    many.chooseTiles();
    many.chooseRowBlocks();
    many.plan.start = findStart(op, many.plan);
    many.plan.terms = plan.terms;
    plan.start = many.plan.start;
    plan.many = std::make_unique<ContractionPlan>(std::move(many.plan));
    return std::move(plan);
  }
  plan.start = findStart(op, plan);
  // What is computed on the sums would be written for each vector of a tile.
  if (isCompact)
    return std::move(plan);
  plan.padded = findPaddedAxes(op, plan, borders);
  plan.epilogue = findEpilogue(op, plan, cpu);
  // Squares are made of rows that lie one behind the other, which those of two
  // loops do not, in tiles as high as a vector has parts.
  if (plan.epilogue.isTurned && !isTurned &&
      (plan.joinedDim || plan.sumDims.size() > 1))
    return planContraction(op, cpu, borders, /*isCompact=*/false,
                           /*isTurned=*/true);
  planner.chooseRowBlocks();
  if (plan.epilogue.isTurned)
    plan.squareTiles(cpu);
  return std::move(plan);
}

std::optional<ContractionPlan>
loopc::planContraction(linalg::LinalgOp op, CpuModel cpu,
                       const ZeroBorders &borders, TileKinds kinds) {
  bool isOne = kinds == TileKinds::One,
       inOrder = kinds == TileKinds::OneInOrder;
  auto plan = ::planContraction(op, cpu, borders, isOne, /*isTurned=*/false);
  if (!inOrder || !plan || !plan->keepsOrder())
    return plan;
  auto one = ::planContraction(op, cpu, borders, /*isCompact=*/true,
                               /*isTurned=*/false);
  // An operation of its own may have functions of other vectors, or of none.
  if (one && plan->epilogue.op)
    one->epilogue = findEpilogue(op, *one, cpu);
  // One that stores rows transposed wants tiles that end with them.
  bool isSame = one && one->keepsOrder() && !one->epilogue.isTurned &&
                one->epilogue.op == plan->epilogue.op;
  return isSame ? std::move(one) : std::move(plan);
}
