//===- RowPlan.h - How rows of elements are computed -----------*- C++ -*--===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_LIB_CODEGEN_CPU_ROWS_ROWPLAN_H
#define LOOPC_LIB_CODEGEN_CPU_ROWS_ROWPLAN_H

#include "loopc/Support/CpuModel.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

namespace loopc {

/// Rows of vectors along the last axis, which may be reduced.
struct RowPlan {
  /// Rows that are reduced at once: their vectors are summed up together, and
  /// what they share is read once.
  static constexpr unsigned kRows = 4;

  int64_t lanes = 0; ///< of the vectors
  /// The axis of which kRows rows are reduced at once.
  std::optional<unsigned> rowDim;
  /// Several vectors of a row that is reduced alone have sums of their own, so
  /// that none waits for the one before.
  bool isUnrolled = false;
  /// The code of several rows at once is short enough.
  bool isShort = false;
  /// What puts in the next element, for each output that is a reduction.
  llvm::SmallVector<mlir::Operation *> combiners;

  bool reduces() const {
    return llvm::any_of(combiners, [](mlir::Operation *op) { return op; });
  }
  void print(llvm::raw_ostream &os) const;
};

/// How `op`, in the order of arrangeRows(), is computed by rows; none where
/// vectors cannot do it, or LLVM does as well.
std::optional<RowPlan> planRows(mlir::linalg::GenericOp op, CpuModel cpu);

/// A reduction along other axes than the last, a window's among them: strips of
/// a row of the result stay in registers while all that they are reduced from
/// goes by. What is computed element by element beside it is stored.
struct ColumnPlan {
  int64_t lanes = 0;                     ///< of the vectors
  int64_t vectors = 0;                   ///< of a strip; 0: rows are shorter
  llvm::SmallVector<unsigned> reduced{}; ///< axes, the outermost first
  llvm::SmallVector<bool> isStored{};    ///< outputs that are not reduced
  /// What adds to each sum, if several rows at once may have sums of their own.
  llvm::SmallVector<mlir::Operation *> combiners{};

  void print(llvm::raw_ostream &os) const;
};

std::optional<ColumnPlan> planColumns(mlir::linalg::GenericOp op, CpuModel cpu);

/// Writes the loops in the place of `op`.
void emitColumns(mlir::IRRewriter &rewriter, mlir::linalg::GenericOp op,
                 const ColumnPlan &plan);

} // namespace loopc

#endif // LOOPC_LIB_CODEGEN_CPU_ROWS_ROWPLAN_H
