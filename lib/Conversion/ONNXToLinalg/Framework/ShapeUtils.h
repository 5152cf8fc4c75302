//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What the lowerings of shapes, data movement and indexing share: folded index
// arithmetic, integer operands read as scalars, checked indices, loop nests.

#ifndef LOOPC_LIB_CONVERSION_ONNXTOLINALG_FRAMEWORK_SHAPEUTILS_H
#define LOOPC_LIB_CONVERSION_ONNXTOLINALG_FRAMEWORK_SHAPEUTILS_H

#include "loopc/Conversion/ONNXToLinalg/NodeLowering.h"

namespace loopc {

//===----------------------------------------------------------------------===//
// Index arithmetic, folded where constant
//===----------------------------------------------------------------------===//

mlir::OpFoldResult minSigned(NodeLowering &l, mlir::OpFoldResult x,
                             mlir::OpFoldResult y);
mlir::OpFoldResult maxSigned(NodeLowering &l, mlir::OpFoldResult x,
                             mlir::OpFoldResult y);
/// Division and remainder of non-negative numbers; `y` is not zero.
mlir::OpFoldResult quotient(NodeLowering &l, mlir::OpFoldResult x,
                            mlir::OpFoldResult y);
mlir::OpFoldResult remainder(NodeLowering &l, mlir::OpFoldResult x,
                             mlir::OpFoldResult y);
mlir::Value compare(NodeLowering &l, mlir::arith::CmpIPredicate predicate,
                    mlir::OpFoldResult x, mlir::OpFoldResult y);
mlir::OpFoldResult select(NodeLowering &l, mlir::Value condition,
                          mlir::OpFoldResult x, mlir::OpFoldResult y);
mlir::Value both(NodeLowering &l, mlir::Value x, mlir::Value y);
mlir::Value either(NodeLowering &l, mlir::Value x, mlir::Value y);
inline bool sameExtent(mlir::OpFoldResult x, mlir::OpFoldResult y) {
  return mlir::isEqualConstantIntOrValue(x, y);
}
/// True if `value` is computed from dimensions and non-negative constants in a
/// way that cannot become negative.
bool isKnownNonNegative(mlir::OpFoldResult value);
/// The run ends with "<what> is {}, less than 0" where `value` is negative. The
/// result is `value`, or 0 for a negative constant: what is built behind the
/// check must be valid IR even where it cannot be reached.
mlir::OpFoldResult requireNonNegative(NodeLowering &l, mlir::OpFoldResult value,
                                      const llvm::Twine &what);
/// The run ends with an error where the two dimensions differ; false where
/// they are constants that do (the caller then builds anything of the right
/// type: a node that is wrong may stand where it never runs).
bool requireEqual(NodeLowering &l, mlir::OpFoldResult x, mlir::OpFoldResult y,
                  const llvm::Twine &what);

//===----------------------------------------------------------------------===//
// Integer operands
//===----------------------------------------------------------------------===//

/// `value` before the casts that hide its static shape.
mlir::Value stripCasts(mlir::Value value);
/// Element `indices` of `tensor`, folded where possible.
mlir::Value elementAt(NodeLowering &l, mlir::Value tensor,
                      mlir::ValueRange indices);
/// Number of elements of integer input `i` of rank 0 or 1.
mlir::OpFoldResult lengthOf(NodeLowering &l, unsigned i);
/// The elements of integer input `i` (rank 0 or 1), as indices. Where its
/// length is not known it is taken to be `expected` (checked at run time);
/// fails after an error where neither is known.
mlir::FailureOr<Dims> integers(NodeLowering &l, unsigned i,
                               std::optional<int64_t> expected,
                               llvm::StringRef what);
/// At most `limit` elements of integer input `i`: those beyond its run-time
/// length are `filler`.
Dims integersUpTo(NodeLowering &l, unsigned i, int64_t limit, int64_t filler);
/// Axes `axes` of a value of rank `rank`, made non-negative; run-time ones are
/// checked. Fails after an error.
mlir::FailureOr<Dims> normalizedAxes(NodeLowering &l, Dims axes, int64_t rank);
/// `values[axes[k]] = given[k]` for constant or run-time axes.
void spread(NodeLowering &l, llvm::ArrayRef<mlir::OpFoldResult> axes,
            llvm::ArrayRef<mlir::OpFoldResult> given, Dims &values);

//===----------------------------------------------------------------------===//
// Small integer tensors, computed in scalars
//===----------------------------------------------------------------------===//

/// True for static shapes of rank 0 or 1 with few integers: what shapes and
/// axes are computed with.
bool isSmallIntegers(llvm::ArrayRef<mlir::OpFoldResult> dims,
                     mlir::Type element);
/// tensor.from_elements with `element(k)` at k.
mlir::Value fromElements(NodeLowering &l,
                         llvm::ArrayRef<mlir::OpFoldResult> dims,
                         mlir::Type type,
                         llvm::function_ref<mlir::Value(int64_t)> element);

//===----------------------------------------------------------------------===//
// Views, loops and indices
//===----------------------------------------------------------------------===//

/// `value` with the dimensions `target`, whose product is known to be that of
/// its own. Axes that stay are not merged with others; no copy.
mlir::Value reshapeByGroups(NodeLowering &l, mlir::Value value,
                            llvm::ArrayRef<mlir::OpFoldResult> target);
/// True if one of `dims` is known to be 0.
bool isKnownEmpty(llvm::ArrayRef<mlir::OpFoldResult> dims);
/// The slice of `value`, a view; where it is known to be empty, an empty tensor
/// (MLIR refuses offsets at the end of an axis).
mlir::Value sliceOf(NodeLowering &l, mlir::Value value,
                    llvm::ArrayRef<mlir::OpFoldResult> offsets,
                    llvm::ArrayRef<mlir::OpFoldResult> sizes,
                    llvm::ArrayRef<mlir::OpFoldResult> strides = {});
/// The zero of an integer, float or complex type; null for other types.
mlir::Value zeroOf(NodeLowering &l, mlir::Type type);
/// A slice of `value` without the axes in `dropped`, whose size is 1.
mlir::Value sliceDropping(NodeLowering &l, mlir::Value value,
                          llvm::ArrayRef<mlir::OpFoldResult> offsets,
                          llvm::ArrayRef<mlir::OpFoldResult> sizes,
                          llvm::ArrayRef<int64_t> dropped);

using NestBody = llvm::function_ref<llvm::SmallVector<mlir::Value>(
    mlir::ValueRange position, mlir::ValueRange carried)>;
/// scf.for loops over `dims`, in C order, that carry values; no loop over an
/// extent of 1. `body` builds at `l.b`. Iterations of the first `numParallel`
/// loops touch elements of their own in what is carried.
llvm::SmallVector<mlir::Value> loopNest(NodeLowering &l,
                                        llvm::ArrayRef<mlir::OpFoldResult> dims,
                                        mlir::ValueRange inits, NestBody body,
                                        size_t numParallel = 0);

/// What `yes` or `no` makes, of type `type`, of which only one is computed.
mlir::Value ifElse(NodeLowering &l, mlir::Type type, mlir::Value condition,
                   llvm::function_ref<mlir::Value()> yes,
                   llvm::function_ref<mlir::Value()> no);
/// What `body` makes where `condition` is true, else `otherwise`.
llvm::SmallVector<mlir::Value>
onlyIf(NodeLowering &l, mlir::Value condition, mlir::ValueRange otherwise,
       llvm::function_ref<llvm::SmallVector<mlir::Value>()> body);

/// An index of input `input` along axes of some extents: whether its run-time
/// values can be out of range was settled by checkIndices.
class CheckedIndices {
public:
  /// Emits the check that all values of `input` are in [-extent, extent). With
  /// more than one extent, value `k` of the last axis is held to extent k.
  /// With `wraps` false negative values are errors too.
  CheckedIndices(NodeLowering &l, unsigned input,
                 llvm::ArrayRef<mlir::OpFoldResult> extents, bool wraps = true);
  /// The same for lengths of sequences: each is 0 to `extent`.
  static CheckedIndices ofLengths(NodeLowering &l, unsigned input,
                                  mlir::OpFoldResult extent);
  /// `raw`, a value read from the input, made a safe position on axis `k`:
  /// negative ones count from the end; what the check has refused is moved into
  /// the range, because pure operations may be hoisted over checks.
  mlir::Value position(mlir::OpBuilder &b, mlir::Location loc, mlir::Value raw,
                       unsigned k = 0) const;
  /// True (i1) where all values are in range.
  mlir::Value ok() const { return allInRange; }
  bool isStaticallyOk() const { return !needsCheck; }

private:
  CheckedIndices(NodeLowering &l, unsigned input,
                 llvm::ArrayRef<mlir::OpFoldResult> extents, bool wraps,
                 bool areLengths);
  mlir::Value normalized(mlir::OpBuilder &b, mlir::Location loc,
                         mlir::Value raw, unsigned k) const;
  void check(NodeLowering &l, mlir::Value holds, mlir::Value given,
             mlir::Value extent);
  bool constantsInRange(NodeLowering &l, unsigned input,
                        llvm::ArrayRef<mlir::OpFoldResult> extents) const;
  void checkAll(NodeLowering &l, mlir::Value indices);
  llvm::SmallVector<mlir::Value> findLargest(NodeLowering &l,
                                             mlir::Value indices);

  bool isUnsigned, wraps, areLengths, needsCheck = true;
  llvm::SmallVector<mlir::Value> extents, lasts;
  mlir::Value allInRange;
};

} // namespace loopc

#endif // LOOPC_LIB_CONVERSION_ONNXTOLINALG_FRAMEWORK_SHAPEUTILS_H
