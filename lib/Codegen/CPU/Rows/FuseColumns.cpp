//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The state of linear attention is a matrix that each step changes element by
// element, and then multiplies with a vector:
//
//   %s1 = linalg.generic (d0, d1, d2) { %s * %decay + %k * %v }
//   %y = linalg.generic (d0, d1 = 1, d2 reduced, d3) { %q * %s1 + %y }
//
// The product reads each element once. In the loops of the first operation it
// is a sum of what that has in a register: the matrix goes by once, and not
// twice.

#include "FuseColumns.h"
#include "VectorElements.h"
#include "loopc/Dialect/Loop/Transforms/Speculation.h"
#include "loopc/Dialect/Loop/Transforms/Utils.h"
#include "loopc/Support/Contractions.h"
#include "loopc/Tensor/MergeGenerics.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace loopc;
using utils::IteratorType;

/// True for bodies and operands that vectors along the last loop are made of.
static bool isOfVectors(linalg::GenericOp op, CpuModel cpu) {
  for (OpOperand &operand : op->getOpOperands()) {
    Type element = getElementTypeOrSelf(operand.get().getType());
    if (!isVectorElement(element) ||
        !cpu.canMask(element.getIntOrFloatBitWidth()))
      return false;
  }
  return llvm::all_of(op.getBody()->without_terminator(), [](Operation &inner) {
    return isVectorOperation(inner) && isSafeToSpeculate(&inner);
  });
}

/// True if what `op` reads along the last loop lies side by side: the last axis
/// of each operand, of which a slice has not been cut across.
static bool runsAlongLast(linalg::GenericOp op) {
  unsigned last = op.getNumLoops() - 1;
  return llvm::all_of(op->getOpOperands(), [&](OpOperand &operand) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    if (!map.isFunctionOfDim(last))
      return true;
    auto slice = operand.get().getDefiningOp<tensor::ExtractSliceOp>();
    return map.getResults().back() ==
               getAffineDimExpr(last, op->getContext()) &&
           llvm::none_of(
               map.getResults().drop_back(),
               [&](AffineExpr expr) { return expr.isFunctionOfDim(last); }) &&
           !(slice &&
             slice.getDroppedDims().test(slice.getSourceType().getRank() - 1));
  });
}

/// What `loops` of a product, of which those that `read` does not tell have one
/// element each, are by the loops of what computes the operand that it reads by
/// `read`; none where that reads an element more than once.
static std::optional<AffineMap> findLoops(linalg::GenericOp product,
                                          AffineMap read) {
  if (!read.isProjectedPermutation())
    return std::nullopt;
  SmallVector<int64_t> extents = product.getStaticLoopRanges();
  MLIRContext *context = product->getContext();
  SmallVector<AffineExpr> loops(product.getNumLoops(),
                                getAffineConstantExpr(0, context));
  for (unsigned dim = 0; dim < product.getNumLoops(); ++dim) {
    auto *found = llvm::find(read.getResults(), getAffineDimExpr(dim, context));
    if (found != read.getResults().end())
      loops[dim] = getAffineDimExpr(found - read.getResults().begin(), context);
    else if (extents[dim] != 1)
      return std::nullopt;
  }
  return AffineMap::get(read.getNumResults(), 0, loops, context);
}

namespace {
/// A product of a matrix and a vector, and what computes the matrix.
struct Column {
  linalg::GenericOp matrix, product;
  /// The product's loops by those of `matrix`.
  AffineMap loops;
};
} // namespace

static std::optional<Column> findColumn(linalg::GenericOp product,
                                        CpuModel cpu) {
  if (!product.hasPureTensorSemantics() || product.getNumDpsInits() != 1 ||
      !isContraction(product) || !isOfVectors(product, cpu))
    return std::nullopt;
  for (OpOperand *input : product.getDpsInputOperands()) {
    auto matrix = input->get().getDefiningOp<linalg::GenericOp>();
    if (!matrix || matrix->getBlock() != product->getBlock() ||
        !isElementwise(matrix) || matrix.getNumLoops() < 2 ||
        !isOfVectors(matrix, cpu) || !runsAlongLast(matrix))
      continue;
    std::optional<AffineMap> loops =
        findLoops(product, product.getMatchingIndexingMap(input));
    if (!loops)
      continue;
    // Others read none of it.
    bool isOnlyReader =
        llvm::all_of(product.getDpsInputOperands(), [&](OpOperand *other) {
          return other == input || other->get().getDefiningOp() != matrix;
        });
    AffineMap result = product.getIndexingMapsArray().back().compose(*loops);
    bool hasRows =
        llvm::any_of(result.getResults(), llvm::IsaPred<AffineDimExpr>);
    if (isOnlyReader && hasRows)
      return Column{matrix, product, *loops};
  }
  return std::nullopt;
}

