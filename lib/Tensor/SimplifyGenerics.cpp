//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FusionSteps.h"
#include "loopc/Dialect/Loop/Transforms/Utils.h"
#include "loopc/Support/IndexCasts.h"
#include "loopc/Tensor/FirstOfColumns.h"
#include "loopc/Tensor/MergeGenerics.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace loopc;
using utils::IteratorType;

/// Constants of so many elements may be there in two shapes.
static constexpr int64_t kMaxTwice = 4096;

/// True if what is computed of `op` alone, element by element, is put together
/// with another matrix of the same elements: what is added to the state of a
/// recurrence, scaled perhaps.
static bool isAddedToMatrix(linalg::GenericOp op) {
  while (op && op->hasOneUse()) {
    OpOperand &use = *op->use_begin();
    auto reader = dyn_cast<linalg::GenericOp>(use.getOwner());
    if (!reader || !isElementwise(reader) || !reader.isDpsInput(&use) ||
        !reader.getMatchingIndexingMap(&use).isPermutation())
      return false;
    if (llvm::any_of(reader.getDpsInputOperands(), [&](OpOperand *other) {
          return other != &use &&
                 reader.getMatchingIndexingMap(other).isPermutation();
        }))
      return true;
    op = reader;
  }
  return false;
}

namespace {
/// A column times a row is no sum:
///
///     %o = linalg.generic (d0, d1, d2 = 1 reduced) ins(%column, %row)
///         outs(%zeros) { %out + %a * %b }
///     ->  linalg.generic (d0, d1) ins(%column, %row) { 0.0 + %a * %b }
///
/// Einsum writes it with %zeros as they are, and no third loop. The zero stays:
/// -0.0 is not 0.0.
struct SumOfOne : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override;
};

/// Elements that are extracted at the numbers of the loops are an operand's:
///
///     linalg.generic outs(%e) { %i = linalg.index 0; tensor.extract %x[%i,
///     %c0] }
///     ->  linalg.generic ins(%x) {indexing_maps = [(d0, d1) -> (d0, 0), ...]}
///
/// Where the extent is the loop's, `select(extent == 1, 0, %i)` is %i.
struct ReadAlongLoops : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override;
};

/// Sums that are the same all along an axis are computed once, and repeated:
///
///     %w = fill %c
///     %o = generic (d0, d1, d2 reduced) ins(%x, %w) outs(%zeros)
///         {(d0, d2), (d2, d1), (d0, d1)} { %out + %a * %b }
///     ->  %s = generic (d0, d2 reduced) ins(%x, %extents) { %out + %a * %c }
///         %o = generic (d0, d1) ins(%s) {(d0), (d0, d1)} { %a }
///
/// An operand that is one number everywhere does not vary along its axes; it
/// stays for the extents of what is summed up.
struct SumOnce : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override;
};

/// What is added to channels is a vector of them, whatever rank it was written
/// with:
///
///     linalg.generic ins(%x, %c : tensor<1x24x1x1xf32>) {(d0..d3) -> (0, d3,
///     0, 0)}
///     ->  linalg.generic ins(%x, %c : tensor<24xf32>) {(d0..d3) -> (d3)}
///
/// Its neighbours are the last axis then, which vectors are read along.
struct DropAxesOfOne : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override;
};

/// A tensor that is written to where a condition holds is chosen before it is
/// written, not element by element behind that:
///
///     %u = tensor.insert %v into %t[%i]
///     %o = linalg.generic ins(%c, %u, %t) { select(%c, %u, %t) }
///     ->  %w = select(%c, %v, tensor.extract %t[%i])
///         %o = tensor.insert %w into %t[%i]
///
/// Slices and loops of insertions go into a branch.
struct ChooseBeforeInsertion : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override;
};
} // namespace

