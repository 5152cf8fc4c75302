//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// loop-vectorize-contractions: sums of products on buffers become loops over
// tiles of vectors that stay in registers while they are summed up.
//
// The code is written out here rather than found by rewriting: a tile is some
// dozens of operations, whatever the shapes are, so that compile time does not
// grow with them, and nothing depends on a chain of patterns that all must fit.

#include "ContractionVectorizer.h"
#include "Rows/VectorElements.h"
#include "loopc/Codegen/CPU/Passes.h"
#include "loopc/Dialect/Loopc/IR/Loopc.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace loopc {
#define GEN_PASS_DEF_LOOPVECTORIZECONTRACTIONS
#include "loopc/Codegen/CPU/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

/// Elements that are this far apart are taken out of vectors that hold what is
/// between them, too; farther, one by one is as good.
static constexpr int64_t kMostApart = 4;

//===----------------------------------------------------------------------===//
// What fits
//===----------------------------------------------------------------------===//

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

bool ContractionVectorizer::isSupported() {
  if (!op.hasPureBufferSemantics() || op.getNumDpsInits() != 1 ||
      op.getNumDpsInputs() < 2 || op.getNumReductionLoops() == 0)
    return false;
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<MemRefType>(operand.get().getType());
    // Truth values are read one by one: in vectors they would be bits.
    bool isRead =
        type &&
        (vectorBitsOf(type.getElementType()) ||
         (type.getElementType().isInteger(1) && op.isDpsInput(&operand)));
    if (!isRead || !type.isStrided())
      return false;
  }
  AffineMap out = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (!out.isProjectedPermutation())
    return false;
  return llvm::all_of(op.getBlock()->without_terminator(), isVectorOperation);
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

std::optional<int64_t> ContractionVectorizer::strideAlong(OpOperand &operand,
                                                          unsigned dim) {
  AffineMap map = op.getMatchingIndexingMap(&operand);
  if (map.getNumResults() == 0 || panelGroup(map) ||
      !vectorBitsOf(getElementTypeOrSelf(operand.get())))
    return std::nullopt;
  if (isPanelAccess(map, dim))
    return 1;
  for (AffineExpr expr : map.getResults().drop_back())
    if (expr.isFunctionOfDim(dim))
      return std::nullopt;
  std::optional<int64_t> step =
      stepAlong(map.getResults().back(), dim, map.getNumDims());
  if (!step || *step < 1 || *step > kMostApart)
    return std::nullopt;
  auto type = cast<MemRefType>(operand.get().getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)) || strides.back() != 1)
    return std::nullopt;
  return step;
}

int64_t ContractionVectorizer::lanesFor(int64_t extent) {
  Type type = getElementTypeOrSelf(op.getDpsInits()[0].getType());
  int64_t most = cpu.lanesOf(*vectorBitsOf(type));
  if (ShapedType::isDynamic(extent))
    return most;
  return std::min<int64_t>(most, llvm::PowerOf2Ceil(extent));
}

bool ContractionVectorizer::canMask() {
  // Panels are read whole.
  if (dot)
    return cpu.canMask(32);
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    std::optional<unsigned> bits = vectorBitsOf(getElementTypeOrSelf(operand));
    return cpu.canMask(bits.value_or(64));
  });
}

std::optional<unsigned> ContractionVectorizer::bestRows(unsigned without) {
  std::optional<unsigned> best;
  // Of those with enough for some tiles the last, whose rows are neighbours.
  auto score = [&](unsigned dim) {
    return isDynamic(dim) ? int64_t(32) : std::min<int64_t>(statics[dim], 32);
  };
  auto types = op.getIteratorTypesArray();
  for (unsigned dim : llvm::seq(op.getNumLoops())) {
    if (dim == without || types[dim] != utils::IteratorType::parallel ||
        statics[dim] == 1)
      continue;
    // A vector that several rows share is loaded once for them.
    bool shares = llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *in) {
      AffineMap map = op.getMatchingIndexingMap(in);
      return map.isFunctionOfDim(laneDim) && !map.isFunctionOfDim(dim);
    });
    if (shares && (!best || score(dim) >= score(*best)))
      best = dim;
  }
  return best;
}

