//===- HoistAllocations.h - Memory set aside before loops -------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_LIB_CODEGEN_GPU_HOISTALLOCATIONS_H
#define LOOPC_LIB_CODEGEN_GPU_HOISTALLOCATIONS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace loopc {

/// Loops of `function` that could be kernels if they did not allocate get their
/// memory before they begin: as much as they can need at a time, where that
/// follows from what is known then. Others stay as they are.
void hoistAllocations(mlir::func::FuncOp function, bool hasLibdevice);

} // namespace loopc

#endif // LOOPC_LIB_CODEGEN_GPU_HOISTALLOCATIONS_H
