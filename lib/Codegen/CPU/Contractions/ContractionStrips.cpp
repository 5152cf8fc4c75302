//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Strips: what the tiles of some columns read as vectors, brought together (and
// transposed where the model has it the other way round) within the product,
// where the run tells how many rows read it.

#include "ContractionEmitter.h"
#include "loopc/Dialect/Nest/IR/Parallel.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace loopc;

void ContractionEmitter::makeStripPlace() {
  bool isWidened = !plan.stripValues.empty();
  Type element = isWidened ? plan.stripValues.front().getType()
                           : getElementTypeOrSelf(plan.strip->get());
  // Made once for all iterations of the loops around.
  Operation *place = op;
  for (Operation *parent = op->getParentOp();
       parent && !isa<FunctionOpInterface>(parent);
       parent = parent->getParentOp())
    if (isa<LoopLikeOpInterface>(parent))
      place = parent;
  // Columns of the rest have a place of their own: iterations of a loop are
  // given memory of their own only where no other loop uses it.
  auto make = [&](int64_t vectors) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(place);
    auto type = MemRefType::get({plan.stripRows, vectors * lanes}, element);
    auto made = memref::AllocOp::create(b, type);
    // The tiles of each columns read what they have brought together.
    made->setAttr(kPrivateAttrName, b.getUnitAttr());
    b.setInsertionPointAfter(place);
    memref::DeallocOp::create(b, made);
    return made.getResult();
  };
  const RowsPlan &rows = plan.versions.back();
  stripPlace = make(rows.tile.vectors);
  if (rows.rest == ColumnRest::Masked || rows.rest == ColumnRest::NarrowTiles)
    restPlace = make(rows.restVectors);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(op);
  if (isWidened)
    return;
  auto isAtLeast = [&](Value value, int64_t least) {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::sge, value,
                                 index(least));
  };
  isStripCopied = isAtLeast(trips(*rowDim), CpuModel::kRowsOfStrip);
  if (plan.isStripTransposed)
    return;
  AffineExpr d0 = b.getAffineDimExpr(0);
  int64_t bytes = *vectorBitsOf(element) / 8;
  Value size = arith::MulIOp::create(b, extent(plan.sumDims[0]),
                                     apply(d0 * bytes, extent(laneDim)));
  isStripCopied = arith::AndIOp::create(b, isStripCopied,
                                        isAtLeast(size, CpuModel::kFirstCache));
}

void ContractionEmitter::emitTransposedStrip() {
  OpBuilder::InsertionGuard guard(b);
  unsigned sumDim = plan.sumDims[0];
  Value begin = sumBegin(), end = sumEnd(), column = at[*columnDim];
  AffineExpr d0, d1;
  bindDims(b.getContext(), d0, d1);
  AffineMap map = op.getMatchingIndexingMap(plan.strip);
  auto type = VectorType::get(lanes, getElementTypeOrSelf(plan.strip->get()));
  Value zero = arith::ConstantOp::create(b, b.getZeroAttr(type));
  Value last = apply(d0 - 1, extent(*columnDim));
  int64_t width = cast<MemRefType>(stripPlace.getType()).getDimSize(1);
  auto columns = scf::ForOp::create(b, index(0), index(width), index(lanes));
  keepRolled(columns);
  b.setInsertionPoint(columns.getBody()->getTerminator());
  Value within = columns.getInductionVar();
  auto sums = scf::ForOp::create(b, begin, end, index(lanes));
  keepRolled(sums);
  b.setInsertionPoint(sums.getBody()->getTerminator());
  Value k = sums.getInductionVar();
  Value mask = maskOf(apply(d0 - d1, {end, k}));
  SmallVector<Value> rows;
  for (int64_t i : llvm::seq(lanes)) {
    // Columns that are not there are the last one again.
    Value here =
        arith::MinSIOp::create(b, apply(d0 + d1 + i, {column, within}), last);
    SmallVector<Value> from;
    for (AffineExpr expr : map.getResults()) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      from.push_back(!dim                              ? index(0)
                     : dim.getPosition() == sumDim     ? k
                     : dim.getPosition() == *columnDim ? here
                                                       : at[dim.getPosition()]);
    }
    rows.push_back(vector::MaskedLoadOp::create(b, type, plan.strip->get(),
                                                from, mask, zero));
  }
  for (auto [i, row] : llvm::enumerate(transposeVectors(b, rows)))
    vector::StoreOp::create(
        b, row, stripPlace,
        ValueRange{apply(d0 - d1 + int64_t(i), {k, begin}), within});
  strip = stripPlace;
}

