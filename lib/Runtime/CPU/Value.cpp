//===- Value.cpp - Values that the runtime allocates ----------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Value.h"

#include "Run.h"

#include <stdlib.h>
#include <string.h>

using namespace loopc::rt;

namespace {

struct Piece {
  void *data;
  size_t bytes;
};

/// What a value owns: `context` of the value. Its shape follows it.
struct Owner {
  loopc_allocator allocator;
  size_t bytes;        ///< of this object with the shape
  Piece pieces[2];     ///< null where unused
  Block *block;        ///< memory of a run that became the value's, or null
  DeviceMemory device; ///< the same of a GPU; `data` may be null
  loopc_value *nested; ///< one of the pieces, or null
  size_t numNested;

  int64_t *shape() { return reinterpret_cast<int64_t *>(this + 1); }
};

} // namespace

static void *allocateDefault(void *, size_t bytes, size_t alignment) {
  if (alignment <= alignof(max_align_t))
    return malloc(bytes);
  size_t rounded = (bytes + alignment - 1) & ~(alignment - 1);
  return rounded < bytes ? nullptr : aligned_alloc(alignment, rounded);
}

static void deallocateDefault(void *, void *pointer, size_t) { free(pointer); }

static void destroy(Owner *owner) {
  loopc_allocator allocator = owner->allocator;
  for (const Piece &piece : owner->pieces)
    if (piece.data)
      allocator.deallocate(allocator.context, piece.data, piece.bytes);
  if (owner->block)
    freeDetachedBlock(owner->block);
  if (owner->device.data)
    owner->device.free(owner->device.context, owner->device.data);
  allocator.deallocate(allocator.context, owner, owner->bytes);
}

static void release(loopc_value *self) {
  auto *owner = static_cast<Owner *>(self->context);
  for (size_t i = 0; i < owner->numNested; ++i)
    loopc_value_release(&owner->nested[i]);
  destroy(owner);
  memset(self, 0, sizeof(*self));
}

/// An owner with room for a shape, and with pieces of `bytes` each (0: none).
static Owner *createOwner(const loopc_allocator &allocator, int32_t rank,
                          const int64_t *shape, size_t firstBytes,
                          size_t secondBytes = 0) {
  size_t shapeBytes = static_cast<size_t>(rank) * sizeof(int64_t);
  size_t ownBytes = sizeof(Owner) + shapeBytes;
  auto *owner = static_cast<Owner *>(
      allocator.allocate(allocator.context, ownBytes, alignof(Owner)));
  if (!owner)
    return nullptr;
  *owner = {};
  owner->allocator = allocator;
  owner->bytes = ownBytes;
  if (rank > 0)
    memcpy(owner->shape(), shape, shapeBytes);
  size_t sizes[] = {firstBytes, secondBytes};
  for (int i = 0; i < 2; ++i) {
    if (sizes[i] == 0)
      continue;
    void *data =
        allocator.allocate(allocator.context, sizes[i], kDataAlignment);
    if (!data) {
      destroy(owner);
      return nullptr;
    }
    owner->pieces[i] = {data, sizes[i]};
  }
  return owner;
}

static void setOwner(loopc_value &value, int32_t kind, Owner *owner) {
  value.kind = kind;
  value.release = release;
  value.context = owner;
}

loopc_allocator loopc::rt::getDefaultAllocator() {
  return {allocateDefault, deallocateDefault, nullptr};
}

bool loopc::rt::makeTensor(const loopc_allocator &allocator, DLDataType dtype,
                           int32_t rank, const int64_t *shape, uint64_t bytes,
                           void *data, loopc_value &value) {
  // Tensors without elements have a data pointer too: a null one would ask for
  // memory where the value is used again as an output.
  size_t own = data ? 0 : bytes ? bytes : 1;
  Owner *owner = createOwner(allocator, rank, shape, own);
  if (!owner)
    return false;
  DLTensor &tensor = value.as.tensor;
  tensor.data = data ? data : owner->pieces[0].data;
  tensor.device = {kDLCPU, 0};
  tensor.ndim = rank;
  tensor.dtype = dtype;
  tensor.shape = owner->shape();
  setOwner(value, LOOPC_TENSOR, owner);
  return true;
}

bool loopc::rt::makeDeviceTensor(const loopc_allocator &allocator,
                                 DLDataType dtype, int32_t rank,
                                 const int64_t *shape,
                                 const DeviceMemory &memory,
                                 loopc_value &value) {
  if (!makeTensor(allocator, dtype, rank, shape, 0, memory.data, value))
    return false;
  static_cast<Owner *>(value.context)->device = memory;
  value.as.tensor.device = memory.device;
  return true;
}

void loopc::rt::bindBlock(loopc_value &value, Block *block) {
  static_cast<Owner *>(value.context)->block = block;
}

bool loopc::rt::makeStrings(const loopc_allocator &allocator, int32_t rank,
                            const int64_t *shape, size_t count,
                            size_t textBytes, loopc_value &value, char *&text) {
  size_t bytes;
  if (__builtin_mul_overflow(count, sizeof(loopc_string), &bytes))
    return false;
  Owner *owner = createOwner(allocator, rank, shape, bytes, textBytes);
  if (!owner)
    return false;
  if (bytes)
    memset(owner->pieces[0].data, 0, bytes);
  text = static_cast<char *>(owner->pieces[1].data);
  value.as.strings = {static_cast<loopc_string *>(owner->pieces[0].data),
                      owner->shape(), rank};
  setOwner(value, LOOPC_STRINGS, owner);
  return true;
}

/// An owner with `count` nested values, all zero.
static Owner *createNested(const loopc_allocator &allocator, size_t count) {
  size_t bytes;
  if (__builtin_mul_overflow(count, sizeof(loopc_value), &bytes))
    return nullptr;
  Owner *owner = createOwner(allocator, 0, nullptr, bytes);
  if (!owner)
    return nullptr;
  if (bytes)
    memset(owner->pieces[0].data, 0, bytes);
  owner->nested = static_cast<loopc_value *>(owner->pieces[0].data);
  owner->numNested = count;
  return owner;
}

bool loopc::rt::makeSequence(const loopc_allocator &allocator, size_t count,
                             loopc_value &value) {
  Owner *owner = createNested(allocator, count);
  if (!owner)
    return false;
  value.as.sequence = {owner->nested, count};
  setOwner(value, LOOPC_SEQUENCE, owner);
  return true;
}

bool loopc::rt::makeOptional(const loopc_allocator &allocator, bool hasValue,
                             loopc_value &value) {
  Owner *owner = createNested(allocator, hasValue ? 1 : 0);
  if (!owner)
    return false;
  value.as.optional = {owner->nested};
  setOwner(value, LOOPC_OPTIONAL, owner);
  return true;
}

extern "C" void loopc_value_release(loopc_value *value) {
  if (value && value->release)
    value->release(value);
}
