//===- CustomOperators.h - Operators of libraries ---------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Which custom operators the nodes of a context may have, and what their
// descriptions (loopc-rt/custom.h) say of nodes.

#ifndef LOOPC_DIALECT_ONNX_IR_CUSTOMOPERATORS_H
#define LOOPC_DIALECT_ONNX_IR_CUSTOMOPERATORS_H

#include "loopc-rt/custom.h"
#include "loopc/Dialect/ONNX/IR/ONNX.h"
#include "mlir/IR/DialectInterface.h"
#include <functional>
#include <mutex>

namespace loopc::onnx {

/// The operators of a context: none, unless a library was loaded. They are
/// added before anybody asks.
class CustomOperators : public mlir::DialectInterface::Base<CustomOperators> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CustomOperators)
  explicit CustomOperators(mlir::Dialect *dialect) : Base(dialect) {}
  static CustomOperators &of(mlir::MLIRContext *context);

  /// False where the domain has another operator of this name, this version
  /// and the same types of inputs.
  bool add(const loopc_custom_op &op);
  /// The operator that version `version` of the domain has; or null. One of
  /// loopc's own libraries is loaded when it is first asked for.
  const loopc_custom_op *find(llvm::StringRef domain, llvm::StringRef name,
                              int64_t version) const;
  /// Of those that differ in the types of their inputs, the one for `node`.
  const loopc_custom_op *find(NodeOp node) const;

  /// Told of each operator of loopc's own libraries that is loaded, and of the
  /// library.
  std::function<void(const loopc_custom_op &, const std::string &)> onLoad;
  /// Why the library of an operator cannot be loaded; "" where nobody asked, or
  /// it has none of loopc's own.
  std::string getFault(llvm::StringRef domain, llvm::StringRef name) const;

private:
  /// What became of an operator of loopc's own, in the order of
  /// getOwnOperators().
  struct Own {
    bool isTried = false;
    const loopc_custom_op *op = nullptr;
    std::string fault;
  };
  const loopc_custom_op *findOwn(llvm::StringRef domain, llvm::StringRef name,
                                 int64_t version) const;

  llvm::SmallVector<const loopc_custom_op *> operators;
  mutable std::mutex mutex; ///< of `own`: passes run in several threads
  mutable llvm::SmallVector<Own, 1> own;
};

/// The types of the results of `node`, of the operator `op`. Fails after
/// emitting an error where operands, results or attributes are not what the
/// operator has.
mlir::LogicalResult
inferCustomTypes(NodeOp node, const loopc_custom_op &op,
                 llvm::SmallVectorImpl<mlir::Type> &types,
                 llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

} // namespace loopc::onnx

#endif // LOOPC_DIALECT_ONNX_IR_CUSTOMOPERATORS_H
