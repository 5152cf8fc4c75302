//===- HoverFilter.h - Documentation for what hovering shows ----*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_TOOLS_LOOPC_LSP_SERVER_HOVERFILTER_H
#define LOOPC_TOOLS_LOOPC_LSP_SERVER_HOVERFILTER_H

#include "llvm/ADT/STLFunctionalExtras.h"

#include <string>

namespace loopc {

/// A message of the server as it goes to the editor: where it is the answer to
/// hovering over an operation that has documentation, with that in it.
std::string addDocumentation(std::string message);

/// A message of the editor as it goes to the server: no JSON where it is nested
/// so deeply that parsing it would take more stack than there is.
std::string refuseDeeplyNested(std::string message);

/// Calls `serve`, whose messages on standard output go through
/// addDocumentation(), and returns its result. MLIR's server shows the generic
/// form of an operation, and has no place where a dialect could add to it.
int serveWithDocumentation(llvm::function_ref<int()> serve);

} // namespace loopc

#endif // LOOPC_TOOLS_LOOPC_LSP_SERVER_HOVERFILTER_H
