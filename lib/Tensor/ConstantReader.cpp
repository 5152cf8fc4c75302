//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The elements of what slices, insertions, transposes and arithmetic make of
// constants.

#include "ConstantReader.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"
#include <limits>

using namespace mlir;
using namespace loopc;

/// Constants of so many bytes are in the text of the IR.
static constexpr int64_t kLegible = 256;

int64_t loopc::elementBytes(Type type) {
  Type element = getElementTypeOrSelf(type);
  if (element.isInteger(1))
    return 1;
  if (!element.isIntOrFloat() || element.getIntOrFloatBitWidth() % 8 != 0)
    return 0;
  int64_t bytes = element.getIntOrFloatBitWidth() / 8;
  return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8 ? bytes : 0;
}

int64_t loopc::bytesOf(RankedTensorType type) {
  // Extents that data ask for may have a product that no integer holds.
  uint64_t bytes = elementBytes(type);
  for (int64_t extent : type.getShape())
    bytes = llvm::SaturatingMultiply<uint64_t>(bytes, extent);
  return std::min<uint64_t>(bytes, std::numeric_limits<int64_t>::max());
}

void ConstantPart::forRows(
    llvm::function_ref<void(int64_t, int64_t, int64_t)> move) const {
  int64_t count = 1;
  for (int64_t size : sizes)
    count *= size;
  bool hasRows = !sizes.empty() && strides.back() == 1;
  int64_t row = hasRows ? sizes.back() : 1;
  size_t axes = sizes.size() - (hasRows ? 1 : 0);
  SmallVector<int64_t> at(axes, 0);
  for (int64_t within = 0; within < count; within += row) {
    int64_t place = first;
    for (size_t axis = 0; axis < axes; ++axis)
      place += at[axis] * strides[axis];
    move(place, within, row);
    for (size_t axis = axes; axis-- > 0;) {
      if (++at[axis] < sizes[axis])
        break;
      at[axis] = 0;
    }
  }
}

std::optional<ConstantPart> loopc::partOf(OffsetSizeAndStrideOpInterface op,
                                          RankedTensorType type) {
  if (!type.hasStaticShape() ||
      llvm::any_of(op.getStaticOffsets(), ShapedType::isDynamic) ||
      llvm::any_of(op.getStaticSizes(), ShapedType::isDynamic) ||
      llvm::any_of(op.getStaticStrides(), ShapedType::isDynamic))
    return std::nullopt;
  ConstantPart part;
  part.sizes.assign(op.getStaticSizes().begin(), op.getStaticSizes().end());
  part.strides = mlir::computeStrides(type.getShape());
  for (int64_t axis : llvm::seq(type.getRank())) {
    int64_t offset = op.getStaticOffsets()[axis], size = part.sizes[axis];
    int64_t step = op.getStaticStrides()[axis];
    // What is beyond the end is an error of the run, if it gets there.
    if (offset < 0 || size < 0 ||
        (size > 0 && offset + (size - 1) * step >= type.getDimSize(axis)) ||
        (size > 0 && offset + (size - 1) * step < 0))
      return std::nullopt;
    part.first += offset * part.strides[axis];
    part.strides[axis] *= step;
  }
  return part;
}

/// The elements of `constant`, behind one another; false if unknown.
static bool readConstant(arith::ConstantOp constant, int64_t count,
                         int64_t size, ConstantBytes &out) {
  ArrayRef<char> raw;
  if (getElementTypeOrSelf(constant.getType()).isInteger(1)) {
    auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
    if (dense)
      llvm::append_range(out, dense.getValues<bool>());
    return static_cast<bool>(dense);
  }
  if (auto dense = dyn_cast<DenseElementsAttr>(constant.getValue())) {
    raw = dense.getRawData();
    if (dense.isSplat() && static_cast<int64_t>(raw.size()) == size) {
      for (int64_t k = 0; k < count; ++k)
        out.append(raw.begin(), raw.end());
      return true;
    }
  } else if (auto held =
                 dyn_cast<DenseResourceElementsAttr>(constant.getValue())) {
    if (AsmResourceBlob *blob = held.getRawHandle().getBlob())
      raw = blob->getData();
  }
  if (static_cast<int64_t>(raw.size()) != count * size)
    return false;
  out.append(raw.begin(), raw.end());
  return true;
}

