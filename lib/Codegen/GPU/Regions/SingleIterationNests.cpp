//===- SingleIterationNests.cpp - Scalars and sums beside nests
//-----------------------===//
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
#include "loopc/Dialect/Loop/IR/Loop.h"
#include "loopc/Dialect/Loopc/IR/Loopc.h"
#include "loopc/Dialect/Nest/IR/Parallel.h"
#include "loopc/Support/Walk.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

namespace loopc {
#define GEN_PASS_DEF_MAKESINGLEITERATIONNESTS
#include "loopc/Codegen/GPU/Regions/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

namespace {
/// What the host would do between kernels with what they leave, and wait for
/// them: sums that stand alone (the norm of a vector, the largest of a row) and
/// what is computed of their results become nests of one iteration, which may
/// be kernels like others. Long sums are those of some parts, a nest too.
/// Where the host drives loops, also in loops around nests.
class SingleIterationNests {
public:
  explicit SingleIterationNests(func::FuncOp function)
      : function(function), gpu(getGPUTarget(function)),
        classes(std::make_unique<AliasClasses>(function)) {}

  void run();

private:
  /// Operations that the host goes through one by one.
  void walkHost(Block &block, llvm::function_ref<void(Operation *)> visit);
  bool isDevices(Operation *op);
  bool readsDevices(Operation *op);
  bool touches(Operation *op, const DenseSet<const void *> &memory,
               bool mayRead);
  Value makeMemory(MemRefType type);
  void forwardInit(scf::ForOp sum);
  void freeLater();
  void shareCheck(loop::CheckOp check);
  void storeSum(scf::ForOp sum);
  bool isUntouched(Operation *reader, Operation *until);
  llvm::SetVector<Operation *> collectSlice(Operation *op);
  void wrap(Operation *op, const llvm::SetVector<Operation *> &slice);
  bool wrapStore(memref::StoreOp store);
  void sinkInto(scf::ForOp nest);

  func::FuncOp function;
  GPUTarget gpu;
  std::unique_ptr<AliasClasses> classes;
  /// What nests read and write.
  DenseSet<const void *> touched;
};
} // namespace

//===----------------------------------------------------------------------===//
// What there is
//===----------------------------------------------------------------------===//

/// True for what may be a kernel as it is.
bool SingleIterationNests::isDevices(Operation *op) {
  if (isSharedLoop(op))
    return true;
  return isa<scf::ForOp, scf::WhileOp>(op) && gpu.loops != DeviceLoops::Host &&
         hasSharedLoop(op) && findDeviceObstacle(op, gpu.hasLibdevice).empty();
}

void SingleIterationNests::walkHost(
    Block &block, llvm::function_ref<void(Operation *)> visit) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    bool isWhole =
        isDevices(&op) || (isa<LoopLikeOpInterface>(op) && !hasSharedLoop(&op));
    if (!isWhole)
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          walkHost(inner, visit);
    visit(&op);
  }
}

