//===- ScaleSubnormals.cpp - Factors that are subnormal -------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// tensor-scale-subnormals: where training with a decay has made all weights of
// a channel vanish, they are subnormal. A processor takes some hundred cycles
// for each product with one of them. Both factors of such a channel are
// multiplied by powers of two: the weights by 2^64 (f32), what they are
// multiplied with by 2^-64.
//
// Products are what they were. Where a factor loses bits, as it is subnormal
// now, the product was less than half of the least subnormal number and added
// nothing; it may have made a negative zero of a sum of zeros.
//
// Where all weights that make a result are so small (a normalization behind the
// product has vanished), they are scaled up until their sum stays below 1, and
// the sum, which begins with 0, is scaled down again. It is rounded once, where
// each product was.

#include "ConstantProducts.h"
#include "loopc/Support/ConstantElements.h"
#include "loopc/Support/Contractions.h"
#include "loopc/Tensor/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectResourceBlobManager.h"

#include <cmath>
#include <limits>

namespace loopc {
#define GEN_PASS_DEF_TENSORSCALESUBNORMALS
#include "loopc/Tensor/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

/// In a channel are at least so many subnormal weights of all weights' number:
/// what is multiplied with them is gone through once more.
static constexpr int64_t kRareShare = 1024;

namespace {
/// One sum of products with constant weights.
struct Product {
  linalg::GenericOp op;
  OpOperand *weights, *other;
  /// A loop over the sum, and its axis in both.
  unsigned dim, weightsAxis, otherAxis;
};

/// Powers of two for numbers of type `T`. Weights below `tiny` stay below 1,
/// and a number that is subnormal when it was scaled down makes a product with
/// them that is less than half of the least number.
template <typename T> struct Scales {
  using Limits = std::numeric_limits<T>;
  static constexpr int exponent = -(Limits::min_exponent - 2) / 2 + 1;
  static T down() { return std::ldexp(T(1), -exponent); }
  static T tiny() {
    return std::ldexp(T(1), Limits::min_exponent + Limits::digits + 2);
  }
};
} // namespace

template <typename T> static bool isSubnormal(T number) {
  return (std::abs(number) < std::numeric_limits<T>::min()) & (number != 0);
}

/// True if `op` adds up products of two operands and nothing else.
static bool isSumOfProducts(linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics() || op.getNumReductionLoops() == 0 ||
      op.getNumDpsInits() != 1 || !op.getRegionOutputArgs()[0].hasOneUse())
    return false;
  arith::MulFOp product = findProductOfInputs(op).product;
  return product &&
         llvm::all_of(product->getOperands(), llvm::IsaPred<BlockArgument>);
}

/// The elements of a constant, seen with other axes or not; empty where `value`
/// is none.
template <typename T> static ArrayRef<T> elementsOf(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op))
      break;
    value = op->getOperand(0);
  }
  auto constant = value.getDefiningOp<arith::ConstantOp>();
  auto elements =
      constant ? dyn_cast<ElementsAttr>(constant.getValue()) : ElementsAttr();
  ArrayRef<char> bytes;
  if (elements && !isa<SplatElementsAttr>(elements))
    bytes = getRawBytes(elements);
  if (bytes.empty() || bytes.size() != elements.getNumElements() * sizeof(T) ||
      reinterpret_cast<uintptr_t>(bytes.data()) % alignof(T) != 0)
    return {};
  return {reinterpret_cast<const T *>(bytes.data()), bytes.size() / sizeof(T)};
}

/// The axis of `map` along which `dim` alone runs.
static std::optional<unsigned> axisOf(AffineMap map, unsigned dim) {
  std::optional<unsigned> found;
  for (auto [axis, expr] : llvm::enumerate(map.getResults())) {
    if (!expr.isFunctionOfDim(dim))
      continue;
    if (found || expr != getAffineDimExpr(dim, map.getContext()))
      return std::nullopt;
    found = axis;
  }
  return found;
}

/// How far neighbours along `axis` of `type` are apart.
static int64_t strideOf(RankedTensorType type, unsigned axis) {
  return ShapedType::getNumElements(type.getShape().drop_front(axis + 1));
}

