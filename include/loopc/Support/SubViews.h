//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Views that leave axes of one element out. A memref.subview does not say which
// ones, and upstream finds them by the strides of the buffer: of a view with
// steps, whose strides are others, it does not find them, and crashes.

#ifndef LOOPC_SUPPORT_SUBVIEWS_H
#define LOOPC_SUPPORT_SUBVIEWS_H

#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace loopc {

/// The axes that `op` leaves out: use it in place of `op.getDroppedDims()`.
llvm::SmallBitVector getDroppedAxes(mlir::memref::SubViewOp op);

/// Makes views in `root` of which upstream does not find the axes
/// memref.reinterpret_cast; with `byExtents` all of which it finds others than
/// slices of tensors leave out.
void resolveDroppedAxes(mlir::Operation *root, bool byExtents);

} // namespace loopc

#endif // LOOPC_SUPPORT_SUBVIEWS_H
