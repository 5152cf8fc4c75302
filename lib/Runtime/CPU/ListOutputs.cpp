//===- ListOutputs.cpp - Sequences, optionals, strings on their way out ---===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Border.h"
#include "Strided.h"
#include "Value.h"

#include <string.h>

using namespace loopc::rt;

static int32_t makeValue(loopc_run &run, const PortName &port,
                         const loopc_type &type, const Element &element,
                         loopc_value &value);

static int32_t recordNoMemory(loopc_run &run, const PortName &port,
                              unsigned long long bytes, int32_t rank,
                              const int64_t *shape) {
  return recordPortError(
      run, LOOPC_ERROR_MEMORY, port,
      "out of memory: the allocator has no %llu bytes for shape %s", bytes,
      ShapeText(rank, shape).text);
}

int32_t loopc::rt::makeStringsOutput(loopc_run &run, const PortName &port,
                                     int32_t rank, const int64_t *shape,
                                     int64_t count, const void *texts,
                                     int64_t memoryRank,
                                     const int64_t *memoryShape,
                                     const int64_t *memoryStrides,
                                     loopc_value &value) {
  auto *from = static_cast<const loopc_string *>(texts);
  size_t bytes = 0;
  StridedLoop loop(memoryRank, memoryShape, memoryStrides, nullptr, 1);
  bool fits = true;
  forEachRow(loop, [&](int64_t offset, int64_t stride, int64_t extent) {
    for (int64_t i = 0; i < extent; ++i)
      fits &= !__builtin_add_overflow(bytes, from[offset + i * stride].size,
                                      &bytes);
  });
  char *text = nullptr;
  if (!fits || !makeStrings(run.allocator, rank, shape,
                            static_cast<size_t>(count), bytes, value, text))
    return recordNoMemory(run, port, bytes, rank, shape);
  loopc_string *to = value.as.strings.data;
  forEachRow(loop, [&](int64_t offset, int64_t stride, int64_t extent) {
    for (int64_t i = 0; i < extent; ++i, ++to) {
      const loopc_string &string = from[offset + i * stride];
      to->data = text;
      to->size = string.size;
      if (string.size == 0)
        continue;
      memcpy(text, string.data, string.size);
      text += string.size;
    }
  });
  countCopy(run, bytes);
  return LOOPC_OK;
}

/// Packs elements that lie one a byte, the first in the low bits.
static void packElements(const ElementLayout &layout, const Element &element,
                         void *data) {
  auto *from = static_cast<const unsigned char *>(element.data);
  auto *to = static_cast<unsigned char *>(data);
  uint32_t perByte = 8 / layout.bits;
  unsigned mask = (1u << layout.bits) - 1;
  memset(to, 0, layout.getBorderBytes(static_cast<uint64_t>(element.bytes)));
  for (int64_t i = 0; i < element.bytes; ++i)
    to[i / perByte] |= static_cast<unsigned char>((from[i] & mask)
                                                  << i % perByte * layout.bits);
}

/// Makes `value` the tensor `element`, of `count` elements.
static int32_t makeTensorValue(loopc_run &run, const PortName &port,
                               const loopc_type &type,
                               const ElementLayout &layout,
                               const Element &element, int64_t count,
                               loopc_value &value) {
  auto rank = static_cast<int32_t>(element.rank);
  uint64_t bytes = layout.getBorderBytes(static_cast<uint64_t>(count));
  Block *block = element.owner ? Block::of(element.owner) : nullptr;
  // No list and no memref of the run is read once the outputs are made, and no
  // element is written: others may still see the block.
  bool handOver = canHandOver(run, layout, block, bytes);
  void *data = handOver ? const_cast<void *>(element.data) : nullptr;
  if (!makeTensor(run.allocator, type.dtype, rank, element.shape, bytes, data,
                  value))
    return recordNoMemory(run, port, bytes, rank, element.shape);
  if (handOver) {
    block->isPromised = true;
    detachBlock(run, block);
    bindBlock(value, block);
    return LOOPC_OK;
  }
  if (layout.isPacked)
    packElements(layout, element, value.as.tensor.data);
  else if (bytes != 0)
    memcpy(value.as.tensor.data, element.data, bytes);
  countCopy(run, bytes);
  return LOOPC_OK;
}

/// Fills `value`, all zero so far, from a list; after an error it may hold a
/// part.
static int32_t makeListValue(loopc_run &run, const PortName &port,
                             const loopc_type &type, const loopc_rt_list *list,
                             loopc_value &value) {
  int64_t length = loopc_rt_list_length(list);
  bool isOptional = type.kind == LOOPC_OPTIONAL;
  if (length < 0 || (isOptional && length > 1))
    return recordPortError(run, LOOPC_ERROR_ABI, port,
                           "the model returned %lld values",
                           static_cast<long long>(length));
  auto count = static_cast<size_t>(length);
  bool made = isOptional ? makeOptional(run.allocator, count != 0, value)
                         : makeSequence(run.allocator, count, value);
  if (!made)
    return recordPortError(
        run, LOOPC_ERROR_MEMORY, port,
        "out of memory: the allocator has no room for %zu values", count);
  loopc_value *items =
      isOptional ? value.as.optional.value : value.as.sequence.items;
  for (size_t i = 0; i < count; ++i) {
    ElementPath path = {port.element, i};
    PortName item = port;
    if (!isOptional)
      item.element = &path;
    if (int32_t status =
            makeValue(run, item, *type.element, list->elements()[i], items[i]))
      return status;
  }
  return LOOPC_OK;
}

static int32_t makeValue(loopc_run &run, const PortName &port,
                         const loopc_type &type, const Element &element,
                         loopc_value &value) {
  if (type.kind == LOOPC_SEQUENCE || type.kind == LOOPC_OPTIONAL)
    return makeListValue(run, port, type, element.list, value);
  ElementLayout layout = getStringLayout();
  if (type.kind != LOOPC_STRINGS)
    getElementLayout(type.dtype, layout);
  // As for tensors, what a mistake of the compiler would make the runtime read
  // out of bounds.
  if (element.rank < 0 || element.rank > INT32_MAX)
    return recordPortError(run, LOOPC_ERROR_ABI, port,
                           "the model returned rank %lld",
                           static_cast<long long>(element.rank));
  auto rank = static_cast<int32_t>(element.rank);
  bool isValid = true;
  for (int32_t dim = 0; dim < rank; ++dim)
    isValid &= element.shape[dim] >= 0;
  int64_t count;
  if (!isValid ||
      !getNumElements(rank, element.shape, layout.innerBytes, count) ||
      element.bytes != count * layout.innerBytes)
    return recordPortError(run, LOOPC_ERROR_ABI, port,
                           "the model returned %lld bytes for shape %s",
                           static_cast<long long>(element.bytes),
                           ShapeText(rank, element.shape).text);
  if (type.kind == LOOPC_STRINGS)
    return makeStringsOutput(run, port, rank, element.shape, count,
                             element.data, 1, &count, nullptr, value);
  return makeTensorValue(run, port, type, layout, element, count, value);
}

int32_t loopc::rt::makeListOutput(loopc_run &run, const PortName &port,
                                  const loopc_type &type,
                                  const loopc_rt_list *list,
                                  loopc_value &value) {
  int32_t status = makeListValue(run, port, type, list, value);
  if (status)
    loopc_value_release(&value);
  return status;
}
