//===- Rows.h - Rows of elements ------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_LIB_DIALECT_LOOP_TRANSFORMS_ROWS_H
#define LOOPC_LIB_DIALECT_LOOP_TRANSFORMS_ROWS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

namespace loopc {

/// `op` with the axis last that neighbours in memory differ in, where there is
/// one; short axes that lie in memory one after the other are joined.
mlir::linalg::GenericOp arrangeRows(mlir::IRRewriter &rewriter,
                                    mlir::linalg::GenericOp op);

/// Bits of the widest number that an element of `op` is computed with; 0 where
/// that cannot be done with vectors in the place of numbers.
unsigned bitsOfVectorBody(mlir::linalg::GenericOp op);

/// Replaces `op` by loops if it is a reduction along other axes than the last,
/// a window's among them: strips of a row of the result stay in registers while
/// all that they are reduced from goes by. \returns whether it did.
bool vectorizeColumns(mlir::IRRewriter &rewriter, mlir::linalg::GenericOp op,
                      unsigned vectorBits, unsigned maskBits);

} // namespace loopc

#endif // LOOPC_LIB_DIALECT_LOOP_TRANSFORMS_ROWS_H
