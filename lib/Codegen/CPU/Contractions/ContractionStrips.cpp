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

#include "ContractionVectorizer.h"
#include "loopc/Dialect/Nest/IR/Parallel.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace loopc;

OpOperand *ContractionVectorizer::findShared() {
  OpOperand *found = nullptr;
  for (OpOperand *operand : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(operand);
    if (!map.isFunctionOfDim(laneDim) || !map.isFunctionOfDim(sumDims[0]))
      continue;
    if (found || !map.isProjectedPermutation(/*allowZeroInResults=*/true) ||
        map.isFunctionOfDim(*rowDim))
      return nullptr;
    found = operand;
  }
  return found;
}

void ContractionVectorizer::prepareStrip(TileShape shape) {
  if (alongSum() || sumDims.size() != 1 || shape.rows < 4)
    return;
  stripOperand = findShared();
  if (!stripOperand)
    return;
  auto type = cast<MemRefType>(stripOperand->get().getType());
  int64_t block = blockFor(ShapedType::kDynamic);
  // Made once for all iterations of the loops around.
  Operation *place = op;
  for (Operation *parent = op->getParentOp();
       parent && !isa<FunctionOpInterface>(parent);
       parent = parent->getParentOp())
    if (isa<LoopLikeOpInterface>(parent))
      place = parent;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(place);
  // Whole vectors are transposed.
  int64_t rows = llvm::alignTo(block ? block : statics[sumDims[0]], lanes);
  stripPlace = memref::AllocOp::create(
      b, MemRefType::get({rows, shape.vectors * lanes}, type.getElementType()));
  // The tiles of each columns read what they have brought together.
  stripPlace.getDefiningOp()->setAttr(kPrivateAttrName, b.getUnitAttr());
  b.setInsertionPointAfter(place);
  memref::DeallocOp::create(b, stripPlace);
  b.setInsertionPoint(op);
  auto isAtLeast = [&](Value value, int64_t least) {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::sge, value,
                                 index(least));
  };
  isStripCopied = isAtLeast(extent(*rowDim), CpuModel::kRowsOfStrip);
  if (isStripTransposed)
    return;
  AffineExpr d0 = b.getAffineDimExpr(0);
  int64_t bytes = *vectorBitsOf(type.getElementType()) / 8;
  Value size = arith::MulIOp::create(b, extent(sumDims[0]),
                                     apply(d0 * bytes, extent(laneDim)));
  isStripCopied = arith::AndIOp::create(b, isStripCopied,
                                        isAtLeast(size, CpuModel::kFirstCache));
}

void ContractionVectorizer::emitTransposedStrip() {
  OpBuilder::InsertionGuard guard(b);
  unsigned sumDim = sumDims[0];
  Value begin = sumBegin(), end = sumEnd(), column = at[*columnDim];
  AffineExpr d0, d1;
  bindDims(b.getContext(), d0, d1);
  AffineMap map = op.getMatchingIndexingMap(stripOperand);
  auto type = VectorType::get(lanes, getElementTypeOrSelf(stripOperand->get()));
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
    rows.push_back(vector::MaskedLoadOp::create(b, type, stripOperand->get(),
                                                from, mask, zero));
  }
  for (auto [i, row] : llvm::enumerate(transposeVectors(b, rows)))
    vector::StoreOp::create(
        b, row, stripPlace,
        ValueRange{apply(d0 - d1 + int64_t(i), {k, begin}), within});
  strip = stripPlace;
}

void ContractionVectorizer::emitStrip(const Tile &tile) {
  if (!stripOperand || isFewRows || isRestOfRows)
    return;
  if (isStripTransposed)
    return emitTransposedStrip();
  Value from = stripOperand->get();
  AffineMap map = op.getMatchingIndexingMap(stripOperand);
  unsigned sumDim = sumDims[0];
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
      vector::StoreOp::create(b, rows.load(*stripOperand, 0, j, 0), stripPlace,
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
