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

/// The operation that adds an element to `init`, if sums of parts may be added
/// up by it in any order; else null.
mlir::Operation *findCombiner(mlir::linalg::GenericOp op,
                              mlir::OpOperand &init);

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

/// Rows that are no whole vectors: as many rows as a vector has lanes are as
/// many whole vectors as a row has elements. What is the same in each row is
/// read from a table of so many rows, and columns are summed up in one.
struct ShortRowPlan {
  /// How an operand lies along the last two axes.
  enum class Part {
    All,   ///< row by row, without gaps
    Row,   ///< the same row for each number of the axis before the last
    Number ///< one element
  };
  int64_t lanes = 0;
  llvm::SmallVector<Part> parts{}; ///< of each operand
  /// What adds to the outputs that the rows are summed up to; null: others.
  llvm::SmallVector<mlir::Operation *> combiners{};

  void print(llvm::raw_ostream &os) const;
};

std::optional<ShortRowPlan> planShortRows(mlir::linalg::GenericOp op,
                                          CpuModel cpu);

/// Writes the loops in front of `op`. Returns what is left of it, an operation
/// on the rows behind them, or null. `tables` are those that operations of the
/// same function have made on its stack, which take turns.
mlir::linalg::GenericOp
emitShortRows(mlir::IRRewriter &rewriter, mlir::linalg::GenericOp op,
              const ShortRowPlan &plan,
              llvm::SmallVectorImpl<mlir::Value> &tables);

} // namespace loopc

#endif // LOOPC_LIB_CODEGEN_CPU_ROWS_ROWPLAN_H
