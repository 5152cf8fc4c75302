//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelRegions.h"
#include "DeviceCode.h"
#include "loopc/Dialect/Loop/IR/Loop.h"
#include "loopc/Support/Remarks.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace loopc;

void loopc::collectMemory(Operation *op, const AliasClasses &classes,
                          DenseSet<const void *> &memory) {
  op->walk([&](Operation *nested) {
    if (isa<memref::LoadOp, memref::StoreOp, memref::CopyOp>(nested))
      for (Value operand : nested->getOperands())
        if (isa<MemRefType>(operand.getType()))
          memory.insert(classes.of(operand));
  });
}

namespace {
struct Candidate {
  Operation *op;
  bool isSmall;
};

class Chooser {
public:
  Chooser(const AliasClasses &classes, int64_t minWork, bool hasLibdevice,
          bool hostDrivesLoops)
      : classes(classes), minWork(minWork), hasLibdevice(hasLibdevice),
        hostDrivesLoops(hostDrivesLoops) {}

  void collect(Block &block);
  llvm::SetVector<Operation *> choose(func::FuncOp function);

private:
  bool isCandidate(Operation &op);

  const AliasClasses &classes;
  int64_t minWork;
  bool hasLibdevice;
  bool hostDrivesLoops;
  SmallVector<Candidate> candidates;
};
} // namespace

bool Chooser::isCandidate(Operation &op) {
  if (!isa<scf::ForOp, scf::WhileOp>(op) || !hasSharedLoop(&op))
    return false;
  std::string why = findDeviceObstacle(&op, hasLibdevice);
  if (why.empty() && hostDrivesLoops && !isSharedLoop(&op))
    why = "--device-loops=host";
  if (!why.empty())
    remarkMissed(op.getLoc(), "Kernel", "the host drives it: " + why);
  return why.empty();
}

void Chooser::collect(Block &block) {
  for (Operation &op : block) {
    if (op.getNumRegions() == 0)
      continue;
    if (isCandidate(op)) {
      int64_t work = countWork(&op);
      candidates.push_back({&op, work >= 0 && work <= minWork});
      continue;
    }
    for (Region &region : op.getRegions())
      for (Block &inner : region)
        collect(inner);
  }
}

/// Classes of inputs and constants, which the host may read wherever kernels
/// do: all that nothing writes.
static DenseSet<const void *> collectWritten(func::FuncOp function,
                                             const AliasClasses &classes) {
  DenseSet<const void *> written;
  function.walk([&](Operation *op) {
    if (auto store = dyn_cast<memref::StoreOp>(op))
      written.insert(classes.of(store.getMemref()));
    else if (auto copy = dyn_cast<memref::CopyOp>(op))
      written.insert(classes.of(copy.getTarget()));
  });
  return written;
}

llvm::SetVector<Operation *> Chooser::choose(func::FuncOp function) {
  DenseSet<const void *> written = collectWritten(function, classes);
  llvm::SetVector<Operation *> chosen;
  DenseSet<const void *> onDevice;
  auto add = [&](const Candidate &candidate) {
    chosen.insert(candidate.op);
    collectMemory(candidate.op, classes, onDevice);
  };
  for (const Candidate &candidate : candidates)
    if (!candidate.isSmall)
      add(candidate);
  for (bool changed = true; changed;) {
    changed = false;
    for (const Candidate &candidate : candidates) {
      if (chosen.contains(candidate.op))
        continue;
      DenseSet<const void *> memory;
      collectMemory(candidate.op, classes, memory);
      changed |= llvm::any_of(memory, [&](const void *of) {
        return written.contains(of) && onDevice.contains(of);
      });
      if (changed) {
        add(candidate);
        break;
      }
    }
  }
  // In the order of the code.
  llvm::SetVector<Operation *> ordered;
  for (const Candidate &candidate : candidates)
    if (chosen.contains(candidate.op))
      ordered.insert(candidate.op);
  return ordered;
}

llvm::SetVector<Operation *>
loopc::chooseKernels(func::FuncOp function, const AliasClasses &classes,
                     int64_t minWork, bool hasLibdevice, bool hostDrivesLoops) {
  Chooser chooser(classes, minWork, hasLibdevice, hostDrivesLoops);
  for (Block &block : function.getBody())
    chooser.collect(block);
  return chooser.choose(function);
}
