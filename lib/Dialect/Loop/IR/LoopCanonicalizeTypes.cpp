//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Canonicalisations of loop.loop that make its types say more. Front ends write
// what the model declares and cast to it; storage, fusion and vectorisation
// need what is known.

#include "loopc/Dialect/Loop/IR/Loop.h"
#include "loopc/Dialect/Loop/IR/LoopRewrite.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace loopc::loop;

/// What holds of all values of type `a` and of all of type `b`; both are of one
/// element type.
static TensorType join(TensorType a, TensorType b) {
  auto left = dyn_cast<RankedTensorType>(a),
       right = dyn_cast<RankedTensorType>(b);
  if (!left || !right || left.getRank() != right.getRank())
    return UnrankedTensorType::get(a.getElementType());
  SmallVector<int64_t> shape(left.getShape());
  for (auto [dim, other] : llvm::zip(shape, right.getShape()))
    if (dim != other)
      dim = ShapedType::kDynamic;
  return RankedTensorType::get(shape, left.getElementType());
}

/// What holds of a value that is of type `a` and of type `b`; null where no
/// value is.
static TensorType meet(TensorType a, TensorType b) {
  auto left = dyn_cast<RankedTensorType>(a),
       right = dyn_cast<RankedTensorType>(b);
  if (!left)
    return b;
  if (!right)
    return a;
  if (left.getRank() != right.getRank())
    return {};
  SmallVector<int64_t> shape(left.getShape());
  for (auto [dim, other] : llvm::zip(shape, right.getShape())) {
    if (ShapedType::isDynamic(dim))
      dim = other;
    else if (ShapedType::isStatic(other) && dim != other)
      return {};
  }
  return RankedTensorType::get(shape, left.getElementType());
}

/// A tensor type without encoding; the patterns here leave others alone.
static TensorType getPlainTensor(Type type) {
  auto ranked = dyn_cast<RankedTensorType>(type);
  if (ranked && ranked.getEncoding())
    return {};
  return dyn_cast<TensorType>(type);
}

/// `value`, or what was cast to it and is known better.
static Value stripCast(Value value) {
  auto cast = value.getDefiningOp<tensor::CastOp>();
  if (!cast || !getPlainTensor(cast.getSource().getType()))
    return value;
  TensorType both = meet(cast.getSource().getType(), cast.getType());
  return both == cast.getSource().getType() ? cast.getSource() : value;
}

/// `axis` of a value of `rank` counted from the front; none if it is not there.
/// Of a port of unknown rank it may count from the end.
static std::optional<int64_t> countFromFront(int64_t axis, int64_t rank) {
  int64_t front = axis < 0 ? axis + rank : axis;
  if (front < 0 || front >= rank)
    return std::nullopt;
  return front;
}

/// `axes` with `axis` in the place of number `k`.
static SmallVector<int64_t> withAxis(ArrayRef<int64_t> axes, unsigned k,
                                     int64_t axis) {
  SmallVector<int64_t> changed(axes);
  changed[k] = axis;
  return changed;
}

static Value castTo(OpBuilder &builder, Location loc, Value value, Type to) {
  if (value.getType() == to)
    return value;
  return tensor::CastOp::create(builder, loc, to, value);
}

/// Gives block argument or result `value` type `to`; uses get a cast back.
static void refine(PatternRewriter &rewriter, LoopOp op, Value value,
                   TensorType to) {
  Type from = value.getType();
  rewriter.modifyOpInPlace(op, [&]() { value.setType(to); });
  if (value.use_empty())
    return;
  if (isa<BlockArgument>(value))
    rewriter.setInsertionPointToStart(op.getLoopBody());
  else
    rewriter.setInsertionPointAfter(op);
  auto back = tensor::CastOp::create(rewriter, op.getLoc(), from, value);
  rewriter.replaceAllUsesExcept(value, back, back);
}

