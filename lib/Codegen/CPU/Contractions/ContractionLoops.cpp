//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The loops over tiles of a contraction, and the shapes of the tiles.

#include "ContractionVectorizer.h"
#include "loopc/Dialect/Nest/Analysis/Accesses.h"
#include "loopc/Dialect/Nest/Analysis/Views.h"
#include "loopc/Dialect/Nest/IR/Parallel.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <numeric>

using namespace mlir;
using namespace loopc;

/// Rows of a large matrix that one row is multiplied with at a time.
static constexpr int64_t kRowBlock = 8;
/// So many elements of a sum are written out, rather than a loop in others.
static constexpr int64_t kShortSum = 5;

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

Value ContractionVectorizer::apply(AffineExpr expr, ValueRange dims) {
  OpFoldResult result = affine::makeComposedFoldedAffineApply(
      b, b.getLoc(), AffineMap::get(dims.size(), 0, expr),
      getAsOpFoldResult(dims));
  return getValueOrCreateConstantIndexOp(b, b.getLoc(), result);
}

void loopc::keepRolled(scf::ForOp loop) {
  MLIRContext *context = loop.getContext();
  auto yes = BoolAttr::get(context, true);
  auto unroll = LLVM::LoopUnrollAttr::get(context, yes, {}, {}, {}, {}, {}, {});
  loop->setAttr("llvm.loop_annotation",
                LLVM::LoopAnnotationAttr::get(context, {}, {}, {}, unroll, {},
                                              {}, {}, {}, {}, {}, {}, {}, {},
                                              {}, {}));
}

void ContractionVectorizer::loopOver(unsigned dim, Value from, Value to,
                                     int64_t step,
                                     llvm::function_ref<void()> body) {
  std::optional<int64_t> first = getConstantIntValue(from);
  std::optional<int64_t> last = getConstantIntValue(to);
  if (first && last && *first >= *last)
    return;
  Value saved = at[dim];
  OpBuilder::InsertionGuard guard(b);
  if (first && last && *last - *first <= step) {
    at[dim] = from;
  } else {
    auto loop = scf::ForOp::create(b, from, to, index(step));
    keepRolled(loop);
    if (isParallelDim(op, dim))
      markParallel(loop);
    at[dim] = loop.getInductionVar();
    b.setInsertionPoint(loop.getBody()->getTerminator());
  }
  body();
  at[dim] = saved;
}

SmallVector<Value> ContractionVectorizer::sumOver(unsigned dim, Value from,
                                                  Value to, int64_t step,
                                                  ValueRange sums,
                                                  SumBody body) {
  std::optional<int64_t> first = getConstantIntValue(from);
  std::optional<int64_t> last = getConstantIntValue(to);
  if (first && last && *first >= *last)
    return SmallVector<Value>(sums);
  Value saved = at[dim];
  SmallVector<Value> results;
  if (first && last && *last - *first <= step) {
    at[dim] = from;
    results = body(sums);
  } else {
    auto loop = scf::ForOp::create(b, from, to, index(step), sums);
    keepRolled(loop);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    at[dim] = loop.getInductionVar();
    scf::YieldOp::create(b, body(loop.getRegionIterArgs()));
    results = loop.getResults();
  }
  at[dim] = saved;
  return results;
}

