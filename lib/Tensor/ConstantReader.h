//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_LIB_TENSOR_CONSTANTREADER_H
#define LOOPC_LIB_TENSOR_CONSTANTREADER_H

#include "ConstantGenerics.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/SetVector.h"

#include <functional>

namespace loopc {

/// Bytes of an element; 0 if elements are no whole bytes. Truth values have one
/// while the compiler computes with them.
int64_t elementBytes(mlir::Type type);

/// Bytes of a tensor whose elements have whole bytes.
int64_t bytesOf(mlir::RankedTensorType type);

/// A part of a tensor: where it is known to the compiler, its places.
struct ConstantPart {
  llvm::SmallVector<int64_t> sizes, strides;
  int64_t first = 0;

  /// Calls `move` with the place in the tensor and the place in the part of
  /// each row of neighbours, counted in elements.
  void forRows(llvm::function_ref<void(int64_t, int64_t, int64_t)> move) const;
};

/// The part of a tensor of `type` that `op` reads or writes.
std::optional<ConstantPart> partOf(mlir::OffsetSizeAndStrideOpInterface op,
                                   mlir::RankedTensorType type);

/// What the elements of a value come from.
using ConstantSources = llvm::SmallSetVector<mlir::arith::ConstantOp, 4>;

/// Elements of operations that were evaluated, and what they come from.
using EvaluatedConstants =
    llvm::DenseMap<mlir::Operation *,
                   std::pair<ConstantBytes, ConstantSources>>;

/// Finds the elements of what follows from constants alone.
class ConstantReader {
public:
  /// Operations that compute are evaluated where `isDerived` holds. `sums` has
  /// those that take long, for other readers too.
  explicit ConstantReader(
      std::function<bool(mlir::Operation *)> isDerived = nullptr,
      EvaluatedConstants *sums = nullptr)
      : isDerived(std::move(isDerived)), sums(sums) {}

  /// True if the elements of `value` follow from constants, which are `sources`
  /// then. What is only moved is not read yet.
  bool find(mlir::Value value);

  /// The elements of `value`; false if they do not follow from constants.
  bool read(mlir::Value value, ConstantBytes &out);
  bool readGeneric(mlir::linalg::GenericOp op, ConstantBytes &out);

  /// Replaces and erases `op`, whose result has been found, by a constant.
  void replace(mlir::Operation *op);

  ConstantSources sources;

private:
  using Evaluated = EvaluatedConstants::mapped_type;

  Evaluated *evaluateOnce(mlir::linalg::GenericOp op);
  /// The elements of `value`, which have been found: where they are, or in
  /// `storage`.
  llvm::ArrayRef<char> view(mlir::Value value, ConstantBytes &storage);
  void write(mlir::Value value, llvm::MutableArrayRef<char> out);

  std::function<bool(mlir::Operation *)> isDerived;
  EvaluatedConstants evaluated, *sums;
};

/// Replaces and erases `op`, which is no reader of its operands any more: what
/// sums up weights does not keep them from being transposed.
void replaceByConstant(mlir::Operation *op, llvm::ArrayRef<char> bytes);

} // namespace loopc

#endif // LOOPC_LIB_TENSOR_CONSTANTREADER_H
