//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Pairs, points in space and boxes are rows of two to four elements. A loop
// along such a row is no vector. Unrolled, each of its elements is an operand
// of its own, and the vectors are along another axis:
//
//   %s = generic (n, k = 3 reduced) ins(%x : (n, k)) { %out + %x }
//     becomes
//   %s = generic (n) ins(%x[:, 0], %x[:, 1], %x[:, 2]) { 0 + %0 + %1 + %2 }

#include "FusionSteps.h"
#include "loopc/Dialect/Loop/Transforms/Utils.h"
#include "loopc/Tensor/MergeGenerics.h"
#include "loopc/Tensor/StoredTranspose.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace loopc;
using utils::IteratorType;

/// Longer axes are loops.
static constexpr int64_t kFew = 4;
/// Fewer elements along the other axis are no vectors either.
static constexpr int64_t kMinRows = 16;
/// Nor are rows of fewer elements vectors of their own.
static constexpr int64_t kMinColumns = 33;
/// Operations of the unrolled body.
static constexpr int64_t kLongestBody = 64;

static bool isAtLeast(int64_t extent, int64_t least) {
  return ShapedType::isDynamic(extent) || extent >= least;
}

namespace {
/// An operation whose loop `dim` is unrolled.
class Unrolling {
public:
  Unrolling(linalg::GenericOp op, unsigned dim, unsigned vectorDim)
      : op(op), dim(dim), vectorDim(vectorDim),
        extents(op.getStaticLoopRanges()), count(extents[dim]) {}

  bool match();
  /// The operands of the unrolled operation: those that vary along the axis
  /// once for each of its elements.
  void makeInputs(RewriterBase &rewriter);
  /// Appends what `op` computes for element `k` of the axis. `outs` are what
  /// it puts it into, `args` those of `inputs`.
  SmallVector<Value> cloneBody(OpBuilder &b, int64_t k, ValueRange args,
                               ValueRange outs);
  AffineMap withoutLoop(AffineMap map);
  SmallVector<IteratorType> otherLoops();

  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;

private:
  bool isReadMoreThanOnce(AffineMap map);
  Value sliceOf(RewriterBase &rewriter, Value value, unsigned axis, int64_t k);
  Value withAxisFirst(RewriterBase &rewriter, Value value, unsigned axis);

  linalg::GenericOp op;
  unsigned dim, vectorDim;
  SmallVector<int64_t> extents;
  int64_t count;
  SmallVector<unsigned> firstArgs; ///< of each operand, in `inputs`
};

/// Short rows that are reduced are no loop:
///
///     %r = generic (i, j, k = 3 reduced) ins(%p : (j, k), %q : (i, k))
///     ->  %t = transpose %p
///         %r = generic (i, j) ins(%t[0, :], ..., %q[:, 0], ...) : (j), .., (i)
struct ReduceFew : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override;
};

/// Sums that are short rows are sums of their own:
///
///     %f = generic (i, j reduced, c = 3) ins(%w : (i, j), %p : (j, c))
///     ->  %0, %1, %2 = generic (i, j reduced) ins(%w, %t[0, :], ...)
///         %f = %0, %1 and %2 beside one another
struct SumFewColumns : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override;
};
} // namespace

//===----------------------------------------------------------------------===//
// Unrolling
//===----------------------------------------------------------------------===//

/// The axis that `map` reads by the number of loop `dim`; none where it does
/// not, or by more than that number.
static std::optional<unsigned> findAxis(AffineMap map, unsigned dim) {
  std::optional<unsigned> found;
  for (auto [axis, expr] : llvm::enumerate(map.getResults())) {
    if (!expr.isFunctionOfDim(dim))
      continue;
    if (found || !isa<AffineDimExpr>(expr))
      return std::nullopt;
    found = axis;
  }
  return found;
}

bool Unrolling::match() {
  if (!op.hasPureTensorSemantics() || count < 2 || count > kFew ||
      !isAtLeast(extents[vectorDim], kMinRows) ||
      llvm::range_size(op.getBody()->without_terminator()) * count >
          kLongestBody ||
      op->getNumOperands() + op.getNumDpsInputs() * (count - 1) > kMaxOperands)
    return false;
  bool isRow = false;
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    if (!map.isProjectedPermutation(/*allowZeroInResults=*/true))
      return false;
    std::optional<unsigned> axis = findAxis(map, dim);
    isRow |= axis && *axis + 1 == map.getNumResults();
  }
  // Regions of operations in the body would see the loop's number.
  return isRow && llvm::all_of(*op.getBody(), [](Operation &inner) {
           return inner.getNumRegions() == 0;
         });
}

