//===- Waits.cpp - The host waits for the GPU -----------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Codegen/GPU/Kernels/Passes.h"
#include "loopc/Codegen/GPU/Regions/PlaceBuffers.h"
#include "loopc/Dialect/Device/IR/Device.h"
#include "loopc/Dialect/Loop/IR/Loop.h"
#include "loopc/Dialect/Loopc/IR/LibraryCalls.h"
#include "loopc/Dialect/Nest/Analysis/AliasClasses.h"
#include "loopc/Support/Walk.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/SetOperations.h"

namespace loopc {
#define GEN_PASS_DEF_INSERTWAITS
#include "loopc/Codegen/GPU/Kernels/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

//===----------------------------------------------------------------------===//
// What there is to wait for
//===----------------------------------------------------------------------===//

namespace {
/// What the host has to wait for.
struct SharedMemory {
  /// Classes of memory that both reach, and of the host's memory that copies in
  /// the order of kernels write.
  DenseSet<const void *> classes;
  /// The latter: it is free at once for who allocates next.
  DenseSet<const void *> copied;
};
} // namespace

static SharedMemory findSharedMemory(func::FuncOp function,
                                     const AliasClasses &classes) {
  SharedMemory shared;
  DenseSet<const void *> onDevice;
  function.walk([&](Operation *op) {
    if (auto alloc = dyn_cast<gpu::AllocOp>(op)) {
      onDevice.insert(classes.of(alloc.getMemref()));
      if (alloc.getHostShared())
        shared.classes.insert(classes.of(alloc.getMemref()));
    } else if (auto view = dyn_cast<device::ViewOp>(op)) {
      onDevice.insert(classes.of(view.getDevice()));
      if (view.getShared())
        shared.classes.insert(classes.of(view.getDevice()));
    } else if (auto copy = dyn_cast<gpu::MemcpyOp>(op)) {
      shared.copied.insert(classes.of(copy.getDst()));
    }
  });
  llvm::set_subtract(shared.copied, onDevice);
  shared.classes.insert_range(shared.copied);
  return shared;
}

//===----------------------------------------------------------------------===//
// Waits
//===----------------------------------------------------------------------===//

/// True for what the GPU is given to do.
static bool isDeviceWork(Operation *op) {
  return isa<gpu::LaunchFuncOp, gpu::MemcpyOp, device::GraphOp,
             device::ResultOp>(op) ||
         op->hasAttr(kProductAttrName);
}

/// True for an address that is only given to the GPU.
static bool isAddressForDevice(Operation *op) {
  std::function<bool(Operation *)> isGiven = [&](Operation *user) {
    if (isa<device::GraphOp>(user) || user->hasAttr(kProductAttrName))
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
    device::WaitOp::create(b, op->getLoc());
    return false;
  }

  const AliasClasses &classes;
  const SharedMemory &shared;
};
} // namespace

/// True where `isOne` holds for something in `op`.
static bool holds(Operation *op, llvm::function_ref<bool(Operation *)> isOne) {
  return anyNested(op, isOne);
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

//===----------------------------------------------------------------------===//
// Buffers that kernels describe
//===----------------------------------------------------------------------===//

/// Reads `op`'s words.
static void expandBuffer(device::BufferOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto type = cast<MemRefType>(op.getBuffer().getType());
  auto word = [&](int64_t k) -> Value {
    Value place = arith::ConstantIndexOp::create(b, k);
    Value loaded = memref::LoadOp::create(b, op.getWords(), ValueRange{place});
    return UnrealizedConversionCastOp::create(b, b.getI64Type(), loaded)
        .getResult(0);
  };
  Type layout = LLVMTypeConverter(b.getContext()).convertType(type);
  Value descriptor = LLVM::PoisonOp::create(b, layout);
  auto set = [&](Value value, ArrayRef<int64_t> place) {
    descriptor = LLVM::InsertValueOp::create(b, descriptor, value, place);
  };
  Value data = LLVM::IntToPtrOp::create(
      b, LLVM::LLVMPointerType::get(b.getContext()), word(0));
  set(data, {0});
  set(data, {1});
  set(word(1), {2});
  for (int64_t axis = 0; axis < type.getRank(); ++axis) {
    set(word(2 + axis), {3, axis});
    set(word(2 + type.getRank() + axis), {4, axis});
  }
  op.replaceAllUsesWith(
      UnrealizedConversionCastOp::create(b, type, descriptor).getResult(0));
  op.erase();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct InsertWaits : loopc::impl::InsertWaitsBase<InsertWaits> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    insertWaits(function);
    for (device::BufferOp op : collectOps<device::BufferOp>(function))
      expandBuffer(op);
  }

private:
  static void insertWaits(func::FuncOp function) {
    AliasClasses classes(function);
    SharedMemory shared = findSharedMemory(function, classes);
    Waits waits(classes, shared);
    Block &body = function.getBody().front();
    if (!waits.process(body, /*isBusy=*/false))
      return;
    // Errors of the last kernels are the run's.
    OpBuilder b(body.getTerminator());
    device::WaitOp::create(b, function.getLoc());
  }
};
} // namespace
