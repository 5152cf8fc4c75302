//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// cpu-tile-chains: a product, what reduces its rows, and a product that sums
// the rows up run on one tile of rows after another. Attention is such a chain:
// no more of its scores than a tile's are ever in memory.
//
// A chain has shared axes, batches and rows, and each of its operations a loop
// for each of them. What one operation writes and another reads has all shared
// axes, at the same places for all, so that iterations along them are
// independent of one another.
//
// Where only the run knows whether a mask is as long as the scores, one of both
// is broadcast in a branch that hands it on as it is otherwise. Then there are
// two versions: tiles, where all such branches hand it on, and the operations
// as they were, in plain loops.

#include "Chain.h"
#include "loopc/Codegen/CPU/Passes.h"
#include "loopc/Dialect/Loop/IR/Loop.h"
#include "loopc/Dialect/Nest/Analysis/Views.h"
#include "loopc/Dialect/Nest/IR/Parallel.h"
#include "loopc/Support/Contractions.h"
#include "loopc/Support/CpuModel.h"
#include "loopc/Support/Walk.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/MapVector.h"

namespace loopc {
#define GEN_PASS_DEF_CPUTILECHAINS
#include "loopc/Codegen/CPU/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

/// Of buffers, in bytes: a line of a cache.
static constexpr int64_t kAlignment = 64;
/// Makes the loops over batches and tiles of rows.
void Chain::makeLoops(RewriterBase &rewriter) {
  Location loc = last.getLoc();
  MLIRContext *context = rewriter.getContext();
  int64_t rows = chooseRows();
  SmallVector<OpFoldResult> all = scores.getMixedSizes();
  const Places &axes = members.buffers.lookup(scores);
  Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
  for (unsigned axis : axes) {
    OpFoldResult extent = all[axis];
    int64_t step = axis == axes.back() ? rows : 1;
    auto loop = scf::ForOp::create(
        rewriter, loc, zero,
        getValueOrCreateConstantIndexOp(rewriter, loc, extent),
        arith::ConstantIndexOp::create(rewriter, loc, step));
    markParallel(loop);
    nest.push_back(loop);
    rewriter.setInsertionPointToStart(loop.getBody());
    offsets.push_back(loop.getInductionVar());
    std::optional<int64_t> known = getConstantIntValue(extent);
    if (step == 1 || (known && *known % step == 0)) {
      sizes.push_back(rewriter.getIndexAttr(step));
      continue;
    }
    AffineExpr left =
        getAffineSymbolExpr(0, context) - getAffineDimExpr(0, context);
    AffineMap least = AffineMap::get(
        1, 1, {getAffineConstantExpr(step, context), left}, context);
    sizes.push_back(affine::makeComposedFoldedAffineMin(
        rewriter, loc, least, {loop.getInductionVar(), extent}));
  }
}

/// The buffer of one iteration in the place of `alloc`.
Value Chain::makeTile(OpBuilder &b, memref::AllocOp alloc,
                      const Places &axes) const {
  SmallVector<OpFoldResult> all = alloc.getMixedSizes();
  for (auto [axis, size] : llvm::zip_equal(axes, sizes))
    all[axis] = size;
  SmallVector<int64_t> shape;
  SmallVector<Value> dynamic;
  dispatchIndexOpFoldResults(all, dynamic, shape);
  auto type = MemRefType::get(shape, alloc.getType().getElementType());
  return memref::AllocOp::create(b, alloc.getLoc(), type, dynamic,
                                 alloc.getAlignmentAttr());
}

/// What one iteration sees of `operand`; the same value for all who see the
/// same of it.
Value Chain::viewTile(OpBuilder &b, OpOperand &operand) {
  if (Value tile = tiles.lookup(bufferOf(operand.get())))
    return tile;
  auto op = cast<linalg::LinalgOp>(operand.getOwner());
  auto type = dyn_cast<MemRefType>(operand.get().getType());
  if (!type)
    return operand.get();
  AffineMap map = op.getMatchingIndexingMap(&operand);
  SmallVector<std::optional<unsigned>> axes;
  for (unsigned dim : members.loops.lookup(op)) {
    std::optional<Places> axis = placesOf({dim}, map);
    axes.push_back(axis ? std::optional(axis->front()) : std::nullopt);
  }
  if (llvm::none_of(axes, [](auto axis) { return axis.has_value(); }))
    return operand.get();
  for (const View &view : views)
    if (view.buffer == operand.get() && view.axes == axes)
      return view.value;
  Location loc = op.getLoc();
  SmallVector<OpFoldResult> from(type.getRank(), b.getIndexAttr(0));
  SmallVector<OpFoldResult> steps(type.getRank(), b.getIndexAttr(1));
  SmallVector<OpFoldResult> extents =
      memref::getMixedSizes(b, loc, operand.get());
  for (auto [axis, offset, size] : llvm::zip_equal(axes, offsets, sizes))
    if (axis) {
      from[*axis] = offset;
      extents[*axis] = size;
    }
  Value value =
      memref::SubViewOp::create(b, loc, operand.get(), from, extents, steps);
  views.push_back({operand.get(), axes, value});
  return value;
}

/// Writes what `op` does in one iteration.
void Chain::copyOp(RewriterBase &rewriter, linalg::LinalgOp op) {
  SmallVector<Value> operands;
  for (OpOperand &operand : op->getOpOperands())
    operands.push_back(viewTile(rewriter, operand));
  auto copy = cast<linalg::LinalgOp>(
      clone(rewriter, op, /*newResultTypes=*/TypeRange(), operands));
  SmallVector<OpFoldResult> starts(op.getNumLoops());
  for (auto [dim, offset] : llvm::zip_equal(members.loops.lookup(op), offsets))
    starts[dim] = offset;
  linalg::offsetIndices(rewriter, copy, starts);
}

/// True for a buffer of one number for each row, and no more axes.
bool Chain::isOfRows(Value buffer) const {
  const Places &axes = members.buffers.lookup(buffer);
  int64_t rank = cast<MemRefType>(buffer.getType()).getRank();
  return rank == static_cast<int64_t>(axes.size()) && axes.back() + 1 == rank;
}

/// Makes the buffers of an iteration. Those of one number for each row, of one
/// type, are parts of one: small tiles take little longer than allocations.
SmallVector<Value> Chain::makeTiles(RewriterBase &rewriter) {
  SmallVector<Value> made;
  llvm::MapVector<Type, SmallVector<Value>> ofRows;
  for (auto &[buffer, axes] : members.buffers) {
    auto alloc = buffer.getDefiningOp<memref::AllocOp>();
    if (isOfRows(buffer))
      ofRows[alloc.getType()].push_back(buffer);
    else
      made.push_back(tiles[buffer] = makeTile(rewriter, alloc, axes));
  }
  Location loc = last.getLoc();
  OpFoldResult one = rewriter.getIndexAttr(1), none = rewriter.getIndexAttr(0);
  for (auto &[type, parts] : ofRows) {
    int64_t rank = cast<MemRefType>(type).getRank();
    SmallVector<int64_t> shape(rank + 1, 1);
    shape.front() = static_cast<int64_t>(parts.size());
    shape.back() = nest.back().getConstantStep()->getSExtValue();
    Value all = memref::AllocOp::create(
        rewriter, loc,
        MemRefType::get(shape, cast<MemRefType>(type).getElementType()),
        rewriter.getI64IntegerAttr(kAlignment));
    made.push_back(all);
    for (auto [k, part] : llvm::enumerate(parts)) {
      SmallVector<OpFoldResult> from(rank + 1, none), extents(rank + 1, one),
          steps(rank + 1, one);
      from.front() = rewriter.getIndexAttr(static_cast<int64_t>(k));
      extents.back() = sizes.back();
      SmallVector<int64_t> seen(rank, 1);
      seen.back() =
          getConstantIntValue(sizes.back()).value_or(ShapedType::kDynamic);
      auto view = memref::SubViewOp::inferRankReducedResultType(
          seen, cast<MemRefType>(all.getType()), from, extents, steps);
      tiles[part] = memref::SubViewOp::create(
          rewriter, loc, cast<MemRefType>(view), all, from, extents, steps);
    }
  }
  return made;
}

/// Writes the loops over tiles, with all operations within.
void Chain::emitTiles(RewriterBase &rewriter) {
  OpBuilder::InsertionGuard guard(rewriter);
  makeLoops(rewriter);
  SmallVector<Value> made = makeTiles(rewriter);
  for (linalg::LinalgOp op : getOps())
    copyOp(rewriter, op);
  for (Value buffer : made)
    memref::DeallocOp::create(rewriter, last.getLoc(), buffer);
}

/// Moves the chain as it was, with its buffers, into the second version. That
/// is for scores of which an axis is one element, and so are no work: short
/// code is better than fast code.
void Chain::keepOriginal(RewriterBase &rewriter, scf::IfOp versions) {
  SmallVector<Operation *> ops(members.branches.begin(),
                               members.branches.end());
  for (auto &entry : members.loops)
    ops.push_back(entry.first);
  for (auto &entry : members.buffers)
    ops.push_back(entry.first.getDefiningOp());
  llvm::append_range(ops, members.deallocs);
  llvm::sort(ops,
             [](Operation *x, Operation *y) { return x->isBeforeInBlock(y); });
  for (Operation *op : ops)
    rewriter.moveOpBefore(op, versions.elseYield());
  for (linalg::LinalgOp op :
       collectOps<linalg::LinalgOp>(versions.elseBlock())) {
    rewriter.setInsertionPoint(op);
    if (succeeded(linalg::linalgOpToLoops(rewriter, op)))
      rewriter.eraseOp(op);
  }
}

void Chain::emit(RewriterBase &rewriter) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(last);
  Location loc = last.getLoc();
  SmallVector<linalg::LinalgOp> ops = getOps();
  SmallVector<Operation *> freed;
  for (Operation *op = ops.front(); op != last; op = op->getNextNode())
    if (isDealloc(op) && !llvm::is_contained(members.deallocs, op))
      freed.push_back(op);
  Operation *made = nullptr;
  if (members.branches.empty()) {
    emitTiles(rewriter);
    made = nest.front();
    for (memref::DeallocOp dealloc : members.deallocs)
      rewriter.eraseOp(dealloc);
    for (linalg::LinalgOp op : ops)
      rewriter.eraseOp(op);
    for (auto &entry : members.buffers)
      rewriter.eraseOp(entry.first.getDefiningOp());
  } else {
    Value agrees;
    for (scf::IfOp branch : members.branches) {
      Value next = branch.getCondition();
      agrees =
          agrees ? arith::AndIOp::create(rewriter, loc, agrees, next) : next;
    }
    auto versions = scf::IfOp::create(rewriter, loc, agrees,
                                      /*withElseRegion=*/true);
    made = versions;
    rewriter.setInsertionPointToStart(versions.thenBlock());
    emitTiles(rewriter);
    keepOriginal(rewriter, versions);
  }
  // What is freed in between the chain reads.
  for (Operation *op : llvm::reverse(freed))
    rewriter.moveOpAfter(op, made);
}

namespace {
struct CpuTileChains : loopc::impl::CpuTileChainsBase<CpuTileChains> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    auto products = collectOps(getOperation(), [&](linalg::GenericOp op) {
      return isMatrixProduct(op);
    });
    // The last ones first: what a chain takes in are others before it.
    llvm::SmallPtrSet<Operation *, 8> gone;
    for (linalg::GenericOp op : llvm::reverse(products)) {
      if (gone.contains(op))
        continue;
      Chain chain(op);
      if (!chain.find())
        continue;
      chain.forEachOp([&](Operation *member) { gone.insert(member); });
      chain.emit(rewriter);
      ++numTiled;
    }
  }
};
} // namespace
