//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The loops over tiles of a contraction.

#include "ContractionEmitter.h"
#include "Rows/VectorElements.h"
#include "loopc/Dialect/Nest/IR/Parallel.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <numeric>

using namespace mlir;
using namespace loopc;

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

Value ContractionEmitter::apply(AffineExpr expr, ValueRange dims) {
  return applyTo(b, expr, dims);
}

void loopc::keepRolled(scf::ForOp loop, bool keepScalar) {
  MLIRContext *context = loop.getContext();
  auto yes = BoolAttr::get(context, true);
  auto unroll = LLVM::LoopUnrollAttr::get(context, yes, {}, {}, {}, {}, {}, {});
  LLVM::LoopVectorizeAttr vectorize;
  if (keepScalar)
    vectorize =
        LLVM::LoopVectorizeAttr::get(context, yes, {}, {}, {}, {}, {}, {});
  loop->setAttr("llvm.loop_annotation",
                LLVM::LoopAnnotationAttr::get(context, {}, vectorize, {},
                                              unroll, {}, {}, {}, {}, {}, {},
                                              {}, {}, {}, {}, {}));
}

void ContractionEmitter::loopOver(unsigned dim, Value from, Value to,
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

SmallVector<Value> ContractionEmitter::sumOver(unsigned dim, Value from,
                                               Value to, int64_t step,
                                               ValueRange sums, SumBody body) {
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

void ContractionEmitter::inSteps(
    unsigned dim, int64_t most,
    llvm::function_ref<void(int64_t, ArrayRef<Value>)> body) {
  Value size = trips(dim), whole = wholeSteps(dim, most);
  bool isBlock = dim == rowDim && rowsBegin;
  Value from = isBlock ? rowsBegin : index(0), to = isBlock ? rowsEnd : whole;
  bool hasMain = !(dim == rowDim && isRestOfRows), hasRest = !isBlock;
  bool repeatsLast = dim == rowDim && version->repeatsLastRow;
  if (repeatsLast) {
    whole = index(0);
    hasMain = false;
  }
  int64_t count = dim == rowDim ? plan.rows() : plan.extents[dim];
  if (!repeatsLast && !ShapedType::isDynamic(count)) {
    if (hasMain)
      loopOver(dim, from, to, most, [&] { body(most, {}); });
    if (hasRest)
      loopOver(dim, whole, size, most, [&] { body(count % most, {}); });
    return;
  }
  if (hasMain)
    loopOver(dim, from, to, most, [&] { body(most, {}); });
  if (!hasRest || most == 1)
    return;
  // What is beyond the end is the last one again, read and written alike.
  int64_t half = repeatsLast     ? most
                 : dim == rowDim ? plan.restRows(*version)
                                 : llvm::divideCeil(most, 2);
  AffineExpr d0 = b.getAffineDimExpr(0), d1 = b.getAffineDimExpr(1);
  if (dim == rowDim && version->lessRows) {
    auto exactly = [&](int64_t rows, Value end) {
      loopOver(dim, whole, end, rows, [&] { body(rows, {}); });
      whole = end;
      half = rows - 1;
    };
    exactly(half, wholeRest(whole, size, half));
    // One row alone is done as two: its sums would wait for each other.
    if (half > 2)
      exactly(half, apply(d0 + (d1 - d0).floorDiv(half) * half, {whole, size}));
  }
  loopOver(dim, whole, size, half, [&] {
    Value last = apply(d0 - 1, size);
    SmallVector<Value> places{at[dim]};
    for (int64_t k : llvm::seq<int64_t>(1, half))
      places.push_back(arith::MinSIOp::create(b, apply(d0 + k, at[dim]), last));
    body(half, places);
  });
}

/// Where the tile of `rows` rows ends that is behind the last whole tile, which
/// ends at `whole`, if tiles of one row less leave a row behind it.
Value ContractionEmitter::wholeRest(Value whole, Value size, int64_t rows) {
  AffineExpr d0 = b.getAffineDimExpr(0), d1 = b.getAffineDimExpr(1);
  Value rest = apply(d1 - d0, {whole, size});
  Value isEnough =
      arith::CmpIOp::create(b, arith::CmpIPredicate::sge, rest, index(rows));
  Value leavesOne = arith::CmpIOp::create(
      b, arith::CmpIPredicate::eq, apply(d0 % (rows - 1), {rest}), index(1));
  Value has = arith::AndIOp::create(b, isEnough, leavesOne);
  return arith::SelectOp::create(b, has, apply(d0 + rows, {whole}), whole);
}

Value ContractionEmitter::wholeSteps(unsigned dim, int64_t most) {
  AffineExpr d0 = b.getAffineDimExpr(0);
  return apply(d0.floorDiv(most) * most, {trips(dim)});
}

Value ContractionEmitter::trips(unsigned dim) {
  if (dim != rowDim || !plan.joinedDim)
    return extent(dim);
  return b.createOrFold<arith::MulIOp>(extent(*plan.joinedDim), extent(dim));
}

void ContractionEmitter::begin() {
  b.setInsertionPoint(op);
  llvm::append_range(extents, createExtents(b, op));
  at.assign(extents.size(), index(0));
  if (plan.dot)
    dotPanels = joinLastAxes(b, plan.dot->vectors->get());
}

void ContractionEmitter::emit() {
  begin();
  if (plan.start.writer)
    plan.start.writer->erase();
  if (!plan.many) {
    if (plan.strip)
      makeStripPlace();
    if (plan.epilogue.op)
      takeEpilogue();
    return emitNest();
  }
  ContractionEmitter many(rewriter, op, *plan.many);
  many.begin();
  many.makeStripPlace();
  auto branch = scf::IfOp::create(b, TypeRange(), many.isStripCopied,
                                  /*withElse=*/true);
  many.b.setInsertionPoint(branch.thenBlock()->getTerminator());
  many.emitNest();
  b.setInsertionPoint(branch.elseBlock()->getTerminator());
  emitNest();
}

void ContractionEmitter::emitNest(unsigned next) {
  if (next == plan.outerDims.size() || plan.areColumnsOutside)
    return emitVersions();
  unsigned dim = plan.outerDims[next];
  loopOver(dim, index(0), extent(dim), 1, [&] { emitNest(next + 1); });
}

void ContractionEmitter::emitVersions(unsigned next) {
  if (next == plan.fewerRows.size())
    return emitVersion(plan.versions[next]);
  Value few =
      arith::CmpIOp::create(b, arith::CmpIPredicate::slt, trips(*rowDim),
                            index(plan.fewerRows[next]));
  auto branch = scf::IfOp::create(b, TypeRange(), few, /*withElse=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(branch.thenBlock()->getTerminator());
  emitVersion(plan.versions[next]);
  b.setInsertionPoint(branch.elseBlock()->getTerminator());
  emitVersions(next + 1);
}

void ContractionEmitter::emitVersion(const RowsPlan &rows) {
  version = &rows;
  if (!rows.sumBlock)
    return emitRowBlocks();
  OpBuilder::InsertionGuard guard(b);
  // Rows of a single tile are read to their ends by it, whose sums need not be
  // stored in between.
  if (rows.readsMatrixRows && rows.rest == ColumnRest::AllTiles) {
    Value isOneTile =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ule, extent(*columnDim),
                              index(rows.tile.vectors * lanes));
    auto branch =
        scf::IfOp::create(b, TypeRange(), isOneTile, /*withElse=*/true);
    b.setInsertionPoint(branch.thenBlock()->getTerminator());
    emitColumns();
    b.setInsertionPoint(branch.elseBlock()->getTerminator());
  }
  emitSumBlocks();
}

void ContractionEmitter::emitSumBlocks() {
  unsigned dim = plan.sumDims[0];
  int64_t block = version->sumBlock;
  AffineExpr d0 = b.getAffineDimExpr(0);
  Value size = extent(dim), from = index(0);
  auto isFirst = [&] {
    return plan.start.writer
               ? arith::CmpIOp::create(b, arith::CmpIPredicate::eq, at[dim],
                                       index(0))
                     .getResult()
               : Value();
  };
  if (version->readsMatrixRows) {
    from = apply(d0.floorDiv(block) * block, {size});
    loopOver(dim, index(0), from, block, [&] {
      wholeBlock = block;
      isFirstBlock = isFirst();
      emitColumns();
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
    emitRowBlocks();
    blockBegin = blockEnd = isFirstBlock = Value();
  });
}

void ContractionEmitter::emitRowBlocks() {
  int64_t block = version->rowBlock;
  if (!block)
    return emitColumns();
  unsigned dim = *rowDim;
  AffineExpr d0 = b.getAffineDimExpr(0);
  Value whole = wholeSteps(dim, version->tile.rows);
  loopOver(dim, index(0), whole, block, [&] {
    rowsBegin = at[dim];
    rowsEnd = arith::MinSIOp::create(b, apply(d0 + block, {rowsBegin}), whole);
    emitColumns();
    rowsBegin = rowsEnd = Value();
  });
  int64_t rows = plan.rows();
  if (!ShapedType::isDynamic(rows) && rows % version->tile.rows == 0)
    return;
  isRestOfRows = true;
  emitColumns();
  isRestOfRows = false;
}

void ContractionEmitter::emitColumns() {
  auto [rows, vectors] = version->tile;
  Tile tile{rows, vectors, lanes};
  if (plan.isAlongSum) {
    if (!columnDim)
      return emitRows(tile);
    inSteps(*columnDim, vectors, [&](int64_t columns, ArrayRef<Value> places) {
      tile.columns = columns;
      tile.columnAt.assign(places.begin(), places.end());
      emitRows(tile);
    });
    return;
  }
  unsigned dim = *columnDim;
  int64_t width = vectors * lanes;
  AffineExpr d0 = b.getAffineDimExpr(0);
  Value size = extent(dim), whole = index(0);
  bool areAllMasked =
      version->rest == ColumnRest::AllTiles ||
      (version->rest == ColumnRest::SingleVectors && isRestOfRows);
  if (!areAllMasked) {
    whole = apply(d0.floorDiv(width) * width, {size});
    loopOver(dim, index(0), whole, width, [&] { emitColumn(tile, width); });
  }
  if (version->rest == ColumnRest::None)
    return;
  if (version->rest == ColumnRest::Halves)
    return emitHalves(whole);
  std::optional<int64_t> rest;
  if (version->rest == ColumnRest::Masked)
    rest = plan.extents[dim] % width;
  tile.columns = areAllMasked ? vectors : version->restVectors;
  if (restPlace)
    std::swap(stripPlace, restPlace);
  loopOver(dim, whole, size, tile.columns * lanes, [&] {
    for (int64_t j : llvm::seq(tile.columns)) {
      bool isWhole = rest && *rest >= (j + 1) * lanes;
      Value count =
          apply(b.getAffineDimExpr(1) - d0 - j * lanes, {at[dim], size});
      tile.counts.push_back(count);
      tile.masks.push_back(isWhole ? Value() : maskOf(count));
    }
    emitColumn(tile, std::gcd(width, tile.columns * lanes));
  });
  if (restPlace)
    std::swap(stripPlace, restPlace);
}

/// The rows of one tile's columns, which begin at a multiple of `unit`.
void ContractionEmitter::emitColumn(const Tile &tile, int64_t unit) {
  columnUnit = unit;
  // Not by an affine operation: with that it would be composed again.
  columnNumber = b.createOrFold<arith::DivUIOp>(at[*columnDim], index(unit));
  emitStrip(tile);
  emitRows(tile);
  strip = columnNumber = Value();
}

Value ContractionEmitter::maskOf(Value count) {
  auto type = VectorType::get(lanes, b.getI1Type());
  count = arith::MinSIOp::create(b, count, index(lanes));
  return vector::CreateMaskOp::create(b, type, count);
}

void ContractionEmitter::emitHalves(Value from) {
  unsigned dim = *columnDim;
  AffineExpr d0, d1;
  bindDims(b.getContext(), d0, d1);
  Value size = extent(dim);
  for (int64_t width = lanes; width; width /= 2) {
    Value to = apply(d0 + (d1 - d0).floorDiv(width) * width, {from, size});
    loopOver(dim, from, to, width,
             [&] { emitRows({version->tile.rows, 1, width}); });
    from = to;
  }
}

void ContractionEmitter::emitRows(Tile tile, unsigned outer) {
  if (plan.areColumnsOutside && outer < plan.outerDims.size()) {
    unsigned dim = plan.outerDims[outer];
    return loopOver(dim, index(0), extent(dim), 1,
                    [&] { emitRows(tile, outer + 1); });
  }
  if (!rowDim)
    return emitTile(tile);
  inSteps(*rowDim, version->tile.rows,
          [&](int64_t rows, ArrayRef<Value> places) {
            tile.rows = rows;
            placeRows(tile, places);
            emitTile(tile);
          });
}

void ContractionEmitter::placeRows(Tile &tile, ArrayRef<Value> places) {
  tile.rowAt.assign(places.begin(), places.end());
  tile.joinedAt.clear();
  if (!plan.joinedDim)
    return;
  bool areNeighbours = places.empty();
  if (areNeighbours)
    tile.rowAt.push_back(at[*rowDim]);
  Value size = extent(*rowDim);
  for (Value &row : tile.rowAt) {
    tile.joinedAt.push_back(arith::DivUIOp::create(b, row, size));
    row = arith::RemUIOp::create(b, row, size);
  }
  // Behind the last of an outer iteration comes the first of the next one.
  while (areNeighbours && int64_t(tile.rowAt.size()) < tile.rows) {
    Value row = tile.rowAt.back(), joined = tile.joinedAt.back();
    Value next = arith::AddIOp::create(b, row, index(1));
    Value isBehind =
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, next, size);
    tile.rowAt.push_back(arith::SelectOp::create(b, isBehind, index(0), next));
    tile.joinedAt.push_back(arith::SelectOp::create(
        b, isBehind, arith::AddIOp::create(b, joined, index(1)), joined));
  }
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

void ContractionEmitter::emitTile(const Tile &tile) {
  OpOperand &init = *op.getDpsInitOperand(0);
  ContractionBody borders(*this, tile, tile.masks);
  Type element = getElementTypeOrSelf(init.get());
  auto type = VectorType::get(tile.lanes, element);
  SmallVector<Value> sums;
  for (int64_t i : llvm::seq(tile.rows))
    for (int64_t j : llvm::seq(tile.columns))
      sums.push_back(plan.isAlongSum
                         ? arith::ConstantOp::create(b, b.getZeroAttr(type))
                         : borders.start(init, i, j));
  arePaired = canPair(tile);
  if (arePaired)
    shufflePairs(sums, /*apart=*/true);
  findSumBounds(tile);
  sums = emitSum(tile, sums, 0);
  if (std::exchange(arePaired, false))
    shufflePairs(sums, /*apart=*/false);
  // Every row is read before the first is written: two may be the same one
  // (inSteps()), which must not be added to twice.
  for (int64_t i : llvm::seq(tile.rows))
    for (int64_t j : llvm::seq(plan.isAlongSum ? tile.columns : 0)) {
      Value &sum = sums[i * tile.columns + j];
      auto flags = arith::FastMathFlags::none;
      if (isa<FloatType>(element))
        flags = cast<arith::AddFOp>(reorderableAddition(op)).getFastmath();
      sum = vector::ReductionOp::create(b, vector::CombiningKind::ADD, sum,
                                        flags);
      sum = added(borders.start(init, i, j), sum);
    }
  if (plan.epilogue.op)
    return storeThroughEpilogue(borders, tile, sums);
  auto storeBy = [&](ContractionBody &body) {
    for (int64_t i : llvm::seq(tile.rows))
      for (int64_t j : llvm::seq(tile.columns))
        body.store(init, sums[i * tile.columns + j], i, j);
  };
  if (!version->storesWhole || tile.masks.empty())
    return storeBy(borders);
  Value isWhole = arith::CmpIOp::create(b, arith::CmpIPredicate::sge,
                                        tile.counts.back(), index(lanes));
  auto branch = scf::IfOp::create(b, TypeRange(), isWhole, /*withElse=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(branch.thenBlock()->getTerminator());
  ContractionBody whole(*this, tile, {});
  storeBy(whole);
  b.setInsertionPoint(branch.elseBlock()->getTerminator());
  storeBy(borders);
}

std::pair<Value, Value> ContractionEmitter::placesAlong(const Tile &tile,
                                                        unsigned dim) {
  if (dim != rowDim && dim != plan.joinedDim)
    return {at[dim], at[dim]};
  if (tile.rowAt.empty())
    return {at[dim], add(at[dim], index(tile.rows - 1))};
  if (!plan.joinedDim)
    return {tile.rowAt.front(), tile.rowAt.back()};
  Value first = tile.joinedAt.front(), last = tile.joinedAt.back();
  if (dim == plan.joinedDim)
    return {first, last};
  // Rows of several outer iterations are anywhere in these.
  Value isOne = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, first, last);
  Value end = sub(extent(dim), index(1));
  return {
      arith::SelectOp::create(b, isOne, tile.rowAt.front(), index(0)),
      arith::SelectOp::create(b, isOne, tile.rowAt.back(), end),
  };
}

void ContractionEmitter::findSumBounds(const Tile &tile) {
  sumBounds.clear();
  if (blockBegin)
    return;
  for (const PaddedAxis &axis : plan.padded) {
    auto [first, last] = placesAlong(tile, axis.position);
    // The first element of the window of `position` that is at `place` or
    // behind it.
    auto elementAt = [&](Value place, Value position) {
      Value steps = sub(place, mul(position, index(axis.stride)));
      steps = b.createOrFold<arith::MaxSIOp>(
          add(steps, index(axis.dilation - 1 - axis.first)), index(0));
      return b.createOrFold<arith::DivUIOp>(steps, index(axis.dilation));
    };
    Value begin = toValue(axis.begin);
    Value end = add(begin, toValue(axis.size));
    Value from = elementAt(begin, last);
    // What the loop does at most can be read off its bounds.
    if (axis.dilation > 1)
      from = arith::MaxSIOp::create(b, from, index(0));
    Value to = b.createOrFold<arith::MinSIOp>(elementAt(end, first),
                                              extent(axis.element));
    sumBounds[axis.element] = {from, to};
  }
}

Value ContractionEmitter::added(Value x, Value y) {
  Operation *combiner = reorderableAddition(op);
  if (auto add = dyn_cast<arith::AddFOp>(combiner))
    return arith::AddFOp::create(b, x, y, add.getFastmath());
  return arith::AddIOp::create(b, x, y);
}

SmallVector<Value> ContractionEmitter::emitSum(const Tile &tile,
                                               ValueRange sums, unsigned next) {
  if (plan.isAlongSum && next + 1 == plan.sumDims.size())
    return emitLanes(tile, sums);
  if (next == plan.sumDims.size())
    return emitPoint(tile, sums, tile.masks, 1);
  unsigned dim = plan.sumDims[next];
  if (plan.dot && next + 1 == plan.sumDims.size())
    return emitDots(tile, sums);
  // The last of several loops over the sum is written out if it is short.
  bool isShort = plan.isSumWrittenOut && next + 1 == plan.sumDims.size();
  if (wholeBlock || isShort) {
    SmallVector<Value> results(sums);
    Value begin = at[dim];
    for (int64_t k : llvm::seq(wholeBlock ? wholeBlock : plan.extents[dim])) {
      at[dim] = apply(b.getAffineDimExpr(0) + k, {begin});
      results = emitSum(tile, results, next + 1);
    }
    at[dim] = begin;
    return results;
  }
  int64_t chains = reorderableAddition(op) ? plan.countChains(sums.size()) : 1;
  if (chains > 1 && !blockBegin && next + 1 == plan.sumDims.size())
    return emitChains(tile, sums, chains);
  Value from = next == 0 ? sumBegin() : index(0);
  Value to = next == 0 ? sumEnd() : extent(dim);
  if (auto bounds = sumBounds.find(dim); bounds != sumBounds.end())
    std::tie(from, to) = bounds->second;
  return sumOver(dim, from, to, 1, sums, [&](ValueRange inner) {
    return emitSum(tile, inner, next + 1);
  });
}

void ContractionEmitter::addParts(SmallVectorImpl<Value> &sums, size_t count) {
  for (size_t half = sums.size() / 2; half >= count; half /= 2) {
    for (size_t k : llvm::seq(half))
      sums[k] = added(sums[k], sums[k + half]);
    sums.resize(half);
  }
}

SmallVector<Value> ContractionEmitter::emitChains(const Tile &tile,
                                                  ValueRange given,
                                                  int64_t chains) {
  unsigned dim = plan.sumDims.back();
  size_t count = given.size();
  SmallVector<Value> sums(given);
  sums.resize(count * chains,
              arith::ConstantOp::create(b, b.getZeroAttr(sums[0].getType())));
  Value whole = wholeSteps(dim, chains);
  sums = sumOver(dim, index(0), whole, chains, sums, [&](ValueRange inner) {
    SmallVector<Value> results;
    Value begin = at[dim];
    for (int64_t k : llvm::seq(chains)) {
      at[dim] = apply(b.getAffineDimExpr(0) + k, {begin});
      llvm::append_range(results, emitPoint(tile, inner.slice(k * count, count),
                                            tile.masks, 1));
    }
    at[dim] = begin;
    return results;
  });
  addParts(sums, count);
  return sumOver(dim, whole, extent(dim), 1, sums, [&](ValueRange inner) {
    return emitPoint(tile, inner, tile.masks, 1);
  });
}

SmallVector<Value> ContractionEmitter::emitPoint(const Tile &tile,
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

SmallVector<Value> ContractionEmitter::emitLanes(const Tile &tile,
                                                 ValueRange given) {
  unsigned dim = laneDim;
  SmallVector<Value> sums(given);
  size_t count = sums.size();
  // Enough sums at a time to hide how long an addition takes.
  int64_t unrolled = plan.countUnrolled(count);
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
  addParts(sums, count);
  if (unrolled > 1)
    sums = sumOver(dim, from, whole(lanes), lanes, sums, [&](ValueRange inner) {
      return emitPoint(tile, inner, {}, 1);
    });
  from = whole(lanes);
  if (plan.canMask)
    return sumOver(dim, from, size, lanes, sums, [&](ValueRange inner) {
      return emitMaskedPoint(tile, inner);
    });
  return sumOver(dim, from, size, 1, sums, [&](ValueRange inner) {
    return emitSinglePoint(tile, inner);
  });
}

SmallVector<Value> ContractionEmitter::emitMaskedPoint(const Tile &tile,
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

SmallVector<Value> ContractionEmitter::emitSinglePoint(const Tile &tile,
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
