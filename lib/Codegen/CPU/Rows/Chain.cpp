//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What chains consist of, and which may be tiles.

#include "Chain.h"
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

using namespace mlir;
using namespace loopc;

/// Rows of a tile at most: four times what a product with known extents takes
/// at a time, so that what it shares is brought together for enough of them.
static constexpr int64_t kMaxRows = 64;
/// Rows of a tile at least, of very long rows.
static constexpr int64_t kMinRows = 16;
/// Tiles whose rows are multiples of this are whole tiles of a product.
static constexpr int64_t kRowsOfTile = 8;
/// A buffer of an unknown size may be a large one if it has so many axes: of
/// heads, rows and columns.
static constexpr unsigned kManyAxes = 3;

/// True for what uses a buffer and gives it no other name.
static bool isKnownUser(Operation *user) {
  return isa<linalg::LinalgOp, memref::DeallocOp, memref::DimOp, memref::CopyOp,
             memref::LoadOp, func::ReturnOp>(user);
}

/// True if nobody knows `buffer` by another name than its views.
static bool isKnownByViewsOnly(Value buffer) {
  return buffer.getDefiningOp<memref::AllocOp>() &&
         allUsersOfViews(buffer, isKnownUser);
}

/// The place of each of `dims` among the results of `map`; none if one is no
/// result by itself.
std::optional<Places> loopc::placesOf(ArrayRef<unsigned> dims, AffineMap map) {
  Places places;
  for (unsigned dim : dims) {
    std::optional<unsigned> place =
        map.getResultPosition(getAffineDimExpr(dim, map.getContext()));
    if (!place)
      return std::nullopt;
    for (auto [k, expr] : llvm::enumerate(map.getResults()))
      if (k != *place && expr.isFunctionOfDim(dim))
        return std::nullopt;
    places.push_back(*place);
  }
  return places;
}

std::optional<Places> Chain::findAxes(OpOperand &operand) const {
  auto op = cast<linalg::LinalgOp>(operand.getOwner());
  return placesOf(members.loops.lookup(op),
                  op.getMatchingIndexingMap(&operand));
}

SmallVector<linalg::LinalgOp> Chain::getOps() const {
  SmallVector<linalg::LinalgOp> ops;
  for (auto &entry : members.loops)
    ops.push_back(cast<linalg::LinalgOp>(entry.first));
  llvm::sort(ops, [](linalg::LinalgOp x, linalg::LinalgOp y) {
    return x->isBeforeInBlock(y);
  });
  return ops;
}

void Chain::Members::takeBack(const Counts &counts) {
  while (loops.size() > counts.loops)
    loops.pop_back();
  while (buffers.size() > counts.buffers)
    buffers.pop_back();
  deallocs.truncate(counts.deallocs);
  while (branches.size() > counts.branches)
    handedOn.erase(branches.pop_back_val().getResult(0));
}

/// Adds the operation that uses a buffer of the chain with shared `axes`; false
/// if it goes through the buffer in another way.
bool Chain::addUser(OpOperand &use, const Places &axes) {
  auto op = cast<linalg::LinalgOp>(use.getOwner());
  if (op->getBlock() != last->getBlock() || op->getNumResults() != 0 ||
      last->isBeforeInBlock(op))
    return false;
  AffineMap map = op.getMatchingIndexingMap(&use);
  Places dims;
  for (unsigned axis : axes) {
    auto dim = dyn_cast<AffineDimExpr>(map.getResult(axis));
    if (!dim || !isParallelDim(op, dim.getPosition()) ||
        llvm::is_contained(dims, dim.getPosition()))
      return false;
    dims.push_back(dim.getPosition());
  }
  if (placesOf(dims, map) != axes)
    return false;
  auto [entry, isNew] = members.loops.insert({op, dims});
  if (!isNew)
    return entry->second == dims;
  // Operands of which other elements are read for each row stay whole, others
  // are seen by views of a tile.
  for (OpOperand &operand : op->getOpOperands())
    for (unsigned dim : dims) {
      AffineMap other = op.getMatchingIndexingMap(&operand);
      if (other.isFunctionOfDim(dim) && !placesOf({dim}, other))
        return false;
    }
  return addOthers(op);
}

/// Goes on with what `op` has beside the buffer by which it was found. Where
/// that does not go by rows it is no part of the chain.
bool Chain::addOthers(linalg::LinalgOp op) {
  bool isEnd = isMatrixProduct(op);
  for (OpOperand &operand : op->getOpOperands()) {
    if (op == last || (isEnd && op.isDpsInput(&operand)) ||
        !isa<MemRefType>(operand.get().getType()) ||
        members.buffers.contains(bufferOf(operand.get())))
      continue;
    std::optional<Places> axes = findAxes(operand);
    Value buffer = operand.get();
    while (auto branch = buffer.getDefiningOp<scf::IfOp>()) {
      unsigned number = cast<OpResult>(buffer).getResultNumber();
      buffer = branch.thenYield().getOperand(number);
    }
    if (!axes)
      continue;
    Members::Counts before = members.count();
    if (!include(buffer, *axes) ||
        !members.buffers.contains(bufferOf(operand.get())))
      members.takeBack(before);
  }
  return true;
}

