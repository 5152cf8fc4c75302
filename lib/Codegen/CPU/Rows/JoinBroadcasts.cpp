//===- JoinBroadcasts.cpp - Longer rows of broadcasts at run time ---------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The last two axes of an elementwise operation are one row, where every
// operand has all of both or one element along both. Of an operand whose
// extents are 1 or those of the result only a run knows that: the views of all
// operands then have one element along the last axis but one, and both axes'
// elements along the last:
//
//   x[d1 == 1 ? 0 : i, d2 == 1 ? 0 : j] + y[i, j]   // 56 x 56 of images
//     becomes, with one = (d1 == 1 and d2 == 1) and joined = one or x has as
//     many elements along both axes as the result,
//   x'[0, (joined ? one : d2 == 1) ? 0 : j] + y'[0, j]
//   x' : joined ? [1, d1 * d2] : [d1, d2], and y' alike
//
// Of two axes none is left to be dealt to threads then: those of long rows,
// which gain nothing, stay two.

#include "Rows.h"
#include "VectorElements.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace loopc;

/// Rows of so many elements are as good as longer ones.
static constexpr int64_t kLong = 256;

namespace {
/// How an access goes along one axis of the loops.
struct AlongAxis {
  bool isAll = false; ///< It has all elements.
  Value isOne;        ///< Where a run knows: true (i1) for one element.
};

/// Where a load reads along the last axis but one and the last.
struct OpenPlace {
  memref::LoadOp load;
  AlongAxis outer, inner;
  /// True (i1) where it has one element along both.
  Value hasOne = {};
};

class BroadcastJoiner {
public:
  explicit BroadcastJoiner(linalg::GenericOp op)
      : b(op.getLoc(), op), op(op), last(op.getNumLoops() - 1) {}

  void rewrite();

private:
  bool match();
  bool matchOperand(OpOperand &operand);
  std::optional<AlongAxis> matchPlace(Value place, unsigned dim);
  bool matchLoad(memref::LoadOp load);
  Value equal(Value extent, Value other) {
    return b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::eq, extent,
                                         other);
  }
  Value isSingle(Value extent);
  Value isAtZero(const AlongAxis &along, Value extent);
  Value isWhole(const AlongAxis &along, Value extent);
  Value fits(OpenPlace &place, Value rows, Value columns);
  Value emitCondition();
  void setPlace(const OpenPlace &place, Value joined);
  Value view(Value buffer, unsigned axis, Value joined);

  ImplicitLocOpBuilder b;
  linalg::GenericOp op;
  unsigned last; ///< number of the last axis
  SmallVector<OpenPlace> places;
};
} // namespace

bool BroadcastJoiner::matchOperand(OpOperand &operand) {
  auto type = dyn_cast<MemRefType>(operand.get().getType());
  if (!type)
    return operand.get().getType().isIntOrFloat();
  AffineMap map = op.getMatchingIndexingMap(&operand);
  if (!map.isFunctionOfDim(last) && !map.isFunctionOfDim(last - 1))
    return !op.isDpsInit(&operand);
  unsigned rank = map.getNumResults();
  return type.getLayout().isIdentity() && rank >= 2 &&
         map.isProjectedPermutation() && map.getDimPosition(rank - 1) == last &&
         map.getDimPosition(rank - 2) == last - 1;
}

std::optional<AlongAxis> BroadcastJoiner::matchPlace(Value place,
                                                     unsigned dim) {
  auto isNumber = [&](Value value) {
    auto number = value.getDefiningOp<linalg::IndexOp>();
    return number && number.getDim() == dim;
  };
  if (isNumber(place))
    return AlongAxis{true, {}};
  if (isConstantIntValue(place, 0))
    return AlongAxis{};
  auto choice = place.getDefiningOp<arith::SelectOp>();
  if (!choice || !isConstantIntValue(choice.getTrueValue(), 0) ||
      !isNumber(choice.getFalseValue()) ||
      choice.getCondition().getParentRegion() == &op.getRegion())
    return std::nullopt;
  return AlongAxis{false, choice.getCondition()};
}

