//===- Passes.h - Passes that hold for whole pipelines ----------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_PIPELINES_PASSES_H
#define LOOPC_PIPELINES_PASSES_H

#include "loopc/Dialect/Loopc/IR/Loopc.h"
#include "loopc/Pipelines/Pipelines.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace loopc {

#define GEN_PASS_DECL
#include "loopc/Pipelines/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "loopc/Pipelines/Passes.h.inc"

} // namespace loopc

#endif // LOOPC_PIPELINES_PASSES_H
