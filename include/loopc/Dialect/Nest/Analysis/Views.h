//===- Views.h - Views of buffers and what they are of ----------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_DIALECT_NEST_ANALYSIS_VIEWS_H
#define LOOPC_DIALECT_NEST_ANALYSIS_VIEWS_H

#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace loopc {

/// True for an operation whose memrefs among the results are views of its
/// memref operand 0: another shape, layout or part of the same memory.
bool isViewOp(mlir::Operation *op);

/// The buffer that `value` is a view of by its defining operation; null if it
/// is no view.
mlir::Value getViewSource(mlir::Value value);

/// The buffer that `value` is a view of through any number of views; `value`
/// itself if it is no view. Two values with different roots can still be the
/// same memory: a loop, branch or select may hand a buffer on (AliasClasses.h).
mlir::Value getViewRoot(mlir::Value value);

/// True if `one` and `other` may be views of one buffer: of the same, or of one
/// that a branch or a select gives. What a loop carries or a call returns is
/// known by no other name (the stage memref is held to that).
bool mayBeOneBuffer(mlir::Value one, mlir::Value other);

/// The extent that `dim` asks for, where the operation that makes the view says
/// it.
std::optional<mlir::OpFoldResult> findExtentOfView(mlir::memref::DimOp dim);

/// True if all uses of `buffer` and of its views satisfy `isExpected`, but for
/// those by which one makes a view of another. Ends at the first that does not.
bool allUsesOfViews(mlir::Value buffer,
                    llvm::function_ref<bool(mlir::OpOperand &)> isExpected);

/// The same of the operations.
bool allUsersOfViews(mlir::Value buffer,
                     llvm::function_ref<bool(mlir::Operation *)> isExpected);

} // namespace loopc

#endif // LOOPC_DIALECT_NEST_ANALYSIS_VIEWS_H