/// Axes of the product's result that have one element, which its loops by the
/// matrix do not know, put together with a neighbour that they know.
static SmallVector<ReassociationIndices> groupAxes(AffineMap result) {
  SmallVector<ReassociationIndices> groups;
  ReassociationIndices first;
  for (auto [k, expr] : llvm::enumerate(result.getResults())) {
    if (isa<AffineConstantExpr>(expr)) {
      (groups.empty() ? first : groups.back()).push_back(k);
      continue;
    }
    groups.push_back(std::exchange(first, {}));
    groups.back().push_back(k);
  }
  return groups;
}

/// Writes the product in the loops of the matrix; null where vectors cannot run
/// along the last of them.
static linalg::GenericOp writeInLoops(IRRewriter &rewriter,
                                      const Column &column) {
  linalg::GenericOp product = column.product;
  Location loc = product.getLoc();
  SmallVector<AffineMap> maps =
      llvm::map_to_vector(product.getIndexingMapsArray(), [&](AffineMap map) {
        return map.compose(column.loops);
      });
  SmallVector<IteratorType> kinds(column.loops.getNumDims(),
                                  IteratorType::parallel);
  for (auto [dim, kind] : llvm::enumerate(product.getIteratorTypesArray()))
    if (auto expr = dyn_cast<AffineDimExpr>(column.loops.getResult(dim)))
      kinds[expr.getPosition()] = kind;
  SmallVector<ReassociationIndices> groups = groupAxes(maps.back());
  SmallVector<AffineExpr> kept;
  for (AffineExpr expr : maps.back().getResults())
    if (isa<AffineDimExpr>(expr))
      kept.push_back(expr);
  Value init = product.getDpsInits()[0];
  SmallVector<OpFoldResult> sizes = resolveDims(rewriter, loc, init), rows;
  for (auto [size, expr] : llvm::zip(sizes, maps.back().getResults()))
    if (isa<AffineDimExpr>(expr))
      rows.push_back(size);
  bool hasUnits = kept.size() != sizes.size();
  if (hasUnits) {
    auto fill = init.getDefiningOp<linalg::FillOp>();
    Type element = getElementTypeOrSelf(init.getType());
    init = fill ? linalg::FillOp::create(rewriter, loc, fill.getInputs()[0],
                                         ValueRange{tensor::EmptyOp::create(
                                             rewriter, loc, rows, element)})
                      .getResult(0)
                : tensor::CollapseShapeOp::create(rewriter, loc, init, groups)
                      .getResult();
  }
  maps.back() =
      AffineMap::get(maps.back().getNumDims(), 0, kept, rewriter.getContext());
  auto made = linalg::GenericOp::create(
      rewriter, loc, TypeRange{init.getType()}, product.getDpsInputs(),
      ValueRange{init}, maps, kinds);
  rewriter.inlineRegionBefore(product.getRegion(), made.getRegion(),
                              made.getRegion().begin());
  Value result = made.getResult(0);
  if (hasUnits)
    result = tensor::ExpandShapeOp::create(
        rewriter, loc, product.getResult(0).getType(), result, groups, sizes);
  rewriter.replaceOp(product, result);
  return made;
}

/// True if `second`, in the loops of `first`, sums up what that computes.
static bool sumsUp(linalg::GenericOp first, linalg::GenericOp second) {
  if (!isElementwise(first) || second.getNumLoops() != first.getNumLoops() ||
      second.getNumReductionLoops() == 0)
    return false;
  return llvm::any_of(second.getDpsInputOperands(), [&](OpOperand *input) {
    return input->get().getDefiningOp() == first &&
           second.getMatchingIndexingMap(input).isIdentity();
  });
}

unsigned
loopc::fuseColumns(IRRewriter &rewriter, Block &block, CpuModel cpu,
                   llvm::function_ref<bool(linalg::GenericOp)> isTaken) {
  SmallVector<Column> columns;
  for (auto product : block.getOps<linalg::GenericOp>())
    if (std::optional<Column> column = findColumn(product, cpu);
        column && !isTaken(column->matrix))
      columns.push_back(*column);
  llvm::SmallPtrSet<Operation *, 8> members;
  for (Column &column : columns) {
    rewriter.setInsertionPoint(column.product);
    linalg::GenericOp sums = writeInLoops(rewriter, column);
    if (!runsAlongLast(sums))
      continue;
    members.insert(column.matrix);
    members.insert(sums);
  }
  if (members.empty())
    return 0;
  return mergeGenerics(
             rewriter, block,
             [&](linalg::GenericOp op) { return members.contains(op); }, sumsUp)
      .merged;
}
