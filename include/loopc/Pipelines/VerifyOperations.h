//===- VerifyOperations.h - MLIR's verifier, as it is asked -----*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_PIPELINES_VERIFYOPERATIONS_H
#define LOOPC_PIPELINES_VERIFYOPERATIONS_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace mlir {
class Diagnostic;
class Operation;
class PassManager;
} // namespace mlir

namespace loopc {

/// Verifies `root` and all in it, and hands errors to `report`. Views in code
/// that never runs, whose extents contradict each other, are none; returns
/// them.
llvm::SmallVector<mlir::Operation *>
verifyOperations(mlir::Operation *root,
                 llvm::function_ref<void(mlir::Diagnostic &)> report);

/// Verifies the IR behind each pass of `passes`; errors are internal ones of
/// the compiler, and set `hasFailed`.
void verifyEachPass(mlir::PassManager &passes, bool &hasFailed);

} // namespace loopc

#endif // LOOPC_PIPELINES_VERIFYOPERATIONS_H
