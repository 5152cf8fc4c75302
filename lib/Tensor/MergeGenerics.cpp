//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Tensor/MergeGenerics.h"
#include "loopc/Dialect/Loop/IR/Loop.h"
#include "loopc/Dialect/Loop/Transforms/Speculation.h"
#include "loopc/Dialect/Nest/Analysis/Cost.h"
#include "loopc/Support/Walk.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace loopc;

/// The largest body that two operations become: 32 expensive operations. Each
/// fusion copies what is fused, so that a body takes time with its square.
static constexpr unsigned kMaxBodyCost = 512;

Value loopc::dropUnitAxes(Value value, AffineMap &map) {
  auto expand = value.getDefiningOp<tensor::ExpandShapeOp>();
  if (!expand)
    return value;
  SmallVector<AffineExpr> exprs;
  for (const ReassociationIndices &group : expand.getReassociationIndices()) {
    SmallVector<AffineExpr> own;
    for (int64_t axis : group)
      if (expand.getResultType().getDimSize(axis) != 1 ||
          map.getResult(axis) != getAffineConstantExpr(0, map.getContext()))
        own.push_back(map.getResult(axis));
    if (own.size() != 1)
      return value;
    exprs.push_back(own.front());
  }
  map = AffineMap::get(map.getNumDims(), 0, exprs, map.getContext());
  return expand.getSrc();
}

bool loopc::isElementwise(linalg::GenericOp op) {
  return op.hasPureTensorSemantics() &&
         op.getNumParallelLoops() == op.getNumLoops() && op.getNumLoops() > 0 &&
         llvm::all_of(op.getDpsInitsMutable(), [&](OpOperand &init) {
           return op.getMatchingIndexingMap(&init).isIdentity() &&
                  !op.payloadUsesValueFromOperand(&init);
         });
}

/// So many operations are computed with a transpose, in tiles of vectors.
static constexpr size_t kLightWithTranspose = 6;

bool loopc::isAcrossRows(AffineMap map, AffineMap out) {
  if (map.getNumResults() == 0 || out.getNumResults() == 0)
    return false;
  AffineExpr column = out.getResults().back();
  return map.getResults().back() != column &&
         llvm::is_contained(map.getResults(), column);
}

bool loopc::isHeavyWithTranspose(ArrayRef<linalg::GenericOp> ops) {
  size_t count = 0;
  for (linalg::GenericOp op : ops) {
    auto operations = op.getBody()->without_terminator();
    count += llvm::range_size(operations);
    if (llvm::any_of(operations, [](Operation &inner) {
          return isElementaryFunction(&inner);
        }))
      return true;
  }
  return count > kLightWithTranspose;
}

/// What the body of `op` costs in code; where that is too much, some of it.
static unsigned getBodyCost(linalg::GenericOp op) {
  unsigned cost = 0;
  for (Operation &nested : op.getBody()->without_terminator()) {
    cost += getCost(&nested).codeSize;
    if (cost > kMaxBodyCost)
      break;
  }
  return cost;
}

bool loopc::fitIntoOneBody(linalg::GenericOp first, linalg::GenericOp second) {
  unsigned cost = getBodyCost(first);
  return cost <= kMaxBodyCost && cost + getBodyCost(second) <= kMaxBodyCost;
}

unsigned BodyCosts::get(linalg::GenericOp op) {
  auto [it, isNew] = costs.try_emplace(op, 0);
  if (isNew) {
    it->second = getBodyCost(op);
    numCounted += it->second;
  }
  return it->second;
}

void BodyCosts::forget(Operation *op) {
  for (; op; op = op->getParentOp())
    costs.erase(op);
}

void BodyCosts::notifyOperationInserted(Operation *op,
                                        OpBuilder::InsertPoint previous) {
  forget(op);
  if (previous.isSet())
    forget(previous.getBlock()->getParentOp());
}

bool BodyCosts::fitIntoOne(linalg::GenericOp first, linalg::GenericOp second) {
  return get(first) + get(second) <= kMaxBodyCost;
}

