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
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace loopc {

/// A dependence test: compares the places that iterations of a nest read and
/// write. What it does not understand may be any place.
class IterationPlaces {
public:
  explicit IterationPlaces(mlir::scf::ForOp nest);

  /// True if no two iterations of the nest write to one place by `write`. Along
  /// some axis each iteration has a part of its own, whose length is at most
  /// the distance of two iterations, or two axes are quotient and remainder of
  /// the iteration's number.
  bool tellsIteration(const Access &write) const;

  /// What of `accesses` keeps iterations from running at the same time: a place
  /// that one iteration may read or write, and another one writes; "" where
  /// there is none. Accesses of buffers for which `rootOf` gives one value may
  /// be of the same memory.
  llvm::StringRef
  findConflict(llvm::ArrayRef<Access> accesses,
               llvm::function_ref<mlir::Value(mlir::Value)> rootOf) const;

  /// Where a quotient is rounded to. One of `divsi` and a remainder of `mod` do
  /// not tell what was divided: -1 and 3 both have 0 and 3, by 4.
  enum class Rounding { Down, ToZero, Unsigned };

private:
  /// The quotient, or the remainder, of the number `value + plus`.
  struct Part {
    mlir::Value value;
    std::optional<int64_t> divisor;
    mlir::Value by; ///< null where the divisor is known
    bool isQuotient;
    Rounding rounding; ///< Down for numbers that are not negative
    int64_t plus = 0;

    bool operator==(const Part &other) const {
      return value == other.value && divisor == other.divisor &&
             by == other.by && isQuotient == other.isQuotient &&
             rounding == other.rounding && plus == other.plus;
    }
  };

  /// A value, or its product with another one that no iteration changes.
  using Term = std::pair<mlir::Value, mlir::Value>;

  /// `constant + sum of factor * term + part`; anything where `isOther`, as
  /// where a number has more than 64 bits.
  struct Sum {
    int64_t constant = 0;
    llvm::SmallVector<std::pair<Term, int64_t>, 2> terms; ///< no factor is 0
    llvm::SmallVector<Part, 1> parts; ///< two stand for several
    bool isOther = false;

    void add(const Sum &sum, int64_t factor);
    void addConstant(int64_t value, int64_t times = 1);
    void addTerm(Term term, int64_t factor, int64_t times = 1);
    int64_t getFactor(Term term) const;
    bool isConstant() const {
      return terms.empty() && parts.empty() && !isOther;
    }
    bool isEqual(const Sum &other) const;
    /// True if it is one whatever the terms are.
    bool isMultipleOf(int64_t number) const;
  };

  /// The numbers that an index has in one iteration: from `first` on, which
  /// changes in no other way, at most `length` of them.
  struct Range {
    Sum first;
    int64_t iterations = 0; ///< factor of the induction variable in `first`
    mlir::Value scale;      ///< which is multiplied by this; null for one
    /// None where it is `iterations * step * scale`.
    std::optional<int64_t> length;
  };

  /// A place in a buffer that is no view of a part of another one.
  struct Place {
    mlir::Value base;
    llvm::SmallVector<Sum, 1> indices;
    llvm::SmallVector<int64_t> extents;
    /// The part that an iteration has of each axis; none where it has none.
    llvm::SmallVector<std::optional<Range>, 1> ranges;
    /// The same of what `base` is a view of, if it is one by strides.
    std::optional<Range> elements;
  };

  using Found = llvm::function_ref<bool(const Sum &)>;

  bool varies(mlir::Value value) const { return varying.contains(value); }
  Sum sumOf(mlir::Value value) const;
  Sum sumOf(mlir::OpFoldResult value) const;
  Sum sumOf(mlir::AffineExpr expr, mlir::ValueRange operands,
            unsigned dims) const;
  Sum findSumOf(mlir::Value value) const;
  Sum findSumOf(mlir::Operation *op) const;
  Sum partOf(mlir::Value value, std::optional<int64_t> divisor, mlir::Value by,
             bool isQuotient, Rounding rounding) const;
  Sum productOf(const Sum &sum, mlir::OpFoldResult factor) const;
  /// The number that `part` is of.
  Sum dividedBy(const Part &part) const;
  std::optional<Sum> findSuccessor(mlir::arith::SelectOp select) const;

  llvm::SmallVector<Sum, 1> sumsOfMin(mlir::Value value) const;
  bool isLast(const Sum &last, mlir::Value upper) const;
  bool isNonNegative(const Sum &sum) const;
  llvm::SmallVector<Sum, 1> findGuards(mlir::Value value,
                                       mlir::Operation *op) const;
  std::optional<Sum> leastOf(mlir::Value value) const;
  llvm::SmallVector<Sum, 1> findBoundsAt(mlir::scf::ForOp loop,
                                         mlir::Operation *at) const;
  llvm::SmallVector<Sum, 1> mostOf(mlir::Value value,
                                   mlir::Operation *at) const;
  std::optional<Term> findVaryingTerm(const Sum &sum) const;
  std::optional<Sum> findFirst(Sum sum) const;
  bool findLast(const Sum &sum, Found isEnough, mlir::Operation *at,
                unsigned &steps) const;
  /// The part of an axis that an iteration has, where it goes from `sum` on for
  /// `length` elements; by what branches around `at` say, too.
  std::optional<Range> rangeOf(const Sum &sum, const Sum &length,
                               mlir::Operation *at = nullptr) const;
  std::optional<Range> rangeOf(mlir::memref::ReinterpretCastOp view) const;
  std::optional<Range> rangeOf(mlir::memref::SubViewOp view, size_t axis,
                               mlir::Operation *at) const;

  static void enterCollapsed(mlir::memref::CollapseShapeOp view, Place &place);
  static bool enterExpanded(mlir::memref::ExpandShapeOp view, Place &place);
  bool isWithin(const Sum &index, int64_t length, int64_t extent) const;
  bool enterStrided(mlir::memref::ReinterpretCastOp view, Place &place) const;
  Place placeOf(const Access &access, bool entersCollapsed = true) const;
  const Part *findPart(const Place &place, size_t axis) const;
  /// A number of which `place` has the quotient and the remainder, along two
  /// axes.
  struct Divided {
    size_t quotientAxis, remainderAxis;
    Part quotient;
    Range range; ///< the numbers that an iteration has
  };
  std::optional<Divided> findDivided(const Place &place) const;
  bool tellsByParts(const Place &place) const;
  bool areInOnePart(llvm::ArrayRef<const Range *> ranges) const;
  bool areInOneDivided(llvm::ArrayRef<Place> places) const;
  bool tells(const Place &place) const;
  bool areInOnePart(llvm::ArrayRef<Place> places, size_t axis) const;
  bool areInOnePart(llvm::ArrayRef<Place> places) const;
  bool areInTwoParts(llvm::ArrayRef<Place> places) const;

  mlir::scf::ForOp nest;
  mlir::Value induction;
  int64_t step; ///< the least that it may be
  /// What is not the same in all of the nest.
  llvm::DenseSet<mlir::Value> varying;
  /// What sumOf has answered, for as long as the nest is not changed.
  mutable llvm::DenseMap<mlir::Value, Sum> sums;
};

} // namespace loopc

#endif // LOOPC_DIALECT_NEST_ANALYSIS_ITERATIONPLACES_H
