//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Passes from tensors to buffers: see Passes.td and docs/Passes.md.

#ifndef LOOPC_BUFFERIZE_PASSES_H
#define LOOPC_BUFFERIZE_PASSES_H

#include "loopc/Dialect/Loop/IR/Loop.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace loopc {
#define GEN_PASS_DECL
#include "loopc/Bufferize/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "loopc/Bufferize/Passes.h.inc"
} // namespace loopc

#endif // LOOPC_BUFFERIZE_PASSES_H
