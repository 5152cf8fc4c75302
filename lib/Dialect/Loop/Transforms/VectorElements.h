//===- VectorElements.h - Elements of vectors -----------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_LIB_DIALECT_LOOP_TRANSFORMS_VECTORELEMENTS_H
#define LOOPC_LIB_DIALECT_LOOP_TRANSFORMS_VECTORELEMENTS_H

#include "mlir/IR/BuiltinTypes.h"

namespace loopc {

/// True for elements that lie in memory as they do in vectors.
inline bool isVectorElement(mlir::Type type) {
  return type.isF32() || type.isF64() || type.isInteger(8) ||
         type.isInteger(16) || type.isInteger(32) || type.isInteger(64);
}

} // namespace loopc

#endif // LOOPC_LIB_DIALECT_LOOP_TRANSFORMS_VECTORELEMENTS_H
