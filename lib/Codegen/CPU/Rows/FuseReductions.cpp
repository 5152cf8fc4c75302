//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// cpu-fuse-reductions: what reduces the rows of a tensor runs beside what
// computes them, or beside what reads them as well: each element is summed up
// while it is in a register.

#include "Contractions/ContractionPlan.h"
#include "FuseColumns.h"
#include "VectorElements.h"
#include "loopc/Codegen/CPU/Passes.h"
#include "loopc/Dialect/Loop/IR/Loop.h"
#include "loopc/Dialect/Loop/Transforms/Speculation.h"
#include "loopc/Dialect/Loop/Transforms/Utils.h"
#include "loopc/Dialect/Loopc/IR/Loopc.h"
#include "loopc/Dialect/Nest/Analysis/Cost.h"
#include "loopc/Support/Contractions.h"
#include "loopc/Support/CpuModel.h"
#include "loopc/Tensor/MergeGenerics.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace loopc {
#define GEN_PASS_DEF_CPUFUSEREDUCTIONS
#include "loopc/Codegen/CPU/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

/// True if output `k` is one number for each row: what `op` puts the elements
/// of the row together to.
static bool reducesRows(linalg::GenericOp op, unsigned k) {
  OpOperand *init = op.getDpsInitOperand(k);
  AffineMap map = op.getMatchingIndexingMap(init);
  SmallVector<unsigned> sums;
  op.getReductionDims(sums);
  if (sums.empty() || !map.isProjectedPermutation() ||
      llvm::any_of(sums,
                   [&](unsigned dim) { return map.isFunctionOfDim(dim); }))
    return false;
  BlockArgument out = op.getMatchingBlockArgument(init);
  Operation *combiner =
      op.getBody()->getTerminator()->getOperand(k).getDefiningOp();
  return combiner && out.hasOneUse() && *out.user_begin() == combiner &&
         combiner->hasOneUse() &&
         isa<arith::AddFOp, arith::MaximumFOp, arith::MinimumFOp, arith::AddIOp,
             arith::MaxSIOp, arith::MinSIOp, arith::MaxUIOp, arith::MinUIOp>(
             combiner);
}

/// True if output `k` is computed element by element.
static bool mapsElements(linalg::GenericOp op, unsigned k) {
  OpOperand *init = op.getDpsInitOperand(k);
  return op.getMatchingIndexingMap(init).isIdentity() &&
         !op.payloadUsesValueFromOperand(init);
}

/// True for operations that go through rows, along the last axes: each output
/// is an element for each element of the space, or one for each row.
static bool goesThroughRows(linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics() || op.getNumLoops() == 0)
    return false;
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  size_t outer = op.getNumParallelLoops();
  if (llvm::is_contained(ArrayRef(kinds).take_front(outer),
                         utils::IteratorType::reduction))
    return false;
  for (OpOperand &operand : op->getOpOperands())
    if (!isVectorElement(getElementTypeOrSelf(operand.get().getType())))
      return false;
  for (Operation &inner : op.getBody()->without_terminator())
    if (isa<linalg::IndexOp>(inner) || inner.getNumRegions() ||
        !isSafeToSpeculate(&inner))
      return false;
  for (unsigned k = 0; k < op.getNumDpsInits(); ++k)
    if (!mapsElements(op, k) && !reducesRows(op, k))
      return false;
  return true;
}

/// True for sums of products that cpu-vectorize-contractions keeps in
/// registers until each is whole: vectors run along the result, the extents are
/// known.
static bool keepsSums(linalg::GenericOp op) {
  if (!isContraction(op) || op.getNumDpsInits() != 1)
    return false;
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (result.getNumResults() == 0 ||
      llvm::any_of(extents, ShapedType::isDynamic))
    return false;
  auto column = dyn_cast<AffineDimExpr>(result.getResults().back());
  if (!column)
    return false;
  // Sums along several axes are never done in blocks.
  unsigned dim = column.getPosition();
  SmallVector<unsigned> sums;
  op.getReductionDims(sums);
  std::optional<unsigned> rowDim = findSharingRows(op, dim, dim);
  if (sums.size() == 1 &&
      CpuModel::sumBlock(extents[sums[0]], rowDim ? extents[*rowDim] : 1))
    return false;
  return llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *input) {
    AffineMap map = op.getMatchingIndexingMap(input);
    return map.getNumResults() > 0 &&
           map.getResults().back().isFunctionOfDim(dim);
  });
}

/// True if `op` is computed on the sums of the product in front of it.
static bool isOfSums(linalg::GenericOp op) {
  return op.getNumReductionLoops() == 0 && op.getNumDpsInits() == 1 &&
         llvm::all_of(*op.getBody(), isCheap) &&
         llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *input) {
           auto product = input->get().getDefiningOp<linalg::GenericOp>();
           return product && product->hasOneUse() && keepsSums(product) &&
                  op.getMatchingIndexingMap(input).isIdentity();
         });
}

/// True if both go through the same rows, element by element, and have
/// something to share.
static bool canMerge(linalg::GenericOp first, linalg::GenericOp second) {
  // Maps alone are tensor-fuse-elementwise's.
  if (first.getNumLoops() != second.getNumLoops() ||
      first.getNumReductionLoops() + second.getNumReductionLoops() == 0)
    return false;
  // Sums along the same axes.
  if (first.getNumReductionLoops() && second.getNumReductionLoops() &&
      first.getNumReductionLoops() != second.getNumReductionLoops())
    return false;
  bool shares = false;
  for (OpOperand &operand : second->getOpOperands()) {
    bool aligned = second.isDpsInput(&operand) &&
                   second.getMatchingIndexingMap(&operand).isIdentity();
    if (operand.get().getDefiningOp() == first) {
      unsigned k = cast<OpResult>(operand.get()).getResultNumber();
      if (!aligned || !mapsElements(first, k) || isOfSums(first))
        return false;
      shares = true;
    }
    // Sums of products have kernels of their own.
    if (aligned && !linalg::isaContractionOpInterface(first) &&
        !linalg::isaContractionOpInterface(second))
      shares |=
          llvm::any_of(first.getDpsInputOperands(), [&](OpOperand *other) {
            return other->get() == operand.get() &&
                   first.getMatchingIndexingMap(other).isIdentity();
          });
  }
  return shares;
}

namespace {
struct CpuFuseReductions
    : loopc::impl::CpuFuseReductionsBase<CpuFuseReductions> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<Block *> blocks;
    getOperation().walk([&](Block *block) {
      if (!isa_and_nonnull<linalg::LinalgOp>(block->getParentOp()))
        blocks.push_back(block);
    });
    CpuModel cpu(getVectorUnit(getOperation()));
    for (Block *block : blocks) {
      // Matrices that a loop carries: what is computed once may be one of many
      // sums that have better kernels.
      if (isa<loop::LoopOp>(block->getParentOp()) &&
          !loop::isCold(block->getParentOp()))
        numMerged += fuseColumns(rewriter, *block, cpu, isOfSums);
      numMerged +=
          mergeGenerics(rewriter, *block, goesThroughRows, canMerge).merged;
    }
    RewritePatternSet cleanup(&getContext());
    linalg::populateEraseUnusedOperandsAndResultsPatterns(cleanup);
    if (failed(applyPatternsGreedily(getOperation(), std::move(cleanup),
                                     untilDone())))
      signalPassFailure();
  }
};
} // namespace
