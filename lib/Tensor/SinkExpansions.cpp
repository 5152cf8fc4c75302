//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// tensor-sink-expansions: weights of f16, or of integers with scales, are not
// expanded in each run. What products of matrices read stays as it is in the
// model until it is summed up; what is looked up is expanded behind that; for
// all else the floats are computed by the compiler.

#include "ConstantReader.h"
#include "loopc/Support/Walk.h"
#include "loopc/Tensor/Expansions.h"
#include "loopc/Tensor/Passes.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Utils/Utils.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/SmallBitVector.h"

namespace loopc {
#define GEN_PASS_DEF_TENSORSINKEXPANSIONS
#include "loopc/Tensor/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

/// What is smaller tensor-fold-constants computes.
static constexpr int64_t kSmall = 16 << 10;

static linalg::GenericOp expansionOf(Value value) {
  auto op = value.getDefiningOp<linalg::GenericOp>();
  return op && isExpansion(op) ? op : linalg::GenericOp();
}

//===----------------------------------------------------------------------===//
// Scales of blocks
//===----------------------------------------------------------------------===//

/// The loop, or the number of the block along one, that `index` is; null if it
/// is neither.
static AffineExpr matchIndex(Value index) {
  MLIRContext *context = index.getContext();
  if (auto loop = index.getDefiningOp<linalg::IndexOp>())
    return getAffineDimExpr(loop.getDim(), context);
  if (matchPattern(index, m_Zero()))
    return getAffineConstantExpr(0, context);
  auto quotient = index.getDefiningOp<arith::DivUIOp>();
  APInt length;
  if (!quotient || !matchPattern(quotient.getRhs(), m_ConstantInt(&length)) ||
      !length.isStrictlyPositive())
    return {};
  auto loop = quotient.getLhs().getDefiningOp<linalg::IndexOp>();
  return loop ? getAffineDimExpr(loop.getDim(), context)
                    .floorDiv(length.getSExtValue())
              : AffineExpr();
}

/// How `op` reads the constant that `extract`, in its body, has an element of;
/// null if the index follows from something else than the loops.
static AffineMap matchBlocks(linalg::GenericOp op, tensor::ExtractOp extract) {
  auto type = cast<RankedTensorType>(extract.getTensor().getType());
  if (!isConstantTensor(extract.getTensor()) || !type.hasStaticShape() ||
      extract.getTensor().getParentBlock() == op.getBody())
    return {};
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  SmallVector<AffineExpr> exprs;
  for (auto [index, size] :
       llvm::zip_equal(extract.getIndices(), type.getShape())) {
    AffineExpr expr = matchIndex(index);
    if (!expr)
      return {};
    std::optional<BlockNumber> block = matchBlockNumber(expr);
    auto dim = dyn_cast<AffineDimExpr>(expr);
    int64_t range = dim     ? ranges[dim.getPosition()]
                    : block ? ranges[block->dim]
                            : 1;
    if (ShapedType::isDynamic(range) ||
        size != static_cast<int64_t>(
                    llvm::divideCeil(range, block ? block->length : 1)))
      return {};
    exprs.push_back(expr);
  }
  return AffineMap::get(ranges.size(), 0, exprs, op.getContext());
}

/// Makes an operand of each constant that the body of `op` reads by blocks.
static linalg::GenericOp readBlocks(RewriterBase &rewriter,
                                    linalg::GenericOp op) {
  if (op.getNumReductionLoops() > 0 || !op.hasPureTensorSemantics() ||
      !llvm::all_of(op.getDpsInputs(), isConstantTensor))
    return op;
  for (tensor::ExtractOp extract :
       llvm::to_vector(op.getBody()->getOps<tensor::ExtractOp>())) {
    AffineMap map = matchBlocks(op, extract);
    if (!map)
      return op;
    SmallVector<Value> inputs(op.getInputs());
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    unsigned position = inputs.size();
    inputs.push_back(extract.getTensor());
    maps.insert(maps.begin() + position, map);
    rewriter.setInsertionPoint(op);
    auto made = linalg::GenericOp::create(
        rewriter, op.getLoc(), op.getResultTypes(), inputs, op.getOutputs(),
        maps, op.getIteratorTypesArray());
    rewriter.inlineRegionBefore(op.getRegion(), made.getRegion(),
                                made.getRegion().begin());
    BlockArgument element = made.getBody()->insertArgument(
        position, extract.getType(), extract.getLoc());
    rewriter.replaceOp(extract, element);
    rewriter.replaceOp(op, made.getResults());
    op = made;
  }
  for (Operation &nested :
       llvm::make_early_inc_range(llvm::reverse(*op.getBody())))
    if (isOpTriviallyDead(&nested))
      rewriter.eraseOp(&nested);
  return op;
}

//===----------------------------------------------------------------------===//
// Expansions behind what moves elements
//===----------------------------------------------------------------------===//

namespace {
/// An operand of an expansion with the loops of another one.
struct Read {
  Value value;
  AffineMap map;
};

/// Makes an expansion of the result of `move`, a transpose or a reshape of an
/// expansion.
class Sinking {
public:
  Sinking(RewriterBase &rewriter, Operation *move, linalg::GenericOp expansion)
      : rewriter(rewriter), move(move), expansion(expansion),
        type(cast<RankedTensorType>(move->getResult(0).getType())) {}

