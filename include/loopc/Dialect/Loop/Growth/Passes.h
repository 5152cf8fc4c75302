//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Passes over values that loops collect or that grow in them: see Passes.td and
// docs/Passes.md.

#ifndef LOOPC_DIALECT_LOOP_GROWTH_PASSES_H
#define LOOPC_DIALECT_LOOP_GROWTH_PASSES_H

#include "loopc/Dialect/Loop/IR/Loop.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace loopc {
#define GEN_PASS_DECL
#include "loopc/Dialect/Loop/Growth/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "loopc/Dialect/Loop/Growth/Passes.h.inc"
} // namespace loopc

#endif // LOOPC_DIALECT_LOOP_GROWTH_PASSES_H
