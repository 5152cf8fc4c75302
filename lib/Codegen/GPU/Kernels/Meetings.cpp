//===- Meetings.cpp - Where threads of a kernel wait ----------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Meetings.h"
#include "loopc/Dialect/Device/IR/Device.h"
#include "loopc/Dialect/Loop/IR/Loop.h"
#include "loopc/Dialect/Nest/Analysis/Views.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace loopc;
using device::Scope;

Meetings loopc::findMeetings(gpu::GPUFuncOp kernel) {
  Meetings meetings;
  kernel.walk([&](Operation *op) {
    Scope scope = device::getWaitScope(op);
    meetings.ofGrid |= scope == Scope::Grid;
    meetings.ofBlock |= scope == Scope::Block;
  });
  return meetings;
}

//===----------------------------------------------------------------------===//
// Divergence
//===----------------------------------------------------------------------===//

namespace {
/// What a value, or the way to an operation, differs by.
enum : unsigned {
  kNothing = 0,
  kThreads = 1, ///< threads of a block
  kBlocks = 2
};

/// A fixpoint that begins with nothing. What kernels load is taken to differ by
/// nothing but the place: barriers see to that.
class Divergence {
public:
  explicit Divergence(gpu::GPUFuncOp kernel) : kernel(kernel) {}

  LogicalResult verify();

private:
  void visit(Region &region, unsigned way);
  void visit(Operation &op, unsigned way);
  void visit(scf::ForOp loop, unsigned way);
  void visit(scf::WhileOp loop, unsigned way);
  void visitBranch(Operation *op, unsigned way);
  void visitOther(Operation *op, unsigned way);
  unsigned getOwn(Operation *op) const;
  void verifyWay(Operation *op, unsigned way);

  unsigned of(Value value) const;
  unsigned ofAll(ValueRange values) const {
    unsigned all = kNothing;
    for (Value value : values)
      all |= of(value);
    return all;
  }
  void add(Value value, unsigned by) {
    unsigned &known = differences[value];
    changed |= (by & ~known) != 0;
    known |= by;
  }
  void addAll(ValueRange values, ValueRange from, unsigned by) {
    for (auto [value, other] : llvm::zip_equal(values, from))
      add(value, by | of(other));
  }

  gpu::GPUFuncOp kernel;
  /// Of memory that a thread has to itself: what is stored there.
  DenseMap<Value, unsigned> differences;
  bool changed = false;
  /// The last time: what is known is final.
  bool isFinal = false;
  LogicalResult result = success();
};
} // namespace

unsigned Divergence::of(Value value) const {
  unsigned by = differences.lookup(value);
  auto buffer = dyn_cast<MemRefType>(value.getType());
  if (!buffer)
    return by;
  if (gpu::GPUDialect::hasWorkgroupMemoryAddressSpace(buffer))
    by |= kBlocks;
  return by | differences.lookup(getViewRoot(value));
}

void Divergence::visit(Region &region, unsigned way) {
  for (Block &block : region)
    for (Operation &op : block)
      visit(op, way);
}

void Divergence::visit(scf::ForOp loop, unsigned way) {
  unsigned first = ofAll({loop.getLowerBound(), loop.getStep()});
  way |= first | of(loop.getUpperBound());
  add(loop.getInductionVar(), first);
  addAll(loop.getRegionIterArgs(), loop.getInitArgs(), kNothing);
  visit(loop.getRegion(), way);
  addAll(loop.getRegionIterArgs(), loop.getYieldedValues(), kNothing);
  addAll(loop.getResults(), loop.getRegionIterArgs(), way);
}

void Divergence::visit(scf::WhileOp loop, unsigned way) {
  scf::ConditionOp condition = loop.getConditionOp();
  way |= of(condition.getCondition());
  addAll(loop.getBeforeArguments(), loop.getInits(), kNothing);
  visit(loop.getBefore(), way);
  addAll(loop.getAfterArguments(), condition.getArgs(), kNothing);
  visit(loop.getAfter(), way);
  addAll(loop.getBeforeArguments(), loop.getYieldOp().getResults(), kNothing);
  addAll(loop.getResults(), condition.getArgs(), way);
}

/// What chooses one of its regions by its operands.
void Divergence::visitBranch(Operation *op, unsigned way) {
  unsigned chosen = ofAll(op->getOperands());
  for (Region &region : op->getRegions()) {
    visit(region, way | chosen);
    if (op->getNumResults() != 0)
      addAll(op->getResults(), region.front().getTerminator()->getOperands(),
             chosen);
  }
}

/// What results differ by, whatever the operands.
unsigned Divergence::getOwn(Operation *op) const {
  if (isa<gpu::ThreadIdOp, gpu::LaneIdOp, gpu::SubgroupIdOp, gpu::ShuffleOp,
          gpu::SubgroupReduceOp>(op))
    return kThreads;
  if (isa<gpu::BlockIdOp>(op))
    return kBlocks;
  bool isKnown = op->getNumRegions() == 0 &&
                 !isa<NVVM::NVVMDialect>(op->getDialect()) &&
                 (isa<memref::AllocaOp>(op) || isMemoryEffectFree(op) ||
                  hasSingleEffect<MemoryEffects::Read>(op));
  return isKnown ? kNothing : kThreads | kBlocks;
}

void Divergence::visitOther(Operation *op, unsigned way) {
  unsigned by = ofAll(op->getOperands());
  // All of a block get the same.
  if (isa<gpu::AllReduceOp>(op))
    by &= ~kThreads;
  else
    by |= getOwn(op);
  for (Value value : op->getResults())
    add(value, by);
  for (Region &region : op->getRegions())
    visit(region, kThreads | kBlocks);
  // What a thread leaves in its own memory it finds there.
  if (auto store = dyn_cast<memref::StoreOp>(op))
    if (Value root = getViewRoot(store.getMemref());
        root.getDefiningOp<memref::AllocaOp>())
      add(root, way | ofAll(op->getOperands()));
}

void Divergence::verifyWay(Operation *op, unsigned way) {
  Scope scope = device::getWaitScope(op);
  unsigned forbidden = scope == Scope::Grid    ? kThreads | kBlocks
                       : scope == Scope::Block ? kThreads
                                               : kNothing;
  if ((way & forbidden) != 0)
    result = op->emitOpError("is not reached by all threads that wait for one "
                             "another there");
  if (op->getParentOfType<device::PartOp>())
    return;
  if (isa<loop::PollOp>(op))
    result = op->emitOpError("is in no 'device.part', where a thread may leave "
                             "alone");
  if (auto check = dyn_cast<loop::CheckOp>(op);
      check && (way | of(check.getCondition())) != kNothing)
    result = op->emitOpError("may fail for some threads only, and is in no "
                             "'device.part'");
}

void Divergence::visit(Operation &op, unsigned way) {
  if (isFinal)
    verifyWay(&op, way);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    visit(loop, way);
  else if (auto loop = dyn_cast<scf::WhileOp>(op))
    visit(loop, way);
  else if (isa<scf::IfOp, scf::IndexSwitchOp>(op))
    visitBranch(&op, way);
  else if (auto part = dyn_cast<device::PartOp>(op))
    visit(part.getBody(), way);
  else
    visitOther(&op, way);
}

LogicalResult Divergence::verify() {
  do {
    changed = false;
    visit(kernel.getBody(), kNothing);
  } while (changed);
  isFinal = true;
  visit(kernel.getBody(), kNothing);
  return result;
}

LogicalResult loopc::verifyMeetings(gpu::GPUFuncOp kernel) {
  return Divergence(kernel).verify();
}
