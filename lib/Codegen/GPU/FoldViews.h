//===- FoldViews.h - Elements of views as elements of buffers ---*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_LIB_CODEGEN_GPU_FOLDVIEWS_H
#define LOOPC_LIB_CODEGEN_GPU_FOLDVIEWS_H

#include "mlir/IR/Operation.h"

namespace loopc {

/// Replaces the extents of memref.reinterpret_cast by what they were made with,
/// and lets loads and stores that are of such a view be of the whole buffer
/// where the view's offset and strides say which axis is which. So an iteration
/// that writes a row of a buffer says which row.
void foldViews(mlir::Operation *root);

} // namespace loopc

#endif // LOOPC_LIB_CODEGEN_GPU_FOLDVIEWS_H
