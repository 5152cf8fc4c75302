//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Tensor/Expansions.h"
#include "ConstantGenerics.h"
#include "loopc/Dialect/Nest/Analysis/Cost.h"
#include "loopc/Support/Contractions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace loopc;

/// Operations that are computed again for each tile of rows at most.
static constexpr int64_t kMaxRepeated = 8;

bool loopc::isConstantTensor(Value value) {
  Operation *op = value.getDefiningOp();
  while (isa_and_nonnull<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op))
    op = op->getOperand(0).getDefiningOp();
  return isa_and_nonnull<arith::ConstantOp>(op);
}

static int64_t bitsOf(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return type.getNumElements() * type.getElementTypeBitWidth();
}

/// True if each result of `map` is a loop of its own, 0, or the number of a
/// block along one.
static bool readsElements(AffineMap map) {
  llvm::SmallBitVector seen(map.getNumDims());
  for (AffineExpr expr : map.getResults()) {
    std::optional<BlockNumber> block = matchBlockNumber(expr);
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!block && !dim) {
      if (expr != getAffineConstantExpr(0, map.getContext()))
        return false;
      continue;
    }
    unsigned position = block ? block->dim : dim.getPosition();
    if (seen[position])
      return false;
    seen.set(position);
  }
  return true;
}

bool loopc::isExpansion(linalg::GenericOp op) {
  if (!canEvaluate(op) || op.getNumReductionLoops() > 0 ||
      !isa<FloatType>(getElementTypeOrSelf(op.getResult(0).getType())) ||
      !op.getBody()->getOps<linalg::IndexOp>().empty() ||
      op.getBody()->without_terminator().empty())
    return false;
  OpOperand *init = op.getDpsInitOperand(0);
  if (!op.getMatchingIndexingMap(init).isIdentity() ||
      !op.getMatchingBlockArgument(init).use_empty())
    return false;
  bool isWhole = false;
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    if (!isConstantTensor(input->get()) || !readsElements(map))
      return false;
    isWhole |= map.isPermutation();
  }
  return isWhole;
}

bool loopc::isNarrow(linalg::GenericOp expansion) {
  int64_t bits = 0;
  for (Value input : expansion.getDpsInputs())
    bits += bitsOf(input);
  return bits < bitsOf(expansion.getResult(0));
}

/// True if `expansion` may be computed again for each tile of rows.
static bool isLight(linalg::GenericOp expansion) {
  auto operations = expansion.getBody()->without_terminator();
  return llvm::all_of(operations, isCheap) &&
         static_cast<int64_t>(llvm::range_size(operations)) <= kMaxRepeated;
}

bool loopc::isWeightsOfProduct(OpOperand &operand) {
  auto product = dyn_cast<linalg::GenericOp>(operand.getOwner());
  if (!product || !product.hasPureTensorSemantics() ||
      !isContraction(product) || product.getNumDpsInits() != 1 ||
      !product.isDpsInput(&operand))
    return false;
  // Windows of images read each weight for each position.
  if (product.getNumReductionLoops() > 1 &&
      !llvm::all_of(product.getIndexingMapsArray(), [](AffineMap read) {
        return read.isProjectedPermutation(/*allowZeroInResults=*/true);
      }))
    return false;
  OpOperand *init = product.getDpsInitOperand(0);
  AffineMap map = product.getMatchingIndexingMap(&operand);
  AffineMap out = product.getMatchingIndexingMap(init);
  if (!isa<FloatType>(getElementTypeOrSelf(init->get())) ||
      !map.isProjectedPermutation() || !out.isProjectedPermutation() ||
      out.getNumResults() == 0)
    return false;
  // It is read as vectors along the last axis of the result, by all rows of a
  // tile.
  auto columns = cast<AffineDimExpr>(out.getResults().back());
  auto types = product.getIteratorTypesArray();
  return map.isFunctionOfDim(columns.getPosition()) &&
         llvm::any_of(llvm::seq(product.getNumLoops()), [&](unsigned dim) {
           return types[dim] == utils::IteratorType::reduction &&
                  map.isFunctionOfDim(dim);
         });
}

bool loopc::isExpandedInProduct(OpOperand &operand) {
  auto expansion = operand.get().getDefiningOp<linalg::GenericOp>();
  return expansion && isExpansion(expansion) && isNarrow(expansion) &&
         isLight(expansion) && isWeightsOfProduct(operand);
}
