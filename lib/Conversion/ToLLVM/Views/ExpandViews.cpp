//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// loopc-expand-views: memref.expand_shape with any number of run-time extents
// in a group, which upstream's expand-strided-metadata does not take, and
// memref.collapse_shape, of which upstream's fold-memref-alias-ops would make
// divisions wherever an element is read. Then those passes' patterns, where
// they match.

#include "ApplyAtRoots.h"
#include "loopc/Conversion/ToLLVM/Passes.h"
#include "loopc/Dialect/Nest/Analysis/Views.h"
#include "loopc/Support/SubViews.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace loopc {
#define GEN_PASS_DEF_EXPANDVIEWS
#include "loopc/Conversion/ToLLVM/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

/// memref.expand_shape  ->  memref.reinterpret_cast with the sizes of the
/// output shape; within a group strides grow from the source's stride.
static void expand(memref::ExpandShapeOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  MemRefType type = op.getResultType();
  auto metadata = memref::ExtractStridedMetadataOp::create(b, op.getSrc());
  auto [staticStrides, staticOffset] = type.getStridesAndOffset();
  SmallVector<OpFoldResult> sizes = op.getMixedOutputShape();
  SmallVector<OpFoldResult> strides(type.getRank());
  for (auto [group, axes] : llvm::enumerate(op.getReassociationIndices())) {
    Value stride = metadata.getStrides()[group];
    for (int64_t axis : llvm::reverse(axes)) {
      strides[axis] = ShapedType::isDynamic(staticStrides[axis])
                          ? OpFoldResult(stride)
                          : b.getIndexAttr(staticStrides[axis]);
      Value size = getValueOrCreateConstantIndexOp(b, op.getLoc(), sizes[axis]);
      stride = b.createOrFold<arith::MulIOp>(stride, size);
    }
  }
  // A source of rank 0 has no stride; all extents are one.
  for (auto [axis, stride] : llvm::enumerate(strides))
    if (!stride)
      stride = b.getIndexAttr(
          ShapedType::isDynamic(staticStrides[axis]) ? 1 : staticStrides[axis]);
  OpFoldResult offset = ShapedType::isDynamic(staticOffset)
                            ? OpFoldResult(metadata.getOffset())
                            : b.getIndexAttr(staticOffset);
  Value view = memref::ReinterpretCastOp::create(
      b, type, metadata.getBaseBuffer(), offset, sizes, strides);
  op.replaceAllUsesWith(view);
  op.erase();
}

/// memref.collapse_shape of what is all there, of a part whose strides are
/// known, or of what has no elements, by whose extents upstream's patterns
/// divide  ->  memref.reinterpret_cast.
static void collapse(memref::CollapseShapeOp op) {
  MemRefType from = op.getSrcType(), type = op.getResultType();
  bool isPlain = from.getLayout().isIdentity() && type.getLayout().isIdentity();
  bool isKnown =
      llvm::none_of(type.getStridesAndOffset().first, ShapedType::isDynamic);
  if (type.getRank() == 0 ||
      (!isPlain && !isKnown && !llvm::is_contained(from.getShape(), 0)))
    return;
  ImplicitLocOpBuilder b(op.getLoc(), op);
  SmallVector<OpFoldResult> sizes, strides(type.getRank());
  for (auto [axis, group] : llvm::enumerate(op.getReassociationIndices())) {
    if (!type.isDynamicDim(axis)) {
      sizes.push_back(b.getIndexAttr(type.getDimSize(axis)));
      continue;
    }
    Value size = arith::ConstantIndexOp::create(b, 1);
    for (int64_t part : group)
      size = b.createOrFold<arith::MulIOp>(
          size, b.createOrFold<memref::DimOp>(op.getSrc(), part));
    sizes.push_back(size);
  }
  Value stride = arith::ConstantIndexOp::create(b, 1);
  auto [staticStrides, staticOffset] = type.getStridesAndOffset();
  for (int64_t axis = type.getRank() - 1; axis >= 0; --axis) {
    strides[axis] = ShapedType::isDynamic(staticStrides[axis])
                        ? OpFoldResult(stride)
                        : b.getIndexAttr(staticStrides[axis]);
    stride = b.createOrFold<arith::MulIOp>(
        stride, getValueOrCreateConstantIndexOp(b, op.getLoc(), sizes[axis]));
  }
  OpFoldResult offset = b.getIndexAttr(staticOffset);
  if (ShapedType::isDynamic(staticOffset))
    offset =
        memref::ExtractStridedMetadataOp::create(b, op.getSrc()).getOffset();
  Value view = memref::ReinterpretCastOp::create(b, type, op.getSrc(), offset,
                                                 sizes, strides);
  op.replaceAllUsesWith(view);
  op.erase();
}

namespace {
struct ExpandViews : loopc::impl::ExpandViewsBase<ExpandViews> {
  using Base::Base;

  void runOnOperation() override {
    // Extents may have become known since views were settled.
    resolveDroppedAxes(getOperation(), /*byExtents=*/false);
    RewritePatternSet patterns(&getContext());
    if (onlyCollapsed) {
      getOperation()->walk([](memref::CollapseShapeOp op) { collapse(op); });
      // Upstream would make loads of vectors from what has no axis of them.
      getOperation()->walk([](memref::ExpandShapeOp op) {
        auto isOfScalars = [](Operation *user) {
          return !isa<vector::VectorDialect>(user->getDialect());
        };
        if (op.getSrcType().getRank() == 0 &&
            !allUsersOfViews(op.getResult(), isOfScalars))
          expand(op);
      });
      memref::populateFoldMemRefAliasOpPatterns(patterns);
    } else {
      SmallVector<memref::ExpandShapeOp> ops;
      getOperation()->walk(
          [&](memref::ExpandShapeOp op) { ops.push_back(op); });
      llvm::for_each(ops, expand);
      memref::populateExpandStridedMetadataPatterns(patterns);
    }
    // Of thousands of accesses some are through views.
    auto mayMatch = [&](Operation *op) {
      return !onlyCollapsed || llvm::any_of(op->getOperands(), [](Value value) {
        Operation *view = value.getDefiningOp();
        return isa_and_nonnull<ViewLikeOpInterface, memref::CastOp>(view);
      });
    };
    if (failed(applyAtRoots(getOperation(), std::move(patterns), mayMatch)))
      signalPassFailure();
  }
};
} // namespace
