//===- SplitSums.cpp - Long sums for many blocks --------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SingleIterationNests.h"
#include "loopc/Codegen/GPU/Regions/Accumulators.h"
#include "loopc/Codegen/GPU/Regions/DeviceCode.h"
#include "loopc/Codegen/GPU/Regions/Passes.h"
#include "loopc/Dialect/Loopc/IR/Loopc.h"
#include "loopc/Dialect/Nest/IR/Parallel.h"
#include "loopc/Support/IndexEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"

namespace loopc {
#define GEN_PASS_DEF_SPLITSUMS
#include "loopc/Codegen/GPU/Regions/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

/// Numbers from which a sum is split, and into how many parts: a barrier more
/// takes as long as one block takes for that.
static constexpr int64_t kLongSum = int64_t(1) << 15;
static constexpr int64_t kParts = 256;

namespace {
class Splitter : IndexEmitter {
public:
  Splitter(scf::ForOp sum, MakeMemory makeMemory)
      : IndexEmitter(sum.getLoc(), sum), sum(sum), combiner(findCombiner(sum)),
        makeMemory(makeMemory), zero(index(0)), one(index(1)) {}

  void run();
  /// The sum of up to `number` parts and of what is left over.
  scf::ForOp splitUp(Value count, Value number);

private:
  /// The numbers from `from` to `to`, begun with `init`.
  scf::ForOp cloneSum(Value from, Value to, Value init, Value offset);

  scf::ForOp sum;
  Operation *combiner;
  MakeMemory makeMemory;
  /// In front of all nests, where bounds are expected.
  Value zero, one;
};
} // namespace

scf::ForOp Splitter::cloneSum(Value from, Value to, Value init, Value offset) {
  auto loop = scf::ForOp::create(b, from, to, one, init);
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

scf::ForOp Splitter::splitUp(Value count, Value number) {
  Type type = sum.getResult(0).getType();
  auto neutral = [&]() -> Value {
    return arith::ConstantOp::create(b, *arith::getNeutralElement(combiner));
  };
  Value parts = makeMemory(MemRefType::get({kParts}, type));
  Value length = b.createOrFold<arith::DivUIOp>(count, index(kParts));
  auto nest = scf::ForOp::create(b, zero, number, one);
  markParallel(nest);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(nest.getBody());
    Value at = nest.getInductionVar();
    Value offset = arith::MulIOp::create(b, at, length);
    Value part = cloneSum(zero, length, neutral(), offset).getResult(0);
    memref::StoreOp::create(b, part, parts, at);
  }
  // What is left over, and the parts.
  Value done = b.createOrFold<arith::MulIOp>(length, number);
  Value rest =
      cloneSum(done, count, sum.getInits().front(), Value()).getResult(0);
  auto all = scf::ForOp::create(b, zero, number, one, rest);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(all.getBody());
  Value part = memref::LoadOp::create(b, parts, all.getInductionVar());
  Operation *both = b.clone(*combiner);
  both->setOperands({part, all.getRegionIterArg(0)});
  scf::YieldOp::create(b, both->getResult(0));
  return all;
}

void Splitter::run() {
  Value count = sum.getUpperBound();
  Value result;
  if (getConstantIntValue(count)) {
    result = splitUp(count, index(kParts)).getResult(0);
  } else {
    Value isLong = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, count,
                                         index(kLongSum));
    auto branch =
        scf::IfOp::create(b, sum.getResultTypes(), isLong, /*else=*/true);
    b.setInsertionPointToStart(branch.thenBlock());
    Value made = splitUp(count, index(kParts)).getResult(0);
    scf::YieldOp::create(b, made);
    b.setInsertionPointToStart(branch.elseBlock());
    Value whole =
        cloneSum(zero, count, sum.getInits().front(), Value()).getResult(0);
    scf::YieldOp::create(b, whole);
    result = branch.getResult(0);
  }
  sum.getResult(0).replaceAllUsesWith(result);
  sum.erase();
}

/// True for a loop that may be so long, and goes over all numbers from 0 on.
static bool maySplit(scf::ForOp loop) {
  if (!isConstantIntValue(loop.getLowerBound(), 0) ||
      !isConstantIntValue(loop.getStep(), 1))
    return false;
  std::optional<int64_t> count = getConstantIntValue(loop.getUpperBound());
  return !count || *count >= kLongSum;
}

scf::ForOp loopc::splitHostSum(scf::ForOp sum, MakeMemory makeMemory) {
  if (!maySplit(sum))
    return sum;
  ImplicitLocOpBuilder b(sum.getLoc(), sum);
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, value);
  };
  Value count = sum.getUpperBound();
  Value isLong = b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::sge, count,
                                               index(kLongSum));
  Value number =
      b.createOrFold<arith::SelectOp>(isLong, index(kParts), index(0));
  scf::ForOp all = Splitter(sum, makeMemory).splitUp(count, number);
  sum.getResult(0).replaceAllUsesWith(all.getResult(0));
  sum.erase();
  return all;
}

/// Long sums (or whatever is put together so) that loops in `function` compute
/// beside their nests, the norm of a vector, say: each block would go through
/// all of it. They become the sums of some parts, which are a nest, and the sum
/// of these. Where only the run knows how long one is, it decides. Loops that
/// cannot be kernels stay as they are.
static void splitSums(func::FuncOp function, bool hasLibdevice) {
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
      if (!loop || loop == outermost || !findCombiner(loop))
        return WalkResult::advance();
      if (maySplit(loop))
        found.push_back(loop);
      return WalkResult::skip();
    });
    for (scf::ForOp loop : found)
      Splitter(loop, [&](MemRefType type) {
        OpBuilder b(outermost);
        Value made = memref::AllocOp::create(b, loop.getLoc(), type);
        b.setInsertionPointAfter(outermost);
        memref::DeallocOp::create(b, loop.getLoc(), made);
        return made;
      }).run();
  }
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct SplitSums : loopc::impl::SplitSumsBase<SplitSums> {
  using SplitSumsBase::SplitSumsBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    GPUTarget gpu = getGPUTarget(function);
    if (!function.isExternal() && gpu.loops != DeviceLoops::Host)
      splitSums(function, gpu.hasLibdevice);
  }
};
} // namespace
