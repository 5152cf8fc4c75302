//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The namespace of the discardable attributes 'loopc.*'.

#ifndef LOOPC_DIALECT_LOOP_IR_LOOPCATTRIBUTES_H
#define LOOPC_DIALECT_LOOP_IR_LOOPCATTRIBUTES_H

#include "mlir/IR/Dialect.h"

namespace loopc {

/// A dialect without operations and types, which verifies the attributes of its
/// name: ones that nobody knows are errors, and those of ports are what the
/// stages expect that read them.
class LoopcAttributes : public mlir::Dialect {
public:
  explicit LoopcAttributes(mlir::MLIRContext *context);
  static llvm::StringRef getDialectNamespace() { return "loopc"; }

  llvm::LogicalResult
  verifyOperationAttribute(mlir::Operation *op,
                           mlir::NamedAttribute attribute) override;
  llvm::LogicalResult
  verifyRegionArgAttribute(mlir::Operation *op, unsigned region,
                           unsigned argument,
                           mlir::NamedAttribute attribute) override;
  llvm::LogicalResult
  verifyRegionResultAttribute(mlir::Operation *op, unsigned region,
                              unsigned result,
                              mlir::NamedAttribute attribute) override;
};

} // namespace loopc

MLIR_DECLARE_EXPLICIT_TYPE_ID(loopc::LoopcAttributes)

#endif // LOOPC_DIALECT_LOOP_IR_LOOPCATTRIBUTES_H
