//===- Extents.cpp - Extents of tensors, and slices that have them --------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Dialect/Loop/Transforms/Utils.h"
#include "loopc/Dialect/Loopc/IR/Ports.h"
#include "loopc/Support/IndexCasts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

using namespace mlir;
using namespace loopc;

namespace {
/// Finds dimensions, for as long as one question takes: an answer stays right
/// while nothing but `tensor.dim` is added. What both branches of an `scf.if`
/// say goes back to one value where they pass it on: without memory a chain of
/// n branches would be walked 2^n times.
class DimFinder {
public:
  DimFinder(OpBuilder &b, Location loc, BranchDims *branchDims = nullptr)
      : b(b), loc(loc), branchDims(branchDims) {}

  OpFoldResult resolve(Value value, int64_t axis);
  OpFoldResult findKnown(Value value, int64_t axis);

private:
  bool keepsShape(Value value, Value base);
  OpFoldResult dimOfBranches(scf::IfOp branch, unsigned k, int64_t axis);
  OpFoldResult dimOfProducer(OpResult value, int64_t axis);
  OpFoldResult dimOfArgument(Value value, int64_t axis);

  OpBuilder &b;
  Location loc;
  BranchDims *branchDims; ///< found before, null where nobody keeps them
  /// What `findKnown` said of the results of branches, null included.
  DenseMap<std::pair<Value, int64_t>, OpFoldResult> known;
  /// What `keepsShape` said of the results of branches.
  DenseMap<std::pair<Value, Value>, bool> keeping;
};
} // namespace

/// True if `value` is `base` with elements written over.
bool DimFinder::keepsShape(Value value, Value base) {
  while (value != base) {
    auto result = dyn_cast<OpResult>(value);
    if (!result)
      return false;
    Operation *op = result.getOwner();
    unsigned k = result.getResultNumber();
    if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) {
      value = insert.getDest();
    } else if (auto written = dyn_cast<DestinationStyleOpInterface>(op)) {
      value = written.getTiedOpOperand(result)->get();
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      if (!keepsShape(loop.getYieldedValues()[k], loop.getRegionIterArg(k)))
        return false;
      value = loop.getInitArgs()[k];
    } else if (auto loop = dyn_cast<loop::LoopOp>(op);
               loop && k < loop.getNumCarried()) {
      if (!keepsShape(loop.getYield().getCarried()[k],
                      loop.getCarriedArgs()[k]))
        return false;
      value = loop.getInits()[k];
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      if (auto found = keeping.find({value, base}); found != keeping.end())
        return found->second;
      bool keeps = keepsShape(branch.thenYield().getOperand(k), base) &&
                   keepsShape(branch.elseYield().getOperand(k), base);
      keeping[{value, base}] = keeps;
      return keeps;
    } else {
      return false;
    }
  }
  return true;
}

/// The length of result `k` of `loop` along `axis` where it is collected there,
/// and a value is at hand that says how often the loop runs.
static OpFoldResult lengthOfCollected(OpBuilder &b, loop::LoopOp loop,
                                      unsigned k, int64_t axis) {
  Value trips = loop.getTripCount();
  if (!trips || loop.getCondition() || k < loop.getNumCarried() ||
      isa<TensorType>(trips.getType()))
    return {};
  k -= loop.getNumCarried();
  if (loop.getLengthOf(k) || loop.getCollectAxes()[k] != axis)
    return {};
  if (std::optional<int64_t> count = getConstantIntValue(trips))
    return b.getIndexAttr(std::max<int64_t>(*count, 0));
  // A dimension is not negative.
  trips = withoutIndexCasts(trips);
  return trips.getDefiningOp<tensor::DimOp>() ? trips : OpFoldResult();
}

/// True if `loop`, in the else-branch of `branch` or before it, runs where that
/// is taken: it has trips, and the condition is that it has none.
static bool runsUnless(scf::IfOp branch, loop::LoopOp loop) {
  auto compare = branch.getCondition().getDefiningOp<arith::CmpIOp>();
  Value trips = loop.getTripCount();
  if (!compare || compare.getPredicate() != arith::CmpIPredicate::eq ||
      !isConstantIntValue(compare.getRhs(), 0) || !trips || loop.getCondition())
    return false;
  // A dimension is not negative.
  trips = withoutIndexCasts(trips);
  return trips == compare.getLhs() && trips.getDefiningOp<tensor::DimOp>();
}

