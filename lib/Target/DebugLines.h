//===- DebugLines.h - Line tables that name nodes ---------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_LIB_TARGET_DEBUGLINES_H
#define LOOPC_LIB_TARGET_DEBUGLINES_H

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace loopc {

/// Gives each operation of `module` the line of its node in `file`, and each
/// function what LLVM wants to write a line table. \returns the lines: graph
/// paths of nodes.
mlir::FailureOr<std::vector<std::string>> numberNodes(mlir::ModuleOp module,
                                                      llvm::StringRef file);

} // namespace loopc

#endif // LOOPC_LIB_TARGET_DEBUGLINES_H
