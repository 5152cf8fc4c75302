//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Elements that arithmetic does not know: floats of 8 bits and less, of which
// compiled code sees the bits, and integers of 2 and 4 bits. Both are in an i8
// each (toSignless).

#ifndef LOOPC_LIB_CONVERSION_ONNXTOLINALG_FRAMEWORK_ELEMENTTYPES_H
#define LOOPC_LIB_CONVERSION_ONNXTOLINALG_FRAMEWORK_ELEMENTTYPES_H

#include "ElementwiseUtils.h"

namespace loopc {

/// How a number is converted to a float of 8 bits.
struct CastOptions {
  enum class RoundMode { Up, Down, Nearest };
  /// What is out of range becomes the largest value, otherwise infinity or NaN.
  bool saturate = true;
  /// For float8e8m0 only; all others round to nearest, ties to even.
  RoundMode roundMode = RoundMode::Up;
};

/// True for the floats of 8 bits and less.
bool isSmallFloat(mlir::Type type);

/// True for integers of less than 8 bits, but not for bool.
bool isSmallInteger(mlir::Type type);

/// `value`, the bits (i8) of an element of the small float type `type`, as f32:
/// exact.
mlir::Value decodeSmallFloat(ScalarBuilder &s, mlir::Value value,
                             mlir::FloatType type);

/// `value` (f32) rounded to the small float type `type`; its bits (i8).
mlir::Value encodeSmallFloat(ScalarBuilder &s, mlir::Value value,
                             mlir::FloatType type, CastOptions options = {});

/// `value` (f64) as f32, rounded to odd: the last bit says that something was
/// cut off, so that what is then rounded to fewer bits is not mistaken for a
/// tie.
mlir::Value narrowToOdd(ScalarBuilder &s, mlir::Value value);

/// As NodeLowering::castScalar, for a conversion that the model asked for.
mlir::Value convertNumber(ScalarBuilder &s, mlir::Value value,
                          bool fromUnsigned, mlir::Type to, bool toUnsigned);

/// The low bits of `value` (i8) as an element of the small integer type `to`.
mlir::Value wrapSmallInteger(ScalarBuilder &s, mlir::Value value,
                             mlir::Type to);

/// ONNX's quantization of `quotient` (f32 or f64) to an element of the declared
/// type `to`, after which nothing is left to round: to nearest even, moved by
/// `zeroPoint` (an element of `to`, or null), saturated. NaN becomes the least
/// integer.
mlir::Value quantizeElement(ScalarBuilder &s, mlir::Value quotient,
                            mlir::Value zeroPoint, mlir::Type to,
                            CastOptions options = {});

/// Converts an element between two types as models declare them, with the
/// meaning of ONNX Cast; `value` and the result are of their toSignless().
/// Every value has a result, see Cast.cpp.
mlir::Value convertElement(ScalarBuilder &s, mlir::Value value, mlir::Type from,
                           mlir::Type to, CastOptions options = {});

} // namespace loopc

#endif // LOOPC_LIB_CONVERSION_ONNXTOLINALG_FRAMEWORK_ELEMENTTYPES_H
