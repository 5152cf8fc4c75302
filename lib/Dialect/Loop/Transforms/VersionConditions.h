//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The conditions under which a version of a loop runs.

#ifndef LOOPC_LIB_DIALECT_LOOP_TRANSFORMS_VERSIONCONDITIONS_H
#define LOOPC_LIB_DIALECT_LOOP_TRANSFORMS_VERSIONCONDITIONS_H

#include "loopc/Dialect/Loop/IR/Loop.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/DenseMap.h"

namespace loopc::loop {

/// Conditions, none of which contradicts the others: a version that never runs
/// is no use, and a slice in it may reach beyond its tensor.
class VersionConditions {
public:
  llvm::ArrayRef<mlir::Value> get() const { return conditions; }
  void clear() {
    conditions.clear();
    equals.clear();
  }
  /// Adds a condition, unless the others contradict it.
  bool add(mlir::Value condition);
  /// The same of a condition that says that `value` is `other`.
  bool addEquality(mlir::Value value, mlir::OpFoldResult other,
                   mlir::Value condition);

private:
  mlir::OpFoldResult getAssumed(mlir::Value value) const;
  mlir::Attribute
  evaluate(mlir::Value value,
           llvm::DenseMap<mlir::Value, mlir::Attribute> &memo) const;
  bool isContradicted() const;

  llvm::SmallVector<mlir::Value> conditions;
  /// Values, and what they are under the conditions.
  llvm::SmallVector<std::pair<mlir::Value, mlir::OpFoldResult>> equals;
};

/// The extents that `condition` says are equal, as indices; null where it says
/// something else.
std::pair<mlir::OpFoldResult, mlir::OpFoldResult>
comparedExtents(mlir::Value condition);

/// True for min(.., 1): how many rows the last one is, which slices take.
bool isAtMostOne(mlir::Value extent);

/// True if a division is among what `extent` is computed by: halves of a tensor
/// are seldom as long as it is.
bool isDivided(mlir::Value extent);

/// Port `port` of `loop` is of `type`, for what is cast to the old one.
void refineCarried(mlir::RewriterBase &rewriter, LoopOp loop, unsigned port,
                   mlir::RankedTensorType type);

} // namespace loopc::loop

#endif // LOOPC_LIB_DIALECT_LOOP_TRANSFORMS_VERSIONCONDITIONS_H