/// Makes `buffer` a part of the chain, with all that uses it.
bool Chain::include(Value buffer, const Places &axes) {
  auto alloc = buffer.getDefiningOp<memref::AllocOp>();
  if (!alloc || !alloc.getType().getLayout().isIdentity())
    return false;
  auto [entry, isNew] = members.buffers.insert({buffer, axes});
  if (!isNew)
    return entry->second == axes;
  return includeUses(buffer, axes);
}

/// Adds what uses `value`, which is a buffer of the chain.
bool Chain::includeUses(Value value, const Places &axes) {
  SmallVector<Operation *> inner;
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    auto dealloc = dyn_cast<memref::DeallocOp>(user);
    auto yield = dyn_cast<scf::YieldOp>(user);
    if (yield && isa<scf::IfOp>(yield->getParentOp())) {
      if (!includeBranch(yield, axes))
        return false;
    } else if (user->getBlock() != last->getBlock() &&
               last->getBlock()->findAncestorOpInBlock(*user)) {
      inner.push_back(user);
    } else if (dealloc) {
      members.deallocs.push_back(dealloc);
    } else if (!isa<linalg::LinalgOp>(user) || !addUser(use, axes)) {
      return false;
    }
  }
  return llvm::all_of(inner, [&](Operation *op) { return isOfBranches(op); });
}

/// True for what stands in a branch of the chain.
bool Chain::isOfBranches(Operation *op) const {
  return llvm::any_of(members.branches, [&](scf::IfOp branch) {
    return branch->isProperAncestor(op);
  });
}

/// Adds the branch in which `yield` hands on a buffer of the chain.
bool Chain::includeBranch(scf::YieldOp yield, const Places &axes) {
  auto branch = cast<scf::IfOp>(yield->getParentOp());
  if (branch->getBlock() != last->getBlock() || branch.getNumResults() != 1 ||
      yield != branch.thenYield() ||
      !llvm::hasSingleElement(*branch.thenBlock()) ||
      llvm::is_contained(members.branches, branch))
    return false;
  members.branches.push_back(branch);
  members.handedOn[branch.getResult(0)] = bufferOf(yield.getOperand(0));
  return includeUses(branch.getResult(0), axes);
}

/// True if branches have nothing to do with other buffers than the chain's and
/// their own: they may stand where the last product does.
bool Chain::areBranchesLocal() const {
  auto isLocal = [&](Operation *op, scf::IfOp branch) {
    return llvm::all_of(op->getOperands(), [&](Value operand) {
      if (!isa<MemRefType>(operand.getType()))
        return true;
      Value root = getViewRoot(operand);
      return members.buffers.contains(bufferOf(root)) ||
             branch->isAncestor(root.getParentBlock()->getParentOp());
    });
  };
  for (scf::IfOp branch : members.branches) {
    bool areAll = true;
    branch->walk([&](Operation *op) {
      areAll &= isLocal(op, branch) &&
                (isMemoryEffectFree(op) ||
                 isa<linalg::LinalgOp, memref::AllocOp, memref::DeallocOp,
                     memref::LoadOp, scf::IfOp>(op));
    });
    if (!areAll)
      return false;
  }
  // Both versions have buffers of their own.
  return members.branches.empty() ||
         llvm::all_of(llvm::make_first_range(members.buffers),
                      [&](Value buffer) {
                        return buffer.getParentBlock() == last->getBlock();
                      });
}

/// Adds what fills the result of the last product right in front of it: its
/// sums begin with that.
void Chain::addFills() {
  OpOperand *result = last.getDpsInitOperand(0);
  std::optional<Places> axes = findAxes(*result);
  for (Operation *user : result->get().getUsers()) {
    auto fill = dyn_cast<linalg::FillOp>(user);
    if (fill && axes && fill->getBlock() == last->getBlock() &&
        fill->isBeforeInBlock(last))
      members.loops.insert({fill, *axes});
  }
}

bool Chain::hasProductAndReduction() const {
  bool hasProduct = false, hasReduction = false;
  for (linalg::LinalgOp op : getOps()) {
    bool product = isMatrixProduct(op);
    hasProduct |= product && op != last;
    hasReduction |= !product && op.getNumReductionLoops() != 0;
  }
  return hasProduct && hasReduction;
}

