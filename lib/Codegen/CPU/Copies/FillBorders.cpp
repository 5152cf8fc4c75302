//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Buffers that are filled, and all of whose inside is written next: the padding
// of a convolution. Only the border is filled.

#include "Contractions.h"
#include "loopc/Dialect/Nest/Analysis/Views.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace loopc;

/// To fill so many bytes twice costs less than the code for four borders.
static constexpr int64_t kSmallBytes = 128 << 10;

/// The part of what `fill` fills that the next operation on it writes all of,
/// without reading any of it; null if it does something else.
static memref::SubViewOp writtenPart(linalg::FillOp fill, Operation *&writer) {
  Value buffer = fill.getOutputs()[0];
  for (writer = fill->getNextNode(); writer; writer = writer->getNextNode()) {
    if (isViewOp(writer))
      continue;
    if (writer->getNumRegions() != 0 && !isa<linalg::LinalgOp>(writer))
      return {};
    if (llvm::any_of(writer->getOperands(), [&](Value operand) {
          return getViewRoot(operand) == buffer;
        }))
      break;
  }
  auto op = dyn_cast_or_null<linalg::GenericOp>(writer);
  if (!op || !op.hasPureBufferSemantics() || op.getNumDpsInits() != 1 ||
      op.getNumReductionLoops() != 0 ||
      !op.getRegionOutputArgs()[0].use_empty() ||
      !op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isPermutation() ||
      llvm::any_of(op.getDpsInputs(),
                   [&](Value input) { return getViewRoot(input) == buffer; }))
    return {};
  // Its body may look into other buffers, not into this one.
  for (Operation &inner : *op.getBody())
    if (!isMemoryEffectFree(&inner))
      return {};
  auto part = op.getDpsInits()[0].getDefiningOp<memref::SubViewOp>();
  if (!part || part.getSource() != buffer || !part.hasUnitStride() ||
      part.getType().getRank() != part.getSourceType().getRank())
    return {};
  return part;
}

bool loopc::fillBorder(linalg::FillOp fill) {
  Value buffer = fill.getOutputs()[0];
  auto alloc = buffer.getDefiningOp<memref::AllocOp>();
  if (!alloc || !alloc.getType().getLayout().isIdentity())
    return false;
  MemRefType type = alloc.getType();
  if (!type.getElementType().isIntOrFloat())
    return false;
  if (type.hasStaticShape() &&
      type.getNumElements() * (type.getElementTypeBitWidth() / 8) < kSmallBytes)
    return false;
  Operation *writer = nullptr;
  memref::SubViewOp part = writtenPart(fill, writer);
  if (!part)
    return false;
  ImplicitLocOpBuilder b(fill.getLoc(), writer);
  AffineExpr d0, d1, d2;
  bindDims(b.getContext(), d0, d1, d2);
  auto apply = [&](AffineExpr expr, ArrayRef<OpFoldResult> dims) {
    return affine::makeComposedFoldedAffineApply(
        b, b.getLoc(), AffineMap::get(dims.size(), 0, expr), dims);
  };
  int64_t rank = type.getRank();
  SmallVector<OpFoldResult> all = memref::getMixedSizes(b, b.getLoc(), buffer);
  for (int64_t axis : llvm::seq(rank))
    if (type.isDynamicDim(axis))
      all[axis] = alloc.getDynamicSizes()[type.getDynamicDimIndex(axis)];
  SmallVector<OpFoldResult> offsets(rank, b.getIndexAttr(0)), sizes(all);
  SmallVector<OpFoldResult> ones(rank, b.getIndexAttr(1));
  auto fillPart = [&] {
    Value view = memref::SubViewOp::create(b, buffer, offsets, sizes, ones);
    linalg::FillOp::create(b, fill.getInputs()[0], view);
  };
  for (int64_t axis : llvm::seq(rank)) {
    OpFoldResult offset = part.getMixedOffsets()[axis];
    OpFoldResult size = part.getMixedSizes()[axis];
    if (!isConstantIntValue(offset, 0)) {
      sizes[axis] = offset;
      fillPart();
    }
    if (!isConstantIntValue(offset, 0) ||
        !isEqualConstantIntOrValue(size, all[axis])) {
      offsets[axis] = apply(d0 + d1, {offset, size});
      sizes[axis] = apply(d0 - d1 - d2, {all[axis], offset, size});
      if (!isConstantIntValue(sizes[axis], 0))
        fillPart();
    }
    offsets[axis] = offset;
    sizes[axis] = size;
  }
  fill.erase();
  return true;
}
