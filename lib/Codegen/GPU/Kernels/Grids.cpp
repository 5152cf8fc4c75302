//===- Grids.cpp - Blocks and threads of launches -------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Grids.h"
#include "ProductTiles.h"

#include "DealNests.h"
#include "DeviceRegions.h"
#include "loopc-rt/cuda.h"
#include "loopc/Codegen/GPU/Regions/DeviceCode.h"
#include "loopc/Dialect/Loop/Transforms/Speculation.h"
#include "loopc/Dialect/Loopc/IR/Loopc.h"
#include "loopc/Dialect/Nest/Analysis/Bounds.h"
#include "loopc/Dialect/Nest/Analysis/Cost.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace loopc;

/// Threads of a block that waits for others, which are on more processors the
/// smaller they are. Where these are full anyway, fewer and larger ones have to
/// say that they have arrived.
static constexpr int64_t kJointThreads = 128;
static constexpr int64_t kManyThreads = int64_t(1) << 16;
/// Work of a nest, in operations, up to which one block is faster than several
/// that have to wait for one another behind it. A multiprocessor reads some 64
/// bytes a cycle from the second cache, and four operations are done with four
/// bytes of a weight: `work / 64` cycles in one block. Eight of a cluster take
/// `work / 512` and a barrier of some 500 cycles, those of a device of a
/// hundred `work / 6000` and one of some 2,500: figures of others for A100 and
/// H100. These are where the sums are equal, rounded; not measured.
static constexpr int64_t kOneBlockWork = int64_t(1) << 17;
static constexpr int64_t kOneBlockWorkBesideClusters = int64_t(1) << 16;
static constexpr int64_t kClusterWork = int64_t(1) << 20;
/// From so many slices on, the work of one up to which blocks are faster by
/// themselves than together: they fill the device as well.
static constexpr std::pair<int64_t, int64_t> kManySlices[] = {
    {8, int64_t(1) << 17}, {64, int64_t(1) << 19}, {96, int64_t(1) << 40}};
/// More blocks than that go over a nest in rounds.
static constexpr int64_t kMaxBlocks = int64_t(1) << 20;

GridChooser::GridChooser(ImplicitLocOpBuilder &b, Operation *region)
    : b(b), target(getProductTarget(region)),
      loops(getGPUTarget(region).loops) {}

Value GridChooser::index(int64_t value) {
  return arith::ConstantIndexOp::create(b, value);
}

Value GridChooser::compare(arith::CmpIPredicate how, Value one, int64_t other) {
  return b.createOrFold<arith::CmpIOp>(how, one, index(other));
}

/// Threads of a block that has something for `most` to do: as many warps as a
/// power of 2, since upstream's reductions over a block are wrong for others.
Value GridChooser::countThreadsOfOne(Value most) {
  Value threads = index(kWarp);
  for (int64_t more = 2 * kWarp; more <= kLoneThreads; more *= 2)
    threads = b.createOrFold<arith::SelectOp>(
        compare(arith::CmpIPredicate::ugt, most, more / 2), index(more),
        threads);
  return threads;
}

int64_t GridChooser::oneBlockWork() const {
  return hasClusters() ? kOneBlockWorkBesideClusters : kOneBlockWork;
}

//===----------------------------------------------------------------------===//
// All together
//===----------------------------------------------------------------------===//

/// What is taken for a number that only the kernel knows.
static constexpr int64_t kGuess = 256;

/// `value`, a bound in `region`, where the kernel is begun; a guess where it is
/// known only within.
static Value outside(ImplicitLocOpBuilder &b, Operation *region, Value value) {
  if (std::optional<int64_t> known = getConstantIntValue(value))
    return arith::ConstantIndexOp::create(b, *known);
  if (region->isAncestor(value.getParentBlock()->getParentOp()))
    return arith::ConstantIndexOp::create(b, kGuess);
  return value;
}

/// Iterations of a nest in `region`, or what they are at most; null where only
/// the kernel knows.
Value GridChooser::countIterations(scf::ForOp nest, Operation *region) {
  auto isKnown = [&](Value bound) {
    return getConstantIntValue(bound) ||
           !region->isAncestor(bound.getParentBlock()->getParentOp());
  };
  auto whole = dyn_cast<LoopLikeOpInterface>(region);
  Value total;
  for (scf::ForOp loop : collectSharedLoops(nest)) {
    if (!isKnown(loop.getLowerBound()) || !isKnown(loop.getStep()))
      return {};
    Value upper = loop.getUpperBound();
    if (isKnown(upper))
      upper = outside(b, region, upper);
    else if (whole)
      upper = SizeBounds(b, whole).of(upper);
    if (!upper || !isKnown(upper))
      return {};
    Value size = b.createOrFold<arith::SubIOp>(
        upper, outside(b, region, loop.getLowerBound()));
    size = b.createOrFold<arith::MaxSIOp>(size, index(0));
    size = b.createOrFold<arith::CeilDivUIOp>(
        size, outside(b, region, loop.getStep()));
    total = total ? multiplySizes(b, total, size) : size;
  }
  return total;
}

