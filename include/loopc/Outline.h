//===- Outline.h - Shapes of outputs before a run ---------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An engine keeps an outline of its model: the operators as MLIR, in which
// large weights are arguments, so that their types are known and their values
// are not. The compiler infers the types of its results for given shapes of
// inputs (CompilerOptions::shapes, Output::Shapes).
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_OUTLINE_H
#define LOOPC_OUTLINE_H

#include "mlir/IR/BuiltinOps.h"

namespace loopc {

/// The outline of a model that was imported; "" where no extent of its inputs
/// is open.
std::string makeOutline(mlir::ModuleOp model);

/// The names of a model's outputs, and their types as far as they are inferred.
llvm::SmallVector<std::pair<llvm::StringRef, mlir::Type>>
getOutputs(mlir::ModuleOp model);

/// Writes what LOOPC_EMIT_SHAPES is.
void printShapes(mlir::ModuleOp model, llvm::raw_ostream &os);

} // namespace loopc

#endif // LOOPC_OUTLINE_H
