//===- Schemas.h - Schemas of the onnx library ------------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For code that links ONNX::onnx.
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_DIALECT_ONNX_IR_SCHEMAS_H
#define LOOPC_DIALECT_ONNX_IR_SCHEMAS_H

#include "onnx/defs/schema.h"
#include "llvm/ADT/StringRef.h"

namespace loopc::onnx {

/// The newest schema of the operator that is not newer than `version`; null
/// where there is none. Any thread may ask.
const ::onnx::OpSchema *findSchema(llvm::StringRef domain,
                                   llvm::StringRef opType, int64_t version);

} // namespace loopc::onnx

#endif // LOOPC_DIALECT_ONNX_IR_SCHEMAS_H