/// True where something in `op` reads what nests touch.
bool SingleIterationNests::readsDevices(Operation *op) {
  return anyNested(op, [&](memref::LoadOp load) {
    return touched.contains(classes->of(load.getMemref()));
  });
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// True where something in `op` touches `memory`, other than by reading it if
/// `mayRead`.
bool SingleIterationNests::touches(Operation *op,
                                   const DenseSet<const void *> &memory,
                                   bool mayRead) {
  WalkResult result = op->walk([&](Operation *nested) {
    if (isMemoryEffectFree(nested) || isa<memref::AllocOp>(nested) ||
        (mayRead && isa<memref::LoadOp>(nested)))
      return WalkResult::advance();
    bool isOne = llvm::any_of(nested->getOperands(), [&](Value operand) {
      return isa<MemRefType>(operand.getType()) &&
             memory.contains(classes->of(operand));
    });
    return isOne ? WalkResult::interrupt() : WalkResult::advance();
  });
  return result.wasInterrupted();
}

/// Allocated once a run, also for what is in loops.
Value SingleIterationNests::makeMemory(MemRefType type) {
  Block &body = function.getBody().front();
  auto b = ImplicitLocOpBuilder::atBlockBegin(function.getLoc(), &body);
  Value made = memref::AllocOp::create(b, type);
  b.setInsertionPoint(body.getTerminator());
  memref::DeallocOp::create(b, made);
  return made;
}

/// What was just stored where `sum` begins is not loaded; nor stored, where its
/// result comes there.
void SingleIterationNests::forwardInit(scf::ForOp sum) {
  auto load = sum.getInitArgs().front().getDefiningOp<memref::LoadOp>();
  if (!load || load->getBlock() != sum->getBlock())
    return;
  // The load may be erased before the last question.
  Value place = load.getMemref();
  SmallVector<Value> indices(load.getIndices());
  DenseSet<const void *> memory{classes->of(place)};
  memref::StoreOp first;
  for (Operation *op = load->getPrevNode(); op; op = op->getPrevNode()) {
    first = dyn_cast<memref::StoreOp>(op);
    if (touches(op, memory, /*mayRead=*/true))
      break;
  }
  auto isHere = [&](memref::StoreOp store) {
    return store && store.getMemref() == place &&
           llvm::equal(store.getIndices(), indices);
  };
  if (!isHere(first))
    return;
  sum.getInitArgsMutable().assign(first.getValue());
  if (load.use_empty())
    load.erase();
  for (Operation *op = first->getNextNode(); op; op = op->getNextNode()) {
    if (isHere(dyn_cast<memref::StoreOp>(op))) {
      first.erase();
      return;
    }
    if (touches(op, memory, /*mayRead=*/false))
      return;
  }
}

/// The result of `sum` goes through memory: who reads it does not keep the
/// host at it.
void SingleIterationNests::storeSum(scf::ForOp sum) {
  ImplicitLocOpBuilder b(sum.getLoc(), sum);
  Value total = sum.getResult(0);
  auto isStore = [](Operation *user) { return isa<memref::StoreOp>(user); };
  if (total.hasOneUse() && isStore(*total.user_begin()))
    return;
  Value place = makeMemory(MemRefType::get({}, total.getType()));
  b.setInsertionPointAfter(sum);
  auto store = memref::StoreOp::create(b, total, place, ValueRange());
  Value loaded = memref::LoadOp::create(b, place, ValueRange());
  total.replaceAllUsesExcept(loaded, store);
}

/// Moves the ends of scalars' memory to the ends of their blocks: they are to
/// be read where they are needed.
void SingleIterationNests::freeLater() {
  SmallVector<memref::DeallocOp> frees;
  walkHost(function.getBody().front(), [&](Operation *op) {
    if (auto free = dyn_cast<memref::DeallocOp>(op)) {
      auto type = dyn_cast<MemRefType>(free.getMemref().getType());
      if (type && type.hasStaticShape() && type.getNumElements() == 1)
        frees.push_back(free);
    }
  });
  for (memref::DeallocOp free : frees)
    free->moveBefore(free->getBlock()->getTerminator());
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// The loops of a nest in which `outer` carries a flag that all iterations
/// keep; none where they do something else.
static SmallVector<scf::ForOp> collectFlagLoops(scf::ForOp outer) {
  SmallVector<scf::ForOp> loops;
  for (scf::ForOp loop = outer; loop;) {
    bool isFlag = loop.getNumResults() == 1 &&
                  loop.getResult(0).getType().isInteger(1) &&
                  loop.getRegionIterArg(0).hasOneUse();
    if (!isFlag)
      return {};
    loops.push_back(loop);
    scf::ForOp inner;
    for (Operation &op : loop.getBody()->without_terminator()) {
      if (auto nested = dyn_cast<scf::ForOp>(op); nested && !inner)
        inner = nested;
      else if (!isMemoryEffectFree(&op) && !isa<memref::LoadOp>(op))
        return {};
    }
    bool handsOn =
        !inner || (inner.getInitArgs().front() == loop.getRegionIterArg(0) &&
                   loop.getYieldedValues().front() == inner.getResult(0));
    if (!handsOn)
      return {};
    loop = inner;
  }
  return loops;
}

/// What an iteration of `loop` adds to its flag, by `arith.andi`s, which are
/// put into `chain`; nothing where it does something else with it.
static SmallVector<Value> collectConditions(scf::ForOp loop,
                                            DenseSet<Operation *> &chain) {
  SmallVector<Value> conditions;
  Value all = loop.getYieldedValues().front();
  while (all != loop.getRegionIterArg(0)) {
    auto both = all.getDefiningOp<arith::AndIOp>();
    if (!both || both->getParentOp() != loop || !both->hasOneUse())
      return {};
    bool isLeft = both.getLhs() == loop.getRegionIterArg(0) ||
                  both.getLhs().getDefiningOp<arith::AndIOp>();
    chain.insert(both);
    all = isLeft ? both.getLhs() : both.getRhs();
    conditions.push_back(isLeft ? both.getRhs() : both.getLhs());
  }
  return conditions;
}

/// True where `check` may as well come where `loop` is, which is in front of it
/// in its block.
static bool canMoveTo(loop::CheckOp check, scf::ForOp loop) {
  for (Operation *op = loop->getNextNode(); op != check; op = op->getNextNode())
    if (!isMemoryEffectFree(op) &&
        !isa<memref::AllocOp, memref::DeallocOp, memref::LoadOp>(op))
      return false;
  return llvm::all_of(check->getOperands().drop_front(), [&](Value value) {
    Operation *made = value.getDefiningOp();
    return !made || made->getBlock() != loop->getBlock() ||
           made->isBeforeInBlock(loop);
  });
}

/// A check of what a loop has found of all elements (that indices are in
/// range) becomes one of each element, in a nest. Kernels behind one that has
/// failed do not begin.
void SingleIterationNests::shareCheck(loop::CheckOp check) {
  auto outer = check.getCondition().getDefiningOp<scf::ForOp>();
  if (!outer || outer->getBlock() != check->getBlock() ||
      !outer.getResult(0).hasOneUse() || !canMoveTo(check, outer) ||
      !matchPattern(outer.getInitArgs().front(), m_One()))
    return;
  int64_t work = countWork(outer);
  SmallVector<scf::ForOp> loops = collectFlagLoops(outer);
  if (loops.empty() || !(work < 0 || work > gpu.minWork || readsDevices(outer)))
    return;
  DenseSet<Operation *> chain;
  SmallVector<Value> conditions = collectConditions(loops.back(), chain);
  if (conditions.empty())
    return;
  ImplicitLocOpBuilder b(check.getLoc(), outer);
  IRMapping mapping;
  for (scf::ForOp loop : loops) {
    auto made =
        scf::ForOp::create(b, mapping.lookupOrDefault(loop.getLowerBound()),
                           mapping.lookupOrDefault(loop.getUpperBound()),
                           mapping.lookupOrDefault(loop.getStep()));
    markParallel(made);
    b.setInsertionPointToStart(made.getBody());
    mapping.map(loop.getInductionVar(), made.getInductionVar());
    for (Operation &op : loop.getBody()->without_terminator())
      if (!isa<scf::ForOp>(op) && !chain.contains(&op))
        b.clone(op, mapping);
  }
  Value all;
  for (Value condition : conditions) {
    Value one = mapping.lookupOrDefault(condition);
    all = all ? arith::AndIOp::create(b, all, one).getResult() : one;
  }
  auto each = cast<loop::CheckOp>(b.clone(*check));
  each.getConditionMutable().assign(all);
  check.erase();
  outer.erase();
}

//===----------------------------------------------------------------------===//
// What belongs to it
//===----------------------------------------------------------------------===//

/// True where what `reader` loads is the same just in front of `until`, which
/// comes behind it in its block.
bool SingleIterationNests::isUntouched(Operation *reader, Operation *until) {
  DenseSet<const void *> memory;
  collectMemory(reader, *classes, memory);
  for (Operation *op = reader->getNextNode(); op != until;
       op = op->getNextNode())
    if (touches(op, memory, /*mayRead=*/true))
      return false;
  return true;
}

/// What `op`, or the body of a loop, needs that is loaded or summed up in front
/// of it in its block, in the order of the code.
llvm::SetVector<Operation *> SingleIterationNests::collectSlice(Operation *op) {
  llvm::SetVector<Operation *> slice;
  DenseMap<Operation *, bool> isPart;
  std::function<bool(Value)> add = [&](Value value) {
    Operation *made = value.getDefiningOp();
    if (!made || made->getBlock() != op->getBlock())
      return false;
    auto [known, isNew] = isPart.try_emplace(made, false);
    if (!isNew)
      return known->second;
    auto loop = dyn_cast<scf::ForOp>(made);
    bool isSum = loop && !isSharedLoop(loop) && findCombiner(loop) &&
                 loop.getResult(0).hasOneUse();
    bool isLoad = isa<memref::LoadOp>(made);
    bool isPlain =
        made->getNumRegions() == 0 && isMemoryEffectFree(made) &&
        llvm::none_of(made->getResultTypes(), llvm::IsaPred<MemRefType>);
    bool takes = (isSum || isLoad) && isUntouched(made, op);
    if (!takes && !isPlain)
      return false;
    llvm::SetVector<Value> used(made->operand_begin(), made->operand_end());
    getUsedValuesDefinedAbove(made->getRegions(), used);
    for (Value operand : used)
      takes |= add(operand);
    if (takes)
      slice.insert(made);
    return isPart[made] = takes;
  };
  llvm::SetVector<Value> used;
  getUsedValuesDefinedAbove(op->getRegions(), used);
  if (op->getNumRegions() == 0)
    used.insert_range(op->getOperands());
  for (Value operand : used)
    add(operand);
  return topologicalSort(slice);
}

/// Clones `slice` to `b`, for `op`.
static void useClones(OpBuilder &b, Operation *op,
                      const llvm::SetVector<Operation *> &slice) {
  IRMapping mapping;
  for (Operation *part : slice)
    b.clone(*part, mapping);
  auto remap = [&](Operation *nested) {
    for (OpOperand &operand : nested->getOpOperands())
      operand.set(mapping.lookupOrDefault(operand.get()));
  };
  // The bounds of a loop are not in it.
  if (auto loop = dyn_cast<scf::ForOp>(op))
    loop.getBody()->walk(remap);
  else
    remap(op);
  for (Operation *part : llvm::reverse(slice))
    if (isOpTriviallyDead(part))
      part->erase();
}

void SingleIterationNests::wrap(Operation *op,
                                const llvm::SetVector<Operation *> &slice) {
  ImplicitLocOpBuilder b(op->getLoc(), op);
  for (Operation *part : slice)
    if (isa<scf::ForOp>(part))
      b.setLoc(part->getLoc());
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, value);
  };
  auto nest = scf::ForOp::create(b, index(0), index(1), index(1));
  markParallel(nest);
  op->moveBefore(nest.getBody()->getTerminator());
  b.setInsertionPoint(op);
  useClones(b, op, slice);
}

