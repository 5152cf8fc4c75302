//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Dialect/Loopc/IR/Loopc.h"
#include "loopc/Dialect/Nest/Analysis/Independence.h"
#include "loopc/Dialect/Nest/Analysis/PrivateBuffers.h"
#include "loopc/Dialect/Nest/IR/Parallel.h"
#include "loopc/Dialect/Nest/Transforms/Passes.h"
#include "loopc/Support/Remarks.h"

namespace loopc {
#define GEN_PASS_DEF_NESTRETRACTUNPROVED
#include "loopc/Dialect/Nest/Transforms/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

namespace {
struct NestRetractUnproved
    : loopc::impl::NestRetractUnprovedBase<NestRetractUnproved> {
  using NestRetractUnprovedBase::NestRetractUnprovedBase;

  void runOnOperation() override {
    // Loops whose iterations write to such a buffer are not independent without
    // the mark.
    getOperation().walk([&](memref::AllocOp alloc) {
      if (!alloc->hasAttr(kPrivateAttrName))
        return;
      Obstacle obstacle = findPrivateObstacle(alloc);
      if (!obstacle)
        return;
      alloc->removeAttr(kPrivateAttrName);
      ++numRetracted;
      remarkMissed(alloc.getLoc(), "NestRetractUnproved",
                   "the buffer is said to be each iteration's own, and that is "
                   "not proved: '" +
                       obstacle.op->getName().getStringRef() + "' " +
                       obstacle.why);
    });
    getOperation().walk([&](scf::ForOp loop) {
      if (!loop->hasAttr(kParallelAttrName))
        return;
      std::string why = findObstacle(loop);
      if (why.empty())
        return;
      loop->removeAttr(kParallelAttrName);
      ++numRetracted;
      remarkMissed(loop.getLoc(), "NestRetractUnproved",
                   "its iterations are said to be independent, and that is "
                   "not proved: " +
                       why);
    });
  }

  std::string findObstacle(scf::ForOp loop) {
    if (isForGPU(loop))
      if (Operation *op = findUnsharedOp(loop))
        return ("it holds '" + op->getName().getStringRef() + "'").str();
    return findParallelObstacle(loop);
  }
};
} // namespace
