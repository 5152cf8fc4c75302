//===- BlockState.h - What a loop writes, in its block's memory -*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_LIB_CODEGEN_GPU_KERNELS_BLOCKSTATE_H
#define LOOPC_LIB_CODEGEN_GPU_KERNELS_BLOCKSTATE_H

#include "loopc/Dialect/Nest/Analysis/AliasClasses.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace loopc {

/// Gives small buffers of known extents that `kernel` writes, `given` to it by
/// the host in place of `region`, a place in shared memory: what threads leave
/// there for one another does not go through the caches of the device. The
/// kernel runs in one block, whose threads all come to its end unless the run
/// fails. What somebody else reads or writes is copied in first and out last.
///
/// \returns the bytes of these buffers.
int64_t keepInBlock(mlir::gpu::GPUFuncOp kernel, mlir::ValueRange given,
                    mlir::Operation *region, const AliasClasses &classes);

} // namespace loopc

#endif // LOOPC_LIB_CODEGEN_GPU_KERNELS_BLOCKSTATE_H
