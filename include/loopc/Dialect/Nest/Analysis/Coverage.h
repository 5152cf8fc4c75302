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

  /// True if `writer` (a store, or a nest of loops), by `stores` in one block
  /// of it, has written all that `read` may read. It runs before `scope`, which
  /// is `read` or has it within, in the same iteration of all loops around
  /// both. `isView`: `read` has a view of the buffer, so that its places say
  /// nothing.
  bool covers(mlir::Operation *writer, mlir::ArrayRef<mlir::Operation *> stores,
              mlir::Operation *read, mlir::Operation *scope, bool isView);

private:
  /// Elements from `begin` on and before `end` along one axis.
  struct Side {
    mlir::AffineExpr begin, end;
  };
  using Box = llvm::SmallVector<Side, 2>;

  mlir::AffineExpr formOf(mlir::Value index);
  mlir::AffineExpr simplify(mlir::AffineExpr expr) const;
  std::optional<int64_t> factorOf(mlir::AffineExpr expr,
                                  mlir::AffineExpr leaf) const;
  bool isAtLeast(mlir::AffineExpr one, mlir::AffineExpr other) const;
  std::optional<unsigned> findInnermost(mlir::AffineExpr expr,
                                        mlir::Operation *scope) const;
  std::optional<mlir::AffineExpr> findBound(mlir::AffineExpr expr,
                                            mlir::Operation *scope, bool last);
  std::optional<Box> findRead(mlir::Operation *read, mlir::Operation *scope,
                              bool isView);
  std::optional<Box> findFilled(mlir::ArrayRef<mlir::Operation *> stores);
  bool sweep(mlir::scf::ForOp loop, Box &box);
  std::optional<Box> findWritten(mlir::Operation *writer,
                                 mlir::ArrayRef<mlir::Operation *> stores);

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
