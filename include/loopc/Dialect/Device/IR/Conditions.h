//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The attribute by which a kernel of a graph says which of the graph's
// conditions it sets, and which it has to clear where it ends before its time.

#ifndef LOOPC_DIALECT_DEVICE_IR_CONDITIONS_H
#define LOOPC_DIALECT_DEVICE_IR_CONDITIONS_H

#include "llvm/ADT/StringRef.h"

namespace loopc::device {

inline constexpr llvm::StringLiteral kConditionsAttrName = "loopc.conditions";

} // namespace loopc::device

#endif // LOOPC_DIALECT_DEVICE_IR_CONDITIONS_H
