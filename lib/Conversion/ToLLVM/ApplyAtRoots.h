//===- ApplyAtRoots.h - Patterns of a few operations -----------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_LIB_CONVERSION_TOLLVM_APPLYATROOTS_H
#define LOOPC_LIB_CONVERSION_TOLLVM_APPLYATROOTS_H

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace loopc {

/// Applies `patterns` to the operations in `root` that one of them is for, if
/// `mayMatch` is not known to be false, and to what they make of them. On a
/// whole function the greedy driver folds all operations and simplifies all
/// regions, again after each round: of large modules that takes ten times as
/// long.
inline llvm::LogicalResult
applyAtRoots(mlir::Operation *root,
             const mlir::FrozenRewritePatternSet &patterns,
             llvm::function_ref<bool(mlir::Operation *)> mayMatch = nullptr) {
  llvm::SmallVector<mlir::Operation *> ops;
  root->walk([&](mlir::Operation *op) {
    if (op != root &&
        patterns.getOpSpecificNativePatterns().contains(op->getName()) &&
        (!mayMatch || mayMatch(op)))
      ops.push_back(op);
  });
  return applyOpPatternsGreedily(ops, patterns);
}

} // namespace loopc

#endif // LOOPC_LIB_CONVERSION_TOLLVM_APPLYATROOTS_H
