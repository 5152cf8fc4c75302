//===- ReuseBuffers.cpp - Buffers that take the place of others -----------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReuseBuffers.h"

using namespace mlir;
using namespace loopc;

memref::DeallocOp loopc::deallocIn(Value buffer, Block *block) {
  for (Operation *user : buffer.getUsers()) {
    if (auto dealloc = dyn_cast<memref::DeallocOp>(user);
        dealloc && dealloc->getBlock() == block)
      return dealloc;
    if (auto cast = dyn_cast<memref::CastOp>(user))
      if (memref::DeallocOp dealloc = deallocIn(cast.getResult(), block))
        return dealloc;
  }
  return {};
}

/// Calls `visit` on every operation that uses memory of `buffer`, with the
/// value that it uses: a view, or what loops and branches in `block` hand on.
static void forEachUser(Value buffer, Block *block,
                        llvm::function_ref<void(Operation *, Value)> visit) {
  SmallVector<Value> open{buffer};
  SmallPtrSet<Value, 8> seen{buffer};
  auto follow = [&](ValueRange values) {
    for (Value value : values)
      if (isa<BaseMemRefType>(value.getType()) && seen.insert(value).second)
        open.push_back(value);
  };
  while (!open.empty()) {
    Value value = open.pop_back_val();
    for (Operation *user : value.getUsers()) {
      visit(user, value);
      bool handsOn =
          user->hasTrait<OpTrait::IsTerminator>() && user->getBlock() != block;
      Operation *into = handsOn ? user->getParentOp() : user;
      follow(into->getResults());
      for (Region &region : into->getRegions())
        for (Block &inner : region)
          follow(inner.getArguments());
    }
  }
}

/// True if `op` reads `from` where it writes `to`, element by element.
static bool writesWhereItReads(linalg::GenericOp op, Value from, Value to) {
  bool reads = false, writes = false;
  for (OpOperand &operand : op->getOpOperands()) {
    Value buffer = withoutCasts(operand.get());
    if (buffer != from && buffer != to)
      continue;
    if (!op.getMatchingIndexingMap(&operand).isIdentity() ||
        op.isDpsInit(&operand) != (buffer == to))
      return false;
    (buffer == to ? writes : reads) = true;
  }
  return reads && writes;
}

bool loopc::canReplace(memref::AllocOp alloc, Value dying,
                       memref::DeallocOp dealloc) {
  Block *block = alloc->getBlock();
  Operation *last = nullptr, *first = nullptr;
  bool inside = true;
  // How an operation of the block uses them otherwise than as operands.
  SmallPtrSet<Operation *, 8> indirect;
  auto visit = [&](Operation *user, Value view, Operation *&end, bool isLast) {
    if (user == dealloc || isa<memref::CastOp>(user))
      return;
    Operation *here = block->findAncestorOpInBlock(*user);
    inside &= here != nullptr;
    if (!here)
      return;
    if (!end ||
        (isLast ? end->isBeforeInBlock(here) : here->isBeforeInBlock(end)))
      end = here;
    if (here != user || withoutCasts(view) != (isLast ? dying : alloc))
      indirect.insert(here);
  };
  forEachUser(dying, block, [&](Operation *user, Value view) {
    visit(user, view, last, /*isLast=*/true);
  });
  forEachUser(alloc, block, [&](Operation *user, Value view) {
    visit(user, view, first, /*isLast=*/false);
  });
  if (!inside || !first)
    return false;
  if (!last || last->isBeforeInBlock(first))
    return true;
  if (last != first || indirect.contains(first))
    return false;
  auto op = dyn_cast<linalg::GenericOp>(first);
  return op && writesWhereItReads(op, dying, alloc);
}

/// True if no operand of `op` is read across its rows: tiles that transpose
/// write before all has been read.
static bool goesInOrder(linalg::GenericOp op) {
  return llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) {
    int64_t last = -1;
    return map.isProjectedPermutation() &&
           llvm::all_of(map.getResults(), [&](AffineExpr expr) {
             int64_t at = cast<AffineDimExpr>(expr).getPosition();
             return std::exchange(last, at) < at;
           });
  });
}

/// True if sums are put together in `buffer` in front of `reader`: what is
/// computed on them while they are in registers needs another place.
static bool holdsSums(Value buffer, Operation *reader) {
  for (Operation *before = reader->getPrevNode(); before;
       before = before->getPrevNode()) {
    auto op = dyn_cast<linalg::LinalgOp>(before);
    if (!op)
      continue;
    for (OpOperand &init : op.getDpsInitsMutable())
      if (init.get() == buffer)
        return op.getNumReductionLoops() > 0 &&
               !op.getMatchingIndexingMap(&init).isPermutation();
  }
  return false;
}

bool loopc::writeOverInput(linalg::GenericOp op, IRRewriter &rewriter) {
  if (!op.hasPureBufferSemantics() || !goesInOrder(op))
    return false;
  for (Value init : op.getDpsInits()) {
    auto alloc = init.getDefiningOp<memref::AllocOp>();
    if (!alloc || alloc->getBlock() != op->getBlock())
      continue;
    for (Value input : op.getDpsInputs()) {
      auto dying = input.getDefiningOp<memref::AllocOp>();
      if (!dying || dying == alloc || dying.getType() != alloc.getType() ||
          dying->getBlock() != op->getBlock() ||
          !llvm::equal(dying.getDynamicSizes(), alloc.getDynamicSizes()) ||
          (op.getNumReductionLoops() == 0 && holdsSums(dying, op)))
        continue;
      memref::DeallocOp dealloc = deallocIn(dying, op->getBlock());
      if (!dealloc || !canReplace(alloc, dying, dealloc))
        continue;
      rewriter.eraseOp(dealloc);
      rewriter.replaceOp(alloc, dying);
      return true;
    }
  }
  return false;
}
