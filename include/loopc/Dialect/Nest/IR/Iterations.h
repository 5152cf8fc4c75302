//===- Iterations.h - Whose iterations a loop has ---------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_DIALECT_NEST_IR_ITERATIONS_H
#define LOOPC_DIALECT_NEST_IR_ITERATIONS_H

#include "llvm/ADT/StringRef.h"

namespace loopc {

/// String attribute of an scf.for or scf.while that was a loop of the model,
/// where a profile is wanted. Losing it makes the loop one part of the profile.
inline constexpr llvm::StringLiteral kIterationsAttrName = "loopc.iterations";

/// Each iteration is one of the model's loop.
inline constexpr llvm::StringLiteral kEachIteration = "each";
/// The loop was cut into strips: the iterations are those of the loop in it.
inline constexpr llvm::StringLiteral kStrips = "strips";

} // namespace loopc

#endif // LOOPC_DIALECT_NEST_IR_ITERATIONS_H
