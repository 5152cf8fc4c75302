//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_LIB_DIALECT_ONNX_IR_SCHEMACACHE_H
#define LOOPC_LIB_DIALECT_ONNX_IR_SCHEMACACHE_H

namespace loopc::onnx {
class ONNXDialect;

/// Gives the dialect the memory that verifyNode and inferNodeTypes share
/// (SchemaImpl.h). For code without the onnx library's headers.
void addSchemaCache(ONNXDialect &dialect);
} // namespace loopc::onnx

#endif // LOOPC_LIB_DIALECT_ONNX_IR_SCHEMACACHE_H
