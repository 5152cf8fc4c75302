//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Dialect/Nest/Analysis/PrivateBuffers.h"
#include "loopc/Dialect/Nest/Analysis/Accesses.h"
#include "loopc/Dialect/Nest/Analysis/Coverage.h"
#include "loopc/Dialect/Nest/Analysis/Views.h"
#include "loopc/Dialect/Nest/IR/Parallel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace loopc;

namespace {
/// Reads and writes of a buffer, by whatever values may be it.
class PrivateBuffer {
public:
  explicit PrivateBuffer(memref::AllocOp alloc)
      : alloc(alloc), coverage(alloc) {}

  Obstacle findObstacle();

private:
  /// What makes the value that is used, down from the allocation, and the user.
  using Way = SmallVector<Operation *, 4>;

  void follow(Value value, const Way &way);
  void followUse(OpOperand &use, Way way);
  void recordWrite(const Way &way);
  bool isCovered(const Way &read, scf::ForOp loop, bool &isWritten);
  scf::ForOp findLoop(Operation *read);
  bool isOfIterations(Operation *loop);

  memref::AllocOp alloc;
  Coverage coverage;
  Obstacle obstacle;
  SmallVector<Way> reads;
  llvm::DenseSet<Value> seen;
  /// In each block what writes: stores, and loops that run as often as those
  /// that read, or not at all as those. What a branch writes counts within it.
  llvm::DenseMap<Block *, llvm::SetVector<Operation *>> writers;
  /// The stores of a writer that say where they write, by their blocks.
  llvm::DenseMap<Operation *,
                 llvm::MapVector<Block *, SmallVector<Operation *>>>
      stores;
  /// The loops around writes.
  llvm::DenseSet<Operation *> writingLoops;
};
} // namespace

/// True if the last of `way` has a view of the buffer, and not all of it.
static bool isView(ArrayRef<Operation *> way) {
  return !llvm::all_of(
      way.drop_back(),
      llvm::IsaPred<memref::CastOp, scf::YieldOp, arith::SelectOp>);
}

void PrivateBuffer::followUse(OpOperand &use, Way way) {
  Operation *user = use.getOwner();
  way.push_back(user);
  Access access = getAccess(user);
  if (access.buffer == use.get())
    return access.writes ? recordWrite(way) : reads.push_back(std::move(way));
  if (isa<scf::YieldOp>(user) &&
      isa<scf::IfOp, scf::IndexSwitchOp>(user->getParentOp()))
    return follow(user->getParentOp()->getResult(use.getOperandNumber()), way);
  if (isViewOp(user) || isa<arith::SelectOp>(user)) {
    for (Value result : user->getResults())
      if (isa<MemRefType>(result.getType()))
        follow(result, way);
    return;
  }
  if (!isa<memref::DeallocOp, memref::DimOp>(user))
    obstacle = {user, "uses a buffer that is marked '" +
                          kPrivateAttrName.str() + "', and nobody knows how"};
}

void PrivateBuffer::follow(Value value, const Way &way) {
  if (!seen.insert(value).second) {
    obstacle = {way.back(), "gives a value that is a buffer marked '" +
                                kPrivateAttrName.str() + "' in two ways"};
    return;
  }
  for (OpOperand &use : value.getUses())
    followUse(use, way);
}

void PrivateBuffer::recordWrite(const Way &way) {
  Operation *write = way.back();
  for (Operation *op = write; (op = op->getParentOp());)
    if (!writingLoops.insert(op).second)
      break;
  // What a branch yields or a select gives may be another buffer.
  bool isKnown =
      isa<memref::StoreOp, vector::StoreOp>(write) &&
      llvm::all_of(ArrayRef(way).drop_back(), llvm::IsaPred<memref::CastOp>);
  for (Operation *op = write;; op = op->getParentOp()) {
    writers[op->getBlock()].insert(op);
    if (isKnown)
      stores[op][write->getBlock()].push_back(write);
    if (!isa<scf::ForOp>(op->getParentOp()))
      return;
  }
}

/// True if each iteration of `loop` writes all that the last of `read` reads
/// before it does, or hands the buffer on to it; sets `isWritten` if it writes
/// something.
bool PrivateBuffer::isCovered(const Way &read, scf::ForOp loop,
                              bool &isWritten) {
  // By what stands in one block in front of an operation in it.
  auto isCoveredBefore = [&](Operation *op) {
    SmallVector<Coverage::Writer> parts;
    for (Operation *writer : writers[op->getBlock()])
      if (writer->isBeforeInBlock(op)) {
        isWritten = true;
        for (const auto &part : stores[writer])
          parts.push_back({writer, part.second});
      }
    // In the block that has both within, in the same iteration.
    Operation *scope = read.back();
    while (!scope->getBlock()->findAncestorOpInBlock(*op))
      scope = scope->getParentOp();
    return coverage.covers(parts, read.back(), scope, isView(read));
  };
  for (Operation *op : read) {
    if (!loop->isProperAncestor(op))
      continue;
    for (; op != loop; op = op->getParentOp())
      if (isCoveredBefore(op))
        return true;
  }
  return false;
}

/// True for a loop whose iterations may have such a buffer each.
bool PrivateBuffer::isOfIterations(Operation *loop) {
  return isa<scf::ForOp>(loop) && loop->hasAttr(kParallelAttrName) &&
         !loop->isAncestor(alloc);
}

/// The innermost loop around `read` whose iterations may have memory of their
/// own: one that is marked as parallel, and writes. What others read all of
/// their iterations share.
scf::ForOp PrivateBuffer::findLoop(Operation *read) {
  for (Operation *op = read; (op = op->getParentOp());)
    if (isOfIterations(op) && writingLoops.contains(op))
      return cast<scf::ForOp>(op);
  return {};
}

Obstacle PrivateBuffer::findObstacle() {
  follow(alloc, {});
  for (const Way &read : reads) {
    if (obstacle)
      break;
    scf::ForOp loop = findLoop(read.back());
    std::string marked =
        "a buffer that is marked '" + kPrivateAttrName.str() + "' ";
    if (!loop) {
      if (llvm::any_of(writingLoops,
                       [&](Operation *op) { return isOfIterations(op); }))
        obstacle = {read.back(),
                    "reads " + marked + "behind the iterations that write it"};
      continue;
    }
    bool isWritten = false;
    if (isCovered(read, loop, isWritten))
      continue;
    obstacle = {read.back(),
                isWritten ? "reads more of " + marked +
                                "than its iteration is known to have written"
                          : "reads " + marked +
                                "before its iteration has written it"};
  }
  return obstacle;
}

Obstacle loopc::findPrivateObstacle(memref::AllocOp alloc) {
  return PrivateBuffer(alloc).findObstacle();
}