namespace {

/// A carried value that is known better when the loop begins and when each
/// iteration ends:
///
///   %d = tensor.cast %s : tensor<4xf32> to tensor<?xf32>
///   loop.loop ... carried(%x = %d : tensor<?xf32>) {
///     %y = tensor.cast %z : tensor<4xf32> to tensor<?xf32>
///     loop.yield ... carried(%y : tensor<?xf32>)
///   }
///   ->
///   loop.loop ... carried(%x = %s : tensor<4xf32>) {
///     loop.yield ... carried(%z : tensor<4xf32>)
///   }
///
/// The new type is the best that holds of the init and of what is yielded, when
/// it holds of the argument already (several values may be exchanged).
struct RefineCarried : OpRewritePattern<LoopOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(LoopOp op,
                                PatternRewriter &rewriter) const override {
    unsigned n = op.getNumCarried();
    YieldOp yield = op.getYield();
    SmallVector<TensorType> types(n);
    for (unsigned k = 0; k < n; ++k)
      if (getPlainTensor(op.getInits()[k].getType()))
        types[k] = cast<TensorType>(stripCast(op.getInits()[k]).getType());
    for (bool changed = true; std::exchange(changed, false);)
      for (unsigned k = 0; k < n; ++k) {
        if (!types[k])
          continue;
        TensorType joined =
            join(types[k], getYieldedType(op, yield.getCarried()[k], types));
        changed |= joined != types[k];
        types[k] = joined;
      }
    bool changed = false;
    for (unsigned k = 0; k < n; ++k) {
      auto old = dyn_cast<TensorType>(op.getInits()[k].getType());
      // What the old type says holds too.
      if (!types[k] || !(types[k] = meet(types[k], old)) || types[k] == old)
        continue;
      changeType(op, k, types[k], rewriter);
      changed = true;
    }
    return success(changed);
  }

  /// The type of yielded `value` if the carried values are of `types`.
  static TensorType getYieldedType(LoopOp op, Value value,
                                   ArrayRef<TensorType> types) {
    value = stripCast(value);
    auto arg = dyn_cast<BlockArgument>(value);
    if (arg && arg.getOwner() == op.getLoopBody() && arg.getArgNumber() >= 2 &&
        arg.getArgNumber() - 2 < types.size())
      return types[arg.getArgNumber() - 2];
    return cast<TensorType>(value.getType());
  }

  static void changeType(LoopOp op, unsigned k, TensorType type,
                         PatternRewriter &rewriter) {
    YieldOp yield = op.getYield();
    refine(rewriter, op, op.getCarriedArgs()[k], type);
    refine(rewriter, op, op.getResult(k), type);
    rewriter.setInsertionPoint(op);
    Value init =
        castTo(rewriter, op.getLoc(), stripCast(op.getInits()[k]), type);
    rewriter.modifyOpInPlace(op, [&]() { op.getInitsMutable()[k].set(init); });
    rewriter.setInsertionPoint(yield);
    Value next = castTo(rewriter, yield.getLoc(),
                        stripCast(yield.getCarried()[k]), type);
    rewriter.modifyOpInPlace(yield,
                             [&]() { yield.getCarriedMutable()[k].set(next); });
  }
};

/// A slice's value is cast to know less; a slice whose value says more of its
/// shape than the body's argument:
///
///   %d = tensor.cast %s : tensor<8x4xf32> to tensor<?x?xf32>
///   loop.loop ... slices(%x = %d : tensor<?x?xf32> axis 0 -> tensor<?xf32>)
///   ->
///   loop.loop ... slices(%x = %s : tensor<8x4xf32> axis 0 -> tensor<4xf32>)
struct RefineSlices : OpRewritePattern<LoopOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(LoopOp op,
                                PatternRewriter &rewriter) const override {
    bool changed = false;
    for (unsigned k = 0; k < op.getSlices().size(); ++k) {
      Value slice = op.getSlices()[k];
      if (!getPlainTensor(slice.getType()))
        continue;
      BlockArgument arg = op.getSliceArgs()[k];
      if (Value source = stripCast(slice);
          source != slice && fits(source, op.getSliceAxes()[k], arg)) {
        setSlice(rewriter, op, k, source);
        slice = source;
        changed = true;
      }
      TensorType old = getPlainTensor(arg.getType());
      if (!old)
        continue;
      auto part = cast<TensorType>(
          getCollectedElementType(slice.getType(), op.getSliceAxes()[k]));
      TensorType both = meet(old, part);
      if (!both || both == old)
        continue;
      refine(rewriter, op, arg, both);
      changed = true;
    }
    return success(changed);
  }

  /// Makes `source` what slice `k` is cut from. Where its rank is known the
  /// axis counts from the front.
  static void setSlice(PatternRewriter &rewriter, LoopOp op, unsigned k,
                       Value source) {
    int64_t axis = op.getSliceAxes()[k];
    if (auto type = dyn_cast<RankedTensorType>(source.getType()))
      axis = *countFromFront(axis, type.getRank());
    rewriter.modifyOpInPlace(op, [&]() {
      op.getSlicesMutable()[k].set(source);
      op.setSliceAxes(withAxis(op.getSliceAxes(), k, axis));
    });
  }

  /// Whether `slice` can be sliced along `axis` into `arg`: a cast may have
  /// promised what does not hold, which is an error at run time only.
  static bool fits(Value slice, int64_t axis, BlockArgument arg) {
    auto type = dyn_cast<RankedTensorType>(slice.getType());
    if (!type)
      return true;
    std::optional<int64_t> front = countFromFront(axis, type.getRank());
    if (!front)
      return false;
    auto tensor = dyn_cast<TensorType>(arg.getType());
    return tensor ? meet(tensor, cast<TensorType>(getCollectedElementType(
                                     type, *front))) != nullptr
                  : type.getRank() == 1;
  }
};

