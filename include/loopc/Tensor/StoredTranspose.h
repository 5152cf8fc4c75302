//===- StoredTranspose.h - Transposes that are not fused --------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_TENSOR_STOREDTRANSPOSE_H
#define LOOPC_TENSOR_STOREDTRANSPOSE_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace loopc {

/// Unit attribute of a linalg.transpose whose result is stored: what reads it
/// would read in a bad order, or more than once, so that it is not fused.
/// Losing it costs time only.
inline constexpr llvm::StringLiteral kStoredAttrName = "loopc.stored";

/// `value` with its axes in another order, in `init`: axis k of the result is
/// axis order[k]. It is stored.
inline mlir::Value storeTransposed(mlir::OpBuilder &b, mlir::Location loc,
                                   mlir::Value value, mlir::Value init,
                                   llvm::ArrayRef<int64_t> order) {
  auto transpose =
      mlir::linalg::TransposeOp::create(b, loc, value, init, order);
  transpose->setAttr(kStoredAttrName, b.getUnitAttr());
  return transpose->getResult(0);
}

} // namespace loopc

#endif // LOOPC_TENSOR_STOREDTRANSPOSE_H
