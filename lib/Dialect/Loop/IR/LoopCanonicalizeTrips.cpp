//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Canonicalisations of loop.loop for loops that run never, or exactly once.

#include "loopc/Dialect/Loop/IR/Loop.h"
#include "loopc/Dialect/Loop/IR/LoopRewrite.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace loopc::loop;

/// The constant that a condition is, if it is one.
static std::optional<bool> getConstantCondition(Value value) {
  std::optional<APInt> constant = getConstantInteger(value);
  if (!constant)
    return std::nullopt;
  return !constant->isZero();
}

/// `value` as a tensor of type `to`, or null where a cast cannot do it.
static Value castTo(OpBuilder &builder, Location loc, Value value, Type to) {
  if (value.getType() == to)
    return value;
  if (!tensor::CastOp::areCastCompatible(value.getType(), to))
    return {};
  return tensor::CastOp::create(builder, loc, to, value);
}

namespace {

//===----------------------------------------------------------------------===//
// No trip
//===----------------------------------------------------------------------===//

/// A loop that runs never (loop_zero): the carried results are the inits, the
/// collected ones are empty where the types say all that is to be said of their
/// shape. Otherwise the loop stays for the sake of these, without a body that
/// matters: inference may still find their shape, and the lowering takes 0 for
/// what it did not find.
///
///   %x, %y = loop.loop ... trips(%c0 : i64) carried(%a = %a0 : f32)
///       collect(tensor<?x4xf32> axis 0) { ... }
///   ->
///   %x is %a0, %e = tensor.empty() : tensor<0x4xf32>, %y = tensor.cast %e
struct NoTrip : OpRewritePattern<LoopOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(LoopOp op,
                                PatternRewriter &rewriter) const override {
    if (!runsNever(op))
      return failure();
    bool changed = false;
    for (auto [result, init] : llvm::zip(op.getCarriedResults(), op.getInits()))
      if (!result.use_empty()) {
        rewriter.replaceAllUsesWith(result, init);
        changed = true;
      }
    for (auto [k, result] : llvm::enumerate(op.getCollectedResults())) {
      if (result.use_empty())
        continue;
      if (Value empty = createEmpty(op, k, rewriter)) {
        rewriter.replaceAllUsesWith(result, empty);
        changed = true;
      }
    }
    if (op->use_empty()) {
      rewriter.eraseOp(op);
      return success();
    }
    return success(changed);
  }

  static bool runsNever(LoopOp op) {
    if (Value trips = op.getTripCount())
      if (std::optional<APInt> count = getConstantInteger(trips))
        if (!count->isStrictlyPositive())
          return true;
    return op.getCondition() &&
           getConstantCondition(op.getCondition()) == false;
  }

  /// Collected result `k` without rows; null where that is not a tensor whose
  /// other dimensions are known, or where a length asks for rows.
  static Value createEmpty(LoopOp op, unsigned k, OpBuilder &builder) {
    auto type =
        dyn_cast<RankedTensorType>(op.getCollectedResults()[k].getType());
    if (!type || op.getLengthOf(k))
      return {};
    SmallVector<int64_t> shape(type.getShape());
    int64_t axis = op.getCollectAxes()[k];
    if (ShapedType::isStatic(shape[axis]) && shape[axis] != 0)
      return {};
    shape[axis] = 0;
    if (ShapedType::isDynamicShape(shape))
      return {};
    Value empty = tensor::EmptyOp::create(
        builder, op.getLoc(), shape, type.getElementType(), type.getEncoding());
    return castTo(builder, op.getLoc(), empty, type);
  }
};

//===----------------------------------------------------------------------===//
// One trip
//===----------------------------------------------------------------------===//

