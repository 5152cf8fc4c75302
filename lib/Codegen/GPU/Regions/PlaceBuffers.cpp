//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Codegen/GPU/Regions/PlaceBuffers.h"
#include "loopc/Codegen/GPU/Regions/CopyNests.h"
#include "loopc/Codegen/GPU/Regions/Passes.h"
#include "loopc/Dialect/Device/IR/Device.h"
#include "loopc/Dialect/List/IR/List.h"
#include "loopc/Dialect/Loop/IR/Loop.h"
#include "loopc/Dialect/Nest/Analysis/AliasClasses.h"
#include "loopc/Dialect/Nest/Analysis/Views.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace loopc {
#define GEN_PASS_DEF_PLACEBUFFERS
#include "loopc/Codegen/GPU/Regions/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

namespace {
/// What is done with the memory of a class.
struct Uses {
  bool byKernels = false;
  bool byHost = false;
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

/// Gives every buffer of `function` its place, once the regions that are
/// `kernels` are known: allocations that kernels touch lie on the device, or
/// where the host touches them too in memory that both reach; inputs and
/// constants get a view there. Results on the device come back through
/// device.result.
class Placement {
public:
  Placement(func::FuncOp function, AliasClasses &classes,
            const llvm::SetVector<Operation *> &kernels)
      : function(function), classes(classes), kernels(kernels),
        b(function.getLoc(), function) {}

  LogicalResult run();

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
  /// `value` where kernels can reach it; null where nobody knows its memory.
  Value twin(Value value);
  LogicalResult readTwins();
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

bool loopc::handsOn(Operation *op) {
  return isViewOp(op) ||
         isa<memref::DimOp, memref::DeallocOp, arith::SelectOp, scf::ForOp,
             scf::WhileOp, scf::IfOp, scf::IndexSwitchOp, scf::YieldOp,
             scf::ConditionOp, device::RegionOp, device::YieldOp>(op);
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
  Value source = view && isViewOp(view) ? twin(view->getOperand(0)) : Value();
  if (!source)
    return {};
  IRMapping mapping;
  mapping.map(view->getOperand(0), source);
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
      origin.getDefiningOp<list::AtOp>())
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
    view =
        device::ViewOp::create(b, origin.getType(), origin, isConstant(origin),
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
    else if (!isMemoryEffectFree(op) && !isa<LLVM::LoadOp, LLVM::StoreOp>(op))
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
    Value host = device::ResultOp::create(b, value.getType(), value);
    cast->setOperand(0, host);
  }
}

/// What kernels read is a twin.
LogicalResult Placement::readTwins() {
  for (Operation *kernel : kernels) {
    WalkResult found = kernel->walk([&](Operation *op) {
      for (OpOperand &operand : op->getOpOperands()) {
        Value value = operand.get();
        if (!isa<MemRefType>(value.getType()) || !usesOf(value).isTwice() ||
            kernel->isAncestor(value.getParentBlock()->getParentOp()))
          continue;
        Value other = twin(value);
        if (!other) {
          op->emitOpError("is in a kernel and uses a buffer that is neither "
                          "allocated, an input, nor a constant of the model");
          return WalkResult::interrupt();
        }
        operand.set(other);
      }
      return WalkResult::advance();
    });
    if (found.wasInterrupted())
      return failure();
  }
  return success();
}

LogicalResult Placement::run() {
  collect();
  returnResults();
  placeCopies();
  SmallVector<std::pair<const void *, Uses>> all(uses.begin(), uses.end());
  for (auto &[id, of] : all)
    for (Value origin : of.origins)
      placeOrigin(origin, of);
  if (failed(readTwins()))
    return failure();
  for (auto &[id, of] : all)
    for (Operation *op : of.allocations)
      placeAllocation(op, of);
  SmallVector<memref::DeallocOp> frees;
  function.walk([&](memref::DeallocOp op) { frees.push_back(op); });
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
  return success();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct PlaceBuffers : loopc::impl::PlaceBuffersBase<PlaceBuffers> {
  using PlaceBuffersBase::PlaceBuffersBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    AliasClasses classes(function);
    llvm::SetVector<Operation *> regions;
    function.walk([&](device::RegionOp region) { regions.insert(region); });
    if (!regions.empty() && failed(Placement(function, classes, regions).run()))
      signalPassFailure();
  }
};
} // namespace
