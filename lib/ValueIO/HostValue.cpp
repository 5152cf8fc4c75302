//===- HostValue.cpp - Values that own their memory -----------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/ValueIO/HostValue.h"
#include "loopc/Support/TensorBytes.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cstring>

using namespace llvm;
using namespace loopc::io;

namespace {
struct TypeRow {
  uint8_t code;
  uint8_t bits;
  int32_t onnxType;
  const char *name;
};
} // namespace

static constexpr TypeRow kTypes[] = {
#define LOOPC_ELEMENT_TYPE(NUMBER, CODE, BITS, NAME, ONNX)                     \
  {CODE, BITS, NUMBER, NAME},
#include "loopc-rt/ElementTypes.def"
};

static const TypeRow *findType(DLDataType dtype) {
  for (const TypeRow &row : kTypes)
    if (row.code == dtype.code && row.bits == dtype.bits)
      return &row;
  return nullptr;
}

Error loopc::io::makeError(const Twine &text) {
  return createStringError(inconvertibleErrorCode(), text);
}

std::optional<int64_t> loopc::io::countElements(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t extent : shape) {
    if (extent < 0 || MulOverflow(count, extent, count))
      return std::nullopt;
  }
  return count;
}

std::optional<size_t> loopc::io::byteSize(DLDataType dtype, int64_t count) {
  int64_t bits;
  if (count < 0 || MulOverflow<int64_t>(count, dtype.bits, bits) ||
      bits > INT64_MAX - 7)
    return std::nullopt;
  return static_cast<size_t>((bits + 7) / 8);
}

int64_t HostValue::numElements() const {
  return countElements(shape).value_or(0);
}

int32_t loopc::io::onnxTypeOf(DLDataType dtype) {
  const TypeRow *row = findType(dtype);
  return row ? row->onnxType : 0;
}

DLDataType loopc::io::dtypeOfOnnx(int32_t onnxType) {
  for (const TypeRow &row : kTypes)
    if (row.onnxType == onnxType)
      return {row.code, row.bits, 1};
  return {0, 0, 1};
}

void loopc::io::resolveRaw(HostValue &value, const loopc_type &type) {
  if (type.kind == LOOPC_SEQUENCE || type.kind == LOOPC_OPTIONAL) {
    if (value.kind == type.kind && type.element)
      for (HostValue &item : value.items)
        resolveRaw(item, *type.element);
    return;
  }
  if (value.kind != LOOPC_TENSOR || value.dtype.code != kRawCode ||
      type.kind != LOOPC_TENSOR ||
      (type.dtype.bits + 7) / 8 * 8 != value.dtype.bits)
    return;
  value.dtype = type.dtype;
  if (type.dtype.bits >= 8)
    return;
  // Files have one element in a byte.
  Bytes unpacked = std::move(value.bytes);
  value.bytes.assign(*byteSize(type.dtype, value.numElements()), 0);
  for (int64_t i = 0, n = value.numElements(); i < n; ++i)
    setInteger(value, i, unpacked[i]);
}

//===----------------------------------------------------------------------===//
// Descriptions
//===----------------------------------------------------------------------===//

std::string loopc::io::dtypeName(DLDataType dtype) {
  if (dtype.code == kRawCode)
    return "raw" + std::to_string(dtype.bits);
  const TypeRow *row = findType(dtype);
  return row ? row->name : "?";
}

std::string loopc::io::describe(const HostValue &value) {
  std::string text;
  raw_string_ostream os(text);
  switch (value.kind) {
  case LOOPC_SEQUENCE:
    os << "seq(" << value.items.size() << " items)";
    break;
  case LOOPC_OPTIONAL:
    os << "optional("
       << (value.items.empty() ? "empty" : describe(value.items[0])) << ")";
    break;
  default:
    os << (value.kind == LOOPC_STRINGS ? "string" : dtypeName(value.dtype))
       << "[";
    interleaveComma(value.shape, os);
    os << "]";
  }
  return text;
}

std::string loopc::io::describe(const loopc_type &type) {
  std::string text;
  raw_string_ostream os(text);
  switch (type.kind) {
  case LOOPC_SEQUENCE:
    os << "seq(" << (type.element ? describe(*type.element) : "?") << ")";
    break;
  case LOOPC_OPTIONAL:
    os << "optional(" << (type.element ? describe(*type.element) : "?") << ")";
    break;
  default:
    os << (type.kind == LOOPC_STRINGS ? "string" : dtypeName(type.dtype))
       << "[";
    if (type.rank < 0) {
      os << "...";
    } else {
      interleaveComma(ArrayRef(type.dims, type.rank), os,
                      [&](const loopc_dim &dim) {
                        if (dim.extent >= 0)
                          os << dim.extent;
                        else
                          os << (dim.name && *dim.name ? dim.name : "?");
                      });
    }
    os << "]";
  }
  return text;
}

//===----------------------------------------------------------------------===//
// To and from the border
//===----------------------------------------------------------------------===//

HostValue loopc::io::copyValue(const loopc_value &value) {
  HostValue copy;
  copy.kind = value.kind;
  switch (value.kind) {
  case LOOPC_SEQUENCE:
    for (size_t i = 0; i < value.as.sequence.count; ++i)
      copy.items.push_back(copyValue(value.as.sequence.items[i]));
    break;
  case LOOPC_OPTIONAL:
    if (value.as.optional.value)
      copy.items.push_back(copyValue(*value.as.optional.value));
    break;
  case LOOPC_STRINGS: {
    const loopc_strings &strings = value.as.strings;
    copy.shape.assign(strings.shape, strings.shape + strings.ndim);
    for (int64_t i = 0, n = copy.numElements(); i < n; ++i)
      copy.strings.emplace_back(strings.data[i].data, strings.data[i].size);
    break;
  }
  default: {
    const DLTensor &tensor = value.as.tensor;
    copy.dtype = tensor.dtype;
    copy.shape.assign(tensor.shape, tensor.shape + tensor.ndim);
    copy.bytes.resize(*byteSize(tensor.dtype, copy.numElements()));
    copyInOrder(tensor, reinterpret_cast<char *>(copy.bytes.data()),
                copy.bytes.size());
  }
  }
  return copy;
}

void ValueViews::fill(const HostValue &from, loopc_value &to) {
  to = {};
  to.kind = from.kind;
  auto *shape = const_cast<int64_t *>(from.shape.data());
  auto rank = static_cast<int32_t>(from.shape.size());
  switch (from.kind) {
  case LOOPC_SEQUENCE:
  case LOOPC_OPTIONAL: {
    std::vector<loopc_value> &items = nested.emplace_back(from.items.size());
    for (size_t i = 0; i < items.size(); ++i)
      fill(from.items[i], items[i]);
    if (from.kind == LOOPC_SEQUENCE)
      to.as.sequence = {items.data(), items.size()};
    else
      to.as.optional.value = items.empty() ? nullptr : items.data();
    break;
  }
  case LOOPC_STRINGS: {
    std::vector<loopc_string> &texts = strings.emplace_back();
    for (const std::string &text : from.strings)
      texts.push_back({text.data(), text.size()});
    to.as.strings = {texts.data(), shape, rank};
    break;
  }
  default:
    to.as.tensor.data = const_cast<uint8_t *>(from.bytes.data());
    to.as.tensor.device = {kDLCPU, 0};
    to.as.tensor.ndim = rank;
    to.as.tensor.dtype = from.dtype;
    to.as.tensor.shape = shape;
  }
}
