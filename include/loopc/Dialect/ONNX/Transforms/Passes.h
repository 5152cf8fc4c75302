//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The passes of the onnx dialect: see Passes.td.

#ifndef LOOPC_DIALECT_ONNX_TRANSFORMS_PASSES_H
#define LOOPC_DIALECT_ONNX_TRANSFORMS_PASSES_H

#include "loopc/Dialect/ONNX/IR/ONNX.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/Pass.h"

namespace loopc::onnx {

#define GEN_PASS_DECL
#include "loopc/Dialect/ONNX/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "loopc/Dialect/ONNX/Transforms/Passes.h.inc"

} // namespace loopc::onnx

#endif // LOOPC_DIALECT_ONNX_TRANSFORMS_PASSES_H
