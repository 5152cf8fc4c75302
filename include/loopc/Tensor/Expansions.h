//===- Expansions.h - Constants that are computed of constants --*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Expansions: weights that were stored as f16, or as integers with scales and
// zero points, as the floats that a model computes with.

#ifndef LOOPC_TENSOR_EXPANSIONS_H
#define LOOPC_TENSOR_EXPANSIONS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace loopc {

/// True for a constant, and for one that is seen with other axes.
bool isConstantTensor(mlir::Value value);

/// True if `op` computes floats, element by element, of constants alone, one of
/// which has an element for each, by an index or in the order of other axes.
bool isExpansion(mlir::linalg::GenericOp op);

/// True if what `expansion` reads is smaller than what it computes.
bool isNarrow(mlir::linalg::GenericOp expansion);

/// True if its reader, a product of matrices, reads `operand` as vectors along
/// the last axis of the result, all of them for each row: weights, if it is
/// constant.
bool isWeightsOfProduct(mlir::OpOperand &operand);

/// True if `operand` is a narrow expansion of a few simple instructions an
/// element that its reader, a product of matrices, computes where it sums up:
/// the constant is stored, and read, as it is in the model.
bool isExpandedInProduct(mlir::OpOperand &operand);

} // namespace loopc

#endif // LOOPC_TENSOR_EXPANSIONS_H
