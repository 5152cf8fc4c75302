//===- RT.h - What compiled code and the runtime hand over ------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_DIALECT_RT_IR_RT_H
#define LOOPC_DIALECT_RT_IR_RT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "loopc/Dialect/RT/IR/RTDialect.h.inc"

#define GET_TYPEDEF_CLASSES
#include "loopc/Dialect/RT/IR/RTTypes.h.inc"

#define GET_OP_CLASSES
#include "loopc/Dialect/RT/IR/RTOps.h.inc"

namespace loopc::rt {

/// The argument of `function` that is the run; null where it is given none.
mlir::BlockArgument findRun(mlir::FunctionOpInterface function);

} // namespace loopc::rt

#endif // LOOPC_DIALECT_RT_IR_RT_H
