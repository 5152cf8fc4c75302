//===- NarrowWeights.cpp - Weights rounded to fewer bits ------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// tensor-narrow-weights: constant f32 weights of products of matrices become
// constants of fewer bits behind an expansion (Expansions.h), as if the model
// had stored them so.
//
// What is rounded is a constant of the model with all that reads it, so that it
// is in memory once (a table of words that is also the last layer's weights);
// or, where products read parts of one (the two directions of a recurrent
// operator), each part.

#include "ConstantReader.h"
#include "loopc/Support/WeightType.h"
#include "loopc/Tensor/Expansions.h"
#include "loopc/Tensor/Passes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/SmallBitVector.h"

#include <cmath>

namespace loopc {
#define GEN_PASS_DEF_TENSORNARROWWEIGHTS
#include "loopc/Tensor/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

/// Weights of so many bytes are in the first cache whatever they are.
static constexpr int64_t kSmall = 16 << 10;

namespace {
/// A tensor of weights, and the axes along which a product sums up.
struct Weights {
  Value value;
  llvm::SmallBitVector sums;
};
} // namespace

//===----------------------------------------------------------------------===//
// What products read
//===----------------------------------------------------------------------===//

/// The axes of `operand` that its reader, a product, sums up along.
static llvm::SmallBitVector summedAxes(OpOperand &operand) {
  auto product = cast<linalg::GenericOp>(operand.getOwner());
  AffineMap map = product.getMatchingIndexingMap(&operand);
  auto types = product.getIteratorTypesArray();
  llvm::SmallBitVector sums(map.getNumResults());
  for (unsigned axis : llvm::seq(map.getNumResults()))
    sums[axis] =
        types[map.getDimPosition(axis)] == utils::IteratorType::reduction;
  return sums;
}

/// True if `op` is a transpose that is no linalg.transpose yet.
static bool isTranspose(Operation *op) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  return generic && linalg::isaTransposeOpInterface(generic);
}

/// The axes of what `op`, a transpose or a reshape, reads that become those of
/// its result that are set in `sums`; nothing where one becomes both kinds.
static std::optional<llvm::SmallBitVector>
summedBefore(Operation *op, const llvm::SmallBitVector &sums) {
  auto from = cast<RankedTensorType>(op->getOperand(0).getType());
  llvm::SmallBitVector before(from.getRank());
  if (isTranspose(op)) {
    AffineMap map = cast<linalg::GenericOp>(op).getIndexingMapsArray().front();
    for (unsigned axis : llvm::seq(map.getNumResults()))
      before[axis] = sums[map.getDimPosition(axis)];
    return before;
  }
  if (auto transpose = dyn_cast<linalg::TransposeOp>(op)) {
    for (auto [to, axis] : llvm::enumerate(transpose.getPermutation()))
      before[axis] = sums[to];
    return before;
  }
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
    for (auto [to, group] : llvm::enumerate(collapse.getReassociationIndices()))
      for (int64_t axis : group)
        before[axis] = sums[to];
    return before;
  }
  auto expand = cast<tensor::ExpandShapeOp>(op);
  for (auto [axis, group] : llvm::enumerate(expand.getReassociationIndices())) {
    auto isLong = [&](int64_t to) {
      return expand.getResultType().getDimSize(to) != 1;
    };
    auto isSum = [&](int64_t to) { return !isLong(to) || sums[to]; };
    auto isKept = [&](int64_t to) { return !isLong(to) || !sums[to]; };
    before[axis] = !llvm::all_of(group, isKept);
    if (before[axis] && !llvm::all_of(group, isSum))
      return std::nullopt;
  }
  return before;
}

/// The constant that `operand` is, seen with other axes; if it is none, the
/// operand itself.
static Weights findWeights(OpOperand &operand) {
  Weights whole{operand.get(), summedAxes(operand)}, weights = whole;
  while (Operation *op = weights.value.getDefiningOp()) {
    if (isa<arith::ConstantOp>(op))
      return weights;
    if ((!isTranspose(op) && !isa<linalg::TransposeOp, tensor::CollapseShapeOp,
                                  tensor::ExpandShapeOp>(op)) ||
        !cast<RankedTensorType>(op->getOperand(0).getType()).hasStaticShape())
      break;
    std::optional<llvm::SmallBitVector> sums = summedBefore(op, weights.sums);
    if (!sums)
      break;
    weights = {op->getOperand(0), *sums};
  }
  return whole;
}

//===----------------------------------------------------------------------===//
// Rounding
//===----------------------------------------------------------------------===//

