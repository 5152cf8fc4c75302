//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Placement.h"
#include "KernelLoops.h"
#include "LibraryProducts.h"
#include "loopc/Dialect/Loop/IR/Loop.h"
#include "loopc/Dialect/Nest/Analysis/Views.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace loopc;

namespace {
/// What is done with the memory of a class.
struct Uses {
  bool byKernels = false;
  bool byHost = false;
  bool isCopiedTo = false;
  /// Values of it that come from loops, branches and selections: which memory
  /// they are only the run knows.
  bool isChosen = false;
  SmallVector<Operation *> allocations;
  /// Values that are inputs, constants or elements of lists.
  SmallVector<Value> origins;

  bool isShared() const { return byKernels && byHost; }
  /// True where kernels read a copy of what the host reads.
  bool isTwice() const {
    return allocations.empty() && !isChosen && byKernels && byHost;
  }
};

class Placement {
public:
  Placement(func::FuncOp function, AliasClasses &classes,
            const llvm::SetVector<Operation *> &kernels)
      : function(function), classes(classes), kernels(kernels),
        b(function.getLoc(), function) {}

  SharedMemory run();

private:
  bool isInKernel(Operation *op) {
    for (; op != function; op = op->getParentOp())
      if (kernels.contains(op))
        return true;
    return false;
  }
  Uses &usesOf(Value value) { return uses[classes.of(value)]; }
  void collect();
  void collectFrom(Operation *op);
  void placeAllocation(Operation *op, const Uses &of);
  Value copyOrigin(Value origin, const Uses &of);
  void placeOrigin(Value origin, const Uses &of);
  Value twin(Value value);
  void placeCopies();
  void returnResults();

  func::FuncOp function;
  AliasClasses &classes;
  const llvm::SetVector<Operation *> &kernels;
  ImplicitLocOpBuilder b;
  llvm::MapVector<const void *, Uses> uses;
  /// Of values that lie twice: what kernels read.
  DenseMap<Value, Value> twins;
  SmallVector<memref::CopyOp> copies;
  /// What lets go of elements of lists of which there are copies.
  DenseSet<Operation *> releases;
  /// Casts that hand a result to the caller.
  SmallVector<UnrealizedConversionCastOp> results;
};
} // namespace

//===----------------------------------------------------------------------===//
// Uses
//===----------------------------------------------------------------------===//

/// True for what hands memrefs on without looking at what is in them.
static bool handsOn(Operation *op) {
  return isViewOp(op) ||
         isa<memref::DimOp, memref::DeallocOp, arith::SelectOp, scf::ForOp,
             scf::WhileOp, scf::IfOp, scf::IndexSwitchOp, scf::YieldOp,
             scf::ConditionOp>(op);
}

void Placement::collectFrom(Operation *op) {
  bool inKernel = isInKernel(op);
  auto copy = dyn_cast<memref::CopyOp>(op);
  if (copy && !inKernel) {
    copies.push_back(copy);
    return;
  }
  if (isResultCast(op)) {
    results.push_back(cast<UnrealizedConversionCastOp>(op));
    return;
  }
  for (Value operand : op->getOperands())
    if (isa<MemRefType>(operand.getType()) && !handsOn(op))
      (inKernel ? usesOf(operand).byKernels : usesOf(operand).byHost) = true;
  for (Value result : op->getResults()) {
    if (!isa<MemRefType>(result.getType()) || isViewOp(op))
      continue;
    if (isa<memref::AllocOp>(op))
      usesOf(result).allocations.push_back(op);
    else if (handsOn(op))
      usesOf(result).isChosen = true;
    else
      usesOf(result).origins.push_back(result);
  }
}