/// Scalars that the host would load for `nest` are loaded there.
void SingleIterationNests::sinkInto(scf::ForOp nest) {
  llvm::SetVector<Operation *> slice = collectSlice(nest);
  slice.remove_if([&](Operation *op) { return op->getNumRegions() != 0; });
  bool readsTouched = llvm::any_of(slice, [&](Operation *op) {
    auto load = dyn_cast<memref::LoadOp>(op);
    return load && touched.contains(classes->of(load.getMemref()));
  });
  if (!readsTouched)
    return;
  scf::ForOp innermost = collectSharedLoops(nest).back();
  auto b = OpBuilder::atBlockBegin(innermost.getBody());
  useClones(b, innermost, slice);
}

/// Makes `store` a nest where it belongs to what nests do.
bool SingleIterationNests::wrapStore(memref::StoreOp store) {
  llvm::SetVector<Operation *> slice = collectSlice(store);
  const void *target = classes->of(store.getMemref());
  bool belongs =
      touched.contains(target) || llvm::any_of(slice, [&](Operation *part) {
        return isa<scf::ForOp>(part) || readsDevices(part);
      });
  if (!belongs)
    return false;
  touched.insert(target);
  wrap(store, slice);
  return true;
}

//===----------------------------------------------------------------------===//
// All together
//===----------------------------------------------------------------------===//

