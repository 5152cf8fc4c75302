//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Ownership.h"
#include "loopc/Bufferize/Storage.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace loopc;

static void verifyTypes(Operation *op, StageErrors &errors) {
  for (Type type : op->getResultTypes())
    if (isa<TensorType>(type))
      errors.emit(op) << "gives " << type << ", and tensors are buffers here";
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (BlockArgument argument : block.getArguments())
        if (isa<TensorType>(argument.getType()))
          errors.emit(op) << "has an argument of " << argument.getType()
                          << ", and tensors are buffers here";
}

/// What buffer-assign-storage says of a loop.
static void verifyStorage(memref::AllocOp alloc, StageErrors &errors) {
  for (Operation *op = alloc; (op = op->getParentOp());)
    if (op->hasAttr(kFixedStorageAttrName)) {
      InFlightDiagnostic error = errors.emit(alloc)
                                 << "is in a loop whose storage is fixed";
      error.attachNote(op->getLoc()) << "the loop is here";
      return;
    }
}

unsigned loopc::verifyMemRefStage(ModuleOp module, StageErrors &errors) {
  for (auto function : module.getOps<func::FuncOp>())
    function.walk<WalkOrder::PreOrder>([&](Operation *op) {
      verifyUsers(op, errors);
      verifyTypes(op, errors);
      if (auto alloc = dyn_cast<memref::AllocOp>(op))
        verifyStorage(alloc, errors);
      return errors.areEnough() ? WalkResult::interrupt()
                                : WalkResult::advance();
    });
  return verifyOwnership(module, errors);
}
