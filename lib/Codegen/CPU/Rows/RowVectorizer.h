//===- RowVectorizer.h - Rows of an operation in vectors --------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_LIB_CODEGEN_CPU_ROWS_ROWVECTORIZER_H
#define LOOPC_LIB_CODEGEN_CPU_ROWS_ROWVECTORIZER_H

#include "Rows.h"
#include "VectorElements.h"
#include "loopc/Support/CpuModel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace loopc {

/// Rows that are reduced at once: their vectors are summed up together, and
/// what they share is read once.
constexpr unsigned kRows = 4;
/// Operations of an element up to which several rows are worth their code.
constexpr unsigned kMaxOpsOfRows = 16;

/// Where something is along each axis.
using Place = mlir::SmallVector<mlir::Value>;

/// Computes an operation in vectors along its last axis.
class RowVectorizer {
public:
  RowVectorizer(mlir::IRRewriter &rewriter, mlir::linalg::GenericOp op,
                CpuModel cpu)
      : rewriter(rewriter), b(op.getLoc(), rewriter), op(op), cpu(cpu),
        last(op.getNumLoops() - 1) {}

  /// True if the operation can be computed in vectors along its last axis.
  bool match();
  /// Puts loops over rows into the place of the operation.
  void rewrite();

  /// The axis to take several rows of: the innermost that has several.
  std::optional<unsigned> findRows();
  /// True if the code of several rows at once is short enough.
  bool isShort() {
    return op.getBody()->getOperations().size() <= kMaxOpsOfRows + 1;
  }
  /// True if something is reduced along rows.
  bool reduces() {
    return llvm::any_of(combiners, [](mlir::Operation *op) { return op; });
  }
  /// Computes `rows`, places along all axes but the last, of `columns` elements
  /// at `where`. Several of them are neighbours along axis `dim`.
  void computeRows(mlir::OpBuilder::InsertPoint where,
                   mlir::ArrayRef<Place> rows, mlir::Value columns,
                   std::optional<unsigned> dim);

private:
  bool matchOperand(mlir::OpOperand &operand);
  bool matchReduction();
  bool matchBody();
  /// How often `load` reads one element for neighbours in a row; 0: once.
  int64_t repeats(mlir::memref::LoadOp load) {
    return load.getIndices().empty()
               ? 0
               : repeatsAlong(load.getIndices().back(), op, last);
  }
  bool runsAlong(mlir::OpOperand &operand) {
    return op.getMatchingIndexingMap(&operand).isFunctionOfDim(last);
  }
  mlir::SmallVector<mlir::Value> placeOf(mlir::OpOperand &operand,
                                         mlir::ValueRange at);
  mlir::Value read(mlir::OpOperand &operand, mlir::ValueRange at,
                   mlir::Value mask);
  mlir::Value numberOf(mlir::Value value, mlir::ValueRange at,
                       mlir::IRMapping &known);
  mlir::Value read(mlir::memref::LoadOp load, const mlir::IRMapping &mapping,
                   mlir::ValueRange at, mlir::Value mask);
  mlir::IRMapping readAll(mlir::ValueRange at, mlir::Value mask,
                          const mlir::IRMapping *before);
  mlir::SmallVector<mlir::Value> compute(mlir::IRMapping &mapping,
                                         mlir::ValueRange at,
                                         mlir::ValueRange sums,
                                         mlir::Value mask);
  void store(mlir::IRMapping &mapping, mlir::ValueRange at, mlir::Value mask);
  mlir::SmallVector<mlir::Value> emit(mlir::ArrayRef<Place> places,
                                      mlir::ValueRange sums, mlir::Value mask);
  bool waitsForSums();
  void makeSteps(mlir::ArrayRef<Place> rows, mlir::Value begin, mlir::Value end,
                 mlir::SmallVector<mlir::Value> &sums, unsigned unroll);
  mlir::Value makeWideSteps(mlir::ArrayRef<Place> rows, mlir::Value begin,
                            mlir::Value extent,
                            mlir::SmallVector<mlir::Value> &sums);
  void makeRows(mlir::ArrayRef<Place> rows, mlir::Value extent);
  void makeSeveralRows(const Place &first, mlir::Value count,
                       mlir::Value columns);
  void makeRest(mlir::ArrayRef<Place> rows, mlir::Value begin, mlir::Value rest,
                mlir::SmallVector<mlir::Value> &sums);
  void addUp(mlir::ArrayRef<Place> rows, mlir::OpOperand &init,
             mlir::Operation &combiner, mlir::ValueRange sums);
  mlir::Value joinRows(mlir::Operation &combiner, mlir::ValueRange sums);
  mlir::Value wide(mlir::Value value) { return widen(b, value, lanes); }
  /// In each of `rows` where `column` is.
  static mlir::SmallVector<Place> placesAt(mlir::ArrayRef<Place> rows,
                                           mlir::Value column) {
    mlir::SmallVector<Place> places(rows);
    for (Place &place : places)
      place.push_back(column);
    return places;
  }
  mlir::Value index(int64_t value) {
    return mlir::arith::ConstantIndexOp::create(b, value);
  }
  mlir::Value numbersAlong(unsigned dim, mlir::ValueRange at);
  mlir::Value makeWide(mlir::Operation &inner, mlir::ValueRange operands) {
    return cloneWide(b, inner, operands, lanes)->getResult(0);
  }

  mlir::IRRewriter &rewriter;
  mlir::ImplicitLocOpBuilder b;
  mlir::linalg::GenericOp op;
  CpuModel cpu;
  unsigned last; ///< number of the last axis
  int64_t lanes = 0;
  /// The axis of which several rows are reduced at once.
  std::optional<unsigned> rowDim;
  /// What puts in the next element, for each output that is a reduction.
  mlir::SmallVector<mlir::Operation *> combiners;
};

} // namespace loopc

#endif // LOOPC_LIB_CODEGEN_CPU_ROWS_ROWVECTORIZER_H