void SingleIterationNests::run() {
  SmallVector<scf::ForOp> sums;
  Block &body = function.getBody().front();
  freeLater();
  walkHost(body, [&](Operation *op) {
    if (isDevices(op))
      collectMemory(op, *classes, touched);
  });
  walkHost(body, [&](Operation *op) {
    if (auto check = dyn_cast<loop::CheckOp>(op))
      shareCheck(check);
  });
  walkHost(body, [&](Operation *op) {
    auto loop = dyn_cast<scf::ForOp>(op);
    if (!loop || isDevices(loop) || hasSharedLoop(loop))
      return;
    loop = promoteAccumulatorsOf(loop, *classes);
    int64_t work = countWork(loop);
    if (!findCombiner(loop) ||
        !findDeviceObstacle(loop, gpu.hasLibdevice).empty())
      return;
    if (work < 0 || work > gpu.minWork || readsDevices(loop)) {
      collectMemory(loop, *classes, touched);
      sums.push_back(loop);
    }
  });
  for (scf::ForOp sum : sums)
    forwardInit(sum);
  for (scf::ForOp sum : sums)
    storeSum(
        splitHostSum(sum, [&](MemRefType type) { return makeMemory(type); }));
  classes = std::make_unique<AliasClasses>(function);
  touched.clear();
  walkHost(body, [&](Operation *op) {
    if (isDevices(op))
      collectMemory(op, *classes, touched);
  });
  // What is filled first is only known to be touched later.
  for (bool changed = true; changed;) {
    changed = false;
    walkHost(body, [&](Operation *op) {
      if (auto store = dyn_cast<memref::StoreOp>(op))
        changed |= wrapStore(store);
    });
  }
  walkHost(body, [&](Operation *op) {
    if (isSharedLoop(op) && !isSingleIterationNest(op))
      sinkInto(cast<scf::ForOp>(op));
  });
}

bool loopc::isSingleIterationNest(Operation *op) {
  if (!isSharedLoop(op))
    return false;
  SmallVector<OpFoldResult> extents =
      getNestExtents(collectSharedLoops(cast<scf::ForOp>(op)));
  return !extents.empty() && llvm::all_of(extents, isOneInteger);
}

void loopc::promoteSingleIterationNests(
    func::FuncOp function, llvm::function_ref<bool(Operation *)> isKernel) {
  SmallVector<scf::ForOp> found;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isKernel(op))
      return WalkResult::skip();
    if (isSingleIterationNest(op))
      found.push_back(cast<scf::ForOp>(op));
    return WalkResult::advance();
  });
  IRRewriter rewriter(function.getContext());
  for (scf::ForOp loop : llvm::reverse(found))
    (void)loop.promoteIfSingleIteration(rewriter);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct MakeSingleIterationNests
    : loopc::impl::MakeSingleIterationNestsBase<MakeSingleIterationNests> {
  using MakeSingleIterationNestsBase::MakeSingleIterationNestsBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    SingleIterationNests(function).run();
  }
};
} // namespace