  bool run();

private:
  bool read(OpOperand &operand);
  std::optional<Read> transposed(linalg::TransposeOp op, Read operand);
  std::optional<Read> collapsed(tensor::CollapseShapeOp op, Read operand);
  std::optional<Read> expanded(tensor::ExpandShapeOp op, Read operand);
  /// `operand` without the axes that the map always reads at 0.
  Read withoutUnits(Read operand);
  AffineExpr dim(unsigned position) {
    return getAffineDimExpr(position, rewriter.getContext());
  }
  AffineMap mapOf(ArrayRef<AffineExpr> exprs) {
    return AffineMap::get(type.getRank(), 0, exprs, rewriter.getContext());
  }

  RewriterBase &rewriter;
  Operation *move;
  linalg::GenericOp expansion;
  RankedTensorType type;
  SmallVector<Read> reads;
};
} // namespace

std::optional<Read> Sinking::transposed(linalg::TransposeOp op, Read operand) {
  SmallVector<AffineExpr> dims(type.getRank());
  for (auto [to, from] : llvm::enumerate(op.getPermutation()))
    dims[from] = dim(to);
  operand.map = operand.map.replaceDimsAndSymbols(dims, {}, type.getRank(), 0);
  return operand;
}

/// The axes of `group` with more than one position.
static SmallVector<int64_t> longAxes(ArrayRef<int64_t> group,
                                     RankedTensorType type) {
  return llvm::filter_to_vector(
      group, [&](int64_t axis) { return type.getDimSize(axis) != 1; });
}

std::optional<Read> Sinking::collapsed(tensor::CollapseShapeOp op,
                                       Read operand) {
  SmallVector<ReassociationIndices> joined;
  SmallVector<AffineExpr> exprs;
  auto groups = op.getReassociationIndices();
  // Of an axis that is read for several loops of one group all are read, in
  // their order, or none.
  ArrayRef<AffineExpr> results = operand.map.getResults();
  for (size_t k = 0; k < results.size();) {
    auto expr = dyn_cast<AffineDimExpr>(results[k]);
    std::optional<BlockNumber> block = matchBlockNumber(results[k]);
    int64_t axis = expr ? expr.getPosition() : block ? block->dim : 0;
    ReassociationIndices axes{static_cast<int64_t>(k)};
    if ((!expr && !block) || op.getSrcType().getDimSize(axis) == 1) {
      exprs.push_back(getAffineConstantExpr(0, op.getContext()));
      joined.push_back(axes);
      ++k;
      continue;
    }
    unsigned group = 0;
    while (!llvm::is_contained(groups[group], axis))
      ++group;
    if (block) {
      if (longAxes(groups[group], op.getSrcType()).size() > 1)
        return std::nullopt;
      exprs.push_back(dim(group).floorDiv(block->length));
      joined.push_back(axes);
      ++k;
      continue;
    }
    for (int64_t wanted : longAxes(groups[group], op.getSrcType())) {
      if (k == results.size() || results[k] != dim(wanted))
        return std::nullopt;
      if (static_cast<int64_t>(k) != axes.front())
        axes.push_back(k);
      ++k;
    }
    exprs.push_back(dim(group));
    joined.push_back(axes);
  }
  if (joined.size() != results.size())
    operand.value = tensor::CollapseShapeOp::create(rewriter, op.getLoc(),
                                                    operand.value, joined);
  operand.map = mapOf(exprs);
  return operand;
}

std::optional<Read> Sinking::expanded(tensor::ExpandShapeOp op, Read operand) {
  auto groups = op.getReassociationIndices();
  auto from = cast<RankedTensorType>(operand.value.getType());
  SmallVector<ReassociationIndices> split;
  SmallVector<AffineExpr> exprs;
  SmallVector<int64_t> shape;
  for (AffineExpr result : operand.map.getResults()) {
    ReassociationIndices &axes = split.emplace_back();
    auto expr = dyn_cast<AffineDimExpr>(result);
    SmallVector<int64_t> parts;
    if (expr)
      parts = longAxes(groups[expr.getPosition()], type);
    if (std::optional<BlockNumber> block = matchBlockNumber(result)) {
      parts = longAxes(groups[block->dim], type);
      if (parts.size() != 1)
        return std::nullopt;
      axes.push_back(shape.size());
      shape.push_back(from.getDimSize(split.size() - 1));
      exprs.push_back(dim(parts[0]).floorDiv(block->length));
      continue;
    }
    if (parts.empty()) {
      axes.push_back(shape.size());
      shape.push_back(1);
      exprs.push_back(getAffineConstantExpr(0, op.getContext()));
      continue;
    }
    for (int64_t axis : parts) {
      axes.push_back(shape.size());
      shape.push_back(type.getDimSize(axis));
      exprs.push_back(dim(axis));
    }
  }
  if (static_cast<int64_t>(shape.size()) != from.getRank())
    operand.value = tensor::ExpandShapeOp::create(
        rewriter, op.getLoc(),
        RankedTensorType::get(shape, from.getElementType()), operand.value,
        split);
  operand.map = mapOf(exprs);
  return operand;
}

/// Replaces `op` by what `expansion` computes of `reads`.
static void replaceByExpansion(RewriterBase &rewriter, Operation *op,
                               linalg::GenericOp expansion,
                               ArrayRef<Read> reads) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  Value init = tensor::EmptyOp::create(rewriter, op->getLoc(), type.getShape(),
                                       type.getElementType());
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  for (const Read &read : reads) {
    inputs.push_back(read.value);
    maps.push_back(read.map);
  }
  maps.push_back(rewriter.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> types(type.getRank(),
                                         utils::IteratorType::parallel);
  auto made = linalg::GenericOp::create(rewriter, expansion.getLoc(), type,
                                        inputs, init, maps, types);
  rewriter.cloneRegionBefore(expansion.getRegion(), made.getRegion(),
                             made.getRegion().begin());
  rewriter.replaceOp(op, made.getResults());
}

Read Sinking::withoutUnits(Read operand) {
  llvm::SmallBitVector units(operand.map.getNumResults());
  SmallVector<AffineExpr> exprs;
  for (auto [k, expr] : llvm::enumerate(operand.map.getResults())) {
    units[k] =
        isa<AffineConstantExpr>(expr) &&
        cast<RankedTensorType>(operand.value.getType()).getDimSize(k) == 1;
    if (!units[k])
      exprs.push_back(expr);
  }
  if (units.none())
    return operand;
  return {
      tensor::dropGivenUnitDims(rewriter, move->getLoc(), operand.value, units),
      mapOf(exprs)};
}

bool Sinking::read(OpOperand &operand) {
  Read from{operand.get(), expansion.getMatchingIndexingMap(&operand)};
  std::optional<Read> to;
  if (auto op = dyn_cast<linalg::TransposeOp>(move))
    to = transposed(op, from);
  else if (auto op = dyn_cast<tensor::CollapseShapeOp>(move))
    to = collapsed(op, from);
  else
    to = expanded(cast<tensor::ExpandShapeOp>(move), from);
  if (to)
    reads.push_back(withoutUnits(*to));
  return to.has_value();
}

bool Sinking::run() {
  if (!type.hasStaticShape())
    return false;
  rewriter.setInsertionPoint(move);
  for (OpOperand *input : expansion.getDpsInputOperands())
    if (!read(*input))
      return false;
  replaceByExpansion(rewriter, move, expansion, reads);
  return true;
}

/// Makes one expansion of `op` and those that it reads element by element.
static linalg::GenericOp mergeExpansions(RewriterBase &rewriter,
                                         linalg::GenericOp op) {
  auto isOperand = [&](OpOperand *input) {
    return isConstantTensor(input->get()) || expansionOf(input->get());
  };
  while (op.getNumReductionLoops() == 0 && op.getNumResults() == 1 &&
         llvm::all_of(op.getDpsInputOperands(), isOperand)) {
    auto inputs = op.getDpsInputOperands();
    auto found = llvm::find_if(inputs, [&](OpOperand *input) {
      return expansionOf(input->get()) &&
             op.getMatchingIndexingMap(input).isPermutation() &&
             linalg::areElementwiseOpsFusable(input);
    });
    if (found == inputs.end())
      break;
    rewriter.setInsertionPoint(op);
    FailureOr<linalg::ElementwiseOpFusionResult> fused =
        linalg::fuseElementwiseOps(rewriter, *found);
    if (failed(fused))
      break;
    Value whole = fused->replacements.lookup(op.getResult(0));
    rewriter.replaceOp(op, whole);
    op = cast<linalg::GenericOp>(fused->fusedOp);
  }
  return op;
}

//===----------------------------------------------------------------------===//
// Readers
//===----------------------------------------------------------------------===//

/// Reads the constants of `expansion` instead of one of its elements.
static void readNarrow(RewriterBase &rewriter, tensor::ExtractOp extract,
                       linalg::GenericOp expansion) {
  rewriter.setInsertionPoint(extract);
  IRMapping mapping;
  for (OpOperand *input : expansion.getDpsInputOperands()) {
    SmallVector<Value> indices;
    for (AffineExpr expr :
         expansion.getMatchingIndexingMap(input).getResults()) {
      if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
        indices.push_back(extract.getIndices()[dim.getPosition()]);
        continue;
      }
      std::optional<BlockNumber> block = matchBlockNumber(expr);
      Value index = arith::ConstantIndexOp::create(rewriter, extract.getLoc(),
                                                   block ? block->length : 0);
      if (block)
        index = arith::DivUIOp::create(rewriter, extract.getLoc(),
                                       extract.getIndices()[block->dim], index);
      indices.push_back(index);
    }
    mapping.map(expansion.getMatchingBlockArgument(input),
                tensor::ExtractOp::create(rewriter, extract.getLoc(),
                                          input->get(), indices)
                    .getResult());
  }
  for (Operation &op : expansion.getBody()->without_terminator())
    rewriter.clone(op, mapping);
  rewriter.replaceOp(extract,
                     mapping.lookupOrDefault(
                         expansion.getBody()->getTerminator()->getOperand(0)));
}

