//===- WidenFactors.cpp - Factors of a sum of products keep f32 -----------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// tensor-widen-factors: what is computed in f32, rounded to f16 or bf16 and
// then only multiplied and summed in f32 is not rounded in between (the weights
// of attention, between Softmax and MatMul).
//
// Only where the one reader is a sum of products: a value that is compared, or
// read twice, must be the same for all its readers. A rounding that the model
// asked for by Cast stays: those that belong to arithmetic are marked as
// loopc.may_skip.
//
// What the rows of a product are is widened in front of it, in vectors: in the
// product each element would be widened by itself, for each tile of columns
// and, of an image, for each window anew. Constant weights of windows, for
// which there are no strips that widen them, are widened by the compiler.

#include "loopc/Dialect/Loopc/IR/Loopc.h"
#include "loopc/Support/ConstantElements.h"
#include "loopc/Tensor/MergeGenerics.h"
#include "loopc/Tensor/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/APFloat.h"

namespace loopc {
#define GEN_PASS_DEF_TENSORWIDENFACTORS
#include "loopc/Tensor/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

/// The f32 value that `value` is the rounding of, made at `b`; null where it is
/// not only that. `known` has those of the selects that were looked at: a value
/// may be in several.
static Value unrounded(OpBuilder &b, Value value,
                       llvm::DenseMap<Value, Value> &known) {
  Operation *op = value.getDefiningOp();
  Type f32 = b.getF32Type();
  if (auto cut = dyn_cast_or_null<arith::TruncFOp>(op)) {
    bool maySkip =
        cut.getIn().getType() == f32 && cut->hasAttr(kMaySkipAttrName);
    return maySkip ? cut.getIn() : Value();
  }
  FloatAttr number;
  if (matchPattern(value, m_Constant(&number)))
    return arith::ConstantOp::create(
        b, value.getLoc(), b.getF32FloatAttr(number.getValueAsDouble()));
  if (auto select = dyn_cast_or_null<arith::SelectOp>(op)) {
    if (auto found = known.find(value); found != known.end())
      return found->second;
    Value yes = unrounded(b, select.getTrueValue(), known);
    Value no = yes ? unrounded(b, select.getFalseValue(), known) : Value();
    Value made;
    if (no)
      made = arith::SelectOp::create(b, value.getLoc(), select.getCondition(),
                                     yes, no);
    known[value] = made;
    return made;
  }
  return {};
}

/// True if `arg`, an element of a factor, is only widened and multiplied.
static bool isOnlyMultiplied(BlockArgument arg) {
  return !arg.use_empty() && llvm::all_of(arg.getUsers(), [](Operation *user) {
    return isa<arith::ExtFOp>(user) && user->getResult(0).getType().isF32() &&
           llvm::all_of(user->getUsers(), llvm::IsaPred<arith::MulFOp>);
  });
}

/// The operand of a sum of products that is the one reader of `result`.
static OpOperand *readingFactor(OpResult result) {
  if (!result.hasOneUse())
    return nullptr;
  OpOperand &use = *result.use_begin();
  auto sum = dyn_cast<linalg::GenericOp>(use.getOwner());
  if (!sum || sum.getNumReductionLoops() == 0 || !sum.isDpsInput(&use) ||
      !isOnlyMultiplied(sum.getMatchingBlockArgument(&use)))
    return nullptr;
  return &use;
}

/// Makes `sum` read `wide`, of f32, as the operand `factor`, which it widened.
static void readWide(IRRewriter &rewriter, linalg::GenericOp sum,
                     OpOperand &factor, Value wide) {
  factor.set(wide);
  BlockArgument element = sum.getMatchingBlockArgument(&factor);
  element.setType(rewriter.getF32Type());
  for (Operation *user : llvm::make_early_inc_range(element.getUsers()))
    rewriter.replaceOp(user, element);
}

/// Makes result `k` of `producer` one of f32 elements; false where it cannot.
static bool widen(IRRewriter &rewriter, linalg::GenericOp producer,
                  unsigned k) {
  OpOperand &init = producer.getDpsInitsMutable()[k];
  auto empty = init.get().getDefiningOp<tensor::EmptyOp>();
  OpOperand *factor = readingFactor(cast<OpResult>(producer->getResult(k)));
  if (!empty || !factor || producer.payloadUsesValueFromOperand(&init))
    return false;
  // A transpose in place is of elements of one type.
  AffineMap out = producer.getMatchingIndexingMap(&init);
  if (isHeavyWithTranspose(producer) &&
      llvm::any_of(producer.getDpsInputOperands(), [&](OpOperand *input) {
        return isAcrossRows(producer.getMatchingIndexingMap(input), out);
      }))
    return false;
  Operation *yield = producer.getBody()->getTerminator();
  rewriter.setInsertionPoint(yield);
  llvm::DenseMap<Value, Value> known;
  Value wide = unrounded(rewriter, yield->getOperand(k), known);
  if (!wide)
    return false;
  yield->setOperand(k, wide);
  Type f32 = rewriter.getF32Type();
  rewriter.setInsertionPoint(producer);
  init.set(tensor::EmptyOp::create(rewriter, producer.getLoc(),
                                   empty.getMixedSizes(), f32));
  producer.getMatchingBlockArgument(&init).setType(f32);
  producer->getResult(k).setType(init.get().getType());
  readWide(rewriter, cast<linalg::GenericOp>(factor->getOwner()), *factor,
           factor->get());
  return true;
}

//===----------------------------------------------------------------------===//
// In front of the product
//===----------------------------------------------------------------------===//

/// From so many rows and columns on what rows are is widened before: in the
/// product each of its elements would be widened alone. A single column is
/// summed up in vectors, which widen rows as well.
static constexpr int64_t kRows = 4;
static constexpr int64_t kColumns = 2;

/// The loop of `sum` along the last axis of its result; none where there is
/// more than one result, or the axis is no loop's.
static std::optional<unsigned> columnLoop(linalg::GenericOp sum) {
  if (sum.getNumDpsInits() != 1)
    return std::nullopt;
  AffineMap out = sum.getMatchingIndexingMap(sum.getDpsInitOperand(0));
  if (out.getNumResults() == 0)
    return std::nullopt;
  auto last = dyn_cast<AffineDimExpr>(out.getResults().back());
  return last ? std::optional(last.getPosition()) : std::nullopt;
}

/// True if `factor` of `sum` is read as rows: once for each of many columns.
static bool areRows(linalg::GenericOp sum, OpOperand &factor,
                    unsigned columns) {
  SmallVector<int64_t> extents = sum.getStaticLoopRanges();
  AffineMap map = sum.getMatchingIndexingMap(&factor);
  auto isFew = [](int64_t extent, int64_t least) {
    return ShapedType::isStatic(extent) && extent < least;
  };
  if (map.isFunctionOfDim(columns) || isFew(extents[columns], kColumns))
    return false;
  int64_t rows = 1;
  for (auto [dim, type] : llvm::enumerate(sum.getIteratorTypesArray()))
    if (type == utils::IteratorType::parallel && map.isFunctionOfDim(dim))
      rows = ShapedType::isDynamic(extents[dim]) ? kRows : rows * extents[dim];
  return rows >= kRows;
}

static Value widenedTensor(OpBuilder &b, Location loc, Value value) {
  int64_t rank = cast<RankedTensorType>(value.getType()).getRank();
  Value empty = tensor::EmptyOp::create(
      b, loc, tensor::getMixedSizes(b, loc, value), b.getF32Type());
  AffineMap all = b.getMultiDimIdentityMap(rank);
  SmallVector<utils::IteratorType> parallel(rank,
                                            utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             b, loc, empty.getType(), value, empty, ArrayRef{all, all},
             parallel,
             [](OpBuilder &nested, Location at, ValueRange args) {
               Value wide = arith::ExtFOp::create(nested, at,
                                                  nested.getF32Type(), args[0]);
               linalg::YieldOp::create(nested, at, wide);
             })
      .getResult(0);
}

/// `value` in f32. A padded image is padded behind, so that what widens it
/// writes it into the padded one.
static Value widenedRows(OpBuilder &b, Location loc, Value value) {
  auto pad = value.getDefiningOp<tensor::PadOp>();
  Value filler = pad ? pad.getConstantPaddingValue() : Value();
  if (!filler || !pad->hasOneUse())
    return widenedTensor(b, loc, value);
  Value inner = widenedTensor(b, loc, pad.getSource());
  Value wide = arith::ExtFOp::create(b, loc, b.getF32Type(), filler);
  return tensor::PadOp::create(
      b, loc, pad.getResultType().clone(b.getF32Type()), inner,
      pad.getMixedLowPad(), pad.getMixedHighPad(), wide, pad.getNofold());
}

/// The constant `value` in f32; null if it is none.
static Value widenedConstant(OpBuilder &b, Location loc, Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op))
      break;
    value = op->getOperand(0);
  }
  auto constant = value.getDefiningOp<arith::ConstantOp>();
  ArrayRef<char> bytes;
  if (constant && isa<DenseResourceElementsAttr>(constant.getValue()))
    bytes = getRawBytes(constant.getValue());
  if (bytes.empty() || int64_t(bytes.size()) != type.getNumElements() * 2)
    return {};
  auto *from = reinterpret_cast<const uint16_t *>(bytes.data());
  const llvm::fltSemantics &semantics =
      cast<FloatType>(type.getElementType()).getFloatSemantics();
  SmallVector<float> wide;
  for (uint16_t bits : ArrayRef(from, type.getNumElements())) {
    APFloat number(semantics, APInt(16, bits));
    wide.push_back(number.convertToFloat());
  }
  auto wideType = type.clone(b.getF32Type());
  bytes = {reinterpret_cast<const char *>(wide.data()),
           wide.size() * sizeof(float)};
  auto made = DenseResourceElementsAttr::get(
      wideType, "loopc_widened",
      HeapAsmResourceBlob::allocateAndCopyWithAlign(bytes, /*align=*/64));
  return arith::ConstantOp::create(b, loc, wideType, made);
}

