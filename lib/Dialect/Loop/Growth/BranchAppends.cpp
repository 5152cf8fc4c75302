//===- BranchAppends.cpp - Concatenations in branches ---------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BranchAppends.h"
#include "loopc/Dialect/Loop/Transforms/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace loopc;

/// What the branch `block` yields for `result`.
static Value yieldedFor(OpResult result, Block *block) {
  return withoutCasts(
      block->getTerminator()->getOperand(result.getResultNumber()));
}

/// `value` as a result of an scf.if in `block`; null if it is none.
static OpResult resultOfBranch(Value value, Block *block) {
  auto branch = value.getDefiningOp<scf::IfOp>();
  return branch && branch->getBlock() == block ? cast<OpResult>(value)
                                               : OpResult();
}

static OpFoldResult addExtents(OpBuilder &b, Location loc, OpFoldResult one,
                               OpFoldResult other) {
  std::optional<int64_t> x = getConstantIntValue(one),
                         y = getConstantIntValue(other);
  if (x && y)
    return b.getIndexAttr(*x + *y);
  if (x == 0)
    return other;
  return b.createOrFold<arith::AddIOp>(
      loc, getValueOrCreateConstantIndexOp(b, loc, one),
      getValueOrCreateConstantIndexOp(b, loc, other));
}

/// The part of another value that `value`, of `block`, is; null otherwise.
static tensor::ExtractSliceOp cutOf(Value value, Block *block) {
  auto cut = value.getDefiningOp<tensor::ExtractSliceOp>();
  return cut && cut->getBlock() == block && cut.hasUnitStride() &&
                 cut.getType().getRank() == cut.getSourceType().getRank()
             ? cut
             : tensor::ExtractSliceOp();
}

/// Appends what `value`, of `block`, may be made of.
static void addSources(Value value, Block *block, bool throughCuts,
                       SmallVector<Value> &found) {
  value = withoutCasts(value);
  if (llvm::is_contained(found, value))
    return;
  found.push_back(value);
  for (tensor::InsertSliceOp part : insertionsOf(value, block))
    addSources(part.getSource(), block, throughCuts, found);
  if (tensor::ExtractSliceOp cut = cutOf(value, block); cut && throughCuts)
    addSources(cut.getSource(), block, throughCuts, found);
  if (OpResult inner = resultOfBranch(value, block))
    found.append(BranchAppend::findBases(inner, throughCuts));
}

SmallVector<Value> BranchAppend::findBases(OpResult result, bool throughCuts) {
  SmallVector<Value> found, bases;
  Operation *branch = result.getOwner();
  for (Region &region : branch->getRegions())
    if (!region.empty())
      addSources(yieldedFor(result, &region.front()), &region.front(),
                 throughCuts, found);
  for (Value value : found)
    if (!branch->isAncestor(value.getParentBlock()->getParentOp()) &&
        !llvm::is_contained(bases, value))
      bases.push_back(value);
  return bases;
}

//===----------------------------------------------------------------------===//
// Matching
//===----------------------------------------------------------------------===//

bool BranchAppend::reachesBase(Value value, Block *block,
                               bool throughCuts) const {
  SmallVector<Value> sources;
  addSources(value, block, throughCuts, sources);
  return llvm::is_contained(sources, base);
}

/// True if `cut` takes a part of the base, along the axis.
bool BranchAppend::matchCut(tensor::ExtractSliceOp cut, Addition &addition,
                            ExtentTest isExtent) {
  if (withoutCasts(cut.getSource()) != base)
    return false;
  for (auto [k, offset, size] :
       llvm::enumerate(cut.getMixedOffsets(), cut.getMixedSizes())) {
    int64_t along = k;
    if (isConstantIntValue(offset, 0) && isExtent(size, along))
      continue;
    if (axis.value_or(along) != along)
      return false;
    axis = along;
  }
  addition.cut = cut;
  return axis.has_value();
}

