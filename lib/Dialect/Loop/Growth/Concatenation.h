//===- Concatenation.h - Tensors put behind one another -------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_LIB_DIALECT_LOOP_GROWTH_CONCATENATION_H
#define LOOPC_LIB_DIALECT_LOOP_GROWTH_CONCATENATION_H

#include "loopc/Support/Casts.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace loopc {

/// A sum of a constant and SSA values, so that sums that were added up in
/// another order are found equal.
class Sum {
public:
  explicit Sum(mlir::OpFoldResult value) { add(value); }

  Sum &add(mlir::OpFoldResult value);
  bool operator==(const Sum &other) const;

private:
  int64_t constant = 0;
  /// Sums of sums that are still looked into: of a value and itself, and that
  /// and itself, ..., there would be 2^n.
  unsigned budget = 256;
  llvm::SmallDenseMap<mlir::Value, int64_t, 4> terms;
  llvm::SmallDenseMap<std::pair<mlir::Value, int64_t>, int64_t, 4> dims;
};

/// What is inserted into an empty tensor one behind the other along an axis;
/// `parts[own]` is the value that grows.
struct Concatenation {
  llvm::SmallVector<mlir::tensor::InsertSliceOp> parts;
  unsigned own = 0;

  mlir::tensor::InsertSliceOp last() const { return parts.back(); }
  /// The extents of the whole.
  llvm::SmallVector<mlir::OpFoldResult> extents() const;
  /// True if each part begins along `axis` where the one before ends, and the
  /// last one ends with the whole.
  bool isGapless(int64_t axis) const;
  /// Finds the one axis along which parts are not at 0, which is `axis` if that
  /// is known before; false if there is none.
  bool matchAxis(std::optional<int64_t> &axis) const;
};

/// The insertions that end in `value`, in order; none where it is no chain of
/// insertions, that nobody else reads, into an empty tensor.
llvm::SmallVector<mlir::tensor::InsertSliceOp> insertionsOf(mlir::Value value,
                                                            mlir::Block *block);

inline mlir::OpFoldResult sizeOf(mlir::tensor::InsertSliceOp part,
                                 int64_t axis) {
  return part.getMixedSizes()[axis];
}

} // namespace loopc

#endif // LOOPC_LIB_DIALECT_LOOP_GROWTH_CONCATENATION_H
