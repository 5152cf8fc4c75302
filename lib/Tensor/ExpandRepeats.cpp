//===- ExpandRepeats.cpp - Repeated batches of products -------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Dialect/Loop/Transforms/Utils.h"
#include "loopc/Support/Contractions.h"
#include "loopc/Support/Walk.h"
#include "loopc/Tensor/MergeGenerics.h"
#include "loopc/Tensor/Passes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"
#include "llvm/ADT/SmallBitVector.h"

namespace loopc {
#define GEN_PASS_DEF_TENSOREXPANDREPEATS
#include "loopc/Tensor/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

/// The axes of `op` along which it holds copies of its one operand; none for
/// what does more than to repeat.
static SmallVector<int64_t> getRepeatedAxes(Operation *op) {
  auto repeat = dyn_cast_or_null<linalg::GenericOp>(op);
  if (!repeat || repeat.getNumDpsInputs() != 1 ||
      repeat.getNumDpsInits() != 1 || repeat.getNumReductionLoops() > 0 ||
      repeat.getBody()->getTerminator()->getOperand(0) !=
          repeat.getBody()->getArgument(0))
    return {};
  OpOperand *init = repeat.getDpsInitOperand(0);
  AffineMap read = repeat.getMatchingIndexingMap(repeat.getDpsInputOperand(0));
  if (!repeat.getMatchingIndexingMap(init).isIdentity())
    return {};
  SmallVector<int64_t> axes;
  for (int64_t axis : llvm::seq<int64_t>(repeat.getNumLoops()))
    if (!read.isFunctionOfDim(axis))
      axes.push_back(axis);
  return axes;
}

/// True if `collapse` puts together axes of several elements, but not the last
/// one with others, which vectors are read along.
static bool joinsLeading(tensor::CollapseShapeOp collapse) {
  SmallVector<ReassociationIndices> groups = collapse.getReassociationIndices();
  return !groups.empty() && groups.back().size() == 1 &&
         llvm::any_of(groups, [&](const ReassociationIndices &group) {
           return llvm::count_if(group, [&](int64_t axis) {
                    return collapse.getSrcType().getDimSize(axis) != 1;
                  }) > 1;
         });
}

/// True if the reader of `operand` computes of it alone, element by element, in
/// another order perhaps: it is a transpose, or scales what a product reads.
static bool reorders(OpOperand &operand) {
  auto reader = cast<linalg::LinalgOp>(operand.getOwner());
  return reader.getNumReductionLoops() == 0 && reader.getNumDpsInputs() == 1 &&
         reader.getMatchingIndexingMap(&operand).isPermutation();
}

/// True if each axis of `operand` that `collapse` makes of several is one that
/// all operands of its reader have: a batch of products.
static bool isBatchOfProducts(tensor::CollapseShapeOp collapse,
                              OpOperand &operand) {
  auto reader = cast<linalg::LinalgOp>(operand.getOwner());
  if (!isContraction(reader))
    return false;
  AffineMap map = reader.getMatchingIndexingMap(&operand);
  for (auto [axis, group] :
       llvm::enumerate(collapse.getReassociationIndices())) {
    if (group.size() == 1)
      continue;
    auto loop = dyn_cast<AffineDimExpr>(map.getResult(axis));
    if (!loop ||
        llvm::any_of(reader.getIndexingMapsArray(), [&](AffineMap other) {
          return !other.isFunctionOfDim(loop.getPosition());
        }))
      return false;
  }
  return true;
}

/// True if `collapse` puts copies of a tensor together with others.
static bool joinsRepeats(tensor::CollapseShapeOp collapse) {
  SmallVector<int64_t> repeated =
      getRepeatedAxes(collapse.getSrc().getDefiningOp());
  return llvm::any_of(collapse.getReassociationIndices(),
                      [&](const ReassociationIndices &group) {
                        return group.size() > 1 &&
                               llvm::any_of(group, [&](int64_t axis) {
                                 return llvm::is_contained(repeated, axis);
                               });
                      });
}

/// How axes of extents `from` become those of `to` where each of these is one
/// of them, or several of known extents; none where that is not known.
static std::optional<SmallVector<ReassociationIndices>>
findGroups(ArrayRef<OpFoldResult> from, ArrayRef<OpFoldResult> to) {
  SmallVector<ReassociationIndices> groups;
  const auto *next = from.begin();
  for (OpFoldResult extent : to) {
    if (next == from.end())
      return std::nullopt;
    ReassociationIndices &group = groups.emplace_back();
    std::optional<int64_t> wanted = getConstantIntValue(extent);
    int64_t product = 1;
    do {
      group.push_back(next - from.begin());
      std::optional<int64_t> known = getConstantIntValue(*next);
      if (group.size() == 1 && isEqualConstantIntOrValue(*next, extent)) {
        product = wanted.value_or(1);
      } else if (!wanted || !known ||
                 llvm::MulOverflow(product, *known, product)) {
        return std::nullopt;
      }
      ++next;
    } while (wanted && product < *wanted && next != from.end());
    if (product != wanted.value_or(1))
      return std::nullopt;
  }
  return next == from.end() ? std::optional(groups) : std::nullopt;
}

namespace {
/// A reshape of copies by way of one axis, where axes are put together. It was
/// written so when nobody knew that the extents agree.
///
///     %c = tensor.collapse_shape %x [[0, 1, 2, 3]] : tensor<4x8x?x64xf32>
///     tensor.expand_shape %c [[0, 1, 2]] output_shape [32, %extent, 64]
///     ->  tensor.collapse_shape %x [[0, 1], [2], [3]]
struct CollapseDirectly : OpRewritePattern<tensor::ExpandShapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::ExpandShapeOp expand,
                                PatternRewriter &rewriter) const override {
    auto collapse = expand.getSrc().getDefiningOp<tensor::CollapseShapeOp>();
    if (!collapse || expand.getSrcType().getRank() != 1 ||
        !joinsRepeats(collapse))
      return failure();
    auto repeat = collapse.getSrc().getDefiningOp<linalg::GenericOp>();
    auto empty = repeat.getDpsInits()[0].getDefiningOp<tensor::EmptyOp>();
    if (!empty)
      return failure();
    auto groups =
        findGroups(empty.getMixedSizes(), expand.getMixedOutputShape());
    if (!groups)
      return failure();
    Value direct = tensor::CollapseShapeOp::create(rewriter, expand.getLoc(),
                                                   collapse.getSrc(), *groups);
    rewriter.replaceOpWithNewOp<tensor::CastOp>(expand, expand.getType(),
                                                direct);
    return success();
  }
};