/// Copies elements of `size` bytes that are `strides` apart for each axis
/// behind one another.
static void copyOrdered(char *&to, const char *from, ArrayRef<int64_t> shape,
                        ArrayRef<int64_t> strides, int64_t size) {
  if (shape.size() > 1) {
    for (int64_t k : llvm::seq(shape[0]))
      copyOrdered(to, from + k * strides[0] * size, shape.drop_front(),
                  strides.drop_front(), size);
    return;
  }
  int64_t step = shape.empty() ? 0 : strides[0] * size;
  auto copy = [&](auto element) {
    for (int64_t k = 0, count = shape.empty() ? 1 : shape[0]; k < count; ++k) {
      std::memcpy(to, from + k * step, sizeof(element));
      to += sizeof(element);
    }
  };
  switch (size) {
  case 1:
    return copy(uint8_t());
  case 2:
    return copy(uint16_t());
  case 4:
    return copy(uint32_t());
  default:
    return copy(uint64_t());
  }
}

/// Writes `count` elements that are what `value` is; false if unknown.
static bool readFill(Value value, int64_t count, ConstantBytes &out) {
  Attribute attribute;
  if (!matchPattern(value, m_Constant(&attribute)))
    return false;
  APInt bits;
  if (auto number = dyn_cast<FloatAttr>(attribute))
    bits = number.getValue().bitcastToAPInt();
  else if (auto integer = dyn_cast<IntegerAttr>(attribute))
    bits = integer.getValue();
  else
    return false;
  uint64_t word = bits.getZExtValue();
  auto *first = reinterpret_cast<const char *>(&word);
  for (int64_t k = 0; k < count; ++k)
    out.append(first, first + elementBytes(value.getType()));
  return true;
}

bool ConstantReader::readGeneric(linalg::GenericOp op, ConstantBytes &out) {
  EvaluatedConstants &known =
      sums && op.getNumReductionLoops() > 0 ? *sums : evaluated;
  auto found = known.find(op);
  if (found == known.end()) {
    ConstantSources others;
    std::swap(sources, others);
    SmallVector<ConstantBytes> operands;
    for (Value operand : op->getOperands())
      if (!read(operand, operands.emplace_back()))
        return false;
    std::swap(sources, others);
    found =
        known.try_emplace(op, evaluate(op, operands), std::move(others)).first;
  }
  out = found->second.first;
  sources.insert_range(found->second.second);
  return true;
}

bool ConstantReader::read(Value value, ConstantBytes &out) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  int64_t size = type ? elementBytes(type) : 0;
  Operation *op = value.getDefiningOp();
  if (size == 0 || !type.hasStaticShape() || !op)
    return false;
  int64_t count = type.getNumElements();
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    sources.insert(constant);
    return readConstant(constant, count, size, out);
  }
  if (isa<tensor::EmptyOp>(op)) {
    out.resize(count * size);
    return true;
  }
  if (auto fill = dyn_cast<linalg::FillOp>(op))
    return readFill(fill.getInputs()[0], count, out);
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    return isDerived && isDerived(op) && readGeneric(generic, out);
  if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op))
    return read(op->getOperand(0), out);
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    std::optional<ConstantPart> part = partOf(slice, slice.getSourceType());
    ConstantBytes whole;
    if (!part || !read(slice.getSource(), whole))
      return false;
    out.resize(count * size);
    part->forRows([&](int64_t from, int64_t to, int64_t length) {
      std::memcpy(&out[to * size], &whole[from * size], length * size);
    });
    return true;
  }
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) {
    std::optional<ConstantPart> part = partOf(insert, type);
    ConstantBytes source;
    if (!part || !read(insert.getSource(), source) ||
        !read(insert.getDest(), out))
      return false;
    part->forRows([&](int64_t to, int64_t from, int64_t length) {
      std::memcpy(&out[to * size], &source[from * size], length * size);
    });
    return true;
  }
  if (auto transpose = dyn_cast<linalg::TransposeOp>(op)) {
    ConstantBytes whole;
    if (!read(transpose.getInput(), whole))
      return false;
    SmallVector<int64_t> strides = mlir::computeStrides(
        cast<RankedTensorType>(transpose.getInput().getType()).getShape());
    strides = applyPermutation(strides, transpose.getPermutation());
    out.resize(count * size);
    char *to = out.data();
    copyOrdered(to, whole.data(), type.getShape(), strides, size);
    return true;
  }
  return false;
}

void loopc::replaceByConstant(Operation *op, ArrayRef<char> bytes) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  OpBuilder b(op);
  TypedAttr value;
  // Scales and zero points become parts of what computes with them.
  if (isa<linalg::GenericOp>(op) &&
      static_cast<int64_t>(bytes.size()) <= kLegible)
    value = DenseElementsAttr::getFromRawBuffer(type, bytes);
  else
    value = DenseResourceElementsAttr::get(
        type, "loopc_folded",
        HeapAsmResourceBlob::allocateAndCopyWithAlign(bytes, 64));
  op->replaceAllUsesWith(
      arith::ConstantOp::create(b, op->getLoc(), type, value));
  op->erase();
}
