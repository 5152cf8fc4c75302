//===- WidenFactors.cpp - Factors of a sum of products keep f32 -----------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// tensor-widen-factors: what is computed in f32, rounded to f16 or bf16 and
// then only multiplied and summed in f32 is not rounded in between (the weights
// of attention, between Softmax and MatMul).
//
// Only where the one reader is a sum of products: a value that is compared, or
// read twice, must be the same for all its readers. A rounding that the model
// asked for by Cast stays: those that belong to arithmetic are marked as
// loopc.may_skip.

#include "loopc/Dialect/Loopc/IR/Loopc.h"
#include "loopc/Tensor/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace loopc {
#define GEN_PASS_DEF_TENSORWIDENFACTORS
#include "loopc/Tensor/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

/// The f32 value that `value` is the rounding of, made at `b`; null where it is
/// not only that. `known` has those of the selects that were looked at: a value
/// may be in several.
static Value unrounded(OpBuilder &b, Value value,
                       llvm::DenseMap<Value, Value> &known) {
  Operation *op = value.getDefiningOp();
  Type f32 = b.getF32Type();
  if (auto cut = dyn_cast_or_null<arith::TruncFOp>(op)) {
    bool maySkip =
        cut.getIn().getType() == f32 && cut->hasAttr(kMaySkipAttrName);
    return maySkip ? cut.getIn() : Value();
  }
  FloatAttr number;
  if (matchPattern(value, m_Constant(&number)))
    return arith::ConstantOp::create(
        b, value.getLoc(), b.getF32FloatAttr(number.getValueAsDouble()));
  if (auto select = dyn_cast_or_null<arith::SelectOp>(op)) {
    if (auto found = known.find(value); found != known.end())
      return found->second;
    Value yes = unrounded(b, select.getTrueValue(), known);
    Value no = yes ? unrounded(b, select.getFalseValue(), known) : Value();
    Value made;
    if (no)
      made = arith::SelectOp::create(b, value.getLoc(), select.getCondition(),
                                     yes, no);
    known[value] = made;
    return made;
  }
  return {};
}

/// True if `arg`, an element of a factor, is only widened and multiplied.
static bool isOnlyMultiplied(BlockArgument arg) {
  return !arg.use_empty() && llvm::all_of(arg.getUsers(), [](Operation *user) {
    return isa<arith::ExtFOp>(user) && user->getResult(0).getType().isF32() &&
           llvm::all_of(user->getUsers(), llvm::IsaPred<arith::MulFOp>);
  });
}

/// The operand of a sum of products that is the one reader of `result`.
static OpOperand *readingFactor(OpResult result) {
  if (!result.hasOneUse())
    return nullptr;
  OpOperand &use = *result.use_begin();
  auto sum = dyn_cast<linalg::GenericOp>(use.getOwner());
  if (!sum || sum.getNumReductionLoops() == 0 || !sum.isDpsInput(&use) ||
      !isOnlyMultiplied(sum.getMatchingBlockArgument(&use)))
    return nullptr;
  return &use;
}

/// Makes result `k` of `producer` one of f32 elements; false where it cannot.
static bool widen(IRRewriter &rewriter, linalg::GenericOp producer,
                  unsigned k) {
  OpOperand &init = producer.getDpsInitsMutable()[k];
  auto empty = init.get().getDefiningOp<tensor::EmptyOp>();
  OpOperand *factor = readingFactor(cast<OpResult>(producer->getResult(k)));
  if (!empty || !factor || producer.payloadUsesValueFromOperand(&init))
    return false;
  Operation *yield = producer.getBody()->getTerminator();
  rewriter.setInsertionPoint(yield);
  llvm::DenseMap<Value, Value> known;
  Value wide = unrounded(rewriter, yield->getOperand(k), known);
  if (!wide)
    return false;
  yield->setOperand(k, wide);
  Type f32 = rewriter.getF32Type();
  rewriter.setInsertionPoint(producer);
  init.set(tensor::EmptyOp::create(rewriter, producer.getLoc(),
                                   empty.getMixedSizes(), f32));
  producer.getMatchingBlockArgument(&init).setType(f32);
  producer->getResult(k).setType(init.get().getType());
  auto sum = cast<linalg::GenericOp>(factor->getOwner());
  BlockArgument element = sum.getMatchingBlockArgument(factor);
  element.setType(f32);
  for (Operation *user : llvm::make_early_inc_range(element.getUsers()))
    rewriter.replaceOp(user, element);
  return true;
}

namespace {
struct TensorWidenFactors
    : loopc::impl::TensorWidenFactorsBase<TensorWidenFactors> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    getOperation().walk([&](linalg::GenericOp op) {
      if (!op.hasPureTensorSemantics())
        return;
      for (auto [k, type] : llvm::enumerate(op->getResultTypes())) {
        Type element = getElementTypeOrSelf(type);
        if ((element.isF16() || element.isBF16()) && widen(rewriter, op, k))
          ++numWidened;
      }
    });
  }
};
} // namespace
