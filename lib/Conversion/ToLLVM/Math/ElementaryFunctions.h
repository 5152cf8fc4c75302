//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Elementary functions of f32 and f64 as polynomials.

#ifndef LOOPC_LIB_CONVERSION_TOLLVM_MATH_ELEMENTARYFUNCTIONS_H
#define LOOPC_LIB_CONVERSION_TOLLVM_MATH_ELEMENTARYFUNCTIONS_H

#include "mlir/IR/PatternMatch.h"

namespace loopc {

/// Adds patterns for math.exp, math.log, math.log1p, math.expm1, math.atan,
/// math.asin and math.acos of f32, numbers and vectors, and, of vectors only,
/// for math.sin and math.cos of f32 and f64, math.powf of f32, and math.exp,
/// math.log, math.log1p, math.expm1 and math.tanh of f64. The errors are those
/// that docs/Numerics.md states. With `scales` the target of the host's code
/// has an instruction for x 2^n (AVX-512's vscalef); results are the same.
void populateElementaryFunctionPatterns(mlir::RewritePatternSet &patterns,
                                        bool scales);

} // namespace loopc

#endif // LOOPC_LIB_CONVERSION_TOLLVM_MATH_ELEMENTARYFUNCTIONS_H
