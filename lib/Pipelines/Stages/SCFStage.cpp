//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Ownership.h"
#include "loopc/Dialect/Loop/IR/Loop.h"
#include "loopc/Dialect/Loopc/IR/Sections.h"
#include "loopc/Dialect/Nest/Analysis/Independence.h"
#include "loopc/Dialect/Nest/Analysis/PrivateBuffers.h"
#include "loopc/Dialect/Nest/IR/Parallel.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace loopc;

static void verifyMark(scf::ForOp loop, StageErrors &errors) {
  if (std::string why = findParallelObstacle(loop); !why.empty())
    errors.emit(loop) << "is marked '" << kParallelAttrName
                      << "', and that is not proved: " << why;
}

static void verifyPrivate(memref::AllocOp alloc, StageErrors &errors) {
  Obstacle obstacle = findPrivateObstacle(alloc);
  if (!obstacle)
    return;
  InFlightDiagnostic error = errors.emit(obstacle.op) << obstacle.why;
  error.attachNote(alloc.getLoc()) << "the buffer is allocated here";
}

unsigned loopc::verifySCFStage(ModuleOp module, bool areMarksProved,
                               StageErrors &errors) {
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    verifyUsers(op, errors);
    if (isa<linalg::LinalgOp, loop::LoopOp>(op)) {
      errors.emit(op) << "is lowered here";
    } else if (op->hasAttr(kSectionAttrName) || isa<CallSectionOp>(op)) {
      errors.emit(op) << "is, or calls, a section of a function, which goes "
                         "back to it here";
    } else if (areMarksProved) {
      return WalkResult::advance();
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      if (loop->hasAttr(kParallelAttrName))
        verifyMark(loop, errors);
    } else if (auto alloc = dyn_cast<memref::AllocOp>(op)) {
      if (alloc->hasAttr(kPrivateAttrName))
        verifyPrivate(alloc, errors);
    }
    return errors.areEnough() ? WalkResult::interrupt() : WalkResult::advance();
  });
  return verifyOwnership(module, errors);
}