LogicalResult SumOfOne::matchAndRewrite(linalg::GenericOp op,
                                        PatternRewriter &rewriter) const {
  if (!op.hasPureTensorSemantics() || op.getNumDpsInits() != 1 ||
      op.hasIndexSemantics() || op.getNumDpsInputs() == 0 ||
      !op.payloadUsesValueFromOperand(op.getDpsInitOperand(0)))
    return failure();
  auto fill = op.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
  if (!fill || !isAddedToMatrix(op))
    return failure();
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  SmallVector<AffineExpr> loops;
  unsigned count = 0;
  for (auto [dim, kind] : llvm::enumerate(op.getIteratorTypesArray())) {
    if (kind == IteratorType::parallel)
      loops.push_back(rewriter.getAffineDimExpr(count++));
    else if (extents[dim] == 1)
      loops.push_back(rewriter.getAffineConstantExpr(0));
    else
      return failure();
  }
  SmallVector<AffineMap> maps;
  for (AffineMap map : op.getIndexingMapsArray()) {
    if (!map.isProjectedPermutation(/*allowZeroInResults=*/true))
      return failure();
    maps.push_back(map.replaceDimsAndSymbols(loops, {}, count, 0));
  }
  if (!maps.back().isIdentity())
    return failure();
  Location loc = op.getLoc();
  Value init = op.getDpsInits()[0];
  Value empty =
      tensor::EmptyOp::create(rewriter, loc, resolveDims(rewriter, loc, init),
                              getElementTypeOrSelf(init.getType()));
  auto made = linalg::GenericOp::create(
      rewriter, loc, TypeRange{empty.getType()}, op.getDpsInputs(),
      ValueRange{empty}, maps,
      SmallVector<IteratorType>(count, IteratorType::parallel),
      [&](OpBuilder &b, Location, ValueRange args) {
        IRMapping mapping;
        mapping.map(op.getBody()->getArguments(), args);
        mapping.map(op.getBody()->getArguments().back(), fill.getInputs()[0]);
        for (Operation &inner : *op.getBody()) {
          Operation *copy = b.clone(inner, mapping);
          // One sum has no order.
          if (auto sum = dyn_cast<arith::AddFOp>(copy))
            sum.setFastmath(sum.getFastmath() & arith::FastMathFlags::contract);
        }
      });
  rewriter.replaceOpWithNewOp<tensor::CastOp>(op, op.getResult(0).getType(),
                                              made.getResult(0));
  return success();
}

/// The number that all elements of `value` are; null where they differ, or
/// where it is not known.
static OpFoldResult findUniform(Value value) {
  if (auto fill = value.getDefiningOp<linalg::FillOp>())
    return fill.getInputs()[0];
  if (auto repeat = value.getDefiningOp<linalg::GenericOp>();
      repeat && isElementwise(repeat) && repeat->getNumResults() == 1) {
    Value number = repeat.getBody()->getTerminator()->getOperand(0);
    if (number.getParentBlock() != repeat.getBody())
      return number;
    auto input = dyn_cast<BlockArgument>(number);
    return input ? findUniform(repeat->getOperand(input.getArgNumber()))
                 : OpFoldResult();
  }
  DenseElementsAttr dense;
  if (!matchPattern(value, m_Constant(&dense)) || !dense.isSplat())
    return {};
  return dyn_cast<TypedAttr>(dense.getSplatValue<Attribute>());
}

/// `number` as a value.
static Value materialize(OpBuilder &b, Location loc, OpFoldResult number) {
  if (auto value = dyn_cast<Value>(number))
    return value;
  return arith::ConstantOp::create(b, loc,
                                   cast<TypedAttr>(cast<Attribute>(number)));
}

/// The loops of `op` along which its result is the same: those of the result
/// alone, and of operands that are `uniform`.
static llvm::SmallBitVector findRepeated(linalg::GenericOp op,
                                         const llvm::SmallBitVector &uniform) {
  llvm::SmallBitVector repeated(op.getNumLoops());
  for (auto [dim, kind] : llvm::enumerate(op.getIteratorTypesArray()))
    if (kind == IteratorType::parallel)
      repeated.set(dim);
  for (linalg::IndexOp index : op.getBody()->getOps<linalg::IndexOp>())
    repeated.reset(index.getDim());
  for (OpOperand *operand : op.getDpsInputOperands())
    for (AffineExpr expr : op.getMatchingIndexingMap(operand).getResults())
      // Of what is not read an axis is left out, if it is one by itself.
      if (!uniform.test(operand->getOperandNumber()) ||
          !isa<AffineDimExpr>(expr))
        for (unsigned dim : repeated.set_bits())
          if (expr.isFunctionOfDim(dim))
            repeated.reset(dim);
  return repeated;
}

