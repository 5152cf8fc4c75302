//===- Growth.h - Values that grow in loops ---------------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_LIB_DIALECT_LOOP_GROWTH_GROWTH_H
#define LOOPC_LIB_DIALECT_LOOP_GROWTH_GROWTH_H

#include "BranchAppends.h"
#include "Concatenation.h"
#include "loopc/Dialect/Loop/IR/Loop.h"
#include <memory>

namespace loopc {

struct Growth;

/// What becomes of the value: a concatenation with others, a slice of it, or a
/// loop that it grows in.
struct Step {
  Concatenation concatenation;
  mlir::tensor::ExtractSliceOp cut;
  loop::LoopOp loop;
  std::shared_ptr<Growth> growth; ///< in `loop`

  mlir::Value result() const;
};

/// A carried value that grows, step by step.
struct Growth {
  unsigned port = 0;
  std::optional<int64_t> axis;
  llvm::SmallVector<Step> steps;
  /// Branches that do such; the first one is nearest to the argument. The
  /// growth is found behind them, once these are concatenations themselves.
  llvm::SmallVector<BranchAppend> branches;

  bool isEmpty() const { return steps.empty() && branches.empty(); }

  /// True where `holds` for a step, here or in loops.
  bool anyStep(llvm::function_ref<bool(const Step &)> holds) const;
  bool hasCuts() const;
  /// True where the value does not always begin where the buffer does.
  bool movesBegin() const;
  /// True where each iteration only puts something in front or behind.
  bool isStraight() const;
};

/// What carried value `port` becomes in each iteration, if it grows or shrinks
/// along one axis. Concatenations and slices are taken out of branches first.
std::optional<Growth> findGrowth(mlir::IRRewriter &rewriter, loop::LoopOp loop,
                                 unsigned port);

} // namespace loopc

#endif // LOOPC_LIB_DIALECT_LOOP_GROWTH_GROWTH_H
