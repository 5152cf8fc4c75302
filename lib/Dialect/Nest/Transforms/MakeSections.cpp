//===- MakeSections.cpp - Loops that do not need one another --------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// nest-make-sections: loops whose iterations need one another, but which do not
// need one another, become the iterations of a parallel nest: the two
// directions of a recurrence. To share out the steps of each would make threads
// meet after every step.
//
// What lies between two of them is moved in front of both, what frees the
// memory of the first one behind both.

#include "loopc/Dialect/Loop/IR/Loop.h"
#include "loopc/Dialect/Loop/Transforms/Speculation.h"
#include "loopc/Dialect/Nest/Analysis/Accesses.h"
#include "loopc/Dialect/Nest/Analysis/AliasClasses.h"
#include "loopc/Dialect/Nest/Analysis/Cost.h"
#include "loopc/Dialect/Nest/Analysis/Independence.h"
#include "loopc/Dialect/Nest/Analysis/Views.h"
#include "loopc/Dialect/Nest/IR/Parallel.h"
#include "loopc/Dialect/Nest/Transforms/Passes.h"
#include "loopc/Support/Remarks.h"
#include "loopc/Support/Walk.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

namespace loopc {
#define GEN_PASS_DEF_NESTMAKESECTIONS
#include "loopc/Dialect/Nest/Transforms/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

/// Trips of a loop of which nothing is known, and operations of a section from
/// which on it may be worth a thread.
static constexpr double kGuessedTrips = 32;
static constexpr double kMinSectionWork = 1 << 15;

//===----------------------------------------------------------------------===//
// What operations touch
//===----------------------------------------------------------------------===//

namespace {
/// Memory by its class, and the parts of a buffer that are touched there; null
/// for what may be all of it.
using Parts =
    llvm::DenseMap<const void *, llvm::SmallSetVector<Operation *, 2>>;

/// The memory that operations read and write.
struct Effects {
  Parts reads, writes;
  /// Errors are told in the order of the model.
  bool canFail = false;
  /// There is something else.
  bool isOther = false;

