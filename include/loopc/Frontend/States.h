//===- States.h - Outputs that the next run reads ---------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_FRONTEND_STATES_H
#define LOOPC_FRONTEND_STATES_H

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <utility>

namespace loopc {

/// Makes states of inputs and outputs of a model that was imported: of each
/// pair of names the input is the output of the run before. They get the
/// input's name, and become the last inputs and outputs, behind the states that
/// the model has itself. The input's default is what it is to begin with, else
/// zeros, with extents of 0 where they are open; what is open and has a name
/// that another input knows gets its extent from there, in the run.
/// Emits an error where a name is unknown or used twice, or where types cannot
/// fit.
llvm::LogicalResult
pairStates(mlir::ModuleOp module,
           llvm::ArrayRef<std::pair<std::string, std::string>> pairs);

/// Elements of a type for what a state of the type is to begin with: zeros, or
/// empty texts. Extents that are open are 0; no rank is rank 1.
mlir::ElementsAttr makeZeroState(mlir::Builder &builder, mlir::TensorType type);

} // namespace loopc

#endif // LOOPC_FRONTEND_STATES_H
