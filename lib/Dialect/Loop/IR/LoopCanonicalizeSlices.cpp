//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Canonicalisations of tensor.extract_slice and tensor.insert_slice: of those
// that insert all there is, and of those that leave out dimensions of extent 1.
// Loops take rows along any axis: [1, 4, 1] of tensor<1x4x4> is a tensor<1x4>.
// Upstream's patterns do the same work, but believe that the first dimensions
// of extent 1 were left out, which makes a tensor<4x1> of it. These are tried
// before them.

#include "loopc/Dialect/Loop/IR/LoopRewrite.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace loopc::loop;

namespace {
/// More than that of upstream's patterns.
constexpr unsigned kBenefit = 2;

/// Offsets, sizes and strides of a slice.
struct Slice {
  template <typename OpTy>
  explicit Slice(OpTy op)
      : offsets(op.getMixedOffsets()), sizes(op.getMixedSizes()),
        strides(op.getMixedStrides()) {}

  /// Makes attributes of constants; whether there were any.
  bool foldConstants() {
    bool folded = succeeded(foldDynamicIndexList(offsets, true));
    folded |= succeeded(foldDynamicIndexList(sizes, true));
    folded |= succeeded(foldDynamicIndexList(strides));
    return folded;
  }

  bool fits(RankedTensorType whole) const {
    return verifyInBoundsSlice(whole.getShape(), offsets, sizes, strides)
        .isValid;
  }

  /// `type` with the sizes of the dimensions that are not in `dropped`.
  RankedTensorType getType(RankedTensorType type,
                           const llvm::SmallBitVector &dropped) const {
    SmallVector<int64_t> shape;
    for (auto [dim, size] : llvm::enumerate(decomposeMixedValues(sizes).first))
      if (!dropped.test(dim))
        shape.push_back(size);
    return type.clone(shape);
  }

  SmallVector<OpFoldResult> offsets, sizes, strides;
};

/// extract_slice %x[%c1, 0] [1, 4]  ->  extract_slice %x[1, 0] [1, 4]
struct FoldConstantExtract : OpRewritePattern<tensor::ExtractSliceOp> {
  explicit FoldConstantExtract(MLIRContext *context)
      : OpRewritePattern(context, kBenefit) {}

  LogicalResult matchAndRewrite(tensor::ExtractSliceOp op,
                                PatternRewriter &rewriter) const override {
    Slice slice(op);
    if (op.getType().getRank() == op.getSourceType().getRank() ||
        !slice.foldConstants() || !slice.fits(op.getSourceType()))
      return failure();
    RankedTensorType type = slice.getType(op.getType(), op.getDroppedDims());
    Value made = tensor::ExtractSliceOp::create(rewriter, op.getLoc(), type,
                                                op.getSource(), slice.offsets,
                                                slice.sizes, slice.strides);
    if (type != op.getType())
      made = tensor::CastOp::create(rewriter, op.getLoc(), op.getType(), made);
    rewriter.replaceOp(op, made);
    return success();
  }
};

/// extract_slice (cast %x)  ->  extract_slice %x
struct FoldCastIntoExtract : OpRewritePattern<tensor::ExtractSliceOp> {
  explicit FoldCastIntoExtract(MLIRContext *context)
      : OpRewritePattern(context, kBenefit) {}

  LogicalResult matchAndRewrite(tensor::ExtractSliceOp op,
                                PatternRewriter &rewriter) const override {
    auto cast = op.getSource().getDefiningOp<tensor::CastOp>();
    if (!cast || op.getType().getRank() == op.getSourceType().getRank() ||
        !tensor::canFoldIntoConsumerOp(cast) ||
        !Slice(op).fits(
            llvm::cast<RankedTensorType>(cast.getSource().getType())))
      return failure();
    rewriter.modifyOpInPlace(
        op, [&] { op.getSourceMutable().assign(cast.getSource()); });
    return success();
  }
};

/// insert_slice %x into %y[%c1, 0] [1, 4]  ->
/// insert_slice %x into %y[1, 0] [1, 4]
struct FoldConstantInsert : OpRewritePattern<tensor::InsertSliceOp> {
  explicit FoldConstantInsert(MLIRContext *context)
      : OpRewritePattern(context, kBenefit) {}

  LogicalResult matchAndRewrite(tensor::InsertSliceOp op,
                                PatternRewriter &rewriter) const override {
    Slice slice(op);
    if (op.getSourceType().getRank() == op.getType().getRank() ||
        !slice.foldConstants() || !slice.fits(op.getType()))
      return failure();
    Value source = op.getSource();
    RankedTensorType type =
        slice.getType(op.getSourceType(), op.getDroppedDims());
    if (type != source.getType())
      source = tensor::CastOp::create(rewriter, op.getLoc(), type, source);
    rewriter.replaceOpWithNewOp<tensor::InsertSliceOp>(
        op, source, op.getDest(), slice.offsets, slice.sizes, slice.strides);
    return success();
  }
};

/// insert_slice %x into (tensor.empty(%n))[0] [%n]  ->  %x
/// as of a concatenation of parts all but one of which have no elements.
struct FoldWholeInsert : OpRewritePattern<tensor::InsertSliceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::InsertSliceOp op,
                                PatternRewriter &rewriter) const override {
    auto place = op.getDest().getDefiningOp<tensor::EmptyOp>();
    if (!place || op.getSourceType().getRank() != op.getType().getRank() ||
        !areAllConstantIntValue(op.getMixedOffsets(), 0) ||
        !areAllConstantIntValue(op.getMixedStrides(), 1) ||
        !llvm::equal(op.getMixedSizes(), place.getMixedSizes(),
                     isEqualConstantIntOrValue))
      return failure();
    rewriter.replaceOp(op, rewriter.createOrFold<tensor::CastOp>(
                               op.getLoc(), op.getType(), op.getSource()));
    return success();
  }
};
} // namespace

void loopc::loop::populateSlicePatterns(RewritePatternSet &patterns) {
  patterns.add<FoldConstantExtract, FoldCastIntoExtract, FoldConstantInsert,
               FoldWholeInsert>(patterns.getContext());
}
