//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_LIB_CONVERSION_ONNXTOLINALG_FRAMEWORK_DENSECONSTANT_H
#define LOOPC_LIB_CONVERSION_ONNXTOLINALG_FRAMEWORK_DENSECONSTANT_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Value.h"

namespace loopc {

/// The elements of `value` if it is a constant, whichever attribute holds them:
/// those of more than a few bytes are a resource. Null if it is none.
mlir::DenseElementsAttr denseConstant(mlir::Value value);

} // namespace loopc

#endif // LOOPC_LIB_CONVERSION_ONNXTOLINALG_FRAMEWORK_DENSECONSTANT_H
