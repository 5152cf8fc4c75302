//===- Coverage.h - Do writes cover what is read? ---------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_DIALECT_NEST_ANALYSIS_COVERAGE_H
#define LOOPC_DIALECT_NEST_ANALYSIS_COVERAGE_H

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace loopc {

/// Parts of one buffer that operations write and read, as boxes whose sides are
/// affine in values that do not change meanwhile.
class Coverage {
public:
  explicit Coverage(mlir::memref::AllocOp buffer) : buffer(buffer) {}

  /// A store, or a nest of loops that writes by `stores` in one block of it.
  struct Writer {
    mlir::Operation *op;
    mlir::ArrayRef<mlir::Operation *> stores;
  };

  /// True if `writers` have written all that `read` may read, each a part of
  /// it. They run before `scope`, which is `read` or has it within, in the same
  /// iteration of all loops around both. `isView`: `read` has a view of the
  /// buffer, so that its places say nothing.
  bool covers(mlir::ArrayRef<Writer> writers, mlir::Operation *read,
              mlir::Operation *scope, bool isView);

private:
  /// Elements from `begin` on and before `end` along one axis.
  struct Side {
    mlir::AffineExpr begin, end;
    bool operator==(const Side &other) const {
      return begin == other.begin && end == other.end;
    }
  };
  using Box = llvm::SmallVector<Side, 2>;

  mlir::AffineExpr formOf(mlir::Value index);
  mlir::AffineExpr simplify(mlir::AffineExpr expr) const;
  std::optional<int64_t> factorOf(mlir::AffineExpr expr,
                                  mlir::AffineExpr leaf) const;
  bool isAtLeast(mlir::AffineExpr one, mlir::AffineExpr other) const;
  std::optional<unsigned> findInnermost(mlir::AffineExpr expr,
                                        mlir::Operation *scope) const;
  mlir::AffineExpr lastOf(mlir::scf::ForOp loop);
  std::optional<mlir::AffineExpr> findBound(mlir::AffineExpr expr,
                                            mlir::Operation *scope, bool last);
  std::optional<Box> findRead(mlir::Operation *read, mlir::Operation *scope,
                              bool isView);
  std::optional<Box> subtract(const Box &wanted, const Box &there) const;
  std::optional<Box> findFilled(mlir::ArrayRef<mlir::Operation *> stores);
  bool sweep(mlir::scf::ForOp loop, Box &box);
  std::optional<Box> findWritten(const Writer &writer);
  const std::optional<Box> &boxOf(const Writer &writer);

  mlir::memref::AllocOp buffer;
  /// The values that forms are made of: dimension k of a form is leaf k.
  llvm::SmallVector<mlir::Value> leaves;
  llvm::DenseMap<mlir::Value, mlir::AffineExpr> forms;
  /// What was found of stores, by their writer and block.
  llvm::DenseMap<std::pair<mlir::Operation *, mlir::Block *>,
                 std::optional<Box>>
      known;
};

} // namespace loopc

#endif // LOOPC_DIALECT_NEST_ANALYSIS_COVERAGE_H
