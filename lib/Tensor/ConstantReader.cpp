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
#include "loopc/Support/ConstantElements.h"
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
/// Bytes up to which one number is written out as a tensor of it: what a model
/// stores in one number may be more than memory has.
static constexpr int64_t kMaxRepeated = 256 << 20;

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

/// The bytes of `constant`: those of one element where all are equal; none if
/// unknown, or if elements are no whole bytes.
static ArrayRef<char> rawBytes(arith::ConstantOp constant) {
  bool areBits = isa<DenseElementsAttr>(constant.getValue()) &&
                 getElementTypeOrSelf(constant.getType()).isInteger(1);
  return areBits ? ArrayRef<char>() : getRawBytes(constant.getValue());
}

/// True if the elements of `constant`, of `bytes` bytes, can be written.
static bool isReadable(arith::ConstantOp constant, int64_t bytes) {
  auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
  if (dense && dense.isSplat() && bytes > kMaxRepeated)
    return false;
  if (getElementTypeOrSelf(constant.getType()).isInteger(1))
    return static_cast<bool>(dense);
  auto have = static_cast<int64_t>(rawBytes(constant).size());
  return have == bytes || (dense && dense.isSplat());
}

/// Writes `element` so many times as fills `bytes`.
static void fill(llvm::MutableArrayRef<char> bytes, ArrayRef<char> element) {
  if (bytes.empty())
    return;
  llvm::copy(element, bytes.begin());
  // What is there is written again behind itself.
  for (size_t done = element.size(); done < bytes.size(); done *= 2)
    std::memcpy(bytes.data() + done, bytes.data(),
                std::min(done, bytes.size() - done));
}

static void writeConstant(arith::ConstantOp constant,
                          llvm::MutableArrayRef<char> out) {
  auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
  if (dense && dense.getElementType().isInteger(1)) {
    llvm::copy(dense.getValues<bool>(), out.begin());
    return;
  }
  ArrayRef<char> raw = rawBytes(constant);
  if (dense && dense.isSplat())
    fill(out, raw);
  else
    llvm::copy(raw, out.begin());
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

/// The bits of the number that `value` is.
static std::optional<uint64_t> bitsOfNumber(Value value) {
  Attribute attribute;
  if (!matchPattern(value, m_Constant(&attribute)))
    return std::nullopt;
  if (auto number = dyn_cast<FloatAttr>(attribute))
    return number.getValue().bitcastToAPInt().getZExtValue();
  if (auto integer = dyn_cast<IntegerAttr>(attribute))
    return integer.getValue().getZExtValue();
  return std::nullopt;
}

ConstantReader::Evaluated *ConstantReader::evaluateOnce(linalg::GenericOp op) {
  EvaluatedConstants &known =
      sums && op.getNumReductionLoops() > 0 ? *sums : evaluated;
  auto found = known.find(op);
  if (found == known.end()) {
    ConstantSources others;
    std::swap(sources, others);
    SmallVector<ConstantBytes> operands;
    for (Value operand : op->getOperands())
      if (!read(operand, operands.emplace_back()))
        return nullptr;
    std::swap(sources, others);
    found =
        known.try_emplace(op, evaluate(op, operands), std::move(others)).first;
  }
  return &found->second;
}

bool ConstantReader::readGeneric(linalg::GenericOp op, ConstantBytes &out) {
  Evaluated *known = evaluateOnce(op);
  if (!known)
    return false;
  out = known->first;
  sources.insert_range(known->second);
  return true;
}

bool ConstantReader::find(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  Operation *op = value.getDefiningOp();
  if (!type || elementBytes(type) == 0 || !type.hasStaticShape() || !op)
    return false;
  int64_t bytes = bytesOf(type);
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    sources.insert(constant);
    return isReadable(constant, bytes);
  }
  if (isa<tensor::EmptyOp>(op))
    return true;
  if (auto fill = dyn_cast<linalg::FillOp>(op))
    return bytes <= kMaxRepeated && bitsOfNumber(fill.getInputs()[0]);
  if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
    Evaluated *known =
        isDerived && isDerived(op) ? evaluateOnce(generic) : nullptr;
    if (known)
      sources.insert_range(known->second);
    return known;
  }
  if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op))
    return find(op->getOperand(0));
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return partOf(slice, slice.getSourceType()) && find(slice.getSource());
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
    return partOf(insert, type) && find(insert.getSource()) &&
           find(insert.getDest());
  auto transpose = dyn_cast<linalg::TransposeOp>(op);
  return transpose && find(transpose.getInput());
}