/// Work that no threshold is above.
static constexpr double kMuchWork = 1e12;

/// Operations of an iteration of a nest; a guess where only the run knows.
static int64_t countWorkOfOne(scf::ForOp nest) {
  scf::ForOp innermost = collectSharedLoops(nest).back();
  Work work = WorkEstimate(nest, kGpuThreadWork).of(innermost.getRegion());
  work.known += kGuess * (work.open.size() + work.isUnbounded);
  return static_cast<int64_t>(std::clamp(work.known, 1.0, kMuchWork));
}

/// `grid`, which has something for `most` threads to do, where it has few
/// enough blocks for a cluster; one of larger blocks where not and `isMedium`.
Grid GridChooser::chooseCluster(Value most, Value isMedium, const Grid &grid,
                                int64_t threads) {
  Value limit = index(LOOPC_CUDA_MAX_CLUSTER);
  Value fewer = b.createOrFold<arith::MinUIOp>(
      b.createOrFold<arith::CeilDivUIOp>(most, index(threads)), limit);
  Value isTooLarge = b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::ugt,
                                                   grid.blocks, limit);
  Value isOther = b.createOrFold<arith::AndIOp>(isTooLarge, isMedium);
  auto choose = [&](Value other, Value usual) {
    return b.createOrFold<arith::SelectOp>(isOther, other, usual);
  };
  Grid chosen{choose(fewer, grid.blocks), choose(index(threads), grid.threads)};
  if (mustBeCluster())
    chosen.blocks = b.createOrFold<arith::MaxUIOp>(chosen.blocks, index(2));
  return chosen;
}

std::string GridChooser::describe(const Grid &grid, int64_t state) const {
  std::optional<int64_t> blocks = getConstantIntValue(grid.blocks);
  if (!blocks)
    return "";
  if (*blocks == 1)
    return state ? (", in one block with " + Twine(state) +
                    " bytes of what it writes in shared memory")
                       .str()
                 : ", in one block";
  if (hasClusters() && *blocks <= LOOPC_CUDA_MAX_CLUSTER)
    return (", in a cluster of " + Twine(*blocks) + " blocks").str();
  return ", on the whole device";
}

Grid GridChooser::choose(Operation *region, const KernelShape &shape) {
  bool isCooperative = shape.hasBarriers;
  bool mayBeCluster = isCooperative && hasClusters();
  int64_t beside = kNestThreads;
  if (isCooperative && !shape.hasTiles)
    beside = shape.hasSplits ? kLoneThreads : kJointThreads;
  static_assert(kNestThreads == kTileThreads);
  // The most that a nest has for threads to do, and whether one block, or a
  // cluster, is enough for each.
  Value most = index(1);
  auto flag = [&](bool value) -> Value {
    return arith::ConstantIntOp::create(b, b.getI1Type(), value);
  };
  Value isSmall = flag(!mustBeCluster()), isMedium = flag(true);
  bool isKnown = true;
  region->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!isSharedLoop(op))
      return WalkResult::advance();
    auto nest = cast<scf::ForOp>(op);
    Value total = countIterations(nest, region);
    isKnown &= total != nullptr;
    if (!total)
      return WalkResult::skip();
    auto isEnough = [&](int64_t work, Value others) {
      int64_t few = std::max<int64_t>(work / countWorkOfOne(nest), 1);
      Value fits = b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::ule,
                                                 total, index(few));
      return b.createOrFold<arith::AndIOp>(others, fits);
    };
    isSmall = isEnough(oneBlockWork(), isSmall);
    if (mayBeCluster && !mustBeCluster())
      isMedium = isEnough(kClusterWork, isMedium);
    auto known = [&](Value value) { return outside(b, region, value); };
    total = countDealtThreads(b, nest, total, index(beside), known);
    if (shape.hasTiles)
      total = countTileThreads(b, nest, target, total, known);
    most = b.createOrFold<arith::MaxUIOp>(most, total);
    return WalkResult::skip();
  });
  int64_t many = isCooperative && !shape.hasTiles ? kLoneThreads : beside;
  if (!isKnown) // As many as there is room for.
    return {index(isCooperative && mustBeCluster() ? LOOPC_CUDA_MAX_CLUSTER
                                                   : kMaxBlocks),
            index(many)};
  Value isMuch = b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::uge, most,
                                               index(kManyThreads));
  Value inBlock =
      b.createOrFold<arith::SelectOp>(isMuch, index(many), index(beside));
  Grid grid{
      b.createOrFold<arith::MinUIOp>(
          b.createOrFold<arith::CeilDivUIOp>(most, inBlock), index(kMaxBlocks)),
      inBlock};
  if (mayBeCluster)
    grid = chooseCluster(most, isMedium, grid,
                         shape.hasTiles ? kTileThreads : kLoneThreads);
  if (!isCooperative)
    return grid;
  Value alone = countThreadsOfOne(most);
  if (shape.hasTiles)
    alone = index(kTileThreads);
  return {b.createOrFold<arith::SelectOp>(isSmall, index(1), grid.blocks),
          b.createOrFold<arith::SelectOp>(isSmall, alone, grid.threads)};
}