/// What is looked up is stored as floats: a matrix, of many layers' one, would
/// be for each product that reads it.
static constexpr int64_t kMaxLookedUp = 64 << 10;

/// True if only the run tells which part of a tensor `slice` reads: it looks up
/// rows.
static bool isLookup(tensor::ExtractSliceOp slice) {
  return llvm::any_of(slice.getStaticOffsets(), ShapedType::isDynamic) &&
         slice.getType().hasStaticShape() && slice.hasUnitStride() &&
         bytesOf(slice.getType()) <= kMaxLookedUp;
}

/// The part of `input`, an operand of `expansion`, that the elements of `slice`
/// follow from, and how the slice reads it, of whose loops those of the
/// expansion are `kept`, or one element. Nothing where that is no part.
static std::optional<Read> sliceOperand(RewriterBase &rewriter,
                                        tensor::ExtractSliceOp slice,
                                        linalg::GenericOp expansion,
                                        OpOperand &input,
                                        ArrayRef<AffineExpr> kept) {
  SmallVector<OpFoldResult> offsets, sizes;
  SmallVector<int64_t> shape;
  SmallVector<AffineExpr> exprs;
  for (AffineExpr expr :
       expansion.getMatchingIndexingMap(&input).getResults()) {
    if (matchBlockNumber(expr))
      return std::nullopt;
    auto dim = dyn_cast<AffineDimExpr>(expr);
    offsets.push_back(dim ? slice.getMixedOffsets()[dim.getPosition()]
                          : rewriter.getIndexAttr(0));
    sizes.push_back(dim ? slice.getMixedSizes()[dim.getPosition()]
                        : rewriter.getIndexAttr(1));
    AffineExpr to = dim ? kept[dim.getPosition()] : expr;
    if (dim && isa<AffineConstantExpr>(to))
      continue;
    exprs.push_back(to);
    shape.push_back(*getConstantIntValue(sizes.back()));
  }
  SmallVector<OpFoldResult> strides(sizes.size(), rewriter.getIndexAttr(1));
  auto type = RankedTensorType::get(shape, getElementTypeOrSelf(input.get()));
  Value part = tensor::ExtractSliceOp::create(
      rewriter, slice.getLoc(), type, input.get(), offsets, sizes, strides);
  return Read{part, AffineMap::get(slice.getType().getRank(), 0, exprs,
                                   rewriter.getContext())};
}

