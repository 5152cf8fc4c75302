//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_LIB_TENSOR_CONSTANTGENERICS_H
#define LOOPC_LIB_TENSOR_CONSTANTGENERICS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace loopc {

using ConstantBytes = llvm::SmallVector<char, 0>;

/// `dim floordiv length`: the number of the block along a loop.
struct BlockNumber {
  unsigned dim;
  int64_t length;
};

/// What `expr` counts, if it is the number of a block.
std::optional<BlockNumber> matchBlockNumber(mlir::AffineExpr expr);

/// True if `evaluate` computes what `op` does, of tensors of known shapes:
/// arithmetic of integers and of floats of 16 to 64 bits, elementary functions,
/// sums of integers, and of floats in any order.
bool canEvaluate(mlir::linalg::GenericOp op);

/// The elements of the result of `op` from those of its operands, which
/// includes what the result begins with.
ConstantBytes evaluate(mlir::linalg::GenericOp op,
                       llvm::ArrayRef<ConstantBytes> operands);

} // namespace loopc

#endif // LOOPC_LIB_TENSOR_CONSTANTGENERICS_H
