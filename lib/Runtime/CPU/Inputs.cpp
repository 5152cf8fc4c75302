//===- Inputs.cpp - Values on their way into a model ----------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Border.h"
#include "DeviceBorder.h"
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

/// What input `number` is where it is absent; null where it must be given.
static const loopc_default *getDefault(const loopc_model &model,
                                       size_t number) {
  const loopc_default *all = model.defaults;
  return all && all[number].ndim >= 0 ? &all[number] : nullptr;
}

/// Whether input `number` is a state that begins as zeros, with extents of
/// other inputs where its own are open.
static bool beginsAsZeros(const loopc_model &model, size_t number,
                          const loopc_value &value) {
  return value.kind == 0 && number >= model.num_inputs - model.num_states &&
         getDefault(model, number) && !getDefault(model, number)->data;
}

/// An extent of an input that is a tensor (of strings), given or not.
static int64_t getOwnExtent(const loopc_model &model, size_t number,
                            const loopc_value &value, int32_t dim) {
  if (value.kind == 0)
    if (const loopc_default *absent = getDefault(model, number))
      return absent->shape[dim];
  return value.kind == LOOPC_STRINGS ? value.as.strings.shape[dim]
                                     : value.as.tensor.shape[dim];
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

/// The same, where a state that begins as zeros takes extents that are open
/// from another input that has a dimension of that name.
static int64_t getExtent(const loopc_model &model, const loopc_value *inputs,
                         size_t number, int32_t dim) {
  const loopc_dim &own = model.inputs[number].type->dims[dim];
  if (own.name && beginsAsZeros(model, number, inputs[number]))
    for (size_t k = 0; k < model.num_inputs; ++k) {
      const loopc_type &type = *model.inputs[k].type;
      for (int32_t other = 0; other < type.rank; ++other)
        if (const char *name = type.dims[other].name;
            name && strcmp(name, own.name) == 0 &&
            !beginsAsZeros(model, k, inputs[k]))
          return getOwnExtent(model, k, inputs[k], other);
    }
  return getOwnExtent(model, number, inputs[number], dim);
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
      long long extent = getExtent(model, inputs, k, dim);
      long long expected = getExtent(model, inputs, first.input, first.dim);
      if (extent == expected)
        continue;
      PortName port = getInputName(model, k);
      if (first.input == k)
        return recordPortError(
            run, LOOPC_ERROR_DIM_NAME, port,
            "dimension %d ('%s') is %lld but dimension %d has %lld; if '%s' is "
            "not one extent, compile the model with --dim=%s=?",
            dim, name, extent, first.dim, expected, name, name);
      const char *other = model.inputs[first.input].name;
      return recordPortError(run, LOOPC_ERROR_DIM_NAME, port,
                             "dimension %d ('%s') is %lld but input '%s' has "
                             "%lld; if '%s' is not one extent, compile the "
                             "model with --dim=%s=?",
                             dim, name, extent, other ? other : "", expected,
                             name, name);
    }
  }
  return LOOPC_OK;
}

int32_t loopc::rt::checkInput(loopc_run &run, const loopc_model &model,
                              size_t number, const loopc_value &value) {
  if (value.kind == 0 && getDefault(model, number))
    return LOOPC_OK;
  return checkInputValue(run, getInputName(model, number),
                         *model.inputs[number].type, value);
}

int32_t loopc::rt::checkInputs(loopc_run &run, const loopc_model &model,
                               const loopc_value *inputs) {
  for (size_t k = 0; k < model.num_inputs; ++k)
    if (int32_t status = checkInput(run, model, k, inputs[k]))
      return status;
  return checkNamedDims(run, model, inputs);
}

