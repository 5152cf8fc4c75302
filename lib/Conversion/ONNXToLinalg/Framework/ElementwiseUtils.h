//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What the lowerings of elementwise operators, reductions and normalizations
// share: scalar arithmetic that is folded as it is built, and linalg.generic
// over operands that have some of the axes of an iteration space.

#ifndef LOOPC_LIB_CONVERSION_ONNXTOLINALG_FRAMEWORK_ELEMENTWISEUTILS_H
#define LOOPC_LIB_CONVERSION_ONNXTOLINALG_FRAMEWORK_ELEMENTWISEUTILS_H

#include "loopc/Conversion/ONNXToLinalg/NodeLowering.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace loopc {

/// Builds arithmetic on scalars (floats, signless integers, bool), folded where
/// the operands are constant: shapes are computed with the same lowerings.
class ScalarBuilder {
public:
  ScalarBuilder(mlir::OpBuilder &b, mlir::Location loc, bool isUnsigned = false)
      : b(b), loc(loc), isUnsigned(isUnsigned) {}

  mlir::OpBuilder &b;
  mlir::Location loc;
  /// How integers are compared, divided, shifted right and widened.
  bool isUnsigned;

  template <typename OpTy, typename... Args> mlir::Value make(Args &&...args) {
    return b.createOrFold<OpTy>(loc, std::forward<Args>(args)...);
  }

  mlir::Value constant(mlir::Type type, double value);
  mlir::Value integer(mlir::Type type, int64_t value);
  /// 0 or 1 of any type.
  mlir::Value number(mlir::Type type, int64_t value);
  /// Smallest (largest) value; -inf (inf) of a float.
  mlir::Value lowest(mlir::Type type);
  mlir::Value highest(mlir::Type type);

  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value sub(mlir::Value x, mlir::Value y);
  mlir::Value mul(mlir::Value x, mlir::Value y);
  /// Floats: IEEE. Integers: towards zero; cannot trap but for a divisor of 0,
  /// which the caller has checked for (INT_MIN / -1 wraps).
  mlir::Value div(mlir::Value x, mlir::Value y);
  mlir::Value neg(mlir::Value x);
  mlir::Value abs(mlir::Value x);
  /// NaN where one operand is.
  mlir::Value min(mlir::Value x, mlir::Value y);
  mlir::Value max(mlir::Value x, mlir::Value y);

  mlir::Value less(mlir::Value x, mlir::Value y);
  mlir::Value lessOrEqual(mlir::Value x, mlir::Value y);
  mlir::Value equal(mlir::Value x, mlir::Value y);
  /// True for NaN too.
  mlir::Value notEqual(mlir::Value x, mlir::Value y);
  mlir::Value isNaN(mlir::Value x);
  mlir::Value select(mlir::Value condition, mlir::Value x, mlir::Value y);
  mlir::Value both(mlir::Value x, mlir::Value y);
  mlir::Value either(mlir::Value x, mlir::Value y);
  mlir::Value invert(mlir::Value condition);

  /// `value` as `to`; both signs are isUnsigned.
  mlir::Value cast(mlir::Value value, mlir::Type to);
  mlir::Value exp(mlir::Value x) { return make<mlir::math::ExpOp>(x); }
};

/// True for the types that arithmetic is lowered for: integers, bool, f16,
/// bf16, f32, f64.
bool isArithmeticType(mlir::Type type);
/// Fails after an error where input `i` (any input) has another element type.
mlir::LogicalResult requireArithmetic(NodeLowering &l, unsigned i);
mlir::LogicalResult requireArithmetic(NodeLowering &l);

/// `value` must broadcast to `target` without changing it (ONNX's
/// unidirectional broadcasting): checked at run time where types do not tell.
mlir::LogicalResult
requireBroadcastsTo(NodeLowering &l, mlir::Value value,
                    llvm::ArrayRef<mlir::OpFoldResult> target,
                    llvm::StringRef what);

using UnaryScalar =
    llvm::function_ref<mlir::Value(ScalarBuilder &s, mlir::Value x)>;
/// Sets result 0 to `fn` of every element of input 0, which is computed in the
/// type that arithmetic on it is done in.
mlir::LogicalResult lowerElementwise(NodeLowering &l, UnaryScalar fn);

/// A tensor that has the axes `axes` of an iteration space, in this order;
/// -1 stands for an axis of extent 1 that is not one of the space.
struct SpaceOperand {
  mlir::Value value;
  llvm::SmallVector<int64_t> axes;
};
/// The axes 0, ..., rank - 1.
llvm::SmallVector<int64_t> allAxes(int64_t rank);
/// The axes of a space of rank `rank` that are not in `axes`.
llvm::SmallVector<int64_t> otherAxes(int64_t rank,
                                     llvm::ArrayRef<int64_t> axes);

using ScalarsBody = llvm::function_ref<mlir::Value(
    ScalarBuilder &s, llvm::ArrayRef<mlir::Value> elements)>;
/// A tensor over the whole space `dims` whose elements are `body` of the
/// operands'.
mlir::Value mapSpace(NodeLowering &l, llvm::ArrayRef<SpaceOperand> operands,
                     llvm::ArrayRef<mlir::OpFoldResult> dims, mlir::Type type,
                     ScalarsBody body);

enum class Combiner { Sum, Prod, Max, Min };
/// The neutral element of `combiner`.
mlir::Value identityOf(ScalarBuilder &s, Combiner combiner, mlir::Type type);
/// Sums and products of floats may be reassociated (the numeric contract).
mlir::Value combineScalars(ScalarBuilder &s, Combiner combiner, mlir::Value x,
                           mlir::Value accumulated);
/// Reduces `body` of the operands' elements over the axes `reduced` of `dims`;
/// the result has the other axes, in order. `type` is that of the accumulator
/// and of what `body` returns; integers are compared as `isUnsigned` says.
/// `body` may ask for the indices by linalg.index. Over no axes it is mapSpace.
mlir::Value reduceSpace(NodeLowering &l, llvm::ArrayRef<SpaceOperand> operands,
                        llvm::ArrayRef<mlir::OpFoldResult> dims,
                        llvm::ArrayRef<int64_t> reduced, Combiner combiner,
                        mlir::Type type, bool isUnsigned, ScalarsBody body);
/// Number of elements along `axes`, as a scalar of `type` (at least 1 where
/// that is an integer type, so that it can be divided by).
mlir::Value countAlong(NodeLowering &l, llvm::ArrayRef<mlir::OpFoldResult> dims,
                       llvm::ArrayRef<int64_t> axes, mlir::Type type);
/// The index (i64) of the first or last extremum along `axis`, as NumPy has it:
/// NaN is one. The result lacks the axis; an empty one is an error of the run.
mlir::Value argExtremum(NodeLowering &l, mlir::Value value, int64_t axis,
                        Combiner combiner, bool isUnsigned, bool wantsLast);
/// `value`, which lacks `axes`, with extents of 1 there.
mlir::Value restoreAxes(NodeLowering &l, mlir::Value value,
                        llvm::ArrayRef<int64_t> axes);

} // namespace loopc

#endif // LOOPC_LIB_CONVERSION_ONNXTOLINALG_FRAMEWORK_ELEMENTWISEUTILS_H
