//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Which rows of a product stay those of an image, and are not made rows of one
// matrix.

#include "ContractionPlan.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace loopc;

/// True if rows along `dim` do not follow one another in memory: those of a
/// part of an image. To make one of them they would be copied.
static bool hasGapsBehind(linalg::GenericOp op, int64_t dim) {
  constexpr int64_t kImageAxes = 4;
  AffineExpr row = getAffineDimExpr(dim, op.getContext());
  return llvm::any_of(op->getOpOperands(), [&](OpOperand &operand) {
    auto slice = operand.get().getDefiningOp<tensor::ExtractSliceOp>();
    AffineMap map = op.getMatchingIndexingMap(&operand);
    if (!slice || map.getNumResults() < kImageAxes ||
        slice.getSourceType().getRank() != map.getNumResults())
      return false;
    for (auto [axis, expr] : llvm::enumerate(map.getResults()))
      if (expr == row)
        return ShapedType::isDynamic(slice.getType().getDimSize(axis)) ||
               slice.getType().getDimSize(axis) !=
                   slice.getSourceType().getDimSize(axis);
    return false;
  });
}

/// True if the result of `op`, or what one other operation computes of it,
/// element by element, becomes the inside of a padded image whose rows go along
/// `dim`, and these are tiles that keep enough sums under way, the last one of
/// a row, too, unless the row is long: what computes it stores it there.
static bool isPaddedBehind(linalg::GenericOp op, int64_t dim, CpuModel cpu) {
  Value result = op.getResult(0);
  auto next = result.hasOneUse()
                  ? dyn_cast<linalg::GenericOp>(*result.user_begin())
                  : linalg::GenericOp();
  if (next && next.getNumReductionLoops() == 0 && next->getNumResults() == 1 &&
      llvm::all_of(next.getIndexingMapsArray(),
                   [](AffineMap map) { return map.isProjectedPermutation(); }))
    result = next.getResult(0);
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  AffineExpr row = getAffineDimExpr(dim, op.getContext());
  std::optional<unsigned> axis = map.getResultPosition(row);
  auto insert = result.hasOneUse()
                    ? dyn_cast<tensor::InsertSliceOp>(*result.user_begin())
                    : tensor::InsertSliceOp();
  if (!axis || !insert || insert.getSource() != result ||
      insert.getSourceType().getRank() != insert.getType().getRank() ||
      insert.getSourceType().getRank() != map.getNumResults())
    return false;
  int64_t rows = insert.getSourceType().getDimSize(*axis);
  if (ShapedType::isDynamic(rows) || rows == insert.getType().getDimSize(*axis))
    return false;
  TileShape tile = chooseTile(cpu, rows, ShapedType::kDynamic, /*lanes=*/1);
  int64_t rest = rows % tile.rows;
  return tile.rows >= kTileRowsOfMany &&
         (rest == 0 || rows >= kLongRow * tile.rows ||
          rest * tile.vectors >= CpuModel::kSumsUnderWay);
}

bool loopc::isRowOfImage(linalg::GenericOp op, int64_t dim, CpuModel cpu) {
  return hasGapsBehind(op, dim) || isPaddedBehind(op, dim, cpu);
}
