//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Types with an axis more or less.

#ifndef LOOPC_LIB_DIALECT_ONNX_TRANSFORMS_AXESOFTYPES_H
#define LOOPC_LIB_DIALECT_ONNX_TRANSFORMS_AXESOFTYPES_H

#include "mlir/IR/Types.h"

namespace loopc::onnx {

/// `type` without axis `axis`, counted from the end where negative; the type
/// itself where its rank is unknown, null where it has no such axis.
mlir::Type dropAxis(mlir::Type type, int64_t axis);

/// `type`, a tensor or a scalar, with a new axis of `size` at `axis` of the
/// result; null where it has no such place.
mlir::Type insertAxis(mlir::Type type, int64_t axis, int64_t size);

/// Extent of `type` along `axis`; dynamic where it is not known.
int64_t getExtent(mlir::Type type, int64_t axis);

} // namespace loopc::onnx

#endif // LOOPC_LIB_DIALECT_ONNX_TRANSFORMS_AXESOFTYPES_H
