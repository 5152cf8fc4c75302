//===- MathPatterns.h - Functions and quotients of vectors ------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Elementary functions of f32 and f64 as polynomials, and divisions of vectors
// that CPUs have no instruction for.

#ifndef LOOPC_LIB_CONVERSION_TOLLVM_MATH_MATHPATTERNS_H
#define LOOPC_LIB_CONVERSION_TOLLVM_MATH_MATHPATTERNS_H

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

/// Adds patterns for quotients and remainders, signed and unsigned, of vectors
/// of integers of 8 to 64 bits by divisors that are no constants: they become
/// divisions of floats, with the same results. Divisors of 0 give any number,
/// and end nothing: lanes that are masked out may have them. Also for
/// remainders of vectors of f32, which are exact.
void populateDivisionPatterns(mlir::RewritePatternSet &patterns);

/// Adds a pattern for math.ipowi, numbers and vectors, which becomes an scf.for
/// over the bits of the exponent.
void populateIntegerPowerPatterns(mlir::RewritePatternSet &patterns);

} // namespace loopc

#endif // LOOPC_LIB_CONVERSION_TOLLVM_MATH_MATHPATTERNS_H
