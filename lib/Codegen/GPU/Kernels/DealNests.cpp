//===- DealNests.cpp - Who computes which element -------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DealNests.h"
#include "Reductions.h"
#include "loopc/Codegen/GPU/Regions/DeviceCode.h"
#include "loopc/Support/IndexEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace loopc;

/// Numbers of a row from which a block sums it up, rather than a warp.
static constexpr int64_t kLongRow = 1024;
/// Elements up to which warps share sums of so many numbers: more of them have
/// threads enough.
static constexpr uint64_t kFewElements = 8192;
static constexpr int64_t kLongSum = 64;
/// The most warps of a block.
static constexpr int64_t kMaxWarps = 16;

Value loopc::getBlockMemory(gpu::GPUFuncOp kernel, int64_t bytes) {
  Builder b(kernel.getContext());
  auto space =
      gpu::AddressSpaceAttr::get(b.getContext(), gpu::AddressSpace::Workgroup);
  auto typeOf = [&](int64_t size) {
    return MemRefType::get({size}, b.getI8Type(), MemRefLayoutAttrInterface(),
                           space);
  };
  if (kernel.getNumWorkgroupAttributions() == 0) {
    Value made = kernel.addWorkgroupAttribution(typeOf(bytes), kernel.getLoc());
    kernel.setWorkgroupAttributionAttr(0, "llvm.align",
                                       b.getI64IntegerAttr(16));
    return made;
  }
  Value there = kernel.getWorkgroupAttributions().front();
  if (cast<MemRefType>(there.getType()).getDimSize(0) < bytes)
    there.setType(typeOf(bytes));
  return there;
}

namespace {
enum class Dealing { Threads, Warps, Blocks, Split };

class Dealer : IndexEmitter {
public:
  Dealer(gpu::GPUFuncOp kernel, scf::ForOp outer, const KernelThread &here)
      : IndexEmitter(outer.getLoc(), outer), kernel(kernel), outer(outer),
        nest(collectSharedLoops(outer)), here(here) {}

  Operation *run();

private:
  void countTrips();
  Operation *deal(Dealing dealing);
  void dealRest(Dealing dealing, Value number);
  void fillTogether(Block &body, IRMapping &mapping, Dealing dealing,
                    Value isInside);
  Value putTogether(Value part, gpu::AllReduceOperation kind,
                    Operation *combiner, Dealing dealing);
  Value putWarpsTogether(Value part, Operation *combiner);

  Value div(Value one, Value other) {
    return arith::DivUIOp::create(b, one, other);
  }
  Value rem(Value one, Value other) {
    return arith::RemUIOp::create(b, one, other);
  }
  Value threadInBlock() {
    return gpu::ThreadIdOp::create(b, gpu::Dimension::x);
  }
  Value threadsOfBlock() {
    return gpu::BlockDimOp::create(b, gpu::Dimension::x);
  }

  gpu::GPUFuncOp kernel;
  scf::ForOp outer;
  SmallVector<scf::ForOp> nest;
  KernelThread here;
  SmallVector<Value> trips;
  Value total;
};
} // namespace

//===----------------------------------------------------------------------===//
// Which way
//===----------------------------------------------------------------------===//

/// The first sum of the nest, where its length is known in front of it.
static scf::ForOp findFixedSum(scf::ForOp outer) {
  scf::ForOp innermost = collectSharedLoops(outer).back();
  for (auto loop : innermost.getBody()->getOps<scf::ForOp>()) {
    bool isFixed = llvm::all_of(
        ValueRange{loop.getLowerBound(), loop.getUpperBound(), loop.getStep()},
        [&](Value bound) { return outer.isDefinedOutsideOfLoop(bound); });
    return isFixed ? loop : scf::ForOp();
  }
  return {};
}

bool loopc::isSplitNest(scf::ForOp outer) {
  scf::ForOp sum = findFixedSum(outer);
  if (!sum || isWarpNest(outer))
    return false;
  if (std::optional<APInt> trips = sum.getStaticTripCount())
    if (trips->slt(kLongSum))
      return false;
  uint64_t elements = 1;
  for (scf::ForOp loop : collectSharedLoops(outer))
    if (std::optional<APInt> trips = loop.getStaticTripCount())
      elements = llvm::SaturatingMultiply<uint64_t>(elements,
                                                    trips->getLimitedValue());
  if (elements > kFewElements)
    return false;
  scf::ForOp innermost = collectSharedLoops(outer).back();
  bool isWritten = false;
  for (Operation &op : innermost.getBody()->without_terminator()) {
    auto loop = dyn_cast<scf::ForOp>(op);
    if (loop && (isWritten || !findCombiner(loop)))
      return false;
    if (isa<memref::StoreOp>(op))
      isWritten = true;
    // One warp writes: the others would read what was there before.
    else if (!loop && !isMemoryEffectFree(&op) &&
             (isWritten || !isa<memref::LoadOp>(op)))
      return false;
  }
  return true;
}

