//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// loop-hoist-invariants: what iterations need not compute anew is computed
// before the loop, which may not run at all: Speculation.h says what may be.

#include "loopc/Dialect/Loop/Transforms/Passes.h"
#include "loopc/Dialect/Loop/Transforms/Speculation.h"
#include "loopc/Dialect/Loop/Transforms/Utils.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

namespace loopc {
#define GEN_PASS_DEF_LOOPHOISTINVARIANTS
#include "loopc/Dialect/Loop/Transforms/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;
using namespace loopc::loop;

size_t loop::hoistInvariants(LoopLikeOpInterface loop) {
  llvm::SmallDenseMap<Region *, Operation *> checks;
  for (Region *region : loop.getLoopRegions())
    checks[region] = findFirstCheck(region->front());
  return moveLoopInvariantCode(
      loop.getLoopRegions(),
      [&](Value value, Region *) { return loop.isDefinedOutsideOfLoop(value); },
      [&](Operation *op, Region *region) {
        return mayRunBeforeLoop(op, loop, checks.lookup(region));
      },
      [&](Operation *op, Region *) { loop.moveOutOfLoop(op); });
}

namespace {
struct LoopHoistInvariants
    : loopc::impl::LoopHoistInvariantsBase<LoopHoistInvariants> {
  void runOnOperation() override {
    // Inner loops first, so that what moves can move on.
    unsigned hoisted = 0;
    getOperation()->walk(
        [&](LoopLikeOpInterface loop) { hoisted += hoistInvariants(loop); });
    numHoisted += hoisted;
    if (hoisted == 0)
      markAllAnalysesPreserved();
  }
};
} // namespace