bool BroadcastJoiner::matchLoad(memref::LoadOp load) {
  if (!load.getMemRefType().getLayout().isIdentity())
    return false;
  OperandRange indices = load.getIndices();
  auto varies = [&](Value value) {
    return variesAlong(value, op, last) || variesAlong(value, op, last - 1);
  };
  if (llvm::none_of(indices, varies))
    return true;
  if (indices.size() < 2 || llvm::any_of(indices.drop_back(2), varies))
    return false;
  std::optional<AlongAxis> outer =
      matchPlace(indices[indices.size() - 2], last - 1);
  std::optional<AlongAxis> inner = matchPlace(indices.back(), last);
  if (!outer || !inner)
    return false;
  places.push_back({load, *outer, *inner});
  return true;
}

bool BroadcastJoiner::match() {
  if (!op.hasPureBufferSemantics() || op.getNumLoops() < 2 ||
      op.getNumParallelLoops() != op.getNumLoops() ||
      ShapedType::isStatic(knownExtents(op)[last]) ||
      llvm::any_of(*op.getBody(), [](Operation &inner) {
        return inner.getNumRegions() != 0; // may hide loads and numbers
      }))
    return false;
  auto loads = op.getBody()->getOps<memref::LoadOp>();
  if (loads.empty() ||
      !llvm::all_of(op->getOpOperands(),
                    [&](OpOperand &operand) { return matchOperand(operand); }))
    return false;
  // Numbers of elements are in places alone.
  for (auto number : op.getBody()->getOps<linalg::IndexOp>())
    for (Operation *user : number->getUsers())
      if (number.getDim() + 1 >= last && !isa<memref::LoadOp>(user) &&
          !(isa<arith::SelectOp>(user) &&
            llvm::all_of(user->getUsers(), llvm::IsaPred<memref::LoadOp>)))
        return false;
  return llvm::all_of(loads,
                      [&](memref::LoadOp load) { return matchLoad(load); }) &&
         llvm::any_of(places, [](const OpenPlace &place) {
           return place.outer.isOne || place.inner.isOne;
         });
}

/// Extent number `fromLast`, counted from the last one, of `buffer`.
static Value extentOf(ImplicitLocOpBuilder &b, Value buffer, int64_t fromLast) {
  int64_t rank = cast<MemRefType>(buffer.getType()).getRank();
  return memref::DimOp::create(b, buffer, rank - 1 - fromLast);
}

Value BroadcastJoiner::isSingle(Value extent) {
  return equal(extent, arith::ConstantIndexOp::create(b, 1));
}

/// True (i1) where 0 is the only place along an axis of `extent` elements.
Value BroadcastJoiner::isAtZero(const AlongAxis &along, Value extent) {
  if (along.isAll)
    return isSingle(extent);
  return along.isOne
             ? b.createOrFold<arith::OrIOp>(along.isOne, isSingle(extent))
             : arith::ConstantOp::create(b, b.getBoolAttr(true));
}

/// True (i1) where each of the `extent` elements of an axis has its own place.
Value BroadcastJoiner::isWhole(const AlongAxis &along, Value extent) {
  if (along.isAll)
    return arith::ConstantOp::create(b, b.getBoolAttr(true));
  if (!along.isOne)
    return isSingle(extent);
  Value isOther = b.createOrFold<arith::XOrIOp>(
      along.isOne, arith::ConstantOp::create(b, b.getBoolAttr(true)));
  return b.createOrFold<arith::OrIOp>(isOther, isSingle(extent));
}

/// True (i1) where the load has one element along both axes, of `rows` and
/// `columns` elements, or as many as the result. It may read a part of a buffer
/// with longer rows.
Value BroadcastJoiner::fits(OpenPlace &place, Value rows, Value columns) {
  Value buffer = place.load.getMemRef();
  auto both = [&](Value one, Value other) {
    return b.createOrFold<arith::AndIOp>(one, other);
  };
  place.hasOne =
      both(isAtZero(place.outer, rows), isAtZero(place.inner, columns));
  if (!place.inner.isAll && !place.inner.isOne)
    return place.hasOne;
  Value all =
      both(both(equal(extentOf(b, buffer, 1), rows),
                equal(extentOf(b, buffer, 0), columns)),
           both(isWhole(place.outer, rows), isWhole(place.inner, columns)));
  return place.inner.isAll ? all
                           : b.createOrFold<arith::OrIOp>(all, place.hasOne);
}

