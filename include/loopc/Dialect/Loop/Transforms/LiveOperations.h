//===- LiveOperations.h - Operations that may be erased ---------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_DIALECT_LOOP_TRANSFORMS_LIVEOPERATIONS_H
#define LOOPC_DIALECT_LOOP_TRANSFORMS_LIVEOPERATIONS_H

#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/DenseMap.h"

#include <functional>

namespace loopc {

/// Operations that were collected, without those that have been erased since.
/// What rewrites them must have this as its listener, and erase through the
/// rewriter only: erased operations then leave the list, those that stand in
/// regions of an erased one included.
class LiveOperations : public mlir::RewriterBase::Listener {
public:
  /// `forget`, if any, is called with each operation that is erased, whether it
  /// was collected or not.
  explicit LiveOperations(std::function<void(mlir::Operation *)> forget = {})
      : forget(std::move(forget)) {}

  void add(mlir::Operation *op) {
    if (places.try_emplace(op, ops.size()).second)
      ops.push_back(op);
  }

  /// Calls `visit` with each operation in the order of `add`. It may erase any
  /// of them, and add others, which are visited, too.
  void forEach(llvm::function_ref<void(mlir::Operation *)> visit) {
    for (size_t k = 0; k < ops.size(); ++k)
      if (ops[k])
        visit(ops[k]);
  }

  void notifyOperationErased(mlir::Operation *op) override {
    if (forget)
      forget(op);
    auto it = places.find(op);
    if (it == places.end())
      return;
    ops[it->second] = nullptr;
    // Another operation may get its place in memory.
    places.erase(it);
  }

private:
  std::function<void(mlir::Operation *)> forget;
  llvm::SmallVector<mlir::Operation *> ops; ///< null for what was erased
  llvm::DenseMap<mlir::Operation *, size_t> places;
};

} // namespace loopc

#endif // LOOPC_DIALECT_LOOP_TRANSFORMS_LIVEOPERATIONS_H
