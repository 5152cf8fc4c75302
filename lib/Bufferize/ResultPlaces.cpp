//===- ResultPlaces.cpp - Results that are put together -------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ResultPlaces.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"

using namespace mlir;

namespace {
/// A result of `maker` that `insertion` puts in its place.
struct PlacedResult {
  tensor::InsertSliceOp insertion;
  linalg::GenericOp maker;
  unsigned number;
};

/// Insertions behind one another, of which the first is into an empty tensor.
class Chain {
public:
  Chain(tensor::EmptyOp empty, tensor::InsertSliceOp first)
      : empty(empty), first(first) {}

  void follow();
  void place();

private:
  void placeResultsOf(linalg::GenericOp maker);

  tensor::EmptyOp empty;
  tensor::InsertSliceOp first;
  SmallVector<PlacedResult> results;
};
} // namespace

/// What `value` is without axes of one element that were put into it.
static Value withoutUnitAxes(Value value) {
  auto expand = value.getDefiningOp<tensor::ExpandShapeOp>();
  if (!expand || !expand->hasOneUse())
    return value;
  return isRankReducedType(expand.getResultType(), expand.getSrcType()) ==
                 SliceVerificationResult::Success
             ? Value(expand.getSrc())
             : value;
}

/// True if results may be computed where `init` is: nothing is read of it, but
/// for one number.
static bool isPlace(Value init) {
  if (auto fill = init.getDefiningOp<linalg::FillOp>())
    init = fill.getOutputs()[0];
  return init.getDefiningOp<tensor::EmptyOp>() != nullptr;
}

void Chain::follow() {
  for (tensor::InsertSliceOp next = first; next;) {
    auto result = dyn_cast<OpResult>(withoutUnitAxes(next.getSource()));
    auto maker = result ? dyn_cast<linalg::GenericOp>(result.getOwner())
                        : linalg::GenericOp();
    if (maker && result.hasOneUse() && maker->getBlock() == next->getBlock() &&
        isPlace(maker.getDpsInits()[result.getResultNumber()]))
      results.push_back({next, maker, result.getResultNumber()});
    if (!next->hasOneUse())
      break;
    OpOperand &use = *next->use_begin();
    next = dyn_cast<tensor::InsertSliceOp>(use.getOwner());
    if (next &&
        (use.get() != next.getDest() || next->getBlock() != first->getBlock()))
      break;
  }
}

/// Gives results of `maker` places in the tensor that they are inserted into.
void Chain::placeResultsOf(linalg::GenericOp maker) {
  OpBuilder b(maker);
  for (PlacedResult &result : results) {
    if (result.maker != maker)
      continue;
    tensor::InsertSliceOp to = result.insertion;
    OpOperand *init = maker.getDpsInitOperand(result.number);
    Value place = tensor::ExtractSliceOp::create(
        b, to.getLoc(), cast<RankedTensorType>(init->get().getType()), empty,
        to.getMixedOffsets(), to.getMixedSizes(), to.getMixedStrides());
    if (auto fill = init->get().getDefiningOp<linalg::FillOp>())
      place = linalg::FillOp::create(b, fill.getLoc(), fill.getInputs(),
                                     ValueRange{place})
                  .result();
    init->set(place);
    Operation *view = to.getSource().getDefiningOp();
    to.getSourceMutable().assign(maker->getResult(result.number));
    if (view->use_empty())
      view->erase();
  }
}

void Chain::place() {
  llvm::SetVector<Operation *> makers;
  for (PlacedResult &result : results)
    makers.insert(result.maker);
  DominanceInfo dominance;
  for (Operation *maker : makers) {
    unsigned count = 0;
    bool arePlacesKnown = true;
    for (PlacedResult &result : results) {
      if (result.maker != maker)
        continue;
      ++count;
      for (Value number : llvm::drop_begin(result.insertion->getOperands(), 2))
        arePlacesKnown &= dominance.properlyDominates(number, maker);
    }
    for (Value extent : empty.getDynamicSizes())
      arePlacesKnown &= dominance.properlyDominates(extent, maker);
    if (count < 2 || !arePlacesKnown)
      continue;
    if (!dominance.properlyDominates(empty.getOperation(), maker))
      empty->moveBefore(maker);
    placeResultsOf(cast<linalg::GenericOp>(maker));
  }
}

void loopc::placeResultsTogether(func::FuncOp function) {
  SmallVector<tensor::InsertSliceOp> first;
  function.walk([&](tensor::InsertSliceOp op) {
    if (op.getDest().getDefiningOp<tensor::EmptyOp>())
      first.push_back(op);
  });
  for (tensor::InsertSliceOp op : first) {
    // Equal places were made one.
    OpBuilder b(op);
    auto empty = cast<tensor::EmptyOp>(
        b.clone(*op.getDest().getDefiningOp<tensor::EmptyOp>()));
    op.getDestMutable().assign(empty);
    Chain chain(empty, op);
    chain.follow();
    chain.place();
  }
}