/// True if `first` can be computed where `second` stands: nothing between them
/// needs its results, and the body of `second` does not look into them.
static bool canMoveDown(linalg::GenericOp first, linalg::GenericOp second) {
  Block *block = second->getBlock();
  for (Operation *user : first->getUsers()) {
    Operation *here = block->findAncestorOpInBlock(*user);
    if (!here || here->isBeforeInBlock(second) ||
        (here == second && user != second))
      return false;
  }
  return true;
}

/// True if nothing between both takes time: views, places and numbers.
static bool areNextToEachOther(linalg::GenericOp first,
                               linalg::GenericOp second) {
  for (Operation *op = first->getNextNode(); op && op != second;
       op = op->getNextNode())
    if (!isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp,
             tensor::ExtractSliceOp, tensor::CastOp, tensor::EmptyOp,
             arith::ConstantOp>(op))
      return false;
  return true;
}

/// True if `second`, and what its operands are computed by, may run where
/// `first` does: what a check between them guards may not.
static bool mayRunUp(linalg::GenericOp first, linalg::GenericOp second) {
  auto isBetween = [&](Operation *op) {
    return op->getBlock() == first->getBlock() && first->isBeforeInBlock(op);
  };
  bool isChecked = false;
  for (Operation *op = first->getNextNode(); op != second && !isChecked;
       op = op->getNextNode())
    isChecked = holdsOp<loop::CheckOp>(op);
  if (!isChecked)
    return true;
  SetVector<Operation *> moved;
  BackwardSliceOptions options;
  options.filter = isBetween;
  options.inclusive = true;
  options.omitUsesFromAbove = false;
  return succeeded(getBackwardSlice(second.getOperation(), &moved, options)) &&
         llvm::all_of(moved, mayRunBeforeChecks);
}

/// Moves `second`, and what its operands are computed by, up to `first`, if all
/// that it makes are sums, which take less room than what it reads: what stands
/// between them needs the results of `first`, and may be all that does. So does
/// what is elementwise, where only views are between.
static bool moveUp(IRRewriter &rewriter, linalg::GenericOp first,
                   linalg::GenericOp second) {
  bool makesSums =
      second.getNumReductionLoops() > 0 &&
      llvm::none_of(second.getDpsInitsMutable(), [&](auto &init) {
        return second.getMatchingIndexingMap(&init).isPermutation();
      });
  if ((!makesSums && !areNextToEachOther(first, second)) ||
      !mayRunUp(first, second) ||
      failed(moveOperationDependencies(rewriter, second, first)))
    return false;
  rewriter.moveOpAfter(second, first);
  return true;
}

namespace {
/// Builds one operation with the results of two.
class Merger {
public:
  Merger(IRRewriter &rewriter, linalg::GenericOp first,
         linalg::GenericOp second)
      : rewriter(rewriter), first(first), second(second) {}

  linalg::GenericOp merge();

private:
  void collect(linalg::GenericOp op);
  /// True if `input` of the second is what the first computes.
  bool isInner(linalg::GenericOp op, OpOperand *input) {
    return op == second && input->get().getDefiningOp() == first;
  }
  void inlineBody(OpBuilder &b, linalg::GenericOp op, ValueRange &ins,
                  ValueRange &outs);

  IRRewriter &rewriter;
  linalg::GenericOp first, second;
  SmallVector<Value> inputs, inits, yielded;
  SmallVector<AffineMap> inputMaps, initMaps;
};
} // namespace

void Merger::collect(linalg::GenericOp op) {
  for (OpOperand *input : op.getDpsInputOperands())
    if (!isInner(op, input)) {
      inputs.push_back(input->get());
      inputMaps.push_back(op.getMatchingIndexingMap(input));
    }
  for (OpOperand &init : op.getDpsInitsMutable()) {
    inits.push_back(init.get());
    initMaps.push_back(op.getMatchingIndexingMap(&init));
  }
}

