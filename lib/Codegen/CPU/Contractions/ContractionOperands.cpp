//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What is known of the operands of a contraction: whether vectors hold their
// elements, how far a loop steps, which loop shares what is read as vectors.

#include "ContractionPlan.h"
#include "Rows/Rows.h"
#include "Rows/VectorElements.h"

using namespace mlir;
using namespace loopc;
using utils::IteratorType;

std::optional<unsigned> loopc::vectorBitsOf(Type type) {
  if (!type.isIntOrFloat())
    return std::nullopt;
  unsigned bits = type.getIntOrFloatBitWidth();
  if (bits != 8 && bits != 16 && bits != 32 && bits != 64)
    return std::nullopt;
  if (isa<FloatType>(type) && bits == 8)
    return std::nullopt;
  return bits;
}

std::optional<int64_t> loopc::stepAlong(AffineExpr expr, unsigned dim,
                                        unsigned numDims) {
  if (!expr.isFunctionOfDim(dim))
    return 0;
  AffineExpr d = getAffineDimExpr(dim, expr.getContext());
  AffineExpr step =
      simplifyAffineExpr(expr.replace(d, d + 1) - expr, numDims, 0);
  auto constant = dyn_cast<AffineConstantExpr>(step);
  if (!constant)
    return std::nullopt;
  return constant.getValue();
}

std::optional<unsigned> loopc::findSharingRows(linalg::LinalgOp op,
                                               unsigned laneDim,
                                               unsigned without) {
  std::optional<unsigned> best;
  SmallVector<int64_t> extents = knownExtents(op);
  // Of those with enough for some tiles the last, whose rows are neighbours. An
  // open extent, a batch, is often one: known rows behind it make whole tiles,
  // and many before it do.
  auto isBetter = [&](unsigned dim) {
    int64_t most = best ? extents[*best] : ShapedType::kDynamic;
    if (ShapedType::isDynamic(extents[dim]))
      return ShapedType::isDynamic(most) || most < kManyRowsOfTiles;
    return !best || extents[dim] >= (ShapedType::isDynamic(most)
                                         ? kTileRowsOfMany
                                         : std::min(most, kManyRowsOfTiles));
  };
  auto types = op.getIteratorTypesArray();
  for (unsigned dim : llvm::seq(op.getNumLoops())) {
    if (dim == without || types[dim] != IteratorType::parallel ||
        extents[dim] == 1)
      continue;
    // A vector that several rows share is loaded once for them.
    bool shares = llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *in) {
      AffineMap map = op.getMatchingIndexingMap(in);
      return map.isFunctionOfDim(laneDim) && !map.isFunctionOfDim(dim);
    });
    if (shares && isBetter(dim))
      best = dim;
  }
  return best;
}

bool loopc::computesOfRowsAndSum(linalg::LinalgOp op, unsigned columns) {
  auto types = op.getIteratorTypesArray();
  // What values of the body vary along.
  struct Axes {
    bool rows = false, sum = false, columns = false;
  };
  llvm::DenseMap<Value, Axes> known;
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    Axes &axes = known[op.getMatchingBlockArgument(input)];
    for (unsigned dim : llvm::seq(op.getNumLoops()))
      if (map.isFunctionOfDim(dim))
        (dim == columns                          ? axes.columns
         : types[dim] == IteratorType::reduction ? axes.sum
                                                 : axes.rows) = true;
  }
  auto isOfBoth = [](const Axes &axes) {
    return axes.rows && axes.sum && !axes.columns;
  };
  for (Operation &inner : op.getBlock()->without_terminator()) {
    Axes all;
    bool isRead = false;
    for (Value operand : inner.getOperands()) {
      Axes axes = known.lookup(operand);
      isRead |= isOfBoth(axes) || axes.columns;
      all.rows |= axes.rows;
      all.sum |= axes.sum;
      all.columns |= axes.columns;
    }
    if (!isRead && isOfBoth(all))
      return true;
    for (Value result : inner.getResults())
      known[result] = all;
  }
  return false;
}