/// True if all rows of `type` are, or may be, too much for a cache, and are
/// some tiles of a product. A tile of little work takes longer to begin than to
/// compute.
bool Chain::isLarge(MemRefType type, const Places &axes) {
  Type element = type.getElementType();
  unsigned rowAxis = axes.back();
  int64_t rows = type.getDimSize(rowAxis);
  if (!element.isIntOrFloat() ||
      (!ShapedType::isDynamic(rows) && rows < kRowsOfTile))
    return false;
  int64_t bytes = element.getIntOrFloatBitWidth() / 8;
  if (type.hasStaticShape())
    return type.getNumElements() * bytes >= CpuModel::kLargeBuffer;
  bool isKnown = true;
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    if (axis == rowAxis || !llvm::is_contained(axes, axis)) {
      isKnown &= !type.isDynamicDim(axis);
      bytes *= type.isDynamicDim(axis) ? 1 : type.getDimSize(axis);
    }
  return type.getRank() >= kManyAxes &&
         (!isKnown || bytes >= CpuModel::kSmallOperand);
}

/// True if each iteration writes what no other one reads or writes, in buffers
/// that others know as well.
bool Chain::areWritesIndependent() const {
  SmallVector<linalg::LinalgOp> ops = getOps();
  auto isUsedAlike = [&](OpOperand &write) {
    Value root = getViewRoot(write.get());
    std::optional<Places> axes = findAxes(write);
    if (!axes || !isKnownByViewsOnly(root))
      return false;
    for (linalg::LinalgOp op : ops) {
      for (OpOperand &operand : op->getOpOperands())
        if (getViewRoot(operand.get()) == root &&
            (operand.get() != write.get() || findAxes(operand) != axes))
          return false;
      // A body looks elements up in rows that others may not have written yet.
      WalkResult looksUp = op->walk([&](memref::LoadOp load) {
        return getViewRoot(load.getMemRef()) == root ? WalkResult::interrupt()
                                                     : WalkResult::advance();
      });
      if (looksUp.wasInterrupted())
        return false;
    }
    return true;
  };
  for (linalg::LinalgOp op : ops)
    for (OpOperand &init : op.getDpsInitsMutable())
      if (!members.buffers.contains(bufferOf(init.get())) && !isUsedAlike(init))
        return false;
  return true;
}

/// True if what an iteration reads of the chain's own buffers it has written
/// before: nothing is carried by them.
bool Chain::startsWithWrites() const {
  llvm::SmallPtrSet<Value, 8> written;
  for (linalg::LinalgOp op : getOps()) {
    for (OpOperand &operand : op->getOpOperands()) {
      Value buffer = bufferOf(operand.get());
      if (members.buffers.contains(buffer) && !written.contains(buffer) &&
          op.payloadUsesValueFromOperand(&operand))
        return false;
    }
    for (OpOperand &init : op.getDpsInitsMutable())
      if (op.getMatchingIndexingMap(&init).isPermutation())
        written.insert(bufferOf(init.get()));
  }
  return llvm::all_of(members.buffers, [&](const auto &entry) {
    return written.contains(entry.first);
  });
}

/// True if what is `written` and `touched` within `op` has nothing to do with
/// the chain's operations in front of it.
bool Chain::canPass(ArrayRef<Value> written, ArrayRef<Value> touched,
                    Operation *op) const {
  for (auto &entry : members.loops) {
    auto member = cast<linalg::LinalgOp>(entry.first);
    if (op->isBeforeInBlock(member))
      continue;
    // Bodies look elements up as well.
    bool readsWritten = anyNested(member, [&](Operation *nested) {
      return llvm::any_of(nested->getOperands(), [&](Value operand) {
        return llvm::is_contained(written, getViewRoot(operand));
      });
    });
    if (readsWritten)
      return false;
    for (Value init : member.getDpsInits())
      if (llvm::is_contained(touched, getViewRoot(init)))
        return false;
  }
  return true;
}