/// A collected value is cast to know less; what is yielded and the number of
/// trips say more of a collected result's shape than its type:
///
///   loop.loop ... trips(%c3 : i64) collect(tensor<?x?xf32> axis 0) {
///     loop.yield ... collect(%y : tensor<4xf32>)
///   }
///   ->
///   loop.loop ... trips(%c3 : i64) collect(tensor<3x4xf32> axis 0)
struct RefineCollected : OpRewritePattern<LoopOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(LoopOp op,
                                PatternRewriter &rewriter) const override {
    bool changed = false;
    YieldOp yield = op.getYield();
    for (unsigned k = 0; k < op.getNumCollected(); ++k) {
      Value value = yield.getCollected()[k];
      Value result = op.getCollectedResults()[k];
      TensorType old = getPlainTensor(result.getType());
      if (!old)
        continue;
      // See RefineSlices::fits.
      if (Value source = stripCast(value); source != value) {
        RankedTensorType known = getKnownType(op, k, source.getType());
        if (known && meet(old, known)) {
          rewriter.modifyOpInPlace(
              yield, [&]() { yield.getCollectedMutable()[k].set(source); });
          value = source;
          changed = true;
        }
      }
      RankedTensorType known = getKnownType(op, k, value.getType());
      TensorType both = known ? meet(old, known) : TensorType();
      if (!both || both == old)
        continue;
      int64_t axis = *countFromFront(op.getCollectAxes()[k], known.getRank());
      rewriter.modifyOpInPlace(op, [&]() {
        op.setCollectAxes(withAxis(op.getCollectAxes(), k, axis));
      });
      refine(rewriter, op, result, both);
      changed = true;
    }
    return success(changed);
  }

  /// What value `k` of type `one` and the trips say of its result.
  static RankedTensorType getKnownType(LoopOp op, unsigned k, Type one) {
    SmallVector<int64_t> shape;
    if (auto tensor = dyn_cast<RankedTensorType>(one))
      llvm::append_range(shape, tensor.getShape());
    else if (isa<ShapedType>(one))
      return {};
    std::optional<int64_t> axis =
        countFromFront(op.getCollectAxes()[k], shape.size() + 1);
    if (!axis)
      return {};
    shape.insert(shape.begin() + *axis, getKnownLength(op, k));
    return RankedTensorType::get(
        shape, cast<TensorType>(op.getCollectedResults()[k].getType())
                   .getElementType());
  }

  /// The number of rows of collected result `k`: its length, or the trips of a
  /// loop that does not end before them.
  static int64_t getKnownLength(LoopOp op, unsigned k) {
    std::optional<APInt> length;
    if (Value given = op.getLengthOf(k))
      length = getConstantInteger(given);
    else
      length = op.getStaticTripCount();
    // A shape whose elements cannot be counted would trip up whoever counts
    // them: INT64_MAX is how exporters write "no limit".
    if (!length || length->isNegative() || length->getActiveBits() > 31)
      return ShapedType::kDynamic;
    return length->getZExtValue();
  }
};
} // namespace

void loopc::loop::populateTypePatterns(RewritePatternSet &patterns) {
  patterns.add<RefineCarried, RefineSlices, RefineCollected>(
      patterns.getContext());
}