Value ContractionEmitter::stripRow(int64_t number) {
  AffineExpr d0, d1;
  bindDims(b.getContext(), d0, d1);
  AffineExpr row = d0 - d1;
  SmallVector<Value> from{at[plan.sumDims[0]], sumBegin()};
  for (unsigned dim : llvm::drop_begin(plan.sumDims)) {
    row = row * plan.extents[dim] + b.getAffineDimExpr(from.size());
    from.push_back(at[dim]);
  }
  int64_t numbers = std::max<int64_t>(1, plan.stripValues.size());
  return apply(row * numbers + number, from);
}

void ContractionEmitter::emitWidenedStrip(const Tile &tile) {
  emitWidenedRows(tile, 0);
  strip = stripPlace;
}

void ContractionEmitter::emitWidenedRows(const Tile &tile, unsigned next) {
  if (next < plan.sumDims.size()) {
    unsigned dim = plan.sumDims[next];
    Value from = next == 0 ? sumBegin() : index(0);
    Value to = next == 0 ? sumEnd() : extent(dim);
    return loopOver(dim, from, to, 1, [&] { emitWidenedRows(tile, next + 1); });
  }
  ContractionBody body(*this, tile, tile.masks);
  for (int64_t number : llvm::seq<int64_t>(plan.stripValues.size())) {
    Value row = stripRow(number);
    for (int64_t j : llvm::seq(tile.columns))
      vector::StoreOp::create(b, body.widenedElements(j, number), stripPlace,
                              ValueRange{row, index(j * tile.lanes)});
  }
}

void ContractionEmitter::emitStrip(const Tile &tile) {
  // Single vectors read few columns, or few of many.
  bool isSingle =
      version->rest == ColumnRest::SingleVectors && !tile.masks.empty();
  if (!version->usesStrip || isRestOfRows || isSingle)
    return;
  if (plan.isStripTransposed)
    return emitTransposedStrip();
  if (!plan.stripValues.empty())
    return emitWidenedStrip(tile);
  Value from = plan.strip->get();
  AffineMap map = op.getMatchingIndexingMap(plan.strip);
  unsigned sumDim = plan.sumDims[0];
  AffineExpr d0, d1;
  bindDims(b.getContext(), d0, d1);
  Value begin = sumBegin(), end = sumEnd();
  Type element = getElementTypeOrSelf(from);
  auto type = MemRefType::get(
      {ShapedType::kDynamic, ShapedType::kDynamic}, element,
      StridedLayoutAttr::get(b.getContext(), ShapedType::kDynamic,
                             {ShapedType::kDynamic, 1}));
  auto branch = scf::IfOp::create(b, type, isStripCopied, /*withElse=*/true);
  strip = branch.getResult(0);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  ContractionBody rows(*this, tile, tile.masks);
  loopOver(sumDim, begin, end, 1, [&] {
    Value row = apply(d0 - d1, {at[sumDim], begin});
    Value copied = std::exchange(strip, Value());
    for (int64_t j : llvm::seq(tile.columns))
      vector::StoreOp::create(b, rows.load(*plan.strip, 0, j, 0), stripPlace,
                              ValueRange{row, index(j * tile.lanes)});
    strip = copied;
  });
  scf::YieldOp::create(b,
                       memref::CastOp::create(b, type, stripPlace).getResult());
  b.setInsertionPointToStart(branch.elseBlock());
  SmallVector<OpFoldResult> offsets, sizes;
  for (AffineExpr expr : map.getResults()) {
    sizes.push_back(b.getIndexAttr(1));
    if (isa<AffineConstantExpr>(expr)) {
      offsets.push_back(b.getIndexAttr(0));
      continue;
    }
    unsigned dim = cast<AffineDimExpr>(expr).getPosition();
    offsets.push_back(dim == sumDim ? begin : at[dim]);
    if (dim == sumDim)
      sizes.back() = apply(d0 - d1, {end, begin});
    else if (dim == *columnDim)
      sizes.back() = apply(d0 - d1, {extent(dim), at[dim]});
  }
  SmallVector<OpFoldResult> ones(offsets.size(), b.getIndexAttr(1));
  auto part = memref::SubViewOp::inferRankReducedResultType(
      {ShapedType::kDynamic, ShapedType::kDynamic},
      cast<MemRefType>(from.getType()), offsets, sizes, ones);
  Value view = memref::SubViewOp::create(b, cast<MemRefType>(part), from,
                                         offsets, sizes, ones);
  scf::YieldOp::create(b, memref::CastOp::create(b, type, view).getResult());
}
