//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StageErrors.h"
#include "loopc/Dialect/Loop/IR/Loop.h"
#include "loopc/Dialect/ONNX/IR/ONNX.h"

using namespace mlir;
using namespace loopc;
using namespace loopc::loop;

/// Loops have ports that bufferization takes: no slices, and scalars where
/// something is counted or decided.
static void verifyPorts(LoopOp loop, StageErrors &errors) {
  if (!loop.getSlices().empty())
    errors.emit(loop) << "has slices, which are lowered here";
  auto isTensor = [](Value value) {
    return value && isa<TensorType>(value.getType());
  };
  if (isTensor(loop.getTripCount()))
    errors.emit(loop) << "has a trip count that is no scalar";
  if (isTensor(loop.getCondition()))
    errors.emit(loop) << "has a condition that is no scalar";
  if (llvm::any_of(loop.getLengths(), isTensor))
    errors.emit(loop) << "has a length that is no scalar";
}

static void verifyTypes(Operation *op, StageErrors &errors) {
  auto verify = [&](Type type, const Twine &what) {
    if (isa<UnrankedTensorType>(type))
      errors.emit(op) << "has " << type << ", whose rank is not known, as "
                      << what;
    else if (isa<onnx::ONNXDialect>(type.getDialect()))
      errors.emit(op) << "has " << type << ", a type of the model, as " << what;
  };
  for (OpResult result : op->getResults())
    verify(result.getType(), "result #" + Twine(result.getResultNumber()));
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (BlockArgument argument : block.getArguments())
        verify(argument.getType(),
               "argument #" + Twine(argument.getArgNumber()) + " of a block");
}

void loopc::verifyLinalgStage(ModuleOp module, StageErrors &errors) {
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa_and_nonnull<onnx::ONNXDialect>(op->getDialect()))
      errors.emit(op) << "is lowered here";
    else if (isa<ScanOp>(op))
      errors.emit(op) << "becomes loop.loop here";
    else if (isa<UnrealizedConversionCastOp>(op))
      errors.emit(op) << "is left of a conversion";
    else if (auto loop = dyn_cast<LoopOp>(op))
      verifyPorts(loop, errors);
    verifyUsers(op, errors);
    verifyTypes(op, errors);
    verifyPackedOperand(op, errors);
    return errors.areEnough() ? WalkResult::interrupt() : WalkResult::advance();
  });
}