/// The upper half of `number`, rounded to the nearest, ties to even.
static uint16_t roundToBF16(float number) {
  auto bits = llvm::bit_cast<uint32_t>(number);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static uint16_t roundToF16(float number) {
  llvm::APFloat rounded(number);
  bool losesInfo;
  rounded.convert(llvm::APFloat::IEEEhalf(), llvm::APFloat::rmNearestTiesToEven,
                  &losesInfo);
  return static_cast<uint16_t>(rounded.bitcastToAPInt().getZExtValue());
}

/// The numbers of 16 bits that `numbers`, which are finite, are rounded to;
/// false where one would become infinite.
static bool roundTo16Bits(ArrayRef<float> numbers, WeightType type,
                          MutableArrayRef<uint16_t> to) {
  bool isBF16 = type == WeightType::BF16;
  uint16_t infinity = isBF16 ? 0x7f80 : 0x7c00;
  for (auto [number, rounded] : llvm::zip_equal(numbers, to)) {
    rounded = isBF16 ? roundToBF16(number) : roundToF16(number);
    if ((rounded & infinity) == infinity)
      return false;
  }
  return true;
}

/// Calls `visit` with the place of each element of a tensor of `shape`, and its
/// place in the tensor that lacks the axes `sums`.
static void forChannels(ArrayRef<int64_t> shape,
                        const llvm::SmallBitVector &sums,
                        llvm::function_ref<void(int64_t, int64_t)> visit) {
  SmallVector<int64_t> strides(shape.size(), 0), at(shape.size(), 0);
  for (int64_t axis = shape.size(), next = 1; axis-- > 0;)
    if (!sums[axis]) {
      strides[axis] = next;
      next *= shape[axis];
    }
  int64_t channel = 0;
  for (int64_t k = 0, count = ShapedType::getNumElements(shape); k < count;
       ++k) {
    visit(k, channel);
    for (size_t axis = shape.size(); axis-- > 0;) {
      channel += strides[axis];
      if (++at[axis] < shape[axis])
        break;
      channel -= strides[axis] * shape[axis];
      at[axis] = 0;
    }
  }
}

/// The multiples of a scale for each channel that `numbers` are rounded to:
/// the largest one of a channel is 127 or -127.
static void roundToInt8(ArrayRef<float> numbers, ArrayRef<int64_t> shape,
                        const llvm::SmallBitVector &sums,
                        MutableArrayRef<int8_t> to,
                        MutableArrayRef<float> scales) {
  llvm::fill(scales, 0.0f);
  forChannels(shape, sums, [&](int64_t k, int64_t channel) {
    scales[channel] = std::max(scales[channel], std::fabs(numbers[k]));
  });
  // Of subnormal numbers there may be no 127th part.
  for (float &scale : scales)
    scale = scale / 127 > 0 ? scale / 127 : 1.0f;
  forChannels(shape, sums, [&](int64_t k, int64_t channel) {
    float multiple = std::nearbyint(numbers[k] / scales[channel]);
    to[k] = static_cast<int8_t>(std::clamp(multiple, -127.0f, 127.0f));
  });
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

template <typename T>
static Value makeConstant(OpBuilder &b, Location loc, ArrayRef<int64_t> shape,
                          Type element, ArrayRef<T> numbers) {
  auto type = RankedTensorType::get(shape, element);
  ArrayRef<char> bytes(reinterpret_cast<const char *>(numbers.data()),
                       numbers.size() * sizeof(T));
  return arith::ConstantOp::create(
      b, loc, type,
      DenseResourceElementsAttr::get(
          type, "loopc_narrow",
          HeapAsmResourceBlob::allocateAndCopyWithAlign(bytes, 64)));
}

/// The floats of `sources`, the first of which has the elements and the second,
/// if there is one, scales along the axes that are not in `sums`.
static linalg::GenericOp expand(OpBuilder &b, Location loc, ValueRange sources,
                                const llvm::SmallBitVector &sums) {
  ArrayRef<int64_t> shape =
      cast<RankedTensorType>(sources[0].getType()).getShape();
  AffineMap identity = b.getMultiDimIdentityMap(shape.size());
  SmallVector<AffineMap> maps{identity};
  if (sources.size() > 1)
    maps.push_back(identity.dropResults(sums));
  maps.push_back(identity);
  Value init = tensor::EmptyOp::create(b, loc, shape, b.getF32Type());
  SmallVector<utils::IteratorType> types(shape.size(),
                                         utils::IteratorType::parallel);
  return linalg::GenericOp::create(
      b, loc, init.getType(), sources, init, maps, types,
      [&](OpBuilder &b, Location loc, ValueRange args) {
        Type f32 = b.getF32Type();
        Value element =
            isa<FloatType>(args[0].getType())
                ? arith::ExtFOp::create(b, loc, f32, args[0]).getResult()
                : arith::SIToFPOp::create(b, loc, f32, args[0]).getResult();
        if (sources.size() > 1)
          element = arith::MulFOp::create(b, loc, element, args[1]);
        linalg::YieldOp::create(b, loc, element);
      });
}

namespace {
struct TensorNarrowWeights
    : loopc::impl::TensorNarrowWeightsBase<TensorNarrowWeights> {
  using Base::Base;

  void runOnOperation() override {
    if (type == WeightType::Model)
      return;
    SmallVector<linalg::GenericOp> ops;
    getOperation().walk([&](linalg::GenericOp op) { ops.push_back(op); });
    for (linalg::GenericOp op : ops)
      for (OpOperand *operand : op.getDpsInputOperands())
        if (isWeightsOfProduct(*operand))
          narrow(findWeights(*operand));
  }

private:
  /// The constants of fewer bits; none where a weight has none.
  SmallVector<Value> round(OpBuilder &b, const Weights &weights,
                           ArrayRef<float> numbers);
  void narrow(const Weights &weights);
};
} // namespace

SmallVector<Value> TensorNarrowWeights::round(OpBuilder &b,
                                              const Weights &weights,
                                              ArrayRef<float> numbers) {
  Location loc = weights.value.getLoc();
  ArrayRef<int64_t> shape =
      cast<RankedTensorType>(weights.value.getType()).getShape();
  if (type != WeightType::Int8) {
    SmallVector<uint16_t, 0> rounded(numbers.size());
    if (!roundTo16Bits(numbers, type, rounded))
      return {};
    Type element =
        type == WeightType::BF16 ? Type(b.getBF16Type()) : Type(b.getF16Type());
    return {makeConstant<uint16_t>(b, loc, shape, element, rounded)};
  }
  SmallVector<int64_t> channels;
  for (auto [axis, extent] : llvm::enumerate(shape))
    if (!weights.sums[axis])
      channels.push_back(extent);
  SmallVector<int8_t, 0> rounded(numbers.size());
  SmallVector<float, 0> scales(ShapedType::getNumElements(channels));
  roundToInt8(numbers, shape, weights.sums, rounded, scales);
  return {makeConstant<int8_t>(b, loc, shape, b.getI8Type(), rounded),
          makeConstant<float>(b, loc, channels, b.getF32Type(), scales)};
}

void TensorNarrowWeights::narrow(const Weights &weights) {
  auto tensor = dyn_cast<RankedTensorType>(weights.value.getType());
  if (!tensor || !tensor.getElementType().isF32() || !tensor.hasStaticShape())
    return;
  ConstantReader reader(isTranspose);
  ConstantBytes bytes;
  if (!reader.read(weights.value, bytes))
    return;
  // What counts is the model's constant, whatever it is cut into.
  if (llvm::all_of(reader.sources, [](arith::ConstantOp source) {
        return bytesOf(cast<RankedTensorType>(source.getType())) <= kSmall;
      }))
    return;
  ArrayRef<float> numbers(reinterpret_cast<const float *>(bytes.data()),
                          bytes.size() / sizeof(float));
  if (!llvm::all_of(numbers,
                    [](float number) { return std::isfinite(number); }))
    return;
  OpBuilder b(&getContext());
  b.setInsertionPointAfterValue(weights.value);
  SmallVector<Value> sources = round(b, weights, numbers);
  if (sources.empty())
    return;
  linalg::GenericOp made =
      expand(b, weights.value.getLoc(), sources, weights.sums);
  // What leaves the model, or what a loop begins with, is no weight.
  Value narrowed = made.getResult(0), old = weights.value;
  old.replaceUsesWithIf(narrowed, [](OpOperand &use) {
    return isa<linalg::LinalgDialect, tensor::TensorDialect>(
        use.getOwner()->getDialect());
  });
  if (isOpTriviallyDead(old.getDefiningOp()))
    old.getDefiningOp()->erase();
  ++numNarrowed;
  if (!wide)
    return;
  ConstantBytes floats;
  if (ConstantReader().readGeneric(made, floats))
    replaceByConstant(made, floats);
}
