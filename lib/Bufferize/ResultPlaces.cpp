//===- ResultPlaces.cpp - Results that are put together -------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ResultPlaces.h"
#include "loopc/Dialect/Loop/IR/Loop.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
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

/// What `value` is without axes of one element that were put into it, or taken
/// away.
static Value withUnitAxesAsMade(Value value) {
  if (auto collapse = value.getDefiningOp<tensor::CollapseShapeOp>())
    return collapse->hasOneUse() &&
                   isRankReducedType(collapse.getSrcType(),
                                     collapse.getResultType()) ==
                       SliceVerificationResult::Success &&
                   collapse.getSrcType().hasStaticShape()
               ? Value(collapse.getSrc())
               : value;
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
    auto result = dyn_cast<OpResult>(withUnitAxesAsMade(next.getSource()));
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
    auto type = cast<RankedTensorType>(init->get().getType());
    auto collapse = to.getSource().getDefiningOp<tensor::CollapseShapeOp>();
    Value place = tensor::ExtractSliceOp::create(
        b, to.getLoc(), collapse ? to.getSourceType() : type, empty,
        to.getMixedOffsets(), to.getMixedSizes(), to.getMixedStrides());
    if (collapse)
      place = tensor::ExpandShapeOp::create(b, to.getLoc(), type, place,
                                            collapse.getReassociationIndices());
    if (auto fill = init->get().getDefiningOp<linalg::FillOp>())
      place = linalg::FillOp::create(b, fill.getLoc(), fill.getInputs(),
                                     ValueRange{place})
                  .result();
    init->set(place);
    if (collapse)
      continue;
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

//===----------------------------------------------------------------------===//
// Slices of what is written over
//===----------------------------------------------------------------------===//

/// True if `reader` reads `slice`, or a view of it.
static bool isReadBy(Value slice, linalg::GenericOp reader) {
  return llvm::any_of(slice.getUsers(), [&](Operation *user) {
    return user == reader ||
           (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp,
                tensor::ExtractSliceOp>(user) &&
            isReadBy(user->getResult(0), reader));
  });
}

/// True if `op` computes each element of `matrix` from the one that is there,
/// among others, and nothing else is read of it but slices.
static bool updatesAll(linalg::GenericOp op, BlockArgument matrix) {
  auto isPlain = [&](OpOperand &operand) {
    return op.getMatchingIndexingMap(&operand).isIdentity();
  };
  if (op->getBlock() != matrix.getOwner() || op.getNumReductionLoops() > 0 ||
      op->getNumResults() != 1 || !isPlain(*op.getDpsInitOperand(0)) ||
      !op.getDpsInits()[0].getDefiningOp<tensor::EmptyOp>() ||
      op.getResult(0).getType() != matrix.getType())
    return false;
  bool isRead = false;
  for (OpOperand &use : matrix.getUses()) {
    if (use.getOwner() == op && isPlain(use))
      isRead = true;
    else if (auto slice = dyn_cast<tensor::ExtractSliceOp>(use.getOwner());
             !slice || slice->getBlock() != op->getBlock())
      return false;
  }
  return isRead;
}

/// True if `slice` has a small part of what it is cut from: one element along
/// an axis that has many.
static bool isSmall(tensor::ExtractSliceOp slice) {
  constexpr int64_t kMany = 8;
  return llvm::any_of(
      llvm::zip_equal(slice.getStaticSizes(), slice.getSourceType().getShape()),
      [](auto axis) {
        auto [size, extent] = axis;
        return size == 1 && (ShapedType::isDynamic(extent) || extent >= kMany);
      });
}

void loopc::copyOverwrittenSlices(func::FuncOp function) {
  SmallVector<tensor::ExtractSliceOp> slices;
  function.walk([&](loop::YieldOp yield) {
    auto loop = dyn_cast<loop::LoopOp>(yield->getParentOp());
    if (!loop)
      return;
    for (auto [matrix, next] :
         llvm::zip(loop.getRegionIterArgs(), yield.getCarried())) {
      auto op = next.getDefiningOp<linalg::GenericOp>();
      if (!op || !next.hasOneUse() || !updatesAll(op, matrix))
        continue;
      SmallVector<tensor::ExtractSliceOp> own;
      for (Operation *user : matrix.getUsers())
        if (auto slice = dyn_cast<tensor::ExtractSliceOp>(user);
            slice && isReadBy(slice, op))
          own.push_back(slice);
      if (llvm::all_of(own, isSmall))
        llvm::append_range(slices, own);
    }
  });
  for (tensor::ExtractSliceOp slice : slices) {
    OpBuilder b(slice->getContext());
    b.setInsertionPointAfter(slice);
    auto copy = bufferization::AllocTensorOp::create(
        b, slice.getLoc(), slice.getType(), ValueRange(), slice.getResult());
    slice.getResult().replaceAllUsesExcept(copy, copy);
  }
}
