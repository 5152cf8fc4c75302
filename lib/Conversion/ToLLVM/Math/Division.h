//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Division of vectors that CPUs have no instruction for.

#ifndef LOOPC_LIB_CONVERSION_TOLLVM_MATH_DIVISION_H
#define LOOPC_LIB_CONVERSION_TOLLVM_MATH_DIVISION_H

#include "mlir/IR/PatternMatch.h"

namespace loopc {

/// Adds patterns for quotients and remainders, signed and unsigned, of vectors
/// of integers of 8 to 64 bits by divisors that are no constants: they become
/// divisions of floats, with the same results. Divisors of 0 give any number,
/// and end nothing: lanes that are masked out may have them. Also for
/// remainders of vectors of f32, which are exact.
void populateDivisionPatterns(mlir::RewritePatternSet &patterns);

} // namespace loopc

#endif // LOOPC_LIB_CONVERSION_TOLLVM_MATH_DIVISION_H
