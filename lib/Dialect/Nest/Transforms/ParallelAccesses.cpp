//===- ParallelAccesses.cpp - Independent look-ups, said to LLVM ----------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Where a loop reads at places that it has read too, LLVM cannot test at its
// entry whether it writes there, and makes no vectors of it. Here it is known.

#include "loopc/Dialect/Nest/Analysis/Independence.h"
#include "loopc/Dialect/Nest/IR/Parallel.h"
#include "loopc/Dialect/Nest/Transforms/Outlining.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace loopc;

/// True if `loop` only reads and writes numbers, each thread's own memory not
/// among them, and computes on them.
static bool isOfPlainAccesses(scf::ForOp loop) {
  auto isVector = llvm::IsaPred<VectorType>;
  return llvm::all_of(loop.getBody()->without_terminator(), [&](Operation &op) {
    bool isAccess = isa<memref::LoadOp, memref::StoreOp>(op);
    return op.getNumRegions() == 0 && (isAccess || isMemoryEffectFree(&op)) &&
           llvm::none_of(op.getOperandTypes(), isVector) &&
           llvm::none_of(op.getResultTypes(), isVector) &&
           !findWrittenPrivately(&op, loop);
  });
}

/// True if an element that `loop` reads lies where another one says.
static bool looksUp(scf::ForOp loop) {
  llvm::DenseSet<Value> read;
  for (Operation &op : loop.getBody()->without_terminator()) {
    auto isRead = [&](Value value) { return read.contains(value); };
    auto load = dyn_cast<memref::LoadOp>(op);
    if (load && llvm::any_of(load.getIndices(), isRead))
      return true;
    if (load || llvm::any_of(op.getOperands(), isRead))
      read.insert(op.result_begin(), op.result_end());
  }
  return false;
}

void loopc::markParallelAccesses(ModuleOp module) {
  // One for all: an access lies in one innermost loop.
  LLVM::AccessGroupAttr group;
  auto mark = [&](scf::ForOp loop) {
    if (!loop->hasAttr(kParallelAttrName) || loop.getNumResults() ||
        !isOfPlainAccesses(loop) || !looksUp(loop) ||
        !findParallelObstacle(loop).empty())
      return;
    StringRef name = "llvm.loop_annotation";
    auto said = loop->getAttrOfType<LLVM::LoopAnnotationAttr>(name);
    // LLVM shall make no vectors of it.
    if (said && said.getVectorize())
      return;
    if (!group)
      group = LLVM::AccessGroupAttr::get(module.getContext());
    loop->setAttr(name, LLVM::LoopAnnotationAttr::get(
                            module.getContext(), {}, {}, {},
                            said ? said.getUnroll() : nullptr, {}, {}, {}, {},
                            {}, {}, {}, {}, {}, {}, group));
  };
  // What runs on a device is not LLVM's to make vectors of.
  for (auto function : module.getOps<func::FuncOp>())
    function.walk(mark);
}
