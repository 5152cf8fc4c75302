//===- Documentation.h - What is written about operations -------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_TOOLS_LOOPC_LSP_SERVER_DOCUMENTATION_H
#define LOOPC_TOOLS_LOOPC_LSP_SERVER_DOCUMENTATION_H

#include "llvm/ADT/StringRef.h"

namespace loopc {

/// Summary, syntax, description and examples of an operation of loopc's
/// dialects ("loop.loop"), in Markdown; empty for others.
llvm::StringRef findDocumentation(llvm::StringRef operation);

} // namespace loopc

#endif // LOOPC_TOOLS_LOOPC_LSP_SERVER_DOCUMENTATION_H
