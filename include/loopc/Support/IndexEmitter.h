//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What classes that write code derive from: a builder, and arithmetic on
// indices.

#ifndef LOOPC_SUPPORT_INDEXEMITTER_H
#define LOOPC_SUPPORT_INDEXEMITTER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace loopc {

class IndexEmitter {
protected:
  /// `where` is a builder, or an operation to write in front of.
  template <typename Where>
  IndexEmitter(mlir::Location loc, Where &&where)
      : b(loc, std::forward<Where>(where)) {}

  mlir::Value index(int64_t value) {
    return mlir::arith::ConstantIndexOp::create(b, value);
  }
  mlir::Value toValue(mlir::OpFoldResult value) {
    return mlir::getValueOrCreateConstantIndexOp(b, b.getLoc(), value);
  }
  // What is known is folded.
  mlir::Value add(mlir::Value x, mlir::Value y) {
    return b.createOrFold<mlir::arith::AddIOp>(x, y);
  }
  mlir::Value sub(mlir::Value x, mlir::Value y) {
    return b.createOrFold<mlir::arith::SubIOp>(x, y);
  }
  mlir::Value mul(mlir::Value x, mlir::Value y) {
    return b.createOrFold<mlir::arith::MulIOp>(x, y);
  }

  mlir::ImplicitLocOpBuilder b;
};

} // namespace loopc

#endif // LOOPC_SUPPORT_INDEXEMITTER_H
