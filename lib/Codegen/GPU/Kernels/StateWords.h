//===- StateWords.h - Values as words of memory -----------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_LIB_CODEGEN_GPU_KERNELS_STATEWORDS_H
#define LOOPC_LIB_CODEGEN_GPU_KERNELS_STATEWORDS_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace loopc {

/// Words of 64 bits that a value of a kernel takes: a number has one, a buffer
/// one for its address and one for each number of its layout that the type does
/// not tell.
unsigned countWords(mlir::Type type);

/// The words of `value`, each of type i64.
llvm::SmallVector<mlir::Value> toWords(mlir::ImplicitLocOpBuilder &b,
                                       mlir::Value value);

/// The value again, of `type`, in a kernel.
mlir::Value fromWords(mlir::ImplicitLocOpBuilder &b, mlir::Type type,
                      mlir::ValueRange words);

/// A buffer of `type`, whose layout the type tells, at `address` (an
/// llvm.ptr).
mlir::Value makeBufferAt(mlir::ImplicitLocOpBuilder &b, mlir::MemRefType type,
                         mlir::Value address);

} // namespace loopc

#endif // LOOPC_LIB_CODEGEN_GPU_KERNELS_STATEWORDS_H
