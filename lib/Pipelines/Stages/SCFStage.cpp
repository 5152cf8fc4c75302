//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StageErrors.h"
#include "loopc/Dialect/Loop/IR/Loop.h"
#include "loopc/Dialect/Nest/Analysis/Accesses.h"
#include "loopc/Dialect/Nest/Analysis/Independence.h"
#include "loopc/Dialect/Nest/Analysis/Views.h"
#include "loopc/Dialect/Nest/IR/Parallel.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace loopc;

namespace {
/// Reads and writes of a buffer that is marked as private, by whatever values
/// may be it.
class PrivateBuffer {
public:
  PrivateBuffer(memref::AllocOp alloc, StageErrors &errors)
      : alloc(alloc), errors(errors) {}

  void verify();

private:
  struct Read {
    Operation *op;
    /// What makes the value that it reads, down from the allocation.
    SmallVector<Operation *, 4> way;
  };

  void follow(Value value, SmallVector<Operation *, 4> way);
  void followUse(OpOperand &use, SmallVector<Operation *, 4> way);
  void recordWrite(Operation *write);
  bool isWrittenBefore(Operation *op, scf::ForOp loop);
  scf::ForOp findLoop(Operation *read);

  memref::AllocOp alloc;
  StageErrors &errors;
  SmallVector<Read> reads;
  llvm::DenseSet<Value> seen;
  /// In each block the first operation behind which something is written.
  llvm::DenseMap<Block *, Operation *> firstWrites;
  /// The loops around writes.
  llvm::DenseSet<Operation *> writingLoops;
};
} // namespace

void PrivateBuffer::followUse(OpOperand &use, SmallVector<Operation *, 4> way) {
  Operation *user = use.getOwner();
  way.push_back(user);
  Access access = getAccess(user);
  if (access.buffer == use.get()) {
    if (access.writes)
      recordWrite(user);
    else
      reads.push_back({user, std::move(way)});
    return;
  }
  if (isa<scf::YieldOp>(user) &&
      isa<scf::IfOp, scf::IndexSwitchOp>(user->getParentOp()))
    return follow(user->getParentOp()->getResult(use.getOperandNumber()),
                  std::move(way));
  if (isViewOp(user) || isa<arith::SelectOp>(user)) {
    for (Value result : user->getResults())
      if (isa<MemRefType>(result.getType()))
        follow(result, way);
    return;
  }
  if (!isa<memref::DeallocOp, memref::DimOp>(user))
    errors.emit(user) << "uses a buffer that is marked '" << kPrivateAttrName
                      << "', and nobody knows how";
}

void PrivateBuffer::follow(Value value, SmallVector<Operation *, 4> way) {
  if (seen.insert(value).second)
    for (OpOperand &use : value.getUses())
      followUse(use, way);
}

/// Loops run as often as the loops that read, or not at all as those; what a
/// branch writes counts within it.
void PrivateBuffer::recordWrite(Operation *write) {
  for (Operation *op = write; (op = op->getParentOp());)
    if (!writingLoops.insert(op).second)
      break;
  for (Operation *op = write; op != alloc; op = op->getParentOp()) {
    Operation *&first = firstWrites[op->getBlock()];
    if (!first || op->isBeforeInBlock(first))
      first = op;
    if (!isa<scf::ForOp>(op->getParentOp()))
      return;
  }
}

/// True if something is written in each iteration of `loop` before `op`.
bool PrivateBuffer::isWrittenBefore(Operation *op, scf::ForOp loop) {
  for (; op != loop; op = op->getParentOp()) {
    Operation *first = firstWrites.lookup(op->getBlock());
    if (first && first->isBeforeInBlock(op))
      return true;
  }
  return false;
}

/// The innermost loop around `read` whose iterations may have memory of their
/// own: one that is marked as parallel, and writes. What others read all of
/// their iterations share.
scf::ForOp PrivateBuffer::findLoop(Operation *read) {
  for (Operation *op = read; (op = op->getParentOp());)
    if (auto loop = dyn_cast<scf::ForOp>(op);
        loop && loop->hasAttr(kParallelAttrName) &&
        writingLoops.contains(loop) && !loop->isAncestor(alloc))
      return loop;
  return {};
}

void PrivateBuffer::verify() {
  follow(alloc, {});
  for (const Read &read : reads) {
    scf::ForOp loop = findLoop(read.op);
    auto isBehindWrite = [&](Operation *op) {
      return loop->isProperAncestor(op) && isWrittenBefore(op, loop);
    };
    if (!loop || llvm::any_of(read.way, isBehindWrite))
      continue;
    InFlightDiagnostic error = errors.emit(read.op)
                               << "reads a buffer that is marked '"
                               << kPrivateAttrName
                               << "' before its iteration has written it";
    error.attachNote(alloc.getLoc()) << "the buffer is made here";
    return;
  }
}

static void verifyMark(scf::ForOp loop, StageErrors &errors) {
  if (std::string why = findParallelObstacle(loop); !why.empty())
    errors.emit(loop) << "is marked '" << kParallelAttrName
                      << "', and that is not proved: " << why;
}

void loopc::verifySCFStage(ModuleOp module, StageErrors &errors) {
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<linalg::LinalgOp, loop::LoopOp>(op)) {
      errors.emit(op) << "is lowered here";
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      if (loop->hasAttr(kParallelAttrName))
        verifyMark(loop, errors);
    } else if (auto alloc = dyn_cast<memref::AllocOp>(op)) {
      if (alloc->hasAttr(kPrivateAttrName))
        PrivateBuffer(alloc, errors).verify();
    }
    return errors.areEnough() ? WalkResult::interrupt() : WalkResult::advance();
  });
}
