//===- MergeGenerics.h - Two operations as one ----------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_TENSOR_MERGEGENERICS_H
#define LOOPC_TENSOR_MERGEGENERICS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace loopc {

/// Operands of one merged operation: more streams than this cost more than they
/// save.
inline constexpr unsigned kMaxOperands = 24;

/// True if what `map` reads for neighbours along the last axis of a result,
/// which is written by `out`, lies apart: a transpose.
bool isAcrossRows(mlir::AffineMap map, mlir::AffineMap out);

/// True if `ops` together compute more than what is computed in the tiles of a
/// transpose: that is an operation of its own then.
bool isHeavyWithTranspose(llvm::ArrayRef<mlir::linalg::GenericOp> ops);

/// True if the bodies of `first` and `second` are small enough for one. What
/// comes behind allocates registers for a body as a whole, in more than linear
/// time, while one store and load cost nothing beside so many operations.
bool fitIntoOneBody(mlir::linalg::GenericOp first,
                    mlir::linalg::GenericOp second);

/// The same for who asks again and again while patterns are applied: knows what
/// bodies cost until a rewrite changes them. It has to listen to the rewriter.
class BodyCosts : public mlir::RewriterBase::Listener {
public:
  bool fitIntoOne(mlir::linalg::GenericOp first,
                  mlir::linalg::GenericOp second);
  /// What the bodies cost that were looked at.
  uint64_t getNumCounted() const { return numCounted; }

  void notifyOperationInserted(mlir::Operation *op,
                               mlir::OpBuilder::InsertPoint previous) override;
  void notifyOperationErased(mlir::Operation *op) override { forget(op); }
  void notifyOperationModified(mlir::Operation *op) override { forget(op); }

private:
  unsigned get(mlir::linalg::GenericOp op);
  /// `op`, or the operation that has it in its body, costs something else now.
  void forget(mlir::Operation *op);

  llvm::DenseMap<mlir::Operation *, unsigned> costs;
  uint64_t numCounted = 0;
};

/// True for what computes each element by itself, in the order of its results.
bool isElementwise(mlir::linalg::GenericOp op);

/// `value` without axes of one element that `map` reads at 0 and a reshape has
/// put there.
mlir::Value dropUnitAxes(mlir::Value value, mlir::AffineMap &map);

/// For patterns that only make operations fewer: long chains take many rounds.
/// Which blocks are reached, and what they hand on, is the canonicalizer's to
/// ask: MLIR walks through everything three times for it.
inline mlir::GreedyRewriteConfig untilDone() {
  return mlir::GreedyRewriteConfig()
      .setMaxIterations(mlir::GreedyRewriteConfig::kNoLimit)
      .setRegionSimplificationLevel(mlir::GreedySimplifyRegionLevel::Disabled);
}

/// What `mergeGenerics` did.
struct MergeCounts {
  unsigned merged = 0;
  /// How many times an operation was asked whether another one may join it.
  uint64_t compared = 0;
};

/// Makes one operation of each two in `block` that may be merged, in order, at
/// the place of the second one. Two for which `mayMerge` holds have the same
/// loops, along one of which one of them may reduce; what the second reads of
/// the first it reads at the element that the first computes. It is asked with
/// `rewriter` in front of the second.
MergeCounts
mergeGenerics(mlir::IRRewriter &rewriter, mlir::Block &block,
              llvm::function_ref<bool(mlir::linalg::GenericOp)> isCandidate,
              llvm::function_ref<bool(mlir::linalg::GenericOp first,
                                      mlir::linalg::GenericOp second)>
                  mayMerge);

} // namespace loopc

#endif // LOOPC_TENSOR_MERGEGENERICS_H
