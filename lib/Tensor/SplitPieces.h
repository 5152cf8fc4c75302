//===- SplitPieces.h - Operands that are put together -----------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_LIB_TENSOR_SPLITPIECES_H
#define LOOPC_LIB_TENSOR_SPLITPIECES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"

namespace loopc {

/// An elementwise operation on what is put together of parts of other tensors,
/// as shifts with wrap-around or with padding are, is done piece by piece, each
/// of which reads those tensors themselves:
///
///     %l = insert %x[1:n] at 0, %x[0:1] at n - 1   // Concat of two Slices
///     %y = linalg.generic ins(%x, %l) { x + l }
///     ->  %y[0:n-1] = generic ins(%x[0:n-1], %x[1:n])
///         %y[n-1:n] = generic ins(%x[n-1:n], %x[0:1])
///
/// So it is where nearly all elements are in one piece. Returns how many
/// operations were split.
unsigned splitPieces(mlir::IRRewriter &rewriter, mlir::func::FuncOp function);

} // namespace loopc

#endif // LOOPC_LIB_TENSOR_SPLITPIECES_H
