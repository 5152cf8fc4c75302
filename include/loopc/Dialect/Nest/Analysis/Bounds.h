//===- Bounds.h - What numbers are at least and at most ---------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_DIALECT_NEST_ANALYSIS_BOUNDS_H
#define LOOPC_DIALECT_NEST_ANALYSIS_BOUNDS_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/SetVector.h"

namespace loopc {

/// True if `value`, an extent or a place, is not negative by what it is made
/// of: what is added and multiplied there counts elements, which do not wrap.
bool isNonNegative(mlir::Value value);

/// True if the integer that `op` computes may wrap around where an address does
/// not: i and i + 256 are one i8. What extends a sign does not.
bool mayWrap(mlir::Operation *op);

/// The loop whose induction variable `value` is; null if it is none's. (MLIR's
/// getForInductionVarOwner() gives the loop of what iterations carry, too.)
mlir::scf::ForOp getLoopOf(mlir::Value value);

/// less <= more, or less < more where it is strict.
struct Order {
  mlir::Value less, more;
  bool isStrict, isSigned;
};

/// What holds where `condition` does (`holds`), or where it does not.
void listOrders(mlir::Value condition, bool holds,
                llvm::SmallVectorImpl<Order> &orders);

/// Sum and product of numbers that are not negative, as indices; the largest
/// number where the result would be larger.
mlir::Value addSizes(mlir::ImplicitLocOpBuilder &b, mlir::Value one,
                     mlir::Value other);
mlir::Value multiplySizes(mlir::ImplicitLocOpBuilder &b, mlir::Value one,
                          mlir::Value other);

/// Finds what numbers in a loop are at most, by what is known in front of it.
class SizeBounds {
public:
  /// Bounds stand at `b`, in front of `loop`.
  SizeBounds(mlir::ImplicitLocOpBuilder &b, mlir::LoopLikeOpInterface loop)
      : b(b), loop(loop) {}

  /// A bound of `value`, an integer or an index, as an index; null where none
  /// is known.
  mlir::Value of(mlir::Value value);

private:
  /// A value, or an axis of a buffer; -1 for a number.
  using Key = std::pair<mlir::Value, int64_t>;
  struct Set {
    /// In front of the loop. The bound is the largest of them.
    llvm::SetVector<mlir::Value> values;
    /// What they are of.
    llvm::DenseSet<Key> visited;
  };

  bool collect(mlir::Value value, Set &set);
  bool collectDim(mlir::Value buffer, int64_t axis, Set &set);
  bool collectCarried(mlir::Value buffer, int64_t axis, Set &set);
  bool collectAsLongAs(mlir::Value value, Set &set);
  bool collectGrowing(mlir::Value value, int64_t axis, Set &set);
  mlir::Value boundExpression(mlir::AffineExpr expr, mlir::ValueRange values,
                              unsigned numDims);
  mlir::Value boundGrowth(Key what, Key from);
  mlir::Value boundTrips(mlir::scf::ForOp loop);
  mlir::Value alone(mlir::Value value);
  mlir::Value largest(const Set &set);
  mlir::Value constant(int64_t value);

  mlir::ImplicitLocOpBuilder &b;
  mlir::LoopLikeOpInterface loop;
  /// What is being looked at, and how much was before: what it is in an
  /// iteration may follow from what it was in the one before.
  llvm::DenseMap<Key, unsigned> open;
  /// How much was looked at when arithmetic asked for a bound.
  unsigned depth = 0;
  /// Whether something of that was met.
  bool isCyclic = false;
  /// Values that may still be looked at.
  int64_t budget = 0;
};

} // namespace loopc

#endif // LOOPC_DIALECT_NEST_ANALYSIS_BOUNDS_H
