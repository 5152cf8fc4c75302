//===- ShapeHints.h - What models say of shapes ----------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A model declares types of its outputs. Their shapes are hints: they are shown
// to people where the compiler knows less, and nothing else may read them,
// since what a model declares may be wrong.
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_DIALECT_ONNX_IR_SHAPEHINTS_H
#define LOOPC_DIALECT_ONNX_IR_SHAPEHINTS_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OperationSupport.h"

namespace loopc::onnx {

/// `type` with the ranks and extents that only `hint` tells. Where both tell
/// them, or kinds or ranks differ, `type` is right; sequences and optionals by
/// their elements.
mlir::Type refineShapes(mlir::Type type, mlir::Type hint);

/// The tensor that a type is, or that its sequences and optionals hold.
mlir::TensorType getInnermostTensor(mlir::Type type);

/// Notes at a result of type `type` what the model declares it to be, where
/// that tells more: `loopc.declared`, a type, and `loopc.declared_dims`, names
/// of the dimensions of the tensor in it, one for each or none.
void setDeclared(mlir::NamedAttrList &attributes, mlir::Type type,
                 mlir::Type declared, llvm::ArrayRef<mlir::Attribute> names);

} // namespace loopc::onnx

#endif // LOOPC_DIALECT_ONNX_IR_SHAPEHINTS_H
