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
#include "mlir/IR/Threading.h"

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
    // A test reads the marks of loops within, and changes nothing outside.
    SmallVector<Nest, 0> nests = collectNests();
    parallelForEach(&getContext(), nests, [this](Nest &nest) { test(nest); });
    for (const Nest &nest : nests)
      for (const auto &[loop, why] : nest.unproved) {
        ++numRetracted;
        remarkMissed(loop->getLoc(), "NestRetractUnproved",
                     "its iterations are said to be independent, and that is "
                     "not proved: " +
                         why);
      }
  }

private:
  /// An outermost marked loop, and what is not proved of it and those within.
  struct Nest {
    scf::ForOp loop;
    SmallVector<std::pair<Operation *, std::string>> unproved = {};
  };

  SmallVector<Nest, 0> collectNests() {
    SmallVector<Nest, 0> nests;
    getOperation().walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
      if (!loop->hasAttr(kParallelAttrName))
        return WalkResult::advance();
      nests.push_back({loop});
      return WalkResult::skip();
    });
    return nests;
  }

  void test(Nest &nest) {
    nest.loop.walk([&](scf::ForOp loop) {
      if (!loop->hasAttr(kParallelAttrName))
        return;
      std::string why = findObstacle(loop);
      if (why.empty())
        return;
      loop->removeAttr(kParallelAttrName);
      nest.unproved.push_back({loop, std::move(why)});
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
