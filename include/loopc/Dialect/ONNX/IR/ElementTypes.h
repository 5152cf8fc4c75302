//===- ElementTypes.h - ONNX's numbers for types ----------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_DIALECT_ONNX_IR_ELEMENTTYPES_H
#define LOOPC_DIALECT_ONNX_IR_ELEMENTTYPES_H

#include "mlir/IR/BuiltinTypes.h"

namespace loopc::onnx {

/// The MLIR type of elements of `dataType` (a TensorProto.DataType); null where
/// there is none. Signed integers are signless (`i8`), unsigned `ui8`, BOOL
/// `i1`, STRING `!onnx.string`.
mlir::Type importElementType(mlir::MLIRContext *context, int32_t dataType);

/// The TensorProto.DataType of elements of `type`; UNDEFINED (0) for none.
int32_t exportElementType(mlir::Type type);

} // namespace loopc::onnx

#endif // LOOPC_DIALECT_ONNX_IR_ELEMENTTYPES_H
