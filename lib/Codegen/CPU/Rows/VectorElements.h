//===- VectorElements.h - Elements of vectors -----------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Vectors in the place of numbers, in operations element by element.

#ifndef LOOPC_LIB_CODEGEN_CPU_ROWS_VECTORELEMENTS_H
#define LOOPC_LIB_CODEGEN_CPU_ROWS_VECTORELEMENTS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/IRMapping.h"

namespace loopc {

/// True for elements that lie in memory as they do in vectors.
inline bool isVectorElement(mlir::Type type) {
  return type.isF32() || type.isF64() || type.isInteger(8) ||
         type.isInteger(16) || type.isInteger(32) || type.isInteger(64);
}

/// True for elements of rows: numbers of 16 bits as well, which are computed as
/// wider ones.
inline bool isRowElement(mlir::Type type) {
  return isVectorElement(type) || type.isF16() || type.isBF16();
}

/// The extents of the loops of `op`, each from whichever operand's type has it:
/// upstream asks the first one alone, and canonicalized buffers have lost
/// casts.
llvm::SmallVector<int64_t> knownExtents(mlir::linalg::LinalgOp op);

/// The same as values: where nobody knows an extent it is computed. What is
/// planned for a known one must not be asked for at run time, too.
llvm::SmallVector<mlir::OpFoldResult> createExtents(mlir::OpBuilder &b,
                                                    mlir::linalg::LinalgOp op);

/// `value`, a vector or a number, as a vector of `lanes`: a number is repeated.
mlir::Value widen(mlir::ImplicitLocOpBuilder &b, mlir::Value value,
                  int64_t lanes);

/// The neighbours of the memref `buffer` from `place` on; those that `mask`
/// (null: all are there) leaves out are `filler`, 0 or 1: from 1 nothing out of
/// the ordinary is computed.
mlir::Value loadLanes(mlir::ImplicitLocOpBuilder &b, mlir::Value buffer,
                      mlir::ValueRange place, mlir::Value mask, int64_t lanes,
                      int64_t filler = 1);

/// Stores the vector `value` in the memref `buffer` from `place` on, or what
/// `mask` (null: all) does not leave out of it.
void storeLanes(mlir::ImplicitLocOpBuilder &b, mlir::Value value,
                mlir::Value buffer, mlir::ValueRange place, mlir::Value mask);

/// The neighbours of the memref `buffer` from `place` on, each `times` times,
/// one behind the other; `lanes`, a multiple of it, in all. `mask` is null or a
/// vector.create_mask.
mlir::Value repeatLanes(mlir::ImplicitLocOpBuilder &b, mlir::Value buffer,
                        mlir::ValueRange place, mlir::Value mask, int64_t times,
                        int64_t lanes);

/// The elements of the memref `buffer` that are as far from `place` along the
/// last axis as the vector `distances` says; those that `mask` leaves out
/// are 1.
mlir::Value gatherLanes(mlir::ImplicitLocOpBuilder &b, mlir::Value buffer,
                        mlir::ValueRange place, mlir::Value distances,
                        mlir::Value mask, int64_t lanes);

/// `lanes` numbers of `type`, an integer or index: all of them `first`, an
/// index, or with `isAlong` those that count up from it.
mlir::Value numberLanes(mlir::ImplicitLocOpBuilder &b, mlir::Value first,
                        mlir::Type type, bool isAlong, int64_t lanes);

/// The place that `operand` of `op` is read at, or written at, for the element
/// at `at` of the space.
llvm::SmallVector<mlir::Value> placeOf(mlir::ImplicitLocOpBuilder &b,
                                       mlir::linalg::LinalgOp op,
                                       mlir::OpOperand &operand,
                                       mlir::ValueRange at);

/// The linalg.index that `op` is or, an arith.index_cast, converts; else null.
mlir::linalg::IndexOp getNumber(mlir::Operation &op);

/// True if `op`, of numbers, computes the same on vectors, whatever is in lanes
/// that nobody reads: those that are masked out compute, too.
bool isVectorOperation(mlir::Operation &op);

/// True if `body` is at most `most` operations, and none of them a function of
/// math: so much is written out for each vector of a tile.
bool isLightBody(mlir::Block &body, int64_t most);

/// `op`, of numbers, on vectors: of `operands`, numbers among them repeated.
mlir::Operation *cloneWide(mlir::ImplicitLocOpBuilder &b, mlir::Operation &op,
                           mlir::ValueRange operands, int64_t lanes);

/// The body of a linalg.generic on vectors, which `mapping` has those of its
/// arguments for, and what else is known already. \returns what it yields.
llvm::SmallVector<mlir::Value> cloneWide(mlir::ImplicitLocOpBuilder &b,
                                         mlir::Block &body,
                                         mlir::IRMapping &mapping,
                                         int64_t lanes);

} // namespace loopc

#endif // LOOPC_LIB_CODEGEN_CPU_ROWS_VECTORELEMENTS_H
