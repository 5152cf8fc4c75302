//===- Contractions.h - What is a contraction -------------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The one definition of a contraction among operations of linalg, on tensors
// and buffers. Who wants more of one than what is said here asks for it beside.

#ifndef LOOPC_SUPPORT_CONTRACTIONS_H
#define LOOPC_SUPPORT_CONTRACTIONS_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace loopc {

/// True for a contraction: a reduction of what is computed of several operands,
/// as products of matrices and convolutions are. Windows count, and any way to
/// compute and to combine; upstream's isaContractionOpInterface wants products
/// that are added up, along axes that each operand has by itself.
bool isContraction(mlir::linalg::LinalgOp op);

/// True for a contraction that reads the elements of one operand at most: a
/// pooling, whose other operand tells the extents of the window.
bool isPooling(mlir::linalg::LinalgOp op);

/// True for a contraction of one result in which rows share a matrix: two of
/// its operands go along the sum, and one of these lacks an axis of the result.
bool isMatrixProduct(mlir::linalg::LinalgOp op);

/// What `op` adds to its sum, if that is a product of floats; else null.
struct SummedProduct {
  mlir::arith::AddFOp sum = {};
  mlir::arith::MulFOp product = {};
  explicit operator bool() const { return bool(mlir::arith::MulFOp(product)); }
};
SummedProduct findSummedProduct(mlir::linalg::GenericOp op);

/// The same, if the factors are the two inputs of `op`, which has no others, as
/// they are or widened.
SummedProduct findProductOfInputs(mlir::linalg::GenericOp op);

} // namespace loopc

#endif // LOOPC_SUPPORT_CONTRACTIONS_H
