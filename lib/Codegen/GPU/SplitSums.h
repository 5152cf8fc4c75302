//===- SplitSums.h - Long sums for many blocks ------------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_LIB_CODEGEN_GPU_SPLITSUMS_H
#define LOOPC_LIB_CODEGEN_GPU_SPLITSUMS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace loopc {

/// Memory for what is computed in between.
using MakeMemory = llvm::function_ref<mlir::Value(mlir::MemRefType)>;

/// The same for `sum`, with a combiner (DeviceCode.h) and in no loop that may
/// be a kernel, where it is long, without a branch: there are no parts if it is
/// not. \returns the loop whose result is the whole.
mlir::scf::ForOp splitLoneSum(mlir::scf::ForOp sum, MakeMemory makeMemory);

} // namespace loopc

#endif // LOOPC_LIB_CODEGEN_GPU_SPLITSUMS_H
