//===- ReshapeShape.h - The extents of a Reshape ----------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_LIB_CONVERSION_ONNXTOLINALG_TENSOR_RESHAPESHAPE_H
#define LOOPC_LIB_CONVERSION_ONNXTOLINALG_TENSOR_RESHAPESHAPE_H

#include "loopc/Conversion/ONNXToLinalg/NodeLowering.h"
#include "llvm/ADT/SmallBitVector.h"

namespace loopc {

/// Works out the dimensions of a Reshape. A factor that stands on both sides is
/// cancelled, so that what is left tells the extent written as -1 and whether
/// the numbers of elements agree.
class ReshapeShape {
public:
  ReshapeShape(NodeLowering &l, Dims source, bool allowZero)
      : l(l), source(std::move(source)), allowZero(allowZero) {}

  /// Fails after an error. `target` may hold 0 and -1.
  mlir::LogicalResult resolve(Dims target);

  Dims dims;
  /// True if the numbers of elements are known to agree.
  bool isProven = false;

private:
  /// Extent `k` of the target where it is not -1.
  mlir::FailureOr<mlir::OpFoldResult> given(mlir::OpFoldResult value,
                                            int64_t k);
  /// What stands for `value` at `k` where a run may find it 0.
  mlir::OpFoldResult copiedIfZero(mlir::OpFoldResult value, int64_t k);
  void cancel(Dims &ours, Dims &theirs);
  /// The extent that -1 stands for, and whether the elements of the input can
  /// be divided so.
  struct Rest {
    mlir::Value fits;
    mlir::OpFoldResult extent;
  };
  /// Of the extents `ours` of the input where the target has `theirs` and -1.
  Rest inferExtent(const Dims &ours, const Dims &theirs);
  void resolveInferred(int64_t position);
  void resolveRunTime(const llvm::SmallBitVector &maybeInferred);
  void compareCounts();

  NodeLowering &l;
  Dims source;
  /// The extents of both sides that are not known to be copied by a 0, which
  /// are 1 where they are: an axis that is copied is no factor of what -1 is.
  Dims left, factors;
  bool allowZero;
  /// True if an element of the target is -1 as far as is known.
  bool isInferring = false;
};

} // namespace loopc

#endif // LOOPC_LIB_CONVERSION_ONNXTOLINALG_TENSOR_RESHAPESHAPE_H
