//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The copy of small integers into panels of groups (cpu-pack-contractions):
// rows of columns are interleaved in registers; where groups are neighbours in
// the source, each is copied at once. What pads the panels is there already.

#include "CopyPlan.h"
#include "Rows/VectorElements.h"
#include "loopc/Dialect/Nest/IR/Parallel.h"
#include "loopc/Support/IndexEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace loopc;

namespace {
class GroupCopy : IndexEmitter {
public:
  GroupCopy(linalg::GenericOp op, const CopyPlan &plan)
      : IndexEmitter(op.getLoc(), op), op(op), source(op.getInputs()[0]),
        target(op.getOutputs()[0]), map(op.getIndexingMapsArray()[1]),
        columns(plan.columns), group(*plan.group), width(plan.width),
        isTransposed(plan.isTransposed),
        masks(plan.masksColumns || plan.masksRows), at(map.getNumDims()) {}
  void run();

private:
  /// Loops over axis `next` of the target and those behind it.
  void emitLoops(unsigned next);
  void emitRows();
  void emitGroups();
  /// The element `k` of the group, of column `j` of the panel, where both are
  /// there.
  void emitElements(Value from, Value to);
  void loop(Value from, Value to, bool isParallel,
            llvm::function_ref<void(Value)> body);
  Value apply(AffineExpr expr, ValueRange dims) {
    return applyTo(b, expr, dims);
  }
  Value extent(unsigned axis) {
    return b.createOrFold<memref::DimOp>(source, static_cast<int64_t>(axis));
  }

  linalg::GenericOp op;
  Value source, target;
  AffineMap map;
  /// Axes of the source: that of the panels, that of the groups.
  unsigned columns;
  PanelGroup group;
  int64_t width;
  /// Groups are neighbours in the source.
  bool isTransposed;
  /// A panel or a group may be cut off.
  bool masks;
  /// Where the loops are, by axes of the source: panel and group for those two.
  SmallVector<Value> at;
};
} // namespace

void GroupCopy::loop(Value from, Value to, bool isParallel,
                     llvm::function_ref<void(Value)> body) {
  auto loop = scf::ForOp::create(b, from, to, index(1));
  keepRolled(loop);
  // An element of a panel is written once.
  if (isParallel)
    markParallel(loop);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(loop.getBody()->getTerminator());
  body(loop.getInductionVar());
}

/// A row of a panel from as many rows of the source as there are in a group.
void GroupCopy::emitRows() {
  AffineExpr d0, d1;
  bindDims(b.getContext(), d0, d1);
  SmallVector<Value> from(at), rows;
  from[columns] = apply(d0 * width, at[columns]);
  Value left = apply(d1 - d0, {from[columns], extent(columns)});
  for (int64_t k : llvm::seq(group.size)) {
    Value row = apply(d0 * group.size + k, at[group.dim]);
    from[group.dim] = row;
    Value mask;
    if (masks) {
      Value isThere = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, row,
                                            extent(group.dim));
      Value count = arith::SelectOp::create(b, isThere, left, index(0));
      mask = maskOfFirst(b, count, width);
    }
    rows.push_back(loadLanes(b, source, from, mask, width, /*filler=*/0));
  }
  // Neighbours of a group are half of it apart until the last step.
  for (size_t half = rows.size() / 2; half >= 1; half /= 2) {
    for (size_t k : llvm::seq(half))
      rows[k] = vector::InterleaveOp::create(b, rows[k], rows[k + half]);
    rows.resize(half);
  }
  SmallVector<Value> to;
  for (AffineExpr expr : map.getResults().drop_back(2)) {
    auto axis = dyn_cast<AffineDimExpr>(expr);
    unsigned dim =
        axis ? axis.getPosition()
             : cast<AffineDimExpr>(cast<AffineBinaryOpExpr>(expr).getLHS())
                   .getPosition();
    to.push_back(at[dim]);
  }
  to.push_back(index(0));
  vector::StoreOp::create(b, rows[0], target, to);
}

void GroupCopy::emitElements(Value from, Value to) {
  AffineExpr d0, d1;
  bindDims(b.getContext(), d0, d1);
  loop(from, to, /*isParallel=*/false, [&](Value sum) {
    SmallVector<Value> places(at), target;
    places[group.dim] = sum;
    SmallVector<AffineExpr> exprs;
    for (AffineExpr expr : map.getResults())
      target.push_back(apply(expr, places));
    Value element = memref::LoadOp::create(b, source, places);
    memref::StoreOp::create(b, element, op.getOutputs()[0], target);
  });
}

/// All groups of one column of the source.
void GroupCopy::emitGroups() {
  AffineExpr d0 = b.getAffineDimExpr(0);
  auto type = VectorType::get(group.size, getElementTypeOrSelf(source));
  Value size = extent(group.dim);
  Value whole = apply(d0.floorDiv(group.size), size);
  loop(index(0), whole, /*isParallel=*/false, [&](Value number) {
    SmallVector<Value> from(at), to;
    from[group.dim] = apply(d0 * group.size, number);
    for (AffineExpr expr : map.getResults().drop_back())
      to.push_back(expr.isFunctionOfDim(group.dim) ? number : apply(expr, at));
    to.push_back(index(0));
    Value elements = vector::LoadOp::create(b, type, source, from);
    vector::StoreOp::create(b, elements, target, to);
  });
  emitElements(apply(d0 * group.size, whole), size);
}

void GroupCopy::emitLoops(unsigned next) {
  if (isTransposed) {
    // By axes of the source, of which the last one is summed.
    if (next == group.dim) {
      at[next] = index(0);
      return emitGroups();
    }
    return loop(index(0), extent(next), /*isParallel=*/true, [&](Value iv) {
      at[next] = iv;
      emitLoops(next + 1);
    });
  }
  // By axes of the target but for the row of the panel.
  if (next + 2 == map.getNumResults())
    return emitRows();
  AffineExpr expr = map.getResult(next);
  auto axis = dyn_cast<AffineDimExpr>(expr);
  if (!axis)
    axis = cast<AffineDimExpr>(cast<AffineBinaryOpExpr>(expr).getLHS());
  Value to = b.createOrFold<memref::DimOp>(target, static_cast<int64_t>(next));
  loop(index(0), to, /*isParallel=*/true, [&](Value iv) {
    at[axis.getPosition()] = iv;
    emitLoops(next + 1);
  });
}

void GroupCopy::run() {
  if (!isTransposed) // Groups of a row are one behind the other.
    target = joinLastAxes(b, target);
  emitLoops(0);
}

void loopc::emitGroupCopy(linalg::GenericOp op, const CopyPlan &plan) {
  if (linalg::FillOp fill = plan.fill)
    fill.erase();
  GroupCopy(op, plan).run();
  op.erase();
}