void ContractionVectorizer::inSteps(
    unsigned dim, int64_t most,
    llvm::function_ref<void(int64_t, ArrayRef<Value>)> body) {
  Value size = extent(dim), whole = wholeSteps(dim, most);
  bool isBlock = dim == rowDim && rowsBegin;
  Value from = isBlock ? rowsBegin : index(0), to = isBlock ? rowsEnd : whole;
  bool hasMain = !(dim == rowDim && isRestOfRows), hasRest = !isBlock;
  if (!isDynamic(dim)) {
    if (hasMain)
      loopOver(dim, from, to, most, [&] { body(most, {}); });
    if (hasRest)
      loopOver(dim, whole, size, most, [&] { body(statics[dim] % most, {}); });
    return;
  }
  if (hasMain)
    loopOver(dim, from, to, most, [&] { body(most, {}); });
  if (!hasRest || most == 1)
    return;
  // What is beyond the end is the last one again, read and written alike.
  int64_t half = llvm::divideCeil(most, 2);
  loopOver(dim, whole, size, half, [&] {
    AffineExpr d0 = b.getAffineDimExpr(0);
    Value last = apply(d0 - 1, size);
    SmallVector<Value> places{at[dim]};
    for (int64_t k : llvm::seq<int64_t>(1, half))
      places.push_back(arith::MinSIOp::create(b, apply(d0 + k, at[dim]), last));
    body(half, places);
  });
}

Value ContractionVectorizer::wholeSteps(unsigned dim, int64_t most) {
  AffineExpr d0 = b.getAffineDimExpr(0);
  return apply(d0.floorDiv(most) * most, {extent(dim)});
}

/// True if nobody else may know `buffer` by another name: it is allocated here
/// and goes into no loop, branch or call.
static bool isPrivate(Value buffer) {
  return buffer.getDefiningOp<memref::AllocOp>() &&
         allUsersOfViews(buffer, [](Operation *user) {
           return isa<linalg::LinalgOp, func::ReturnOp, memref::CopyOp,
                      memref::DeallocOp, memref::DimOp>(user) ||
                  getAccess(user).buffer;
         });
}

