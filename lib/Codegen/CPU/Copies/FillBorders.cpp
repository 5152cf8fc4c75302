//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Buffers that are filled, and all of whose inside is written next: the padding
// of a convolution. Only the border is filled.

#include "Contractions.h"
#include "loopc/Dialect/Nest/Analysis/Views.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace loopc;

/// To fill so many bytes twice costs less than the code for four borders; in a
/// loop it is the time that counts.
static constexpr int64_t kSmallBytes = 128 << 10, kSmallBytesInLoop = 16 << 10;

/// True if `user` may make a view of a buffer that it is given, or give it to
/// others.
static bool mayHandOn(Operation *user) {
  return user->hasTrait<OpTrait::IsTerminator>() ||
         llvm::any_of(user->getResultTypes(), llvm::IsaPred<BaseMemRefType>) ||
         (user->getNumRegions() != 0 && !isa<linalg::LinalgOp>(user));
}

/// True if between `fill` and what follows on it only views are the memory of
/// `buffer`, which is allocated: nobody has chosen it before, or carries it.
static bool isKnownByViews(Value buffer, linalg::FillOp fill) {
  Block *block = fill->getBlock();
  bool isOfBlock = getViewRoot(buffer).getParentBlock() == block;
  return llvm::all_of(buffer.getUsers(), [&](Operation *user) {
    if (isViewOp(user))
      return isKnownByViews(user->getResult(0), fill);
    Operation *at = block->findAncestorOpInBlock(*user);
    return (isOfBlock && at && fill->isBeforeInBlock(at)) || !mayHandOn(user);
  });
}

/// True if `buffer`, which `loop` carries, is handed on by nothing but the end
/// of an iteration: what a branch or a loop gives is other memory.
static bool staysInIteration(Value buffer, LoopLikeOpInterface loop) {
  return llvm::all_of(buffer.getUsers(), [&](Operation *user) {
    if (isViewOp(user))
      return staysInIteration(user->getResult(0), loop);
    if (user->hasTrait<OpTrait::IsTerminator>())
      return user->getParentOp() == loop;
    return user->getNumRegions() == 0
               ? user->getNumResults() == 0 ||
                     !isa<BaseMemRefType>(user->getResult(0).getType())
               : isa<linalg::LinalgOp>(user);
  });
}

/// True if `buffer` is carried by a loop all of whose carried buffers are
/// allocated for it alone, and only change places: nothing else that an
/// iteration uses is the same memory.
static bool isCarriedAlone(Value buffer) {
  auto argument = dyn_cast<BlockArgument>(buffer);
  auto loop = dyn_cast_or_null<LoopLikeOpInterface>(
      argument ? argument.getOwner()->getParentOp() : nullptr);
  if (!loop || !loop.getTiedLoopInit(argument))
    return false;
  llvm::SmallPtrSet<Value, 4> known;
  auto isAnother = [&](Value value) { return known.insert(value).second; };
  for (auto [init, own, next] :
       llvm::zip_equal(loop.getInits(), loop.getRegionIterArgs(),
                       loop.getYieldedValues())) {
    if (!isa<BaseMemRefType>(init.getType()))
      continue;
    bool isOwned = init.getDefiningOp<memref::AllocOp>() &&
                   llvm::all_of(init.getUsers(), [&](Operation *user) {
                     return user == loop ||
                            !(loop->isProperAncestor(user) || mayHandOn(user));
                   });
    if (!isOwned || !isAnother(init) || !isAnother(next) ||
        !llvm::is_contained(loop.getRegionIterArgs(), next))
      return false;
  }
  return staysInIteration(buffer, loop);
}

