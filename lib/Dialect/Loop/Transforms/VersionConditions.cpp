//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VersionConditions.h"

#include "loopc/Support/IndexCasts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace loopc;
using namespace loopc::loop;

/// Values that an extent is computed from, which are looked at.
static constexpr unsigned kMaxDivided = 64;

/// What `value`, which is defined outside, is under the conditions; null where
/// none tells.
OpFoldResult VersionConditions::getAssumed(Value value) const {
  auto dim = value.getDefiningOp<tensor::DimOp>();
  for (auto [known, other] : equals) {
    auto same = known.getDefiningOp<tensor::DimOp>();
    bool isSameDim = dim && same && dim.getSource() == same.getSource() &&
                     dim.getConstantIndex() &&
                     dim.getConstantIndex() == same.getConstantIndex();
    if ((known == value || isSameDim) && other != OpFoldResult(value))
      return other;
  }
  return {};
}

/// `value`, which is defined outside, as a constant where the conditions make
/// it one; null where they do not, or define it by itself.
Attribute VersionConditions::evaluate(Value value,
                                      DenseMap<Value, Attribute> &memo) const {
  Attribute constant;
  if (matchPattern(value, m_Constant(&constant)))
    return constant;
  if (auto [it, isNew] = memo.try_emplace(value); !isNew)
    return it->second;
  auto follow = [&](OpFoldResult other) -> Attribute {
    auto next = dyn_cast_or_null<Value>(other);
    return next ? evaluate(next, memo) : dyn_cast_or_null<Attribute>(other);
  };
  // How it is computed comes first: that is what contradicts an assumption.
  Attribute found;
  Operation *op = value.getDefiningOp();
  if (op && isa<arith::ArithDialect>(op->getDialect()) &&
      op->getNumResults() == 1) {
    SmallVector<Attribute> operands;
    for (Value operand : op->getOperands())
      operands.push_back(evaluate(operand, memo));
    SmallVector<OpFoldResult> folded;
    if (succeeded(op->fold(operands, folded)) && folded.size() == 1)
      found = follow(folded.front());
  }
  if (!found)
    found = follow(getAssumed(value));
  return memo[value] = found;
}

/// True if the conditions cannot hold together: d + d == 4 and d == 3.
bool VersionConditions::isContradicted() const {
  DenseMap<Value, Attribute> memo;
  return llvm::any_of(conditions, [&](Value condition) {
    auto holds = dyn_cast_or_null<IntegerAttr>(evaluate(condition, memo));
    return holds && holds.getValue().isZero();
  });
}

/// Adds a condition, unless the others contradict it.
bool VersionConditions::add(Value condition) {
  conditions.push_back(condition);
  if (!isContradicted())
    return true;
  conditions.pop_back();
  return false;
}

/// Adds a condition, which says that `value` is `other`.
bool VersionConditions::addEquality(Value value, OpFoldResult other,
                                    Value condition) {
  equals.push_back({value, other});
  if (add(condition))
    return true;
  equals.pop_back();
  return false;
}

std::pair<OpFoldResult, OpFoldResult>
loopc::loop::comparedExtents(Value condition) {
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  if (!compare || compare.getPredicate() != arith::CmpIPredicate::eq)
    return {};
  auto asIndex = [&](Value value) -> OpFoldResult {
    if (std::optional<int64_t> constant = getConstantIntValue(value))
      return IntegerAttr::get(IndexType::get(value.getContext()), *constant);
    value = withoutIndexCasts(value);
    return value.getType().isIndex() ? OpFoldResult(value) : OpFoldResult();
  };
  OpFoldResult a = asIndex(compare.getLhs()), b = asIndex(compare.getRhs());
  return a && b ? std::pair(a, b) : std::pair<OpFoldResult, OpFoldResult>();
}

bool loopc::loop::isAtMostOne(Value extent) {
  auto least = extent.getDefiningOp<arith::MinSIOp>();
  return least && llvm::any_of(least->getOperands(), [](Value value) {
           return matchPattern(value, m_One());
         });
}

bool loopc::loop::isDivided(Value extent) {
  SetVector<Value> seen;
  seen.insert(extent);
  for (unsigned k = 0; k < seen.size() && k < kMaxDivided; ++k)
    if (Operation *op = seen[k].getDefiningOp();
        op && isa<arith::ArithDialect>(op->getDialect())) {
      if (isa<arith::DivSIOp, arith::DivUIOp>(op))
        return true;
      seen.insert(op->operand_begin(), op->operand_end());
    }
  return false;
}

void loop::refineCarried(RewriterBase &rewriter, LoopOp loop, unsigned port,
                         RankedTensorType type) {
  Location loc = loop.getLoc();
  auto castTo = [&](Value value, Type to) -> Value {
    return tensor::CastOp::create(rewriter, loc, to, value);
  };
  auto refine = [&](Value value) {
    Type old = value.getType();
    value.setType(type);
    Value back = castTo(value, old);
    rewriter.replaceAllUsesExcept(value, back, back.getDefiningOp());
  };
  rewriter.setInsertionPoint(loop);
  loop.getInitsMutable()[port].set(castTo(loop.getInits()[port], type));
  YieldOp yield = loop.getYield();
  rewriter.setInsertionPoint(yield);
  yield.getCarriedMutable()[port].set(castTo(yield.getCarried()[port], type));
  rewriter.setInsertionPointToStart(loop.getLoopBody());
  refine(loop.getCarriedArgs()[port]);
  rewriter.setInsertionPointAfter(loop);
  refine(loop.getResult(port));
}
