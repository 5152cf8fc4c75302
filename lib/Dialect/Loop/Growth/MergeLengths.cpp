//===- MergeLengths.cpp - Lengths of buffers that grow together -----------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Dialect/Loop/Growth/Passes.h"
#include "loopc/Dialect/Loop/Transforms/Canonicalizer.h"
#include "loopc/Dialect/Loop/Transforms/MergePorts.h"
#include "loopc/Dialect/Loop/Transforms/Utils.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

namespace loopc {
#define GEN_PASS_DEF_LOOPMERGELENGTHS
#include "loopc/Dialect/Loop/Growth/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;
using namespace loopc::loop;

/// True for a loop that carries several matrices and several numbers: buffers
/// that grow, perhaps, and how much of each is used.
static bool carriesLengths(LoopOp loop) {
  auto args = loop.getCarriedArgs();
  auto isNumber = [](Value arg) { return arg.getType().isIntOrIndex(); };
  auto isMatrix = [](Value arg) {
    auto type = dyn_cast<RankedTensorType>(arg.getType());
    return type && type.getRank() > 1;
  };
  return llvm::count_if(args, isNumber) > 1 &&
         llvm::count_if(args, isMatrix) > 1;
}

namespace {
struct LoopMergeLengths : loopc::impl::LoopMergeLengthsBase<LoopMergeLengths> {
  void runOnOperation() override {
    if (llvm::none_of(collectLoops(getOperation()), carriesLengths))
      return markAllAnalysesPreserved();
    OpPassManager before(func::FuncOp::getOperationName()), behind = before;
    before.addPass(createCanonicalizer());
    before.addPass(createCSEPass());
    behind.addPass(createCSEPass());
    behind.addPass(createCanonicalizer());
    if (failed(runPipeline(before, getOperation())))
      return signalPassFailure();
    IRRewriter rewriter(&getContext());
    uint64_t work = 0;
    for (LoopOp loop : collectLoops(getOperation()))
      numMerged += mergeEqualPorts(rewriter, loop, work);
    if (failed(runPipeline(behind, getOperation())))
      signalPassFailure();
  }
};
} // namespace