/// Expands the rows that `slice` looks up instead of all.
///
///   %r = tensor.extract_slice (linalg.generic ins(%c) { arith.extf })[%i, 0]
///
/// becomes
///
///   %s = tensor.extract_slice %c[%i, 0]
///   %r = linalg.generic ins(%s) { arith.extf }
static void sliceNarrow(RewriterBase &rewriter, tensor::ExtractSliceOp slice,
                        linalg::GenericOp expansion) {
  rewriter.setInsertionPoint(slice);
  llvm::SmallBitVector dropped = slice.getDroppedDims();
  SmallVector<AffineExpr> kept(dropped.size(),
                               rewriter.getAffineConstantExpr(0));
  for (unsigned axis = 0, next = 0; axis < dropped.size(); ++axis)
    if (!dropped[axis])
      kept[axis] = rewriter.getAffineDimExpr(next++);
  SmallVector<Read> reads;
  for (OpOperand *input : expansion.getDpsInputOperands()) {
    std::optional<Read> part =
        sliceOperand(rewriter, slice, expansion, *input, kept);
    if (!part)
      return;
    reads.push_back(*part);
  }
  replaceByExpansion(rewriter, slice, expansion, reads);
}

/// True if `use` makes a tensor of all elements of an expansion, or reads each
/// many times: they are better computed by the compiler.
static bool wantsStored(OpOperand &use) {
  Operation *user = use.getOwner();
  if (isa<linalg::TransposeOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp,
          tensor::ExtractSliceOp, tensor::InsertSliceOp>(user))
    return true;
  auto generic = dyn_cast<linalg::GenericOp>(user);
  return generic && generic.getNumReductionLoops() > 0 &&
         !isExpandedInProduct(use);
}

