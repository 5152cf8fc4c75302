//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Which axis rows run along, and what of their elements vectors can be computed
// of.

#include "Rows.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace loopc;

/// Bits of a number, of an index as many as of an address; 0 for other types.
static unsigned bitsOf(Type type) {
  if (type.isIndex())
    return 64;
  return type.isIntOrFloat() ? type.getIntOrFloatBitWidth() : 0;
}

unsigned loopc::bitsOfVectorBody(linalg::GenericOp op) {
  unsigned bits = 8;
  for (Operation &inner : op.getBody()->without_terminator()) {
    if (isa<arith::ConstantOp>(inner))
      continue;
    if (!isa<linalg::IndexOp>(inner) &&
        (!OpTrait::hasElementwiseMappableTraits(&inner) ||
         !isMemoryEffectFree(&inner) || !isSpeculatable(&inner)))
      return 0;
    for (Value value : inner.getResults())
      if (bitsOf(value.getType()) == 0)
        return 0;
    for (Value value : inner.getOperands()) {
      if (bitsOf(value.getType()) == 0)
        return 0;
      bits = std::max(bits, bitsOf(value.getType()));
    }
  }
  for (Value operand : op->getOperands())
    bits = std::max(
        bits, getElementTypeOrSelf(operand.getType()).getIntOrFloatBitWidth());
  return bits;
}

/// The order of axes in which the last one is what neighbours in memory differ
/// in; none where that is so already, or for no axis.
static std::optional<SmallVector<unsigned>> orderForRows(linalg::GenericOp op) {
  unsigned count = op.getNumLoops();
  auto isRowAxis = [&](unsigned dim) {
    bool used = false;
    for (OpOperand &operand : op->getOpOperands()) {
      AffineMap map = op.getMatchingIndexingMap(&operand);
      if (!map.isFunctionOfDim(dim))
        continue;
      auto expr = dyn_cast<AffineDimExpr>(map.getResults().back());
      if (!expr || expr.getPosition() != dim ||
          !cast<MemRefType>(operand.get().getType()).isLastDimUnitStride())
        return false;
      used = true;
    }
    return used && op.getStaticLoopRanges()[dim] != 1;
  };
  if (!op.hasPureBufferSemantics() || count < 2 || isRowAxis(count - 1))
    return std::nullopt;
  for (unsigned dim = count - 1; dim-- > 0;)
    if (isRowAxis(dim)) {
      auto order = llvm::to_vector(llvm::seq<unsigned>(0, count));
      order.erase(order.begin() + dim);
      order.push_back(dim);
      return order;
    }
  return std::nullopt;
}

/// Neighbouring axes at the end of `op` as one, which makes longer rows: those
/// that are reduced, or with few elements.
static linalg::GenericOp joinLastAxes(IRRewriter &rewriter,
                                      linalg::GenericOp op) {
  constexpr int64_t kFew = 64;
  unsigned count = op.getNumLoops(), first = count;
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  if (!op.hasPureBufferSemantics() || count < 2 || op.hasIndexSemantics())
    return op;
  bool isReduced = kinds.back() == utils::IteratorType::reduction;
  if (!isReduced &&
      (ShapedType::isDynamic(extents.back()) || extents.back() >= kFew))
    return op;
  auto canJoin = [&](ReassociationIndicesRef dims) {
    SmallVector<ReassociationIndices> one{ReassociationIndices(dims)};
    for (OpOperand &operand : op->getOpOperands()) {
      AffineMap map = op.getMatchingIndexingMap(&operand);
      auto type = dyn_cast<MemRefType>(operand.get().getType());
      if (!map.isProjectedPermutation() || !type ||
          !linalg::areDimSequencesPreserved({map}, one))
        return false;
      if (!map.isFunctionOfDim(dims.front()))
        continue;
      SmallVector<ReassociationIndices> groups;
      for (auto [k, expr] : llvm::enumerate(map.getResults())) {
        int64_t dim = cast<AffineDimExpr>(expr).getPosition();
        if (dim > dims.front() && dim <= dims.back())
          groups.back().push_back(k);
        else
          groups.push_back({static_cast<int64_t>(k)});
      }
      if (!memref::CollapseShapeOp::isGuaranteedCollapsible(type, groups))
        return false;
    }
    return true;
  };
  // Of the others, one is left to be dealt to threads.
  unsigned least = isReduced ? 0 : 1;
  ReassociationIndices joined{count - 1};
  while (first > least + 1 && kinds[first - 2] == kinds.back()) {
    ReassociationIndices more = joined;
    more.insert(more.begin(), first - 2);
    if (!canJoin(more))
      break;
    joined = more;
    --first;
  }
  if (joined.size() < 2)
    return op;
  rewriter.setInsertionPoint(op);
  FailureOr<linalg::CollapseResult> result =
      linalg::collapseOpIterationDims(op, joined, rewriter);
  if (failed(result))
    return op;
  rewriter.eraseOp(op);
  return cast<linalg::GenericOp>(*result->collapsedOp);
}

linalg::GenericOp loopc::arrangeRows(IRRewriter &rewriter,
                                     linalg::GenericOp op) {
  op = joinLastAxes(rewriter, op);
  if (std::optional<SmallVector<unsigned>> order = orderForRows(op)) {
    rewriter.setInsertionPoint(op);
    op = *linalg::interchangeGenericOp(rewriter, op, *order);
  }
  return op;
}
