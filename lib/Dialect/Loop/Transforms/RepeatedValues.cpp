//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DimPatterns.h"
#include "VersionConditions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace loopc;
using namespace loopc::loop;

/// True if the extents are equal where `condition` holds.
static bool areEqualIf(Value condition, OpFoldResult one, OpFoldResult other) {
  if (isEqualConstantIntOrValue(one, other) ||
      matchPattern(condition, m_Zero()))
    return true;
  if (auto both = condition.getDefiningOp<arith::AndIOp>())
    return areEqualIf(both.getLhs(), one, other) ||
           areEqualIf(both.getRhs(), one, other);
  auto [x, y] = comparedExtents(condition);
  return x && ((isEqualConstantIntOrValue(x, one) &&
                isEqualConstantIntOrValue(y, other)) ||
               (isEqualConstantIntOrValue(x, other) &&
                isEqualConstantIntOrValue(y, one)));
}

/// The element of `value` that `op`, of no inputs, reads for each of its own,
/// where it is at the same place, or at 0 of an axis of extent 1. Where
/// `condition` holds both have the same extents.
static std::optional<AffineMap> mapOfRepeated(RewriterBase &rewriter,
                                              linalg::GenericOp op, Value value,
                                              Value condition, DimOf dimOf) {
  auto yielded = op.getBody()->getTerminator()->getOperand(0);
  auto read = yielded.getDefiningOp<tensor::ExtractOp>();
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || op.getNumDpsInputs() || op->getNumResults() != 1 || !read ||
      read->getBlock() != op.getBody() || read.getTensor() != value ||
      type.getRank() != op.getNumLoops() ||
      !op.getIndexingMapsArray().front().isIdentity())
    return std::nullopt;
  SmallVector<AffineExpr> exprs;
  rewriter.setInsertionPoint(op);
  for (auto [axis, index] : llvm::enumerate(read.getIndices())) {
    OpFoldResult own = dimOf(value, axis), made = dimOf(op->getResult(0), axis);
    if (type.getDimSize(axis) == 1) {
      if (!areEqualIf(condition, own, made))
        return std::nullopt;
      exprs.push_back(rewriter.getAffineConstantExpr(0));
      continue;
    }
    if (!isEqualConstantIntOrValue(own, made))
      return std::nullopt;
    if (auto first = index.getDefiningOp<arith::SelectOp>();
        first && isConstantIntValue(first.getTrueValue(), 0)) {
      // At 0 of an extent of 1: all of the axis, as the extents are equal.
      auto compare = first.getCondition().getDefiningOp<arith::CmpIOp>();
      if (!compare || compare.getPredicate() != arith::CmpIPredicate::eq ||
          !isConstantIntValue(compare.getRhs(), 1) ||
          own != OpFoldResult(compare.getLhs()))
        return std::nullopt;
      index = first.getFalseValue();
    }
    auto number = index.getDefiningOp<linalg::IndexOp>();
    if (!number || number.getDim() != axis)
      return std::nullopt;
    exprs.push_back(rewriter.getAffineDimExpr(axis));
  }
  return AffineMap::get(op.getNumLoops(), 0, exprs, rewriter.getContext());
}

/// if %same { yield %x } else { yield %x repeated along axes }, of which it is
/// known by now along which  ->  what is repeated, for what uses it to read.
static bool repeatResult(RewriterBase &rewriter, scf::IfOp branch, unsigned k,
                         DimOf dimOf) {
  auto withoutCasts = [](Value value) {
    while (auto cast = value.getDefiningOp<tensor::CastOp>())
      value = cast.getSource();
    return value;
  };
  Value value = withoutCasts(branch.thenYield().getOperand(k));
  auto op = withoutCasts(branch.elseYield().getOperand(k))
                .getDefiningOp<linalg::GenericOp>();
  if (!op || op->getBlock() != branch.elseBlock())
    return false;
  auto place = op.getDpsInits()[0].getDefiningOp<tensor::EmptyOp>();
  auto isBefore = [&](Value v) {
    return !branch->isAncestor(v.getParentRegion()->getParentOp());
  };
  std::optional<AffineMap> map =
      mapOfRepeated(rewriter, op, value, branch.getCondition(), dimOf);
  if (!map || !place || !isBefore(value) ||
      !llvm::all_of(place->getOperands(), isBefore))
    return false;
  rewriter.setInsertionPoint(branch);
  Value out = rewriter.clone(*place)->getResult(0);
  auto made = linalg::GenericOp::create(
      rewriter, op.getLoc(), out.getType(), value, out,
      ArrayRef<AffineMap>{*map, op.getIndexingMapsArray().front()},
      op.getIteratorTypesArray(), [](OpBuilder &b, Location loc, ValueRange e) {
        linalg::YieldOp::create(b, loc, e[0]);
      });
  Value result = tensor::CastOp::create(
      rewriter, op.getLoc(), branch.getResult(k).getType(), made.getResult(0));
  rewriter.replaceAllUsesWith(branch.getResult(k), result);
  return true;
}

bool loop::repeatAlongKnown(RewriterBase &rewriter, LoopOp loop, DimOf dimOf) {
  SmallVector<scf::IfOp> branches;
  loop.getBody().walk([&](scf::IfOp op) { branches.push_back(op); });
  bool any = false;
  for (scf::IfOp branch : branches)
    for (unsigned k = 0; k < branch.getNumResults(); ++k)
      any |= !branch.getResult(k).use_empty() &&
             repeatResult(rewriter, branch, k, dimOf);
  return any;
}
