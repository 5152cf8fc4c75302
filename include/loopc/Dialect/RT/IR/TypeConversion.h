//===- TypeConversion.h - What the runtime's types are for LLVM -*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_DIALECT_RT_IR_TYPECONVERSION_H
#define LOOPC_DIALECT_RT_IR_TYPECONVERSION_H

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"

namespace loopc::rt {

/// Adds what the types of the dialect are in LLVM's. convert-to-llvm asks the
/// dialect for it.
void addTypeConversions(mlir::LLVMTypeConverter &converter);

/// What passes that make LLVM's operations by themselves convert types with.
class TypeConverter : public mlir::LLVMTypeConverter {
public:
  explicit TypeConverter(mlir::MLIRContext *context)
      : LLVMTypeConverter(context) {
    addTypeConversions(*this);
  }
};

} // namespace loopc::rt

#endif // LOOPC_DIALECT_RT_IR_TYPECONVERSION_H
