//===- Types.cpp - Element types and kinds --------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Types.h"

#include <stdio.h>
#include <string.h>

using namespace loopc::rt;

namespace {

struct DtypeRow {
  uint8_t code;
  uint8_t bits;
  const char *name;
};

constexpr DtypeRow kDtypes[] = {
#define LOOPC_OTHER_TYPE(CODE, BITS, NAME) {CODE, BITS, NAME},
#define LOOPC_ELEMENT_TYPE(NUMBER, CODE, BITS, NAME, ONNX)                     \
  LOOPC_OTHER_TYPE(CODE, BITS, NAME)
#include "loopc-rt/ElementTypes.def"
};

} // namespace

static const DtypeRow *findDtype(DLDataType dtype) {
  if (dtype.lanes != 1)
    return nullptr;
  for (const DtypeRow &row : kDtypes)
    if (row.code == dtype.code && row.bits == dtype.bits)
      return &row;
  return nullptr;
}

bool loopc::rt::getElementLayout(DLDataType dtype, ElementLayout &layout) {
  if (!findDtype(dtype))
    return false;
  layout.bits = dtype.bits;
  layout.isBool = dtype.code == kDLBool;
  layout.isPacked = dtype.bits < 8;
  layout.isSigned = layout.isPacked && dtype.code == kDLInt;
  layout.innerBytes = layout.isPacked ? 1 : dtype.bits / 8;
  // A complex number is two floats, and aligned as they are.
  layout.alignment =
      dtype.code == kDLComplex ? layout.innerBytes / 2 : layout.innerBytes;
  return true;
}

ElementLayout loopc::rt::getStringLayout() {
  ElementLayout layout = {};
  layout.innerBytes = sizeof(loopc_string);
  layout.bits = 8 * layout.innerBytes;
  layout.alignment = alignof(loopc_string);
  return layout;
}

DtypeText::DtypeText(DLDataType dtype) {
  if (const DtypeRow *row = findDtype(dtype))
    snprintf(text, sizeof(text), "%s", row->name);
  else
    snprintf(text, sizeof(text), "(code %u, %u bits, %u lanes)",
             unsigned{dtype.code}, unsigned{dtype.bits}, unsigned{dtype.lanes});
}

ShapeText::ShapeText(int32_t rank, const int64_t *shape) {
  // Room for one more dimension, the dots and the end.
  constexpr size_t kReserve = 32;
  size_t length = 0;
  text[length++] = '[';
  for (int32_t dim = 0; dim < rank; ++dim) {
    if (dim != 0) {
      text[length++] = ',';
      text[length++] = ' ';
    }
    if (length + kReserve > sizeof(text)) {
      memcpy(text + length, "...", 3);
      length += 3;
      break;
    }
    length += static_cast<size_t>(snprintf(text + length, sizeof(text) - length,
                                           "%lld",
                                           static_cast<long long>(shape[dim])));
  }
  text[length++] = ']';
  text[length] = 0;
}

bool loopc::rt::operator==(const DLDataType &a, const DLDataType &b) {
  return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes;
}

const char *loopc::rt::getKindName(int32_t kind) {
  switch (kind) {
  case 0:
    return "none";
  case LOOPC_TENSOR:
    return "tensor";
  case LOOPC_STRINGS:
    return "strings";
  case LOOPC_SEQUENCE:
    return "sequence";
  case LOOPC_OPTIONAL:
    return "optional";
  }
  return "unknown kind";
}

bool loopc::rt::getNumElements(int32_t rank, const int64_t *shape,
                               uint32_t elementBytes, int64_t &count) {
  int64_t product = elementBytes;
  bool isEmpty = false;
  for (int32_t dim = 0; dim < rank; ++dim) {
    if (shape[dim] == 0)
      isEmpty = true;
    else if (__builtin_mul_overflow(product, shape[dim], &product))
      return false;
  }
  count = isEmpty ? 0 : product / elementBytes;
  return true;
}

bool loopc::rt::isContiguous(int64_t rank, const int64_t *shape,
                             const int64_t *strides) {
  if (!strides)
    return true;
  int64_t expected = 1;
  bool matches = true;
  for (int64_t dim = rank - 1; dim >= 0; --dim) {
    if (shape[dim] == 0)
      return true;
    if (shape[dim] != 1 && strides[dim] != expected)
      matches = false;
    if (__builtin_mul_overflow(expected, shape[dim], &expected))
      return false;
  }
  return matches;
}

void loopc::rt::getSpan(const DLTensor &tensor, const ElementLayout &layout,
                        int64_t count, const char *&begin, uint64_t &bytes) {
  begin = static_cast<const char *>(tensor.data) + tensor.byte_offset;
  if (isContiguous(tensor.ndim, tensor.shape, tensor.strides)) {
    bytes = layout.getBorderBytes(static_cast<uint64_t>(count));
    return;
  }
  int64_t lowest = 0, highest = 0; // of the elements
  for (int32_t dim = 0; dim < tensor.ndim; ++dim) {
    int64_t reach = (tensor.shape[dim] - 1) * tensor.strides[dim];
    (reach < 0 ? lowest : highest) += reach;
  }
  // Bits divide into bytes without a rest only where elements are not packed.
  int64_t first = lowest * layout.bits, last = (highest + 1) * layout.bits;
  int64_t firstByte = first >> 3;
  begin += firstByte;
  bytes = static_cast<uint64_t>(((last + 7) >> 3) - firstByte);
}
