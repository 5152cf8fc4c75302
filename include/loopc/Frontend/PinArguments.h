//===- PinArguments.h - Extents that a user fixes ---------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_FRONTEND_PINARGUMENTS_H
#define LOOPC_FRONTEND_PINARGUMENTS_H

#include "loopc/Frontend/Common.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace loopc {

/// The function of a module that others can call: the model's. Null where the
/// module has none, since it was lowered.
mlir::func::FuncOp getModelFunction(mlir::ModuleOp module);

/// Gives the arguments of a module that was not imported for them the extents
/// of `pins`, with casts to the types that they had. What follows from the new
/// types is left to the inference of types. Emits an error where a pin fits no
/// argument.
llvm::LogicalResult pinArguments(mlir::ModuleOp module, const ShapePins &pins);

} // namespace loopc

#endif // LOOPC_FRONTEND_PINARGUMENTS_H
