//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The copy into panels (cpu-pack-contractions) as vectors, transposed in
// registers where the source needs it. What pads the panels is written too.

#include "CopyPlan.h"
#include "Rows/VectorElements.h"
#include "loopc/Dialect/Nest/IR/Parallel.h"
#include "loopc/Support/IndexEmitter.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace loopc;

namespace {
class PanelCopy : IndexEmitter {
public:
  PanelCopy(linalg::GenericOp op, const CopyPlan &plan)
      : IndexEmitter(op.getLoc(), op), source(op.getInputs()[0]),
        target(op.getOutputs()[0]), map(op.getIndexingMapsArray()[1]),
        dim(plan.columns), rowDim(plan.rows), width(plan.width),
        lanes(plan.lanes), isTransposed(plan.isTransposed),
        masksColumns(plan.masksColumns), masksRows(plan.masksRows),
        at(map.getNumDims()) {}
  /// Loops over axis `next` of the target and those behind it.
  void emitLoops(unsigned next = 0);

private:
  void emitRow();
  void emitBlock();
  void loop(Value to, int64_t step, llvm::function_ref<void(Value)> body);
  Value apply(AffineExpr expr, ValueRange dims) {
    return applyTo(b, expr, dims);
  }
  Value extent(unsigned dim) {
    return b.createOrFold<memref::DimOp>(source, static_cast<int64_t>(dim));
  }
  Value maskOf(Value count) { return maskOfFirst(b, count, lanes); }
  Value load(ValueRange place, Value mask) {
    return loadLanes(b, source, place, mask, lanes, /*filler=*/0);
  }

  Value source, target;
  AffineMap map;
  /// Axes of the source: that of the panels, that of its rows.
  unsigned dim, rowDim;
  int64_t width, lanes;
  bool isTransposed, masksColumns, masksRows;
  /// Where the loops are, by axes of the source; for `dim` the panel.
  SmallVector<Value> at;
};
} // namespace

void PanelCopy::loop(Value to, int64_t step,
                     llvm::function_ref<void(Value)> body) {
  auto loop = scf::ForOp::create(b, index(0), to, index(step));
  keepRolled(loop);
  // An element of a panel is written once.
  markParallel(loop);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(loop.getBody()->getTerminator());
  body(loop.getInductionVar());
}

/// One row of a panel.
void PanelCopy::emitRow() {
  AffineExpr d0, d1;
  bindDims(b.getContext(), d0, d1);
  SmallVector<Value> to;
  for (AffineExpr expr : map.getResults().drop_back()) {
    auto axis = dyn_cast<AffineDimExpr>(expr);
    to.push_back(at[axis ? axis.getPosition() : dim]);
  }
  SmallVector<Value> from(at);
  for (int64_t j = 0; j < width; j += lanes) {
    from[dim] = apply(d0 * width + j, at[dim]);
    Value mask = masksColumns ? maskOf(apply(d1 - d0, {from[dim], extent(dim)}))
                              : Value();
    to.push_back(index(j));
    vector::StoreOp::create(b, load(from, mask), target, to);
    to.pop_back();
  }
}

Value loopc::applyTo(ImplicitLocOpBuilder &b, AffineExpr expr,
                     ValueRange dims) {
  return getValueOrCreateConstantIndexOp(
      b, b.getLoc(),
      affine::makeComposedFoldedAffineApply(
          b, b.getLoc(), AffineMap::get(dims.size(), 0, expr),
          getAsOpFoldResult(dims)));
}

Value loopc::joinLastAxes(ImplicitLocOpBuilder &b, Value buffer) {
  int64_t rank = cast<MemRefType>(buffer.getType()).getRank();
  SmallVector<ReassociationIndices> groups;
  for (int64_t axis : llvm::seq(rank - 1))
    groups.push_back({axis});
  groups.back().push_back(rank - 1);
  return memref::CollapseShapeOp::create(b, buffer, groups);
}

