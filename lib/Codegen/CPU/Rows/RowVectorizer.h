//===- RowVectorizer.h - Rows of an operation in vectors --------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_LIB_CODEGEN_CPU_ROWS_ROWVECTORIZER_H
#define LOOPC_LIB_CODEGEN_CPU_ROWS_ROWVECTORIZER_H

#include "RowPlan.h"
#include "VectorElements.h"
#include "loopc/Support/IndexEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"

namespace loopc {

/// Where something is along each axis.
using Place = mlir::SmallVector<mlir::Value>;

/// Computes an operation in vectors along its last axis, as a plan says.
class RowVectorizer : IndexEmitter {
public:
  RowVectorizer(mlir::IRRewriter &rewriter, mlir::linalg::GenericOp op,
                RowPlan plan, bool isJoined = false)
      : IndexEmitter(op.getLoc(), rewriter), rewriter(rewriter), op(op),
        plan(std::move(plan)), last(op.getNumLoops() - 1), isJoined(isJoined) {}

  const RowPlan &getPlan() const { return plan; }
  /// Puts loops over rows into the place of the operation.
  void rewrite();
  /// Computes `rows`, places along all axes but the last, of `columns` elements
  /// at `where`. Several of them are neighbours along axis `dim`.
  void computeRows(mlir::OpBuilder::InsertPoint where,
                   mlir::ArrayRef<Place> rows, mlir::Value columns,
                   unsigned dim);

private:
  bool runsAlong(mlir::OpOperand &operand) {
    return op.getMatchingIndexingMap(&operand).isFunctionOfDim(last);
  }
  mlir::Value read(mlir::OpOperand &operand, mlir::ValueRange at,
                   mlir::Value mask);
  mlir::Value numberOf(mlir::Value value, mlir::ValueRange at,
                       mlir::IRMapping &known);
  mlir::Value read(mlir::memref::LoadOp load, const mlir::IRMapping &mapping,
                   mlir::ValueRange at, mlir::Value mask);
  mlir::Value gatherOrLoad(mlir::memref::LoadOp load, mlir::ValueRange place,
                           mlir::Value apart, int direction,
                           mlir::ValueRange at, mlir::Value mask);
  mlir::Value compareLanes(mlir::arith::CmpIOp compare, unsigned number,
                           mlir::ValueRange at);
  mlir::Value readOneOrRow(mlir::Value buffer, mlir::ValueRange place,
                           mlir::Value condition, bool isOneIfTrue,
                           mlir::Value mask);
  mlir::IRMapping readAll(mlir::ValueRange at, mlir::Value mask,
                          const mlir::IRMapping *before);
  mlir::SmallVector<mlir::Value> compute(mlir::IRMapping &mapping,
                                         mlir::ValueRange at,
                                         mlir::ValueRange sums,
                                         mlir::Value mask);
  void store(mlir::IRMapping &mapping, mlir::ValueRange at, mlir::Value mask);
  mlir::SmallVector<mlir::Value> emit(mlir::ArrayRef<Place> places,
                                      mlir::ValueRange sums, mlir::Value mask);
  void makeSteps(mlir::ArrayRef<Place> rows, mlir::Value begin, mlir::Value end,
                 mlir::SmallVector<mlir::Value> &sums, unsigned unroll);
  mlir::Value makeWideSteps(mlir::ArrayRef<Place> rows, mlir::Value begin,
                            mlir::Value extent,
                            mlir::SmallVector<mlir::Value> &sums);
  void makeRows(mlir::ArrayRef<Place> rows, mlir::Value extent);
  void makeVersions(const Place &row, mlir::Value extent);
  void makeSeveralRows(const Place &first, mlir::Value count,
                       mlir::Value columns);
  void makeRest(mlir::ArrayRef<Place> rows, mlir::Value begin, mlir::Value rest,
                mlir::SmallVector<mlir::Value> &sums);
  void addUp(mlir::ArrayRef<Place> rows, mlir::OpOperand &init,
             mlir::Operation &combiner, mlir::ValueRange sums);
  mlir::Value joinRows(mlir::Operation &combiner, mlir::ValueRange sums);
  mlir::Value wide(mlir::Value value) { return widen(b, value, plan.lanes); }
  /// In each of `rows` where `column` is.
  static mlir::SmallVector<Place> placesAt(mlir::ArrayRef<Place> rows,
                                           mlir::Value column) {
    mlir::SmallVector<Place> places(rows);
    for (Place &place : places)
      place.push_back(column);
    return places;
  }
  mlir::Value makeWide(mlir::Operation &inner, mlir::ValueRange operands) {
    return cloneWide(b, inner, operands, plan.lanes)->getResult(0);
  }

  mlir::IRRewriter &rewriter;
  mlir::linalg::GenericOp op;
  RowPlan plan;
  unsigned last; ///< number of the last axis
  bool isJoined; ///< It is the one row that several have become.
  /// What is known of conditions in the version that is written now.
  llvm::SmallDenseMap<mlir::Value, bool> conditions;
};

} // namespace loopc

#endif // LOOPC_LIB_CODEGEN_CPU_ROWS_ROWVECTORIZER_H
