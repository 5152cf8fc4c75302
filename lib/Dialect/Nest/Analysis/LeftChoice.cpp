//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The same questions as those of lib/Target/SettleArithmetic.cpp, asked before
// functions are chosen.

#include "loopc/Dialect/Nest/Analysis/LeftChoice.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace loopc;

/// True for a scalar sum, product or extreme whose order is free.
static bool isFree(Operation &op) {
  if (op.getNumResults() != 1 || isa<VectorType>(op.getResult(0).getType()))
    return false;
  auto fast = dyn_cast<arith::ArithFastMathInterface>(op);
  auto flags = fast ? fast.getFastMathFlagsAttr() : nullptr;
  if (!flags)
    return false;
  auto needed = isa<arith::MinimumFOp, arith::MaximumFOp>(op)
                    ? arith::FastMathFlags::nsz
                    : arith::FastMathFlags::reassoc;
  return arith::bitEnumContainsAny(flags.getValue(), needed);
}

/// True for an elementary function of a constant; those of vectors of f32 are
/// polynomials.
static bool isOfConstant(Operation &op) {
  if (!isa_and_nonnull<math::MathDialect>(op.getDialect()))
    return false;
  auto vector = dyn_cast<VectorType>(op.getResult(0).getType());
  if (vector && vector.getElementType().isF32())
    return false;
  return llvm::any_of(op.getOperands(), [](Value operand) {
    return matchPattern(operand, m_Constant());
  });
}

/// True if `loop` has no loop in it, and no vectors: LLVM may make vectors.
static bool isScalarLoop(Operation *loop) {
  return !loop->walk([&](Operation *op) {
                bool isOther = op != loop && isa<LoopLikeOpInterface>(op);
                bool hasVectors = llvm::any_of(op->getResultTypes(),
                                               llvm::IsaPred<VectorType>);
                return isOther || hasVectors ? WalkResult::interrupt()
                                             : WalkResult::advance();
              })
              .wasInterrupted();
}

/// True if an iteration of `loop` may go on with a float of the one before: a
/// value, or an element in memory whose place does not change.
static bool carriesFloats(LoopLikeOpInterface loop) {
  if (llvm::any_of(loop.getRegionIterArgs(),
                   [](Value value) { return isa<FloatType>(value.getType()); }))
    return true;
  std::optional<SmallVector<Value>> numbers = loop.getLoopInductionVars();
  return loop
      ->walk([&](memref::StoreOp store) {
        bool isMoved = numbers && llvm::any_of(*numbers, [&](Value number) {
                         return llvm::is_contained(store.getIndices(), number);
                       });
        return isMoved ? WalkResult::advance() : WalkResult::interrupt();
      })
      .wasInterrupted();
}

namespace {
/// Goes through code in its order; what was found of an operation is kept.
class ChoiceFinder {
public:
  bool isChoice(Operation &op) {
    if (isOfConstant(op))
      return true;
    return isFree(op) && (countConstants(op) > 1 || isCarried(op));
  }

private:
  /// Constants in the chain of sums in free order that ends with `op`, of which
  /// LLVM makes one; no more than two are counted.
  unsigned countConstants(Operation &op) {
    unsigned count = 0;
    for (Value operand : op.getOperands())
      count += matchPattern(operand, m_Constant())
                   ? 1
                   : constants.lookup(operand.getDefiningOp());
    return constants[&op] = std::min(count, 2u);
  }

  /// True if LLVM may make vectors of a loop that carries `op`.
  bool isCarried(Operation &op) {
    auto loop = op.getParentOfType<LoopLikeOpInterface>();
    if (!loop)
      return false;
    auto [found, isNew] = loops.try_emplace(loop, false);
    if (isNew)
      found->second = isScalarLoop(loop) && carriesFloats(loop);
    return found->second;
  }

  llvm::DenseMap<Operation *, unsigned> constants;
  llvm::DenseMap<Operation *, bool> loops;
};
} // namespace

bool loopc::leavesChoice(Operation *root) {
  ChoiceFinder finder;
  return root
      ->walk<WalkOrder::PreOrder>([&](Operation *op) {
        return finder.isChoice(*op) ? WalkResult::interrupt()
                                    : WalkResult::advance();
      })
      .wasInterrupted();
}
