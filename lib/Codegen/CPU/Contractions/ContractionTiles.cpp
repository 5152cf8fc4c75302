//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The tiles of a contraction: rows and vectors of one, and the sums that it has
// under way.

#include "ContractionPlan.h"

using namespace mlir;
using namespace loopc;

/// Sums of so few products, transposed, are mostly stores: in squares they take
/// 0.56 (1 to 3 products) to 0.9 (27) of the time, and 1.1 for 64 and more.
/// Rows of open length begin anywhere in a cache line: as long as else for 3
/// products and up to 1.07 of the time for 27, but half of it where channels
/// conflict. One filter a channel of 49 took 1.2 times as long.
static constexpr int64_t kFewProducts = 32;
/// Lines of so many bytes' distance are in the same set of the first cache. A
/// tile that stores halves of more of them than the set has ways loses each
/// before its other half comes: 36 products take 0.55 of the time in squares.
static constexpr int64_t kConflictBytes = 4096, kFewProductsOfConflicts = 64;

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

TileShape loopc::chooseTile(CpuModel cpu, int64_t rows, int64_t columns,
                            int64_t lanes, bool isWide) {
  int64_t most = isWide ? cpu.wideTileRows() : cpu.tileRows();
  bool isMany = ShapedType::isDynamic(rows) || rows >= 8 * most;
  TileShape shape{most, 1};
  // One row less leaves a fifth of the registers empty and no rest.
  if (isWide && !ShapedType::isDynamic(rows) && rows % most != 0 &&
      rows % (most - 1) == 0)
    shape.rows = most - 1;
  else if (!isMany)
    shape.rows = llvm::divideCeil(
        rows, llvm::divideCeil(std::max<int64_t>(rows, 1), most));
  shape.rows = std::max<int64_t>(shape.rows, 1);
  shape.vectors = std::min<int64_t>(
      CpuModel::kSumsUnderWay,
      llvm::bit_floor(uint64_t(cpu.sumRegisters() / shape.rows)));
  if (!ShapedType::isDynamic(columns))
    shape.vectors = std::clamp<int64_t>(
        llvm::PowerOf2Ceil(llvm::divideCeil(columns, lanes)), 1, shape.vectors);
  return shape;
}

/// True if neighbours along the columns are stored, transposed, in the same set
/// of the cache.
static bool conflictsInCache(const ContractionPlan &plan) {
  linalg::GenericOp op = plan.epilogue.op;
  OpOperand &init = *op.getDpsInitOperand(0);
  auto type = cast<MemRefType>(init.get().getType());
  AffineMap to = plan.epilogue.maps[init.getOperandNumber()];
  std::optional<unsigned> axis =
      to.getResultPosition(getAffineDimExpr(plan.laneDim, op.getContext()));
  SmallVector<int64_t> strides;
  int64_t offset;
  if (!axis || failed(type.getStridesAndOffset(strides, offset)) ||
      ShapedType::isDynamic(strides[*axis]))
    return false;
  return strides[*axis] * type.getElementTypeBitWidth() / 8 % kConflictBytes ==
         0;
}

/// True if sums are so short that to store them, transposed, is most of the
/// work.
static bool isMostlyStores(const ContractionPlan &plan) {
  int64_t products = plan.products();
  if (ShapedType::isDynamic(products))
    return false;
  if (plan.isDynamic(*plan.rowDim))
    return products <= (plan.isFilter ? kFewProducts : kFewProductsOfConflicts);
  return plan.extents[*plan.rowDim] % plan.lanes == 0 &&
         products <=
             (conflictsInCache(plan) ? kFewProductsOfConflicts : kFewProducts);
}

void ContractionPlan::squareTiles(CpuModel cpu) {
  if (lanes > cpu.sumRegisters() || !isMostlyStores(*this))
    return;
  for (RowsPlan &rows : versions) {
    if (rows.tile.rows < kTileRowsOfMany)
      continue;
    if (rows.rowBlock)
      rows.rowBlock = lanes * CpuModel::kRowTiles;
    rows.tile.rows = lanes;
    rows.tile.vectors = std::min<int64_t>(
        rows.tile.vectors,
        llvm::bit_floor(uint64_t(cpu.sumRegisters() / lanes)));
  }
}

//===----------------------------------------------------------------------===//
// Numbers of rows and sums
//===----------------------------------------------------------------------===//

int64_t ContractionPlan::restRows(const RowsPlan &version) const {
  auto [rows, vectors] = version.tile;
  int64_t half = llvm::divideCeil(rows, 2);
  if (isAlongSum || !joinedDim)
    return half;
  return std::min<int64_t>(half,
                           llvm::divideCeil(CpuModel::kSumsUnderWay, vectors));
}

