//===- Value.h - Values that the runtime allocates --------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_LIB_RUNTIME_CPU_VALUE_H
#define LOOPC_LIB_RUNTIME_CPU_VALUE_H

#include "loopc-rt/loopc_rt.h"

#include <stddef.h>
#include <stdint.h>

namespace loopc::rt {

struct Block;

/// malloc and free.
loopc_allocator getDefaultAllocator();

/// Makes `value` (all zero so far) a tensor with a shape of its own. Its data
/// is `bytes` bytes of the allocator, 64-byte aligned, or where `data` is given
/// that memory, which the value does not own (see bindBlock). \returns false,
/// with `value` as it was, where the allocator has no memory.
bool makeTensor(const loopc_allocator &allocator, DLDataType dtype,
                int32_t rank, const int64_t *shape, uint64_t bytes, void *data,
                loopc_value &value);

/// Makes `value`, the result of makeTensor, the owner of `block`.
void bindBlock(loopc_value &value, Block *block);

/// Memory of a device, and what frees it.
struct DeviceMemory {
  void *data;
  DLDevice device;
  void (*free)(void *context, void *data);
  void *context;
};

/// Makes `value` (all zero so far) a tensor in C order on a device, the owner
/// of `memory`. \returns false, with `value` as it was, where the allocator has
/// no memory.
bool makeDeviceTensor(const loopc_allocator &allocator, DLDataType dtype,
                      int32_t rank, const int64_t *shape,
                      const DeviceMemory &memory, loopc_value &value);

/// Makes `value` a tensor of `count` strings, all empty, and sets `text` to
/// `textBytes` bytes for their characters.
bool makeStrings(const loopc_allocator &allocator, int32_t rank,
                 const int64_t *shape, size_t count, size_t textBytes,
                 loopc_value &value, char *&text);

/// Makes `value` a sequence of `count` items, all zero, to be filled in.
bool makeSequence(const loopc_allocator &allocator, size_t count,
                  loopc_value &value);

/// Makes `value` an optional: empty, or with a zero value to be filled in.
bool makeOptional(const loopc_allocator &allocator, bool hasValue,
                  loopc_value &value);

} // namespace loopc::rt

#endif // LOOPC_LIB_RUNTIME_CPU_VALUE_H
