//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// loop-hoist-checks: that the number of the iteration is a valid index is
// checked once for all iterations.

#include "loopc/Dialect/Loop/Transforms/Passes.h"
#include "loopc/Dialect/Loop/Transforms/Speculation.h"
#include "loopc/Dialect/Loop/Transforms/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace loopc {
#define GEN_PASS_DEF_LOOPHOISTCHECKS
#include "loopc/Dialect/Loop/Transforms/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;
using namespace loopc::loop;
using arith::CmpIPredicate;

namespace {
/// `check`, which holds while the number of the iteration is below `extent`.
struct Bound {
  CheckOp check;
  arith::CmpIOp compare;
  Value extent;
};

class CheckHoisting {
public:
  CheckHoisting(IRRewriter &rewriter, LoopOp loop)
      : rewriter(rewriter), b(loop.getLoc(), rewriter), loop(loop) {}

  /// Returns the number of checks that were moved before the loop.
  unsigned run();

private:
  bool isNumber(Value value);
  void foldSigns();
  std::optional<Bound> boundOf(CheckOp check);
  void hoist(Bound bound, ArrayRef<Bound> all, Value trips);
  void foldClamps(Value extent);

  IRRewriter &rewriter;
  ImplicitLocOpBuilder b;
  LoopOp loop;
};
} // namespace

/// True for the number of the iteration.
bool CheckHoisting::isNumber(Value value) {
  while (auto cast = value.getDefiningOp<arith::IndexCastOp>()) {
    if (!value.getType().isIndex() && !value.getType().isInteger(64))
      return false;
    value = cast.getIn();
  }
  return value == loop.getCounter();
}

/// select(i < 0, i + n, i)  ->  i
void CheckHoisting::foldSigns() {
  for (auto compare :
       llvm::make_early_inc_range(loop.getLoopBody()->getOps<arith::CmpIOp>()))
    if (compare.getPredicate() == CmpIPredicate::slt &&
        isNumber(compare.getLhs()) && matchPattern(compare.getRhs(), m_Zero()))
      for (Operation *user : llvm::make_early_inc_range(compare->getUsers()))
        if (auto select = dyn_cast<arith::SelectOp>(user);
            select && select.getCondition() == compare.getResult())
          rewriter.replaceOp(select, select.getFalseValue());
}

std::optional<Bound> CheckHoisting::boundOf(CheckOp check) {
  auto compare = check.getCondition().getDefiningOp<arith::CmpIOp>();
  if (!compare ||
      (compare.getPredicate() != CmpIPredicate::ult &&
       compare.getPredicate() != CmpIPredicate::slt) ||
      !isNumber(compare.getLhs()) ||
      !loop.isDefinedOutsideOfLoop(compare.getRhs()))
    return std::nullopt;
  for (Value value : check.getValues())
    if (!isNumber(value) && !loop.isDefinedOutsideOfLoop(value))
      return std::nullopt;
  if (Value iteration = check.getIteration(); iteration && !isNumber(iteration))
    return std::nullopt;
  return Bound{check, compare, compare.getRhs()};
}

