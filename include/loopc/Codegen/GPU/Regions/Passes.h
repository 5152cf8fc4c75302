//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Passes from loops on buffers to a device.region for each part of the host's
// function that runs on the GPU: see Passes.td and docs/Passes.md.

#ifndef LOOPC_CODEGEN_GPU_REGIONS_PASSES_H
#define LOOPC_CODEGEN_GPU_REGIONS_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace loopc {
#define GEN_PASS_DECL
#include "loopc/Codegen/GPU/Regions/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "loopc/Codegen/GPU/Regions/Passes.h.inc"
} // namespace loopc

#endif // LOOPC_CODEGEN_GPU_REGIONS_PASSES_H