/// `map` without the results that are one of the loops `dropped`, and these
/// loops.
static AffineMap dropLoops(AffineMap map, const llvm::SmallBitVector &dropped,
                           SmallVectorImpl<int64_t> &kept) {
  SmallVector<AffineExpr> results;
  for (auto [axis, expr] : llvm::enumerate(map.getResults()))
    if (auto dim = dyn_cast<AffineDimExpr>(expr);
        !dim || !dropped.test(dim.getPosition())) {
      results.push_back(expr);
      kept.push_back(axis);
    }
  return compressDims(
      AffineMap::get(map.getNumDims(), 0, results, map.getContext()), dropped);
}

/// Writes the body of `op` of `args`, with those of `numbers` that there are in
/// the place of arguments, into loops without `dropped`.
static void writeBody(OpBuilder &b, Location loc, linalg::GenericOp op,
                      ValueRange args, ArrayRef<OpFoldResult> numbers,
                      const llvm::SmallBitVector &dropped) {
  IRMapping mapping;
  mapping.map(op.getBody()->getArguments(), args);
  for (auto [k, number] : llvm::enumerate(numbers))
    if (!number.isNull())
      mapping.map(op.getBody()->getArgument(k), materialize(b, loc, number));
  for (Operation &inner : *op.getBody())
    if (auto index = dyn_cast<linalg::IndexOp>(b.clone(inner, mapping)))
      index.setDim(index.getDim() -
                   llvm::count_if(dropped.set_bits(), [&](unsigned dim) {
                     return dim < index.getDim();
                   }));
}

LogicalResult SumOnce::matchAndRewrite(linalg::GenericOp op,
                                       PatternRewriter &rewriter) const {
  if (!op.hasPureTensorSemantics() || op.getNumDpsInits() != 1 ||
      op.getNumReductionLoops() == 0)
    return failure();
  Location loc = op.getLoc();
  Value init = op.getDpsInits()[0];
  OpFoldResult start = findUniform(init);
  AffineMap made = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (start.isNull() || !made.isProjectedPermutation())
    return failure();
  llvm::SmallBitVector uniform(op->getNumOperands());
  SmallVector<OpFoldResult> numbers(op.getNumDpsInputs());
  for (auto [k, input] : llvm::enumerate(op.getDpsInputs())) {
    bool isRead = !op.getBody()->getArgument(k).use_empty();
    if (isRead && isa<RankedTensorType>(input.getType()))
      numbers[k] = findUniform(input);
    uniform[k] = !isRead || !numbers[k].isNull();
  }
  llvm::SmallBitVector repeated = findRepeated(op, uniform);
  if (repeated.none())
    return failure();
  // Without the axes, `value` as empty as it was.
  auto makeEmpty = [&](Value value, ArrayRef<int64_t> kept) -> Value {
    SmallVector<OpFoldResult> extents;
    for (int64_t axis : kept)
      extents.push_back(resolveDim(rewriter, loc, value, axis));
    return tensor::EmptyOp::create(rewriter, loc, extents,
                                   getElementTypeOrSelf(value.getType()));
  };
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  for (auto [k, map] : llvm::enumerate(op.getIndexingMapsArray())) {
    SmallVector<int64_t> kept;
    maps.push_back(dropLoops(map, repeated, kept));
    Value value = op->getOperand(k);
    if (static_cast<int64_t>(k) < op.getNumDpsInputs())
      inputs.push_back(uniform[k] && isa<RankedTensorType>(value.getType())
                           ? makeEmpty(value, kept)
                           : value);
    else
      init = linalg::FillOp::create(rewriter, loc,
                                    materialize(rewriter, loc, start),
                                    makeEmpty(value, kept))
                 .result();
  }
  SmallVector<IteratorType> kinds;
  for (auto [dim, kind] : llvm::enumerate(op.getIteratorTypesArray()))
    if (!repeated.test(dim))
      kinds.push_back(kind);
  auto sum = linalg::GenericOp::create(
      rewriter, loc, TypeRange{init.getType()}, inputs, ValueRange{init}, maps,
      kinds, [&](OpBuilder &b, Location, ValueRange args) {
        writeBody(b, loc, op, args, numbers, repeated);
      });
  // Of the loops of the result.
  SmallVector<int64_t> kept;
  SmallVector<AffineExpr> place;
  dropLoops(made, repeated, kept);
  for (int64_t axis : kept)
    place.push_back(rewriter.getAffineDimExpr(axis));
  unsigned rank = made.getNumResults();
  Value whole = op.getDpsInits()[0];
  rewriter.replaceOpWithNewOp<linalg::GenericOp>(
      op, op->getResultTypes(), sum.getResults(),
      ValueRange{tensor::EmptyOp::create(
          rewriter, loc, resolveDims(rewriter, loc, whole),
          getElementTypeOrSelf(whole.getType()))},
      ArrayRef<AffineMap>{AffineMap::get(rank, 0, place, op.getContext()),
                          rewriter.getMultiDimIdentityMap(rank)},
      SmallVector<IteratorType>(rank, IteratorType::parallel),
      [](OpBuilder &b, Location loc, ValueRange args) {
        linalg::YieldOp::create(b, loc, args.front());
      });
  return success();
}

