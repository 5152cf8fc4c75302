//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What follows a contraction element by element (activations, scales, another
// summand) is computed on its sums while they are in registers.

#include "ContractionEmitter.h"
#include "Rows/VectorElements.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace loopc;

void ContractionEmitter::takeEpilogue() {
  const EpiloguePlan &epilogue = plan.epilogue;
  linalg::GenericOp next = epilogue.op;
  for (Operation *operation : llvm::reverse(epilogue.behind))
    operation->moveAfter(next);
  op->moveBefore(next);
  b.setInsertionPoint(op);
  Value sums = next->getOperand(epilogue.sums);
  for (OpOperand &operand : next->getOpOperands()) {
    bool isWider =
        epilogue.groups && next.getMatchingIndexingMap(&operand).isIdentity();
    if (!isWider)
      epilogueOperands.push_back(operand.get());
    else if (operand.get() == sums)
      epilogueOperands.push_back(op.getDpsInits()[0]);
    else
      epilogueOperands.push_back(
          memref::CollapseShapeOp::create(b, operand.get(), *epilogue.groups));
  }
}

void ContractionEmitter::storeThroughEpilogue(ContractionBody &borders,
                                              const Tile &tile,
                                              ArrayRef<Value> sums) {
  const EpiloguePlan &epilogue = plan.epilogue;
  linalg::GenericOp body = epilogue.op;
  std::map<std::tuple<unsigned, int64_t, int64_t>, Value> loaded;
  SmallVector<Value> results;
  for (int64_t i : llvm::seq(tile.rows))
    for (int64_t j : llvm::seq(tile.columns)) {
      IRMapping values;
      for (auto [k, operand] : llvm::enumerate(body.getDpsInputOperands())) {
        BlockArgument argument = body.getMatchingBlockArgument(operand);
        if (k == epilogue.sums) {
          values.map(argument, sums[i * tile.columns + j]);
          continue;
        }
        if (argument.use_empty())
          continue;
        AffineMap map = epilogue.maps[k];
        Value &value = loaded[{k, plan.isOfRows(map) ? i : -1,
                               map.isFunctionOfDim(*columnDim) ? j : -1}];
        if (!value)
          value =
              widen(b, borders.load(epilogueOperands[k], map, i, j, /*k=*/0),
                    tile.lanes);
        values.map(argument, value);
      }
      results.push_back(
          cloneWide(b, *body.getBody(), values, tile.lanes).front());
    }
  for (int64_t j : llvm::seq(tile.columns)) {
    SmallVector<Value> rows;
    for (int64_t i : llvm::seq(tile.rows))
      rows.push_back(results[i * tile.columns + j]);
    if (epilogue.isTurned) {
      borders.storeTurned(epilogueOperands.back(), epilogue.maps.back(), rows,
                          j);
      continue;
    }
    for (auto [i, row] : llvm::enumerate(rows))
      borders.store(epilogueOperands.back(), epilogue.maps.back(), row, i, j);
  }
}

/// Squares of rows and lanes are transposed; those of rows that are not there
/// are not written.
void ContractionBody::storeTurned(Value buffer, AffineMap map,
                                  ArrayRef<Value> rows, int64_t j) {
  assert(tile.joinedAt.empty() && "rows lie one behind the other");
  ImplicitLocOpBuilder &b = v.b;
  int64_t count = rows.size();
  int64_t square = std::min<int64_t>(llvm::PowerOf2Ceil(count), tile.lanes);
  AffineExpr lane = b.getAffineDimExpr(v.laneDim);
  AffineExpr d0 = b.getAffineDimExpr(0), d1 = b.getAffineDimExpr(1);
  for (int64_t i = 0; i < count; i += square) {
    int64_t there = std::min(square, count - i);
    Value mask, left = v.index(there);
    if (!tile.rowAt.empty())
      left = arith::MinSIOp::create(
          b, left,
          v.apply(d1 - d0 - i, {v.at[*v.rowDim], v.extent(*v.rowDim)}));
    if (!tile.rowAt.empty() || there < square)
      mask = maskOfFirst(b, left, square);
    for (int64_t part = 0; part < tile.lanes; part += square) {
      SmallVector<Value> parts;
      for (int64_t k : llvm::seq(square)) {
        Value row = rows[i + std::min(k, there - 1)];
        if (square < tile.lanes)
          row = vector::ExtractStridedSliceOp::create(
              b, row, ArrayRef<int64_t>{part}, ArrayRef<int64_t>{square},
              ArrayRef<int64_t>{1});
        parts.push_back(row);
      }
      parts = transposeVectors(b, parts);
      for (auto [k, column] : llvm::enumerate(parts)) {
        AffineMap here = map.replace(lane, lane + (part + k), map.getNumDims(),
                                     map.getNumSymbols());
        storeLanes(b, column, buffer, indices(here, i, j, 0), mask);
      }
    }
  }
}