/// The dimension of what `branch` yields as result `k`, where both branches say
/// so by what is defined before them. A loop that collects values knows their
/// extents only if it runs: where it has no trips the other branch is taken.
OpFoldResult DimFinder::dimOfBranches(scf::IfOp branch, unsigned k,
                                      int64_t axis) {
  auto isInside = [](Operation *op, OpFoldResult extent) {
    auto v = dyn_cast<Value>(extent);
    return v && op->isAncestor(v.getParentRegion()->getParentOp());
  };
  Value last = branch.elseYield().getOperand(k);
  OpFoldResult first = resolve(branch.thenYield().getOperand(k), axis);
  OpFoldResult second = resolve(last, axis);
  if (isInside(branch, first))
    return {};
  if (isEqualConstantIntOrValue(first, second))
    return first;
  auto loop = last.getDefiningOp<loop::LoopOp>();
  if (!loop || !runsUnless(branch, loop))
    return {};
  unsigned result = cast<OpResult>(last).getResultNumber();
  if (result < loop.getNumCarried())
    return {};
  result -= loop.getNumCarried();
  int64_t along = loop.getCollectAxes()[result];
  if (along == axis)
    return {};
  second = resolve(loop.getYield().getCollected()[result],
                   axis < along ? axis : axis - 1);
  return isEqualConstantIntOrValue(first, second) ? first : OpFoldResult();
}

/// The dimension as its producer's operands say it; null where they do not.
OpFoldResult DimFinder::dimOfProducer(OpResult value, int64_t axis) {
  Operation *op = value.getOwner();
  if (auto empty = dyn_cast<tensor::EmptyOp>(op))
    return empty.getMixedSizes()[axis];
  if (auto structured = dyn_cast<linalg::LinalgOp>(op))
    return resolve(structured.getDpsInits()[value.getResultNumber()], axis);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return dimOfBranches(branch, value.getResultNumber(), axis);
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
    return resolve(insert.getDest(), axis);
  if (auto reserve = dyn_cast<loop::ReserveOp>(op))
    return axis == static_cast<int64_t>(reserve.getAxis())
               ? OpFoldResult()
               : resolve(reserve.getBuffer(), axis);
  if (auto insert = dyn_cast<tensor::InsertOp>(op))
    return resolve(insert.getDest(), axis);
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    return expand.getMixedOutputShape()[axis];
  if (auto cast = dyn_cast<tensor::CastOp>(op);
      cast && isa<RankedTensorType>(cast.getSource().getType()))
    return resolve(cast.getSource(), axis);
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    llvm::SmallBitVector dropped = slice.getDroppedDims();
    int64_t kept = 0;
    for (auto [k, size] : llvm::enumerate(slice.getMixedSizes()))
      if (!dropped.test(k) && kept++ == axis)
        return size;
  }
  // What a counted loop collects is as long as the loop has trips.
  if (auto loop = dyn_cast<loop::LoopOp>(op)) {
    unsigned k = value.getResultNumber();
    if (k < loop.getNumCarried() &&
        keepsShape(loop.getYield().getCarried()[k], loop.getCarriedArgs()[k]))
      return resolve(loop.getInits()[k], axis);
    return lengthOfCollected(b, loop, k, axis);
  }
  // A loop that writes into the tensor that it carries.
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    unsigned k = value.getResultNumber();
    if (keepsShape(loop.getYieldedValues()[k], loop.getRegionIterArg(k)))
      return resolve(loop.getInitArgs()[k], axis);
  }
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
    // A group of one axis, but for extents of 1; products are left to
    // tensor.dim.
    ReassociationIndices group = collapse.getReassociationIndices()[axis];
    llvm::erase_if(group, [&](int64_t k) {
      return collapse.getSrcType().getDimSize(k) == 1;
    });
    if (group.size() == 1)
      return resolve(collapse.getSrc(), group[0]);
  }
  return {};
}