/// The scale of each channel of `product`; empty where none is scaled.
template <typename T>
static SmallVector<T> findScales(const Product &product, ArrayRef<T> elements) {
  auto type = cast<RankedTensorType>(product.weights->get().getType());
  int64_t stride = strideOf(type, product.weightsAxis);
  int64_t channels = type.getDimSize(product.weightsAxis);
  SmallVector<T> most(channels, T(0));
  SmallVector<int64_t> subnormals(channels, 0);
  for (auto [k, element] : llvm::enumerate(elements)) {
    int64_t channel = k / stride % channels;
    T size = std::abs(element);
    // NaN is larger than no number, and what it makes is NaN however scaled.
    most[channel] = size > most[channel] ? size : most[channel];
    subnormals[channel] += isSubnormal(element);
  }
  SmallVector<T> scales(channels, T(1));
  int64_t count = 0;
  for (int64_t channel : llvm::seq(channels))
    if (subnormals[channel] && most[channel] < Scales<T>::tiny()) {
      scales[channel] = Scales<T>::down();
      count += subnormals[channel];
    }
  if (count == 0 || count * kRareShare < int64_t(elements.size()))
    scales.clear();
  return scales;
}

/// The weights of `product`, times `scales`.
template <typename T>
static Value scaleWeights(OpBuilder &b, Product product, ArrayRef<T> elements,
                          ArrayRef<T> scales) {
  auto type = cast<RankedTensorType>(product.weights->get().getType());
  int64_t stride = strideOf(type, product.weightsAxis);
  SmallVector<T> scaled(elements);
  for (auto [k, element] : llvm::enumerate(scaled))
    element *= scales[k / stride % scales.size()];
  ArrayRef<char> bytes(reinterpret_cast<const char *>(scaled.data()),
                       scaled.size() * sizeof(T));
  auto value = DenseResourceElementsAttr::get(
      type, "loopc_scaled",
      HeapAsmResourceBlob::allocateAndCopyWithAlign(bytes, /*align=*/64));
  return arith::ConstantOp::create(b, product.op.getLoc(), type, value);
}

/// `value` times `scales` along an axis.
template <typename T>
static Value scaleAlong(OpBuilder &b, Location loc, Value value, unsigned axis,
                        ArrayRef<T> scales) {
  auto type = cast<RankedTensorType>(value.getType());
  auto row = RankedTensorType::get(scales.size(), type.getElementType());
  Value factors = arith::ConstantOp::create(
      b, loc, row, DenseElementsAttr::get(row, scales));
  AffineMap all = b.getMultiDimIdentityMap(type.getRank());
  AffineMap along = AffineMap::get(type.getRank(), 0, b.getAffineDimExpr(axis));
  Value empty = tensor::EmptyOp::create(
      b, loc, tensor::getMixedSizes(b, loc, value), type.getElementType());
  SmallVector<utils::IteratorType> parallel(type.getRank(),
                                            utils::IteratorType::parallel);
  auto scaled = linalg::GenericOp::create(
      b, loc, empty.getType(), ValueRange{value, factors}, empty,
      ArrayRef<AffineMap>{all, along, all}, parallel,
      [](OpBuilder &nested, Location at, ValueRange args) {
        Value product = arith::MulFOp::create(nested, at, args[0], args[1]);
        linalg::YieldOp::create(nested, at, product);
      });
  return scaled.getResult(0);
}

/// Scales both factors of `op` along a loop of the sum; false where there are
/// no subnormal weights to scale.
template <typename T>
static bool scaleFactors(linalg::GenericOp op, OpOperand *weights,
                         ArrayRef<T> elements) {
  OpOperand *other = op.getDpsInputOperand(1 - weights->getOperandNumber());
  SmallVector<unsigned> sums;
  op.getReductionDims(sums);
  for (unsigned dim : sums) {
    auto axis = axisOf(op.getMatchingIndexingMap(weights), dim);
    auto otherAxis = axisOf(op.getMatchingIndexingMap(other), dim);
    if (!axis || !otherAxis)
      continue;
    Product product{op, weights, other, dim, *axis, *otherAxis};
    SmallVector<T> scales = findScales<T>(product, elements);
    if (scales.empty())
      continue;
    OpBuilder b(op);
    Value scaledOther =
        scaleAlong<T>(b, op.getLoc(), other->get(), *otherAxis, scales);
    SmallVector<T> up(llvm::map_range(scales, [](T one) { return 1 / one; }));
    weights->set(scaleWeights<T>(b, product, elements, up));
    other->set(scaledOther);
    return true;
  }
  return false;
}

