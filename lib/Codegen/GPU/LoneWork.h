//===- LoneWork.h - Scalars and sums beside nests ---------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_LIB_CODEGEN_GPU_LONEWORK_H
#define LOOPC_LIB_CODEGEN_GPU_LONEWORK_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace loopc {

/// True for a nest of one iteration.
bool isLoneNest(mlir::Operation *op);

/// Nests of one iteration that are none of `kernels` become what they were.
void dissolveLoneNests(mlir::func::FuncOp function,
                       llvm::function_ref<bool(mlir::Operation *)> isKernel);

} // namespace loopc

#endif // LOOPC_LIB_CODEGEN_GPU_LONEWORK_H
