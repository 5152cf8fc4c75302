//===- LoneWork.cpp - Scalars and sums beside nests -----------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoneWork.h"
#include "Accumulators.h"
#include "DeviceCode.h"
#include "KernelRegions.h"
#include "SplitSums.h"
#include "loopc/Dialect/Loop/Transforms/Parallel.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace loopc;

namespace {
class LoneWork {
public:
  LoneWork(func::FuncOp function, int64_t minWork, bool hasLibdevice,
           bool hostDrivesLoops)
      : function(function), minWork(minWork), hasLibdevice(hasLibdevice),
        hostDrivesLoops(hostDrivesLoops),
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
  void storeSum(scf::ForOp sum);
  bool isUntouched(Operation *reader, Operation *until);
  llvm::SetVector<Operation *> collectSlice(Operation *op);
  void wrap(Operation *op, const llvm::SetVector<Operation *> &slice);
  bool wrapStore(memref::StoreOp store);
  void sinkInto(scf::ForOp nest);

  func::FuncOp function;
  int64_t minWork;
  bool hasLibdevice, hostDrivesLoops;
  std::unique_ptr<AliasClasses> classes;
  /// What nests read and write.
  DenseSet<const void *> touched;
};
} // namespace

//===----------------------------------------------------------------------===//
// What there is
//===----------------------------------------------------------------------===//

/// True for what may be a kernel as it is.
bool LoneWork::isDevices(Operation *op) {
  if (isSharedLoop(op))
    return true;
  return isa<scf::ForOp, scf::WhileOp>(op) && !hostDrivesLoops &&
         hasSharedLoop(op) && findDeviceObstacle(op, hasLibdevice).empty();
}

void LoneWork::walkHost(Block &block,
                        llvm::function_ref<void(Operation *)> visit) {
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
bool LoneWork::readsDevices(Operation *op) {
  return op
      ->walk([&](memref::LoadOp load) {
        return touched.contains(classes->of(load.getMemref()))
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// True where something in `op` touches `memory`, other than by reading it if
/// `mayRead`.
bool LoneWork::touches(Operation *op, const DenseSet<const void *> &memory,
                       bool mayRead) {
  WalkResult result = op->walk([&](Operation *nested) {
    if (isPure(nested) || isa<memref::AllocOp>(nested) ||
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
Value LoneWork::makeMemory(MemRefType type) {
  Block &body = function.getBody().front();
  auto b = ImplicitLocOpBuilder::atBlockBegin(function.getLoc(), &body);
  Value made = memref::AllocOp::create(b, type);
  b.setInsertionPoint(body.getTerminator());
  memref::DeallocOp::create(b, made);
  return made;
}

/// What was just stored where `sum` begins is not loaded; nor stored, where its
/// result comes there.
void LoneWork::forwardInit(scf::ForOp sum) {
  auto load = sum.getInitArgs().front().getDefiningOp<memref::LoadOp>();
  if (!load || load->getBlock() != sum->getBlock())
    return;
  DenseSet<const void *> memory{classes->of(load.getMemref())};
  memref::StoreOp first;
  for (Operation *op = load->getPrevNode(); op; op = op->getPrevNode()) {
    first = dyn_cast<memref::StoreOp>(op);
    if (touches(op, memory, /*mayRead=*/true))
      break;
  }
  auto isHere = [&](memref::StoreOp store) {
    return store && store.getMemref() == load.getMemref() &&
           llvm::equal(store.getIndices(), load.getIndices());
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
void LoneWork::storeSum(scf::ForOp sum) {
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

//===----------------------------------------------------------------------===//
// What belongs to it
//===----------------------------------------------------------------------===//

/// True where what `reader` loads is the same just in front of `until`, which
/// comes behind it in its block.
bool LoneWork::isUntouched(Operation *reader, Operation *until) {
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
llvm::SetVector<Operation *> LoneWork::collectSlice(Operation *op) {
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
        made->getNumRegions() == 0 && isPure(made) &&
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

void LoneWork::wrap(Operation *op, const llvm::SetVector<Operation *> &slice) {
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
void LoneWork::sinkInto(scf::ForOp nest) {
  llvm::SetVector<Operation *> slice = collectSlice(nest);
  slice.remove_if([&](Operation *op) { return op->getNumRegions() != 0; });
  bool isWorthIt = llvm::any_of(slice, [&](Operation *op) {
    auto load = dyn_cast<memref::LoadOp>(op);
    return load && touched.contains(classes->of(load.getMemref()));
  });
  if (!isWorthIt)
    return;
  scf::ForOp innermost = collectSharedLoops(nest).back();
  auto b = OpBuilder::atBlockBegin(innermost.getBody());
  useClones(b, innermost, slice);
}

/// Makes `store` a nest where it belongs to what nests do.
bool LoneWork::wrapStore(memref::StoreOp store) {
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

void LoneWork::run() {
  SmallVector<scf::ForOp> sums;
  Block &body = function.getBody().front();
  walkHost(body, [&](Operation *op) {
    if (isDevices(op))
      collectMemory(op, *classes, touched);
  });
  walkHost(body, [&](Operation *op) {
    auto loop = dyn_cast<scf::ForOp>(op);
    if (!loop || isDevices(loop) || hasSharedLoop(loop))
      return;
    loop = promoteAccumulatorsOf(loop, *classes);
    int64_t work = countWork(loop);
    if (!findCombiner(loop) || !findDeviceObstacle(loop, hasLibdevice).empty())
      return;
    if (work < 0 || work > minWork || readsDevices(loop)) {
      collectMemory(loop, *classes, touched);
      sums.push_back(loop);
    }
  });
  for (scf::ForOp sum : sums)
    forwardInit(sum);
  for (scf::ForOp sum : sums)
    storeSum(
        splitLoneSum(sum, [&](MemRefType type) { return makeMemory(type); }));
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
    if (isSharedLoop(op) && !isLoneNest(op))
      sinkInto(cast<scf::ForOp>(op));
  });
}

void loopc::makeLoneNests(func::FuncOp function, int64_t minWork,
                          bool hasLibdevice, bool hostDrivesLoops) {
  LoneWork(function, minWork, hasLibdevice, hostDrivesLoops).run();
}

bool loopc::isLoneNest(Operation *op) {
  if (!isSharedLoop(op))
    return false;
  SmallVector<OpFoldResult> extents =
      getNestExtents(collectSharedLoops(cast<scf::ForOp>(op)));
  return !extents.empty() && llvm::all_of(extents, isOneInteger);
}

void loopc::dissolveLoneNests(func::FuncOp function,
                              llvm::function_ref<bool(Operation *)> isKernel) {
  SmallVector<scf::ForOp> found;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isKernel(op))
      return WalkResult::skip();
    if (isLoneNest(op))
      found.push_back(cast<scf::ForOp>(op));
    return WalkResult::advance();
  });
  IRRewriter rewriter(function.getContext());
  for (scf::ForOp loop : llvm::reverse(found))
    (void)loop.promoteIfSingleIteration(rewriter);
}