/// What the rewrites made.
struct Made : RewriterBase::Listener {
  void notifyOperationInserted(Operation *op,
                               OpBuilder::InsertPoint previous) override {
    if (!previous.isSet() && isa<tensor::CollapseShapeOp>(op))
      collapses.insert(op);
  }
  void notifyOperationErased(Operation *op) override { collapses.erase(op); }

  llvm::DenseSet<Operation *> collapses;
};

/// What repeats, and what reads axes of a product that became two, reads its
/// other operands without axes of one element, which MLIR's pattern cannot
/// expand:
///
///     linalg.generic ins(%made, %mask : tensor<?x1x?x?xf32>)
///         {indexing_maps = [(d0..d3) -> (d0, 0, d2, d3), ...]}
///     ->  linalg.generic ins(%made, %m : tensor<?x?x?xf32>)
///         {indexing_maps = [(d0..d3) -> (d0, d2, d3), ...]}
struct DropUnitAxes : OpRewritePattern<linalg::GenericOp> {
  DropUnitAxes(MLIRContext *context, const Made &made)
      : OpRewritePattern(context), made(made) {}

  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override {
    if (getRepeatedAxes(op).empty() &&
        llvm::none_of(op.getInputs(), [&](Value value) {
          return made.collapses.contains(value.getDefiningOp());
        }))
      return failure();
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    SmallVector<Value> inputs;
    for (OpOperand *input : op.getDpsInputOperands())
      inputs.push_back(
          drop(rewriter, op.getLoc(), *input, maps[input->getOperandNumber()]));
    if (llvm::equal(inputs, op.getInputs()))
      return failure();
    rewriter.modifyOpInPlace(op, [&] {
      op.getInputsMutable().assign(inputs);
      op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
    });
    return success();
  }

private:
  /// `operand` without its axes of one element, and how it is read then.
  static Value drop(OpBuilder &b, Location loc, OpOperand &operand,
                    AffineMap &map) {
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    llvm::SmallBitVector dropped(map.getNumResults());
    for (auto [axis, place] : llvm::enumerate(map.getResults()))
      dropped[axis] =
          isa<AffineConstantExpr>(place) && type && type.getDimSize(axis) == 1;
    if (dropped.none())
      return operand.get();
    map = map.dropResults(dropped);
    return tensor::dropGivenUnitDims(b, loc, operand.get(), dropped);
  }

