//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Passes between dialects: see Passes.td and docs/Passes.md.

#ifndef LOOPC_CONVERSION_PASSES_H
#define LOOPC_CONVERSION_PASSES_H

#include "loopc/Support/Cublas.h"
#include "loopc/Support/DeviceLoops.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Pass/Pass.h"

namespace loopc {
#define GEN_PASS_DECL
#include "loopc/Conversion/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "loopc/Conversion/Passes.h.inc"
} // namespace loopc

#endif // LOOPC_CONVERSION_PASSES_H