namespace {
struct TensorSinkExpansions
    : loopc::impl::TensorSinkExpansionsBase<TensorSinkExpansions> {
  using Base::Base;

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    for (Operation *op : collectOps<Operation *>(getOperation())) {
      if (auto generic = dyn_cast<linalg::GenericOp>(op))
        mergeExpansions(rewriter, readBlocks(rewriter, generic));
      else if (isa<linalg::TransposeOp, tensor::CollapseShapeOp,
                   tensor::ExpandShapeOp>(op))
        if (linalg::GenericOp expansion = expansionOf(op->getOperand(0)))
          numSunk += Sinking(rewriter, op, expansion).run();
    }
    auto expansions = collectOps(
        getOperation(), [&](linalg::GenericOp op) { return isExpansion(op); });
    for (linalg::GenericOp op : expansions)
      if (isNarrow(op))
        lookUpNarrow(rewriter, op);
    // Those that others were made of no longer read a constant.
    SmallVector<linalg::GenericOp> wanted;
    for (linalg::GenericOp op : llvm::reverse(expansions)) {
      if (op.use_empty())
        rewriter.eraseOp(op);
      else
        wanted.push_back(op);
    }
    for (linalg::GenericOp op : wanted)
      if (llvm::any_of(op->getUses(), wantsStored) &&
          bytesOf(cast<RankedTensorType>(op.getResult(0).getType())) > kSmall)
        compute(op);
  }

private:
  static void lookUpNarrow(RewriterBase &rewriter, linalg::GenericOp op) {
    for (Operation *user : llvm::make_early_inc_range(op->getUsers())) {
      if (auto extract = dyn_cast<tensor::ExtractOp>(user))
        readNarrow(rewriter, extract, op);
      else if (auto slice = dyn_cast<tensor::ExtractSliceOp>(user);
               slice && isLookup(slice))
        sliceNarrow(rewriter, slice, op);
    }
  }

  void compute(linalg::GenericOp op) {
    ConstantReader reader;
    ConstantBytes bytes;
    // What is as large as its constant takes its place.
    auto isInPlace = [](arith::ConstantOp source) {
      return source->hasOneUse() ||
             bytesOf(cast<RankedTensorType>(source.getType())) <= kSmall;
    };
    if (!reader.readGeneric(op, bytes) ||
        (!isNarrow(op) && !llvm::all_of(reader.sources, isInPlace)))
      return;
    replaceByConstant(op, bytes);
    ++numComputed;
  }
};
} // namespace
