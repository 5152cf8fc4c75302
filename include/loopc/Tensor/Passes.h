//===- Passes.h - Passes on linalg operations on tensors --------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_TENSOR_PASSES_H
#define LOOPC_TENSOR_PASSES_H

#include "loopc/Support/WeightType.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace loopc {
#define GEN_PASS_DECL
#include "loopc/Tensor/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "loopc/Tensor/Passes.h.inc"
} // namespace loopc

#endif // LOOPC_TENSOR_PASSES_H
