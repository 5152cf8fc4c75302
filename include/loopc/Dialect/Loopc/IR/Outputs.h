//===- Outputs.h - Buffers that become outputs ------------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_DIALECT_LOOPC_IR_OUTPUTS_H
#define LOOPC_DIALECT_LOOPC_IR_OUTPUTS_H

#include "llvm/ADT/StringRef.h"

namespace loopc {

/// Of a memref.alloc: a pair of the number of the output that the whole buffer
/// becomes, and an affine map from the buffer's extents to the output's.
inline constexpr llvm::StringLiteral kOutputAttrName = "loopc.output";

} // namespace loopc

#endif // LOOPC_DIALECT_LOOPC_IR_OUTPUTS_H
