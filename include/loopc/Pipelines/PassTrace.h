//===- PassTrace.h - Which passes a model exercises -------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_PIPELINES_PASSTRACE_H
#define LOOPC_PIPELINES_PASSTRACE_H

namespace mlir {
class ModuleOp;
class PassManager;
} // namespace mlir

namespace loopc {

/// Where the environment variable LOOPC_TRACE_PASSES names a file, appends to
/// it a line "node NAME" for each operator of `module`, and at the end of
/// `passes` a line "pass NAME" for each pass that changed anything. So `./dev
/// test quick` knows which tests exercise a pass (utils/quick.py).
void tracePasses(mlir::PassManager &passes, mlir::ModuleOp module);

} // namespace loopc

#endif // LOOPC_PIPELINES_PASSTRACE_H