/// True if `count` bools from `data` on are 0 and 1, as nearly always. Words
/// that do not wait for each other are read as fast as the first cache gives
/// them.
static bool areNormalBools(const char *data, int64_t count) {
  constexpr int64_t kWords = 8;
  constexpr int64_t kBytes = kWords * sizeof(uint64_t);
  uint64_t words[kWords] = {};
  int64_t i = 0;
  for (; i + kBytes <= count; i += kBytes) {
    uint64_t next[kWords];
    memcpy(next, data + i, kBytes);
    for (int64_t k = 0; k < kWords; ++k)
      words[k] |= next[k];
  }
  char bits = 0;
  for (; i < count; ++i)
    bits |= data[i];
  uint64_t all = 0;
  for (uint64_t word : words)
    all |= word;
  return (bits & ~1) == 0 && (all & ~UINT64_C(0x0101010101010101)) == 0;
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

int32_t loopc::rt::makeInnerElements(loopc_run &run, const DLTensor &tensor,
                                     InnerElements &inner) {
  if (isOfDevice(tensor.device))
    return fetchElements(run, tensor, inner);
  ElementLayout layout;
  getElementLayout(tensor.dtype, layout);
  getNumElements(tensor.ndim, tensor.shape, layout.innerBytes, inner.count);
  inner.bytes = inner.count * layout.innerBytes;
  inner.copy = nullptr;
  inner.data = kNoElements;
  if (inner.count == 0)
    return LOOPC_OK;
  const char *data =
      static_cast<const char *>(tensor.data) + tensor.byte_offset;
  bool asIs = !layout.isPacked &&
              reinterpret_cast<uintptr_t>(data) % layout.alignment == 0 &&
              isContiguous(tensor.ndim, tensor.shape, tensor.strides) &&
              (!layout.isBool || areNormalBools(data, inner.count));
  inner.data = data;
  if (asIs)
    return LOOPC_OK;
  char *copy =
      static_cast<char *>(allocate(run, inner.bytes, /*byModel=*/false));
  if (!copy)
    return getStatus(run);
  if (layout.isBool || layout.isPacked) {
    StridedLoop loop(tensor.ndim, tensor.shape, tensor.strides, nullptr, 1);
    if (layout.isBool)
      normalizeBools(loop, data, copy);
    else
      unpack(loop, layout, reinterpret_cast<const unsigned char *>(data), copy);
  } else {
    copyStrided(layout.innerBytes, tensor.ndim, tensor.shape, data,
                tensor.strides, copy, nullptr);
  }
  countCopy(run, static_cast<uint64_t>(inner.bytes));
  inner.data = inner.copy = copy;
  return LOOPC_OK;
}

/// Fills the slot of a tensor in C order.
static void passElements(const loopc_type &type, const void *data, int64_t rank,
                         const int64_t *shape, int64_t count, int64_t *slot) {
  if (type.rank >= 0)
    return Descriptor{slot}.set(data, rank, shape);
  Descriptor{slot}.set(data, 1, &count);
  Descriptor{slot + Descriptor::getNumWords(1)}.set(shape, 1, &rank);
}

/// Memory of the run for a state that begins as zeros, or as empty texts.
static const void *allocateZeros(loopc_run &run, const loopc_type &type,
                                 int64_t count) {
  ElementLayout layout;
  int64_t size = sizeof(loopc_string);
  if (type.kind == LOOPC_TENSOR) {
    getElementLayout(type.dtype, layout);
    size = layout.innerBytes;
  }
  int64_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) {
    recordError(run, LOOPC_ERROR_MEMORY, "out of memory");
    return nullptr;
  }
  void *zeros = allocate(run, bytes, /*byModel=*/false);
  if (zeros)
    memset(zeros, 0, static_cast<size_t>(bytes));
  return zeros;
}

/// Passes what input `number` is where it is absent.
static int32_t passDefault(loopc_run &run, const loopc_model &model,
                           size_t number, const loopc_value *inputs,
                           int64_t *slot) {
  const loopc_type &type = *model.inputs[number].type;
  const loopc_default &absent = *getDefault(model, number);
  const int64_t *shape = absent.shape;
  if (type.rank > 0 && beginsAsZeros(model, number, inputs[number])) {
    auto *extents = static_cast<int64_t *>(
        allocate(run, type.rank * int64_t(sizeof(int64_t)), /*byModel=*/false));
    if (!extents)
      return getStatus(run);
    for (int32_t dim = 0; dim < type.rank; ++dim)
      extents[dim] = getExtent(model, inputs, number, dim);
    shape = extents;
  }
  int64_t count = 1;
  bool isTooLarge = false;
  for (int32_t dim = 0; dim < absent.ndim; ++dim)
    isTooLarge |= __builtin_mul_overflow(count, shape[dim], &count);
  if (isTooLarge)
    return recordError(run, LOOPC_ERROR_MEMORY, "out of memory");
  const void *data = absent.data;
  if (!data && count != 0 && !(data = allocateZeros(run, type, count)))
    return getStatus(run);
  passElements(type, data, absent.ndim, shape, count, slot);
  return LOOPC_OK;
}

int32_t loopc::rt::passInput(loopc_run &run, const loopc_model &model,
                             size_t number, const loopc_value *inputs,
                             int64_t *slot) {
  const loopc_type &type = *model.inputs[number].type;
  const loopc_value &value = inputs[number];
  if (value.kind == 0 && getDefault(model, number))
    return passDefault(run, model, number, inputs, slot);
  if (type.kind == LOOPC_SEQUENCE || type.kind == LOOPC_OPTIONAL) {
    loopc_rt_list *list = nullptr;
    int32_t status = makeInputList(run, type, value, list);
    slot[0] = static_cast<int64_t>(reinterpret_cast<intptr_t>(list));
    return status;
  }
  if (type.kind == LOOPC_STRINGS) {
    // The texts and where they lie are the caller's, as strings are inside.
    const loopc_strings &strings = value.as.strings;
    int64_t count;
    getNumElements(strings.ndim, strings.shape, sizeof(loopc_string), count);
    passElements(type, strings.data, strings.ndim, strings.shape, count, slot);
    return LOOPC_OK;
  }
  InnerElements inner;
  const DLTensor &tensor = value.as.tensor;
  bool reads = !model.device_inputs || !model.device_inputs[number];
  if (int32_t status = isOfDevice(tensor.device)
                           ? passDeviceElements(run, tensor, reads, inner)
                           : makeInnerElements(run, tensor, inner))
    return status;
  passElements(type, inner.data, tensor.ndim, tensor.shape, inner.count, slot);
  return LOOPC_OK;
}