/// Numbers that `loop` goes over.
static Value countSum(ImplicitLocOpBuilder &b, scf::ForOp loop,
                      llvm::function_ref<Value(Value)> known) {
  Value size = b.createOrFold<arith::SubIOp>(known(loop.getUpperBound()),
                                             known(loop.getLowerBound()));
  size = b.createOrFold<arith::MaxSIOp>(size,
                                        arith::ConstantIndexOp::create(b, 0));
  return b.createOrFold<arith::CeilDivUIOp>(size, known(loop.getStep()));
}

/// The two ways to deal the nest of `outer` out, and when it is the second one;
/// null where there is one way.
static std::tuple<Dealing, Dealing, Value>
chooseDealing(ImplicitLocOpBuilder &b, scf::ForOp outer, Value total,
              llvm::function_ref<Value(Value)> known) {
  auto is = [&](arith::CmpIPredicate predicate, Value one, int64_t other) {
    return b.createOrFold<arith::CmpIOp>(
        predicate, one, arith::ConstantIndexOp::create(b, other));
  };
  scf::ForOp sum = findFixedSum(outer);
  // Warps that share sums side by side have one for each thread.
  bool isOne = isConstantIntValue(total, 1) && isSplitNest(outer);
  if (isWarpNest(outer) || isOne) {
    Value isLong =
        sum ? is(arith::CmpIPredicate::uge, countSum(b, sum, known), kLongRow)
            : Value();
    return {Dealing::Warps, Dealing::Blocks, isLong};
  }
  if (!isSplitNest(outer))
    return {Dealing::Threads, Dealing::Threads, Value()};
  Value isLong =
      is(arith::CmpIPredicate::uge, countSum(b, sum, known), kLongSum);
  Value isFew = is(arith::CmpIPredicate::ule, total, kFewElements);
  return {Dealing::Threads, Dealing::Split,
          b.createOrFold<arith::AndIOp>(isLong, isFew)};
}

static Value countThreads(ImplicitLocOpBuilder &b, Dealing dealing, Value total,
                          Value inBlock) {
  auto times = [&](Value one, Value other) {
    return b.createOrFold<arith::MulIOp>(one, other);
  };
  Value warp = arith::ConstantIndexOp::create(b, kWarp);
  switch (dealing) {
  case Dealing::Threads:
    return total;
  case Dealing::Warps:
    return times(total, warp);
  case Dealing::Blocks:
    return times(total, inBlock);
  case Dealing::Split:
    return times(b.createOrFold<arith::CeilDivUIOp>(total, warp), inBlock);
  }
  llvm_unreachable("all ways are there");
}

Value loopc::countDealtThreads(ImplicitLocOpBuilder &b, scf::ForOp outer,
                               Value total, Value inBlock,
                               llvm::function_ref<Value(Value)> known) {
  auto [usual, other, when] = chooseDealing(b, outer, total, known);
  Value threads = countThreads(b, usual, total, inBlock);
  if (!when)
    return threads;
  return b.createOrFold<arith::SelectOp>(
      when, countThreads(b, other, total, inBlock), threads);
}

//===----------------------------------------------------------------------===//
// Together
//===----------------------------------------------------------------------===//

/// The parts that warps have for the same elements: all get the whole.
Value Dealer::putWarpsTogether(Value part, Operation *combiner) {
  Type type = part.getType();
  int64_t bytes = llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
  Value memory = getBlockMemory(kernel, kMaxWarps * kWarp * bytes);
  auto space = cast<MemRefType>(memory.getType()).getMemorySpace();
  auto viewType = MemRefType::get({kMaxWarps, kWarp}, type,
                                  MemRefLayoutAttrInterface(), space);
  Value view =
      memref::ViewOp::create(b, viewType, memory, index(0), ValueRange());
  Value thread = threadInBlock();
  Value warp = div(thread, index(kWarp)), lane = rem(thread, index(kWarp));
  Value warps = div(threadsOfBlock(), index(kWarp));
  gpu::BarrierOp::create(b);
  memref::StoreOp::create(b, part, view, ValueRange{warp, lane});
  gpu::BarrierOp::create(b);
  Value first = memref::LoadOp::create(b, view, ValueRange{index(0), lane});
  auto loop = scf::ForOp::create(b, index(1), warps, index(1), first);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value next =
      memref::LoadOp::create(b, view, ValueRange{loop.getInductionVar(), lane});
  Operation *both = b.clone(*combiner);
  both->setOperands({loop.getRegionIterArg(0), next});
  scf::YieldOp::create(b, both->getResult(0));
  return loop.getResult(0);
}

Value Dealer::putTogether(Value part, gpu::AllReduceOperation kind,
                          Operation *combiner, Dealing dealing) {
  switch (dealing) {
  case Dealing::Warps:
    return gpu::SubgroupReduceOp::create(b, part, kind, /*uniform=*/true);
  case Dealing::Blocks:
    return reduceInBlock(b, part, kind);
  case Dealing::Split:
    return putWarpsTogether(part, combiner);
  case Dealing::Threads:
    break;
  }
  llvm_unreachable("a thread has the whole");
}

