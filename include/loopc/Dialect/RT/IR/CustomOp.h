//===- CustomOp.h - Calls of operators of a library -------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_DIALECT_RT_IR_CUSTOMOP_H
#define LOOPC_DIALECT_RT_IR_CUSTOMOP_H

#include "loopc/Dialect/RT/IR/RT.h"

#define GET_OP_CLASSES
#include "loopc/Dialect/RT/IR/CustomOp.h.inc"

namespace loopc::rt {

/// How the names of variables that describe operators begin.
inline constexpr llvm::StringLiteral kCustomPrefix = "loopc_op_";

} // namespace loopc::rt

#endif // LOOPC_DIALECT_RT_IR_CUSTOMOP_H
