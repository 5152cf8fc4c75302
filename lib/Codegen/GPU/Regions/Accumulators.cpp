//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Codegen/GPU/Regions/Accumulators.h"
#include "loopc/Codegen/GPU/Regions/DeviceCode.h"
#include "loopc/Codegen/GPU/Regions/Passes.h"
#include "loopc/Dialect/Device/IR/Device.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace loopc {
#define GEN_PASS_DEF_PROMOTEACCUMULATORS
#include "loopc/Codegen/GPU/Regions/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

/// Where `op` reads or writes; null where it does neither.
static std::pair<Value, ValueRange> getPlace(Operation *op) {
  if (auto load = dyn_cast<memref::LoadOp>(op))
    return {load.getMemref(), load.getIndices()};
  if (auto store = dyn_cast<memref::StoreOp>(op))
    return {store.getMemref(), store.getIndices()};
  return {};
}

/// All that `loop` does, in order, with the element that `store` writes;
/// nothing where that is another one in each iteration, or something else in
/// the loop may touch that memory.
static SmallVector<Operation *> findUses(scf::ForOp loop, memref::StoreOp store,
                                         const AliasClasses &classes) {
  auto isOutside = [&](Value value) {
    return loop.isDefinedOutsideOfLoop(value);
  };
  if (!isOutside(store.getMemref()) ||
      !llvm::all_of(store.getIndices(), isOutside))
    return {};
  SmallVector<Operation *> uses;
  const void *memory = classes.of(store.getMemref());
  WalkResult result = loop.getBody()->walk([&](Operation *op) {
    // What only hands a buffer on is in its class with what it hands it to.
    if (isMemoryEffectFree(op) || op->getNumRegions() != 0 ||
        op->hasTrait<OpTrait::IsTerminator>())
      return WalkResult::advance();
    auto [buffer, place] = getPlace(op);
    if (op->getBlock() == loop.getBody() && buffer == store.getMemref() &&
        llvm::equal(place, store.getIndices())) {
      uses.push_back(op);
      return WalkResult::advance();
    }
    bool touches = llvm::any_of(op->getOperands(), [&](Value operand) {
      return isa<MemRefType>(operand.getType()) &&
             classes.of(operand) == memory;
    });
    return touches ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (result.wasInterrupted())
    return {};
  return uses;
}

/// Makes one element that `loop` writes a value that it carries.
static bool promoteOne(scf::ForOp &loop, const AliasClasses &classes) {
  for (auto store : loop.getBody()->getOps<memref::StoreOp>()) {
    SmallVector<Operation *> uses = findUses(loop, store, classes);
    if (uses.empty())
      continue;
    IRRewriter rewriter(loop.getContext());
    rewriter.setInsertionPoint(loop);
    Value buffer = store.getMemref();
    SmallVector<Value> place(store.getIndices());
    Value init = memref::LoadOp::create(rewriter, loop.getLoc(), buffer, place);
    auto last =
        llvm::find_if(llvm::reverse(uses), llvm::IsaPred<memref::StoreOp>);
    Value written = cast<memref::StoreOp>(*last).getValue();
    auto grown = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
        rewriter, init, /*replaceInitOperandUsesInLoop=*/false,
        [&](OpBuilder &, Location, ArrayRef<BlockArgument>) {
          return SmallVector<Value>{written};
        }));
    Value current = grown.getRegionIterArgs().back();
    for (Operation *use : uses) {
      if (auto load = dyn_cast<memref::LoadOp>(use)) {
        rewriter.replaceOp(load, current);
        continue;
      }
      current = cast<memref::StoreOp>(use).getValue();
      rewriter.eraseOp(use);
    }
    rewriter.setInsertionPointAfter(grown);
    memref::StoreOp::create(rewriter, grown.getLoc(), grown.getResults().back(),
                            buffer, place);
    loop = grown;
    return true;
  }
  return false;
}

scf::ForOp loopc::promoteAccumulatorsOf(scf::ForOp loop,
                                        const AliasClasses &classes) {
  while (promoteOne(loop, classes))
    ;
  return loop;
}

void loopc::promoteAccumulators(Operation *op, const AliasClasses &classes) {
  SmallVector<scf::ForOp> loops;
  op->walk([&](scf::ForOp loop) {
    // A loop is made anew, and the classes know no values of the new one.
    if (loop != op && !isSharedLoop(loop) &&
        llvm::none_of(loop.getResultTypes(), llvm::IsaPred<MemRefType>))
      loops.push_back(loop);
  });
  for (scf::ForOp loop : loops)
    promoteAccumulatorsOf(loop, classes);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct PromoteAccumulators
    : loopc::impl::PromoteAccumulatorsBase<PromoteAccumulators> {
  using PromoteAccumulatorsBase::PromoteAccumulatorsBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    AliasClasses classes(function);
    function.walk([&](device::RegionOp region) {
      promoteAccumulators(region.getLoop(), classes);
    });
  }
};
} // namespace
