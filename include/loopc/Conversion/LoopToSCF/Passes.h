//===- Passes.h - The lowering of loops on buffers --------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_CONVERSION_LOOPTOSCF_PASSES_H
#define LOOPC_CONVERSION_LOOPTOSCF_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace loopc {
#define GEN_PASS_DECL
#include "loopc/Conversion/LoopToSCF/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "loopc/Conversion/LoopToSCF/Passes.h.inc"
} // namespace loopc

#endif // LOOPC_CONVERSION_LOOPTOSCF_PASSES_H
