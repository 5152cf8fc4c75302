//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Support/SubViews.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;

/// True if `op` leaves out some of its axes of one element and keeps others.
static bool isChoice(memref::SubViewOp op) {
  auto isOne = [](OpFoldResult size) {
    return isa<Attribute>(size) && isOneInteger(size);
  };
  int64_t left = op.getSourceType().getRank() - op.getType().getRank();
  return left > 0 && llvm::count_if(op.getMixedSizes(), isOne) > left;
}

/// The axes that `op` leaves out, as tensor.extract_slice and
/// tensor.insert_slice with its extents would.
static llvm::SmallBitVector droppedByExtents(memref::SubViewOp op) {
  SmallVector<OpFoldResult> sizes = op.getMixedSizes();
  ArrayRef<int64_t> kept = op.getType().getShape();
  llvm::SmallBitVector dropped(sizes.size());
  size_t left = kept.size();
  for (size_t axis = sizes.size(); axis-- > 0;) {
    bool isOne = isa<Attribute>(sizes[axis]) && isOneInteger(sizes[axis]);
    if (left > 0 && (!isOne || kept[left - 1] == 1))
      --left;
    else
      dropped.set(axis);
  }
  return dropped;
}

/// The view by its place, extents and strides.
static void settle(memref::SubViewOp op, const llvm::SmallBitVector &dropped) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto source = memref::ExtractStridedMetadataOp::create(b, op.getSource());
  auto [typeStrides, typeOffset] = op.getType().getStridesAndOffset();
  auto asIndex = [&](OpFoldResult value) {
    return getValueOrCreateConstantIndexOp(b, op.getLoc(), value);
  };
  Value offset = source.getOffset();
  SmallVector<OpFoldResult> sizes, strides;
  for (unsigned axis = 0; axis < dropped.size(); ++axis) {
    Value stride = source.getStrides()[axis];
    Value from = b.createOrFold<arith::MulIOp>(
        asIndex(op.getMixedOffsets()[axis]), stride);
    offset = b.createOrFold<arith::AddIOp>(offset, from);
    if (dropped.test(axis))
      continue;
    int64_t known = typeStrides[strides.size()];
    sizes.push_back(op.getMixedSizes()[axis]);
    if (ShapedType::isStatic(known))
      strides.push_back(b.getIndexAttr(known));
    else
      strides.push_back(b.createOrFold<arith::MulIOp>(
          asIndex(op.getMixedStrides()[axis]), stride));
  }
  OpFoldResult place = offset;
  if (ShapedType::isStatic(typeOffset))
    place = b.getIndexAttr(typeOffset);
  Value view = memref::ReinterpretCastOp::create(
      b, op.getType(), op.getSource(), place, sizes, strides);
  op.replaceAllUsesWith(view);
  op.erase();
}

llvm::SmallBitVector loopc::getDroppedAxes(memref::SubViewOp op) {
  return isChoice(op) && !op.hasUnitStride() ? droppedByExtents(op)
                                             : op.getDroppedDims();
}

void loopc::resolveDroppedAxes(Operation *root, bool byExtents) {
  root->walk([&](memref::SubViewOp op) {
    if (!isChoice(op))
      return;
    llvm::SmallBitVector dropped = droppedByExtents(op);
    if (!op.hasUnitStride() || (byExtents && dropped != op.getDroppedDims()))
      settle(op, dropped);
  });
}