std::optional<unsigned>
ContractionVectorizer::independentRows(unsigned without) {
  std::optional<unsigned> best;
  auto types = op.getIteratorTypesArray();
  for (unsigned dim : llvm::seq(op.getNumLoops())) {
    // An element of another operand is read once for all rows.
    bool shares = llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *in) {
      return !op.getMatchingIndexingMap(in).isFunctionOfDim(dim);
    });
    if (dim != without && types[dim] == utils::IteratorType::parallel &&
        shares && !isDynamic(dim) && statics[dim] > 1 &&
        (!best || statics[dim] >= statics[*best]))
      best = dim;
  }
  return best;
}

bool ContractionVectorizer::chooseAlongResult() {
  OpOperand *init = op.getDpsInitOperand(0);
  AffineMap out = op.getMatchingIndexingMap(init);
  if (out.getNumResults() == 0)
    return false;
  auto last = dyn_cast<AffineDimExpr>(out.getResults().back());
  if (!last || statics[last.getPosition()] == 1)
    return false;
  unsigned dim = last.getPosition();
  bool varies = false;
  for (OpOperand &operand : op->getOpOperands()) {
    if (!op.getMatchingIndexingMap(&operand).isFunctionOfDim(dim))
      continue;
    std::optional<int64_t> stride = strideAlong(operand, dim);
    if (!stride || (*stride != 1 && !op.isDpsInput(&operand)))
      return false;
    varies |= op.isDpsInput(&operand);
  }
  if (!varies)
    return false;
  columnDim = laneDim = dim;
  lanes = lanesFor(statics[dim]);
  rowDim = bestRows(dim);
  if (!rowDim && !isDynamic(dim) && statics[dim] <= 2 * lanes)
    rowDim = independentRows(dim);
  // A vector lies within one panel.
  return llvm::all_of(op.getIndexingMapsArray(), [&](AffineMap map) {
    return panelWidth(map, dim) % lanes == 0;
  });
}

Operation *loopc::reorderableAddition(linalg::LinalgOp op) {
  Block *body = op.getBlock();
  Value sum = op.getRegionOutputArgs()[0];
  Operation *combiner = body->getTerminator()->getOperand(0).getDefiningOp();
  if (!combiner || combiner->getBlock() != body || !sum.hasOneUse() ||
      *sum.user_begin() != combiner ||
      !isa<arith::AddFOp, arith::AddIOp>(combiner))
    return nullptr;
  if (auto add = dyn_cast<arith::AddFOp>(combiner))
    if (!arith::bitEnumContainsAll(add.getFastmath(),
                                   arith::FastMathFlags::reassoc))
      return nullptr;
  return combiner;
}

bool ContractionVectorizer::chooseAlongSum() {
  auto types = op.getIteratorTypesArray();
  for (unsigned dim : llvm::reverse(llvm::seq(op.getNumLoops()))) {
    if (types[dim] != utils::IteratorType::reduction ||
        (!ShapedType::isDynamic(statics[dim]) && statics[dim] < 4))
      continue;
    bool fits = llvm::all_of(op.getDpsInputOperands(), [&](OpOperand *in) {
      return !op.getMatchingIndexingMap(in).isFunctionOfDim(dim) ||
             isContiguous(*in, dim);
    });
    if (!fits || !reorderableAddition(op))
      continue;
    laneDim = dim;
    columnDim = bestRows(dim);
    if (columnDim)
      rowDim = bestRows(*columnDim);
    if (rowDim == columnDim)
      rowDim.reset();
    lanes = lanesFor(statics[dim]);
    return true;
  }
  return false;
}

