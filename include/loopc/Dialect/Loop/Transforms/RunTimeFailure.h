//===- RunTimeFailure.h - Code that ends the run --------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_DIALECT_LOOP_TRANSFORMS_RUNTIMEFAILURE_H
#define LOOPC_DIALECT_LOOP_TRANSFORMS_RUNTIMEFAILURE_H

#include "mlir/IR/Builders.h"

namespace loopc {

/// Ends the run with `message`, which begins with the node's path and in which
/// each "{}" stands for the next of `values`. Returns a value for every one of
/// `types`, for what follows and is never reached; its unknown dimensions are
/// 0.
llvm::SmallVector<mlir::Value> createRunTimeFailure(mlir::OpBuilder &b,
                                                    mlir::Location loc,
                                                    const llvm::Twine &message,
                                                    mlir::ValueRange values,
                                                    mlir::TypeRange types);

/// True for an operation that perhaps no run comes to: one of a branch, of a
/// loop that may have no iteration, or of a function that others call (whether
/// they come to the call is not known here). What is wrong there is an error of
/// the run that does.
bool mayNeverRun(mlir::Operation *op);

/// Moves checks up in their blocks, to where what they look at is known:
///
///   %y = linalg.generic ... %x        %d = tensor.dim %x, %c0
///   %d = tensor.dim %x, %c0      ->   %e = arith.cmpi eq, %d, %c3
///   %e = arith.cmpi eq, %d, %c3       loop.check %e, "..."
///   loop.check %e, "..."              %y = linalg.generic ... %x
///
/// What is computed on tensors before a check may later be given the types, or
/// the place in another tensor, that hold only behind it: the check is to come
/// first. Only the order of errors changes.
void hoistChecks(mlir::Operation *op);

} // namespace loopc

#endif // LOOPC_DIALECT_LOOP_TRANSFORMS_RUNTIMEFAILURE_H
