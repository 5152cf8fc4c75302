//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Dialect/Nest/Analysis/AliasClasses.h"
#include "loopc/Dialect/Device/IR/Device.h"
#include "loopc/Dialect/Nest/Analysis/Views.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace loopc;

AliasClasses::AliasClasses(Operation *op) {
  op->walk([&](Operation *nested) { add(nested); });
}

void AliasClasses::join(Value one, Value other) {
  if (isa<MemRefType>(one.getType()) && isa<MemRefType>(other.getType()))
    classes.unionSets(one.getAsOpaquePointer(), other.getAsOpaquePointer());
}

const void *AliasClasses::of(Value value) const {
  auto leader = classes.findLeader(value.getAsOpaquePointer());
  return leader == classes.member_end() ? value.getAsOpaquePointer() : *leader;
}

void AliasClasses::erase(Operation *op) {
  op->remove();
  op->dropAllReferences();
  erased.push_back(op);
}

AliasClasses::~AliasClasses() {
  for (Operation *op : erased)
    op->destroy();
}

void AliasClasses::joinAll(ValueRange some, ValueRange others) {
  for (auto [one, other] : llvm::zip_equal(some, others))
    join(one, other);
}

void AliasClasses::add(Operation *op) {
  if (isViewOp(op)) {
    join(op->getResult(0), getViewSource(op->getResult(0)));
  } else if (auto select = dyn_cast<arith::SelectOp>(op)) {
    join(select.getResult(), select.getTrueValue());
    join(select.getResult(), select.getFalseValue());
  } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
    joinAll(loop.getInitArgs(), loop.getRegionIterArgs());
    joinAll(loop.getInitArgs(), loop.getYieldedValues());
    joinAll(loop.getInitArgs(), loop.getResults());
  } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    joinAll(loop.getInits(), loop.getBeforeArguments());
    joinAll(loop.getYieldedValues(), loop.getBeforeArguments());
    joinAll(loop.getConditionOp().getArgs(), loop.getAfterArguments());
    joinAll(loop.getConditionOp().getArgs(), loop.getResults());
  } else if (isa<scf::IfOp, scf::IndexSwitchOp, device::RegionOp>(op)) {
    for (Region &region : op->getRegions())
      if (!region.empty() && region.front().mightHaveTerminator())
        joinAll(op->getResults(),
                region.front().getTerminator()->getOperands());
  } else if (auto buffer = dyn_cast<device::BufferOp>(op)) {
    for (Value source : buffer.getSources())
      join(buffer.getBuffer(), source);
  }
}