void Merger::inlineBody(OpBuilder &b, linalg::GenericOp op, ValueRange &ins,
                        ValueRange &outs) {
  IRMapping mapping;
  for (OpOperand *input : op.getDpsInputOperands()) {
    BlockArgument arg = op.getMatchingBlockArgument(input);
    if (isInner(op, input)) {
      mapping.map(arg, yielded[cast<OpResult>(input->get()).getResultNumber()]);
      continue;
    }
    mapping.map(arg, ins.front());
    ins = ins.drop_front();
  }
  for (OpOperand &init : op.getDpsInitsMutable()) {
    mapping.map(op.getMatchingBlockArgument(&init), outs.front());
    outs = outs.drop_front();
  }
  for (Operation &nested : op.getBody()->without_terminator())
    b.clone(nested, mapping);
  for (Value value : op.getBody()->getTerminator()->getOperands())
    yielded.push_back(mapping.lookupOrDefault(value));
}

linalg::GenericOp Merger::merge() {
  rewriter.setInsertionPoint(second);
  collect(first);
  collect(second);
  SmallVector<Type> types(first->getResultTypes());
  llvm::append_range(types, second->getResultTypes());
  SmallVector<AffineMap> maps(inputMaps);
  llvm::append_range(maps, initMaps);
  auto kinds = first.getNumReductionLoops() ? first.getIteratorTypesArray()
                                            : second.getIteratorTypesArray();
  auto merged = linalg::GenericOp::create(
      rewriter, second.getLoc(), types, inputs, inits, maps, kinds,
      [&](OpBuilder &b, Location loc, ValueRange args) {
        ValueRange ins = args.take_front(inputs.size());
        ValueRange outs = args.drop_front(inputs.size());
        inlineBody(b, first, ins, outs);
        inlineBody(b, second, ins, outs);
        linalg::YieldOp::create(b, loc, yielded);
      });
  unsigned split = first->getNumResults();
  rewriter.replaceAllUsesWith(first->getResults(),
                              merged.getResults().take_front(split));
  rewriter.replaceOp(second, merged.getResults().drop_front(split));
  rewriter.eraseOp(first);
  return merged;
}

/// Takes out of `open` the last operation that may be merged with `second`;
/// null if there is none. Counts those that were `compared`.
static linalg::GenericOp takePartner(
    IRRewriter &rewriter, linalg::GenericOp second,
    SmallVectorImpl<linalg::GenericOp> &open,
    llvm::function_ref<bool(linalg::GenericOp, linalg::GenericOp)> mayMerge,
    uint64_t &compared) {
  for (size_t k = open.size(); k-- > 0;) {
    linalg::GenericOp first = open[k];
    ++compared;
    bool isMovable = canMoveDown(first, second);
    bool fits =
        first->getNumOperands() + second->getNumOperands() <= kMaxOperands &&
        fitIntoOneBody(first, second) && mayMerge(first, second);
    if (isMovable && !fits)
      continue;
    // What cannot move down to here cannot move down further either: it is
    // looked at once.
    open.erase(open.begin() + k);
    if (isMovable || (fits && moveUp(rewriter, first, second)))
      return first;
  }
  return {};
}

MergeCounts loopc::mergeGenerics(
    IRRewriter &rewriter, Block &block,
    llvm::function_ref<bool(linalg::GenericOp)> isCandidate,
    llvm::function_ref<bool(linalg::GenericOp first, linalg::GenericOp second)>
        mayMerge) {
  MergeCounts counts;
  SmallVector<linalg::GenericOp> open;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    auto second = dyn_cast<linalg::GenericOp>(op);
    if (!second || !isCandidate(second))
      continue;
    rewriter.setInsertionPoint(second);
    if (linalg::GenericOp first =
            takePartner(rewriter, second, open, mayMerge, counts.compared)) {
      second = Merger(rewriter, first, second).merge();
      ++counts.merged;
    }
    open.push_back(second);
  }
  return counts;
}