/// An iteration for several threads: they take shares of what is summed up and
/// put their sums together; one of them writes.
void Dealer::fillTogether(Block &body, IRMapping &mapping, Dealing dealing,
                          Value isInside) {
  Value warp = index(kWarp);
  Value thread = threadInBlock();
  Value number, count;
  if (dealing == Dealing::Warps) {
    number = rem(thread, warp);
    count = warp;
  } else if (dealing == Dealing::Blocks) {
    number = thread;
    count = threadsOfBlock();
  } else {
    number = div(thread, warp);
    count = div(threadsOfBlock(), warp);
  }
  Value isWriter =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, number, index(0));
  if (isInside)
    isWriter = arith::AndIOp::create(b, isWriter, isInside);
  for (Operation &op : body.without_terminator()) {
    if (isa<memref::StoreOp>(op)) {
      auto branch = scf::IfOp::create(b, isWriter, /*withElseRegion=*/false);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(branch.thenBlock());
      b.clone(op, mapping);
      continue;
    }
    auto made = dyn_cast<scf::ForOp>(b.clone(op, mapping));
    if (!made)
      continue;
    Operation *combiner = findCombiner(made);
    Value whole = dealReduction(
        b, made, number, count, [&](Value part, gpu::AllReduceOperation kind) {
          return putTogether(part, kind, combiner, dealing);
        });
    mapping.map(op.getResult(0), whole);
  }
}

//===----------------------------------------------------------------------===//
// Iterations
//===----------------------------------------------------------------------===//

void Dealer::countTrips() {
  for (scf::ForOp loop : nest) {
    Value size = b.createOrFold<arith::SubIOp>(loop.getUpperBound(),
                                               loop.getLowerBound());
    size = b.createOrFold<arith::MaxSIOp>(size, index(0));
    trips.push_back(b.createOrFold<arith::CeilDivUIOp>(size, loop.getStep()));
    total = total ? b.createOrFold<arith::MulIOp>(total, trips.back())
                  : trips.back();
  }
}

/// The iteration with a number, at `b`.
void Dealer::dealRest(Dealing dealing, Value number) {
  Value isInside;
  if (dealing == Dealing::Split) {
    // Lanes without an element go along with the last one.
    Value lane = rem(threadInBlock(), index(kWarp));
    number = arith::AddIOp::create(
        b, arith::MulIOp::create(b, number, index(kWarp)), lane);
    isInside =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ult, number, total);
    Value last = arith::SubIOp::create(b, total, index(1));
    number = arith::MinUIOp::create(b, number, last);
  }
  SmallVector<Value> numbers(nest.size());
  for (size_t k = nest.size(); k-- > 0;) {
    numbers[k] = k ? rem(number, trips[k]) : number;
    if (k)
      number = div(number, trips[k]);
  }
  IRMapping mapping;
  for (auto [k, loop] : llvm::enumerate(nest)) {
    Value at = b.createOrFold<arith::MulIOp>(numbers[k], loop.getStep());
    at = b.createOrFold<arith::AddIOp>(at, loop.getLowerBound());
    mapping.map(loop.getInductionVar(), at);
    if (dealing != Dealing::Threads && k + 1 == nest.size()) {
      fillTogether(*loop.getBody(), mapping, dealing, isInside);
      break;
    }
    for (Operation &op : loop.getBody()->without_terminator())
      if (k + 1 == nest.size() || &op != nest[k + 1])
        b.clone(op, mapping);
  }
}

Operation *Dealer::deal(Dealing dealing) {
  Value warp = index(kWarp);
  scf::ForOp dealt;
  switch (dealing) {
  case Dealing::Threads:
    dealt = scf::ForOp::create(b, here.thread, total, here.threads);
    break;
  case Dealing::Warps: {
    Value first = div(here.thread, warp), step = div(here.threads, warp);
    dealt = scf::ForOp::create(b, first, total, step);
    break;
  }
  case Dealing::Blocks:
  case Dealing::Split: {
    Value count = dealing == Dealing::Blocks
                      ? total
                      : b.createOrFold<arith::CeilDivUIOp>(total, warp);
    dealt = scf::ForOp::create(b, here.block, count, here.blocks);
    break;
  }
  }
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(dealt.getBody());
  dealRest(dealing, dealt.getInductionVar());
  return dealt;
}

Operation *Dealer::run() {
  countTrips();
  auto [usual, other, when] =
      chooseDealing(b, outer, total, [](Value bound) { return bound; });
  std::optional<int64_t> known =
      when ? getConstantIntValue(when) : std::optional<int64_t>(0);
  Operation *made;
  if (known) {
    made = deal(*known ? other : usual);
  } else {
    auto branch = scf::IfOp::create(b, when, /*withElseRegion=*/true);
    made = branch;
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    deal(other);
    b.setInsertionPointToStart(branch.elseBlock());
    deal(usual);
  }
  outer.erase();
  return made;
}

Operation *loopc::dealNest(gpu::GPUFuncOp kernel, scf::ForOp outer,
                           const KernelThread &here) {
  return Dealer(kernel, outer, here).run();
}
