//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelBody.h"
#include "DealNests.h"
#include "DeviceRegions.h"
#include "LoopSlices.h"
#include "Meetings.h"
#include "Polls.h"
#include "ProductTiles.h"
#include "Reductions.h"
#include "loopc/Codegen/GPU/Kernels/Passes.h"
#include "loopc/Codegen/GPU/Regions/Accumulators.h"
#include "loopc/Codegen/GPU/Regions/DeviceCode.h"
#include "loopc/Dialect/Device/IR/Device.h"
#include "loopc/Dialect/Loop/IR/Loop.h"
#include "loopc/Support/IndexEmitter.h"
#include "loopc/Support/Walk.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace loopc {
#define GEN_PASS_DEF_DISTRIBUTEKERNELS
#include "loopc/Codegen/GPU/Kernels/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

namespace {
/// Something that a part of a kernel does with memory.
struct Access {
  const void *memory; ///< its alias class
  bool isWrite;
  /// Where each thread touches only what belongs to its own iterations: the
  /// buffer, the extents of the nest, and which of its loops says where along
  /// each axis of the buffer (-1: none; all threads are at one place there).
  /// Null else.
  Value own;
  SmallVector<OpFoldResult> extents;
  SmallVector<int> loops;
  /// Only the first thread does it, after what it did before.
  bool isFirsts = false;

  bool operator==(const Access &other) const {
    return memory == other.memory && isWrite == other.isWrite &&
           own == other.own && extents == other.extents &&
           loops == other.loops && isFirsts == other.isFirsts;
  }
  bool isOwn(const Access &other) const {
    return own && own == other.own && extents == other.extents &&
           loops == other.loops;
  }
  bool conflictsWith(const Access &other) const {
    return memory == other.memory && (isWrite || other.isWrite) &&
           !isOwn(other) && !(isFirsts && other.isFirsts);
  }
};

using Accesses = SmallVector<Access>;

class Distribution : IndexEmitter {
public:
  Distribution(gpu::GPUFuncOp kernel, AliasClasses &classes)
      : IndexEmitter(kernel.getLoc(), kernel), kernel(kernel),
        classes(classes) {}

  KernelShape run(const ProductTarget &target);

private:
  void process(Block &block, Accesses &pending);
  void processOp(Operation &op, Accesses &pending);
  void processRegions(Operation &op, Accesses &pending);
  Accesses accessesOf(Operation *op);
  void addAccesses(Operation *op, ArrayRef<scf::ForOp> nest, Accesses &found);
  void synchronize(Operation *op, const Accesses &next, Accesses &pending);
  void onFirstThread(Operation *op);
  void makePart(Operation *work);
  void nameThreads();

  static void merge(Accesses &into, const Accesses &from) {
    for (const Access &access : from)
      if (!llvm::is_contained(into, access))
        into.push_back(access);
  }

  gpu::GPUFuncOp kernel;
  AliasClasses &classes;
  KernelThread here;
  Value isFirst;
  KernelShape shape;
  /// What is dealt out to blocks; null where they go through all together.
  scf::ForOp slices;
  /// The kernel is one nest.
  bool isAlone = false;
};
} // namespace

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// True for a store that is no part of a nest: where all threads come to it,
/// one of them does it.
static bool isFirsts(Operation *op) {
  if (!isa<memref::StoreOp>(op))
    return false;
  for (Operation *parent = op->getParentOp(); !isa<gpu::GPUFuncOp>(parent);
       parent = parent->getParentOp())
    if (isSharedLoop(parent) || parent->hasAttr(kTiledAttrName))
      return false;
  return true;
}

void Distribution::addAccesses(Operation *op, ArrayRef<scf::ForOp> nest,
                               Accesses &found) {
  // A view made in an iteration may lie elsewhere in the next one, and so do
  // elements where extents change; buffers that change places do not.
  auto isSameAlways = [&](Value value) {
    return isa<BlockArgument>(value) ||
           value.getParentBlock() == &kernel.getBody().front();
  };
  auto add = [&](Value buffer, ValueRange place, bool isWrite) {
    // Who uses the memory of a block waits for the block.
    if (gpu::GPUDialect::hasWorkgroupMemoryAddressSpace(
            cast<MemRefType>(buffer.getType())))
      return;
    Access access{classes.of(buffer), isWrite, Value(), {}, {}};
    access.isFirsts = isWrite && nest.empty() && isFirsts(op);
    std::optional<SmallVector<int>> loops = findOwnPlace(place, nest);
    access.extents = getNestExtents(nest);
    if (loops && !access.extents.empty() && isSameAlways(buffer) &&
        llvm::all_of(access.extents, [&](OpFoldResult extent) {
          auto value = dyn_cast<Value>(extent);
          return !value || isSameAlways(value);
        })) {
      access.loops = std::move(*loops);
      access.own = buffer;
    }
    if (!llvm::is_contained(found, access))
      found.push_back(std::move(access));
  };
  if (auto load = dyn_cast<memref::LoadOp>(op)) {
    add(load.getMemref(), load.getIndices(), false);
  } else if (auto store = dyn_cast<memref::StoreOp>(op)) {
    add(store.getMemref(), store.getIndices(), true);
  } else if (auto copy = dyn_cast<memref::CopyOp>(op)) {
    add(copy.getSource(), ValueRange(), false);
    add(copy.getTarget(), ValueRange(), true);
  }
}

