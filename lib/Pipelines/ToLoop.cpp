//===- ToLoop.cpp - From the import to canonical loops --------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommonPasses.h"
#include "loopc/Dialect/ONNX/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace loopc;

void loopc::populateInference(PassAdder manager, const PipelineOptions &) {
  manager.nest<func::FuncOp>().addPass(
      onnx::createONNXInferTypes(),
      "front ends leave types that are hints; what every pass from here on "
      "reads follows from the values");
}

void loopc::populateCanonicalLoops(PassAdder manager, const PipelineOptions &) {
  addCleanup(manager, "what is dead or constant in the model need not be "
                      "lowered, and may be all that has an unknown rank");
}