/// The part of what `fill` fills that the next operation on it writes all of,
/// without reading any of it; null if it does something else.
static memref::SubViewOp writtenPart(linalg::FillOp fill, Operation *&writer) {
  Value buffer = fill.getOutputs()[0];
  for (writer = fill->getNextNode(); writer; writer = writer->getNextNode()) {
    if (isViewOp(writer))
      continue;
    if (writer->getNumRegions() != 0 && !isa<linalg::LinalgOp>(writer))
      return {};
    // Bodies look elements up as well.
    auto usesBuffer = [&](Operation *op) {
      return llvm::any_of(op->getOperands(), [&](Value operand) {
        return getViewRoot(operand) == buffer;
      });
    };
    WalkResult found = writer->walk([&](Operation *op) {
      return usesBuffer(op) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (found.wasInterrupted())
      break;
  }
  auto op = dyn_cast_or_null<linalg::GenericOp>(writer);
  if (!op || !op.hasPureBufferSemantics() || op.getNumDpsInits() != 1 ||
      op.getNumReductionLoops() != 0 ||
      !op.getRegionOutputArgs()[0].use_empty() ||
      !op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isPermutation() ||
      llvm::any_of(op.getDpsInputs(),
                   [&](Value input) { return getViewRoot(input) == buffer; }))
    return {};
  // Its body may look into other buffers, not into this one.
  for (Operation &inner : *op.getBody())
    if (!isMemoryEffectFree(&inner))
      return {};
  auto part = op.getDpsInits()[0].getDefiningOp<memref::SubViewOp>();
  if (!part || part.getSource() != buffer || !part.hasUnitStride() ||
      part.getType().getRank() != part.getSourceType().getRank())
    return {};
  return part;
}

std::optional<BorderPlan> loopc::planBorder(linalg::FillOp fill) {
  Value buffer = fill.getOutputs()[0];
  auto type = dyn_cast<MemRefType>(buffer.getType());
  if (!type || !type.getLayout().isIdentity() ||
      !type.getElementType().isIntOrFloat() ||
      !(buffer.getDefiningOp<memref::AllocOp>() ? isKnownByViews(buffer, fill)
                                                : isCarriedAlone(buffer)))
    return std::nullopt;
  int64_t small = fill->getParentOfType<LoopLikeOpInterface>()
                      ? kSmallBytesInLoop
                      : kSmallBytes;
  if (type.hasStaticShape() &&
      type.getNumElements() * (type.getElementTypeBitWidth() / 8) < small)
    return std::nullopt;
  Operation *writer = nullptr;
  memref::SubViewOp inside = writtenPart(fill, writer);
  if (!inside)
    return std::nullopt;
  return BorderPlan{buffer, inside, writer};
}

/// Whether there may be something at the begin and at the end of an axis that
/// is `all` long, where `size` elements from `offset` on are written. `all` may
/// be unknown (null).
static std::pair<bool, bool> sidesOf(OpFoldResult offset, OpFoldResult size,
                                     OpFoldResult all) {
  bool begin = !isConstantIntValue(offset, 0);
  if (!all)
    return {begin, true};
  std::optional<int64_t> first = getConstantIntValue(offset),
                         count = getConstantIntValue(size),
                         whole = getConstantIntValue(all);
  bool isKnown = first && count && whole;
  bool end = isKnown ? *first + *count != *whole
                     : begin || !isEqualConstantIntOrValue(size, all);
  return {begin, end};
}

void BorderPlan::print(raw_ostream &os) const {
  os << "of=" << buffer.getType();
  for (int64_t axis : llvm::seq(inside.getSourceType().getRank())) {
    auto [begin, end] = sidesOf(inside.getMixedOffsets()[axis],
                                inside.getMixedSizes()[axis], getExtent(axis));
    if (begin || end)
      os << " d" << axis
         << (begin && end ? "=both"
             : begin      ? "=begin"
                          : "=end");
  }
}

OpFoldResult BorderPlan::getExtent(int64_t axis) const {
  MemRefType type = inside.getSourceType();
  if (!type.isDynamicDim(axis))
    return Builder(buffer.getContext()).getIndexAttr(type.getDimSize(axis));
  if (auto alloc = buffer.getDefiningOp<memref::AllocOp>())
    return alloc.getDynamicSizes()[type.getDynamicDimIndex(axis)];
  return nullptr;
}

void loopc::emitBorder(linalg::FillOp fill, const BorderPlan &plan) {
  memref::SubViewOp part = plan.inside;
  ImplicitLocOpBuilder b(fill.getLoc(), plan.writer);
  AffineExpr d0, d1, d2;
  bindDims(b.getContext(), d0, d1, d2);
  auto apply = [&](AffineExpr expr, ArrayRef<OpFoldResult> dims) {
    return affine::makeComposedFoldedAffineApply(
        b, b.getLoc(), AffineMap::get(dims.size(), 0, expr), dims);
  };
  int64_t rank = part.getSourceType().getRank();
  SmallVector<OpFoldResult> all;
  for (int64_t axis : llvm::seq(rank)) {
    OpFoldResult known = plan.getExtent(axis);
    all.push_back(
        known ? known : memref::getMixedSize(b, b.getLoc(), plan.buffer, axis));
  }
  SmallVector<OpFoldResult> offsets(rank, b.getIndexAttr(0)), sizes(all);
  SmallVector<OpFoldResult> ones(rank, b.getIndexAttr(1));
  auto fillPart = [&] {
    Value view =
        memref::SubViewOp::create(b, plan.buffer, offsets, sizes, ones);
    linalg::FillOp::create(b, fill.getInputs()[0], view);
  };
  for (int64_t axis : llvm::seq(rank)) {
    OpFoldResult offset = part.getMixedOffsets()[axis];
    OpFoldResult size = part.getMixedSizes()[axis];
    auto [begin, end] = sidesOf(offset, size, all[axis]);
    if (begin) {
      sizes[axis] = offset;
      fillPart();
    }
    if (end) {
      offsets[axis] = apply(d0 + d1, {offset, size});
      sizes[axis] = apply(d0 - d1 - d2, {all[axis], offset, size});
      if (!isConstantIntValue(sizes[axis], 0))
        fillPart();
    }
    offsets[axis] = offset;
    sizes[axis] = size;
  }
  fill.erase();
}
