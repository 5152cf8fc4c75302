//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_BUFFERIZE_PASSES_TD
#define LOOPC_BUFFERIZE_PASSES_TD

include "mlir/Pass/PassBase.td"

def BufferizeEliminateEmpty
    : Pass<"loopc-eliminate-empty-tensors", "::mlir::ModuleOp"> {
  let summary = "compute what is inserted where it is inserted";
  let description = [{
    MLIR's `eliminate-empty-tensors`, with an analysis that takes time about
    linear in the size of functions (`lib/Bufferize/InPlaceAnalysis.cpp`).
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect",
    "::mlir::tensor::TensorDialect"];
}

def BufferizeTensors : Pass<"loopc-bufferize", "::mlir::ModuleOp"> {
  let summary = "tensors become buffers";
  let description = [{
    MLIR's `one-shot-bufferize` of whole functions, whose buffers have no
    layouts and may be yielded by loops, with the same analysis.
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect",
    "::mlir::memref::MemRefDialect"];
}

#endif // LOOPC_BUFFERIZE_PASSES_TD
