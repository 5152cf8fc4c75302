//===- SplitSums.cpp - Long sums for many blocks --------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SplitSums.h"
#include "Accumulators.h"
#include "DeviceCode.h"
#include "loopc/Dialect/Loop/Transforms/Parallel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace loopc;

/// Numbers from which a sum is split, and into how many parts: a barrier more
/// takes as long as one block takes for that.
static constexpr int64_t kLongSum = int64_t(1) << 15;
static constexpr int64_t kParts = 256;

namespace {
class Splitter {
public:
  Splitter(scf::ForOp sum, Operation *outermost)
      : sum(sum), combiner(findCombiner(sum)), outermost(outermost),
        b(sum.getLoc(), sum) {}

  void run();

private:
  Value splitUp(Value count);
  /// The numbers from `from` to `to`, begun with `init`.
  scf::ForOp cloneSum(Value from, Value to, Value init, Value offset);

  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }

  scf::ForOp sum;
  Operation *combiner, *outermost;
  ImplicitLocOpBuilder b;
};
} // namespace

scf::ForOp Splitter::cloneSum(Value from, Value to, Value init, Value offset) {
  auto loop = scf::ForOp::create(b, from, to, index(1), init);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  IRMapping mapping;
  Value place = loop.getInductionVar();
  if (offset)
    place = arith::AddIOp::create(b, offset, place);
  mapping.map(sum.getInductionVar(), place);
  mapping.map(sum.getRegionIterArg(0), loop.getRegionIterArg(0));
  for (Operation &op : *sum.getBody())
    b.clone(op, mapping);
  return loop;
}

Value Splitter::splitUp(Value count) {
  Type type = sum.getResult(0).getType();
  auto neutral = [&]() -> Value {
    return arith::ConstantOp::create(b, *arith::getNeutralElement(combiner));
  };
  Value parts;
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(outermost);
    parts = memref::AllocOp::create(b, MemRefType::get({kParts}, type));
    b.setInsertionPointAfter(outermost);
    memref::DeallocOp::create(b, parts);
  }
  Value length = b.createOrFold<arith::DivUIOp>(count, index(kParts));
  auto nest = scf::ForOp::create(b, index(0), index(kParts), index(1));
  markParallel(nest);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(nest.getBody());
    Value number = nest.getInductionVar();
    Value offset = arith::MulIOp::create(b, number, length);
    Value part = cloneSum(index(0), length, neutral(), offset).getResult(0);
    memref::StoreOp::create(b, part, parts, number);
  }
  // What is left over, and the parts.
  Value done = b.createOrFold<arith::MulIOp>(length, index(kParts));
  Value rest =
      cloneSum(done, count, sum.getInits().front(), Value()).getResult(0);
  auto all = scf::ForOp::create(b, index(0), index(kParts), index(1), rest);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(all.getBody());
  Value part = memref::LoadOp::create(b, parts, all.getInductionVar());
  Operation *both = b.clone(*combiner);
  both->setOperands({part, all.getRegionIterArg(0)});
  scf::YieldOp::create(b, both->getResult(0));
  return all.getResult(0);
}

void Splitter::run() {
  Value count = sum.getUpperBound();
  Value result;
  if (getConstantIntValue(count)) {
    result = splitUp(count);
  } else {
    Value isLong = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, count,
                                         index(kLongSum));
    auto branch =
        scf::IfOp::create(b, sum.getResultTypes(), isLong, /*else=*/true);
    b.setInsertionPointToStart(branch.thenBlock());
    Value made = splitUp(count);
    scf::YieldOp::create(b, made);
    b.setInsertionPointToStart(branch.elseBlock());
    Value whole =
        cloneSum(index(0), count, sum.getInits().front(), Value()).getResult(0);
    scf::YieldOp::create(b, whole);
    result = branch.getResult(0);
  }
  sum.getResult(0).replaceAllUsesWith(result);
  sum.erase();
}

void loopc::splitSums(func::FuncOp function, bool hasLibdevice) {
  SmallVector<Operation *> outermosts;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!isa<scf::ForOp, scf::WhileOp>(op))
      return WalkResult::advance();
    if (!isSharedLoop(op) && findDeviceObstacle(op, hasLibdevice).empty())
      outermosts.push_back(op);
    return WalkResult::skip();
  });
  AliasClasses classes(function);
  for (Operation *outermost : outermosts) {
    // Sums are in registers.
    promoteAccumulators(outermost, classes);
    SmallVector<scf::ForOp> found;
    outermost->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isSharedLoop(op))
        return WalkResult::skip();
      auto loop = dyn_cast<scf::ForOp>(op);
      if (!loop || loop == outermost || !findCombiner(loop) ||
          !isConstantIntValue(loop.getLowerBound(), 0) ||
          !isConstantIntValue(loop.getStep(), 1))
        return WalkResult::advance();
      std::optional<int64_t> count = getConstantIntValue(loop.getUpperBound());
      if (!count || *count >= kLongSum)
        found.push_back(loop);
      return WalkResult::skip();
    });
    for (scf::ForOp loop : found)
      Splitter(loop, outermost).run();
  }
}
