//===- KernelRegions.h - Which code runs on the GPU -------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_LIB_CODEGEN_GPU_KERNELREGIONS_H
#define LOOPC_LIB_CODEGEN_GPU_KERNELREGIONS_H

#include "loopc/Dialect/Nest/Analysis/AliasClasses.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SetVector.h"

namespace loopc {

/// The operations of `function` that become a kernel each: nests whose
/// iterations are independent, and loops around such nests of which nothing
/// needs the host. What takes at most `minWork` operations stays on the host,
/// unless it works on what kernels work on. With `hostDrivesLoops` no loop
/// around nests is one.
llvm::SetVector<mlir::Operation *>
chooseKernels(mlir::func::FuncOp function, const AliasClasses &classes,
              int64_t minWork, bool hasLibdevice, bool hostDrivesLoops);

/// Classes of the memory that `op` and what is in it reads, and writes.
void collectAccesses(mlir::Operation *op, const AliasClasses &classes,
                     llvm::DenseSet<const void *> &read,
                     llvm::DenseSet<const void *> &written);

/// The same, of both.
void collectMemory(mlir::Operation *op, const AliasClasses &classes,
                   llvm::DenseSet<const void *> &memory);

} // namespace loopc

#endif // LOOPC_LIB_CODEGEN_GPU_KERNELREGIONS_H
