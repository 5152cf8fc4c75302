//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What buffer-assign-storage says of loops, and loopc-verify-stage holds it to.

#ifndef LOOPC_BUFFERIZE_STORAGE_H
#define LOOPC_BUFFERIZE_STORAGE_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/StringRef.h"

namespace loopc {

/// Unit attribute of a loop.loop in which nothing is allocated: all that it
/// carries and computes has its place before the loop.
inline constexpr llvm::StringLiteral kFixedStorageAttrName =
    "loopc.fixed_storage";

/// True if each iteration of `loop` comes to `op` in its body; false where `op`
/// stands in a branch that makes room (`loopc.grows`), or in a version of an
/// inner loop that hardly ever runs (`loopc.cold`).
bool isInEachIteration(mlir::Operation *op, mlir::Operation *loop);

} // namespace loopc

#endif // LOOPC_BUFFERIZE_STORAGE_H