/// The loop whose number `index` is, where `x` has the extent of that loop
/// along `axis`; none where it is something else.
static std::optional<unsigned> findLoop(OpBuilder &b, linalg::GenericOp op,
                                        Value x, unsigned axis, Value index) {
  // Any other number than 0 is chosen where the extent is more than 1 only.
  bool isChosen = false;
  Value extentOfOne;
  if (auto select = index.getDefiningOp<arith::SelectOp>()) {
    auto compare = select.getCondition().getDefiningOp<arith::CmpIOp>();
    if (!compare || compare.getPredicate() != arith::CmpIPredicate::eq ||
        !isConstantIntValue(compare.getRhs(), 1) ||
        !isConstantIntValue(select.getTrueValue(), 0))
      return std::nullopt;
    isChosen = true;
    extentOfOne = compare.getLhs();
    index = select.getFalseValue();
  }
  auto number = index.getDefiningOp<linalg::IndexOp>();
  if (!number || number->getBlock() != op.getBody())
    return std::nullopt;
  OpFoldResult extent = resolveDim(b, op.getLoc(), x, axis),
               loop = resolveDim(b, op.getLoc(), op.getDpsInits()[0],
                                 number.getDim());
  if (!isEqualConstantIntOrValue(extent, loop) ||
      (isChosen && !isEqualConstantIntOrValue(extent, extentOfOne)))
    return std::nullopt;
  return number.getDim();
}

LogicalResult ReadAlongLoops::matchAndRewrite(linalg::GenericOp op,
                                              PatternRewriter &rewriter) const {
  if (!isElementwise(op))
    return failure();
  for (auto read : op.getBody()->getOps<tensor::ExtractOp>()) {
    Value x = read.getTensor();
    if (x.getParentBlock() == op.getBody())
      continue;
    SmallVector<AffineExpr> place;
    for (auto [axis, index] : llvm::enumerate(read.getIndices())) {
      if (isConstantIntValue(index, 0) &&
          cast<RankedTensorType>(x.getType()).getDimSize(axis) == 1)
        place.push_back(rewriter.getAffineConstantExpr(0));
      else if (std::optional<unsigned> loop =
                   findLoop(rewriter, op, x, axis, index))
        place.push_back(rewriter.getAffineDimExpr(*loop));
    }
    if (place.empty() || place.size() != read.getIndices().size())
      continue;
    SmallVector<Value> inputs(op.getDpsInputs());
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    unsigned at = inputs.size();
    inputs.push_back(x);
    maps.insert(maps.begin() + at,
                AffineMap::get(op.getNumLoops(), 0, place, op.getContext()));
    auto made = linalg::GenericOp::create(
        rewriter, op.getLoc(), op->getResultTypes(), inputs, op.getDpsInits(),
        maps, op.getIteratorTypesArray(),
        [&](OpBuilder &b, Location, ValueRange args) {
          IRMapping mapping;
          for (auto [k, arg] : llvm::enumerate(op.getBody()->getArguments()))
            mapping.map(arg, args[k < at ? k : k + 1]);
          for (Operation &inner : *op.getBody()) {
            if (&inner == read)
              mapping.map(read.getResult(), args[at]);
            else
              b.clone(inner, mapping);
          }
        });
    rewriter.replaceOp(op, made.getResults());
    return success();
  }
  return failure();
}

