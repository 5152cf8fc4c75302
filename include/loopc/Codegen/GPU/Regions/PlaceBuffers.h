//===- Placement.h - Where buffers lie --------------------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_CODEGEN_GPU_REGIONS_PLACEBUFFERS_H
#define LOOPC_CODEGEN_GPU_REGIONS_PLACEBUFFERS_H

#include "mlir/IR/Operation.h"

namespace loopc {

/// True for what hands memrefs on without looking at what is in them.
bool handsOn(mlir::Operation *op);

} // namespace loopc

#endif // LOOPC_CODEGEN_GPU_REGIONS_PLACEBUFFERS_H
