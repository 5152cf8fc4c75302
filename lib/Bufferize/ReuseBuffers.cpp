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

static BufferSpan findSpan(Value buffer, Block *block,
                           memref::DeallocOp dealloc, unsigned &work) {
  BufferSpan span{dealloc};
  forEachUser(buffer, block, [&](Operation *user, Value view) {
    ++work;
    if (user == dealloc || isa<memref::CastOp>(user))
      return;
    Operation *here = block->findAncestorOpInBlock(*user);
    span.isInside &= here != nullptr;
    if (!here)
      return;
    if (!span.first || here->isBeforeInBlock(span.first)) {
      span.first = here;
      span.isFirstIndirect = false;
    }
    if (!span.last || span.last->isBeforeInBlock(here)) {
      span.last = here;
      span.isLastIndirect = false;
    }
    bool isIndirect = here != user || withoutCasts(view) != buffer;
    span.isFirstIndirect |= here == span.first && isIndirect;
    span.isLastIndirect |= here == span.last && isIndirect;
  });
  return span;
}

/// True if what uses `alloc`, by `next`, may use `dying` instead.
static bool canReplace(Value alloc, const BufferSpan &next, Value dying,
                       const BufferSpan &before) {
  if (!next.isInside || !before.isInside || !next.first)
    return false;
  if (!before.last || before.last->isBeforeInBlock(next.first))
    return true;
  if (before.last != next.first || before.isLastIndirect ||
      next.isFirstIndirect)
    return false;
  auto op = dyn_cast<linalg::GenericOp>(next.first);
  return op && writesWhereItReads(op, dying, alloc);
}

bool loopc::canReplace(memref::AllocOp alloc, Value dying,
                       memref::DeallocOp dealloc) {
  Block *block = alloc->getBlock();
  unsigned work = 0;
  return ::canReplace(alloc, findSpan(alloc, block, nullptr, work), dying,
                      findSpan(dying, block, dealloc, work));
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

bool loopc::writeOverInput(linalg::GenericOp op, IRRewriter &rewriter,
                           BufferSpans &spans) {
  if (!op.hasPureBufferSemantics() || !goesInOrder(op))
    return false;
  auto spanOf = [&](Value buffer) {
    auto [it, isNew] = spans.known.try_emplace(buffer);
    Block *block = op->getBlock();
    if (isNew)
      it->second =
          findSpan(buffer, block, deallocIn(buffer, block), spans.work);
    return it->second;
  };
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
      BufferSpan before = spanOf(dying), next = spanOf(alloc);
      if (!before.dealloc || !::canReplace(alloc, next, dying, before))
        continue;
      next.first = before.first;
      next.isFirstIndirect = before.isFirstIndirect;
      spans.known[dying] = next;
      spans.known.erase(alloc);
      rewriter.eraseOp(before.dealloc);
      rewriter.replaceOp(alloc, dying);
      return true;
    }
  }
  return false;
}