ArrayRef<char> ConstantReader::view(Value value, ConstantBytes &storage) {
  auto type = cast<RankedTensorType>(value.getType());
  int64_t bytes = bytesOf(type);
  Operation *op = value.getDefiningOp();
  if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op))
    return view(op->getOperand(0), storage);
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    ArrayRef<char> raw = rawBytes(constant);
    if (static_cast<int64_t>(raw.size()) == bytes)
      return raw;
  }
  storage.resize_for_overwrite(bytes);
  write(value, storage);
  return storage;
}

/// Writes what `from` holds into `to`, whose axes are `from`'s in another
/// order.
static void writeTransposed(linalg::TransposeOp op, const char *from,
                            char *to) {
  RankedTensorType type = cast<RankedTensorType>(op->getResult(0).getType());
  SmallVector<int64_t> strides = mlir::computeStrides(
      cast<RankedTensorType>(op.getInput().getType()).getShape());
  strides = applyPermutation(strides, op.getPermutation());
  copyOrdered(to, from, type.getShape(), strides, elementBytes(type));
}

void ConstantReader::write(Value value, llvm::MutableArrayRef<char> out) {
  auto type = cast<RankedTensorType>(value.getType());
  int64_t size = elementBytes(type);
  Operation *op = value.getDefiningOp();
  ConstantBytes storage;
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    writeConstant(constant, out);
  } else if (isa<tensor::EmptyOp>(op)) {
    llvm::fill(out, 0);
  } else if (auto filled = dyn_cast<linalg::FillOp>(op)) {
    uint64_t bits = *bitsOfNumber(filled.getInputs()[0]);
    // The low bytes come first here and in the target.
    fill(out, ArrayRef(reinterpret_cast<const char *>(&bits), size));
  } else if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
    llvm::copy(evaluateOnce(generic)->first, out.begin());
  } else if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op)) {
    write(op->getOperand(0), out);
  } else if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    ArrayRef<char> whole = view(slice.getSource(), storage);
    partOf(slice, slice.getSourceType())
        ->forRows([&](int64_t from, int64_t to, int64_t length) {
          std::memcpy(&out[to * size], &whole[from * size], length * size);
        });
  } else if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) {
    write(insert.getDest(), out);
    ArrayRef<char> source = view(insert.getSource(), storage);
    partOf(insert, type)
        ->forRows([&](int64_t to, int64_t from, int64_t length) {
          std::memcpy(&out[to * size], &source[from * size], length * size);
        });
  } else {
    auto transpose = cast<linalg::TransposeOp>(op);
    writeTransposed(transpose, view(transpose.getInput(), storage).data(),
                    out.data());
  }
}

bool ConstantReader::read(Value value, ConstantBytes &out) {
  if (!find(value))
    return false;
  out.resize_for_overwrite(bytesOf(cast<RankedTensorType>(value.getType())));
  write(value, out);
  return true;
}

static void replaceBy(Operation *op, TypedAttr value) {
  OpBuilder b(op);
  op->replaceAllUsesWith(
      arith::ConstantOp::create(b, op->getLoc(), value.getType(), value));
  op->erase();
}

void ConstantReader::replace(Operation *op) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  AsmResourceBlob blob =
      HeapAsmResourceBlob::allocate(bytesOf(type), /*align=*/64);
  write(op->getResult(0), blob.getMutableData());
  replaceBy(op, DenseResourceElementsAttr::get(type, "loopc_folded",
                                               std::move(blob)));
}

void loopc::replaceByConstant(Operation *op, ArrayRef<char> bytes) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  TypedAttr value;
  // Scales and zero points become parts of what computes with them.
  if (isa<linalg::GenericOp>(op) &&
      static_cast<int64_t>(bytes.size()) <= kLegible)
    value = DenseElementsAttr::getFromRawBuffer(type, bytes);
  else
    value = DenseResourceElementsAttr::get(
        type, "loopc_folded",
        HeapAsmResourceBlob::allocateAndCopyWithAlign(bytes, 64));
  replaceBy(op, value);
}
