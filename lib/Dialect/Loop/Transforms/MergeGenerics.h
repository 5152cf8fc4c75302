//===- MergeGenerics.h - Two operations as one ----------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_LIB_DIALECT_LOOP_TRANSFORMS_MERGEGENERICS_H
#define LOOPC_LIB_DIALECT_LOOP_TRANSFORMS_MERGEGENERICS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

namespace loopc {

/// Operands of one merged operation: more streams than this cost more than they
/// save.
inline constexpr unsigned kMaxOperands = 24;

/// True for what computes each element by itself, in the order of its results.
bool isElementwise(mlir::linalg::GenericOp op);

/// True if `first` can be computed where `second` stands: nothing between them
/// needs its results.
bool canMoveDown(mlir::linalg::GenericOp first, mlir::linalg::GenericOp second);

/// One operation with the results of both, at the place of `second`. They have
/// the same loops, along one of which one of them may reduce; what `second`
/// reads of `first` it reads at the element that `first` computes.
mlir::linalg::GenericOp mergeGenerics(mlir::IRRewriter &rewriter,
                                      mlir::linalg::GenericOp first,
                                      mlir::linalg::GenericOp second);

} // namespace loopc

#endif // LOOPC_LIB_DIALECT_LOOP_TRANSFORMS_MERGEGENERICS_H
