//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// buffer-privatize-empty: places for results as bufferization wants them.

#include "ResultPlaces.h"
#include "loopc/Bufferize/Passes.h"
#include "loopc/Dialect/Loop/IR/Loop.h"
#include "loopc/Support/Walk.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace loopc {
#define GEN_PASS_DEF_BUFFERPRIVATIZEEMPTY
#include "loopc/Bufferize/Passes.h.inc"
} // namespace loopc

using namespace mlir;

/// Replaces a collapse that merges an extent of 0 with an unknown one: there is
/// no element to keep. The tensor's type has an unknown extent for such a
/// group, the memref's would have 0, and only one of them verifies.
static void replaceEmptyCollapse(tensor::CollapseShapeOp op) {
  ArrayRef<int64_t> shape = op.getSrcType().getShape();
  auto extentsOf = [&](const ReassociationIndices &group) {
    return llvm::map_to_vector(group,
                               [&](int64_t axis) { return shape[axis]; });
  };
  SmallVector<ReassociationIndices> groups = op.getReassociationIndices();
  if (llvm::none_of(groups, [&](const ReassociationIndices &group) {
        SmallVector<int64_t> extents = extentsOf(group);
        return llvm::is_contained(extents, 0) &&
               llvm::any_of(extents, ShapedType::isDynamic);
      }))
    return;
  OpBuilder b(op);
  Location loc = op.getLoc();
  SmallVector<Value> sizes;
  for (auto [result, group] : llvm::enumerate(groups)) {
    if (!op.getResultType().isDynamicDim(result))
      continue;
    Value size;
    if (llvm::is_contained(extentsOf(group), 0)) {
      size = arith::ConstantIndexOp::create(b, loc, 0);
    } else {
      for (int64_t axis : group) {
        Value extent = b.createOrFold<tensor::DimOp>(loc, op.getSrc(), axis);
        size = size ? b.createOrFold<arith::MulIOp>(loc, size, extent) : extent;
      }
    }
    sizes.push_back(size);
  }
  op.replaceAllUsesWith(
      tensor::EmptyOp::create(b, loc, op.getResultType(), sizes).getResult());
  op.erase();
}

//===----------------------------------------------------------------------===//
// Values that only one branch yields
//===----------------------------------------------------------------------===//

namespace {
/// Looks for the places that a value which a branch yields, or a select takes,
/// is written to, and that are made outside of the branch.
class PlacesOutside {
public:
  explicit PlacesOutside(Region *branch = nullptr) : branch(branch) {}

  /// Collects those of `value`, which gives a value of type `wanted`.
  void find(Value value, Type wanted) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || !seen.insert(value.getAsOpaquePointer()).second)
      return;
    // Equal extents for sure: the place is the same whichever branch is taken.
    isSame &= type.hasStaticShape() && type == wanted;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      auto loop = dyn_cast_or_null<LoopLikeOpInterface>(
          argument.getOwner()->getParentOp());
      if (OpOperand *init = loop ? loop.getTiedLoopInit(argument) : nullptr) {
        find(init->get(), wanted);
        find(loop.getTiedLoopYieldedValue(argument)->get(), wanted);
      }
      return;
    }
    Operation *op = value.getDefiningOp();
    auto result = cast<OpResult>(value);
    if (auto empty = dyn_cast<tensor::EmptyOp>(op)) {
      if (!branch || !branch->isAncestor(op->getParentRegion()))
        places.push_back(empty);
    } else if (auto cast = dyn_cast<tensor::CastOp>(op)) {
      find(cast.getSource(), wanted);
    } else if (auto written = dyn_cast<DestinationStyleOpInterface>(op)) {
      find(written.getTiedOpOperand(result)->get(), wanted);
    } else if (auto select = dyn_cast<arith::SelectOp>(op)) {
      find(select.getTrueValue(), wanted);
      find(select.getFalseValue(), wanted);
    } else if (auto loop = dyn_cast<LoopLikeOpInterface>(op)) {
      std::optional<ResultRange> carried = loop.getLoopResults();
      unsigned k = result.getResultNumber();
      if (carried && k < carried->size()) {
        find(loop.getInits()[k], wanted);
        find(loop.getYieldedValues()[k], wanted);
      }
    } else if (isa<scf::IfOp, scf::IndexSwitchOp>(op)) {
      for (Region &region : op->getRegions())
        find(region.front().getTerminator()->getOperand(
                 result.getResultNumber()),
             wanted);
    }
  }

  /// Those that may have other extents than what the branch gives.
  ArrayRef<tensor::EmptyOp> get() const {
    return isSame ? ArrayRef<tensor::EmptyOp>() : ArrayRef(places);
  }

private:
  Region *branch;
  llvm::SmallPtrSet<void *, 8> seen;
  SmallVector<tensor::EmptyOp> places;
  bool isSame = true;
};
} // namespace

/// No elimination of empty tensors puts what is written to `empty` elsewhere.
static void allocate(tensor::EmptyOp empty) {
  OpBuilder b(empty);
  Value made = bufferization::AllocTensorOp::create(
      b, empty.getLoc(), empty.getType(), empty.getDynamicSizes());
  empty.replaceAllUsesWith(made);
  empty.erase();
}

/// Sums whose rows `insert` puts apart, element by element, have a buffer of
/// their own: vectors are stored where neighbours are.
static void keepNeighbours(tensor::InsertSliceOp insert) {
  if (insert.getSourceType().getRank() == 0 ||
      insert.getSourceType().getShape().back() == 1 ||
      isConstantIntValue(insert.getMixedStrides().back(), 1))
    return;
  Value value = insert.getSource();
  auto sums = value.getDefiningOp<linalg::GenericOp>();
  if (!sums || sums.getNumReductionLoops() == 0)
    return;
  while (auto maker = value.getDefiningOp<DestinationStyleOpInterface>())
    value = maker.getTiedOpOperand(cast<OpResult>(value))->get();
  if (auto empty = value.getDefiningOp<tensor::EmptyOp>())
    allocate(empty);
}