Accesses Distribution::accessesOf(Operation *op) {
  Accesses found;
  op->walk<WalkOrder::PreOrder>([&](Operation *nested) {
    if (!isSharedLoop(nested)) {
      addAccesses(nested, {}, found);
      return WalkResult::advance();
    }
    auto outer = cast<scf::ForOp>(nested);
    SmallVector<scf::ForOp> nest = collectSharedLoops(outer);
    // Not always the same threads have an element.
    if (isWarpNest(outer) || isSplitNest(outer))
      nest.clear();
    outer.walk([&](Operation *inner) { addAccesses(inner, nest, found); });
    return WalkResult::skip();
  });
  return found;
}

void Distribution::synchronize(Operation *op, const Accesses &next,
                               Accesses &pending) {
  bool mustWait = llvm::any_of(next, [&](const Access &access) {
    return llvm::any_of(pending, [&](const Access &other) {
      return access.conflictsWith(other);
    });
  });
  if (mustWait) {
    b.setInsertionPoint(op);
    if (slices)
      gpu::BarrierOp::create(b);
    else
      device::BarrierOp::create(b);
    shape.hasBarriers = !slices;
    pending.clear();
  }
  merge(pending, next);
}

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

/// True where something in `op` may end the run.
static bool canEnd(Operation *op) {
  return holdsOp<loop::CheckOp, loop::PollOp>(op);
}

/// Behind `work`, which only some threads go through or in which they go
/// different ways, all learn whether a check failed.
void Distribution::makePart(Operation *work) {
  if (!canEnd(work))
    return;
  b.setInsertionPoint(work);
  auto part = device::PartOp::create(
      b, /*in_block=*/static_cast<bool>(slices) && !isAlone, /*last=*/isAlone);
  b.createBlock(&part.getBody());
  work->moveBefore(device::YieldOp::create(b, ValueRange()));
  shape.hasBarriers |= !isAlone;
}