bool ContractionVectorizer::choose() {
  if (!isSupported())
    return false;
  statics = op.getStaticLoopRanges();
  if (chooseDots())
    return true;
  bool found = chooseAlongResult();
  // A few columns leave most of a vector empty.
  bool isNarrow = found && !isDynamic(laneDim) && statics[laneDim] < 4;
  if (!found || isNarrow) {
    auto saved = std::tuple(rowDim, columnDim, laneDim, lanes);
    rowDim.reset();
    columnDim.reset();
    if (!chooseAlongSum()) {
      if (!found)
        return false;
      std::tie(rowDim, columnDim, laneDim, lanes) = saved;
    }
  }
  for (auto [dim, type] : llvm::enumerate(op.getIteratorTypesArray())) {
    if (type == utils::IteratorType::reduction)
      sumDims.push_back(dim);
    else if (dim != rowDim && dim != columnDim)
      outerDims.push_back(dim);
  }
  if (alongSum()) {
    llvm::erase(sumDims, laneDim);
    sumDims.push_back(laneDim);
  }
  return true;
}

bool ContractionVectorizer::chooseTransposed() {
  statics = op.getStaticLoopRanges();
  OpOperand *init = op.getDpsInitOperand(0);
  AffineMap out = op.getMatchingIndexingMap(init);
  if (!isSupported() || !canMask() || op.getNumReductionLoops() != 1 ||
      out.getNumResults() == 0)
    return false;
  columnDim = laneDim =
      cast<AffineDimExpr>(out.getResults().back()).getPosition();
  rowDim = bestRows(laneDim);
  lanes = lanesFor(statics[laneDim]);
  for (auto [dim, type] : llvm::enumerate(op.getIteratorTypesArray())) {
    if (type == utils::IteratorType::reduction)
      sumDims.push_back(dim);
    else if (dim != rowDim && dim != columnDim)
      outerDims.push_back(dim);
  }
  // One element of what is summed over belongs to each column.
  int64_t columns = statics[laneDim];
  // Of sums shorter than a vector as well, where there are many rows.
  bool areMany =
      rowDim && (isDynamic(*rowDim) ||
                 (statics[*rowDim] >= CpuModel::kRowsOfStrip &&
                  !isDynamic(sumDims[0]) && statics[sumDims[0]] < lanes));
  if (!areMany || !isContiguous(*init, laneDim) ||
      (!isDynamic(laneDim) && columns < 4) || lanes < 2 ||
      lanes > CpuModel::kSquareLanes)
    return false;
  OpOperand *shared = findShared();
  if (!shared || !isContiguous(*shared, sumDims[0]))
    return false;
  for (OpOperand *input : op.getDpsInputOperands())
    if (input != shared &&
        op.getMatchingIndexingMap(input).isFunctionOfDim(laneDim))
      return false;
  isStripTransposed = true;
  return true;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct LoopVectorizeContractions
    : loopc::impl::LoopVectorizeContractionsBase<LoopVectorizeContractions> {
  using Base::Base;

  void runOnOperation() override {
    getOperation().walk([](linalg::FillOp fill) { fillBorder(fill); });
    IRRewriter rewriter(&getContext());
    SmallVector<linalg::LinalgOp> ops;
    getOperation().walk([&](linalg::LinalgOp op) { ops.push_back(op); });
    for (linalg::LinalgOp &op : ops)
      if (isa<linalg::TransposeOp>(op)) {
        rewriter.setInsertionPoint(op);
        op = cast<linalg::LinalgOp>(
            linalg::generalizeNamedOp(rewriter, op)->getOperation());
      }
    CpuModel cpu(getVectorUnit(getOperation()));
    llvm::SmallPtrSet<Operation *, 8> gone;
    for (linalg::LinalgOp op : ops) {
      if (gone.contains(op))
        continue;
      if (auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
          generic && (copyPanels(generic, cpu) || copyGroups(generic, cpu) ||
                      transposeTiles(generic, cpu))) {
        ++numVectorized;
        continue;
      }
      ContractionVectorizer vectorizer(rewriter, op, cpu);
      if (!vectorizer.choose())
        continue;
      ContractionVectorizer many(rewriter, op, cpu);
      bool hasMany =
          !loop::isCold(op) && vectorizer.alongSum() && many.chooseTransposed();
      vectorizer.emit(hasMany ? &many : nullptr);
      op.erase();
      if (linalg::GenericOp epilogue = vectorizer.getEpilogue()) {
        gone.insert(epilogue);
        epilogue.erase();
      }
      ++numVectorized;
    }
  }
};
} // namespace
