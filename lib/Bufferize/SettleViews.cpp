//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// buffer-settle-views: views of which more than one axis may be the one that
// they leave out.
//
// A memref.subview does not say which axes of extent 1 it leaves out. It was
// made from a slice of a tensor, which goes by extents; of buffers upstream
// goes by strides, and takes the first axis where they are not known.

#include "loopc/Bufferize/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace loopc {
#define GEN_PASS_DEF_BUFFERSETTLEVIEWS
#include "loopc/Bufferize/Passes.h.inc"
} // namespace loopc

using namespace mlir;

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

namespace {
struct BufferSettleViews
    : loopc::impl::BufferSettleViewsBase<BufferSettleViews> {
  void runOnOperation() override {
    getOperation()->walk([](memref::SubViewOp op) {
      llvm::SmallBitVector dropped = droppedByExtents(op);
      if (dropped != op.getDroppedDims())
        settle(op, dropped);
    });
  }
};
} // namespace