/// True if sums of `op` begin with 0.
static bool beginsWithZero(linalg::GenericOp op) {
  auto fill = op.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
  return fill && matchPattern(fill.getInputs()[0], m_AnyZeroFloat());
}

/// What the weights of each result are multiplied by, so that they add up to
/// less than 1; 1 for results that are not scaled, empty where none is.
template <typename T>
static SmallVector<T> findResultScales(const Product &product,
                                       ArrayRef<T> elements) {
  SmallVector<T> down = findScales<T>(product, elements);
  auto type = cast<RankedTensorType>(product.weights->get().getType());
  int64_t stride = strideOf(type, product.weightsAxis);
  SmallVector<T> sums(down.size(), T(0));
  for (auto [k, element] : llvm::enumerate(elements))
    if (!down.empty())
      sums[k / stride % sums.size()] += std::abs(element);
  for (auto [scale, sum] : llvm::zip_equal(down, sums)) {
    // To scale by it and back are exact: neither is subnormal.
    constexpr int most = std::numeric_limits<T>::max_exponent - 2;
    scale = scale == 1 ? T(1)
                       : std::ldexp(T(1), std::min(-std::ilogb(sum) - 2, most));
  }
  return down;
}

/// Scales the weights of some results of `op`, and these results back.
template <typename T>
static bool scaleResults(linalg::GenericOp op, OpOperand *weights,
                         ArrayRef<T> elements) {
  if (!beginsWithZero(op))
    return false;
  AffineMap out = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  AffineMap other = op.getMatchingIndexingMap(
      op.getDpsInputOperand(1 - weights->getOperandNumber()));
  for (auto [outAxis, expr] : llvm::enumerate(out.getResults())) {
    auto result = dyn_cast<AffineDimExpr>(expr);
    // A filter of one channel has few products of each result.
    bool isOfOneChannel = result && other.isFunctionOfDim(result.getPosition());
    auto axis =
        result && !isOfOneChannel
            ? axisOf(op.getMatchingIndexingMap(weights), result.getPosition())
            : std::nullopt;
    if (!axis)
      continue;
    Product product{op, weights, nullptr, result.getPosition(), *axis, 0};
    SmallVector<T> up = findResultScales<T>(product, elements);
    if (up.empty())
      continue;
    OpBuilder b(op);
    weights->set(scaleWeights<T>(b, product, elements, up));
    b.setInsertionPointAfter(op);
    SmallVector<T> down(llvm::map_range(up, [](T one) { return 1 / one; }));
    // The extents of the result are asked for as it is.
    SmallVector<OpOperand *> uses;
    for (OpOperand &use : op.getResult(0).getUses())
      uses.push_back(&use);
    Value scaled = scaleAlong<T>(b, op.getLoc(), op.getResult(0),
                                 static_cast<unsigned>(outAxis), down);
    for (OpOperand *use : uses)
      use->set(scaled);
    return true;
  }
  return false;
}

/// Scales what is multiplied in `op`; false where there are no subnormal
/// weights to scale.
template <typename T> static bool scale(linalg::GenericOp op) {
  for (OpOperand *weights : op.getDpsInputOperands()) {
    ArrayRef<T> elements = elementsOf<T>(weights->get());
    // In most weights there are none: a loop without an end, for vectors.
    int64_t count = 0;
    for (T element : elements)
      count += isSubnormal(element);
    if (count != 0 && (scaleFactors<T>(op, weights, elements) ||
                       scaleResults<T>(op, weights, elements)))
      return true;
  }
  return false;
}

namespace {
struct TensorScaleSubnormals
    : loopc::impl::TensorScaleSubnormalsBase<TensorScaleSubnormals> {
  void runOnOperation() override {
    getOperation().walk([&](linalg::GenericOp op) {
      if (!isSumOfProducts(op))
        return;
      auto isOf = [&](auto isType) {
        return llvm::all_of(op->getOperands(), [&](Value operand) {
          return isType(getElementTypeOrSelf(operand));
        });
      };
      if (isOf([](Type type) { return type.isF32(); }))
        numScaled += scale<float>(op);
      else if (isOf([](Type type) { return type.isF64(); }))
        numScaled += scale<double>(op);
    });
  }
};
} // namespace