/// The dimension of a block argument where it is another value's for sure: a
/// slice's is its source's; what an `scf.for` carries and writes into has that
/// of its init; inputs of the model share dimensions of one name (the border
/// checks them).
OpFoldResult DimFinder::dimOfArgument(Value value, int64_t axis) {
  auto arg = dyn_cast<BlockArgument>(value);
  if (!arg)
    return {};
  Operation *parent = arg.getOwner()->getParentOp();
  if (auto loop = dyn_cast<loop::LoopOp>(parent)) {
    unsigned first = 2 + loop.getNumCarried();
    if (arg.getArgNumber() < first)
      return {};
    unsigned k = arg.getArgNumber() - first;
    int64_t sliceAxis = loop.getSliceAxes()[k];
    return resolve(loop.getSlices()[k], axis < sliceAxis ? axis : axis + 1);
  }
  if (auto loop = dyn_cast<scf::ForOp>(parent)) {
    // A body that is still being made yields nothing yet.
    Block *body = loop.getBody();
    if (arg == loop.getInductionVar() || body->empty() ||
        !isa<scf::YieldOp>(body->back()))
      return {};
    unsigned k = arg.getArgNumber() - loop.getNumInductionVars();
    return keepsShape(loop.getYieldedValues()[k], arg)
               ? resolve(loop.getInitArgs()[k], axis)
               : OpFoldResult();
  }
  auto function = dyn_cast<func::FuncOp>(parent);
  if (!function || !arg.getOwner()->isEntryBlock())
    return {};
  ArgumentAxis here{arg.getArgNumber(), axis};
  ArgumentAxis first = findFirstEqualAxis(function, here);
  return first == here
             ? OpFoldResult()
             : resolve(function.getArgument(first.argument), first.axis);
}

/// True if `dim`, of `value`, stands before `here` in their block. Those right
/// behind the definition are found from there: to compare places a block in the
/// middle of which operations are made is numbered anew, again and again.
static bool standsBefore(tensor::DimOp dim, Value value, Operation *here) {
  Operation *at = value.getDefiningOp();
  at = at ? at->getNextNode() : &value.getParentBlock()->front();
  // As many as there are for a value of eight axes.
  for (unsigned k = 0;
       k < 16 && at != here && isa<arith::ConstantOp, tensor::DimOp>(at);
       ++k, at = at->getNextNode())
    if (at == dim)
      return true;
  return dim->isBeforeInBlock(here);
}

/// A `tensor.dim value, axis` that is there already, in the block of `value`
/// and before the insertion point; null without one.
static Value dominatingDim(OpBuilder &b, Value value, int64_t axis) {
  Block *block = value.getParentBlock();
  Block *insertion = b.getInsertionBlock();
  Operation *here = nullptr;
  if (insertion != block) {
    // A region that is still being made has no parent yet.
    Operation *parent = insertion->getParentOp();
    here = parent ? block->findAncestorOpInBlock(*parent) : nullptr;
    if (!here)
      return {};
  } else if (b.getInsertionPoint() != block->end()) {
    here = &*b.getInsertionPoint();
  }
  for (Operation *user : value.getUsers())
    if (auto dim = dyn_cast<tensor::DimOp>(user))
      if (dim.getConstantIndex() == axis && dim->getBlock() == block &&
          (!here || standsBefore(dim, value, here)))
        return dim.getResult();
  return {};
}

OpFoldResult DimFinder::findKnown(Value value, int64_t axis) {
  auto result = dyn_cast<OpResult>(value);
  if (!result)
    return dimOfArgument(value, axis);
  bool isBranch = isa<scf::IfOp>(result.getOwner());
  bool isKept = isBranch && branchDims &&
                branchDims->branches.contains(result.getOwner());
  if (isKept)
    if (OpFoldResult extent = branchDims->found.lookup({value, axis}))
      return extent;
  if (isBranch)
    if (auto found = known.find({value, axis}); found != known.end())
      return found->second;
  if (isKept)
    ++branchDims->work;
  OpFoldResult extent = dimOfProducer(result, axis);
  if (extent)
    if (std::optional<int64_t> constant = getConstantIntValue(extent))
      extent = b.getIndexAttr(*constant);
  if (isBranch)
    known[{value, axis}] = extent;
  if (isKept && extent)
    branchDims->found[{value, axis}] = extent;
  return extent;
}

OpFoldResult DimFinder::resolve(Value value, int64_t axis) {
  auto type = cast<RankedTensorType>(value.getType());
  if (!type.isDynamicDim(axis))
    return b.getIndexAttr(type.getDimSize(axis));
  if (OpFoldResult extent = findKnown(value, axis))
    return extent;
  // One tensor.dim stands behind the definition, so that equal dimensions are
  // equal values.
  if (Value extent = dominatingDim(b, value, axis))
    return extent;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointAfterValue(value);
  Value index = arith::ConstantIndexOp::create(b, loc, axis);
  return tensor::DimOp::create(b, loc, value, index).getResult();
}

