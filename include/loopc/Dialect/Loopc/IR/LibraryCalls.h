//===- LibraryCalls.h - Products that a library may compute -----*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_DIALECT_LOOPC_IR_LIBRARYCALLS_H
#define LOOPC_DIALECT_LOOPC_IR_LIBRARYCALLS_H

#include "llvm/ADT/StringRef.h"

namespace loopc {

/// Attribute of the call that asks the runtime for a product: the name of the
/// kernel in whose place it is. Its operands are words of loopc_cuda_product
/// (loopc-rt/cuda.h), its result what loopc_rt_cuda_product() returns.
inline constexpr llvm::StringLiteral kProductAttrName = "loopc.product";

} // namespace loopc

#endif // LOOPC_DIALECT_LOOPC_IR_LIBRARYCALLS_H
