//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The iterations of several loops that became one, by their number.

#ifndef LOOPC_LIB_DIALECT_NEST_TRANSFORMS_ITERATIONNUMBERS_H
#define LOOPC_LIB_DIALECT_NEST_TRANSFORMS_ITERATIONNUMBERS_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace loopc {

/// What `number` is in each of the loops that have `counts` iterations; the
/// outermost, whose count is not read, has enough.
inline llvm::SmallVector<mlir::Value>
splitNumber(mlir::ImplicitLocOpBuilder &b, mlir::Value number,
            llvm::ArrayRef<mlir::Value> counts) {
  llvm::SmallVector<mlir::Value> numbers(counts.size());
  for (size_t k = counts.size(); k-- > 1;) {
    numbers[k] = b.createOrFold<mlir::arith::RemUIOp>(number, counts[k]);
    number = b.createOrFold<mlir::arith::DivUIOp>(number, counts[k]);
  }
  numbers[0] = number;
  return numbers;
}

/// The iteration behind `numbers` of loops that have `counts` of them.
inline llvm::SmallVector<mlir::Value>
countOn(mlir::ImplicitLocOpBuilder &b, mlir::ValueRange numbers,
        llvm::ArrayRef<mlir::Value> counts) {
  llvm::SmallVector<mlir::Value> next(numbers);
  mlir::Value zero = mlir::arith::ConstantIndexOp::create(b, 0);
  mlir::Value carry = mlir::arith::ConstantIndexOp::create(b, 1);
  for (size_t k = counts.size(); k-- > 0;) {
    next[k] = mlir::arith::AddIOp::create(b, next[k], carry);
    if (k == 0)
      break;
    mlir::Value isEnd = mlir::arith::CmpIOp::create(
        b, mlir::arith::CmpIPredicate::eq, next[k], counts[k]);
    next[k] = mlir::arith::SelectOp::create(b, isEnd, zero, next[k]);
    carry = mlir::arith::IndexCastUIOp::create(b, b.getIndexType(), isEnd);
  }
  return next;
}

} // namespace loopc

#endif // LOOPC_LIB_DIALECT_NEST_TRANSFORMS_ITERATIONNUMBERS_H