/// Before the loop: `trips` does not exceed the extent. Where several checks
/// fail it is the first that an iteration would have come to (loop_order).
void CheckHoisting::hoist(Bound bound, ArrayRef<Bound> all, Value trips) {
  auto asIndex = [&](Value value) {
    return value.getType().isIndex()
               ? value
               : b.createOrFold<arith::IndexCastOp>(b.getIndexType(), value);
  };
  Value extent = asIndex(bound.extent);
  bool isUnsigned = bound.compare.getPredicate() == CmpIPredicate::ult;
  // No iteration's number is below a negative one, but there may be none.
  if (!isUnsigned && !isSizeOfExtents(extent))
    extent = b.createOrFold<arith::MaxSIOp>(
        extent, arith::ConstantIndexOp::create(b, 0));
  Value holds = b.createOrFold<arith::CmpIOp>(
      isUnsigned ? CmpIPredicate::ule : CmpIPredicate::sle, trips, extent);
  bool before = true;
  for (Bound other : all) {
    if (other.check == bound.check) {
      before = false;
      continue;
    }
    if (other.extent == bound.extent)
      continue;
    Value earlier = b.createOrFold<arith::CmpIOp>(
        before ? CmpIPredicate::ule : CmpIPredicate::ult, asIndex(other.extent),
        extent);
    holds = b.createOrFold<arith::OrIOp>(holds, earlier);
  }
  auto inFailing = [&](Value value) -> Value {
    if (!isNumber(value))
      return value;
    return value.getType().isIndex()
               ? extent
               : b.createOrFold<arith::IndexCastOp>(value.getType(), extent);
  };
  SmallVector<Value> values;
  for (Value value : bound.check.getValues())
    values.push_back(inFailing(value));
  CheckOp::create(b, holds, bound.check.getMessageAttr(), values,
                  inFailing(loop.getCounter()));
}

/// min(i, max(extent - 1, 0))  ->  i, which is below the extent.
void CheckHoisting::foldClamps(Value extent) {
  auto isLast = [&](Value value) {
    if (std::optional<int64_t> last = getConstantIntValue(value))
      return getConstantIntValue(extent) == *last + 1;
    if (auto max = value.getDefiningOp<arith::MaxSIOp>())
      if (matchPattern(max.getRhs(), m_Zero()))
        value = max.getLhs();
    if (auto sub = value.getDefiningOp<arith::SubIOp>())
      return sub.getLhs() == extent && matchPattern(sub.getRhs(), m_One());
    auto add = value.getDefiningOp<arith::AddIOp>();
    APInt offset;
    return add && add.getLhs() == extent &&
           matchPattern(add.getRhs(), m_ConstantInt(&offset)) &&
           offset.isAllOnes();
  };
  SmallVector<Operation *> clamps;
  for (Operation &op : *loop.getLoopBody())
    if (isa<arith::MinUIOp, arith::MinSIOp>(op) && isNumber(op.getOperand(0)) &&
        isLast(op.getOperand(1)))
      clamps.push_back(&op);
  for (Operation *clamp : clamps)
    rewriter.replaceOp(clamp, clamp->getOperand(0));
}

unsigned CheckHoisting::run() {
  b.setInsertionPoint(loop);
  if (!loop.getTripCount() || loop.getCondition() ||
      isa<TensorType>(loop.getTripCount().getType()) ||
      isa<TensorType>(loop.getCounter().getType()))
    return 0;
  foldSigns();
  SmallVector<Bound> bounds;
  for (Operation &op : loop.getLoopBody()->without_terminator()) {
    if (auto check = dyn_cast<CheckOp>(op)) {
      std::optional<Bound> bound = boundOf(check);
      if (!bound)
        return 0;
      bounds.push_back(*bound);
      continue;
    }
    // What else an iteration does must not be seen before a check fails: other
    // effects, and loops that may not end.
    if (!isMemoryEffectFree(&op) ||
        (op.getNumRegions() != 0 && !isSafeToSpeculate(&op)))
      return 0;
  }
  if (bounds.empty())
    return 0;
  Value trips = tripsAsIndex(b, b.getLoc(), loop.getTripCount());
  for (Bound bound : bounds)
    hoist(bound, bounds, trips);
  for (Bound bound : bounds) {
    b.setInsertionPoint(bound.check);
    rewriter.eraseOp(bound.check);
    foldClamps(bound.extent);
  }
  eraseDeadOps(rewriter, *loop.getLoopBody());
  return bounds.size();
}

namespace {
struct LoopHoistChecks : loopc::impl::LoopHoistChecksBase<LoopHoistChecks> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<LoopOp> loops;
    getOperation().walk([&](LoopOp loop) { loops.push_back(loop); });
    if (loops.empty())
      return markAllAnalysesPreserved();
    for (LoopOp loop : loops)
      numHoisted += CheckHoisting(rewriter, loop).run();
  }
};
} // namespace