/// A loop that runs exactly once becomes its body:
///
///   %x, %y = loop.loop (%i : i64, %c : i1) trips(%c1 : i64)
///       carried(%a = %a0 : f32) collect(tensor<1xf32> axis 0) {
///     %b = arith.addf %a, %a : f32
///     loop.yield while(%c : i1) carried(%b : f32) collect(%b : f32)
///   }
///   ->
///   %x = arith.addf %a0, %a0 : f32
///   %y = tensor.from_elements %x : tensor<1xf32>
///
/// The loop stays where a slice might not have an element 0 (loop_slice is an
/// error at run time then), where a collected value has a length, and where it
/// may yield a buffer that others know: a carried value is a copy of that.
struct OneTrip : OpRewritePattern<LoopOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(LoopOp op,
                                PatternRewriter &rewriter) const override {
    if (!runsOnce(op) || !canCut(op) || !canStack(op) || mayYieldOthers(op))
      return failure();
    auto constant = [&](Value like, int64_t value) {
      return createIntegerConstant(rewriter, op.getLoc(), like.getType(),
                                   value);
    };
    SmallVector<Value> args{constant(op.getCounter(), 0),
                            constant(op.getConditionArg(), 1)};
    if (!args[0] || !args[1])
      return failure();
    llvm::append_range(args, op.getInits());
    for (unsigned k = 0; k < op.getSlices().size(); ++k)
      args.push_back(cutFirst(op, k, rewriter));
    YieldOp yield = op.getYield();
    rewriter.inlineBlockBefore(op.getLoopBody(), op, args);
    SmallVector<Value> results(yield.getCarried());
    for (unsigned k = 0; k < op.getNumCollected(); ++k)
      results.push_back(stackOne(op, k, yield.getCollected()[k], rewriter));
    rewriter.eraseOp(yield);
    rewriter.replaceOp(op, results);
    return success();
  }

  /// Of a loop that runs once by its trip count, or that ends by its condition
  /// after the first iteration.
  static bool runsOnce(LoopOp op) {
    std::optional<APInt> trips;
    if (Value given = op.getTripCount()) {
      trips = getConstantInteger(given);
      if (!trips || !trips->isStrictlyPositive())
        return false;
    }
    if (op.getCondition() && getConstantCondition(op.getCondition()) != true)
      return false;
    if (trips && trips->isOne())
      return true;
    // The element that a reversed slice begins with depends on the count.
    return op.getCondition() &&
           !llvm::is_contained(op.getSliceReverse(), true) &&
           getConstantCondition(op.getYield().getCondition()) == false;
  }

  /// True if a carried buffer may be yielded that the iteration neither got nor
  /// allocated. The bufferization counts on a copy of it, which
  /// buffer-place-deallocations makes of what a loop yields.
  static bool mayYieldOthers(LoopOp op) {
    SetVector<Value> values;
    for (Value value : op.getYield().getCarried())
      if (isa<MemRefType>(value.getType()))
        values.insert(value);
    for (unsigned k = 0; k < values.size(); ++k) {
      Value value = values[k];
      if (auto arg = dyn_cast<BlockArgument>(value)) {
        if (arg.getOwner() != op.getLoopBody())
          return true;
        continue;
      }
      Operation *made = value.getDefiningOp();
      if (!op->isProperAncestor(made))
        return true;
      if (isa<memref::AllocOp>(made))
        continue;
      if (auto view = dyn_cast<ViewLikeOpInterface>(made)) {
        values.insert(view.getViewSource());
        continue;
      }
      auto branch = dyn_cast<scf::IfOp>(made);
      if (!branch)
        return true;
      unsigned number = cast<OpResult>(value).getResultNumber();
      values.insert(branch.thenYield().getOperand(number));
      values.insert(branch.elseYield().getOperand(number));
    }
    return false;
  }

  static bool canCastCut(RankedTensorType whole, int64_t axis, Type arg) {
    Type cut = getCollectedElementType(whole, axis);
    return !isa<TensorType>(arg) || cut == arg ||
           tensor::CastOp::areCastCompatible(cut, arg);
  }

  static bool canCut(LoopOp op) {
    for (auto [slice, axis, arg] :
         llvm::zip(op.getSlices(), op.getSliceAxes(), op.getSliceArgs())) {
      auto type = dyn_cast<RankedTensorType>(slice.getType());
      if (!type || type.isDynamicDim(axis) || type.getDimSize(axis) < 1 ||
          !canCastCut(type, axis, arg.getType()))
        return false;
    }
    return true;
  }

  /// Element 0 along the axis of slice `k`.
  static Value cutFirst(LoopOp op, unsigned k, OpBuilder &b) {
    Location loc = op.getLoc();
    Value slice = op.getSlices()[k];
    auto type = cast<RankedTensorType>(slice.getType());
    Type wanted = op.getSliceArgs()[k].getType();
    if (!isa<TensorType>(wanted)) {
      Value zero = createIntegerConstant(b, loc, b.getIndexType(), 0);
      return tensor::ExtractOp::create(b, loc, slice, zero);
    }
    int64_t axis = op.getSliceAxes()[k];
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, slice);
    sizes[axis] = b.getIndexAttr(1);
    SmallVector<OpFoldResult> offsets(type.getRank(), b.getIndexAttr(0));
    SmallVector<OpFoldResult> strides(type.getRank(), b.getIndexAttr(1));
    auto cut = cast<RankedTensorType>(getCollectedElementType(type, axis));
    Value first = tensor::ExtractSliceOp::create(b, loc, cut, slice, offsets,
                                                 sizes, strides);
    return castTo(b, loc, first, wanted);
  }

  /// The type of yielded value `k` with an axis of one element more; null where
  /// it is not a tensor of known rank or does not fit the result.
  static RankedTensorType getStackedType(LoopOp op, unsigned k, Type one) {
    auto result = dyn_cast<TensorType>(op.getCollectedResults()[k].getType());
    if (!result || op.getLengthOf(k))
      return {};
    SmallVector<int64_t> shape;
    if (auto tensor = dyn_cast<RankedTensorType>(one))
      llvm::append_range(shape, tensor.getShape());
    else if (isa<ShapedType>(one))
      return {};
    int64_t axis = getStackAxis(op, k, shape.size() + 1);
    if (axis < 0 || axis > static_cast<int64_t>(shape.size()))
      return {};
    shape.insert(shape.begin() + axis, 1);
    Attribute encoding;
    if (auto ranked = dyn_cast<RankedTensorType>(result))
      encoding = ranked.getEncoding();
    auto stacked =
        RankedTensorType::get(shape, result.getElementType(), encoding);
    if (!tensor::CastOp::areCastCompatible(stacked, result))
      return {};
    return stacked;
  }

  /// The axis of collected result `k` of `rank`. It may count from the end
  /// where the result's type has no rank.
  static int64_t getStackAxis(LoopOp op, unsigned k, int64_t rank) {
    int64_t axis = op.getCollectAxes()[k];
    return axis < 0 ? axis + rank : axis;
  }

  static bool canStack(LoopOp op) {
    for (auto [k, value] : llvm::enumerate(op.getYield().getCollected()))
      if (!getStackedType(op, k, value.getType()))
        return false;
    return true;
  }

  /// Collected result `k` of which `value` is the only row.
  static Value stackOne(LoopOp op, unsigned k, Value value, OpBuilder &b) {
    Location loc = op.getLoc();
    RankedTensorType type = getStackedType(op, k, value.getType());
    Value stacked;
    if (!isa<TensorType>(value.getType())) {
      stacked = tensor::FromElementsOp::create(b, loc, type, value);
    } else {
      // The new axis goes with the one after it, or the last before it.
      int64_t rank = type.getRank() - 1;
      int64_t axis = getStackAxis(op, k, type.getRank());
      int64_t partner = std::min(axis, rank - 1);
      SmallVector<ReassociationIndices> groups;
      for (int64_t from = 0, to = 0; from < rank; ++from) {
        groups.push_back({to++});
        if (from == partner)
          groups.back().push_back(to++);
      }
      stacked = tensor::ExpandShapeOp::create(b, loc, type, value, groups);
    }
    return castTo(b, loc, stacked, op.getCollectedResults()[k].getType());
  }
};
} // namespace

void loopc::loop::populateTripPatterns(RewritePatternSet &patterns) {
  patterns.add<NoTrip, OneTrip>(patterns.getContext());
}
