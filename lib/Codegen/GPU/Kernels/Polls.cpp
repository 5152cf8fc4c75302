//===- Polls.cpp - How often kernels look whether to end ------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Polls.h"
#include "LoopSlices.h"
#include "loopc/Codegen/GPU/Regions/DeviceCode.h"
#include "loopc/Dialect/Loop/IR/Loop.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace loopc;

/// Iterations between two looks: of all threads together, and of a thread or a
/// block that goes through the loop by itself.
static constexpr int64_t kPollDistance = 64;
static constexpr int64_t kOwnPollDistance = 1024;

bool loopc::isPoll(Operation *op) {
  if (isa<loop::PollOp>(op))
    return true;
  auto branch = dyn_cast<scf::IfOp>(op);
  return branch && branch.getNumResults() == 0 &&
         llvm::all_of(branch->getRegions(), [](Region &region) {
           return llvm::all_of(region.getOps(), [](Operation &inner) {
             return isa<scf::YieldOp>(inner) || isPoll(&inner);
           });
         });
}

/// The counter of a loop that its condition may end: what it carries and adds 1
/// to; null where there is none.
static Value findCounter(scf::WhileOp loop) {
  auto condition = cast<scf::ConditionOp>(loop.getBeforeBody()->back());
  auto yield = cast<scf::YieldOp>(loop.getAfterBody()->back());
  for (auto [passed, inside] :
       llvm::zip_equal(condition.getArgs(), loop.getAfterArguments())) {
    auto carried = dyn_cast<BlockArgument>(passed);
    if (!carried || carried.getOwner() != loop.getBeforeBody() ||
        !inside.getType().isIntOrIndex())
      continue;
    Value next = yield.getOperand(carried.getArgNumber());
    auto sum = next.getDefiningOp<arith::AddIOp>();
    if (sum && sum.getLhs() == inside && isConstantIntValue(sum.getRhs(), 1))
      return inside;
  }
  return {};
}

/// The number whose last bits have to be set for `condition`, fewer of them
/// than `distance` takes; null where it is another.
static Value matchLastBits(Value condition, int64_t distance) {
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  auto bits = compare ? compare.getLhs().getDefiningOp<arith::AndIOp>()
                      : arith::AndIOp();
  APInt mask;
  if (!bits || compare.getPredicate() != arith::CmpIPredicate::eq ||
      compare.getRhs() != bits.getRhs() ||
      !matchPattern(bits.getRhs(), m_ConstantInt(&mask)) || !mask.isMask() ||
      mask.uge(distance - 1))
    return {};
  return bits.getLhs();
}

namespace {
class Spacing {
public:
  explicit Spacing(loop::PollOp poll)
      : poll(poll), guard(dyn_cast<scf::IfOp>(poll->getParentOp())),
        b(poll.getLoc(), poll) {}

  void run();

private:
  Value isTime(Value counter, int64_t distance);

  loop::PollOp poll;
  scf::IfOp guard; ///< with nothing else in it; null: none
  ImplicitLocOpBuilder b;
};
} // namespace

/// True in one of `distance` iterations.
Value Spacing::isTime(Value counter, int64_t distance) {
  auto constant = [&](int64_t value) {
    return arith::ConstantOp::create(
        b, b.getIntegerAttr(counter.getType(), value));
  };
  Value rest = arith::RemUIOp::create(b, counter, constant(distance));
  return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, rest,
                               constant(distance - 1));
}

void Spacing::run() {
  if (guard && !isPoll(guard))
    return;
  Operation *outermost = guard ? guard.getOperation() : poll.getOperation();
  Operation *loop = outermost->getParentOp();
  bool isOwn = false;
  for (Operation *op = loop; op; op = op->getParentOp())
    isOwn |= isSharedLoop(op) || op->hasAttr(kSlicesAttrName);
  int64_t distance = isOwn ? kOwnPollDistance : kPollDistance;
  b.setInsertionPoint(outermost);
  Value counter;
  if (auto counted = dyn_cast<scf::ForOp>(loop)) {
    // A step is so many iterations, in strips.
    int64_t step = getConstantIntValue(counted.getStep()).value_or(1);
    distance /= std::max<int64_t>(step, 1);
    if (distance > 1)
      counter = arith::DivUIOp::create(b, counted.getInductionVar(),
                                       counted.getStep());
  } else if (auto whiles = dyn_cast<scf::WhileOp>(loop)) {
    counter = guard ? matchLastBits(guard.getCondition(), distance)
                    : findCounter(whiles);
  }
  if (!counter)
    return;
  Value when = isTime(counter, distance);
  if (guard) {
    guard.getConditionMutable().assign(
        arith::AndIOp::create(b, guard.getCondition(), when));
    return;
  }
  auto branch = scf::IfOp::create(b, when, /*withElseRegion=*/false);
  poll->moveBefore(branch.thenBlock()->getTerminator());
}

void loopc::spacePolls(gpu::GPUFuncOp kernel) {
  SmallVector<loop::PollOp> polls;
  kernel.walk([&](loop::PollOp poll) { polls.push_back(poll); });
  for (loop::PollOp poll : polls)
    Spacing(poll).run();
}
