//===- Inputs.cpp - Values on their way into a model ----------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Border.h"
#include "Strided.h"

#include <string.h>

using namespace loopc::rt;

/// What descriptors of tensors without elements point to when the caller has
/// no memory for them.
alignas(kDataAlignment) static const char kNoElements[kDataAlignment] = {};

void Descriptor::set(const void *data, int64_t rank,
                     const int64_t *shape) const {
  if (!data)
    data = kNoElements;
  words[0] = words[1] = static_cast<int64_t>(reinterpret_cast<intptr_t>(data));
  words[2] = 0;
  uint64_t stride = 1;
  for (int64_t dim = rank - 1; dim >= 0; --dim) {
    sizes()[dim] = shape[dim];
    strides(rank)[dim] = static_cast<int64_t>(stride);
    stride *= static_cast<uint64_t>(shape[dim]);
  }
}

static int32_t checkInput(loopc_run &run, const PortName &port,
                          const loopc_type &type, const loopc_value &value) {
  if (int32_t status = checkTensor(run, LOOPC_ERROR_INPUT, port, type, value))
    return status;
  const DLTensor &tensor = value.as.tensor;
  for (int32_t dim = 0; dim < type.rank; ++dim) {
    long long expected = type.dims[dim].extent;
    if (expected >= 0 && tensor.shape[dim] != expected)
      return recordPortError(
          run, LOOPC_ERROR_INPUT, port, "dimension %d is %lld, expected %lld",
          dim, static_cast<long long>(tensor.shape[dim]), expected);
  }
  return LOOPC_OK;
}

namespace {

/// A dimension of an input, by numbers.
struct DimPosition {
  size_t input;
  int32_t dim;
};

} // namespace

/// The first dimension of the inputs whose name is `name`.
static DimPosition findNamedDim(const loopc_model &model, const char *name) {
  for (size_t k = 0;; ++k) {
    const loopc_type &type = *model.inputs[k].type;
    for (int32_t dim = 0; dim < type.rank; ++dim) {
      const char *other = type.dims[dim].name;
      if (other && (other == name || strcmp(other, name) == 0))
        return {k, dim};
    }
  }
}

/// Dimensions of one name are equal.
static int32_t checkNamedDims(loopc_run &run, const loopc_model &model,
                              const loopc_value *inputs) {
  for (size_t k = 0; k < model.num_inputs; ++k) {
    const loopc_type &type = *model.inputs[k].type;
    for (int32_t dim = 0; dim < type.rank; ++dim) {
      const char *name = type.dims[dim].name;
      if (!name)
        continue;
      DimPosition first = findNamedDim(model, name);
      long long extent = inputs[k].as.tensor.shape[dim];
      long long expected = inputs[first.input].as.tensor.shape[first.dim];
      if (extent == expected)
        continue;
      PortName port = {"input", model.inputs[k].name, k};
      if (first.input == k)
        return recordPortError(
            run, LOOPC_ERROR_INPUT, port,
            "dimension %d ('%s') is %lld but dimension %d has %lld", dim, name,
            extent, first.dim, expected);
      const char *other = model.inputs[first.input].name;
      return recordPortError(run, LOOPC_ERROR_INPUT, port,
                             "dimension %d ('%s') is %lld but input '%s' has "
                             "%lld",
                             dim, name, extent, other ? other : "", expected);
    }
  }
  return LOOPC_OK;
}

int32_t loopc::rt::checkInputs(loopc_run &run, const loopc_model &model,
                               const loopc_value *inputs) {
  for (size_t k = 0; k < model.num_inputs; ++k) {
    const loopc_port &port = model.inputs[k];
    if (int32_t status =
            checkInput(run, {"input", port.name, k}, *port.type, inputs[k]))
      return status;
  }
  return checkNamedDims(run, model, inputs);
}

/// Writes the elements of a bool tensor as 0 and 1: any other byte is true.
static void normalizeBools(const StridedLoop &loop, const char *src,
                           char *dst) {
  forEachRow(loop, [&](int64_t offset, int64_t stride, int64_t count) {
    const char *row = src + offset;
    for (int64_t i = 0; i < count; ++i)
      *dst++ = row[i * stride] != 0;
  });
}

/// Writes packed elements one a byte. Strides count elements.
static void unpack(const StridedLoop &loop, const ElementLayout &layout,
                   const unsigned char *src, char *dst) {
  uint32_t bits = layout.bits;
  uint32_t log = bits == 4 ? 1 : 2; // of the elements in a byte
  unsigned mask = (1u << bits) - 1;
  // Flipping the sign bit and subtracting it again extends the sign.
  unsigned signBit = layout.isSigned ? 1u << (bits - 1) : 0;
  forEachRow(loop, [&](int64_t offset, int64_t stride, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      // The shift rounds down: negative strides reach in front of `src`.
      int64_t index = offset + i * stride;
      unsigned position = static_cast<unsigned>(index & ((1 << log) - 1));
      unsigned bitsOf = src[index >> log] >> (position * bits) & mask;
      *dst++ = static_cast<char>((bitsOf ^ signBit) - signBit);
    }
  });
}

int32_t loopc::rt::passInput(loopc_run &run, const loopc_type &type,
                             const loopc_value &value, int64_t *slot) {
  const DLTensor &tensor = value.as.tensor;
  ElementLayout layout;
  getElementLayout(type.dtype, layout);
  int64_t count;
  getNumElements(tensor.ndim, tensor.shape, layout.innerBytes, count);
  const char *data = static_cast<const char *>(tensor.data);
  if (data)
    data += tensor.byte_offset;
  uintptr_t address = reinterpret_cast<uintptr_t>(data);
  bool asIs = !layout.isBool && !layout.isPacked &&
              address % layout.alignment == 0 &&
              isContiguous(tensor.ndim, tensor.shape, tensor.strides);
  if (count == 0)
    data = nullptr;
  else if (!asIs) {
    int64_t bytes = count * layout.innerBytes;
    char *copy = static_cast<char *>(allocate(run, bytes, /*byModel=*/false));
    if (!copy)
      return getStatus(run);
    if (layout.isBool || layout.isPacked) {
      StridedLoop loop(tensor.ndim, tensor.shape, tensor.strides, nullptr, 1);
      if (layout.isBool)
        normalizeBools(loop, data, copy);
      else
        unpack(loop, layout, reinterpret_cast<const unsigned char *>(data),
               copy);
    } else {
      copyStrided(layout.innerBytes, tensor.ndim, tensor.shape, data,
                  tensor.strides, copy, nullptr);
    }
    countCopy(run, static_cast<uint64_t>(bytes));
    data = copy;
  }
  if (type.rank >= 0) {
    Descriptor{slot}.set(data, tensor.ndim, tensor.shape);
    return LOOPC_OK;
  }
  int64_t rank = tensor.ndim;
  Descriptor{slot}.set(data, 1, &count);
  Descriptor{slot + Descriptor::getNumWords(1)}.set(tensor.shape, 1, &rank);
  return LOOPC_OK;
}
