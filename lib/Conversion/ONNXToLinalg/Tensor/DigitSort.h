//===- DigitSort.h - Integers in order, by their digits --------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_LIB_CONVERSION_ONNXTOLINALG_TENSOR_DIGITSORT_H
#define LOOPC_LIB_CONVERSION_ONNXTOLINALG_TENSOR_DIGITSORT_H

#include "loopc/Conversion/ONNXToLinalg/NodeLowering.h"

namespace loopc {

/// Real numbers of a type that they are computed in.
struct NumberRow {
  mlir::OpFoldResult count;
  mlir::Type type;
  bool isUnsigned;
};

/// Integers, equal where the numbers are, in the numbers' order, and where each
/// number was (index).
struct SortedNumbers {
  mlir::Value keys, places;
};

/// Sorts the numbers that `read` finds by their place (index); equal ones stay
/// in order. -0 equals 0, NaN itself, and it is the largest of all.
SortedNumbers sortByDigits(NodeLowering &l, const NumberRow &row,
                           bool isDescending,
                           llvm::function_ref<mlir::Value(mlir::Value)> read);

} // namespace loopc

#endif // LOOPC_LIB_CONVERSION_ONNXTOLINALG_TENSOR_DIGITSORT_H
