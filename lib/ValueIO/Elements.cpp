//===- Elements.cpp - Single elements of tensors --------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/ValueIO/HostValue.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/Twine.h"

#include <cmath>
#include <cstring>

using namespace llvm;
using namespace loopc::io;

/// LLVM's description of a float type that is neither float32 nor float64.
static const fltSemantics *semanticsOf(DLDataType dtype) {
  switch (dtype.code) {
  case kDLFloat:
    return dtype.bits == 16 ? &APFloat::IEEEhalf() : nullptr;
  case kDLBfloat:
    return &APFloat::BFloat();
  case kDLFloat8_e4m3fn:
    return &APFloat::Float8E4M3FN();
  case kDLFloat8_e4m3fnuz:
    return &APFloat::Float8E4M3FNUZ();
  case kDLFloat8_e5m2:
    return &APFloat::Float8E5M2();
  case kDLFloat8_e5m2fnuz:
    return &APFloat::Float8E5M2FNUZ();
  case kDLFloat8_e8m0fnu:
    return &APFloat::Float8E8M0FNU();
  case kDLFloat4_e2m1fn:
    return &APFloat::Float4E2M1FN();
  default:
    return nullptr;
  }
}

bool loopc::io::isFloat(DLDataType dtype) {
  return semanticsOf(dtype) ||
         (dtype.code == kDLFloat && (dtype.bits == 32 || dtype.bits == 64));
}

/// The bits of an element of at most 64 bits.
static uint64_t getBits(const HostValue &tensor, int64_t index) {
  unsigned bits = tensor.dtype.bits;
  if (bits < 8) {
    unsigned perByte = 8 / bits;
    return tensor.bytes[index / perByte] >> (index % perByte * bits) &
           ((1u << bits) - 1);
  }
  uint64_t value = 0;
  std::memcpy(&value, tensor.bytes.data() + index * (bits / 8), bits / 8);
  return value;
}

static void setBits(HostValue &tensor, int64_t index, uint64_t value) {
  unsigned bits = tensor.dtype.bits;
  if (bits < 8) {
    unsigned perByte = 8 / bits, shift = index % perByte * bits;
    uint8_t mask = ((1u << bits) - 1) << shift;
    uint8_t &byte = tensor.bytes[index / perByte];
    byte = (byte & ~mask) | (value << shift & mask);
    return;
  }
  std::memcpy(tensor.bytes.data() + index * (bits / 8), &value, bits / 8);
}

template <typename T> static T load(const HostValue &tensor, int64_t index) {
  T value;
  std::memcpy(&value, tensor.bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}

template <typename T>
static void store(HostValue &tensor, int64_t index, T value) {
  std::memcpy(tensor.bytes.data() + index * sizeof(T), &value, sizeof(T));
}

double loopc::io::getFloat(const HostValue &tensor, int64_t index) {
  if (const fltSemantics *semantics = semanticsOf(tensor.dtype)) {
    APFloat value(*semantics, APInt(tensor.dtype.bits, getBits(tensor, index)));
    bool losesInfo;
    value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                  &losesInfo);
    return value.convertToDouble();
  }
  return tensor.dtype.bits == 32 ? load<float>(tensor, index)
                                 : load<double>(tensor, index);
}

bool loopc::io::setFloat(HostValue &tensor, int64_t index, double number) {
  const fltSemantics *semantics = semanticsOf(tensor.dtype);
  if (!semantics) {
    if (tensor.dtype.bits == 64) {
      store(tensor, index, number);
      return true;
    }
    auto narrow = static_cast<float>(number);
    store(tensor, index, narrow);
    return std::isfinite(narrow) || !std::isfinite(number);
  }
  if (std::isnan(number) && !APFloat::semanticsHasNaN(*semantics))
    return false;
  if (std::isinf(number) && !APFloat::semanticsHasInf(*semantics))
    return false;
  if (!APFloat::semanticsHasZero(*semantics) && number == 0)
    return false;
  if (std::signbit(number) && !std::isnan(number) &&
      !APFloat::semanticsHasSignedRepr(*semantics))
    return false;
  APFloat value(number);
  bool losesInfo;
  APFloat::opStatus status =
      value.convert(*semantics, APFloat::rmNearestTiesToEven, &losesInfo);
  if (std::isfinite(number) &&
      (!value.isFinite() || status & APFloat::opOverflow))
    return false;
  setBits(tensor, index, value.bitcastToAPInt().getZExtValue());
  return true;
}

int64_t loopc::io::getInteger(const HostValue &tensor, int64_t index) {
  uint64_t bits = getBits(tensor, index);
  if (tensor.dtype.code != kDLInt || tensor.dtype.bits == 64)
    return static_cast<int64_t>(bits);
  uint64_t sign = uint64_t(1) << (tensor.dtype.bits - 1);
  return static_cast<int64_t>((bits ^ sign) - sign);
}

void loopc::io::setInteger(HostValue &tensor, int64_t index, int64_t number) {
  setBits(tensor, index, static_cast<uint64_t>(number));
}

double loopc::io::getComplex(const HostValue &tensor, int64_t index, int part) {
  return tensor.dtype.bits == 64 ? load<float>(tensor, 2 * index + part)
                                 : load<double>(tensor, 2 * index + part);
}

Expected<HostValue> loopc::io::makeTensor(DLDataType dtype,
                                          ArrayRef<int64_t> shape) {
  std::optional<int64_t> count = countElements(shape);
  std::optional<size_t> size =
      count ? byteSize(dtype, *count) : std::optional<size_t>();
  void *probe = size ? ::operator new(*size, std::nothrow) : nullptr;
  ::operator delete(probe);
  if (!probe)
    return makeError("there is no memory for a tensor of this size");
  HostValue value;
  value.dtype = dtype;
  value.shape.assign(shape.begin(), shape.end());
  if (dtype.bits == 0) {
    value.kind = LOOPC_STRINGS;
    value.strings.resize(*count);
  } else {
    value.bytes.resize(*size);
  }
  return value;
}