/// Widens factors of `sum` in front of it; the number of them.
static int widenInFront(IRRewriter &rewriter, linalg::GenericOp sum) {
  // Few rows go through a loop, whose memory is what it is without this.
  if (sum.getNumReductionLoops() == 0 ||
      sum->getParentOfType<LoopLikeOpInterface>())
    return 0;
  std::optional<unsigned> columns = columnLoop(sum);
  int count = 0;
  for (OpOperand *factor : sum.getDpsInputOperands()) {
    Type element = getElementTypeOrSelf(factor->get());
    if (!columns || !(element.isF16() || element.isBF16()) ||
        !isOnlyMultiplied(sum.getMatchingBlockArgument(factor)))
      continue;
    rewriter.setInsertionPoint(sum);
    Value wide;
    if (areRows(sum, *factor, *columns))
      wide = widenedRows(rewriter, sum.getLoc(), factor->get());
    else if (sum.getNumReductionLoops() > 1)
      wide = widenedConstant(rewriter, sum.getLoc(), factor->get());
    if (!wide)
      continue;
    readWide(rewriter, sum, *factor, wide);
    ++count;
  }
  return count;
}

namespace {
struct TensorWidenFactors
    : loopc::impl::TensorWidenFactorsBase<TensorWidenFactors> {
  using Base::Base;

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    getOperation().walk([&](linalg::GenericOp op) {
      if (!op.hasPureTensorSemantics())
        return;
      for (auto [k, type] : llvm::enumerate(op->getResultTypes())) {
        Type element = getElementTypeOrSelf(type);
        if ((element.isF16() || element.isBF16()) && widen(rewriter, op, k))
          ++numWidened;
      }
      if (!isForGPU(op))
        numWidened += widenInFront(rewriter, op);
    });
  }
};
} // namespace
