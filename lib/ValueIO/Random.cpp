//===- Random.cpp - Values from random numbers ----------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/ValueIO/Make.h"

#include "llvm/ADT/Twine.h"

#include <cstring>

using namespace llvm;
using namespace loopc::io;

uint64_t Random::next() {
  state += 0x9e3779b97f4a7c15;
  uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

/// A number of [-1, 1).
static double unit(Random &random) {
  return static_cast<double>(random.next() >> 11) * 0x1p-52 - 1.0;
}

static void fill(HostValue &value, Random &random) {
  DLDataType dtype = value.dtype;
  int64_t count = value.numElements();
  if (dtype.code == kDLComplex) {
    for (int64_t i = 0; i < 2 * count; ++i) {
      double number = unit(random);
      auto narrow = static_cast<float>(number);
      if (dtype.bits == 64)
        std::memcpy(value.bytes.data() + i * sizeof(float), &narrow,
                    sizeof(float));
      else
        std::memcpy(value.bytes.data() + i * sizeof(double), &number,
                    sizeof(double));
    }
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    if (isFloat(dtype)) {
      // Types without a sign take the number's absolute value.
      double number = unit(random);
      if (!setFloat(value, i, number) && !setFloat(value, i, -number))
        setFloat(value, i, 1.0);
      continue;
    }
    int64_t largest = dtype.code == kDLBool ? 1
                      : dtype.bits >= 8     ? 9
                      : dtype.code == kDLInt
                          ? (1 << (dtype.bits - 1)) - 1
                          : std::min((1 << dtype.bits) - 1, 9);
    setInteger(value, i, static_cast<int64_t>(random.next() % (largest + 1)));
  }
}

Expected<HostValue>
loopc::io::makeRandom(const loopc_type &type, Random &random,
                      function_ref<int64_t(const loopc_dim &)> extent) {
  if (type.kind == LOOPC_SEQUENCE || type.kind == LOOPC_OPTIONAL) {
    HostValue value;
    value.kind = type.kind;
    int count = type.kind == LOOPC_SEQUENCE ? 3 : 1;
    for (int i = 0; i < count && type.element; ++i) {
      Expected<HostValue> item = makeRandom(*type.element, random, extent);
      if (!item)
        return item;
      value.items.push_back(std::move(*item));
    }
    return value;
  }
  std::vector<int64_t> shape;
  for (int32_t i = 0; i < type.rank; ++i)
    shape.push_back(type.dims[i].extent >= 0 ? type.dims[i].extent
                                             : extent(type.dims[i]));
  DLDataType dtype =
      type.kind == LOOPC_STRINGS ? DLDataType{0, 0, 1} : type.dtype;
  Expected<HostValue> value = makeTensor(dtype, shape);
  if (!value)
    return value;
  if (value->kind == LOOPC_TENSOR)
    fill(*value, random);
  for (std::string &text : value->strings)
    text = ("s" + Twine(random.next() % 10)).str();
  return value;
}
