//===- Casts.h - Values without their casts ---------------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_SUPPORT_CASTS_H
#define LOOPC_SUPPORT_CASTS_H

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace loopc {

/// `value` without casts, which say other extents of the tensor, or another
/// layout of the buffer, that it is.
inline mlir::Value withoutCasts(mlir::Value value) {
  while (mlir::Operation *op = value.getDefiningOp()) {
    if (!mlir::isa<mlir::tensor::CastOp, mlir::memref::CastOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

} // namespace loopc

#endif // LOOPC_SUPPORT_CASTS_H