Value loopc::maskOfFirst(ImplicitLocOpBuilder &b, Value count, int64_t lanes) {
  auto index = [&](int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  };
  count = arith::MaxSIOp::create(b, count, index(0));
  count = arith::MinSIOp::create(b, count, index(lanes));
  return vector::CreateMaskOp::create(b, VectorType::get(lanes, b.getI1Type()),
                                      count);
}

SmallVector<Value> loopc::transposeVectors(ImplicitLocOpBuilder &b,
                                           ArrayRef<Value> rows) {
  // Each step makes the highest bit of the column's number the lowest of the
  // row's, and the other way round.
  int64_t lanes = rows.size();
  SmallVector<int64_t> low, high;
  for (int64_t k : llvm::seq(lanes / 2)) {
    low.append({k, k + lanes});
    high.append({k + lanes / 2, k + lanes / 2 + lanes});
  }
  SmallVector<Value> result(rows);
  for (int64_t step = 1; step < lanes; step *= 2) {
    SmallVector<Value> next;
    for (int64_t i : llvm::seq(lanes / 2))
      for (ArrayRef<int64_t> mask : {ArrayRef(low), ArrayRef(high)})
        next.push_back(vector::ShuffleOp::create(b, result[i],
                                                 result[i + lanes / 2], mask));
    result = next;
  }
  return result;
}

/// As many rows of the source as a vector has elements, transposed.
void PanelCopy::emitBlock() {
  AffineExpr d0, d1, d2;
  bindDims(b.getContext(), d0, d1, d2);
  loop(index(width), lanes, [&](Value within) {
    loop(extent(rowDim), lanes, [&](Value row) {
      SmallVector<Value> from(at), rows;
      from[rowDim] = row;
      Value left = apply(d1 - d0, {row, extent(rowDim)});
      for (int64_t i : llvm::seq(lanes)) {
        from[dim] = apply(d0 * width + d1 + i, {at[dim], within});
        Value count = left;
        if (masksColumns) {
          Value inside = arith::CmpIOp::create(b, arith::CmpIPredicate::slt,
                                               from[dim], extent(dim));
          count = arith::SelectOp::create(b, inside, left, index(0));
        }
        rows.push_back(
            load(from, masksColumns || masksRows ? maskOf(count) : Value()));
      }
      rows = transposeVectors(b, rows);
      for (int64_t j : llvm::seq(lanes)) {
        SmallVector<Value> to;
        for (AffineExpr expr : map.getResults().drop_back()) {
          auto axis = dyn_cast<AffineDimExpr>(expr);
          if (axis && axis.getPosition() == rowDim)
            to.push_back(apply(d0 + j, row));
          else
            to.push_back(at[axis ? axis.getPosition() : dim]);
        }
        to.push_back(within);
        // All of the row, or nothing behind the last one.
        Value mask =
            masksRows ? maskOf(apply((d0 - j) * lanes, left)) : Value();
        storeLanes(b, rows[j], target, to, mask);
      }
    });
  });
}

void PanelCopy::emitLoops(unsigned next) {
  if (next + 1 == map.getNumResults())
    return isTransposed ? emitBlock() : emitRow();
  auto axis = dyn_cast<AffineDimExpr>(map.getResult(next));
  if (axis && isTransposed && axis.getPosition() == rowDim)
    return emitLoops(next + 1);
  unsigned d = axis ? axis.getPosition() : dim;
  Value to = b.createOrFold<memref::DimOp>(target, static_cast<int64_t>(next));
  loop(to, 1, [&](Value iv) {
    at[d] = iv;
    emitLoops(next + 1);
  });
}

void loopc::emitPanelCopy(linalg::GenericOp op, const CopyPlan &plan) {
  if (linalg::FillOp fill = plan.fill)
    fill.erase();
  PanelCopy(op, plan).emitLoops();
  op.erase();
}