AffineMap Unrolling::withoutLoop(AffineMap map) {
  SmallVector<AffineExpr> loops;
  for (unsigned k : llvm::seq(map.getNumDims()))
    loops.push_back(k == dim
                        ? getAffineConstantExpr(0, map.getContext())
                        : getAffineDimExpr(k - (k > dim), map.getContext()));
  return map.replaceDimsAndSymbols(loops, {}, map.getNumDims() - 1, 0);
}

SmallVector<IteratorType> Unrolling::otherLoops() {
  SmallVector<IteratorType> kinds = op.getIteratorTypesArray();
  kinds.erase(kinds.begin() + dim);
  return kinds;
}

/// True if vectors of what `map` reads are read again in another loop, so that
/// a copy whose neighbours are neighbours in memory costs little.
bool Unrolling::isReadMoreThanOnce(AffineMap map) {
  return map.isFunctionOfDim(vectorDim) &&
         llvm::any_of(llvm::seq(map.getNumDims()), [&](unsigned other) {
           return other != dim && !map.isFunctionOfDim(other) &&
                  isAtLeast(extents[other], kFew);
         });
}

/// A copy of `value` with `axis` before all others.
Value Unrolling::withAxisFirst(RewriterBase &rewriter, Value value,
                               unsigned axis) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> order{axis};
  for (int64_t k : llvm::seq(type.getRank()))
    if (k != axis)
      order.push_back(k);
  SmallVector<OpFoldResult> sizes = resolveDims(rewriter, op.getLoc(), value);
  applyPermutationToVector(sizes, order);
  Value empty = tensor::EmptyOp::create(rewriter, op.getLoc(), sizes,
                                        type.getElementType());
  return storeTransposed(rewriter, op.getLoc(), value, empty, order);
}

/// What `value` has at place `k` of `axis`.
Value Unrolling::sliceOf(RewriterBase &rewriter, Value value, unsigned axis,
                         int64_t k) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<OpFoldResult> offsets(type.getRank(), rewriter.getIndexAttr(0)),
      sizes = resolveDims(rewriter, op.getLoc(), value),
      strides(type.getRank(), rewriter.getIndexAttr(1));
  offsets[axis] = rewriter.getIndexAttr(k);
  sizes[axis] = rewriter.getIndexAttr(1);
  SmallVector<int64_t> shape(type.getShape());
  shape.erase(shape.begin() + axis);
  return tensor::ExtractSliceOp::create(
      rewriter, op.getLoc(),
      RankedTensorType::get(shape, type.getElementType()), value, offsets,
      sizes, strides);
}

void Unrolling::makeInputs(RewriterBase &rewriter) {
  // Each axis is copied once, for all that read it.
  llvm::MapVector<std::pair<Value, unsigned>, Value> copies;
  auto forInputs = [&](auto visit) {
    for (OpOperand *input : op.getDpsInputOperands()) {
      AffineMap map = op.getMatchingIndexingMap(input);
      Value value = dropUnitAxes(input->get(), map);
      visit(value, map, findAxis(map, dim));
    }
  };
  forInputs([&](Value value, AffineMap map, std::optional<unsigned> axis) {
    if (axis && *axis + 1 == map.getNumResults() && isReadMoreThanOnce(map) &&
        !copies.contains({value, *axis}))
      copies[{value, *axis}] = withAxisFirst(rewriter, value, *axis);
  });
  forInputs([&](Value value, AffineMap map, std::optional<unsigned> axis) {
    firstArgs.push_back(inputs.size());
    if (!axis) {
      inputs.push_back(value);
      maps.push_back(withoutLoop(map));
      return;
    }
    Value copy = copies.lookup({value, *axis});
    for (int64_t k : llvm::seq(count)) {
      inputs.push_back(
          sliceOf(rewriter, copy ? copy : value, copy ? 0 : *axis, k));
      maps.push_back(withoutLoop(map.dropResult(*axis)));
    }
  });
}

