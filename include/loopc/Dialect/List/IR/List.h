//===- List.h - Lists of tensors and of lists ------------------*- C++ -*--===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_DIALECT_LIST_IR_LIST_H
#define LOOPC_DIALECT_LIST_IR_LIST_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "loopc/Dialect/List/IR/ListDialect.h.inc"

#define GET_TYPEDEF_CLASSES
#include "loopc/Dialect/List/IR/ListTypes.h.inc"

#define GET_OP_CLASSES
#include "loopc/Dialect/List/IR/ListOps.h.inc"

#endif // LOOPC_DIALECT_LIST_IR_LIST_H
