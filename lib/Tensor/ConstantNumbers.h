//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_LIB_TENSOR_CONSTANTNUMBERS_H
#define LOOPC_LIB_TENSOR_CONSTANTNUMBERS_H

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <vector>

namespace loopc {

/// `x` rounded to the nearest number of `type`, ties to even. APFloat takes
/// three times as long.
double roundTo(double x, mlir::Type type);

/// The bits of `x`, rounded to `type`.
uint16_t toSmall(double x, mlir::Type type);

/// The number of each pattern of bits: looking it up is faster than taking the
/// pattern apart.
const std::vector<double> &numbersOf(mlir::Type type);

/// The bits of `x`, rounded to `type`.
int64_t bitsOf(double x, mlir::Type type);

/// The number whose bits in `type` are `bits`.
double fromBits(int64_t bits, mlir::Type type);

/// The larger number, or the smaller one if `negated`; NaN if one of them is.
double extreme(double x, double y, bool negated);

/// What arith::applyCmpPredicate says, which takes ten times as long.
bool compareFloats(mlir::arith::CmpFPredicate predicate, double x, double y);

} // namespace loopc

#endif // LOOPC_LIB_TENSOR_CONSTANTNUMBERS_H
