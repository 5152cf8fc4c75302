//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Questions about all operations in an operation, a region or a block, and
// lists of them. A walk is MLIR's: what is inside comes before what holds it.

#ifndef LOOPC_SUPPORT_WALK_H
#define LOOPC_SUPPORT_WALK_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/STLExtras.h"
#include <type_traits>

namespace loopc {

/// Walks `root`, a pointer, an operation or a region.
template <typename RootT, typename Visitor>
auto walkIn(RootT &&root, Visitor visitor) {
  if constexpr (std::is_pointer_v<std::remove_reference_t<RootT>>)
    return root->walk(visitor);
  else
    return root.walk(visitor);
}

/// True where `isOne` holds for an operation in `root`, itself included, of the
/// type that `isOne` takes. Nothing is visited behind the first.
template <typename RootT, typename Predicate>
bool anyNested(RootT &&root, Predicate isOne) {
  using OpT = typename llvm::function_traits<Predicate>::template arg_t<0>;
  return walkIn(root,
                [&](OpT op) {
                  return isOne(op) ? mlir::WalkResult::interrupt()
                                   : mlir::WalkResult::advance();
                })
      .wasInterrupted();
}

/// True where `isFine` holds for all of them.
template <typename RootT, typename Predicate>
bool allNested(RootT &&root, Predicate isFine) {
  using OpT = typename llvm::function_traits<Predicate>::template arg_t<0>;
  return !anyNested(root, [&](OpT op) { return !isFine(op); });
}

/// True where an operation of one of these types is in `root`, itself included.
template <typename... OpTs, typename RootT> bool holdsOp(RootT &&root) {
  return anyNested(root,
                   [](mlir::Operation *op) { return mlir::isa<OpTs...>(op); });
}

/// The operations in `root`, itself included, of the type that `isOne` takes,
/// for which it holds.
template <typename RootT, typename Predicate>
auto collectOps(RootT &&root, Predicate isOne) {
  using OpT = typename llvm::function_traits<Predicate>::template arg_t<0>;
  llvm::SmallVector<OpT> found;
  walkIn(root, [&](OpT op) {
    if (isOne(op))
      found.push_back(op);
  });
  return found;
}

/// All operations of type `OpT` in `root`, itself included.
template <typename OpT, typename RootT>
llvm::SmallVector<OpT> collectOps(RootT &&root) {
  return collectOps(root, [](OpT) { return true; });
}

} // namespace loopc

#endif // LOOPC_SUPPORT_WALK_H
