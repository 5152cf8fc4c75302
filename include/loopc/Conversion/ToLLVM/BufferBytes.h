//===- BufferBytes.h - How much memory a buffer takes -----------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_CONVERSION_TOLLVM_BUFFERBYTES_H
#define LOOPC_CONVERSION_TOLLVM_BUFFERBYTES_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace loopc {

/// Bytes of one element of `type` as memory holds it.
int64_t getElementBytes(mlir::MemRefType type);

/// Bytes of a buffer of these extents (i64); -1, which the runtime refuses,
/// where there are more than 64 bits can count: wrapped, they would be fewer
/// than are written.
mlir::Value countBufferBytes(mlir::ImplicitLocOpBuilder &b,
                             mlir::MemRefType type,
                             mlir::ArrayRef<mlir::Value> sizes);

} // namespace loopc

#endif // LOOPC_CONVERSION_TOLLVM_BUFFERBYTES_H