OpFoldResult loopc::knownDim(OpBuilder &b, Location loc, Value value,
                             int64_t axis) {
  return DimFinder(b, loc).findKnown(value, axis);
}

OpFoldResult loopc::resolveDim(OpBuilder &b, Location loc, Value value,
                               int64_t axis, BranchDims *branchDims) {
  return DimFinder(b, loc, branchDims).resolve(value, axis);
}

SmallVector<OpFoldResult> loopc::resolveDims(OpBuilder &b, Location loc,
                                             Value value) {
  SmallVector<OpFoldResult> dims;
  for (int64_t k : llvm::seq(cast<RankedTensorType>(value.getType()).getRank()))
    dims.push_back(resolveDim(b, loc, value, k));
  return dims;
}

/// `value` as `type`, which says the same extents: itself, what a cast was made
/// of, or a cast.
static Value castExtents(OpBuilder &b, Location loc, RankedTensorType type,
                         Value value) {
  for (Value source = value; source;) {
    if (source.getType() == type)
      return source;
    auto cast = source.getDefiningOp<tensor::CastOp>();
    source = cast ? cast.getSource() : Value();
  }
  // Extents that contradict each other are behind a check that fails.
  if (!tensor::CastOp::areCastCompatible(value.getType(), type)) {
    SmallVector<int64_t> open(type.getRank(), ShapedType::kDynamic);
    value = tensor::CastOp::create(b, loc, type.clone(open), value);
  }
  return tensor::CastOp::create(b, loc, type, value);
}

Value loopc::withKnownExtents(OpBuilder &b, Location loc, Value value,
                              BranchDims *branchDims) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || type.hasStaticShape())
    return value;
  SmallVector<int64_t> shape(type.getShape());
  for (auto [axis, extent] : llvm::enumerate(shape))
    if (ShapedType::isDynamic(extent))
      if (OpFoldResult known =
              DimFinder(b, loc, branchDims).findKnown(value, axis))
        extent = getConstantIntValue(known).value_or(extent);
  return castExtents(b, loc, type.clone(shape), value);
}

Value loopc::extractSlice(OpBuilder &b, Location loc, Value value,
                          ArrayRef<OpFoldResult> offsets,
                          ArrayRef<OpFoldResult> sizes,
                          ArrayRef<OpFoldResult> strides,
                          ArrayRef<int64_t> dropped) {
  SmallVector<OpFoldResult> ones(sizes.size(), b.getIndexAttr(1)), kept;
  for (auto [k, size] : llvm::enumerate(sizes))
    if (!llvm::is_contained(dropped, static_cast<int64_t>(k)))
      kept.push_back(size);
  auto type = cast<RankedTensorType>(value.getType())
                  .clone(decomposeMixedValues(kept).first);
  return tensor::ExtractSliceOp::create(b, loc, type, value, offsets, sizes,
                                        strides.empty() ? ones : strides);
}

Value loopc::insertSlice(OpBuilder &b, Location loc, Value source, Value dest,
                         ArrayRef<OpFoldResult> offsets,
                         ArrayRef<OpFoldResult> sizes,
                         ArrayRef<OpFoldResult> strides,
                         ArrayRef<int64_t> dropped) {
  auto type = cast<RankedTensorType>(source.getType());
  SmallVector<OpFoldResult> ones(sizes.size(), b.getIndexAttr(1)),
      extents(sizes);
  SmallVector<int64_t> shape(type.getShape());
  unsigned axis = 0;
  for (auto [k, extent] : llvm::enumerate(extents)) {
    if (llvm::is_contained(dropped, static_cast<int64_t>(k)))
      continue;
    int64_t &own = shape[axis++];
    own = getConstantIntValue(extent).value_or(own);
    if (ShapedType::isStatic(own))
      extent = b.getIndexAttr(own);
  }
  source = castExtents(b, loc, type.clone(shape), source);
  return tensor::InsertSliceOp::create(b, loc, source, dest, offsets, extents,
                                       strides.empty() ? ones : strides);
}
