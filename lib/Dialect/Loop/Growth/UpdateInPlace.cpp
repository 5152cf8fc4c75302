//===- UpdateInPlace.cpp - Parts that replace others ----------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "UpdateInPlace.h"
#include "Concatenation.h"
#include "loopc/Dialect/Loop/Transforms/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace loopc;
using namespace loopc::loop;

/// The slice of `value` that `part` puts somewhere, if it is one along `axis`
/// alone; else null.
static tensor::ExtractSliceOp getSlice(tensor::InsertSliceOp part, Value value,
                                       int64_t axis) {
  auto slice =
      withoutCasts(part.getSource()).getDefiningOp<tensor::ExtractSliceOp>();
  if (!slice || withoutCasts(slice.getSource()) != value ||
      !slice.hasUnitStride() ||
      slice.getType().getRank() != slice.getSourceType().getRank())
    return {};
  for (auto [k, offset] : llvm::enumerate(slice.getMixedOffsets()))
    if (static_cast<int64_t>(k) != axis && !isZeroInteger(offset))
      return {};
  return slice;
}

/// True for a constant, and selections that constants decide.
static bool isTrue(Value value) {
  if (auto select = value.getDefiningOp<arith::SelectOp>())
    return isTrue(select.getCondition()) && isTrue(select.getTrueValue());
  return matchPattern(value, m_One());
}

/// The extent of carried value `port` along `axis`: the init's, where what each
/// iteration yields, of extent `next`, has that.
static OpFoldResult carriedExtent(OpBuilder &b, LoopOp loop, unsigned port,
                                  int64_t axis, OpFoldResult next) {
  OpFoldResult init;
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(loop);
    init = resolveDim(b, loop.getLoc(), loop.getInits()[port], axis);
  }
  return isEqualConstantIntOrValue(init, next)
             ? init
             : tensor::getMixedSize(b, loop.getLoc(),
                                    loop.getCarriedArgs()[port], axis);
}

bool loop::updateInPlace(RewriterBase &rewriter, LoopOp loop, unsigned port) {
  Value carried = loop.getCarriedArgs()[port];
  OpOperand &next = loop.getYield().getCarriedMutable()[port];
  Concatenation all;
  all.parts = insertionsOf(withoutCasts(next.get()), loop.getLoopBody());
  std::optional<int64_t> axis;
  auto isPlain = [](tensor::InsertSliceOp part) {
    return part.hasUnitStride() &&
           part.getSourceType().getRank() == part.getDestType().getRank();
  };
  // What is in front, what replaces a part, and what is behind.
  if (all.parts.size() != 3 || !llvm::all_of(all.parts, isPlain) ||
      !all.matchAxis(axis))
    return false;
  tensor::ExtractSliceOp front = getSlice(all.parts[0], carried, *axis),
                         behind = getSlice(all.parts[2], carried, *axis);
  if (!front || !behind || !isZeroInteger(front.getMixedOffsets()[*axis]) ||
      getSlice(all.parts[1], carried, *axis))
    return false;
  OpFoldResult from = behind.getMixedOffsets()[*axis];
  // What is put between two parts makes the value longer.
  if (isEqualConstantIntOrValue(from, sizeOf(all.parts[0], *axis)))
    return false;
  tensor::InsertSliceOp middle = all.parts[1];
  ImplicitLocOpBuilder b(middle.getLoc(), rewriter);
  b.setInsertionPointAfter(all.last());
  auto value = [&](OpFoldResult of) {
    return getValueOrCreateConstantIndexOp(b, b.getLoc(), of);
  };
  auto equal = [&](Value x, Value y) -> Value {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, x, y);
  };
  auto sum = [&](OpFoldResult x, OpFoldResult y) {
    return b.createOrFold<arith::AddIOp>(value(x), value(y));
  };
  Value end = sum(middle.getMixedOffsets()[*axis], sizeOf(middle, *axis));
  auto extentOf = [&](int64_t k) {
    return value(carriedExtent(b, loop, port, k, all.extents()[k]));
  };
  Value length = extentOf(*axis);
  // Selections, as what bounds decide within an iteration alone stays where
  // branches ask for it.
  Value never = arith::ConstantIntOp::create(b, b.getI1Type(), 0);
  Value replaces = arith::ConstantIntOp::create(b, b.getI1Type(), 1);
  auto require = [&](Value x, Value y) {
    replaces = arith::SelectOp::create(b, equal(x, y), replaces, never);
  };
  require(value(middle.getMixedOffsets()[*axis]),
          value(sizeOf(all.parts[0], *axis)));
  require(end, value(from));
  require(end, value(all.last().getMixedOffsets()[*axis]));
  require(sum(from, sizeOf(all.last(), *axis)), length);
  require(value(all.extents()[*axis]), length);
  // Along other axes the parts have all of the value.
  for (int64_t k = 0; k < middle.getDestType().getRank(); ++k)
    if (k != *axis)
      require(value(sizeOf(middle, k)), extentOf(k));
  foldBounds(loop);
  if (!isTrue(replaces))
    return false;
  Type type = all.last().getType();
  Value place = carried;
  if (place.getType() != type)
    place = tensor::CastOp::create(b, type, place);
  Value updated = tensor::InsertSliceOp::create(
      b, middle.getSource(), place, middle.getMixedOffsets(),
      middle.getMixedSizes(), middle.getMixedStrides());
  rewriter.replaceOp(all.last(), updated);
  return true;
}
