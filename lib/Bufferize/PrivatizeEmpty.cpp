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
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

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
/// Which empty tensors become what branches yield and selects take: those that
/// are made outside of the branch, and may have other extents than what the
/// branch gives.
///
/// Each value is gone through once for all branches: what it comes from is
/// recorded first, then which values come from one of another type, and last
/// which branches each value may be yielded by.
class PlacesOutside {
public:
  /// `value` is what a branch with the region `branch` (null: a select) gives
  /// for a value of type `wanted`.
  void add(Value value, Type wanted, Region *branch) {
    record(value);
    asked.push_back({value, wanted, branch});
  }

  /// The empty tensors, in the order in which they were found.
  SmallVector<tensor::EmptyOp> find() {
    findChanging();
    for (const Question &question : asked)
      // Equal extents for sure: the place is the same whichever branch is
      // taken.
      if (isRecorded(question.value) &&
          (changing.contains(question.value) ||
           question.value.getType() != question.wanted))
        reach(question.value, {question.branch, !question.branch});
    SmallVector<tensor::EmptyOp> places;
    for (tensor::EmptyOp empty : empties)
      if (auto it = readers.find(empty.getResult());
          it != readers.end() && it->second.reads(empty))
        places.push_back(empty);
    return places;
  }

  /// How many values were looked at.
  unsigned getWork() const { return work; }

private:
  struct Question {
    Value value;
    Type wanted;
    Region *branch;
  };

  /// The branches that may yield a value. Where each one is within another, the
  /// innermost one: what is made in that one is made in all of them.
  struct Readers {
    Region *innermost = nullptr;
    bool areApart = false;

    bool reads(Operation *maker) const {
      return areApart || !innermost->isAncestor(maker->getParentRegion());
    }
    /// Adds `other`; true if that changes what is read.
    bool join(const Readers &other) {
      if (areApart || (!other.areApart && innermost &&
                       other.innermost->isAncestor(innermost)))
        return false;
      areApart = other.areApart ||
                 (innermost && !innermost->isAncestor(other.innermost));
      innermost = other.innermost;
      return true;
    }
  };

  bool isRecorded(Value value) const { return sources.contains(value); }