void Placement::collect() {
  function.walk([&](Operation *op) { collectFrom(op); });
  // The host copies what no kernel touches.
  for (bool changed = true; changed;) {
    changed = false;
    for (memref::CopyOp copy : copies) {
      Uses &from = usesOf(copy.getSource()), &to = usesOf(copy.getTarget());
      if (from.byKernels || to.byKernels)
        continue;
      changed |= !from.byHost || !to.byHost;
      from.byHost = to.byHost = true;
    }
  }
  // What else is only copied goes from kernels to kernels.
  for (memref::CopyOp copy : copies)
    for (Value buffer : {copy.getSource(), copy.getTarget()})
      if (Uses &of = usesOf(buffer);
          !of.byHost && of.origins.empty() && !of.allocations.empty())
        of.byKernels = true;
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

void Placement::placeAllocation(Operation *op, const Uses &of) {
  if (!of.byKernels)
    return;
  auto alloc = cast<memref::AllocOp>(op);
  b.setInsertionPoint(alloc);
  auto made = gpu::AllocOp::create(b, alloc.getType(), /*asyncToken=*/Type(),
                                   ValueRange(), alloc.getDynamicSizes(),
                                   alloc.getSymbolOperands(), of.byHost);
  classes.join(alloc, made.getMemref());
  alloc.replaceAllUsesWith(made.getMemref());
  classes.erase(alloc);
}

/// What kernels read in place of `value`, which is a view of an origin.
Value Placement::twin(Value value) {
  if (Value known = twins.lookup(value))
    return known;
  Operation *view = value.getDefiningOp();
  assert(view && isViewOp(view) && "not a view of an origin");
  IRMapping mapping;
  mapping.map(view->getOperand(0), twin(view->getOperand(0)));
  b.setInsertionPointAfter(view);
  Operation *made = b.clone(*view, mapping);
  for (auto [old, copy] : llvm::zip(view->getResults(), made->getResults())) {
    twins[old] = copy;
    classes.join(old, copy);
  }
  return twins[value];
}

/// True for a constant of the model.
static bool isConstant(Value origin) {
  if (origin.getDefiningOp<memref::GetGlobalOp>())
    return true;
  auto cast = origin.getDefiningOp<UnrealizedConversionCastOp>();
  if (!cast || cast.getNumOperands() != 1)
    return false;
  Value part = cast.getOperand(0);
  while (auto insert = part.getDefiningOp<LLVM::InsertValueOp>()) {
    if (insert.getValue().getDefiningOp<LLVM::AddressOfOp>())
      return true;
    part = insert.getContainer();
  }
  return false;
}

/// True for an input of the model, whose memory stays as it is for all the run.
static bool isInput(Value origin) {
  auto cast = origin.getDefiningOp<UnrealizedConversionCastOp>();
  return cast && cast.getNumOperands() == 1 &&
         cast.getOperand(0).getDefiningOp<LLVM::LoadOp>();
}

/// Whether something frees `buffer`, or a view of it.
static bool isFreedByItself(Value buffer) {
  return llvm::any_of(buffer.getUsers(), [](Operation *user) {
    return isa<memref::DeallocOp>(user) ||
           (isViewOp(user) && isFreedByItself(user->getResult(0)));
  });
}

/// A copy of what `origin` holds now: an element of a list, whose memory may
/// hold another one later.
Value Placement::copyOrigin(Value origin, const Uses &of) {
  auto type = cast<MemRefType>(origin.getType());
  SmallVector<Value> extents;
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    if (type.isDynamicDim(axis))
      extents.push_back(memref::DimOp::create(b, origin, axis));
  Value copy = gpu::AllocOp::create(b, type, Type(), ValueRange(), extents,
                                    ValueRange(), of.byHost && !of.isTwice())
                   .getMemref();
  gpu::MemcpyOp::create(b, TypeRange(), ValueRange(), copy, origin);
  // Who freed the element frees the copy.
  bool isFreed = !of.isTwice() && isFreedByItself(origin);
  if (!of.isTwice() && (isFreed || of.isChosen) &&
      origin.getDefiningOp<loop::SeqAtOp>())
    releases.insert(memref::DeallocOp::create(b, origin));
  bool isDevices = of.isTwice() || !of.byHost;
  if (of.isChosen || isFreed || !isDevices)
    return copy;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(origin.getParentBlock()->getTerminator());
  gpu::DeallocOp::create(b, TypeRange(), ValueRange(), copy);
  return copy;
}

void Placement::placeOrigin(Value origin, const Uses &of) {
  if (!of.byKernels)
    return;
  b.setInsertionPointAfterValue(origin);
  SmallPtrSet<Operation *, 4> reading;
  Value view;
  if (isInput(origin) || isConstant(origin)) {
    view = loop::DeviceViewOp::create(b, origin.getType(), origin,
                                      isConstant(origin),
                                      of.isShared() && !of.isTwice());
    reading.insert(view.getDefiningOp());
  } else {
    view = copyOrigin(origin, of);
    for (Operation *user : origin.getUsers())
      if (isa<gpu::MemcpyOp>(user) || releases.contains(user) ||
          (isa<memref::DimOp>(user) &&
           user->isBeforeInBlock(view.getDefiningOp())))
        reading.insert(user);
  }
  classes.join(origin, view);
  if (of.isTwice())
    twins[origin] = view;
  else
    origin.replaceAllUsesExcept(view, reading);
}

/// Copies to or from the device come in the order of kernels.
void Placement::placeCopies() {
  for (memref::CopyOp copy : copies) {
    if (!usesOf(copy.getSource()).byKernels &&
        !usesOf(copy.getTarget()).byKernels)
      continue;
    b.setInsertionPoint(copy);
    gpu::MemcpyOp::create(b, TypeRange(), ValueRange(), copy.getTarget(),
                          copy.getSource());
    usesOf(copy.getTarget()).isCopiedTo = true;
    classes.erase(copy);
  }
}

/// Where copies of results may begin that end at `cast`: together with those of
/// the results before it, so that the host waits once.
static Operation *findFirstCast(Operation *cast) {
  Operation *first = cast;
  for (Operation *op = cast->getPrevNode(); op; op = op->getPrevNode()) {
    if (isResultCast(op))
      first = op;
    else if (!isPure(op) && !isa<LLVM::LoadOp, LLVM::StoreOp>(op))
      break;
  }
  return first;
}

void Placement::returnResults() {
  for (UnrealizedConversionCastOp cast : results) {
    Value value = cast.getOperand(0);
    Uses &of = usesOf(value);
    if (!of.byKernels || of.byHost)
      continue;
    Operation *first = findFirstCast(cast), *made = value.getDefiningOp();
    bool isLater = made && made->getBlock() == first->getBlock() &&
                   !made->isBeforeInBlock(first);
    b.setInsertionPoint(isLater ? cast : first);
    Value host = loop::DeviceResultOp::create(b, value.getType(), value);
    cast->setOperand(0, host);
  }
}

SharedMemory Placement::run() {
  collect();
  returnResults();
  placeCopies();
  SmallVector<std::pair<const void *, Uses>> all(uses.begin(), uses.end());
  for (auto &[id, of] : all)
    for (Value origin : of.origins)
      placeOrigin(origin, of);
  // What kernels read is a twin.
  for (Operation *kernel : kernels)
    kernel->walk([&](Operation *op) {
      for (OpOperand &operand : op->getOpOperands()) {
        Value value = operand.get();
        if (isa<MemRefType>(value.getType()) && usesOf(value).isTwice() &&
            !kernel->isAncestor(value.getParentBlock()->getParentOp()))
          operand.set(twin(value));
      }
    });
  for (auto &[id, of] : all)
    for (Operation *op : of.allocations)
      placeAllocation(op, of);
  SmallVector<memref::DeallocOp> frees;
  function.walk([&](memref::DeallocOp op) { frees.push_back(op); });
  SharedMemory shared;
  for (auto &[id, of] : all) {
    if (of.byHost && !of.isTwice() && (of.byKernels || of.isCopiedTo))
      shared.classes.insert(id);
    if (of.isCopiedTo && !of.byKernels)
      shared.copied.insert(id);
  }
  DenseSet<const void *> onDevice;
  for (auto &[id, of] : all)
    if (of.byKernels && !of.byHost)
      onDevice.insert(id);
  for (memref::DeallocOp free : frees)
    if (!releases.contains(free) &&
        onDevice.contains(classes.of(free.getMemref()))) {
      b.setInsertionPoint(free);
      gpu::DeallocOp::create(b, TypeRange(), ValueRange(), free.getMemref());
      classes.erase(free);
    }
  return shared;
}

SharedMemory loopc::placeBuffers(func::FuncOp function, AliasClasses &classes,
                                 const llvm::SetVector<Operation *> &kernels) {
  return Placement(function, classes, kernels).run();
}

//===----------------------------------------------------------------------===//
// Waits
//===----------------------------------------------------------------------===//

/// True for what the GPU is given to do.
static bool isDeviceWork(Operation *op) {
  return isa<gpu::LaunchFuncOp, gpu::MemcpyOp, loop::DeviceGraphOp,
             loop::DeviceResultOp>(op) ||
         op->hasAttr(kProductAttrName);
}

/// True for an address that is only given to the GPU.
static bool isAddressForDevice(Operation *op) {
  std::function<bool(Operation *)> isGiven = [&](Operation *user) {
    if (isa<loop::DeviceGraphOp>(user) || user->hasAttr(kProductAttrName))
      return true;
    return isa<arith::IndexCastOp, arith::AddIOp>(user) &&
           llvm::all_of(user->getUsers(), isGiven);
  };
  return isa<memref::ExtractAlignedPointerAsIndexOp>(op) &&
         llvm::all_of(op->getUsers(), isGiven);
}

namespace {
class Waits {
public:
  Waits(const AliasClasses &classes, const SharedMemory &shared)
      : classes(classes), shared(shared) {}

  /// \returns whether the GPU may be at work behind `block`, where it may be in
  /// front of it if `isBusy`.
  bool process(Block &block, bool isBusy);

private:
  bool touchesShared(Operation *op) {
    if (auto free = dyn_cast<memref::DeallocOp>(op))
      return shared.copied.contains(classes.of(free.getMemref()));
    return !handsOn(op) && !isDeviceWork(op) && !isAddressForDevice(op) &&
           llvm::any_of(op->getOperands(), [&](Value operand) {
             return isa<MemRefType>(operand.getType()) &&
                    shared.classes.contains(classes.of(operand));
           });
  }

  /// The host's memory is read when a copy out of it is begun.
  bool readsCopied(Operation *op) {
    auto copy = dyn_cast<gpu::MemcpyOp>(op);
    return copy && shared.copied.contains(classes.of(copy.getSrc()));
  }

  bool mustWait(Operation *op) {
    return touchesShared(op) || readsCopied(op) || isa<LLVM::StoreOp>(op);
  }

  /// In front of `op`. \returns whether the GPU is at work then.
  bool wait(Operation *op) {
    OpBuilder b(op);
    loop::DeviceWaitOp::create(b, op->getLoc());
    return false;
  }

  const AliasClasses &classes;
  const SharedMemory &shared;
};
} // namespace

/// True where `isOne` holds for something in `op`.
static bool holds(Operation *op, llvm::function_ref<bool(Operation *)> isOne) {
  return op
      ->walk([&](Operation *nested) {
        return isOne(nested) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

bool Waits::process(Block &block, bool isBusy) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (isBusy && mustWait(&op))
      isBusy = wait(&op);
    if (isDeviceWork(&op)) {
      isBusy = true;
      continue;
    }
    if (op.getNumRegions() == 0)
      continue;
    // An iteration may come behind another one.
    if (isa<LoopLikeOpInterface>(op)) {
      bool hasWork = holds(&op, isDeviceWork);
      if (isBusy && !hasWork &&
          holds(&op, [&](Operation *nested) { return mustWait(nested); }))
        isBusy = wait(&op);
      isBusy |= hasWork;
    }
    bool before = isBusy;
    for (Region &region : op.getRegions())
      for (Block &inner : region)
        isBusy |= process(inner, before);
  }
  return isBusy;
}

void loopc::insertWaits(func::FuncOp function, const AliasClasses &classes,
                        const SharedMemory &shared) {
  Waits waits(classes, shared);
  Block &body = function.getBody().front();
  if (!waits.process(body, /*isBusy=*/false))
    return;
  // Errors of the last kernels are the run's.
  OpBuilder b(body.getTerminator());
  loop::DeviceWaitOp::create(b, function.getLoc());
}
