//===- CheckEnds.h - Range checks of computed indices ----------*- C++ -*--===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_LIB_TENSOR_CHECKENDS_H
#define LOOPC_LIB_TENSOR_CHECKENDS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"

namespace loopc {

/// Indices that are computed of the numbers of their elements, and that rise or
/// fall along an axis, are checked at both ends of that axis instead of one by
/// one:
///
///     %t = linalg.generic { index_cast(linalg.index 0) - %w }
///     %m = scf.for %i = 0 to %n step 1 iter_args(%max = 0) {
///       maxui(%max, tensor.extract %t[%i]) }
///     loop.check (cmpi ult, %m, %extent)
///     ->  scf.for %i = 0 to %n step max(%n - 1, 1) { maxui(%max, %i - %w) }
///
/// Returns how many loops have become so short.
unsigned checkEndsOfIndices(mlir::IRRewriter &rewriter,
                            mlir::func::FuncOp function);

} // namespace loopc

#endif // LOOPC_LIB_TENSOR_CHECKENDS_H