void Distribution::onFirstThread(Operation *op) {
  b.setInsertionPoint(op);
  auto branch = scf::IfOp::create(b, isFirst, /*withElseRegion=*/false);
  op->moveBefore(branch.thenBlock()->getTerminator());
  makePart(branch);
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

/// Parts that all threads go through, whose own parts are looked at one by one.
void Distribution::processRegions(Operation &op, Accesses &pending) {
  if (isa<LoopLikeOpInterface>(op)) {
    // An iteration comes behind another one too.
    Accesses entry = pending;
    merge(entry, accessesOf(&op));
    for (Region &region : op.getRegions())
      process(region.front(), entry);
    merge(pending, entry);
    return;
  }
  Accesses all = pending;
  for (Region &region : op.getRegions()) {
    Accesses branch = pending;
    for (Block &block : region)
      process(block, branch);
    merge(all, branch);
  }
  pending = std::move(all);
}

void Distribution::processOp(Operation &op, Accesses &pending) {
  if (isa<loop::PollOp>(op)) {
    // All threads meet there, before and behind.
    b.setInsertionPoint(&op);
    device::PollOp::create(b, /*in_block=*/static_cast<bool>(slices));
    op.erase();
    shape.hasBarriers = !slices;
    pending.clear();
    return;
  }
  if (isPoll(&op)) {
    // A branch, which all threads take when it is time.
    processRegions(op, pending);
    return;
  }
  if (op.hasAttr(kTiledAttrName)) {
    synchronize(&op, accessesOf(&op), pending);
    return;
  }
  if (isa<memref::LoadOp, memref::StoreOp>(op) || isSharedLoop(&op)) {
    synchronize(&op, accessesOf(&op), pending);
    if (isSharedLoop(&op))
      shape.hasSplits |= isSplitNest(cast<scf::ForOp>(op));
    if (isSharedLoop(&op))
      makePart(dealNest(kernel, cast<scf::ForOp>(op), here));
    else if (isa<memref::StoreOp>(op))
      onFirstThread(&op);
    return;
  }
  if (op.getNumRegions() == 0 || isa<gpu::AllReduceOp>(op))
    return;
  if (!hasSharedLoop(&op) && !writesMemory(&op) && !canEnd(&op)) {
    // Each thread for itself.
    synchronize(&op, accessesOf(&op), pending);
    return;
  }
  if (!hasSharedLoop(&op) && op.getNumResults() == 0) {
    synchronize(&op, accessesOf(&op), pending);
    onFirstThread(&op);
    return;
  }
  processRegions(op, pending);
}

void Distribution::process(Block &block, Accesses &pending) {
  SmallVector<Operation *> ops;
  for (Operation &op : block.without_terminator())
    ops.push_back(&op);
  for (Operation *op : ops)
    processOp(*op, pending);
}

void Distribution::nameThreads() {
  b.setInsertionPointToStart(&kernel.getBody().front());
  Value inBlock = gpu::ThreadIdOp::create(b, gpu::Dimension::x);
  Value block = gpu::BlockIdOp::create(b, gpu::Dimension::x);
  Value size = gpu::BlockDimOp::create(b, gpu::Dimension::x);
  Value blocks = gpu::GridDimOp::create(b, gpu::Dimension::x);
  if (slices) {
    here = {inBlock, size, index(0), index(1)};
    slices.setLowerBound(block);
    slices.setStep(blocks);
  } else {
    Value thread = arith::AddIOp::create(
        b, arith::MulIOp::create(b, block, size), inBlock);
    Value threads = arith::MulIOp::create(b, blocks, size);
    here = {thread, threads, block, blocks};
  }
  isFirst =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, here.thread, index(0));
}

KernelShape Distribution::run(const ProductTarget &target) {
  spacePolls(kernel);
  promoteAccumulators(kernel, classes);
  Block &entry = kernel.getBody().front();
  for (auto loop : entry.getOps<scf::ForOp>())
    if (loop->hasAttr(kSlicesAttrName))
      slices = loop;
  shape.hasTiles = !slices && tileProducts(kernel, target);
  shareReductions(kernel);
  SmallVector<Operation *> ops;
  for (Operation &op : entry.without_terminator())
    ops.push_back(&op);
  isAlone =
      llvm::count_if(ops,
                     [](Operation *op) {
                       return op->getNumRegions() != 0 || isa<loop::PollOp>(op);
                     }) == 1 &&
      isSharedLoop(ops.back());
  nameThreads();
  Accesses pending;
  for (Operation *op : ops)
    processOp(*op, pending);
  kernel.walk([](scf::ForOp loop) { loop->removeAttr(kTiledAttrName); });
  return shape;
}

KernelShape loopc::distributeKernel(gpu::GPUFuncOp kernel,
                                    AliasClasses &classes,
                                    const ProductTarget &target) {
  return Distribution(kernel, classes).run(target);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct DistributeKernels
    : loopc::impl::DistributeKernelsBase<DistributeKernels> {
  using DistributeKernelsBase::DistributeKernelsBase;

  void runOnOperation() override {
    ProductTarget target = getProductTarget(getOperation());
    LogicalResult result = visitRegions(
        getOperation(),
        [&](device::RegionOp region, gpu::GPUFuncOp kernel,
            AliasClasses &classes) -> LogicalResult {
          if (region.getShape())
            return region.emitOpError("has a kernel that is dealt out to "
                                      "threads already");
          KernelShape shape = distributeKernel(
              kernel, *getKernelClasses(region, kernel, classes), target);
          Builder b(&getContext());
          if (shape.hasTiles)
            kernel.setKnownBlockSizeAttr(b.getDenseI32ArrayAttr(
                {static_cast<int32_t>(kTileThreads), 1, 1}));
          region.setShapeAttr(
              device::ShapeAttr::get(&getContext(), shape.hasBarriers,
                                     shape.hasTiles, shape.hasSplits));
          return success();
        });
    for (auto kernels : getOperation().getOps<gpu::GPUModuleOp>())
      for (auto kernel : kernels.getOps<gpu::GPUFuncOp>())
        if (succeeded(result))
          result = verifyMeetings(kernel);
    if (failed(result))
      signalPassFailure();
  }
};
} // namespace
