//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What the onnx library's schemas say, in MLIR's terms. The only way from the
// dialect to the onnx library, whose exceptions end here.

#ifndef LOOPC_DIALECT_ONNX_IR_SCHEMA_H
#define LOOPC_DIALECT_ONNX_IR_SCHEMA_H

#include "loopc/Dialect/ONNX/IR/ONNX.h"

namespace loopc::onnx {

/// The version of the schema that operator `opType` of `domain` ("" is
/// ai.onnx) has under opset `opset`; nothing where there is no such operator.
std::optional<int64_t> resolveSinceVersion(llvm::StringRef domain,
                                           llvm::StringRef opType,
                                           int64_t opset);

/// Types of the results of `node`, from its operands' types, its attributes,
/// the values of constant operands and what is known of the values of shape
/// computations (symbolic data propagation). `node` need not have the right
/// result types yet. Where nothing is known of a result's shape it is
/// `tensor<*xT>`. Fails after emitting an error (through `emitError`) where the
/// schema refuses the node's operands.
mlir::LogicalResult
inferNodeTypes(NodeOp node, llvm::SmallVectorImpl<mlir::Type> &types,
               llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

/// Holds `node` against its schema: numbers of inputs and outputs, known and
/// required attributes and their kinds, type constraints (element types).
mlir::LogicalResult verifyNode(NodeOp node);

/// The value of attribute `name` of `node`: the node's own, else the schema's
/// default, else null.
mlir::Attribute getAttrOrDefault(NodeOp node, llvm::StringRef name);

} // namespace loopc::onnx

#endif // LOOPC_DIALECT_ONNX_IR_SCHEMA_H
