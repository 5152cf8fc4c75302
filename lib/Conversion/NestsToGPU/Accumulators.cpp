//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Accumulators.h"
#include "DeviceCode.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace loopc;

//===----------------------------------------------------------------------===//
// In registers
//===----------------------------------------------------------------------===//

/// True where `load` and `store` are of one place.
static bool isSamePlace(memref::LoadOp load, memref::StoreOp store) {
  return load.getMemref() == store.getMemref() &&
         llvm::equal(load.getIndices(), store.getIndices());
}

/// The loads of the place that `store` writes in each iteration of `loop`;
/// nothing where the place is another one in each, or something else in the
/// loop may touch that memory.
static std::optional<SmallVector<memref::LoadOp>>
findLoads(scf::ForOp loop, memref::StoreOp store, const AliasClasses &classes) {
  auto isOutside = [&](Value value) {
    return loop.isDefinedOutsideOfLoop(value);
  };
  if (!isOutside(store.getMemref()) ||
      !llvm::all_of(store.getIndices(), isOutside))
    return std::nullopt;
  SmallVector<memref::LoadOp> loads;
  const void *memory = classes.of(store.getMemref());
  bool isOnly =
      !loop.getBody()
           ->walk([&](Operation *op) {
             if (op == store)
               return WalkResult::advance();
             auto load = dyn_cast<memref::LoadOp>(op);
             if (load && op->getBlock() == loop.getBody() &&
                 isSamePlace(load, store) && load->isBeforeInBlock(store)) {
               loads.push_back(load);
               return WalkResult::advance();
             }
             if (!isa<memref::LoadOp, memref::StoreOp, memref::CopyOp>(op))
               return WalkResult::advance();
             bool touches = llvm::any_of(op->getOperands(), [&](Value operand) {
               return isa<MemRefType>(operand.getType()) &&
                      classes.of(operand) == memory;
             });
             return touches ? WalkResult::interrupt() : WalkResult::advance();
           })
           .wasInterrupted();
  if (!isOnly || loads.empty())
    return std::nullopt;
  return loads;
}

/// Makes one element that `loop` reads and writes a value that it carries.
static bool promoteOne(scf::ForOp &loop, const AliasClasses &classes) {
  for (Operation &op : loop.getBody()->without_terminator()) {
    auto store = dyn_cast<memref::StoreOp>(op);
    if (!store)
      continue;
    auto loads = findLoads(loop, store, classes);
    if (!loads)
      continue;
    IRRewriter rewriter(loop.getContext());
    rewriter.setInsertionPoint(loop);
    Value init = memref::LoadOp::create(rewriter, loop.getLoc(),
                                        store.getMemref(), store.getIndices());
    Value last = store.getValue(), buffer = store.getMemref();
    SmallVector<Value> place(store.getIndices());
    auto grown = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
        rewriter, init, /*replaceInitOperandUsesInLoop=*/false,
        [&](OpBuilder &, Location, ArrayRef<BlockArgument>) {
          return SmallVector<Value>{last};
        }));
    for (memref::LoadOp load : *loads)
      rewriter.replaceOp(load, grown.getRegionIterArgs().back());
    rewriter.setInsertionPointAfter(grown);
    memref::StoreOp::create(rewriter, grown.getLoc(), grown.getResults().back(),
                            buffer, place);
    rewriter.eraseOp(store);
    loop = grown;
    return true;
  }
  return false;
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
    while (promoteOne(loop, classes))
      ;
}

//===----------------------------------------------------------------------===//
// Shared out
//===----------------------------------------------------------------------===//

/// Trips up to which a loop is not worth sharing out.
static constexpr int64_t kFewTrips = 16;

static void shareReduction(scf::ForOp loop, Operation *combiner) {
  std::optional<APInt> trips = loop.getStaticTripCount();
  if (trips && trips->sle(kFewTrips))
    return;
  ImplicitLocOpBuilder b(loop.getLoc(), loop);
  Value thread = gpu::ThreadIdOp::create(b, gpu::Dimension::x);
  Value threads = gpu::BlockDimOp::create(b, gpu::Dimension::x);
  Value first = arith::AddIOp::create(
      b, loop.getLowerBound(),
      arith::MulIOp::create(b, thread, loop.getStep()));
  Value step = arith::MulIOp::create(b, threads, loop.getStep());
  Value init = loop.getInitArgs().front();
  Value neutral = arith::ConstantOp::create(
      b, *arith::getNeutralElement(combiner));
  loop.getLowerBoundMutable().assign(first);
  loop.getStepMutable().assign(step);
  loop.getInitArgsMutable().assign(neutral);
  b.setInsertionPointAfter(loop);
  auto all = gpu::AllReduceOp::create(
      b, loop.getResult(0),
      gpu::AllReduceOperationAttr::get(b.getContext(), *getReduction(combiner)),
      /*uniform=*/true);
  // The value that the loop began with counts once.
  Operation *whole = b.clone(*combiner);
  whole->setOperands({init, all.getResult()});
  loop.getResult(0).replaceAllUsesExcept(whole->getResult(0), all);
}

void loopc::shareReductions(Operation *kernel) {
  SmallVector<std::pair<scf::ForOp, Operation *>> found;
  kernel->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isSharedLoop(op))
      return WalkResult::skip();
    if (auto loop = dyn_cast<scf::ForOp>(op))
      if (Operation *combiner = findCombiner(loop)) {
        found.emplace_back(loop, combiner);
        return WalkResult::skip();
      }
    return WalkResult::advance();
  });
  for (auto [loop, combiner] : found)
    shareReduction(loop, combiner);
}
