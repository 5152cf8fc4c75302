//===- Polls.h - How often kernels look whether to end ----------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_LIB_CODEGEN_GPU_KERNELS_POLLS_H
#define LOOPC_LIB_CODEGEN_GPU_KERNELS_POLLS_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace loopc {

/// True for a `loop.poll`, and for a branch with nothing else in it.
bool isPoll(mlir::Operation *op);

/// Polls of loops in `kernel` become those of every so many iterations: on the
/// CPU they cost little, here a word of the host's memory is read and all
/// threads wait for one another.
///
///     scf.for %i = ... step %c1 { loop.poll ... }
///     // becomes
///     scf.for %i = ... step %c1 { scf.if (%i % 64 == 63) { loop.poll } ... }
void spacePolls(mlir::gpu::GPUFuncOp kernel);

} // namespace loopc

#endif // LOOPC_LIB_CODEGEN_GPU_KERNELS_POLLS_H
