//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VectorElements.h"
#include "loopc/Dialect/Loop/Transforms/Speculation.h"
#include "loopc/Dialect/Nest/Analysis/Cost.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace loopc;

SmallVector<int64_t> loopc::knownExtents(linalg::LinalgOp op) {
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (auto [expr, extent] :
         llvm::zip_equal(map.getResults(), op.getShape(&operand)))
      // Tiles of nothing have no elements to be divided by: what only another
      // operand knows to be empty stays open.
      if (auto dim = dyn_cast<AffineDimExpr>(expr);
          dim && ShapedType::isDynamic(extents[dim.getPosition()]) &&
          extent != 0)
        extents[dim.getPosition()] = extent;
  }
  return extents;
}

SmallVector<OpFoldResult> loopc::createExtents(OpBuilder &b,
                                               linalg::LinalgOp op) {
  SmallVector<OpFoldResult> extents;
  for (auto [range, known] :
       llvm::zip_equal(op.createLoopRanges(b, op.getLoc()), knownExtents(op)))
    extents.push_back(ShapedType::isDynamic(known) ? range.size
                                                   : b.getIndexAttr(known));
  return extents;
}

Value loopc::widen(ImplicitLocOpBuilder &b, Value value, int64_t lanes) {
  if (isa<VectorType>(value.getType()))
    return value;
  return vector::BroadcastOp::create(
      b, VectorType::get({lanes}, value.getType()), value);
}

/// `lanes` times 1.
static Value onesOf(ImplicitLocOpBuilder &b, Type element, int64_t lanes) {
  TypedAttr one = isa<FloatType>(element)
                      ? TypedAttr(b.getFloatAttr(element, 1.0))
                      : TypedAttr(b.getIntegerAttr(element, 1));
  return widen(b, arith::ConstantOp::create(b, one), lanes);
}

Value loopc::loadLanes(ImplicitLocOpBuilder &b, Value buffer, ValueRange place,
                       Value mask, int64_t lanes, int64_t filler) {
  Type element = getElementTypeOrSelf(buffer.getType());
  auto type = VectorType::get({lanes}, element);
  if (!mask)
    return vector::LoadOp::create(b, type, buffer, place);
  Value others = filler ? onesOf(b, element, lanes)
                        : arith::ConstantOp::create(b, b.getZeroAttr(type));
  return vector::MaskedLoadOp::create(b, type, buffer, place, mask, others);
}

void loopc::storeLanes(ImplicitLocOpBuilder &b, Value value, Value buffer,
                       ValueRange place, Value mask) {
  if (mask)
    vector::MaskedStoreOp::create(b, buffer, place, mask, value);
  else
    vector::StoreOp::create(b, value, buffer, place);
}

Value loopc::repeatLanes(ImplicitLocOpBuilder &b, Value buffer,
                         ValueRange place, Value mask, int64_t times,
                         int64_t lanes) {
  int64_t parts = lanes / times;
  Value few;
  if (mask) {
    Value count = mask.getDefiningOp<vector::CreateMaskOp>().getOperand(0);
    count = b.createOrFold<arith::AddIOp>(
        count, arith::ConstantIndexOp::create(b, times - 1));
    count = b.createOrFold<arith::DivUIOp>(
        count, arith::ConstantIndexOp::create(b, times));
    few = vector::CreateMaskOp::create(
        b, VectorType::get({parts}, b.getI1Type()), count);
  }
  Value part = loadLanes(b, buffer, place, few, parts);
  SmallVector<int64_t> from;
  for (int64_t lane : llvm::seq(lanes))
    from.push_back(lane / times);
  return vector::ShuffleOp::create(b, part, part, from);
}

Value loopc::gatherLanes(ImplicitLocOpBuilder &b, Value buffer,
                         ValueRange place, Value distances, Value mask,
                         int64_t lanes) {
  Type element = getElementTypeOrSelf(buffer.getType());
  if (!mask)
    mask = onesOf(b, b.getI1Type(), lanes);
  return vector::GatherOp::create(b, VectorType::get({lanes}, element), buffer,
                                  place, distances, mask,
                                  onesOf(b, element, lanes));
}

Value loopc::numberLanes(ImplicitLocOpBuilder &b, Value first, Type type,
                         bool isAlong, int64_t lanes) {
  if (!type.isIndex())
    first = arith::IndexCastOp::create(b, type, first);
  first = widen(b, first, lanes);
  if (!isAlong)
    return first;
  auto vector = cast<VectorType>(first.getType());
  Value steps;
  if (type.isIndex()) {
    steps = vector::StepOp::create(b, vector);
  } else {
    auto each =
        llvm::map_to_vector(llvm::seq(lanes), [&](int64_t lane) -> Attribute {
          return b.getIntegerAttr(type, lane);
        });
    steps = arith::ConstantOp::create(b, DenseElementsAttr::get(vector, each));
  }
  return arith::AddIOp::create(b, first, steps);
}

SmallVector<Value> loopc::placeOf(ImplicitLocOpBuilder &b, linalg::LinalgOp op,
                                  OpOperand &operand, ValueRange at) {
  return llvm::map_to_vector(
      op.getMatchingIndexingMap(&operand).getResults(), [&](AffineExpr expr) {
        return affine::expandAffineExpr(b, b.getLoc(), expr, at, {});
      });
}

linalg::IndexOp loopc::getNumber(Operation &op) {
  if (auto cast = dyn_cast<arith::IndexCastOp>(op))
    return cast.getIn().getDefiningOp<linalg::IndexOp>();
  return dyn_cast<linalg::IndexOp>(op);
}

bool loopc::isVectorOperation(Operation &op) {
  return op.getNumResults() == 1 && op.getNumRegions() == 0 &&
         OpTrait::hasElementwiseMappableTraits(&op) && isSafeToSpeculate(&op);
}

bool loopc::isLightBody(Block &body, int64_t most) {
  auto operations = body.without_terminator();
  return llvm::range_size(operations) <= static_cast<size_t>(most) &&
         llvm::none_of(operations,
                       [](Operation &op) { return isElementaryFunction(&op); });
}

Operation *loopc::cloneWide(ImplicitLocOpBuilder &b, Operation &op,
                            ValueRange operands, int64_t lanes) {
  auto wide = llvm::map_to_vector(
      operands, [&](Value operand) { return widen(b, operand, lanes); });
  auto types = llvm::map_to_vector(op.getResultTypes(), [&](Type type) -> Type {
    return VectorType::get({lanes}, type);
  });
  return mlir::clone(b, &op, types, wide);
}

SmallVector<Value> loopc::cloneWide(ImplicitLocOpBuilder &b, Block &body,
                                    IRMapping &mapping, int64_t lanes) {
  auto lookup = [&](Value value) { return mapping.lookupOrDefault(value); };
  for (Operation &inner : body.without_terminator()) {
    if (llvm::all_of(inner.getResults(),
                     [&](Value result) { return mapping.contains(result); }))
      continue;
    if (isa<arith::ConstantOp>(inner)) {
      b.clone(inner, mapping);
      continue;
    }
    if (mapping.contains(inner.getResult(0)))
      continue;
    auto operands = llvm::map_to_vector(inner.getOperands(), lookup);
    mapping.map(inner.getResults(),
                cloneWide(b, inner, operands, lanes)->getResults());
  }
  return llvm::map_to_vector(
      body.getTerminator()->getOperands(),
      [&](Value value) { return widen(b, lookup(value), lanes); });
}
