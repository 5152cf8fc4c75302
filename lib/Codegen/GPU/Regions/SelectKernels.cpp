//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SingleIterationNests.h"
#include "loopc/Codegen/GPU/Regions/CopyNests.h"
#include "loopc/Codegen/GPU/Regions/DeviceCode.h"
#include "loopc/Codegen/GPU/Regions/Passes.h"
#include "loopc/Dialect/Device/IR/Device.h"
#include "loopc/Dialect/Loop/IR/Loop.h"
#include "loopc/Dialect/Loopc/IR/Loopc.h"
#include "loopc/Dialect/Nest/Analysis/Views.h"
#include "loopc/Support/Remarks.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/SetVector.h"

namespace loopc {
#define GEN_PASS_DEF_SELECTKERNELS
#include "loopc/Codegen/GPU/Regions/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

void loopc::collectAccesses(Operation *op, const AliasClasses &classes,
                            DenseSet<const void *> &read,
                            DenseSet<const void *> &written) {
  op->walk([&](Operation *nested) {
    if (auto load = dyn_cast<memref::LoadOp>(nested)) {
      read.insert(classes.of(load.getMemref()));
    } else if (auto store = dyn_cast<memref::StoreOp>(nested)) {
      written.insert(classes.of(store.getMemref()));
    } else if (auto copy = dyn_cast<memref::CopyOp>(nested)) {
      read.insert(classes.of(copy.getSource()));
      written.insert(classes.of(copy.getTarget()));
    }
  });
}

void loopc::collectMemory(Operation *op, const AliasClasses &classes,
                          DenseSet<const void *> &memory) {
  collectAccesses(op, classes, memory, memory);
}

namespace {
using Memory = DenseSet<const void *>;

struct Candidate {
  Operation *op;
  bool isSmall;
  /// One iteration (SingleIterationNests.h).
  bool isSingleIteration;
  Memory read, written;

  Memory memory() const {
    Memory all = read;
    all.insert_range(written);
    return all;
  }
};

class Chooser {
public:
  Chooser(const AliasClasses &classes, const GPUTarget &gpu)
      : classes(classes), gpu(gpu) {}

  void collect(Block &block);
  llvm::SetVector<Operation *> choose(func::FuncOp function);

private:
  bool isCandidate(Operation &op);
  void collectHostReads(Operation *op);
  bool isHosts(const Candidate &candidate) const;