/// True (i1) where the axes are joined.
Value BroadcastJoiner::emitCondition() {
  Value rows = extentOf(b, op.getOutputs()[0], 1),
        columns = extentOf(b, op.getOutputs()[0], 0), joined;
  if (last == 1)
    joined = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, columns,
                                   arith::ConstantIndexOp::create(b, kLong));
  for (OpenPlace &place : places) {
    Value own = fits(place, rows, columns);
    joined = joined ? b.createOrFold<arith::AndIOp>(joined, own) : own;
  }
  return joined;
}

/// Where the axes are joined the load reads one element for all, or each.
void BroadcastJoiner::setPlace(const OpenPlace &place, Value joined) {
  if (!place.inner.isOne)
    return;
  Value condition =
      arith::SelectOp::create(b, joined, place.hasOne, place.inner.isOne);
  OpBuilder::InsertionGuard guard(b);
  memref::LoadOp load = place.load;
  b.setInsertionPoint(load);
  OpOperand &index = load.getIndicesMutable()[load.getIndices().size() - 1];
  auto choice = index.get().getDefiningOp<arith::SelectOp>();
  index.set(arith::SelectOp::create(b, condition, choice.getTrueValue(),
                                    choice.getFalseValue()));
  if (choice.use_empty())
    choice.erase();
}

/// `buffer`, whose axis `axis` is the last one, with its last two axes joined.
Value BroadcastJoiner::view(Value buffer, unsigned axis, Value joined) {
  Location loc = b.getLoc();
  SmallVector<OpFoldResult> sizes = memref::getMixedSizes(b, loc, buffer);
  auto valueOf = [&](OpFoldResult size) {
    return getValueOrCreateConstantIndexOp(b, loc, size);
  };
  Value one = arith::ConstantIndexOp::create(b, 1);
  Value outer = valueOf(sizes[axis - 1]), inner = valueOf(sizes[axis]);
  Value all = arith::MulIOp::create(b, outer, inner);
  sizes[axis - 1] = arith::SelectOp::create(b, joined, one, outer).getResult();
  sizes[axis] = arith::SelectOp::create(b, joined, all, inner).getResult();
  SmallVector<OpFoldResult> strides(axis + 1);
  strides[axis] = b.getIndexAttr(1);
  for (unsigned k = axis; k-- > 0;)
    strides[k] =
        arith::MulIOp::create(b, valueOf(sizes[k + 1]), valueOf(strides[k + 1]))
            .getResult();
  SmallVector<int64_t> shape, steps;
  for (OpFoldResult size : sizes)
    shape.push_back(isa<Attribute>(size) ? *getConstantIntValue(size)
                                         : ShapedType::kDynamic);
  steps.assign(axis, ShapedType::kDynamic);
  steps.push_back(1);
  auto type = cast<MemRefType>(buffer.getType());
  auto joinedType = MemRefType::get(
      shape, type.getElementType(),
      StridedLayoutAttr::get(b.getContext(), 0, steps), type.getMemorySpace());
  return memref::ReinterpretCastOp::create(b, joinedType, buffer,
                                           b.getIndexAttr(0), sizes, strides);
}

void BroadcastJoiner::rewrite() {
  if (!match())
    return;
  Value joined = emitCondition();
  if (matchPattern(joined, m_Zero()))
    return;
  for (const OpenPlace &place : places)
    setPlace(place, joined);
  for (OpOperand &operand : op->getOpOperands())
    if (op.getMatchingIndexingMap(&operand).isFunctionOfDim(last))
      operand.set(view(operand.get(),
                       op.getMatchingIndexingMap(&operand).getNumResults() - 1,
                       joined));
  for (auto load : op.getBody()->getOps<memref::LoadOp>())
    if (llvm::any_of(load.getIndices(), [&](Value place) {
          return variesAlong(place, op, last) ||
                 variesAlong(place, op, last - 1);
        }))
      load.getMemrefMutable().set(
          view(load.getMemRef(), load.getMemRefType().getRank() - 1, joined));
}

void loopc::joinBroadcasts(linalg::GenericOp op) {
  BroadcastJoiner(op).rewrite();
}
