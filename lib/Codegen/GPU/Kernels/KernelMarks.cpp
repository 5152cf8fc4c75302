//===- KernelMarks.cpp - What kernels say of their loops is proved --------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// loopc-prove-kernel-marks: what kernels say of their loops is proved before
// threads and blocks share these.

#include "DeviceRegions.h"
#include "LoopSlices.h"
#include "loopc/Codegen/GPU/Kernels/Passes.h"
#include "loopc/Dialect/Nest/Analysis/Independence.h"
#include "loopc/Dialect/Nest/IR/Parallel.h"
#include "loopc/Support/Remarks.h"

namespace loopc {
#define GEN_PASS_DEF_PROVEKERNELMARKS
#include "loopc/Codegen/GPU/Kernels/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

namespace {
struct ProveKernelMarks : loopc::impl::ProveKernelMarksBase<ProveKernelMarks> {
  void runOnOperation() override {
    LogicalResult result = visitRegions(
        getOperation(), [&](device::RegionOp region, gpu::GPUFuncOp kernel,
                            AliasClasses &classes) {
          if (failed(verifyKernelWrites(region, kernel, classes)))
            return failure();
          return prove(kernel, KernelRoots(region, kernel));
        });
    if (failed(result))
      signalPassFailure();
  }

private:
  LogicalResult prove(gpu::GPUFuncOp kernel, const KernelRoots &roots);
};
} // namespace

LogicalResult ProveKernelMarks::prove(gpu::GPUFuncOp kernel,
                                      const KernelRoots &roots) {
  WalkResult result = kernel.walk([&](scf::ForOp loop) {
    std::string why;
    if (loop->hasAttr(kSlicesAttrName))
      why = findSlicesObstacle(loop, roots);
    if (!why.empty()) {
      loop.emitOpError("is marked '")
          << kSlicesAttrName << "', and that is not proved: " << why;
      return WalkResult::interrupt();
    }
    if (loop->hasAttr(kParallelAttrName))
      why = findParallelObstacle(loop, roots);
    if (why.empty())
      return WalkResult::advance();
    loop->removeAttr(kParallelAttrName);
    ++numRetracted;
    remarkMissed(loop.getLoc(), "Kernel",
                 "in the kernel its iterations are said to be independent, and "
                 "that is not proved: " +
                     why);
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
