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
#include "loopc/Support/IndexCasts.h"
#include "loopc/Support/Walk.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
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

namespace {
/// What numbers, the extents of tensors and their elements are computed of.
class Origins {
public:
  void add(Value value, unsigned kind) {
    if (!matchPattern(value, m_Constant()))
      all.insert({value, isa<TensorType>(value.getType()) ? kind : Number});
  }
  void addAll(ValueRange values, unsigned kind) {
    for (Value value : values)
      add(value, kind);
  }
  /// Adds what those that have been added are made of.
  void close() {
    for (size_t k = 0; k < all.size() && !areMany(); ++k)
      addOrigins(all[k].first, all[k].second);
  }
  /// They are not followed any further.
  bool areMany() const { return all.size() > kMany; }
  bool meets(const Origins &others) const {
    return llvm::any_of(all,
                        [&](Origin one) { return others.all.contains(one); });
  }

private:
  static constexpr size_t kMany = 1 << 14;

  void addOrigins(Value value, unsigned kind);
  void addArgument(BlockArgument argument, unsigned kind);
  bool addCarried(LoopLikeOpInterface loop, OpOperand *init, unsigned kind);
  void addNumbers(LoopLikeOpInterface loop, unsigned kind);
  void addYielded(Operation *op, std::optional<unsigned> number, unsigned kind);

  llvm::SetVector<Origin> all;
};
} // namespace

/// Adds what a loop carries from `init` on, if it does: what is yielded for it,
/// and what says how often.
bool Origins::addCarried(LoopLikeOpInterface loop, OpOperand *init,
                         unsigned kind) {
  if (!init)
    return false;
  auto inits = loop.getInitsMutable();
  BlockArgument argument = loop.getRegionIterArgs()[init - inits.begin()];
  add(init->get(), kind);
  if (OpOperand *yielded = loop.getTiedLoopYieldedValue(argument))
    add(yielded->get(), kind);
  addNumbers(loop, kind);
  return true;
}

/// Adds what numbers the iterations of `loop`, and bounds the numbers.
void Origins::addNumbers(LoopLikeOpInterface loop, unsigned kind) {
  for (Region *region : loop.getLoopRegions())
    for (BlockArgument argument : region->getArguments())
      if (argument.getType().isIntOrIndex() && !loop.getTiedLoopInit(argument))
        add(argument, kind);
  for (OpOperand &operand : loop->getOpOperands())
    if (!llvm::is_contained(loop.getInits(), operand.get()))
      add(operand.get(), kind);
}

/// Adds what regions of `op` hand on for its result `number`; all where it is
/// none of a result, or the terminators have other operands, too.
void Origins::addYielded(Operation *op, std::optional<unsigned> number,
                         unsigned kind) {
  for (Region &region : op->getRegions())
    for (Block &block : region) {
      if (!block.mightHaveTerminator())
        continue;
      OperandRange operands = block.getTerminator()->getOperands();
      if (number && operands.size() == op->getNumResults())
        add(operands[*number], kind);
      else
        addAll(operands, kind);
    }
}

void Origins::addArgument(BlockArgument argument, unsigned kind) {
  Operation *op = argument.getOwner()->getParentOp();
  auto loop = dyn_cast<LoopLikeOpInterface>(op);
  if (isa<func::FuncOp>(op) ||
      (loop && addCarried(loop, loop.getTiedLoopInit(argument), kind)))
    return;
  if (auto body = dyn_cast<linalg::LinalgOp>(op))
    return add(body.getMatchingOpOperand(argument)->get(), Elements);
  if (loop && argument.getType().isIntOrIndex() && !isa<scf::WhileOp>(op))
    return addNumbers(loop, Elements);
  addAll(op->getOperands(), Elements);
  addAll(op->getOperands(), Extents);
  addYielded(op, std::nullopt, kind);
}

