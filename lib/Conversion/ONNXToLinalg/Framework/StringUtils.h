//===- StringUtils.h - Strings in lowerings ---------------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Constants of strings and calls of the runtime, which does what there is to do
// with a text.

#ifndef LOOPC_LIB_CONVERSION_ONNXTOLINALG_FRAMEWORK_STRINGUTILS_H
#define LOOPC_LIB_CONVERSION_ONNXTOLINALG_FRAMEWORK_STRINGUTILS_H

#include "ElementTypes.h"
#include "loopc/Conversion/ONNXToLinalg/NodeLowering.h"

namespace loopc {

/// A call of function `callee` of the runtime; see rt.call. `where` is the
/// path of a node whose call may fail.
mlir::Value callRuntime(mlir::OpBuilder &b, mlir::Location loc,
                        llvm::StringRef callee, mlir::ValueRange arguments,
                        mlir::Type result, llvm::StringRef where = "");

/// Addresses (i64) of constants that the model holds.
mlir::Value constantBytes(mlir::ImplicitLocOpBuilder &b,
                          llvm::ArrayRef<int8_t> bytes);
mlir::Value constantWords(mlir::ImplicitLocOpBuilder &b,
                          llvm::ArrayRef<int32_t> words);
mlir::Value constantIntegers(mlir::ImplicitLocOpBuilder &b,
                             llvm::ArrayRef<int64_t> values);

/// A string whose text is `text`.
mlir::Value stringLiteral(mlir::ImplicitLocOpBuilder &b, llvm::StringRef text);

/// A tensor of constant strings.
mlir::Value stringTensor(mlir::ImplicitLocOpBuilder &b,
                         llvm::ArrayRef<llvm::StringRef> texts,
                         llvm::ArrayRef<int64_t> shape);

/// The arguments of loopc_rt_string_find behind the text: texts, offsets and
/// count. The texts are ascending and different.
llvm::SmallVector<mlir::Value>
stringTable(mlir::ImplicitLocOpBuilder &b,
            llvm::ArrayRef<llvm::StringRef> texts);

/// True (i1) where the strings are the same.
mlir::Value equalStrings(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x,
                         mlir::Value y);

/// Number of bytes of a string.
mlir::Value stringBytes(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x);

/// Cast of a node whose input or result holds strings.
mlir::LogicalResult castStrings(NodeLowering &l, CastOptions options);

/// Replaces a constant of strings.
void lowerStringConstant(onnx::ConstantOp constant);

} // namespace loopc

#endif // LOOPC_LIB_CONVERSION_ONNXTOLINALG_FRAMEWORK_STRINGUTILS_H
