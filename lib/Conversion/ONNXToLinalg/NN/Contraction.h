//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Sums of products and what the families that contract tensors share.

#ifndef LOOPC_LIB_CONVERSION_ONNXTOLINALG_NN_CONTRACTION_H
#define LOOPC_LIB_CONVERSION_ONNXTOLINALG_NN_CONTRACTION_H

#include "loopc/Conversion/ONNXToLinalg/NodeLowering.h"

namespace loopc {

/// An operand of a product; integers are widened by their sign.
struct Factor {
  mlir::Value value;
  bool isUnsigned = false;
};

/// `init[out] += lhs[...] * rhs[...]` over all dimensions of `maps` (those of
/// lhs, rhs and out), computed in the element type of `init`. Loops are nested
/// in the order of the dimensions; those that `out` does not use are summed
/// over. The innermost loop is what gets vectorised. The additions may be
/// reassociated.
mlir::Value multiplyAdd(NodeLowering &l, Factor lhs, Factor rhs,
                        mlir::Value init, llvm::ArrayRef<mlir::AffineMap> maps);

/// NumPy's matmul, computed and returned in `accumulator`; null after an error
/// where a rank is 0. The sums begin with `first`, which broadcasts to the
/// result; null is 0.
mlir::Value matMul(NodeLowering &l, Factor lhs, Factor rhs,
                   mlir::Type accumulator, mlir::Value first = {});

/// `value` with another element type.
mlir::Value castElements(NodeLowering &l, mlir::Value value, mlir::Type to,
                         bool isUnsigned = false);

/// `value`, of rank `dims.size()` at most, broadcast to `dims`; the run ends
/// with an error where it does not fit.
mlir::Value broadcastChecked(NodeLowering &l, mlir::Value value,
                             llvm::ArrayRef<mlir::OpFoldResult> dims);

/// False if two of `extents` are constants that do not broadcast.
bool mayBroadcast(llvm::ArrayRef<mlir::OpFoldResult> extents);

/// With fewer columns there is no vector of sums.
inline constexpr int64_t kFewestColumns = 4;

/// True if the elements of both are integers of 8 bits.
bool areBytes(Factor lhs, Factor rhs);

/// Moves the integers of 8 bits of `x` or `w`, and their zero points, by 128
/// where the target multiplies unsigned by signed ones only and they are not.
/// A zero point that is 0 becomes null.
void makeSignsDiffer(NodeLowering &l, Factor &x, Factor &w, Factor &xZero,
                     Factor &wZero);

/// The integers of `value` minus `zeroPoint` (which broadcasts against it), as
/// i32, or as i16 where the target multiplies such; a missing zero point is 0.
mlir::Value subtractZeroPoint(NodeLowering &l, Factor value, Factor zeroPoint);

/// True for a zero point that is one number for all; null is 0.
bool isOneForAll(NodeLowering &l, mlir::Value zeroPoint);

/// Rounds the i32 sums `value * x * w / y + zeroPoint` half to even into the
/// type of the zero point, saturating. All of the scales and the zero point
/// broadcast against `value`.
mlir::Value requantize(NodeLowering &l, mlir::Value value, mlir::Value x,
                       mlir::Value w, mlir::Value y, Factor zeroPoint);

/// `value` with its axes in another order, stored (StoredTranspose.h).
mlir::Value reordered(NodeLowering &l, mlir::Value value,
                      llvm::ArrayRef<int64_t> order);

/// Einsum.cpp.
llvm::LogicalResult lowerEinsum(NodeLowering &l);

/// IntegerProducts.cpp.
llvm::LogicalResult lowerMatMulInteger(NodeLowering &l);
llvm::LogicalResult lowerQLinearMatMul(NodeLowering &l);

} // namespace loopc

#endif // LOOPC_LIB_CONVERSION_ONNXTOLINALG_NN_CONTRACTION_H
