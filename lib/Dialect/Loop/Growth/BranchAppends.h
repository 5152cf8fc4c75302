//===- BranchAppends.h - Concatenations in branches -----------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_LIB_DIALECT_LOOP_GROWTH_BRANCHAPPENDS_H
#define LOOPC_LIB_DIALECT_LOOP_GROWTH_BRANCHAPPENDS_H

#include "Concatenation.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

namespace loopc {

/// A result of an scf.if that is a value from in front of it, with something in
/// front or behind that a branch puts there:
///
///   %y = scf.if %c { yield concat(%x, %p) } else { yield %x }
///   ->
///   %q, %n = scf.if %c { yield %p, dim %p } else { yield empty, 0 }
///   %y = concat(%x, %q[:%n])
///
/// A branch may leave some of the value out first, as a stack does that is
/// popped; the branches then say how much of it stays, too.
class BranchAppend {
public:
  /// True if an extent of what is put together, along another axis, is right.
  using ExtentTest = llvm::function_ref<bool(mlir::OpFoldResult, int64_t)>;

  BranchAppend(mlir::OpResult result, mlir::Value base)
      : result(result), base(base) {}

  /// Values that `result` may be with something in front or behind; those of
  /// which it may be a part, too, with `throughCuts`.
  static llvm::SmallVector<mlir::Value> findBases(mlir::OpResult result,
                                                  bool throughCuts = true);

  /// `axis`: along which, if that is known; is set otherwise.
  bool match(std::optional<int64_t> &axis, ExtentTest isExtent);
  /// Takes the concatenation out of the branches, once match() has succeeded.
  /// Branches in the branches come first; where what they have become does not
  /// match any more, it fails, and the program means what it meant.
  llvm::LogicalResult rewrite(mlir::IRRewriter &rewriter, ExtentTest isExtent);

private:
  /// What a branch adds, in order.
  struct Addition {
    llvm::SmallVector<mlir::tensor::InsertSliceOp> parts;
    /// What it leaves of the value, if that is not all.
    mlir::tensor::ExtractSliceOp cut;
    /// A branch in the branch, which has to be rewritten first.
    mlir::OpResult inner;

    bool isNone() const { return parts.empty() && !inner; }
  };

  mlir::scf::IfOp branch() const {
    return llvm::cast<mlir::scf::IfOp>(result.getOwner());
  }
  bool matchBranch(mlir::Block *block, Addition &addition, ExtentTest isExtent);
  bool matchParts(const Concatenation &found, mlir::Block *block,
                  Addition &addition, mlir::Value &rest, ExtentTest isExtent);
  bool matchCut(mlir::tensor::ExtractSliceOp cut, Addition &addition,
                ExtentTest isExtent);
  bool reachesBase(mlir::Value value, mlir::Block *block,
                   bool throughCuts = true) const;
  bool hasCuts() const { return additions[0].cut || additions[1].cut; }
  llvm::FailureOr<bool> flatten(mlir::IRRewriter &rewriter,
                                ExtentTest isExtent);
  mlir::RankedTensorType typeOf(const Addition &addition) const;
  mlir::RankedTensorType typeOfAdditions() const;
  mlir::OpFoldResult lengthOf(mlir::OpBuilder &b,
                              const Addition &addition) const;
  mlir::Value partInFront() const;
  mlir::Value join(mlir::OpBuilder &b, const Addition &addition,
                   mlir::RankedTensorType type) const;
  mlir::scf::IfOp makeBranch(mlir::IRRewriter &rewriter,
                             mlir::RankedTensorType type);
  mlir::Value concatenate(mlir::OpBuilder &b, mlir::Value from,
                          mlir::Value part, mlir::OpFoldResult length,
                          bool isWhole);
  mlir::Value addPart(mlir::OpBuilder &b, mlir::Value from,
                      mlir::scf::IfOp made, mlir::Value part,
                      std::optional<int64_t> count);
  std::optional<int64_t> countAdded() const;

  mlir::OpResult result;
  mlir::Value base;
  std::optional<int64_t> axis;
  std::optional<bool> isInFront;
  Addition additions[2];
};

} // namespace loopc

#endif // LOOPC_LIB_DIALECT_LOOP_GROWTH_BRANCHAPPENDS_H