/// The same elements as a tensor of `type`; null for what is no list of them.
static TypedAttr withShape(Attribute value, RankedTensorType type) {
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value))
    return DenseResourceElementsAttr::get(type, resource.getRawHandle());
  auto dense = dyn_cast<DenseElementsAttr>(value);
  return dense ? TypedAttr(dense.reshape(type)) : TypedAttr();
}

/// `constant`, read by `map`, without axes of one element where others are, and
/// how it is read then; null where nothing is to be done.
static std::pair<Value, AffineMap>
dropAxes(PatternRewriter &rewriter, arith::ConstantOp constant, AffineMap map) {
  auto type = cast<RankedTensorType>(constant.getType());
  SmallVector<int64_t> shape;
  SmallVector<AffineExpr> place;
  for (auto [extent, expr] : llvm::zip_equal(type.getShape(), map.getResults()))
    if (extent != 1 || !isa<AffineConstantExpr>(expr)) {
      shape.push_back(extent);
      place.push_back(expr);
    }
  // Numbers alone become parts of the body.
  if (place.empty() || place.size() == map.getNumResults())
    return {};
  auto vector =
      RankedTensorType::get(shape, type.getElementType(), type.getEncoding());
  TypedAttr value = withShape(constant.getValue(), vector);
  if (!value)
    return {};
  return {arith::ConstantOp::create(rewriter, constant.getLoc(), value),
          AffineMap::get(map.getNumDims(), 0, place, map.getContext())};
}

LogicalResult DropAxesOfOne::matchAndRewrite(linalg::GenericOp op,
                                             PatternRewriter &rewriter) const {
  if (!isElementwise(op))
    return failure();
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<Value> operands(op->getOperands());
  for (OpOperand *operand : op.getDpsInputOperands()) {
    unsigned k = operand->getOperandNumber();
    auto constant = operands[k].getDefiningOp<arith::ConstantOp>();
    // Operands may be numbers, too.
    auto type = dyn_cast<RankedTensorType>(operands[k].getType());
    // A large one that others read would be there twice.
    if (!constant || !type ||
        (!constant->hasOneUse() && type.getNumElements() > kMaxTwice))
      continue;
    if (auto [value, map] = dropAxes(rewriter, constant, maps[k]); value) {
      operands[k] = value;
      maps[k] = map;
    }
  }
  if (llvm::equal(operands, op->getOperands()))
    return failure();
  rewriter.modifyOpInPlace(op, [&] {
    op->setOperands(operands);
    op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
  });
  return success();
}

/// The one number that a body's `value` is in all iterations of `op`, read in
/// front of it; null where iterations have several, and where there may be none
/// to read: `op` may have no iterations.
static Value uniformOperand(PatternRewriter &rewriter, linalg::GenericOp op,
                            Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getOwner() != op.getBody())
    return value.getParentBlock() == op.getBody() ? Value() : value;
  OpOperand *operand = op.getMatchingOpOperand(argument);
  AffineMap map = op.getMatchingIndexingMap(operand);
  if (!map.isConstant() && map.getNumResults() != 0)
    return {};
  auto type = dyn_cast<RankedTensorType>(operand->get().getType());
  if (!type)
    return operand->get();
  SmallVector<int64_t> at = map.getConstantResults();
  for (auto [number, extent] : llvm::zip_equal(at, type.getShape()))
    if (ShapedType::isDynamic(extent) || number >= extent)
      return {};
  SmallVector<Value> place;
  for (int64_t number : at)
    place.push_back(
        arith::ConstantIndexOp::create(rewriter, op.getLoc(), number));
  return tensor::ExtractOp::create(rewriter, op.getLoc(), operand->get(),
                                   place);
}

/// True if `op` is `old` with other elements, which may be computed only where
/// they are wanted.
static bool writesInto(Operation *op, Value old) {
  if (!op || !op->hasOneUse() || op->getNumResults() != 1 ||
      !isMemoryEffectFree(op))
    return false;
  if (auto insert = dyn_cast<tensor::InsertOp>(op))
    return insert.getDest() == old;
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
    return insert.getDest() == old;
  auto loop = dyn_cast<scf::ForOp>(op);
  return loop && loop.getInits().front() == old;
}

