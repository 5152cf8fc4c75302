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
#include <memory>
#include <optional>

namespace loopc::onnx {

/// The version of the schema that operator `opType` of `domain` ("" is
/// ai.onnx) has under opset `opset`; nothing where there is no such operator.
/// For an operator that was withdrawn it is the version that withdrew it, which
/// verifyNode refuses.
std::optional<int64_t> resolveSinceVersion(llvm::StringRef domain,
                                           llvm::StringRef opType,
                                           int64_t opset);

/// What inference learns of values beside their types: the elements of integer
/// tensors that shapes are computed with, and names for dimensions that are not
/// static, so that equal ones are known to be equal. Filled on demand; one
/// cache serves the inference of many nodes as long as its owner tells it of
/// values whose types change (`forget`).
class InferenceCache {
public:
  InferenceCache();
  ~InferenceCache();
  InferenceCache(InferenceCache &&);

  /// Drops what is known of `value`. What was derived from it stays: infer the
  /// users again, in order.
  void forget(mlir::Value value);

  /// The value of a one-element integer tensor (i32 or i64) or of an integer
  /// scalar, where it can be computed from constants and static dimensions.
  std::optional<int64_t> getInteger(mlir::Value value);

  struct Impl;
  Impl &getImpl() { return *impl; }

private:
  std::unique_ptr<Impl> impl;
};

/// How inferNodeTypes works.
struct InferenceOptions {
  /// Kept from node to node, or null for one that lives as long as the call.
  InferenceCache *cache = nullptr;
  /// For nodes that may never run (a branch guarded by the very condition that
  /// makes them wrong): dimensions that contradict each other are no error,
  /// the results get unknown shapes.
  bool lenient = false;
};

/// Types of the results of `node`, from its operands' types, its attributes,
/// the values of constant operands and what is known of the values of shape
/// computations. `node` need not have the right result types yet; a result of
/// type none stays none. Where nothing is known of a result's shape it is
/// `tensor<*xT>`; the results of a node of a domain without schemas keep their
/// element types. Fails after emitting an error (through `emitError`) where the
/// schema refuses the node's operands or attributes.
mlir::LogicalResult
inferNodeTypes(NodeOp node, llvm::SmallVectorImpl<mlir::Type> &types,
               llvm::function_ref<mlir::InFlightDiagnostic()> emitError,
               const InferenceOptions &options = {});

/// An error at `node` that names its operator: what verifyNode and callers of
/// inferNodeTypes emit.
mlir::InFlightDiagnostic emitNodeError(NodeOp node);

/// Holds `node` against its schema: numbers of inputs and outputs, known and
/// required attributes and their kinds, type constraints (element types). Nodes
/// of domains without schemas pass.
mlir::LogicalResult verifyNode(NodeOp node);

/// The value of attribute `name` of `node`: the node's own, else the schema's
/// default, else null.
mlir::Attribute getAttrOrDefault(NodeOp node, llvm::StringRef name);

} // namespace loopc::onnx

#endif // LOOPC_DIALECT_ONNX_IR_SCHEMA_H
