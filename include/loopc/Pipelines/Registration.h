//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Everything that tools register.

#ifndef LOOPC_PIPELINES_REGISTRATION_H
#define LOOPC_PIPELINES_REGISTRATION_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace loopc {

/// Registers loopc's dialects with their external interface models, and all of
/// MLIR's dialects and extensions.
void registerAllDialects(mlir::DialectRegistry &registry);

/// Registers loopc's passes and pipelines, and all of MLIR's passes.
void registerAllPasses();

} // namespace loopc

#endif // LOOPC_PIPELINES_REGISTRATION_H