/// Adds what is in `found` beside `rest`, in which the base is.
bool BranchAppend::matchParts(const Concatenation &found, Block *block,
                              Addition &addition, Value &rest,
                              ExtentTest isExtent) {
  if (found.parts.size() < 2 || !found.matchAxis(axis) ||
      !found.isGapless(*axis))
    return false;
  // Beside the whole base, a part of it is a part as any other.
  bool throughCuts = false;
  auto reaches = [&](tensor::InsertSliceOp part) {
    return reachesBase(part.getSource(), block, throughCuts);
  };
  ArrayRef<tensor::InsertSliceOp> others(found.parts);
  throughCuts = llvm::none_of(others, reaches);
  bool isFirst = reaches(found.parts.front());
  if (isInFront == isFirst)
    return false;
  tensor::InsertSliceOp own =
      isFirst ? found.parts.front() : found.parts.back();
  rest = withoutCasts(own.getSource());
  others = isFirst ? others.drop_front() : others.drop_back();
  if (!reachesBase(rest, block) ||
      (!throughCuts && llvm::any_of(others, reaches)))
    return false;
  isInFront = !isFirst;
  for (tensor::InsertSliceOp other : others)
    for (auto [k, size] : llvm::enumerate(other.getMixedSizes()))
      if (static_cast<int64_t>(k) != *axis &&
          (!isExtent(size, k) || !isExtent(found.extents()[k], k)))
        return false;
  // What is nearer to the base comes later in front of it, sooner behind.
  auto &parts = addition.parts;
  parts.insert(isFirst ? parts.begin() : parts.end(), others.begin(),
               others.end());
  return true;
}

bool BranchAppend::matchBranch(Block *block, Addition &addition,
                               ExtentTest isExtent) {
  addition = Addition();
  Value value = yieldedFor(result, block);
  while (value != base) {
    if (OpResult inner = resultOfBranch(value, block)) {
      BranchAppend within(inner, base);
      within.isInFront = isInFront;
      if (!within.match(axis, isExtent))
        return false;
      isInFront = within.isInFront;
      addition.inner = inner;
      return true;
    }
    if (tensor::ExtractSliceOp cut = cutOf(value, block))
      return matchCut(cut, addition, isExtent);
    Concatenation found;
    found.parts = insertionsOf(value, block);
    if (!matchParts(found, block, addition, value, isExtent))
      return false;
  }
  return true;
}