/// True if `op`, which is no part of the chain and stands among its operations,
/// or in `within` that does, may run before those that stand before it.
bool Chain::isUnrelated(Operation *op, Operation *within) const {
  auto isUnrelatedWithin = [&](Operation &inner) {
    return isUnrelated(&inner, within);
  };
  if (isa<scf::IfOp>(op))
    return llvm::all_of(op->getRegions(), [&](Region &region) {
      return region.empty() || llvm::all_of(region.front().without_terminator(),
                                            isUnrelatedWithin);
    });
  // What is freed where the chain stands is freed behind it.
  if (isa<memref::AllocOp, loop::CheckOp>(op) || isMemoryEffectFree(op) ||
      (isa<memref::DeallocOp>(op) && op == within))
    return true;
  SmallVector<Value> written, touched;
  for (Value operand : op->getOperands())
    if (isa<MemRefType>(operand.getType()))
      touched.push_back(getViewRoot(operand));
  if (auto copy = dyn_cast<memref::CopyOp>(op))
    written.push_back(getViewRoot(copy.getTarget()));
  else if (auto store = dyn_cast<memref::StoreOp>(op))
    written.push_back(getViewRoot(store.getMemRef()));
  else if (auto other = dyn_cast<linalg::LinalgOp>(op))
    for (Value init : other.getDpsInits())
      written.push_back(getViewRoot(init));
  else if (isa<memref::DeallocOp>(op))
    written = touched;
  else if (!isa<memref::LoadOp>(op))
    return false;
  // Loads within the bodies of operations of linalg.
  op->walk([&](memref::LoadOp load) {
    touched.push_back(getViewRoot(load.getMemRef()));
  });
  // What comes to know it by another name behind it is no operation in front.
  auto isNew = [&](Value root) {
    return root.getParentBlock() == last->getBlock() &&
           root.getDefiningOp<memref::AllocOp>() &&
           allUsersOfViews(root, [&](Operation *user) {
             Operation *place = last->getBlock()->findAncestorOpInBlock(*user);
             return isKnownUser(user) ||
                    (place && within->isBeforeInBlock(place));
           });
  };
  auto isKnown = [&](Value root) {
    return isKnownByViewsOnly(root) || isNew(root) ||
           (root.getDefiningOp<memref::AllocOp>() &&
            within->isAncestor(root.getDefiningOp())) ||
           isa<memref::DeallocOp>(op);
  };
  return llvm::all_of(written, isKnown) && canPass(written, touched, within);
}

/// True for a branch that does no more than free something.
bool loopc::isDealloc(Operation *op) {
  if (isa<memref::DeallocOp>(op))
    return true;
  auto branch = dyn_cast<scf::IfOp>(op);
  return branch && branch.getNumResults() == 0 && !branch.elseBlock() &&
         llvm::all_of(branch.thenBlock()->without_terminator(),
                      llvm::IsaPred<memref::DeallocOp>);
}

/// True if all operations of the chain may run where the last one does.
bool Chain::canMoveDown() {
  Operation *first = getOps().front();
  for (Operation *op = first; op != last; op = op->getNextNode())
    if (!members.loops.contains(op) &&
        !llvm::is_contained(members.branches, op) && !isDealloc(op) &&
        !isUnrelated(op, op))
      return false;
  // What is handed on is seen by the chain alone.
  for (scf::IfOp branch : members.branches)
    for (Operation *user : branch->getUsers())
      if (user->getBlock() != last->getBlock())
        return false;
  return true;
}

void Chain::forEachOp(llvm::function_ref<void(Operation *)> visit) const {
  for (linalg::LinalgOp op : getOps())
    visit(op);
  for (scf::IfOp branch : members.branches)
    branch->walk(visit);
}

bool Chain::findFrom(OpOperand &rows) {
  members = Members();
  scores = rows.get().getDefiningOp<memref::AllocOp>();
  AffineMap map = last.getMatchingIndexingMap(&rows);
  if (!scores || !map.isProjectedPermutation())
    return false;
  Places axes;
  for (auto [k, expr] : llvm::enumerate(map.getResults()))
    if (isParallelDim(last, cast<AffineDimExpr>(expr).getPosition()))
      axes.push_back(k);
  if (axes.empty() || !isLarge(scores.getType(), axes) ||
      !include(scores, axes))
    return false;
  addFills();
  return hasProductAndReduction() && areBranchesLocal() &&
         areWritesIndependent() && startsWithWrites() && canMoveDown();
}

bool Chain::find() {
  if (last->getNumResults() != 0 || !isMatrixProduct(last))
    return false;
  return llvm::any_of(last.getDpsInputOperands(),
                      [&](OpOperand *input) { return findFrom(*input); });
}

/// Rows of a tile: a part of them that is whole tiles of a product, if there is
/// one, and of which the second cache holds what the chain has for each row.
int64_t Chain::chooseRows() {
  MemRefType type = scores.getType();
  const Places &axes = members.buffers.lookup(scores);
  int64_t bytes = type.getElementTypeBitWidth() / 8;
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    if (!llvm::is_contained(axes, axis) && !type.isDynamicDim(axis))
      bytes *= type.getDimSize(axis);
  int64_t most = std::clamp<int64_t>(
      llvm::alignDown(CpuModel::kSecondCache / 4 / std::max<int64_t>(bytes, 1),
                      kRowsOfTile),
      kMinRows, kMaxRows);
  int64_t extent = type.getDimSize(axes.back());
  if (ShapedType::isDynamic(extent))
    return most;
  if (extent <= most)
    return extent;
  for (int64_t rows = most; rows >= kMinRows; rows -= kRowsOfTile)
    if (extent % rows == 0)
      return rows;
  return most;
}
