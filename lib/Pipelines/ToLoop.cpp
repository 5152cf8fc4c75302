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
      "importers only leave hints of types; all later passes read types that "
      "are inferred from the values");
}

void loopc::populateCanonicalLoops(PassAdder manager, const PipelineOptions &) {
  addCleanup(manager, "dead and constant nodes need not be lowered, and they "
                      "may be the only ones of unknown rank");
}
