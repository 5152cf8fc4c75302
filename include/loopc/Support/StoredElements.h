//===- StoredElements.h - Elements of buffers -------------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_SUPPORT_STOREDELEMENTS_H
#define LOOPC_SUPPORT_STOREDELEMENTS_H

#include "mlir/IR/BuiltinTypes.h"

namespace loopc {

/// True if `type` has elements of type `element`. Truth values may lie in
/// buffers as bytes (buffer-store-booleans).
inline bool hasElements(mlir::ShapedType type, mlir::Type element) {
  return type.getElementType() == element ||
         (isa<mlir::MemRefType>(type) && element.isInteger(1) &&
          type.getElementType().isInteger(8));
}

} // namespace loopc

#endif // LOOPC_SUPPORT_STOREDELEMENTS_H
