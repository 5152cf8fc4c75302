//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// ElementsAttr -> TensorProto, for tensors small enough to be copied.

#include "loopc/Dialect/ONNX/IR/ONNX.h"
#include "loopc/Dialect/ONNX/IR/ProtoConversion.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace loopc::onnx;
using ::onnx::TensorProto;

std::optional<int64_t> loopc::onnx::countElements(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  // A zero anywhere makes the tensor empty, whatever the others are.
  if (llvm::any_of(shape, [](int64_t size) { return size < 0; }))
    return std::nullopt;
  if (llvm::is_contained(shape, 0))
    return 0;
  for (int64_t size : shape)
    if (llvm::MulOverflow(count, size, count))
      return std::nullopt;
  return count;
}

/// Bits of an element in ONNX's raw_data.
static unsigned getProtoBits(Type element) {
  if (auto complex = dyn_cast<ComplexType>(element))
    return 2 * complex.getElementType().getIntOrFloatBitWidth();
  return element.isInteger(1) ? 8 : element.getIntOrFloatBitWidth();
}

/// Elements narrower than a byte follow each other in ONNX, from the lowest bit
/// on; MLIR gives each of them a byte.
static SmallVector<char> unpackBits(ArrayRef<char> packed, unsigned bits,
                                    int64_t count) {
  SmallVector<char> bytes(count);
  for (int64_t i = 0; i < count; ++i) {
    int64_t bit = i * bits, byte = bit / 8;
    unsigned word = static_cast<uint8_t>(packed[byte]);
    if (byte + 1 < static_cast<int64_t>(packed.size()))
      word |= static_cast<unsigned>(static_cast<uint8_t>(packed[byte + 1]))
              << 8;
    bytes[i] = static_cast<char>((word >> (bit % 8)) & ((1u << bits) - 1));
  }
  return bytes;
}

static std::string packBits(ArrayRef<char> bytes, unsigned bits) {
  std::string packed(llvm::divideCeil(bytes.size() * bits, 8), '\0');
  for (size_t i = 0; i < bytes.size(); ++i) {
    size_t bit = i * bits, byte = bit / 8;
    unsigned word = (static_cast<uint8_t>(bytes[i]) & ((1u << bits) - 1))
                    << (bit % 8);
    packed[byte] = static_cast<char>(packed[byte] | (word & 0xff));
    if (word >> 8)
      packed[byte + 1] = static_cast<char>(packed[byte + 1] | (word >> 8));
  }
  return packed;
}

/// The bytes of `elements`, one element after the other, narrow ones a byte
/// each; nothing where they are not at hand.
static std::optional<SmallVector<char>> getBytes(ElementsAttr elements,
                                                 Type element) {
  int64_t count = elements.getNumElements();
  unsigned bits = getProtoBits(element);
  unsigned width = llvm::divideCeil(bits, 8);
  if (auto dense = dyn_cast<DenseIntOrFPElementsAttr>(elements)) {
    SmallVector<char> bytes;
    if (element.isInteger(1)) {
      for (bool value : dense.getValues<bool>())
        bytes.push_back(value);
      return bytes;
    }
    ArrayRef<char> raw = dense.getRawData();
    for (int64_t i = 0, n = dense.isSplat() ? count : 1; i < n; ++i)
      bytes.append(raw.begin(), raw.end());
    return bytes;
  }
  auto resource = dyn_cast<DenseResourceElementsAttr>(elements);
  AsmResourceBlob *blob =
      resource ? resource.getRawHandle().getBlob() : nullptr;
  if (!blob)
    return std::nullopt;
  ArrayRef<char> data = blob->getData();
  if (static_cast<int64_t>(data.size()) == count * width)
    return SmallVector<char>(data);
  if (bits < 8 && static_cast<int64_t>(data.size()) ==
                      static_cast<int64_t>(llvm::divideCeil(count * bits, 8)))
    return unpackBits(data, bits, count);
  return std::nullopt;
}

bool loopc::onnx::exportTensor(ElementsAttr elements, TensorProto &proto) {
  auto type = dyn_cast<RankedTensorType>(elements.getShapedType());
  if (!type)
    return false;
  Type element = type.getElementType();
  int32_t dataType = exportElementType(element);
  if (dataType == TensorProto::UNDEFINED)
    return false;
  proto.set_data_type(dataType);
  for (int64_t size : type.getShape())
    proto.add_dims(size);
  if (auto strings = dyn_cast<DenseStringElementsAttr>(elements)) {
    for (StringRef value : strings.getValues<StringRef>())
      proto.add_string_data(value.str());
    return true;
  }
  if (isa<StringType>(element))
    return false;
  std::optional<SmallVector<char>> bytes = getBytes(elements, element);
  if (!bytes)
    return false;
  unsigned bits = getProtoBits(element);
  proto.set_raw_data(bits < 8 ? packBits(*bytes, bits)
                              : std::string(bytes->begin(), bytes->end()));
  return true;
}
