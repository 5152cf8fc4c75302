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

namespace loopc {

/// Classes of the memory that `op` and what is in it reads, and writes.
void collectAccesses(mlir::Operation *op, const AliasClasses &classes,
                     llvm::DenseSet<const void *> &read,
                     llvm::DenseSet<const void *> &written);

/// The same, of both.
void collectMemory(mlir::Operation *op, const AliasClasses &classes,
                   llvm::DenseSet<const void *> &memory);

} // namespace loopc

#endif // LOOPC_LIB_CODEGEN_GPU_KERNELREGIONS_H
