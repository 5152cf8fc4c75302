//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The activation functions of recurrent cells.

#ifndef LOOPC_LIB_CONVERSION_ONNXTOLINALG_NN_ACTIVATIONS_H
#define LOOPC_LIB_CONVERSION_ONNXTOLINALG_NN_ACTIVATIONS_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace loopc {

/// Builds scalar operations of one type.
struct Scalars {
  mlir::OpBuilder &b;
  mlir::Location loc;

  template <typename OpTy, typename... Args> mlir::Value make(Args &&...args) {
    return OpTy::create(b, loc, std::forward<Args>(args)...);
  }
  mlir::Value number(mlir::Value like, double value) {
    return make<mlir::arith::ConstantOp>(b.getFloatAttr(like.getType(), value));
  }
  mlir::Value add(mlir::Value x, mlir::Value y) {
    return make<mlir::arith::AddFOp>(x, y);
  }
  mlir::Value sub(mlir::Value x, mlir::Value y) {
    return make<mlir::arith::SubFOp>(x, y);
  }
  mlir::Value mul(mlir::Value x, mlir::Value y) {
    return make<mlir::arith::MulFOp>(x, y);
  }
  mlir::Value div(mlir::Value x, mlir::Value y) {
    return make<mlir::arith::DivFOp>(x, y);
  }
  mlir::Value max(mlir::Value x, mlir::Value y) {
    return make<mlir::arith::MaximumFOp>(x, y);
  }
  mlir::Value min(mlir::Value x, mlir::Value y) {
    return make<mlir::arith::MinimumFOp>(x, y);
  }
  mlir::Value select(mlir::Value c, mlir::Value x, mlir::Value y) {
    return make<mlir::arith::SelectOp>(c, x, y);
  }
  mlir::Value compare(mlir::arith::CmpFPredicate p, mlir::Value x,
                      mlir::Value y) {
    return make<mlir::arith::CmpFOp>(p, x, y);
  }
};

using ActivationFn = mlir::Value (*)(Scalars s, mlir::Value x, double alpha,
                                     double beta);

/// An activation as its name in ONNX, how many parameters it takes, and what
/// these are where they are not given.
struct ActivationKind {
  llvm::StringLiteral name;
  unsigned parameters;
  double alpha, beta;
  ActivationFn build;

  /// By name, whatever its case; null where there is none.
  static const ActivationKind *find(llvm::StringRef name);
};

/// One activation of a cell.
struct Activation {
  const ActivationKind *kind = nullptr;
  double alpha = 0, beta = 0;
};

} // namespace loopc

#endif // LOOPC_LIB_CONVERSION_ONNXTOLINALG_NN_ACTIVATIONS_H
