//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The attribute by which a front end says what a model declares of the results
// of a loop.

#ifndef LOOPC_DIALECT_LOOPC_IR_DECLAREDRESULTS_H
#define LOOPC_DIALECT_LOOPC_IR_DECLAREDRESULTS_H

#include "llvm/ADT/StringRef.h"

namespace loopc {

inline constexpr llvm::StringLiteral kDeclaredResultsAttrName =
    "loopc.declared_results";

} // namespace loopc

#endif // LOOPC_DIALECT_LOOPC_IR_DECLAREDRESULTS_H
