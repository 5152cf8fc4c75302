//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The onnx dialect: see ONNXOps.td and docs/Rationale/ONNX.md.

#ifndef LOOPC_DIALECT_ONNX_IR_ONNX_H
#define LOOPC_DIALECT_ONNX_IR_ONNX_H

#include "loopc/Dialect/Loop/IR/Loop.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/CastInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "loopc/Dialect/ONNX/IR/ONNXDialect.h.inc"

#define GET_TYPEDEF_CLASSES
#include "loopc/Dialect/ONNX/IR/ONNXTypes.h.inc"

#define GET_OP_CLASSES
#include "loopc/Dialect/ONNX/IR/ONNXOps.h.inc"

namespace loopc::onnx {
/// The least type that values of both types have: dimensions that differ become
/// dynamic, ranks that differ `tensor<*xT>`; sequences and optionals by their
/// elements. Null where the element types or kinds differ.
mlir::Type joinTypes(mlir::Type a, mlir::Type b);
} // namespace loopc::onnx

#endif // LOOPC_DIALECT_ONNX_IR_ONNX_H
