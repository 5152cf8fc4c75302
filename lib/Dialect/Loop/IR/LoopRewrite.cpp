//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Dialect/Loop/IR/LoopRewrite.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace loopc::loop;

/// Those of `values` whose bit is set.
template <typename Range>
static auto select(Range &&values, const llvm::BitVector &bits) {
  SmallVector<std::decay_t<decltype(*values.begin())>> selected;
  for (auto [k, value] : llvm::enumerate(values))
    if (bits[k])
      selected.push_back(value);
  return selected;
}

LoopOp loopc::loop::rebuildLoop(RewriterBase &rewriter, LoopOp loop,
                                const KeptPorts &kept,
                                ArrayRef<Operation *> deadOps) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(loop);
  LoopSignature signature(loop);
  signature.inits = select(signature.inits, kept.carried);
  signature.slices = select(signature.slices, kept.slices);
  signature.collected = select(signature.collected, kept.collected);
  auto rebuilt = LoopOp::create(rewriter, loop.getLoc(), signature);

  YieldOp yield = loop.getYield();
  rewriter.modifyOpInPlace(yield, [&]() {
    auto carried = select(yield.getCarried(), kept.carried);
    auto collected = select(yield.getCollected(), kept.collected);
    yield.getCarriedMutable().assign(carried);
    yield.getCollectedMutable().assign(collected);
  });
  for (Operation *op : llvm::reverse(deadOps))
    rewriter.eraseOp(op);
  Block *body = loop.getLoopBody();
  llvm::BitVector goes(2, false);
  for (const llvm::BitVector *bits : {&kept.carried, &kept.slices})
    for (unsigned k = 0; k < bits->size(); ++k)
      goes.push_back(!bits->test(k));
  body->eraseArguments(goes);
  rewriter.eraseBlock(rebuilt.getLoopBody());
  rewriter.inlineRegionBefore(loop.getBody(), rebuilt.getBody(),
                              rebuilt.getBody().end());

  llvm::BitVector stays = kept.carried;
  for (unsigned k = 0; k < kept.collected.size(); ++k)
    stays.push_back(kept.collected[k]);
  for (auto [result, k] : llvm::zip(rebuilt.getResults(), stays.set_bits()))
    rewriter.replaceAllUsesWith(loop.getResult(k), result);
  rewriter.eraseOp(loop);
  return rebuilt;
}

Value loopc::loop::createIntegerConstant(OpBuilder &builder, Location loc,
                                         Type type, int64_t value) {
  Type element = type;
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (tensor) {
    if (!tensor.hasStaticShape())
      return {};
    element = tensor.getElementType();
  }
  if (!element.isSignlessIntOrIndex())
    return {};
  TypedAttr attr = builder.getIntegerAttr(element, value);
  if (tensor)
    attr = DenseElementsAttr::get(tensor, static_cast<Attribute>(attr));
  return arith::ConstantOp::create(builder, loc, attr);
}
