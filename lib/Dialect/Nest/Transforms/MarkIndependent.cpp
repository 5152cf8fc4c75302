//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// nest-mark-independent: loops of the model whose iterations turn out to be
// independent. Passes mark the loops that they write themselves; of a loop of
// the model nothing is known before its body is a nest. One that only collects
// is a map over its iterations, which threads can share as a whole.
//
// What an iteration needs for itself was allocated in front of the loop
// (buffer-assign-storage). It is marked as private with the loop, where that is
// proved.

#include "loopc/Dialect/Loopc/IR/Loopc.h"
#include "loopc/Dialect/Nest/Analysis/Cost.h"
#include "loopc/Dialect/Nest/Analysis/Independence.h"
#include "loopc/Dialect/Nest/Analysis/PrivateBuffers.h"
#include "loopc/Dialect/Nest/Analysis/Views.h"
#include "loopc/Dialect/Nest/IR/Parallel.h"
#include "loopc/Dialect/Nest/Transforms/Passes.h"
#include "loopc/Support/Remarks.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/SetVector.h"

namespace loopc {
#define GEN_PASS_DEF_NESTMARKINDEPENDENT
#include "loopc/Dialect/Nest/Transforms/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

/// Of fewer iterations the nests in them make more parts for threads.
static constexpr int64_t kFewTrips = 8;
/// Instructions below which no loop is shared out.
static constexpr double kLittleWork = 8192;
/// Memory of an iteration lies on the stack of its thread: bytes at most.
static constexpr int64_t kMaxPrivate = 64 << 10;

/// Bytes of a buffer of known extents.
static std::optional<int64_t> findBytes(memref::AllocOp alloc) {
  MemRefType type = alloc.getType();
  if (!type.hasStaticShape() || !type.getElementType().isIntOrFloat())
    return std::nullopt;
  int64_t bits = type.getElementTypeBitWidth();
  return type.getNumElements() * ((bits + 7) / 8);
}

/// Buffers in front of `loop` that nothing else reads or writes, and that it
/// writes: an iteration may have them for itself. Sets `isTooLarge` where the
/// stack of a thread does not hold them.
static SmallVector<memref::AllocOp> findScratch(scf::ForOp loop,
                                                bool &isTooLarge) {
  llvm::SetVector<memref::AllocOp> found;
  loop.getBody()->walk([&](Operation *op) {
    for (Value operand : op->getOperands()) {
      auto alloc = operand.getDefiningOp<memref::AllocOp>();
      bool isScratch = alloc && !loop->isAncestor(alloc) &&
                       llvm::all_of(alloc->getUsers(), [&](Operation *user) {
                         return loop->isAncestor(user) ||
                                isa<memref::DeallocOp, memref::DimOp>(user);
                       });
      if (isScratch)
        found.insert(alloc);
    }
  });
  int64_t bytes = 0;
  for (memref::AllocOp alloc : found) {
    std::optional<int64_t> size = findBytes(alloc);
    isTooLarge |= !size || (bytes += *size) > kMaxPrivate;
  }
  return found.takeVector();
}

/// True for a loop that may be one of the model: it counts iterations, one by
/// one or in strips. What vectorization writes goes in steps of vectors, and is
/// marked there if it is worth threads.
static bool countsIterations(scf::ForOp loop) {
  return isConstantIntValue(loop.getStep(), 1) ||
         !loop.getBody()->getOps<scf::ForOp>().empty();
}

namespace {
struct NestMarkIndependent
    : loopc::impl::NestMarkIndependentBase<NestMarkIndependent> {
  void runOnOperation() override {
    // A kernel is a grid of other nests: loops are chosen there by themselves.
    if (isForGPU(getOperation()))
      return;
    getOperation().walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
      if (loop->hasAttr(kParallelAttrName) || tryToMark(loop))
        return WalkResult::skip();
      return WalkResult::advance();
    });
  }

  bool tryToMark(scf::ForOp loop) {
    std::optional<APInt> trips = loop.getStaticTripCount();
    if (loop.getNumResults() != 0 || !countsIterations(loop) ||
        !loop.getInductionVar().getType().isIndex() ||
        (trips && trips->slt(kFewTrips)))
      return false;
    Work work = WorkEstimate(loop, kCpuWork).of(loop);
    if (work.open.empty() && !work.isUnbounded && work.known < kLittleWork)
      return false;
    bool isTooLarge = false;
    SmallVector<memref::AllocOp> scratch = findScratch(loop, isTooLarge);
    if (isTooLarge)
      return false;
    markParallel(loop);
    SmallVector<memref::AllocOp> marked;
    auto isPrivate = [&](memref::AllocOp alloc) {
      // What is marked already may be private to iterations of another loop.
      if (!alloc->hasAttr(kPrivateAttrName)) {
        alloc->setAttr(kPrivateAttrName, UnitAttr::get(&getContext()));
        marked.push_back(alloc);
      }
      return !findPrivateObstacle(alloc);
    };
    std::string why = llvm::all_of(scratch, isPrivate)
                          ? findParallelObstacle(loop)
                          : "an iteration may read what another one has left";
    if (why.empty()) {
      ++numMarked;
      remarkDone(loop.getLoc(), "NestMarkIndependent",
                 "its iterations are independent");
      return true;
    }
    loop->removeAttr(kParallelAttrName);
    for (memref::AllocOp alloc : marked)
      alloc->removeAttr(kPrivateAttrName);
    remarkMissed(loop.getLoc(), "NestMarkIndependent",
                 "its iterations depend on one another: " + why);
    return false;
  }
};
} // namespace