  void add(Operation *op, const AliasClasses &classes);
  void add(const Effects &other) {
    for (auto [to, from] :
         {std::pair(&reads, &other.reads), std::pair(&writes, &other.writes)})
      for (const auto &[memory, parts] : *from)
        (*to)[memory].insert(parts.begin(), parts.end());
    canFail |= other.canFail;
    isOther |= other.isOther;
  }
  /// True if neither order makes a difference.
  bool commutesWith(const Effects &other) const;
};
} // namespace

/// The view of a part of a whole buffer that `buffer` is, or is a view of; null
/// where there is none.
static memref::SubViewOp findPart(Value buffer) {
  memref::SubViewOp part;
  while (Value source = getViewSource(buffer)) {
    if (!buffer.getDefiningOp<memref::CastOp>())
      part = buffer.getDefiningOp<memref::SubViewOp>();
    buffer = source;
  }
  return part;
}

/// The first place of a part along `axis`, of those of its buffer, or the last
/// one; none where only a run knows it. A part may go backwards.
static std::optional<int64_t> findBound(memref::SubViewOp part, int64_t axis,
                                        bool isLast) {
  int64_t offset = part.getStaticOffset(axis);
  int64_t size = part.getStaticSize(axis);
  int64_t stride = part.getStaticStride(axis);
  if (ShapedType::isDynamic(offset) || ShapedType::isDynamic(stride))
    return std::nullopt;
  if (isLast == (stride < 0))
    return offset;
  return ShapedType::isDynamic(size)
             ? std::nullopt
             : std::optional(offset + (size - 1) * stride);
}

/// True if two parts of one buffer have no element in common, as can be seen
/// along one axis.
static bool areApart(Operation *one, Operation *other) {
  auto a = dyn_cast_or_null<memref::SubViewOp>(one);
  auto b = dyn_cast_or_null<memref::SubViewOp>(other);
  if (!a || !b || getViewRoot(a.getSource()) != getViewRoot(b.getSource()))
    return false;
  auto endsBefore = [](memref::SubViewOp first, memref::SubViewOp second,
                       int64_t axis) {
    std::optional<int64_t> last = findBound(first, axis, /*isLast=*/true),
                           next = findBound(second, axis, /*isLast=*/false);
    return last && next && *last < *next;
  };
  return llvm::any_of(llvm::seq<int64_t>(0, a.getSourceType().getRank()),
                      [&](int64_t axis) {
                        return endsBefore(a, b, axis) || endsBefore(b, a, axis);
                      });
}

static bool meet(const Parts &some, const Parts &others) {
  return llvm::any_of(some, [&](const auto &entry) {
    auto found = others.find(entry.first);
    return found != others.end() &&
           llvm::any_of(entry.second, [&](Operation *one) {
             return llvm::any_of(found->second, [&](Operation *other) {
               return !areApart(one, other);
             });
           });
  });
}

bool Effects::commutesWith(const Effects &other) const {
  return !isOther && !other.isOther && !(canFail && other.canFail) &&
         !meet(writes, other.reads) && !meet(writes, other.writes) &&
         !meet(reads, other.writes);
}

void Effects::add(Operation *op, const AliasClasses &classes) {
  auto touch = [&](Parts &parts, Value buffer) {
    parts[classes.of(buffer)].insert(findPart(buffer));
  };
  op->walk([&](Operation *nested) {
    Access access = getAccess(nested);
    if (access.buffer) {
      touch(access.writes ? writes : reads, access.buffer);
    } else if (auto copy = dyn_cast<memref::CopyOp>(nested)) {
      touch(reads, copy.getSource());
      touch(writes, copy.getTarget());
    } else if (auto free = dyn_cast<memref::DeallocOp>(nested)) {
      touch(writes, free.getMemref());
    } else if (isa<loop::CheckOp>(nested)) {
      canFail = true;
    } else if (!isPlainOp(nested) && !isViewOp(nested) &&
               !isMemoryEffectFree(nested) &&
               !isa<loop::PollOp, memref::AllocOp>(nested)) {
      isOther = true;
    }
  });
}

//===----------------------------------------------------------------------===//
// What loops leave behind
//===----------------------------------------------------------------------===//

/// The number of iterations of a loop that begins at 0 and has a step of 1, or
/// of what was such a loop before it was cut into strips; null of others.
static Value findTrips(scf::ForOp loop) {
  if (getConstantIntValue(loop.getLowerBound()) != 0)
    return {};
  if (getConstantIntValue(loop.getStep()) == 1)
    return loop.getUpperBound();
  auto inner = loop.getYieldedValues().empty()
                   ? scf::ForOp()
                   : loop.getYieldedValues()[0].getDefiningOp<scf::ForOp>();
  if (!inner || inner->getBlock() != loop.getBody() ||
      !llvm::equal(inner.getResults(), loop.getYieldedValues()) ||
      !llvm::equal(inner.getInitArgs(), loop.getRegionIterArgs()) ||
      inner.getLowerBound() != loop.getInductionVar() ||
      getConstantIntValue(inner.getStep()) != 1)
    return {};
  // begin + min(trips - begin, strip)
  auto end = inner.getUpperBound().getDefiningOp<arith::AddIOp>();
  auto size =
      end ? end.getRhs().getDefiningOp<arith::MinSIOp>() : arith::MinSIOp();
  auto left =
      size ? size.getLhs().getDefiningOp<arith::SubIOp>() : arith::SubIOp();
  bool isStrip =
      left && end.getLhs() == loop.getInductionVar() &&
      left.getLhs() == loop.getUpperBound() &&
      left.getRhs() == loop.getInductionVar() &&
      getConstantIntValue(size.getRhs()) == getConstantIntValue(loop.getStep());
  return isStrip ? loop.getUpperBound() : Value();
}

/// The other one of the two carried values that take turns in each iteration;
/// none where `k` is not one of two such.
static std::optional<unsigned> findTurn(scf::ForOp loop, unsigned k) {
  scf::ForOp inner = loop;
  if (getConstantIntValue(loop.getStep()) != 1)
    inner = loop.getYieldedValues()[k].getDefiningOp<scf::ForOp>();
  auto argument = dyn_cast<BlockArgument>(inner.getYieldedValues()[k]);
  if (!argument || argument.getOwner() != inner.getBody() ||
      argument.getArgNumber() == 0)
    return std::nullopt;
  unsigned other = argument.getArgNumber() - 1;
  if (inner.getYieldedValues()[other] != inner.getRegionIterArgs()[k])
    return std::nullopt;
  return other;
}

/// True if what `loop` leaves behind is known without it: buffers that take
/// turns. Everything else lies in memory.
static bool canBeSection(scf::ForOp loop) {
  Value trips;
  for (OpResult result : loop.getResults()) {
    if (result.use_empty())
      continue;
    if (!isa<MemRefType>(result.getType()))
      return false;
    if (!trips)
      trips = findTrips(loop);
    if (!trips || !findTurn(loop, result.getResultNumber()))
      return false;
  }
  return true;
}

/// Puts what is known without the loop in the place of its results:
///
///   %r:2 = scf.for %t = 0 to %n iter_args(%a = %x, %b = %y) { yield %b, %a }
///   ->  %odd = trunci max(%n, 0) : i1;  %r0 = select %odd, %y, %x
static void dropResults(scf::ForOp loop, ImplicitLocOpBuilder &b,
                        AliasClasses &classes) {
  Value isOdd;
  for (OpResult result : loop.getResults()) {
    if (result.use_empty())
      continue;
    if (!isOdd) {
      Value trips = findTrips(loop);
      if (trips.getType().isIndex())
        trips = arith::IndexCastOp::create(b, b.getI64Type(), trips);
      // An end in front of the begin makes no trips.
      Value none =
          arith::ConstantOp::create(b, b.getIntegerAttr(trips.getType(), 0));
      trips = arith::MaxSIOp::create(b, trips, none);
      isOdd = arith::TruncIOp::create(b, b.getI1Type(), trips);
    }
    unsigned k = result.getResultNumber();
    Value one = loop.getInitArgs()[k];
    Value other = loop.getInitArgs()[*findTurn(loop, k)];
    Value chosen = arith::SelectOp::create(b, isOdd, other, one);
    classes.join(chosen, result);
    result.replaceAllUsesWith(chosen);
  }
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
/// Loops that may become sections, and what must come behind them: what lies
/// between two of them and needs the first one.
struct Group {
  SmallVector<scf::ForOp> loops;
  SmallVector<Operation *> late;
  /// Both, and what they touch.
  llvm::SmallPtrSet<Operation *, 8> ops;
  Effects effects;

  /// True if `op` uses a value that they define.
  bool isNeededBy(Operation *op) const;
  void add(Operation *op, const Effects &touched) {
    ops.insert(op);
    effects.add(touched);
  }
};

class SectionMaker {
public:
  explicit SectionMaker(func::FuncOp function)
      : function(function), classes(function) {}

  unsigned run();

private:
  void run(Block &block);
  bool isCandidate(scf::ForOp loop) const;
  void make(const Group &group);

  func::FuncOp function;
  AliasClasses classes;
  unsigned numMade = 0;
};
} // namespace

bool Group::isNeededBy(Operation *op) const {
  Block *block = op->getBlock();
  return anyNested(op, [&](Operation *nested) {
    return llvm::any_of(nested->getOperands(), [&](Value value) {
      Operation *def = value.getDefiningOp();
      return def && def->getBlock() == block && ops.contains(def);
    });
  });
}

bool SectionMaker::isCandidate(scf::ForOp loop) const {
  if (loop->hasAttr(kParallelAttrName) ||
      findUnsharedOp(loop, /*mayAllocate=*/true) || !canBeSection(loop))
    return false;
  // What is of one loop of scalars ends soon.
  return !isOfScalars(loop) &&
         WorkEstimate(loop, kCpuWork).of(loop).getTotal(kGuessedTrips) >=
             kMinSectionWork;
}

/// The loops of the group become one nest, in the place of the last one.
void SectionMaker::make(const Group &group) {
  if (group.loops.size() < 2)
    return;
  scf::ForOp last = group.loops.back();
  ImplicitLocOpBuilder b(last.getLoc(), last);
  Value zero = arith::ConstantIndexOp::create(b, 0);
  Value one = arith::ConstantIndexOp::create(b, 1);
  Value count = arith::ConstantIndexOp::create(
      b, static_cast<int64_t>(group.loops.size()));
  auto nest = scf::ForOp::create(b, zero, count, one);
  markParallel(nest);
  for (Operation *late : llvm::reverse(group.late))
    if (late->isBeforeInBlock(nest))
      late->moveAfter(nest);
  b.setInsertionPointAfter(nest);
  for (scf::ForOp loop : group.loops)
    dropResults(loop, b, classes);
  auto numbers = llvm::to_vector(
      llvm::seq<int64_t>(0, static_cast<int64_t>(group.loops.size()) - 1));
  b.setInsertionPointToStart(nest.getBody());
  auto sections = scf::IndexSwitchOp::create(
      b, TypeRange(), nest.getInductionVar(), numbers,
      static_cast<unsigned>(numbers.size()));
  for (auto [k, loop] : llvm::enumerate(group.loops)) {
    Region &region = k < numbers.size() ? sections.getCaseRegions()[k]
                                        : sections.getDefaultRegion();
    Block *block = b.createBlock(&region);
    loop->moveBefore(block, block->end());
    b.setInsertionPointToEnd(block);
    scf::YieldOp::create(b);
  }
  remarkDone(nest.getLoc(), "MakeSections",
             Twine(group.loops.size()) +
                 " loops that do not need one another run side by side");
  ++numMade;
}

void SectionMaker::run(Block &block) {
  Group group;
  for (Operation &op : llvm::make_early_inc_range(block.without_terminator())) {
    auto loop = dyn_cast<scf::ForOp>(op);
    bool isLoop = loop && isCandidate(loop);
    if (!isLoop && group.loops.empty())
      continue;
    Effects touched;
    touched.add(&op, classes);
    // A check that stays behind may be what it counts on.
    bool isFree = !group.isNeededBy(&op) &&
                  group.effects.commutesWith(touched) &&
                  (!group.effects.canFail || mayRunBeforeChecks(&op));
    if (isLoop && !isFree) {
      make(group);
      group = Group();
    }
    if (isLoop)
      group.loops.push_back(loop);
    else if (!isFree)
      group.late.push_back(&op);
    if (isLoop || !isFree)
      group.add(&op, touched);
  }
  make(group);
}

unsigned SectionMaker::run() {
  SmallVector<Block *> blocks{&function.getBody().front()};
  // Versions, too: what a loop of the model comes to again and again is no
  // work for two threads.
  while (!blocks.empty()) {
    Block *block = blocks.pop_back_val();
    for (Operation &op : *block)
      if (isa<scf::IfOp, scf::IndexSwitchOp>(op))
        for (Region &region : op.getRegions())
          if (!region.empty())
            blocks.push_back(&region.front());
    run(*block);
  }
  return numMade;
}

namespace {
struct NestMakeSections : loopc::impl::NestMakeSectionsBase<NestMakeSections> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (!function.isExternal())
      numMade += SectionMaker(function).run();
  }
};
} // namespace
