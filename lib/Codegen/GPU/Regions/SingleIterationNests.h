//===- SingleIterationNests.h - Work between kernels, and what kernels read -*-
// C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What the host would do between kernels as nests of one iteration, and which
// memory nests touch.

#ifndef LOOPC_LIB_CODEGEN_GPU_REGIONS_SINGLEITERATIONNESTS_H
#define LOOPC_LIB_CODEGEN_GPU_REGIONS_SINGLEITERATIONNESTS_H

#include "loopc/Dialect/Nest/Analysis/AliasClasses.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace loopc {

/// True for a nest of one iteration.
bool isSingleIterationNest(mlir::Operation *op);

/// Nests of one iteration that are none of `kernels` become what they were.
void promoteSingleIterationNests(
    mlir::func::FuncOp function,
    llvm::function_ref<bool(mlir::Operation *)> isKernel);

/// Classes of the memory that `op` and what is in it reads, and writes.
void collectAccesses(mlir::Operation *op, const AliasClasses &classes,
                     llvm::DenseSet<const void *> &read,
                     llvm::DenseSet<const void *> &written);

/// The same, of both.
void collectMemory(mlir::Operation *op, const AliasClasses &classes,
                   llvm::DenseSet<const void *> &memory);

/// Memory for what is computed in between.
using MakeMemory = llvm::function_ref<mlir::Value(mlir::MemRefType)>;

/// The same for `sum`, with a combiner (DeviceCode.h) and in no loop that may
/// be a kernel, where it is long, without a branch: there are no parts if it is
/// not. \returns the loop whose result is the whole.
mlir::scf::ForOp splitHostSum(mlir::scf::ForOp sum, MakeMemory makeMemory);

} // namespace loopc

#endif // LOOPC_LIB_CODEGEN_GPU_REGIONS_SINGLEITERATIONNESTS_H