  /// What `value` is, or is written over.
  static SmallVector<Value> getSources(Value value) {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      auto loop = dyn_cast_or_null<LoopLikeOpInterface>(
          argument.getOwner()->getParentOp());
      if (OpOperand *init = loop ? loop.getTiedLoopInit(argument) : nullptr)
        return {init->get(), loop.getTiedLoopYieldedValue(argument)->get()};
      return {};
    }
    Operation *op = value.getDefiningOp();
    auto result = cast<OpResult>(value);
    unsigned number = result.getResultNumber();
    if (auto cast = dyn_cast<tensor::CastOp>(op))
      return {cast.getSource()};
    if (auto written = dyn_cast<DestinationStyleOpInterface>(op))
      return {written.getTiedOpOperand(result)->get()};
    if (auto select = dyn_cast<arith::SelectOp>(op))
      return {select.getTrueValue(), select.getFalseValue()};
    if (auto loop = dyn_cast<LoopLikeOpInterface>(op)) {
      std::optional<ResultRange> carried = loop.getLoopResults();
      if (carried && number < carried->size())
        return {loop.getInits()[number], loop.getYieldedValues()[number]};
      return {};
    }
    if (isa<scf::IfOp, scf::IndexSwitchOp>(op))
      return llvm::map_to_vector(op->getRegions(), [&](Region &region) {
        return region.front().getTerminator()->getOperand(number);
      });
    return {};
  }

  /// Records what `value` comes from, and all that this comes from.
  void record(Value value) {
    SmallVector<Value> left{value};
    while (!left.empty()) {
      Value next = left.pop_back_val();
      ++work;
      if (!isa<RankedTensorType>(next.getType()) || isRecorded(next))
        continue;
      SmallVector<Value> found = getSources(next);
      llvm::erase_if(found, [](Value source) {
        return !isa<RankedTensorType>(source.getType());
      });
      if (auto empty = next.getDefiningOp<tensor::EmptyOp>())
        empties.push_back(empty);
      llvm::append_range(left, found);
      sources[next] = std::move(found);
    }
  }

  /// Finds the values that come from one of another type, or of open extents.
  void findChanging() {
    llvm::DenseMap<Value, SmallVector<Value>> made;
    SmallVector<Value> left;
    for (auto &[value, from] : sources) {
      auto type = cast<RankedTensorType>(value.getType());
      bool changes = !type.hasStaticShape();
      for (Value source : from) {
        changes |= source.getType() != type;
        made[source].push_back(value);
      }
      if (changes)
        left.push_back(value);
    }
    while (!left.empty()) {
      Value next = left.pop_back_val();
      ++work;
      if (changing.insert(next).second)
        llvm::append_range(left, made.lookup(next));
    }
  }

  /// `branches` read `value` and all that it comes from.
  void reach(Value value, Readers branches) {
    SmallVector<std::pair<Value, Readers>> left{{value, branches}};
    while (!left.empty()) {
      auto [next, reading] = left.pop_back_val();
      ++work;
      Readers &known = readers[next];
      if (known.join(reading))
        for (Value source : sources[next])
          left.push_back({source, known});
    }
  }

  SmallVector<Question> asked;
  SmallVector<tensor::EmptyOp> empties;
  llvm::DenseMap<Value, SmallVector<Value>> sources;
  llvm::DenseSet<Value> changing;
  llvm::DenseMap<Value, Readers> readers;
  unsigned work = 0;
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
/// that is allocated. Returns how many values were looked at.
static unsigned keepOutOfBranches(func::FuncOp function) {
  PlacesOutside places;
  function.walk([&](Operation *op) {
    if (auto select = dyn_cast<arith::SelectOp>(op)) {
      places.add(select.getTrueValue(), select.getType(), nullptr);
      places.add(select.getFalseValue(), select.getType(), nullptr);
    } else if (isa<scf::IfOp, scf::IndexSwitchOp>(op)) {
      for (OpResult result : op->getResults())
        for (Region &region : op->getRegions())
          if (!region.empty())
            places.add(region.front().getTerminator()->getOperand(
                           result.getResultNumber()),
                       result.getType(), &region);
    }
  });
  for (tensor::EmptyOp empty : places.find())
    allocate(empty);
  return places.getWork();
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
  using BufferPrivatizeEmptyBase::BufferPrivatizeEmptyBase;

  void runOnOperation() override {
    getOperation().walk(
        [](tensor::CollapseShapeOp op) { replaceEmptyCollapse(op); });
    loopc::placeResultsTogether(getOperation());
    loopc::copyOverwrittenSlices(getOperation());
    privatizeParts();
    privatizeFills();
    privatizeViews();
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
    unsigned work = keepOutOfBranches(getOperation());
    if (reportWork)
      getOperation().emitRemark() << work << " values followed";
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
      else if (!isFirst && fill->hasOneUse())
        // Where its memory is used, and no longer.
        fill->moveBefore(*fill->user_begin());
    }
  }

  /// Places that are seen with other axes: what one of two products is stored
  /// to, which have such a view in common, would be alive up to the other.
  void privatizeViews() {
    auto views = loopc::collectOps(getOperation(), [](Operation *op) {
      if (!isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op))
        return false;
      Operation *source = op;
      while (isa_and_nonnull<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(
          source))
        source = source->getOperand(0).getDefiningOp();
      return isa_and_nonnull<tensor::EmptyOp>(source);
    });
    // A view of a view comes first: what it is of has a use less for each.
    for (Operation *view : llvm::reverse(views))
      for (OpOperand &use : llvm::make_early_inc_range(
               llvm::drop_begin(view->getResult(0).getUses()))) {
        OpBuilder b(use.getOwner());
        use.set(b.clone(*view)->getResult(0));
      }
  }

  /// True if `user` is in a loop that `op` is not in.
  static bool isInLoopBehind(Operation *op, Operation *user) {
    auto loop = user->getParentOfType<LoopLikeOpInterface>();
    return loop && !loop->isAncestor(op);
  }
};
} // namespace
