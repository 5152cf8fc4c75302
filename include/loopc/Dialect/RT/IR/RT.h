//===- RT.h - The types of what the runtime is given ------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_DIALECT_RT_IR_RT_H
#define LOOPC_DIALECT_RT_IR_RT_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

#include "loopc/Dialect/RT/IR/RTDialect.h.inc"

#define GET_TYPEDEF_CLASSES
#include "loopc/Dialect/RT/IR/RTTypes.h.inc"

namespace loopc::rt {

/// The argument of `function` that is the run; null where it is given none.
mlir::BlockArgument findRun(mlir::FunctionOpInterface function);

} // namespace loopc::rt

#endif // LOOPC_DIALECT_RT_IR_RT_H
