//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Weights: views of the mapped bin file wherever their layout is MLIR's.

#include "ImporterImpl.h"
#include "loopc/Dialect/ONNX/IR/ProtoConversion.h"
#include "loopc/Support/ReadFile.h"
#include "mlir/IR/AsmState.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"
#include <cstring>

using namespace mlir;
using namespace loopc;
using namespace loopc::openvino;

LogicalResult Importer::openWeights(Location loc) {
  if (weights)
    return success();
  SmallString<128> path(file.path);
  if (!options.externalDataFolder.empty()) {
    path = options.externalDataFolder;
    llvm::sys::path::append(path, llvm::sys::path::filename(file.path));
  }
  llvm::sys::path::replace_extension(path, ".bin");
  auto buffer = loopc::readFile(path);
  if (!buffer)
    return loopc::emitError(loc, Diag::IRWeights)
           << "cannot read the weights '" << path
           << "': " << buffer.getError().message();
  FileRecorder::note(path);
  weights = std::move(*buffer);
  return success();
}

/// A string tensor is: the number of strings and their offsets (all 32 bits,
/// the end of the last one included), and the characters.
FailureOr<ElementsAttr> Importer::readStrings(ArrayRef<char> data,
                                              RankedTensorType type,
                                              Location loc) {
  auto word = [&](size_t k) {
    uint32_t value;
    std::memcpy(&value, data.data() + 4 * k, 4);
    return value;
  };
  uint64_t count = type.getNumElements();
  uint64_t header = 4 * (count + 2);
  bool fits = data.size() >= header && word(0) == count;
  SmallVector<StringRef> strings;
  for (uint64_t k = 0; fits && k < count; ++k) {
    uint64_t begin = word(1 + k), end = word(2 + k);
    fits = begin <= end && end <= data.size() - header;
    if (fits)
      strings.push_back(StringRef(data.data() + header + begin, end - begin));
  }
  if (!fits)
    return loopc::emitError(loc, Diag::IRWeights)
           << "the strings of the constant do not fit its shape";
  return cast<ElementsAttr>(
      Attribute(DenseStringElementsAttr::get(type, strings)));
}

/// What nf4 stands for: quantiles of a normal distribution.
static constexpr float kNormalFloats[16] = {-1.0f,
                                            -0.6961928009986877f,
                                            -0.5250730514526367f,
                                            -0.39491748809814453f,
                                            -0.28444138169288635f,
                                            -0.18477343022823334f,
                                            -0.09105003625154495f,
                                            0.0f,
                                            0.07958029955625534f,
                                            0.16093020141124725f,
                                            0.24611230194568634f,
                                            0.33791524171829224f,
                                            0.44070982933044434f,
                                            0.5626170039176941f,
                                            0.7229568362236023f,
                                            1.0f};

/// Gives every element at least a byte of its own, as MLIR expects; `data` is
/// as the file has it. Returns false where that is the same already.
static bool unpack(StringRef name, ArrayRef<char> data, int64_t count,
                   unsigned bits, std::vector<char> &to) {
  if (name == "u1") {
    // Bits from the highest on.
    for (int64_t k = 0; k < count; ++k)
      to.push_back(data[k / 8] >> (7 - k % 8) & 1);
    return true;
  }
  if (bits >= 8)
    return false;
  for (int64_t k = 0; k < count; ++k) {
    unsigned bit = (k * bits) % 8;
    to.push_back((static_cast<uint8_t>(data[k * bits / 8]) >> bit) &
                 ((1u << bits) - 1));
  }
  if (name != "nf4")
    return true;
  std::vector<char> wide(count * sizeof(float));
  for (int64_t k = 0; k < count; ++k)
    std::memcpy(&wide[k * sizeof(float)], &kNormalFloats[to[k] & 15],
                sizeof(float));
  to = std::move(wide);
  return true;
}

FailureOr<ElementsAttr> Importer::readConst(const Layer &layer, Location loc) {
  auto error = [&](Diag diag) {
    return loopc::emitError(loc, diag) << "the constant ";
  };
  std::string name =
      StringRef(layer.data.attribute("element_type").value()).lower();
  if (name == "bin")
    name = "u1";
  Type element = parseElementType(name, context);
  if (!element)
    return error(Diag::IRLayer) << "has the element type '" << name
                                << "', which loopc does not have";
  FailureOr<std::optional<Ints>> shape =
      parseShape(layer.data.attribute("shape").value());
  if (failed(shape) || !*shape || ShapedType::isDynamicShape(**shape))
    return error(Diag::IRLayer)
           << "has the shape '" << layer.data.attribute("shape").value()
           << "', which is none";
  unsigned bits = 0;
  if (name == "nf4")
    bits = 4;
  else if (name != "u1" && element.isIntOrFloat())
    bits = element.isInteger(1) ? 8 : element.getIntOrFloatBitWidth();
  else if (name == "u1")
    bits = 1;
  std::optional<int64_t> count = onnx::countElements(**shape);
  int64_t total = 0;
  uint64_t offset, size;
  if (!count || llvm::MulOverflow<int64_t>(*count, std::max(bits, 8u), total))
    return error(Diag::IRLayer) << "has more elements than there can be";
  if (StringRef(layer.data.attribute("offset").value())
          .getAsInteger(10, offset) ||
      StringRef(layer.data.attribute("size").value()).getAsInteger(10, size))
    return error(Diag::IRLayer) << "has no offset and size";
  uint64_t needed = llvm::divideCeil(*count * bits, 8);
  bool isString = isa<onnx::StringType>(element);
  // A constant without elements is written with a byte.
  if (!isString && size != needed && *count != 0)
    return error(Diag::IRWeights)
           << "has " << size << " bytes but its type and shape need " << needed;
  if (failed(size ? openWeights(loc) : success()))
    return failure();
  uint64_t has = weights ? weights->getBufferSize() : 0;
  if (size && (offset > has || size > has - offset))
    return error(Diag::IRWeights)
           << "is bytes " << offset << " to " << offset + size
           << " of the weights, which have " << has;
  ArrayRef<char> data;
  if (size)
    data = ArrayRef<char>(weights->getBufferStart() + offset, size);
  if (*count == 0)
    data = {};
  auto type = RankedTensorType::get(**shape, element);
  if (isString)
    return readStrings(data, type, loc);
  auto wide = std::make_shared<std::vector<char>>();
  if (!unpack(name, data, *count, bits, *wide))
    return makeElements(type, data, weights, layer.name);
  return makeElements(type, *wide, wide, layer.name);
}

FailureOr<Value> Importer::importConst(const Layer &layer, Location loc) {
  if (Value known = constLayers.lookup(&layer))
    return known;
  FailureOr<ElementsAttr> value = readConst(layer, loc);
  if (failed(value))
    return failure();
  return constLayers[&layer] = constant(*value);
}
