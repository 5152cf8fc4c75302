//===- FlatMemRef.h - Descriptors of rank one -------------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_LIB_CONVERSION_TOLLVM_RUNTIME_FLATMEMREF_H
#define LOOPC_LIB_CONVERSION_TOLLVM_RUNTIME_FLATMEMREF_H

#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"

namespace loopc {

/// A descriptor of `type`, of rank one, whose `size` elements lie side by side
/// from `data` on, in the allocation `owner`.
inline mlir::Value makeFlatMemRef(mlir::OpBuilder &b, mlir::Location loc,
                                  const mlir::LLVMTypeConverter &converter,
                                  mlir::MemRefType type, mlir::Value owner,
                                  mlir::Value data, mlir::Value size) {
  auto descriptor =
      mlir::MemRefDescriptor::poison(b, loc, converter.convertType(type));
  descriptor.setAllocatedPtr(b, loc, owner);
  descriptor.setAlignedPtr(b, loc, data);
  descriptor.setConstantOffset(b, loc, 0);
  descriptor.setSize(b, loc, 0, size);
  descriptor.setConstantStride(b, loc, 0, 1);
  return descriptor;
}

} // namespace loopc

#endif // LOOPC_LIB_CONVERSION_TOLLVM_RUNTIME_FLATMEMREF_H
