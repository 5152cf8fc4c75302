//===- KernelLoops.h - Loops of kernels of one thread -----------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_LIB_CODEGEN_GPU_KERNELS_KERNELLOOPS_H
#define LOOPC_LIB_CODEGEN_GPU_KERNELS_KERNELLOOPS_H

#include "loopc/Dialect/Nest/Analysis/AliasClasses.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace loopc {

/// Makes copies in `kernel` nests, and moves in front of its loops what each
/// iteration would compute anew.
void simplifyKernel(mlir::gpu::GPUFuncOp kernel);

/// Adds the nests in `op`, which is none, to `nests`; false where something
/// beside them is not for each thread to do.
bool collectNests(
    mlir::Operation *op,
    llvm::SmallVectorImpl<llvm::SmallVector<mlir::scf::ForOp>> &nests);

/// A sequential loop of `kernel` all of whose nests go over one space, and
/// touch only the element of their own iteration in what the loop writes,
/// becomes a nest over that space with the iterations inside: each thread goes
/// through them all without the others. \returns whether there was one.
bool interchangeLoops(mlir::gpu::GPUFuncOp kernel, const AliasClasses &classes);

} // namespace loopc

#endif // LOOPC_LIB_CODEGEN_GPU_KERNELS_KERNELLOOPS_H