/// True if rows share so little that it stays in the first cache, and more than
/// the columns of `tile`.
static bool keepsShared(linalg::LinalgOp op, const ContractionPlan &plan,
                        TileShape tile) {
  int64_t columns = plan.extents[*plan.columnDim], products = plan.products();
  if (plan.sumDims.size() != 1 || ShapedType::isDynamic(columns) ||
      ShapedType::isDynamic(products) || columns <= tile.vectors * plan.lanes)
    return false;
  return llvm::all_of(op.getDpsInputOperands(), [&](OpOperand *input) {
    int64_t bits = vectorBitsOf(getElementTypeOrSelf(input->get())).value_or(8);
    return plan.isOfRows(op.getMatchingIndexingMap(input)) ||
           products * columns * bits / 8 <= CpuModel::kSmallOperand;
  });
}

int64_t ContractionPlan::rowTiles(linalg::LinalgOp op, TileShape tile) const {
  // Rows that are stored transposed lie one behind the other.
  if (epilogue.isTurned)
    return CpuModel::kRowTiles;
  // As many as a row of an image has: its neighbours stay in the first cache.
  if (joinedDim)
    return CpuModel::kRowTilesOfStored;
  int64_t sum = products();
  if (ShapedType::isDynamic(sum) || sum > CpuModel::kStoredSum)
    return CpuModel::kRowTiles;
  // What is copied for a block, or widened, serves several tiles.
  return !strip && keepsShared(op, *this, tile) ? 1
                                                : CpuModel::kRowTilesOfStored;
}

int64_t ContractionPlan::countChains(int64_t sums) const {
  unsigned dim = sumDims.back();
  bool isOneTile = rows() == 1 && columnDim && !isDynamic(*columnDim) &&
                   extents[*columnDim] <= sums * lanes;
  if (isAlongSum || dot || isSumWrittenOut || !isOneTile || isDynamic(dim) ||
      sums >= CpuModel::kChains)
    return 1;
  int64_t count = llvm::bit_floor(uint64_t(CpuModel::kChains / sums));
  return extents[dim] >= 4 * count ? count : 1;
}

bool ContractionPlan::keepsOrder() const {
  if (isAlongSum || many)
    return false;
  for (int64_t sums = 1; sums < CpuModel::kChains; ++sums)
    if (countChains(sums) > 1)
      return false;
  return true;
}

int64_t ContractionPlan::countUnrolled(int64_t sums) const {
  int64_t count = std::max<int64_t>(
      1, llvm::bit_floor(uint64_t(CpuModel::kSumsUnderWay / sums)));
  if (!isDynamic(laneDim))
    while (count > 1 && count * lanes > extents[laneDim])
      count /= 2;
  return count;
}

//===----------------------------------------------------------------------===//
// The order of loops
//===----------------------------------------------------------------------===//

/// How many bytes `operand` has; none where only the run knows.
static std::optional<int64_t> bytesOf(OpOperand &operand) {
  auto type = cast<MemRefType>(operand.get().getType());
  if (!type.hasStaticShape())
    return std::nullopt;
  return type.getNumElements() * *vectorBitsOf(type.getElementType()) / 8;
}

bool ContractionPlan::wantsColumnsOutside(linalg::LinalgOp op) const {
  bool hasOther = sumDims.size() > 1 || !outerDims.empty();
  if (isAlongSum || !rowDim || !hasOther || !stripValues.empty())
    return false;
  auto isOfOuter = [&](OpOperand *operand) {
    return llvm::any_of(outerDims, [&](unsigned dim) {
      return op.getMatchingIndexingMap(operand).isFunctionOfDim(dim);
    });
  };
  // A strip is brought together before the loops that are then inside.
  if (strip && isOfOuter(strip))
    return false;
  // What columns do not share is read once.
  int64_t most = CpuModel::kCachedWeights, ofRows = 0;
  SmallVector<int64_t> ofColumns;
  for (OpOperand *operand : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(operand);
    int64_t bytes = bytesOf(*operand).value_or(0);
    if (!map.isFunctionOfDim(laneDim))
      ofRows = std::max(ofRows, bytes ? bytes : most);
    else if (!isOfOuter(operand))
      ofColumns.push_back(bytes);
  }
  int64_t least = ofRows ? std::min(most, ofRows) : most;
  return llvm::any_of(ofColumns, [&](int64_t bytes) { return bytes > least; });
}

bool ContractionPlan::isOneTileOfLarge(linalg::LinalgOp op, int64_t rows,
                                       TileShape tile) const {
  auto isOnce = [&](unsigned dim) { return extents[dim] == 1; };
  if (isAlongSum || rows != 1 || !llvm::all_of(outerDims, isOnce) ||
      isDynamic(*columnDim) || tile.vectors < 2 * CpuModel::kChains ||
      extents[*columnDim] > tile.vectors * lanes)
    return false;
  int64_t count = products();
  unsigned bits = *vectorBitsOf(getElementTypeOrSelf(op.getDpsInits()[0]));
  return !ShapedType::isDynamic(count) &&
         count * extents[*columnDim] * bits / 8 > CpuModel::kCachedWeights;
}
