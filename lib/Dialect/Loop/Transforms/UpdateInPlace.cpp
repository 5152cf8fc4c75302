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
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

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
  Value length = value(tensor::getMixedSize(b, b.getLoc(), carried, *axis));
  Value replaces = equal(value(middle.getMixedOffsets()[*axis]),
                         value(sizeOf(all.parts[0], *axis)));
  auto require = [&](Value x, Value y) {
    replaces = arith::AndIOp::create(b, replaces, equal(x, y));
  };
  require(end, value(from));
  require(end, value(all.last().getMixedOffsets()[*axis]));
  require(sum(from, sizeOf(all.last(), *axis)), length);
  require(value(all.extents()[*axis]), length);
  // Along other axes the parts have all of the value.
  for (int64_t k = 0; k < middle.getDestType().getRank(); ++k)
    if (k != *axis)
      require(value(sizeOf(middle, k)),
              value(tensor::getMixedSize(b, b.getLoc(), carried, k)));
  Type type = all.last().getType();
  auto branch = scf::IfOp::create(b, type, replaces, /*withElse=*/true);
  b.setInsertionPointToStart(branch.thenBlock());
  Value place = carried;
  if (place.getType() != type)
    place = tensor::CastOp::create(b, type, place);
  Value updated = tensor::InsertSliceOp::create(
      b, middle.getSource(), place, middle.getMixedOffsets(),
      middle.getMixedSizes(), middle.getMixedStrides());
  scf::YieldOp::create(b, updated);
  b.setInsertionPointToStart(branch.elseBlock());
  // With the empty tensor and the slices, so that nothing is made or read where
  // it is not needed.
  SmallVector<Operation *> moved{front, behind,
                                 all.parts[0].getDest().getDefiningOp()};
  llvm::append_range(moved, all.parts);
  auto yield = scf::YieldOp::create(b, all.last().getResult());
  Value whole = all.last().getResult();
  rewriter.replaceUsesWithIf(whole, branch.getResult(0), [&](OpOperand &use) {
    return use.getOwner() != yield;
  });
  for (Operation *op : moved)
    if (isa<tensor::InsertSliceOp>(op) || op->hasOneUse())
      op->moveBefore(yield);
  return true;
}
