//===- Reductions.cpp - Sums that threads share ---------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Reductions.h"
#include "loopc/Codegen/GPU/Regions/DeviceCode.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace loopc;

/// Trips up to which a loop is not worth sharing out.
static constexpr int64_t kFewTrips = 16;

Value loopc::dealReduction(
    ImplicitLocOpBuilder &b, scf::ForOp loop, Value number, Value count,
    llvm::function_ref<Value(Value, gpu::AllReduceOperation)> putTogether) {
  Operation *combiner = findCombiner(loop);
  b.setInsertionPoint(loop);
  Value offset = arith::MulIOp::create(b, number, loop.getStep());
  Value first = arith::AddIOp::create(b, loop.getLowerBound(), offset);
  Value step = arith::MulIOp::create(b, count, loop.getStep());
  Value init = loop.getInitArgs().front();
  Value neutral =
      arith::ConstantOp::create(b, *arith::getNeutralElement(combiner));
  loop.getLowerBoundMutable().assign(first);
  loop.getStepMutable().assign(step);
  loop.getInitArgsMutable().assign(neutral);
  b.setInsertionPointAfter(loop);
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : loop.getResult(0).getUses())
    uses.push_back(&use);
  Value all = putTogether(loop.getResult(0), *getReduction(combiner));
  // The value that the loop began with counts once.
  Operation *whole = b.clone(*combiner);
  whole->setOperands({init, all});
  for (OpOperand *use : uses)
    use->set(whole->getResult(0));
  return whole->getResult(0);
}

Value loopc::reduceInBlock(ImplicitLocOpBuilder &b, Value part,
                           gpu::AllReduceOperation kind) {
  // Some may not have read what came out the last time, from the memory that
  // the others write now.
  gpu::BarrierOp::create(b);
  auto kindAttr = gpu::AllReduceOperationAttr::get(b.getContext(), kind);
  return gpu::AllReduceOp::create(b, part, kindAttr, /*uniform=*/true);
}

/// Deals the iterations of `loop` out to the threads of each block.
static void shareReduction(scf::ForOp loop) {
  std::optional<APInt> trips = loop.getStaticTripCount();
  if (trips && trips->sle(kFewTrips))
    return;
  ImplicitLocOpBuilder b(loop.getLoc(), loop);
  Value thread = gpu::ThreadIdOp::create(b, gpu::Dimension::x);
  Value threads = gpu::BlockDimOp::create(b, gpu::Dimension::x);
  dealReduction(b, loop, thread, threads,
                [&](Value part, gpu::AllReduceOperation kind) {
                  return reduceInBlock(b, part, kind);
                });
}

void loopc::shareReductions(Operation *kernel) {
  SmallVector<scf::ForOp> found;
  kernel->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isSharedLoop(op) || op->hasAttr(kTiledAttrName))
      return WalkResult::skip();
    auto loop = dyn_cast<scf::ForOp>(op);
    if (!loop || !findCombiner(loop))
      return WalkResult::advance();
    found.push_back(loop);
    return WalkResult::skip();
  });
  llvm::for_each(found, shareReduction);
}
