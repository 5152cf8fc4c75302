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
//     becomes, with joined = (d1 == 1) == (d2 == 1),
//   x' : joined ? [1, d1 * d2] : [d1, d2], and y' alike

#include "Rows.h"
#include "VectorElements.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace loopc;

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
  Value emitCondition();
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
  // One of three axes is left to be dealt to threads.
  if (!op.hasPureBufferSemantics() || op.getNumLoops() < 3 ||
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

/// True (i1) where every load has one element along both axes, or as many as
/// the result.
Value BroadcastJoiner::emitCondition() {
  auto isOne = [&](const AlongAxis &along) -> Value {
    if (along.isOne)
      return along.isOne;
    return arith::ConstantOp::create(b, b.getBoolAttr(!along.isAll));
  };
  auto lastExtent = [&](Value buffer) -> Value {
    int64_t axis = cast<MemRefType>(buffer.getType()).getRank() - 1;
    return memref::DimOp::create(b, buffer, axis);
  };
  Value columns = lastExtent(op.getOutputs()[0]), joined;
  for (OpenPlace &place : places) {
    Value one = isOne(place.inner);
    Value same = b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::eq,
                                               isOne(place.outer), one);
    // A load may read a part of a buffer with longer rows.
    Value fits =
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                              lastExtent(place.load.getMemRef()), columns);
    same = b.createOrFold<arith::AndIOp>(
        same, b.createOrFold<arith::OrIOp>(one, fits));
    joined = joined ? b.createOrFold<arith::AndIOp>(joined, same) : same;
  }
  return joined;
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