//===----------------------------------------------------------------------===//
// By themselves
//===----------------------------------------------------------------------===//

namespace {
/// What values of a kernel are where the host begins it.
class HostValues {
public:
  HostValues(ImplicitLocOpBuilder &b, gpu::GPUFuncOp kernel, ValueRange given)
      : b(b) {
    for (auto [outside, inside] :
         llvm::zip_equal(given, kernel.getArguments().drop_front()))
      known.map(inside, outside);
  }

  /// A guess where only the kernel knows.
  Value operator()(Value value) {
    Value found = find(value);
    return found ? found : arith::ConstantIndexOp::create(b, kGuess);
  }
  Value operator()(OpFoldResult size) {
    auto value = dyn_cast<Value>(size);
    return value ? (*this)(value)
                 : arith::ConstantIndexOp::create(b, *getConstantIntValue(size))
                       .getResult();
  }

private:
  Value find(Value value) {
    if (Value there = known.lookupOrNull(value))
      return there;
    Operation *op = value.getDefiningOp();
    if (!op || !isSafeToSpeculate(op) || op->getNumRegions() != 0 ||
        !llvm::all_of(op->getOperands(),
                      [&](Value operand) { return find(operand) != nullptr; }))
      return {};
    b.clone(*op, known);
    return known.lookup(value);
  }

  ImplicitLocOpBuilder &b;
  IRMapping known;
};
} // namespace

Value GridChooser::makeAreSlicesSmall(const LoopSlices &slices,
                                      gpu::GPUFuncOp kernel, ValueRange given) {
  if (llvm::any_of(slices.nests, [&](const SlicedNest &nest) {
        return mayBeTiled(nest.loops.front(), target);
      }))
    return {};
  HostValues host(b, kernel, given);
  Value count = index(1);
  for (OpFoldResult extent : slices.extents)
    count = b.createOrFold<arith::MulIOp>(count, host(extent));
  Value when = compare(arith::CmpIPredicate::ugt, count, 1);
  Value limit = index(oneBlockWork());
  for (auto [number, work] : kManySlices)
    limit = b.createOrFold<arith::SelectOp>(
        compare(arith::CmpIPredicate::uge, count, number), index(work), limit);
  for (const SlicedNest &nest : slices.nests) {
    Value total = index(1);
    for (auto [axis, extent] :
         llvm::zip_equal(nest.axes, getNestExtents(nest.loops)))
      if (axis < 0)
        total = b.createOrFold<arith::MulIOp>(total, host(extent));
    Value few = b.createOrFold<arith::DivUIOp>(
        limit, index(countWorkOfOne(nest.loops.front())));
    Value isLittle =
        b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::ule, total, few);
    when = b.createOrFold<arith::AndIOp>(when, isLittle);
  }
  return when;
}

Grid GridChooser::chooseForSlices(const LoopSlices &slices,
                                  gpu::GPUFuncOp kernel, ValueRange given) {
  HostValues host(b, kernel, given);
  Value blocks = index(1);
  for (OpFoldResult extent : slices.extents)
    blocks = b.createOrFold<arith::MulIOp>(blocks, host(extent));
  Value threads = index(kWarp);
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!isSharedLoop(op))
      return WalkResult::advance();
    auto nest = cast<scf::ForOp>(op);
    Value total = index(1);
    for (OpFoldResult extent : getNestExtents(collectSharedLoops(nest)))
      total = b.createOrFold<arith::MulIOp>(total, host(extent));
    total = countDealtThreads(b, nest, total, index(kLoneThreads),
                              [&](Value bound) { return host(bound); });
    threads = b.createOrFold<arith::MaxUIOp>(threads, total);
    return WalkResult::skip();
  });
  return {b.createOrFold<arith::MinUIOp>(blocks, index(kMaxBlocks)),
          countThreadsOfOne(threads)};
}
