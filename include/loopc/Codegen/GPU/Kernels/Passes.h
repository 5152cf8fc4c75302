//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Passes from device.regions to kernels, their launches, and LLVM's dialect:
// see Passes.td and docs/Passes.md.

#ifndef LOOPC_CODEGEN_GPU_KERNELS_PASSES_H
#define LOOPC_CODEGEN_GPU_KERNELS_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Pass/Pass.h"

namespace loopc {
#define GEN_PASS_DECL
#include "loopc/Codegen/GPU/Kernels/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "loopc/Codegen/GPU/Kernels/Passes.h.inc"
} // namespace loopc

#endif // LOOPC_CODEGEN_GPU_KERNELS_PASSES_H