  const Made &made;
};

struct TensorExpandRepeats
    : loopc::impl::TensorExpandRepeatsBase<TensorExpandRepeats> {
  using Base::Base;

  void runOnOperation() override {
    auto found = getOperation().walk([](tensor::CollapseShapeOp collapse) {
      return joinsRepeats(collapse) ? WalkResult::interrupt()
                                    : WalkResult::advance();
    });
    if (!found.wasInterrupted())
      return;
    Made made;
    // Products whose operand repeats, transposed perhaps, and then what reads
    // their results.
    auto mayExpand = [&](OpOperand *operand) {
      auto collapse = operand->get().getDefiningOp<tensor::CollapseShapeOp>();
      auto reader = dyn_cast<linalg::LinalgOp>(operand->getOwner());
      if (!collapse || !reader || !reader.isDpsInput(operand) ||
          !joinsLeading(collapse))
        return false;
      return made.collapses.contains(collapse) ||
             (joinsRepeats(collapse) &&
              (reorders(*operand) || isBatchOfProducts(collapse, *operand)));
    };
    RewritePatternSet direct(&getContext());
    direct.add<CollapseDirectly>(&getContext());
    walkAndApplyPatterns(getOperation(), std::move(direct));
    RewritePatternSet patterns(&getContext());
    linalg::populateFoldReshapeOpsByExpansionPatterns(patterns, mayExpand);
    linalg::FillOp::getCanonicalizationPatterns(patterns, &getContext());
    tensor::CastOp::getCanonicalizationPatterns(patterns, &getContext());
    tensor::populateFoldTensorEmptyPatterns(patterns);
    patterns.add<DropUnitAxes>(&getContext(), made);
    GreedyRewriteConfig config = untilDone();
    config.setListener(&made);
    if (failed(
            applyPatternsGreedily(getOperation(), std::move(patterns), config)))
      return signalPassFailure();
    // No view of a result is there only to be asked for its extents:
    // cpu-tile-chains wants to know all readers.
    for (tensor::DimOp dim : collectOps<tensor::DimOp>(getOperation())) {
      std::optional<int64_t> axis = dim.getConstantIndex();
      auto view = dim.getSource().getDefiningOp<tensor::CollapseShapeOp>();
      if (!axis || !view || view.getReassociationIndices()[*axis].size() != 1)
        continue;
      OpBuilder b(dim);
      OpFoldResult extent =
          resolveDim(b, dim.getLoc(), view.getSrc(),
                     view.getReassociationIndices()[*axis].front());
      dim.replaceAllUsesWith(
          getValueOrCreateConstantIndexOp(b, dim.getLoc(), extent));
    }
  }
};
} // namespace