void Origins::addOrigins(Value value, unsigned kind) {
  if (auto argument = dyn_cast_if_present<BlockArgument>(value))
    return addArgument(argument, kind);
  if (!value)
    return;
  auto result = cast<OpResult>(value);
  Operation *op = result.getOwner();
  if (auto loop = dyn_cast<LoopLikeOpInterface>(op);
      loop && addCarried(loop, loop.getTiedLoopInit(result), kind))
    return;
  if (kind == Extents) {
    if (auto made = dyn_cast<DestinationStyleOpInterface>(op))
      return add(made.getTiedOpOperand(result)->get(), kind);
    if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
      return add(insert.getDest(), kind);
  }
  if (isa<tensor::EmptyOp>(op) && kind == Elements)
    return;
  if (isa<tensor::DimOp>(op))
    return add(op->getOperand(0), Extents);
  // What other operations do with a tensor nobody knows.
  bool isTensorOp =
      isa<tensor::TensorDialect, linalg::LinalgDialect>(op->getDialect());
  addAll(op->getOperands(), kind == Extents ? Extents : Elements);
  if (!isTensorOp)
    addAll(op->getOperands(), kind == Extents ? Elements : Extents);
  // What memory holds, and what is outside.
  if (!isMemoryEffectFree(op))
    all.insert({Value(), Number});
  addYielded(op, result.getResultNumber(), kind);
}

/// True if a check that stands between `first`, or what it is in, and
/// `insertion` may be what holds the part to the result: if it asks for
/// something that the place of the part is computed of. Of what has nothing in
/// common a program cannot know the one by the other: where the check may hold,
/// the part is in the result whether it does or not.
static bool isHeldBetween(Operation *first,
                          SubsetInsertionOpInterface insertion) {
  std::optional<Origins> ofPart;
  auto isAbout = [&](loopc::loop::CheckOp check, Operation *outermost) {
    if (!ofPart) {
      ofPart.emplace();
      for (OpOperand &operand : insertion->getOpOperands())
        if (&operand != &insertion.getSourceOperand())
          ofPart->add(operand.get(), Extents);
      ofPart->close();
    }
    Origins ofCheck;
    ofCheck.add(check.getCondition(), Number);
    // What is in a branch may be asked only if the part is too large.
    for (Operation *op = check; op != outermost;) {
      op = op->getParentOp();
      for (unsigned kind : {Extents, Elements})
        ofCheck.addAll(op->getOperands(), kind);
    }
    ofCheck.close();
    return matchPattern(check.getCondition(), m_Zero()) || ofPart->areMany() ||
           ofCheck.areMany() || ofCheck.meets(*ofPart);
  };
  auto isHolding = [&](Operation *op) {
    return loopc::anyNested(
        op, [&](loopc::loop::CheckOp check) { return isAbout(check, op); });
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

/// The extent of `tensor` along `axis`, as far as it is seen: null where not.
static OpFoldResult findExtent(Value tensor, int64_t axis) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(axis))
    return IntegerAttr::get(IndexType::get(type.getContext()),
                            type.getDimSize(axis));
  auto skipInsertions = [](Value value) {
    while (auto insertion = value.getDefiningOp<tensor::InsertSliceOp>())
      value = insertion.getDest();
    return value;
  };
  tensor = skipInsertions(tensor);
  auto argument = dyn_cast<BlockArgument>(tensor);
  auto loop =
      argument
          ? dyn_cast<LoopLikeOpInterface>(argument.getOwner()->getParentOp())
          : LoopLikeOpInterface();
  OpOperand *init = loop ? loop.getTiedLoopInit(argument) : nullptr;
  OpOperand *next = init ? loop.getTiedLoopYieldedValue(argument) : nullptr;
  if (next && skipInsertions(next->get()) == argument)
    tensor = init->get();
  auto empty = tensor.getDefiningOp<tensor::EmptyOp>();
  return empty ? empty.getMixedSizes()[axis] : OpFoldResult();
}

/// True if `number` is that of an iteration of a loop that has no more of them
/// than `extent`.
static bool isBelow(OpFoldResult number, OpFoldResult extent) {
  auto counter = dyn_cast_if_present<Value>(number);
  counter = counter ? loopc::withoutIndexCasts(counter) : Value();
  auto argument = dyn_cast_if_present<BlockArgument>(counter);
  auto loop =
      argument
          ? dyn_cast<loopc::loop::LoopOp>(argument.getOwner()->getParentOp())
          : loopc::loop::LoopOp();
  if (!loop || counter != loop.getCounter() || !loop.getTripCount() || !extent)
    return false;
  Value trips = loopc::withoutIndexCasts(loop.getTripCount());
  std::optional<int64_t> known = getConstantIntValue(trips),
                         size = getConstantIntValue(extent);
  if (known && size)
    return *known <= *size;
  auto value = dyn_cast<Value>(extent);
  value = value ? loopc::withoutIndexCasts(value) : Value();
  auto most = value ? value.getDefiningOp<arith::MaxSIOp>() : arith::MaxSIOp();
  return value == trips ||
         (most && llvm::any_of(most->getOperands(), [&](Value one) {
            return loopc::withoutIndexCasts(one) == trips;
          }));
}

