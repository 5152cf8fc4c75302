//===- EliminateEmpty.cpp - What is inserted is computed in its place -----===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// loopc-eliminate-empty-tensors: what is inserted into a result is computed
// where it goes, in the part of the result that MLIR's pass extracts in front
// of the computation. The numbers of such a part may lie outside of the result
// until a check (`loop.check`) between the computation and the insertion has
// asked for them. So checks are moved up first, and the part is not taken in
// front of a check that is left there and asks for something that the part or
// the result is made of.

#include "Bufferize.h"

#include "loopc/Bufferize/InPlaceAnalysis.h"
#include "loopc/Bufferize/Passes.h"
#include "loopc/Dialect/Loop/IR/Loop.h"
#include "loopc/Dialect/Loop/Transforms/Utils.h"
#include "loopc/Support/Walk.h"

#include "mlir/Dialect/Bufferization/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

namespace loopc {
#define GEN_PASS_DEF_BUFFERIZEELIMINATEEMPTY
#include "loopc/Bufferize/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace mlir::bufferization;

/// Moves `check` in front of operations that nobody sees run.
static void raise(loopc::loop::CheckOp check) {
  Operation *before = check;
  auto definesOperand = [&](Operation *op) {
    return llvm::any_of(check->getOperands(), [&](Value operand) {
      return operand.getDefiningOp() == op;
    });
  };
  while (Operation *op = before->getPrevNode()) {
    if (!isMemoryEffectFree(op) || definesOperand(op))
      break;
    before = op;
  }
  if (before != check)
    check->moveBefore(before);
}

/// A number, the extents of a tensor, or its elements.
enum OriginKind : unsigned { Number, Extents, Elements };
using Origin = std::pair<Value, unsigned>;
using Origins = llvm::SetVector<Origin>;

static Origin originOf(Value value) {
  return {value, isa<TensorType>(value.getType()) ? Extents : Number};
}

/// Adds what `value`, a number or a tensor with its extents, is made of.
static void addOrigins(Value value, Origins &all) {
  auto add = [&](Value other) {
    if (!getConstantIntValue(other))
      all.insert(originOf(other));
  };
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop =
        dyn_cast<LoopLikeOpInterface>(argument.getOwner()->getParentOp());
    if (OpOperand *init = loop ? loop.getTiedLoopInit(argument) : nullptr)
      add(init->get());
    return;
  }
  Operation *op = value.getDefiningOp();
  if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    all.insert(Origin(extract.getTensor(), Elements));
    llvm::for_each(extract.getIndices(), add);
  } else if (auto made = dyn_cast<DestinationStyleOpInterface>(op)) {
    if (OpOperand *init = made.getTiedOpOperand(cast<OpResult>(value)))
      add(init->get());
  } else if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) {
    add(insert.getDest());
  } else if (auto loop = dyn_cast<LoopLikeOpInterface>(op)) {
    if (OpOperand *init = loop.getTiedLoopInit(cast<OpResult>(value)))
      add(init->get());
  } else if (op->getNumRegions() == 0) {
    llvm::for_each(op->getOperands(), add);
  }
}

/// `values`, and what these numbers, and the extents of these tensors, are
/// computed of.
static Origins findOrigins(ValueRange values) {
  Origins all;
  for (Value value : values)
    if (!getConstantIntValue(value))
      all.insert(originOf(value));
  for (size_t k = 0; k < all.size(); ++k)
    if (all[k].second != Elements)
      addOrigins(all[k].first, all);
  return all;
}

/// True if a check that stands between `first`, or what it is in, and
/// `insertion` may be what holds the part to the result: if it asks for
/// something that the part or the result is made of.
static bool isHeldBetween(Operation *first,
                          SubsetInsertionOpInterface insertion) {
  std::optional<Origins> ofPart;
  auto isAbout = [&](Value condition) {
    if (!ofPart) {
      SmallVector<Value> numbers(insertion->getOperands());
      llvm::erase(numbers, insertion.getSourceOperand().get());
      ofPart = findOrigins(numbers);
    }
    return llvm::any_of(findOrigins(condition), [&](const Origin &origin) {
      return ofPart->contains(origin);
    });
  };
  auto isHolding = [&](Operation *op) {
    return loopc::anyNested(op, [&](loopc::loop::CheckOp check) {
      return isAbout(check.getCondition());
    });
  };
  for (Operation *op = insertion;; op = op->getParentOp()) {
    Operation *begin = op->getBlock()->findAncestorOpInBlock(*first);
    for (Operation *at = op->getPrevNode(); at && at != begin;
         at = at->getPrevNode())
      if (isHolding(at))
        return true;
    if (begin)
      return false;
  }
}

/// The part of its result that `insertion` writes, for `user` to compute there
/// what is inserted: not in front of a check that holds the part to the result.
static Value takePart(RewriterBase &rewriter,
                      SubsetInsertionOpInterface insertion,
                      tensor::EmptyOp empty, Operation *user) {
  if (!loopc::loop::needsNoCheck(insertion) && isHeldBetween(user, insertion))
    return {};
  return buildSubsetExtraction(rewriter, insertion, empty, user);
}

namespace {
struct EliminateEmptyPass
    : loopc::impl::BufferizeEliminateEmptyBase<EliminateEmptyPass> {
  void runOnOperation() override {
    OneShotBufferizationOptions options = loopc::getBufferizationOptions();
    // loopc-bufferize says which it is.
    if (loopc::findUncompiled(getOperation()))
      return;
    loopc::InPlaceState state(getOperation(), options);
    IRRewriter rewriter(&getContext());
    getOperation().walk(raise);
    if (failed(loopc::analyzeInPlace(getOperation(), state)) ||
        failed(
            eliminateEmptyTensors(rewriter, getOperation(), state, takePart)))
      signalPassFailure();
  }
};
} // namespace