/// True if `op`, or an operation in it, uses `buffer` or a view of it.
static bool usesView(Operation *op, Value buffer) {
  return op
      ->walk([&](Operation *nested) {
        return llvm::any_of(nested->getOperands(),
                            [&](Value used) {
                              return getViewRoot(used) == getViewRoot(buffer);
                            })
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// If `writer` copies, or broadcasts, one buffer to the whole of another: the
/// source, the target and where in the source an element of the target is.
static std::tuple<Value, Value, AffineMap> copied(Operation *writer) {
  if (auto copy = dyn_cast<memref::CopyOp>(writer)) {
    auto type = cast<MemRefType>(copy.getTarget().getType());
    return {copy.getSource(), copy.getTarget(),
            AffineMap::getMultiDimIdentityMap(type.getRank(),
                                              writer->getContext())};
  }
  auto op = dyn_cast<linalg::GenericOp>(writer);
  if (!op || !op.hasPureBufferSemantics() || op.getNumDpsInputs() != 1 ||
      op.getNumDpsInits() != 1 || op.getNumReductionLoops() != 0 ||
      op.getBody()->getTerminator()->getOperand(0) !=
          op.getBody()->getArgument(0) ||
      !op.getIndexingMapsArray()[1].isIdentity())
    return {};
  return {op.getInputs()[0], op.getOutputs()[0], op.getIndexingMapsArray()[0]};
}

/// True if vectors along the last axis of the result are vectors in `type` by
/// `map`, or one element of it.
static bool followsVectors(MemRefType type, AffineMap map) {
  unsigned last = map.getNumDims() - 1;
  AffineExpr dim = getAffineDimExpr(last, map.getContext());
  for (auto [k, expr] : llvm::enumerate(map.getResults()))
    if (expr.isFunctionOfDim(last) &&
        (k + 1 != map.getNumResults() || expr != dim))
      return false;
  SmallVector<int64_t> strides;
  int64_t offset;
  return !map.isFunctionOfDim(last) ||
         (succeeded(type.getStridesAndOffset(strides, offset)) &&
          strides.back() == 1);
}

void ContractionVectorizer::takeFirst() {
  Value buffer = op.getDpsInits()[0];
  Type element = getElementTypeOrSelf(buffer);
  // What the panels are made of may stand in between, and what is freed then:
  // it has nothing to do with a buffer that is known by no other name.
  bool isOwn = isPrivate(buffer);
  auto isElsewhere = [&](Operation *other) {
    return isMemoryEffectFree(other) || isa<memref::AllocOp>(other) ||
           (isOwn && other->getNumRegions() <= 1 &&
            isa<linalg::LinalgOp, scf::ForOp, memref::DeallocOp>(other) &&
            !usesView(other, buffer));
  };
  Operation *before = op->getPrevNode();
  bool isNext = true;
  while (before && isElsewhere(before)) {
    isNext &= isMemoryEffectFree(before) || isa<memref::AllocOp>(before);
    before = before->getPrevNode();
  }
  if (!before)
    return;
  if (auto fill = dyn_cast<linalg::FillOp>(before)) {
    if (fill.getOutputs()[0] != buffer ||
        fill.getInputs()[0].getType() != element)
      return;
    filled = fill.getInputs()[0];
    fill.erase();
    return;
  }
  if (!isNext)
    return;
  auto [source, target, map] = copied(before);
  // The whole of it, seen with fewer axes.
  if (auto view = buffer.getDefiningOp<memref::CollapseShapeOp>();
      view && source && view.getSrc() == target) {
    map = joinedMap(map, source, view.getReassociationIndices());
    target = map ? buffer : Value();
  }
  // The source is read after the first tiles of the result have been written.
  Value base = source ? getViewRoot(source) : Value();
  if (target != buffer || getElementTypeOrSelf(source) != element ||
      !isPrivate(getViewRoot(buffer)) || base == getViewRoot(buffer))
    return;
  AffineMap out = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (!alongSum() && (map.getNumDims() == 0 ||
                      !followsVectors(cast<MemRefType>(source.getType()), map)))
    return;
  first = source;
  firstMap = map.compose(out);
  before->erase();
}

void ContractionVectorizer::begin() {
  b.setInsertionPoint(op);
  for (Range range : op.createLoopRanges(b, b.getLoc()))
    extents.push_back(range.size);
  at.assign(extents.size(), index(0));
  if (!dot)
    return;
  auto type = cast<MemRefType>(dot->vectors->get().getType());
  SmallVector<ReassociationIndices> groups;
  for (int64_t axis : llvm::seq(type.getRank() - 1))
    groups.push_back({axis});
  groups.back().push_back(type.getRank() - 1);
  dotPanels = memref::CollapseShapeOp::create(b, dot->vectors->get(), groups);
}

void ContractionVectorizer::emit(ContractionVectorizer *many) {
  begin();
  if (!many) {
    takeFirst();
    if (rowDim && isDynamic(*rowDim) && !isRare)
      prepareStrip(shapeFor(ShapedType::kDynamic));
    takeEpilogue();
    areColumnsOutside = wantsColumnsOutside();
    return areColumnsOutside ? emitPlans() : emitOuter(0);
  }
  many->begin();
  many->takeFirst();
  std::tie(filled, first, firstMap) =
      std::tie(many->filled, many->first, many->firstMap);
  many->prepareStrip(many->shapeFor(ShapedType::kDynamic));
  auto branch = scf::IfOp::create(b, TypeRange(), many->isStripCopied,
                                  /*withElse=*/true);
  many->b.setInsertionPoint(branch.thenBlock()->getTerminator());
  many->emitOuter(0);
  b.setInsertionPoint(branch.elseBlock()->getTerminator());
  emitOuter(0);
}

bool ContractionVectorizer::wantsColumnsOutside() {
  if (alongSum() || !rowDim || sumDims.size() < 2)
    return false;
  for (OpOperand *operand : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(operand);
    auto type = cast<MemRefType>(operand->get().getType());
    if (!map.isFunctionOfDim(laneDim) || !type.hasStaticShape() ||
        llvm::any_of(outerDims,
                     [&](unsigned dim) { return map.isFunctionOfDim(dim); }))
      continue;
    int64_t bytes = *vectorBitsOf(type.getElementType()) / 8;
    if (type.getNumElements() * bytes > CpuModel::kCachedWeights)
      return true;
  }
  return false;
}

int64_t ContractionVectorizer::blockFor(int64_t rows) {
  if (alongSum() || sumDims.size() != 1)
    return 0;
  int64_t sum = statics[sumDims[0]], columns = statics[*columnDim];
  int64_t block = CpuModel::sumBlock(sum, rows, dot ? dot->sum.size : 1);
  if (block != 0 || ShapedType::isDynamic(rows) || rows > 2)
    return block;
  // Rows of a matrix that does not fit into the cache are read to their ends.
  for (OpOperand *operand : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(operand);
    if (!map.isFunctionOfDim(laneDim) || !map.isFunctionOfDim(sumDims[0]))
      continue;
    if (isPanelAccess(map, laneDim))
      return 0;
    int64_t bytes = *vectorBitsOf(getElementTypeOrSelf(operand->get())) / 8;
    if (ShapedType::isDynamic(sum) || ShapedType::isDynamic(columns) ||
        sum * columns * bytes > CpuModel::kSecondCache)
      return kRowBlock;
  }
  return 0;
}

void ContractionVectorizer::emitOuter(unsigned next) {
  if (next == outerDims.size())
    return emitPlans();
  unsigned dim = outerDims[next];
  loopOver(dim, index(0), extent(dim), 1, [&] { emitOuter(next + 1); });
}

void ContractionVectorizer::emitBlocks(int64_t rows) {
  TileShape shape = shapeFor(rows);
  int64_t block = blockFor(rows);
  if (block == 0)
    return emitRowBlocks(shape);
  if (block != kRowBlock)
    return emitSumBlocks(shape, block);
  shape.vectors = std::min<int64_t>(shape.vectors, 4);
  isRowBlocked = true;
  OpBuilder::InsertionGuard guard(b);
  // Rows of a single tile are read to their ends by it, whose sums need not be
  // stored in between.
  if (isDynamic(*columnDim) && canMask()) {
    Value isOneTile =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ule, extent(*columnDim),
                              index(shape.vectors * lanes));
    auto branch =
        scf::IfOp::create(b, TypeRange(), isOneTile, /*withElse=*/true);
    b.setInsertionPoint(branch.thenBlock()->getTerminator());
    emitColumns(shape);
    b.setInsertionPoint(branch.elseBlock()->getTerminator());
  }
  emitSumBlocks(shape, block);
  isRowBlocked = false;
}

void ContractionVectorizer::emitSumBlocks(TileShape shape, int64_t block) {
  unsigned dim = sumDims[0];
  AffineExpr d0 = b.getAffineDimExpr(0);
  Value size = extent(dim), from = index(0);
  auto isFirst = [&] {
    return filled || first ? arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                                   at[dim], index(0))
                                 .getResult()
                           : Value();
  };
  if (isRowBlocked) {
    from = apply(d0.floorDiv(block) * block, {size});
    loopOver(dim, index(0), from, block, [&] {
      wholeBlock = block;
      isFirstBlock = isFirst();
      emitColumns(shape);
      wholeBlock = 0;
      isFirstBlock = Value();
    });
  }
  // What the sums begin with is stored even if there is nothing to sum up.
  Value to = arith::MaxSIOp::create(b, size, index(1));
  loopOver(dim, from, to, block, [&] {
    blockBegin = at[dim];
    blockEnd = arith::MinSIOp::create(b, apply(d0 + block, {blockBegin}), size);
    isFirstBlock = isFirst();
    emitRowBlocks(shape);
    blockBegin = blockEnd = isFirstBlock = Value();
  });
}

void ContractionVectorizer::emitRowBlocks(TileShape shape) {
  int64_t block = shape.rows * CpuModel::kRowTiles;
  // Positions of an image have blocks already, its rows.
  bool hasOther =
      sumDims.size() != 1 && (outerDims.size() > 1 || areColumnsOutside);
  // What was transposed is there for all rows.
  if (alongSum() || !rowDim || hasOther || shape.rows < 4 ||
      isStripTransposed || (!isDynamic(*rowDim) && statics[*rowDim] <= block))
    return emitColumns(shape);
  unsigned dim = *rowDim;
  AffineExpr d0 = b.getAffineDimExpr(0);
  Value whole = wholeSteps(dim, shape.rows);
  loopOver(dim, index(0), whole, block, [&] {
    rowsBegin = at[dim];
    rowsEnd = arith::MinSIOp::create(b, apply(d0 + block, {rowsBegin}), whole);
    emitColumns(shape);
    rowsBegin = rowsEnd = Value();
  });
  if (!isDynamic(dim) && statics[dim] % shape.rows == 0)
    return;
  isRestOfRows = true;
  emitColumns(shape);
  isRestOfRows = false;
}

TileShape ContractionVectorizer::shapeFor(int64_t rows) {
  if (!alongSum())
    return chooseTile(cpu, rows, statics[*columnDim], lanes);
  rows = ShapedType::isDynamic(rows) ? 4 : std::min<int64_t>(rows, 4);
  int64_t columns =
      !columnDim ? 1 : CpuModel::kSumsUnderWay / (rows > 2 ? 2 : 1);
  if (columnDim && !isDynamic(*columnDim))
    columns = std::min(columns, statics[*columnDim]);
  return {rows, columns};
}

void ContractionVectorizer::emitPlans() {
  if (!rowDim || !isDynamic(*rowDim) || isStripTransposed)
    return emitBlocks(rows());
  auto emitFew = [&] {
    isFewRows = true;
    emitBlocks(1);
    isFewRows = false;
  };
  // What hardly runs is rather short.
  if (isRare)
    return emitFew();
  // For one row tiles are wide; and for two where what they share is not in
  // panels, which is better read twice in its own order.
  bool isPacked = llvm::any_of(op.getIndexingMapsArray(), [&](AffineMap map) {
    return isPanelAccess(map, laneDim);
  });
  Value few = arith::CmpIOp::create(b, arith::CmpIPredicate::slt,
                                    extent(*rowDim), index(isPacked ? 2 : 3));
  auto branch = scf::IfOp::create(b, TypeRange(), few, /*withElse=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(branch.thenBlock()->getTerminator());
  emitFew();
  b.setInsertionPoint(branch.elseBlock()->getTerminator());
  emitBlocks(ShapedType::kDynamic);
}

void ContractionVectorizer::emitColumns(TileShape shape) {
  Tile tile{shape.rows, shape.vectors, lanes};
  if (alongSum()) {
    if (!columnDim)
      return emitRows(shape, tile);
    inSteps(*columnDim, shape.vectors,
            [&](int64_t columns, ArrayRef<Value> places) {
              tile.columns = columns;
              tile.columnAt.assign(places.begin(), places.end());
              emitRows(shape, tile);
            });
    return;
  }
  unsigned dim = *columnDim;
  int64_t width = shape.vectors * lanes;
  AffineExpr d0 = b.getAffineDimExpr(0);
  Value size = extent(dim);
  Value whole = apply(d0.floorDiv(width) * width, {size});
  std::optional<int64_t> rest;
  if (!isDynamic(dim))
    rest = statics[dim] % width;
  // Of an unknown number narrow tiles are all masked: that costs less than the
  // code for two kinds. Behind wide ones the rest is done by narrow ones.
  bool hasWide = shape.vectors >= 4 && !isRowBlocked;
  bool masksAll = !rest && canMask() && !hasWide;
  if (masksAll)
    whole = index(0);
  else
    loopOver(dim, index(0), whole, width,
             [&] { emitColumn(shape, tile, width); });
  if (rest == 0)
    return;
  if (!canMask())
    return emitNarrowColumns(shape, whole);
  if (rest)
    tile.columns = llvm::divideCeil(*rest, lanes);
  else if (hasWide)
    tile.columns = 2;
  loopOver(dim, whole, size, tile.columns * lanes, [&] {
    for (int64_t j : llvm::seq(tile.columns)) {
      bool isWhole = rest && *rest >= (j + 1) * lanes;
      Value count =
          apply(b.getAffineDimExpr(1) - d0 - j * lanes, {at[dim], size});
      tile.counts.push_back(count);
      tile.masks.push_back(isWhole ? Value() : maskOf(count));
    }
    emitColumn(shape, tile, std::gcd(width, tile.columns * lanes));
  });
}

/// The rows of one tile's columns, which begin at a multiple of `unit`.
void ContractionVectorizer::emitColumn(TileShape shape, const Tile &tile,
                                       int64_t unit) {
  columnUnit = unit;
  // Not by an affine operation: with that it would be composed again.
  columnNumber = b.createOrFold<arith::DivUIOp>(at[*columnDim], index(unit));
  emitStrip(tile);
  emitRows(shape, tile);
  strip = columnNumber = Value();
}

Value ContractionVectorizer::maskOf(Value count) {
  auto type = VectorType::get(lanes, b.getI1Type());
  count = arith::MinSIOp::create(b, count, index(lanes));
  return vector::CreateMaskOp::create(b, type, count);
}

void ContractionVectorizer::emitNarrowColumns(TileShape shape, Value from) {
  unsigned dim = *columnDim;
  AffineExpr d0, d1;
  bindDims(b.getContext(), d0, d1);
  Value size = extent(dim);
  for (int64_t width = lanes; width; width /= 2) {
    Value to = apply(d0 + (d1 - d0).floorDiv(width) * width, {from, size});
    loopOver(dim, from, to, width,
             [&] { emitRows(shape, {shape.rows, 1, width}); });
    from = to;
  }
}

void ContractionVectorizer::emitRows(TileShape shape, Tile tile,
                                     unsigned outer) {
  if (areColumnsOutside && outer < outerDims.size()) {
    unsigned dim = outerDims[outer];
    return loopOver(dim, index(0), extent(dim), 1,
                    [&] { emitRows(shape, tile, outer + 1); });
  }
  if (!rowDim)
    return emitTile(tile);
  inSteps(*rowDim, shape.rows, [&](int64_t rows, ArrayRef<Value> places) {
    tile.rows = rows;
    tile.rowAt.assign(places.begin(), places.end());
    emitTile(tile);
  });
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

void ContractionVectorizer::emitTile(const Tile &tile) {
  OpOperand &init = *op.getDpsInitOperand(0);
  ContractionBody borders(*this, tile, tile.masks);
  Type element = getElementTypeOrSelf(init.get());
  auto type = VectorType::get(tile.lanes, element);
  SmallVector<Value> sums;
  for (int64_t i : llvm::seq(tile.rows))
    for (int64_t j : llvm::seq(tile.columns))
      sums.push_back(alongSum()
                         ? arith::ConstantOp::create(b, b.getZeroAttr(type))
                         : borders.start(init, i, j));
  sums = emitSum(tile, sums, 0);
  // Every row is read before the first is written: two may be the same one
  // (inSteps()), which must not be added to twice.
  for (int64_t i : llvm::seq(tile.rows))
    for (int64_t j : llvm::seq(alongSum() ? tile.columns : 0)) {
      Value &sum = sums[i * tile.columns + j];
      auto flags = arith::FastMathFlags::none;
      if (isa<FloatType>(element))
        flags = cast<arith::AddFOp>(reorderableAddition(op)).getFastmath();
      sum = vector::ReductionOp::create(b, vector::CombiningKind::ADD, sum,
                                        flags);
      sum = added(borders.start(init, i, j), sum);
    }
  if (epilogue)
    return storeThroughEpilogue(borders, tile, sums);
  for (int64_t i : llvm::seq(tile.rows))
    for (int64_t j : llvm::seq(tile.columns))
      borders.store(init, sums[i * tile.columns + j], i, j);
}

Value ContractionVectorizer::added(Value x, Value y) {
  Operation *combiner = reorderableAddition(op);
  if (auto add = dyn_cast<arith::AddFOp>(combiner))
    return arith::AddFOp::create(b, x, y, add.getFastmath());
  return arith::AddIOp::create(b, x, y);
}

SmallVector<Value> ContractionVectorizer::emitSum(const Tile &tile,
                                                  ValueRange sums,
                                                  unsigned next) {
  if (alongSum() && next + 1 == sumDims.size())
    return emitLanes(tile, sums);
  if (next == sumDims.size())
    return emitPoint(tile, sums, tile.masks, 1);
  unsigned dim = sumDims[next];
  if (dot && next + 1 == sumDims.size())
    return emitDots(tile, sums);
  // The last of several loops over the sum is written out if it is short.
  bool isShort = !isDynamic(dim) && sumDims.size() > 1 &&
                 next + 1 == sumDims.size() && statics[dim] > 1 &&
                 statics[dim] <= kShortSum;
  if (wholeBlock || isShort) {
    SmallVector<Value> results(sums);
    Value begin = at[dim];
    for (int64_t k : llvm::seq(wholeBlock ? wholeBlock : statics[dim])) {
      at[dim] = apply(b.getAffineDimExpr(0) + k, {begin});
      results = emitSum(tile, results, next + 1);
    }
    at[dim] = begin;
    return results;
  }
  Value from = blockBegin ? blockBegin : index(0);
  Value to = blockEnd ? blockEnd : extent(dim);
  return sumOver(dim, from, to, 1, sums, [&](ValueRange inner) {
    return emitSum(tile, inner, next + 1);
  });
}

SmallVector<Value> ContractionVectorizer::emitPoint(const Tile &tile,
                                                    ValueRange sums,
                                                    ArrayRef<Value> masks,
                                                    int64_t count) {
  ContractionBody evaluator(*this, tile, masks);
  SmallVector<Value> results;
  for (int64_t k : llvm::seq(count))
    for (int64_t i : llvm::seq(tile.rows))
      for (int64_t j : llvm::seq(tile.columns))
        results.push_back(evaluator.next(sums[results.size()], i, j, k));
  return results;
}

SmallVector<Value> ContractionVectorizer::emitLanes(const Tile &tile,
                                                    ValueRange given) {
  unsigned dim = laneDim;
  SmallVector<Value> sums(given);
  size_t count = sums.size();
  // Enough sums at a time to hide how long an addition takes.
  int64_t unrolled =
      std::max<int64_t>(1, llvm::bit_floor(CpuModel::kSumsUnderWay / count));
  if (!isDynamic(dim))
    while (unrolled > 1 && unrolled * lanes > statics[dim])
      unrolled /= 2;
  Value zero = arith::ConstantOp::create(b, b.getZeroAttr(sums[0].getType()));
  sums.resize(count * unrolled, zero);
  AffineExpr d0 = b.getAffineDimExpr(0);
  Value size = extent(dim);
  auto whole = [&](int64_t step) {
    return apply(d0.floorDiv(step) * step, {size});
  };
  Value from = whole(unrolled * lanes);
  sums = sumOver(
      dim, index(0), from, unrolled * lanes, sums,
      [&](ValueRange inner) { return emitPoint(tile, inner, {}, unrolled); });
  for (size_t half = sums.size() / 2; half >= count; half /= 2) {
    for (size_t k : llvm::seq(half))
      sums[k] = added(sums[k], sums[k + half]);
    sums.resize(half);
  }
  if (unrolled > 1)
    sums = sumOver(dim, from, whole(lanes), lanes, sums, [&](ValueRange inner) {
      return emitPoint(tile, inner, {}, 1);
    });
  from = whole(lanes);
  if (canMask())
    return sumOver(dim, from, size, lanes, sums, [&](ValueRange inner) {
      return emitMaskedPoint(tile, inner);
    });
  return sumOver(dim, from, size, 1, sums, [&](ValueRange inner) {
    return emitSinglePoint(tile, inner);
  });
}

SmallVector<Value> ContractionVectorizer::emitMaskedPoint(const Tile &tile,
                                                          ValueRange sums) {
  AffineExpr d0, d1;
  bindDims(b.getContext(), d0, d1);
  Value mask = maskOf(apply(d1 - d0, {at[laneDim], extent(laneDim)}));
  SmallVector<Value> masks(tile.columns, mask);
  SmallVector<Value> results = emitPoint(tile, sums, masks, 1);
  for (auto [result, sum] : llvm::zip_equal(results, sums))
    result = arith::SelectOp::create(b, mask, result, sum);
  return results;
}

SmallVector<Value> ContractionVectorizer::emitSinglePoint(const Tile &tile,
                                                          ValueRange sums) {
  auto type =
      VectorType::get(1, cast<VectorType>(sums[0].getType()).getElementType());
  SmallVector<Value> firsts;
  for (Value sum : sums) {
    Value first = vector::ExtractOp::create(b, sum, int64_t(0));
    firsts.push_back(vector::BroadcastOp::create(b, type, first));
  }
  Tile single = tile;
  single.lanes = 1;
  firsts = emitPoint(single, firsts, {}, 1);
  SmallVector<Value> results;
  for (auto [first, sum] : llvm::zip_equal(firsts, sums)) {
    Value scalar = vector::ExtractOp::create(b, first, int64_t(0));
    results.push_back(vector::InsertOp::create(b, scalar, sum, int64_t(0)));
  }
  return results;
}

//===----------------------------------------------------------------------===//
// Shapes of tiles
//===----------------------------------------------------------------------===//

TileShape loopc::chooseTile(CpuModel cpu, int64_t rows, int64_t columns,
                            int64_t lanes) {
  int64_t most = cpu.tileRows();
  bool isMany = ShapedType::isDynamic(rows) || rows >= 8 * most;
  TileShape shape{most, 1};
  if (!isMany)
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

/// The dimension and the number of `dim floordiv number` or `dim mod number`.
static std::optional<PanelGroup> partOf(AffineExpr expr, AffineExprKind kind) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary || binary.getKind() != kind)
    return std::nullopt;
  auto dim = dyn_cast<AffineDimExpr>(binary.getLHS());
  auto size = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (!dim || !size || size.getValue() <= 0)
    return std::nullopt;
  return PanelGroup{dim.getPosition(), size.getValue()};
}

std::optional<PanelGroup> loopc::panelGroup(AffineMap map) {
  // Panels have a result within a group's, too.
  if (map.getNumResults() < 4)
    return std::nullopt;
  ArrayRef<AffineExpr> results = map.getResults();
  std::optional<PanelGroup> group = partOf(results.back(), AffineExprKind::Mod);
  if (!group || !partOf(results.drop_back().back(), AffineExprKind::Mod))
    return std::nullopt;
  AffineExpr d = getAffineDimExpr(group->dim, map.getContext());
  auto isPart = [&](AffineExpr expr) {
    return expr == d.floorDiv(group->size);
  };
  return llvm::count_if(results, isPart) == 1 ? group : std::nullopt;
}

int64_t loopc::panelWidth(AffineMap map, unsigned dim) {
  ArrayRef<AffineExpr> results = map.getResults();
  if (panelGroup(map))
    results = results.drop_back();
  if (results.size() < 2)
    return 0;
  auto within = partOf(results.back(), AffineExprKind::Mod);
  if (!within || within->dim != dim)
    return 0;
  AffineExpr d = getAffineDimExpr(dim, map.getContext());
  int64_t panels = 0;
  for (AffineExpr expr : results.drop_back()) {
    if (!expr.isFunctionOfDim(dim))
      continue;
    if (expr != d.floorDiv(within->size))
      return 0;
    ++panels;
  }
  return panels == 1 ? within->size : 0;
}
