//===- IterationPlaces.h - Where iterations read and write ------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_DIALECT_NEST_ANALYSIS_ITERATIONPLACES_H
#define LOOPC_DIALECT_NEST_ANALYSIS_ITERATIONPLACES_H

#include "loopc/Dialect/Nest/Analysis/Accesses.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/MapVector.h"

namespace loopc {

/// Compares the places that iterations of a nest read and write.
class IterationPlaces {
public:
  explicit IterationPlaces(mlir::scf::ForOp nest);

  /// True if the place of `write` tells the iteration: an index is a multiple
  /// of the nest's induction variable and what does not depend on it, or two
  /// are quotient and remainder of such a number.
  bool tellsIteration(const Access &write) const;

  /// What of `accesses` keeps iterations from running at the same time: a place
  /// that one iteration may read or write, and another one writes; "" where
  /// there is none. Compared is what has one buffer, but not views by strides.
  /// Places in loops within the nest are taken to stay in the part that their
  /// iteration has, as their bounds say it.
  llvm::StringRef findConflict(llvm::ArrayRef<Access> accesses) const;

private:
  /// What a number was divided by: a quotient or a remainder.
  struct Part {
    mlir::Value value;
    std::optional<int64_t> divisor;
    mlir::Value by; ///< null where the divisor is known
    bool isQuotient;
  };

  /// An index: `constant + iterations * induction variable + others`.
  struct Sum {
    int64_t constant = 0;
    int64_t iterations = 0;
    llvm::SmallMapVector<mlir::Value, int64_t, 4> others;
    /// The induction variable times a number that only the run knows.
    bool isScaled = false;
    /// What depends on the iteration in another way: what is known of it, and
    /// what is not.
    llvm::SmallVector<Part> parts;
    bool isOther = false;

    void add(const Sum &sum, int64_t factor);
    bool hasNoOthers() const {
      return llvm::all_of(others,
                          [](const auto &entry) { return entry.second == 0; });
    }
    /// True if it differs in all iterations, whatever the others are.
    bool tells() const {
      return (iterations != 0 || isScaled) && parts.empty() && !isOther;
    }
  };

  /// A place in a buffer that is no view of a part of another one.
  struct Place {
    Access access;
    mlir::Value base;
    llvm::SmallVector<Sum> indices;
    /// Where the base begins, in elements, if it is a view by strides.
    llvm::SmallVector<Sum> offsets;
  };

  bool depends(mlir::Value value) const { return dependent.contains(value); }
  Sum sumOf(mlir::Value value) const;
  Sum findSumOf(mlir::Value value) const;
  Sum sumOfOp(mlir::Operation *op) const;
  std::optional<Sum> clampOf(mlir::Operation *op) const;
  bool isLast(mlir::Value last, mlir::Value upper) const;
  Sum sumOf(mlir::AffineExpr expr, mlir::ValueRange operands,
            unsigned dims) const;
  Sum partOf(mlir::Value value, std::optional<int64_t> divisor, mlir::Value by,
             bool isQuotient) const;
  Place placeOf(const Access &access) const;
  bool mayConflict(const Place &written, const Place &other) const;
  bool tellsByParts(llvm::ArrayRef<Sum> sums) const;

  mlir::Value induction, upperBound;
  std::optional<int64_t> step; ///< none where only the run knows
  llvm::DenseSet<mlir::Value> dependent;
  /// What sumOf has answered, for as long as the nest is not changed.
  mutable llvm::DenseMap<mlir::Value, Sum> sums;
};

} // namespace loopc

#endif // LOOPC_DIALECT_NEST_ANALYSIS_ITERATIONPLACES_H
