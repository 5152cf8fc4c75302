//===- PackedEntries.h - An element and its place as one number -*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_LIB_CONVERSION_ONNXTOLINALG_FRAMEWORK_PACKEDENTRIES_H
#define LOOPC_LIB_CONVERSION_ONNXTOLINALG_FRAMEWORK_PACKEDENTRIES_H

#include "loopc/Conversion/ONNXToLinalg/NodeLowering.h"

namespace loopc {

/// `value`, of the type that its kind is computed in, as an integer of 32 or 64
/// bits that is larger (signed) for a larger value. -0 and 0 are equal; so are
/// all NaNs, above all numbers.
mlir::Value orderOf(NodeLowering &l, mlir::Value value, bool isUnsigned);

/// True if elements of `type` on a line of `length` can be packed together with
/// their places. A length that is not known is checked at run time.
bool canPackEntries(NodeLowering &l, mlir::Type type,
                    mlir::OpFoldResult length);

/// `value` and its place (index) on a line as a number (i64) that is larger for
/// a larger value, or a smaller one, and of equal ones for an earlier place: no
/// two are equal. NaN is the largest of all. `value` has the type that its kind
/// is computed in.
mlir::Value packEntry(NodeLowering &l, mlir::Value value, mlir::Value place,
                      bool isUnsigned, bool isLargest);

/// The place (index) of a packed entry.
mlir::Value placeOfEntry(NodeLowering &l, mlir::Value packed);

/// `value` (f32) as a number (i32) that is larger for a larger value, or a
/// smaller one: where nobody asks for places. -0 is below 0.
mlir::Value packValue(NodeLowering &l, mlir::Value value, bool isLargest);

/// The value that was packed; NaN for any NaN.
mlir::Value valueOfPacked(NodeLowering &l, mlir::Value packed, bool isLargest);

} // namespace loopc

#endif // LOOPC_LIB_CONVERSION_ONNXTOLINALG_FRAMEWORK_PACKEDENTRIES_H