/// MLIR's elimination of empty tensors lets what is inserted somewhere be
/// computed there, through branches, too. What a branch yields and what was
/// computed before it may have other extents where another branch is taken:
/// that is allocated.
static void allocate(PlacesOutside &places, Value value, Type wanted) {
  places.find(value, wanted);
  for (tensor::EmptyOp empty : places.get())
    allocate(empty);
}

static void keepOutOfBranches(func::FuncOp function) {
  // Found before any place is replaced: what a loop carries is made behind the
  // branch, where a walk would be just then.
  auto choices = loopc::collectOps(function, [&](Operation *op) {
    return isa<arith::SelectOp, scf::IfOp, scf::IndexSwitchOp>(op);
  });
  for (Operation *op : choices) {
    if (auto select = dyn_cast<arith::SelectOp>(op))
      for (Value value : {select.getTrueValue(), select.getFalseValue()}) {
        PlacesOutside places;
        allocate(places, value, select.getType());
      }
    if (isa<arith::SelectOp>(op))
      continue;
    for (OpResult result : op->getResults())
      for (Region &region : op->getRegions()) {
        if (region.empty())
          continue;
        PlacesOutside places(&region);
        Operation *yield = region.front().getTerminator();
        allocate(places, yield->getOperand(result.getResultNumber()),
                 result.getType());
      }
  }
}

/// What `op` puts elements into; null for other operations.
static OpOperand *findDestination(Operation *op) {
  if (auto slice = dyn_cast<tensor::InsertSliceOp>(op))
    return &slice.getDestMutable();
  if (auto element = dyn_cast<tensor::InsertOp>(op))
    return &element.getDestMutable();
  auto write = dyn_cast<vector::TransferWriteOp>(op);
  return write && isa<TensorType>(write.getShapedType())
             ? &write.getBaseMutable()
             : nullptr;
}

/// True for a place of which parts at most have been written.
static bool isPartlyWritten(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (isa<tensor::EmptyOp, linalg::FillOp>(op))
      return true;
    OpOperand *into = findDestination(op);
    if (!into)
      return false;
    value = into->get();
  }
  return false;
}

/// True if `use` is what its owner puts elements into, and leaves others of.
static bool isWrittenOver(OpOperand &use) {
  if (findDestination(use.getOwner()) == &use)
    return true;
  auto op = dyn_cast<linalg::LinalgOp>(use.getOwner());
  return op && op.isDpsInit(&use) && op.payloadUsesValueFromOperand(&use);
}

namespace {
struct BufferPrivatizeEmpty
    : loopc::impl::BufferPrivatizeEmptyBase<BufferPrivatizeEmpty> {
  void runOnOperation() override {
    getOperation().walk(
        [](tensor::CollapseShapeOp op) { replaceEmptyCollapse(op); });
    loopc::placeResultsTogether(getOperation());
    loopc::copyOverwrittenSlices(getOperation());
    privatizeParts();
    privatizeFills();
    for (tensor::EmptyOp empty :
         loopc::collectOps<tensor::EmptyOp>(getOperation())) {
      if (llvm::any_of(empty->getUsers(),
                       llvm::IsaPred<tensor::ExtractSliceOp>))
        continue;
      for (OpOperand &use : llvm::make_early_inc_range(empty->getUses())) {
        OpBuilder b(use.getOwner());
        use.set(b.clone(*empty)->getResult(0));
      }
      empty.erase();
    }
    keepOutOfBranches(getOperation());
    getOperation().walk(keepNeighbours);
  }

  /// What is put together of parts that a loop computes and of others, which it
  /// does not change: in each iteration these are written again, which takes
  /// less than a copy of all that was put together before the loop.
  void privatizeParts() {
    auto parts = loopc::collectOps(getOperation(), [](Operation *op) {
      return findDestination(op) && isPartlyWritten(op->getResult(0));
    });
    // Those that are written last come first: what they go into is then theirs.
    for (Operation *part : llvm::reverse(parts)) {
      for (OpOperand &use :
           llvm::make_early_inc_range(part->getResult(0).getUses())) {
        if (!isWrittenOver(use) || !isInLoopBehind(part, use.getOwner()))
          continue;
        OpBuilder b(use.getOwner());
        use.set(b.clone(*part)->getResult(0));
      }
      if (part->use_empty())
        part->erase();
    }
  }

  /// What sums begin with, or what is padded, is written over: a fill for each
  /// of them, in each iteration, is cheaper than a copy of one.
  void privatizeFills() {
    auto fills = loopc::collectOps(getOperation(), [&](linalg::FillOp op) {
      return op->getNumResults() == 1;
    });
    for (linalg::FillOp fill : fills) {
      bool isFirst = true;
      for (OpOperand &use :
           llvm::make_early_inc_range(fill->getResult(0).getUses())) {
        auto user = dyn_cast<DestinationStyleOpInterface>(use.getOwner());
        if (!user || !user.isDpsInit(&use))
          continue;
        if (!isInLoopBehind(fill, user) && std::exchange(isFirst, false))
          continue;
        OpBuilder b(user);
        use.set(b.clone(*fill)->getResult(0));
      }
      if (fill->use_empty())
        fill.erase();
    }
  }

  /// True if `user` is in a loop that `op` is not in.
  static bool isInLoopBehind(Operation *op, Operation *user) {
    auto loop = user->getParentOfType<LoopLikeOpInterface>();
    return loop && !loop->isAncestor(op);
  }
};
} // namespace