SmallVector<Value> Unrolling::cloneBody(OpBuilder &b, int64_t k,
                                        ValueRange args, ValueRange outs) {
  IRMapping mapping;
  for (auto [n, input] : llvm::enumerate(op.getDpsInputOperands())) {
    bool varies = op.getMatchingIndexingMap(input).isFunctionOfDim(dim);
    mapping.map(op.getMatchingBlockArgument(input),
                args[firstArgs[n] + (varies ? k : 0)]);
  }
  for (auto [out, init] : llvm::zip_equal(outs, op.getDpsInitsMutable()))
    mapping.map(op.getMatchingBlockArgument(&init), out);
  for (Operation &inner : op.getBody()->without_terminator()) {
    auto number = dyn_cast<linalg::IndexOp>(inner);
    if (number && number.getDim() == dim)
      mapping.map(number.getResult(),
                  arith::ConstantIndexOp::create(b, op.getLoc(), k));
    else if (number)
      mapping.map(
          number.getResult(),
          linalg::IndexOp::create(b, op.getLoc(),
                                  number.getDim() - (number.getDim() > dim)));
    else
      b.clone(inner, mapping);
  }
  return llvm::map_to_vector(
      op.getBody()->getTerminator()->getOperands(),
      [&](Value v) { return mapping.lookupOrDefault(v); });
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

LogicalResult ReduceFew::matchAndRewrite(linalg::GenericOp op,
                                         PatternRewriter &rewriter) const {
  SmallVector<unsigned> reduced;
  op.getReductionDims(reduced);
  if (reduced.size() != 1 || op.getNumLoops() < 2 ||
      linalg::isaContractionOpInterface(op))
    return failure();
  AffineMap result = op.getIndexingMapsArray().back();
  if (!llvm::all_of(op.getDpsInitsMutable(),
                    [&](OpOperand &init) {
                      return op.getMatchingIndexingMap(&init) == result;
                    }) ||
      !result.isProjectedPermutation() || result.getNumResults() == 0)
    return failure();
  auto last = cast<AffineDimExpr>(result.getResults().back()).getPosition();
  // Short rows that are reduced in their turn become columns.
  if (result.getNumResults() > 1 &&
      !isAtLeast(op.getStaticLoopRanges()[last], kMinColumns))
    return failure();
  Unrolling unrolling(op, reduced.front(), last);
  if (!unrolling.match())
    return failure();
  unrolling.makeInputs(rewriter);
  // What the sums begin with is read, but for a number that all begin with.
  SmallVector<Value> starts, empties;
  unsigned numInputs = unrolling.inputs.size();
  for (Value init : op.getDpsInits()) {
    auto fill = init.getDefiningOp<linalg::FillOp>();
    starts.push_back(fill ? fill.getInputs()[0] : Value());
    empties.push_back(tensor::EmptyOp::create(
        rewriter, op.getLoc(), resolveDims(rewriter, op.getLoc(), init),
        getElementTypeOrSelf(init.getType())));
    if (fill)
      continue;
    unrolling.inputs.push_back(init);
    unrolling.maps.push_back(unrolling.withoutLoop(result));
  }
  unrolling.maps.append(op.getNumDpsInits(), unrolling.withoutLoop(result));
  auto made = linalg::GenericOp::create(
      rewriter, op.getLoc(), TypeRange(ValueRange(empties)), unrolling.inputs,
      empties, unrolling.maps, unrolling.otherLoops(),
      [&](OpBuilder &b, Location, ValueRange args) {
        SmallVector<Value> values;
        for (Value start : starts)
          values.push_back(start ? start : args[numInputs++]);
        for (int64_t k : llvm::seq(op.getStaticLoopRanges()[reduced.front()]))
          values = unrolling.cloneBody(b, k, args, values);
        linalg::YieldOp::create(b, op.getLoc(), values);
      });
  SmallVector<Value> results;
  for (auto [from, to] : llvm::zip_equal(made.getResults(), op.getResults()))
    results.push_back(
        rewriter.createOrFold<tensor::CastOp>(op.getLoc(), to.getType(), from));
  rewriter.replaceOp(op, results);
  return success();
}

/// The loop along the last axis of the result of `op`, and the one that it
/// reduces; none where it does not reduce one alone.
static std::optional<std::pair<unsigned, unsigned>>
findColumnAndSum(linalg::GenericOp op) {
  SmallVector<unsigned> reduced;
  op.getReductionDims(reduced);
  AffineMap result = op.getIndexingMapsArray().back();
  if (reduced.size() != 1 || op->getNumResults() != 1 ||
      !result.isProjectedPermutation() || result.getNumResults() < 2 ||
      !op.getDpsInits()[0].getDefiningOp<linalg::FillOp>() ||
      linalg::isaContractionOpInterface(op))
    return std::nullopt;
  return std::pair(result.getDimPosition(result.getNumResults() - 1),
                   reduced.front());
}

/// The columns of a tensor with the extents of `like`: row by row, as they are
/// computed in vectors, and then as they shall be.
static Value putTogether(RewriterBase &rewriter, Location loc,
                         ValueRange columns, Value like) {
  SmallVector<OpFoldResult> sizes = resolveDims(rewriter, loc, like);
  Type element = getElementTypeOrSelf(like.getType());
  Value result = tensor::EmptyOp::create(rewriter, loc, sizes, element);
  SmallVector<int64_t> order = llvm::to_vector(
      llvm::seq<int64_t>(1, static_cast<int64_t>(sizes.size())));
  order.push_back(0);
  sizes.insert(sizes.begin(), sizes.pop_back_val());
  Value joined = tensor::EmptyOp::create(rewriter, loc, sizes, element);
  SmallVector<OpFoldResult> offsets(sizes.size(), rewriter.getIndexAttr(0)),
      strides(sizes.size(), rewriter.getIndexAttr(1));
  sizes.front() = rewriter.getIndexAttr(1);
  for (auto [k, column] : llvm::enumerate(columns)) {
    offsets.front() = rewriter.getIndexAttr(k);
    joined = tensor::InsertSliceOp::create(rewriter, loc, column, joined,
                                           offsets, sizes, strides);
  }
  return storeTransposed(rewriter, loc, joined, result, order);
}

LogicalResult SumFewColumns::matchAndRewrite(linalg::GenericOp op,
                                             PatternRewriter &rewriter) const {
  auto loops = findColumnAndSum(op);
  if (!loops)
    return failure();
  auto [column, sum] = *loops;
  AffineMap result = op.getIndexingMapsArray().back();
  // What varies along both is worth a copy only where it is read again.
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    if (map.isFunctionOfDim(column) && map.isFunctionOfDim(sum) &&
        llvm::all_of(llvm::seq(op.getNumLoops()),
                     [&](unsigned dim) { return map.isFunctionOfDim(dim); }))
      return failure();
  }
  Unrolling unrolling(op, column, sum);
  if (!unrolling.match())
    return failure();
  unrolling.makeInputs(rewriter);
  int64_t count = op.getStaticLoopRanges()[column];
  Location loc = op.getLoc();
  Value init = op.getDpsInits()[0];
  SmallVector<OpFoldResult> sizes = resolveDims(rewriter, loc, init);
  SmallVector<Value> inits;
  for ([[maybe_unused]] int64_t k : llvm::seq(count)) {
    Value empty =
        tensor::EmptyOp::create(rewriter, loc, ArrayRef(sizes).drop_back(),
                                getElementTypeOrSelf(init.getType()));
    inits.push_back(linalg::FillOp::create(
                        rewriter, loc,
                        init.getDefiningOp<linalg::FillOp>().getInputs()[0],
                        empty)
                        .result());
    unrolling.maps.push_back(
        unrolling.withoutLoop(result.dropResult(result.getNumResults() - 1)));
  }
  auto made = linalg::GenericOp::create(
      rewriter, loc, TypeRange(ValueRange(inits)), unrolling.inputs, inits,
      unrolling.maps, unrolling.otherLoops(),
      [&](OpBuilder &b, Location, ValueRange args) {
        SmallVector<Value> values;
        for (int64_t k : llvm::seq(count))
          values.push_back(unrolling.cloneBody(
              b, k, args, args[args.size() - count + k])[0]);
        linalg::YieldOp::create(b, loc, values);
      });
  rewriter.replaceOp(op,
                     rewriter.createOrFold<tensor::CastOp>(
                         loc, op.getResult(0).getType(),
                         putTogether(rewriter, loc, made.getResults(), init)));
  return success();
}

void loopc::populateUnrollShortAxes(RewritePatternSet &patterns) {
  patterns.add<ReduceFew, SumFewColumns>(patterns.getContext());
}
