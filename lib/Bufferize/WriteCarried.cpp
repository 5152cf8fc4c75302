//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// buffer-write-carried: what an iteration computes, hands to the next one and
// stores in a row of what is collected is written to both places, instead of to
// the row, and from there to the buffer of what is carried.

#include "loopc/Bufferize/Passes.h"
#include "loopc/Dialect/Loop/IR/Loop.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

namespace loopc {
#define GEN_PASS_DEF_BUFFERWRITECARRIED
#include "loopc/Bufferize/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

namespace {
struct BufferWriteCarried
    : loopc::impl::BufferWriteCarriedBase<BufferWriteCarried> {
  void runOnOperation() override;
};
} // namespace

/// True if `value` is stored in a row of what `yield` ends an iteration of
/// collects.
static bool isCollected(Value value, loop::YieldOp yield) {
  return llvm::is_contained(yield.getCollected(), value) ||
         llvm::any_of(value.getUsers(), [&](Operation *user) {
           auto row = dyn_cast<tensor::InsertSliceOp>(user);
           return row && row.getSource() == value &&
                  llvm::is_contained(yield.getCarried(), row.getResult());
         });
}

/// True for what is computed element by element and not from sums, which
/// another pass computes at one go with what follows.
static bool isComputedByElements(linalg::GenericOp op) {
  if (op.getNumReductionLoops() > 0)
    return false;
  for (OpOperand &init : op.getDpsInitsMutable())
    if (!op.getMatchingIndexingMap(&init).isIdentity() ||
        op.payloadUsesValueFromOperand(&init))
      return false;
  return llvm::none_of(op.getDpsInputs(), [](Value input) {
    auto maker = input.getDefiningOp<linalg::LinalgOp>();
    return maker && maker.getNumReductionLoops() > 0;
  });
}

/// `op` with result `number` once more, as its last one.
static linalg::GenericOp addResult(RewriterBase &rewriter, linalg::GenericOp op,
                                   unsigned number) {
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  OpOperand &init = *op.getDpsInitOperand(number);
  SmallVector<Value> outputs(op.getOutputs());
  outputs.push_back(tensor::EmptyOp::create(
      rewriter, loc, tensor::getMixedSizes(rewriter, loc, init.get()),
      getElementTypeOrSelf(init.get().getType())));
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  maps.push_back(op.getMatchingIndexingMap(&init));
  auto made = linalg::GenericOp::create(
      rewriter, loc, ValueRange(outputs).getTypes(), op.getInputs(), outputs,
      maps, op.getIteratorTypesArray());
  made->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  rewriter.inlineRegionBefore(op.getRegion(), made.getRegion(),
                              made.getRegion().end());
  made.getBody()->addArgument(getElementTypeOrSelf(init.get().getType()), loc);
  Operation *yield = made.getBody()->getTerminator();
  rewriter.modifyOpInPlace(yield, [&] {
    yield->insertOperands(yield->getNumOperands(), yield->getOperand(number));
  });
  rewriter.replaceOp(op, made.getResults().drop_back());
  return made;
}

void BufferWriteCarried::runOnOperation() {
  IRRewriter rewriter(&getContext());
  getOperation().walk([&](loop::YieldOp yield) {
    for (OpOperand &next : yield.getCarriedMutable()) {
      auto op = next.get().getDefiningOp<linalg::GenericOp>();
      if (!op || op->getBlock() != yield->getBlock() ||
          !isComputedByElements(op) || !isCollected(next.get(), yield))
        continue;
      unsigned number = cast<OpResult>(next.get()).getResultNumber();
      linalg::GenericOp made = addResult(rewriter, op, number);
      rewriter.modifyOpInPlace(yield,
                               [&] { next.set(made.getResults().back()); });
      ++numWritten;
    }
  });
}