bool BranchAppend::match(std::optional<int64_t> &known, ExtentTest isExtent) {
  axis = known;
  if (!branch().elseBlock() ||
      !matchBranch(branch().thenBlock(), additions[0], isExtent) ||
      !matchBranch(branch().elseBlock(), additions[1], isExtent) ||
      (additions[0].isNone() && additions[1].isNone() && !hasCuts()))
    return false;
  known = axis;
  return true;
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

/// Takes concatenations out of branches within the branches; false where there
/// are none.
FailureOr<bool> BranchAppend::flatten(IRRewriter &rewriter,
                                      ExtentTest isExtent) {
  bool isChanged = false;
  for (Addition &addition : additions) {
    if (!addition.inner)
      continue;
    BranchAppend within(addition.inner, base);
    std::optional<int64_t> along = axis;
    if (!within.match(along, isExtent) ||
        failed(within.rewrite(rewriter, isExtent)))
      return failure();
    isChanged = true;
  }
  return isChanged;
}

/// The type of all that a branch adds.
RankedTensorType BranchAppend::typeOf(const Addition &addition) const {
  auto type = cast<RankedTensorType>(
      tensor::InsertSliceOp(addition.parts.front()).getSourceType());
  SmallVector<int64_t> shape(type.getShape());
  for (tensor::InsertSliceOp part : llvm::drop_begin(addition.parts))
    for (auto [k, extent] : llvm::enumerate(part.getSourceType().getShape())) {
      bool isOpen =
          ShapedType::isDynamic(shape[k]) || ShapedType::isDynamic(extent);
      if (static_cast<int64_t>(k) == *axis)
        shape[k] = isOpen ? ShapedType::kDynamic : shape[k] + extent;
      else if (shape[k] != extent)
        shape[k] = ShapedType::kDynamic;
    }
  return type.clone(shape);
}

/// The type of what either branch adds.
RankedTensorType BranchAppend::typeOfAdditions() const {
  RankedTensorType type;
  for (const Addition &addition : additions) {
    if (addition.isNone())
      continue;
    RankedTensorType one = typeOf(addition);
    if (!type)
      type = one;
    SmallVector<int64_t> shape(type.getShape());
    for (auto [extent, other] : llvm::zip_equal(shape, one.getShape()))
      if (extent != other)
        extent = ShapedType::kDynamic;
    type = type.clone(shape);
  }
  return type;
}

OpFoldResult BranchAppend::lengthOf(OpBuilder &b,
                                    const Addition &addition) const {
  OpFoldResult length = b.getIndexAttr(0);
  for (tensor::InsertSliceOp part : addition.parts)
    length = addExtents(b, part.getLoc(), length, sizeOf(part, *axis));
  return length;
}

/// The one part that there is, if it is computed in front of the branch.
Value BranchAppend::partInFront() const {
  Value found;
  for (const Addition &addition : additions)
    for (tensor::InsertSliceOp part : addition.parts) {
      Value source = part.getSource();
      if (addition.parts.size() > 1 || (found && found != source) ||
          branch()->isAncestor(source.getParentBlock()->getParentOp()))
        return {};
      found = source;
    }
  return found;
}

/// What a branch adds as one tensor of type `type`.
Value BranchAppend::join(OpBuilder &b, const Addition &addition,
                         RankedTensorType type) const {
  Location loc = result.getLoc();
  Value whole;
  if (addition.parts.size() == 1) {
    tensor::InsertSliceOp part = addition.parts.front();
    whole = part.getSource();
  } else {
    SmallVector<OpFoldResult> extents = resolveDims(b, loc, base);
    if (addition.isNone())
      for (auto [k, known] : llvm::enumerate(type.getShape()))
        if (ShapedType::isStatic(known))
          extents[k] = b.getIndexAttr(known);
    bool isFull = addition.isNone() && !type.isDynamicDim(*axis);
    if (!isFull)
      extents[*axis] = lengthOf(b, addition);
    whole = tensor::EmptyOp::create(b, loc, extents, type.getElementType());
    OpFoldResult place = b.getIndexAttr(0);
    for (tensor::InsertSliceOp part : addition.parts) {
      SmallVector<OpFoldResult> places(part.getMixedOffsets());
      places[*axis] = place;
      whole = tensor::InsertSliceOp::create(b, loc, part.getSource(), whole,
                                            places, part.getMixedSizes(),
                                            part.getMixedStrides());
      place = addExtents(b, loc, place, sizeOf(part, *axis));
    }
  }
  return b.createOrFold<tensor::CastOp>(loc, type, whole);
}

static void eraseDead(IRRewriter &rewriter, Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      rewriter.eraseOp(&op);
}

/// The branch, which yields in the place of the result what is added, if `type`
/// is not null, where what stays begins and how long it is, if something is
/// cut, and the length of what is added.
scf::IfOp BranchAppend::makeBranch(IRRewriter &rewriter,
                                   RankedTensorType type) {
  scf::IfOp before = branch();
  ImplicitLocOpBuilder b(before.getLoc(), rewriter);
  unsigned dropped = result.getResultNumber();
  SmallVector<Type> types(before.getResultTypes());
  types.erase(types.begin() + dropped);
  if (type)
    types.push_back(type);
  types.append(hasCuts() ? 3 : 1, b.getIndexType());
  b.setInsertionPoint(before);
  OpFoldResult all;
  if (hasCuts())
    all = resolveDim(b, b.getLoc(), base, *axis);
  auto made = scf::IfOp::create(b, types, before.getCondition(),
                                /*withElseRegion=*/true);
  made->setDiscardableAttrs(before->getDiscardableAttrDictionary());
  for (auto [k, addition] : llvm::enumerate(additions)) {
    Region &region = made->getRegion(k);
    rewriter.eraseBlock(&region.front());
    rewriter.inlineRegionBefore(before->getRegion(k), region, region.end());
    Operation *yield = region.front().getTerminator();
    b.setInsertionPoint(yield);
    SmallVector<Value> values(yield->getOperands());
    values.erase(values.begin() + dropped);
    if (type)
      values.push_back(join(b, addition, type));
    auto push = [&](OpFoldResult value) {
      values.push_back(getValueOrCreateConstantIndexOp(b, b.getLoc(), value));
    };
    if (hasCuts()) {
      tensor::ExtractSliceOp cut = addition.cut;
      push(cut ? cut.getMixedOffsets()[*axis] : b.getIndexAttr(0));
      push(cut ? cut.getMixedSizes()[*axis] : all);
    }
    push(lengthOf(b, addition));
    rewriter.modifyOpInPlace(yield, [&] { yield->setOperands(values); });
    eraseDead(rewriter, region.front());
  }
  return made;
}

/// `from` with `length` of `part` in front or behind; `isWhole`: that is all of
/// it.
Value BranchAppend::concatenate(OpBuilder &b, Value from, Value part,
                                OpFoldResult length, bool isWhole) {
  Location loc = result.getLoc();
  Type element = getElementTypeOrSelf(part.getType());
  SmallVector<OpFoldResult> extents = resolveDims(b, loc, from);
  SmallVector<OpFoldResult> zeros(extents.size(), b.getIndexAttr(0));
  SmallVector<OpFoldResult> own = extents, added = extents, places = zeros;
  added[*axis] = length;
  if (!isWhole && !isEqualConstantIntOrValue(
                      length, tensor::getMixedSize(b, loc, part, *axis)))
    part = extractSlice(b, loc, part, zeros, added);
  extents[*axis] = addExtents(b, loc, own[*axis], length);
  Value first = *isInFront ? part : from, second = *isInFront ? from : part;
  Value whole = tensor::EmptyOp::create(b, loc, extents, element);
  whole = insertSlice(b, loc, first, whole, zeros, *isInFront ? added : own);
  places[*axis] = (*isInFront ? added : own)[*axis];
  return insertSlice(b, loc, second, whole, places, *isInFront ? own : added);
}

LogicalResult BranchAppend::rewrite(IRRewriter &rewriter, ExtentTest isExtent) {
  FailureOr<bool> flattened = flatten(rewriter, isExtent);
  if (failed(flattened))
    return failure();
  if (*flattened) {
    // What the branches were is no proof of what they are now.
    isInFront.reset();
    std::optional<int64_t> along = axis;
    if (!match(along, isExtent))
      return failure();
  }
  scf::IfOp before = branch();
  ImplicitLocOpBuilder b(before.getLoc(), rewriter);
  Value part = partInFront();
  std::optional<int64_t> count = countAdded();
  SmallVector<OpFoldResult> begins;
  for (const Addition &addition : additions)
    if (tensor::ExtractSliceOp cut = addition.cut)
      begins.push_back(cut.getMixedOffsets()[*axis]);
  bool adds = !additions[0].isNone() || !additions[1].isNone();
  scf::IfOp made = makeBranch(rewriter, part || !adds ? RankedTensorType()
                                                      : typeOfAdditions());
  b.setInsertionPointAfter(made);
  Value whole = base;
  if (hasCuts()) {
    SmallVector<OpFoldResult> sizes = resolveDims(b, b.getLoc(), base);
    SmallVector<OpFoldResult> offsets(sizes.size(), b.getIndexAttr(0));
    ValueRange range = made.getResults().drop_back().take_back(2);
    if (llvm::any_of(begins, [](OpFoldResult begin) {
          return !isConstantIntValue(begin, 0);
        }))
      offsets[*axis] = range[0];
    sizes[*axis] = range[1];
    whole = extractSlice(b, b.getLoc(), base, offsets, sizes);
  }
  if (adds)
    whole = addPart(b, whole, made, part, count);
  unsigned place = result.getResultNumber();
  SmallVector<Value> values(
      made.getResults().take_front(before.getNumResults() - 1));
  values.insert(values.begin() + place,
                b.createOrFold<tensor::CastOp>(result.getType(), whole));
  rewriter.replaceOp(before, values);
  return success();
}

/// The extent of what either branch adds, if that is known and the same.
std::optional<int64_t> BranchAppend::countAdded() const {
  std::optional<int64_t> counts[2];
  for (auto [k, addition] : llvm::enumerate(additions)) {
    counts[k] = 0;
    for (tensor::InsertSliceOp one : addition.parts) {
      std::optional<int64_t> size = getConstantIntValue(sizeOf(one, *axis));
      counts[k] =
          size && counts[k] ? std::optional(*size + *counts[k]) : std::nullopt;
    }
  }
  return counts[0] == counts[1] ? counts[0] : std::nullopt;
}

/// `from` with what the branches of `made` add, `count` elements if that is
/// known: some of `part` or, where that is null, what they yield.
Value BranchAppend::addPart(OpBuilder &b, Value from, scf::IfOp made,
                            Value part, std::optional<int64_t> count) {
  OpFoldResult length = made.getResults().back();
  if (count)
    length = b.getIndexAttr(*count);
  // What branches yield is as long as they say, if its type is open.
  bool isWhole = !part;
  if (!part)
    part = made.getResults().drop_back(hasCuts() ? 3 : 1).back();
  isWhole &= cast<RankedTensorType>(part.getType()).isDynamicDim(*axis);
  return concatenate(b, from, part, length, isWhole);
}
