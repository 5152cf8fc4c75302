//===- ResultPlaces.h - Results that are put together -----------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_LIB_BUFFERIZE_RESULTPLACES_H
#define LOOPC_LIB_BUFFERIZE_RESULTPLACES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace loopc {

/// Lets several results of one operation that are inserted into one tensor be
/// computed there:
///
///     %r:2 = linalg.generic outs(%e0, %e1)
///     %a = tensor.insert_slice %r#0 into %empty[0] [4] [1]
///     %b = tensor.insert_slice %r#1 into %a[4] [4] [1]
///     ->  %p0 = tensor.extract_slice %empty[0] [4] [1]
///         %p1 = tensor.extract_slice %empty[4] [4] [1]
///         %r:2 = linalg.generic outs(%p0, %p1)
///         ... as before
///
/// MLIR's elimination of empty tensors does so for the first insertion alone:
/// what others insert into is made behind the operation.
void placeResultsTogether(mlir::func::FuncOp function);

/// Copies rows and columns of a matrix that a loop carries where an iteration
/// computes all of the matrix from itself and from them:
///
///     loop.loop carried(%u = ...) {
///       %row = tensor.extract_slice %u[%k, 0] [1, 64] [1, 1]
///       %next = linalg.generic ins(%u, %row : (i, j), (j))
///       loop.yield carried(%next)
///     ->  %row = bufferization.alloc_tensor() copy(%slice)
///
/// The matrix then stays where it is: two that take turns need twice the cache.
void copyOverwrittenSlices(mlir::func::FuncOp function);

} // namespace loopc

#endif // LOOPC_LIB_BUFFERIZE_RESULTPLACES_H
