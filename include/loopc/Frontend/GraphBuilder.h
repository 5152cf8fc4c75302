//===- GraphBuilder.h - What front ends build functions with ----*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The part of importing a model that does not depend on where it comes from.
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_FRONTEND_GRAPHBUILDER_H
#define LOOPC_FRONTEND_GRAPHBUILDER_H

#include "loopc/Dialect/ONNX/IR/ONNX.h"
#include "loopc/Dialect/ONNX/IR/Schema.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

#include <memory>
#include <optional>

namespace loopc {

/// Builds a function of onnx nodes. Constants, and what stands for inputs that
/// are left out, are at its top, where every body may use them.
class GraphBuilder {
public:
  explicit GraphBuilder(mlir::MLIRContext &context)
      : context(context), builder(&context) {}

  mlir::Value constantAt(mlir::Location loc, mlir::ElementsAttr value);
  /// The same for all places with that value.
  mlir::Value sharedConstant(mlir::Location loc, mlir::ElementsAttr value);
  mlir::Value noneAt(mlir::Location loc);
  /// An onnx.node of `count` results of version `since`, without types yet.
  onnx::NodeOp untypedNode(mlir::Location loc, llvm::StringRef op,
                           int64_t since, mlir::ValueRange inputs,
                           llvm::ArrayRef<mlir::NamedAttribute> attributes,
                           unsigned count = 1);
  /// How the types of nodes at the current place are inferred.
  onnx::InferenceOptions inferenceOptions();
  /// Gives the results of `node` the types that its schema infers. Emits an
  /// error where there are none, by `emitError` or at the node.
  llvm::LogicalResult
  inferTypes(onnx::NodeOp node,
             llvm::function_ref<mlir::InFlightDiagnostic()> emitError = {});
  /// `value` as `type`, which says less or more of its shape.
  mlir::Value castTo(mlir::Location loc, mlir::Value value, mlir::Type type);

  mlir::NamedAttribute attr(llvm::StringRef name, int64_t value);
  mlir::NamedAttribute attr(llvm::StringRef name, double value);
  mlir::NamedAttribute attr(llvm::StringRef name,
                            llvm::ArrayRef<int64_t> values);
  mlir::NamedAttribute attr(llvm::StringRef name, llvm::StringRef value);
  mlir::NamedAttribute attr(llvm::StringRef name, int value) {
    return attr(name, static_cast<int64_t>(value));
  }
  mlir::NamedAttribute attr(llvm::StringRef name, const char *value) {
    return attr(name, llvm::StringRef(value));
  }

  /// Returns `values` from `func`, whose results they become, with `attrs`.
  void finishFunction(mlir::func::FuncOp func, mlir::Location loc,
                      mlir::ValueRange values,
                      llvm::ArrayRef<mlir::DictionaryAttr> attrs);
  /// Erases constants that nobody uses: of bodies that were imported again, and
  /// of nodes that vanished.
  void eraseUnusedConstants();
  /// The function is gone, and what was made for it.
  void forgetFunction();

  mlir::MLIRContext &context;
  mlir::OpBuilder builder;
  /// Of the function.
  mlir::Block *entryBlock = nullptr;
  /// What is known of values; reset where values are erased.
  std::optional<onnx::InferenceCache> cache;
  /// Branches, and bodies that may have no iteration, around the current place:
  /// nodes there may never run.
  unsigned conditionalDepth = 0;

private:
  /// The next constant goes behind it.
  mlir::Operation *lastConstant = nullptr;
  mlir::Value noneValue;
  llvm::DenseMap<mlir::Attribute, mlir::Value> shared;
};

/// The value of a constant of `type`, of elements of a byte or more, of which
/// `data` has the bytes in C order (a byte for a bool). Small ones and those of
/// equal elements are copied. `owner` keeps others alive: they become a
/// resource called `name`, copied by `copyTo` where they are not aligned.
mlir::ElementsAttr makeElements(
    mlir::RankedTensorType type, llvm::ArrayRef<char> data,
    std::shared_ptr<const void> owner, llvm::StringRef name,
    llvm::function_ref<void(llvm::ArrayRef<char>, char *)> copyTo = {});

} // namespace loopc

#endif // LOOPC_FRONTEND_GRAPHBUILDER_H