LogicalResult
ChooseBeforeInsertion::matchAndRewrite(linalg::GenericOp op,
                                       PatternRewriter &rewriter) const {
  if (!isElementwise(op) || op->getNumResults() != 1)
    return failure();
  auto select = op.getBody()
                    ->getTerminator()
                    ->getOperand(0)
                    .getDefiningOp<arith::SelectOp>();
  Type type = op->getResult(0).getType();
  auto tensorOf = [&](Value value) -> Value {
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument || argument.getOwner() != op.getBody() ||
        argument.getArgNumber() >= op.getNumDpsInputs())
      return {};
    OpOperand *operand = op.getMatchingOpOperand(argument);
    return op.getMatchingIndexingMap(operand).isIdentity() &&
                   operand->get().getType() == type
               ? operand->get()
               : Value();
  };
  Value yes = select ? tensorOf(select.getTrueValue()) : Value();
  Value no = yes ? tensorOf(select.getFalseValue()) : Value();
  if (!no)
    return failure();
  bool ifTrue = writesInto(yes.getDefiningOp(), no);
  if (!ifTrue && !writesInto(no.getDefiningOp(), yes))
    return failure();
  Value condition = uniformOperand(rewriter, op, select.getCondition());
  if (!condition)
    return failure();
  Location loc = op.getLoc();
  Value updated = ifTrue ? yes : no, old = ifTrue ? no : yes;
  if (auto insert = updated.getDefiningOp<tensor::InsertOp>()) {
    Value before =
        tensor::ExtractOp::create(rewriter, loc, old, insert.getIndices());
    Value chosen = arith::SelectOp::create(
        rewriter, loc, condition, ifTrue ? insert.getScalar() : before,
        ifTrue ? before : insert.getScalar());
    rewriter.replaceOpWithNewOp<tensor::InsertOp>(op, chosen, old,
                                                  insert.getIndices());
    return success();
  }
  auto branch = scf::IfOp::create(rewriter, loc, TypeRange(type), condition,
                                  /*addThenBlock=*/true,
                                  /*addElseBlock=*/true);
  for (Block *block : {branch.thenBlock(), branch.elseBlock()}) {
    rewriter.setInsertionPointToStart(block);
    bool isUpdated = (block == branch.thenBlock()) == ifTrue;
    auto yield = scf::YieldOp::create(rewriter, loc, isUpdated ? updated : old);
    if (isUpdated)
      rewriter.moveOpBefore(updated.getDefiningOp(), yield);
  }
  rewriter.replaceOp(op, branch.getResults());
  return success();
}

/// An element of a tensor with more axes of one element is that without them:
/// what computes it is seen.
///
///     %m = tensor.expand_shape %t [[0, 1]] : tensor<8xi64> into
///     tensor<8x1xi64> tensor.extract %m[%i, %c0]  ->  tensor.extract %t[%i]
static LogicalResult readBeforeExpansion(tensor::ExtractOp op,
                                         PatternRewriter &rewriter) {
  auto expand = op.getTensor().getDefiningOp<tensor::ExpandShapeOp>();
  if (!expand || !isWideInteger(op.getType()) ||
      !expand.getSrc().getDefiningOp<linalg::GenericOp>())
    return failure();
  SmallVector<Value> place;
  for (const ReassociationIndices &group : expand.getReassociationIndices()) {
    auto longer = llvm::make_filter_range(group, [&](int64_t axis) {
      return expand.getResultType().getDimSize(axis) != 1;
    });
    if (llvm::range_size(longer) > 1)
      return failure();
    place.push_back(
        op.getIndices()[longer.empty() ? group.front() : *longer.begin()]);
  }
  rewriter.replaceOpWithNewOp<tensor::ExtractOp>(op, expand.getSrc(), place);
  return success();
}

void loopc::populateSimplifyGenerics(RewritePatternSet &patterns) {
  patterns.add<SumOfOne, SumOnce, ReadAlongLoops, DropAxesOfOne,
               ChooseBeforeInsertion>(patterns.getContext());
  patterns.add(readBeforeExpansion);
  populateFirstOfColumns(patterns);
}