  const AliasClasses &classes;
  GPUTarget gpu;
  SmallVector<Candidate> candidates;
  /// What the host looks at itself, and what that is computed of.
  Memory readByHost;
};
} // namespace

static bool touchesAny(const Memory &some, const Memory &others) {
  return llvm::any_of(some,
                      [&](const void *of) { return others.contains(of); });
}

bool Chooser::isCandidate(Operation &op) {
  if (!isa<scf::ForOp, scf::WhileOp>(op) || !hasSharedLoop(&op))
    return false;
  std::string why = findDeviceObstacle(&op, gpu.hasLibdevice);
  if (why.empty() && gpu.loops == DeviceLoops::Host && !isSharedLoop(&op))
    why = "--device-loops=host";
  if (!why.empty() && !isSingleIterationNest(&op))
    remarkMissed(op.getLoc(), "Kernel", "the host drives it: " + why);
  return why.empty();
}

/// What `op`, which is no kernel, does itself.
void Chooser::collectHostReads(Operation *op) {
  bool isNoRead = isViewOp(op) || isResultCast(op) ||
                  op->getNumRegions() != 0 ||
                  isa<memref::DimOp, memref::DeallocOp, memref::CopyOp,
                      arith::SelectOp, scf::YieldOp, scf::ConditionOp>(op);
  if (isNoRead)
    return;
  auto store = dyn_cast<memref::StoreOp>(op);
  for (Value operand : op->getOperands())
    if (isa<MemRefType>(operand.getType()) &&
        !(store && operand == store.getMemref()))
      readByHost.insert(classes.of(operand));
}

void Chooser::collect(Block &block) {
  for (Operation &op : block) {
    if (op.getNumRegions() != 0 && isCandidate(op)) {
      int64_t work = countWork(&op);
      Candidate candidate{&op,
                          work >= 0 && work <= gpu.minWork,
                          isSingleIterationNest(&op),
                          {},
                          {}};
      collectAccesses(&op, classes, candidate.read, candidate.written);
      candidates.push_back(std::move(candidate));
      continue;
    }
    collectHostReads(&op);
    for (Region &region : op.getRegions())
      for (Block &inner : region)
        collect(inner);
  }
}

/// Classes of inputs and constants, which the host may read wherever kernels
/// do: all that nothing writes.
static Memory collectWritten(func::FuncOp function,
                             const AliasClasses &classes) {
  Memory read, written;
  collectAccesses(function, classes, read, written);
  return written;
}

/// True for scalars that the host looks at, of what is not known to be much.
bool Chooser::isHosts(const Candidate &candidate) const {
  return candidate.isSingleIteration &&
         touchesAny(candidate.written, readByHost);
}

llvm::SetVector<Operation *> Chooser::choose(func::FuncOp function) {
  Memory everWritten = collectWritten(function, classes);
  llvm::SetVector<Operation *> chosen;
  Memory onDevice, written;
  auto add = [&](const Candidate &candidate) {
    chosen.insert(candidate.op);
    onDevice.insert_range(candidate.memory());
    written.insert_range(candidate.written);
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (const Candidate &candidate : candidates)
      if (candidate.isSmall && isHosts(candidate))
        for (const void *of : candidate.read)
          changed |= readByHost.insert(of).second;
  }
  for (Candidate &candidate : candidates) {
    candidate.isSmall |= isHosts(candidate) && countWork(candidate.op) < 0;
    if (!candidate.isSmall)
      add(candidate);
  }
  auto belongs = [&](const Candidate &candidate) {
    auto isThere = [&](const void *of) {
      return everWritten.contains(of) && onDevice.contains(of);
    };
    if (!candidate.isSingleIteration)
      return llvm::any_of(candidate.memory(), isThere);
    // The host has to wait for the one or for the other.
    return touchesAny(candidate.read, written) ||
           (!isHosts(candidate) && llvm::any_of(candidate.written, isThere));
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (const Candidate &candidate : candidates)
      if (!chosen.contains(candidate.op) && belongs(candidate)) {
        add(candidate);
        changed = true;
      }
  }
  // In the order of the code.
  llvm::SetVector<Operation *> ordered;
  for (const Candidate &candidate : candidates)
    if (chosen.contains(candidate.op))
      ordered.insert(candidate.op);
  return ordered;
}

/// The operations of `function` that become a kernel each: nests whose
/// iterations are independent, and loops around such nests of which nothing
/// needs the host. What takes at most `min_work` operations (#loopc.target)
/// stays on the host, unless it works on what kernels work on. Where the host
/// drives loops, no loop around nests is one.
static llvm::SetVector<Operation *> chooseKernels(func::FuncOp function,
                                                  const AliasClasses &classes) {
  Chooser chooser(classes, getGPUTarget(function));
  for (Block &block : function.getBody())
    chooser.collect(block);
  return chooser.choose(function);
}

/// Puts `loop` into a device.region in its place.
static void moveToRegion(Operation *loop) {
  ImplicitLocOpBuilder b(loop->getLoc(), loop);
  auto region = device::RegionOp::create(
      b, loop->getResultTypes(), /*kernel=*/SymbolRefAttr(),
      /*shape=*/device::ShapeAttr(), /*given=*/ValueRange(),
      /*grid=*/ValueRange());
  loop->replaceAllUsesWith(region->getResults());
  Block &body = region.getBody().emplaceBlock();
  loop->moveBefore(&body, body.end());
  b.setInsertionPointToEnd(&body);
  device::YieldOp::create(b, loop->getResults());
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct SelectKernels : loopc::impl::SelectKernelsBase<SelectKernels> {
  using SelectKernelsBase::SelectKernelsBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    AliasClasses classes(function);
    llvm::SetVector<Operation *> chosen = chooseKernels(function, classes);
    promoteSingleIterationNests(
        function, [&](Operation *op) { return chosen.contains(op); });
    for (Operation *loop : chosen) {
      ++(isSharedLoop(loop) ? numNests : numLoops);
      moveToRegion(loop);
    }
  }
};
} // namespace