/// True if the part that `insertion` writes is seen to be in the result: along
/// each axis all of it, or the row of an iteration.
static bool isSeenInside(Operation *insertion) {
  auto slice = dyn_cast<tensor::InsertSliceOp>(insertion);
  if (!slice || !slice.hasUnitStride())
    return false;
  return llvm::all_of(llvm::seq(slice.getDestType().getRank()), [&](auto axis) {
    OpFoldResult extent = findExtent(slice.getDest(), axis),
                 offset = slice.getMixedOffsets()[axis],
                 size = slice.getMixedSizes()[axis];
    bool isAll = isConstantIntValue(offset, 0) && extent &&
                 isEqualConstantIntOrValue(size, extent);
    return isAll || (isConstantIntValue(size, 1) && isBelow(offset, extent));
  });
}

/// The slice of what `insertion` writes into that is the part which it writes,
/// where one is taken in front of `user` already: a computation that reads the
/// part element by element may write over it, which is not seen of two slices.
static Value findPart(Operation *insertion, Operation *user) {
  auto insert = dyn_cast<tensor::InsertSliceOp>(insertion);
  if (!insert)
    return {};
  auto isPart = [&](Operation *op) {
    auto slice = dyn_cast<tensor::ExtractSliceOp>(op);
    Operation *reader =
        slice ? slice->getBlock()->findAncestorOpInBlock(*user) : nullptr;
    return reader && slice->isBeforeInBlock(reader) &&
           slice.getSource() == insert.getDest() &&
           slice.getType() == insert.getSourceType() &&
           slice.getMixedOffsets() == insert.getMixedOffsets() &&
           slice.getMixedSizes() == insert.getMixedSizes() &&
           slice.getMixedStrides() == insert.getMixedStrides();
  };
  for (Operation *op : insert.getDest().getUsers())
    if (isPart(op))
      return op->getResult(0);
  return {};
}

/// The part of its result that `insertion` writes, for `user` to compute there
/// what is inserted: not in front of a check that holds the part to the result.
static Value takePart(RewriterBase &rewriter,
                      SubsetInsertionOpInterface insertion,
                      tensor::EmptyOp empty, Operation *user) {
  if (!loopc::loop::needsNoCheck(insertion) && !isSeenInside(insertion) &&
      isHeldBetween(user, insertion))
    return {};
  if (Value part = findPart(insertion, user))
    return part;
  return buildSubsetExtraction(rewriter, insertion, empty, user);
}

/// A few elements that are put together for an insertion alone are inserted one
/// by one: there is no tensor of them.
static void insertElements(RewriterBase &rewriter,
                           tensor::InsertSliceOp insertion) {
  constexpr int64_t kMaxElements = 16;
  auto elements = insertion.getSource().getDefiningOp<tensor::FromElementsOp>();
  if (!elements || !elements->hasOneUse() || !insertion.hasUnitStride() ||
      insertion.getSourceType().getRank() != 1 ||
      insertion.getSourceType().getNumElements() > kMaxElements)
    return;
  rewriter.setInsertionPoint(insertion);
  Location loc = insertion.getLoc();
  SmallVector<Value> place = getValueOrCreateConstantIndexOp(
      rewriter, loc, insertion.getMixedOffsets());
  // The axis that the elements lie along.
  int64_t axis = 0;
  for (llvm::SmallBitVector dropped = insertion.getDroppedDims();
       dropped.test(axis);)
    ++axis;
  Value result = insertion.getDest(), begin = place[axis];
  for (auto [k, element] : llvm::enumerate(elements.getElements())) {
    Value number = arith::ConstantIndexOp::create(rewriter, loc, k);
    place[axis] = rewriter.createOrFold<arith::AddIOp>(loc, begin, number);
    result = tensor::InsertOp::create(rewriter, loc, element, result, place);
  }
  rewriter.replaceOp(insertion, result);
  rewriter.eraseOp(elements);
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
    getOperation().walk([&](tensor::InsertSliceOp insertion) {
      insertElements(rewriter, insertion);
    });
    if (failed(loopc::analyzeInPlace(getOperation(), state)) ||
        failed(
            eliminateEmptyTensors(rewriter, getOperation(), state, takePart)))
      signalPassFailure();
  }
};
} // namespace
