//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Support/Contractions.h"

using namespace mlir;
using namespace loopc;

bool loopc::isContraction(linalg::LinalgOp op) {
  return op.getNumReductionLoops() > 0 && op.getNumDpsInputs() > 1;
}

bool loopc::isPooling(linalg::LinalgOp op) {
  return isContraction(op) &&
         llvm::count_if(op.getDpsInputOperands(), [&](OpOperand *input) {
           return !op.getMatchingBlockArgument(input).use_empty();
         }) <= 1;
}

bool loopc::isMatrixProduct(linalg::LinalgOp op) {
  if (!isContraction(op) || op.getNumDpsInits() != 1)
    return false;
  SmallVector<unsigned> parallel, sums;
  op.getParallelDims(parallel);
  op.getReductionDims(sums);
  unsigned numAlongSum = 0;
  bool isShared = false;
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    auto isRead = [&](unsigned dim) { return map.isFunctionOfDim(dim); };
    if (llvm::none_of(sums, isRead))
      continue;
    ++numAlongSum;
    isShared |= !llvm::all_of(parallel, isRead);
  }
  return numAlongSum >= 2 && isShared;
}

SummedProduct loopc::findSummedProduct(linalg::GenericOp op) {
  Value result = op.getBody()->getTerminator()->getOperand(0);
  auto sum = result.getDefiningOp<arith::AddFOp>();
  if (!sum || op.getNumDpsInits() != 1)
    return {};
  BlockArgument before = op.getRegionOutputArgs().front();
  if (!llvm::is_contained(sum->getOperands(), before))
    return {};
  Value other = sum.getLhs() == before ? sum.getRhs() : sum.getLhs();
  auto product = other.getDefiningOp<arith::MulFOp>();
  return product ? SummedProduct{sum, product} : SummedProduct{};
}

/// The argument of the body that `value` is, widened or not.
static BlockArgument argumentOf(Value value) {
  if (auto widen = value.getDefiningOp<arith::ExtFOp>())
    value = widen.getIn();
  return dyn_cast<BlockArgument>(value);
}

SummedProduct loopc::findProductOfInputs(linalg::GenericOp op) {
  SummedProduct found = findSummedProduct(op);
  if (!found || op.getNumDpsInputs() != 2)
    return {};
  BlockArgument before = op.getRegionOutputArgs().front();
  BlockArgument x = argumentOf(found.product.getLhs()),
                y = argumentOf(found.product.getRhs());
  bool ofInputs = x && y && x.getOwner() == op.getBody() &&
                  y.getOwner() == op.getBody() && x != y && x != before &&
                  y != before;
  return ofInputs ? found : SummedProduct{};
}
