//===- ApiMemory.cpp - Allocations, copies and pointers -------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver.h"

using namespace fakecuda;

static unsigned long long hex(uint64_t value) { return value; }

//===----------------------------------------------------------------------===//
// Allocations
//===----------------------------------------------------------------------===//

static CUresult allocate(uint64_t &pointer, size_t bytes, Block::Kind kind,
                         bool isAsync = false) {
  Driver &driver = Driver::get();
  if (!bytes)
    return CUDA_ERROR_INVALID_VALUE;
  Block *block = driver.memory.allocate(bytes, kind, isAsync);
  if (!block && driver.countPending()) { // Work to come may free some.
    driver.runAll();
    if (CUresult status = driver.status())
      return status;
    block = driver.memory.allocate(bytes, kind, isAsync);
  }
  if (!block)
    return CUDA_ERROR_OUT_OF_MEMORY;
  driver.account(kind, false, bytes);
  pointer = block->begin;
  return CUDA_SUCCESS;
}

/// The block that begins there, of one of the kinds; null: there is none.
static Block *findBlock(uint64_t address,
                        std::initializer_list<Block::Kind> kinds) {
  Block *block = Driver::get().memory.find(address);
  if (!block || block->begin != address)
    return nullptr;
  for (Block::Kind kind : kinds)
    if (block->kind == kind)
      return block;
  return nullptr;
}

CUresult cuMemGetInfo_v2(size_t *free, size_t *total) {
  Driver &driver = Driver::get();
  return driver.call("cuMemGetInfo", "", true, [&]() -> CUresult {
    if (!free || !total)
      return CUDA_ERROR_INVALID_VALUE;
    *free = driver.memory.getFree();
    *total = driver.memory.getTotal();
    return CUDA_SUCCESS;
  });
}

CUresult cuMemAlloc_v2(CUdeviceptr *pointer, size_t bytes) {
  return Driver::get().call(
      "cuMemAlloc", format(" bytes=%zu", bytes), true, [&]() -> CUresult {
        if (!pointer)
          return CUDA_ERROR_INVALID_VALUE;
        uint64_t address = 0;
        CUresult result = allocate(address, bytes, Block::Device);
        if (!result)
          *pointer = address;
        return result;
      });
}

CUresult cuMemFree_v2(CUdeviceptr pointer) {
  Driver &driver = Driver::get();
  return driver.call("cuMemFree", format(" pointer=0x%llx", hex(pointer)), true,
                     [&]() -> CUresult {
                       if (!pointer)
                         return CUDA_SUCCESS;
                       Block *block =
                           findBlock(pointer, {Block::Device, Block::Managed});
                       if (!block || block->isFreeing)
                         return CUDA_ERROR_INVALID_VALUE;
                       driver.runAll();
                       if (CUresult status = driver.status())
                         return status;
                       driver.release(pointer);
                       return CUDA_SUCCESS;
                     });
}

CUresult cuMemAllocAsync(CUdeviceptr *pointer, size_t bytes, CUstream handle) {
  Driver &driver = Driver::get();
  return driver.call(
      "cuMemAllocAsync", format(" bytes=%zu", bytes), true, [&]() -> CUresult {
        auto stream = driver.findStream(handle);
        if (!stream)
          return CUDA_ERROR_INVALID_HANDLE;
        driver.note(format(" stream=%u", stream->number));
        if (!driver.settings.hasPools)
          return CUDA_ERROR_NOT_SUPPORTED;
        if (!pointer)
          return CUDA_ERROR_INVALID_VALUE;
        uint64_t address = 0;
        CUresult result = allocate(address, bytes, Block::Device, true);
        if (!result)
          *pointer = address;
        return result;
      });
}

CUresult cuMemFreeAsync(CUdeviceptr pointer, CUstream handle) {
  Driver &driver = Driver::get();
  return driver.call("cuMemFreeAsync", "", true, [&]() -> CUresult {
    auto stream = driver.findStream(handle);
    if (!stream)
      return CUDA_ERROR_INVALID_HANDLE;
    driver.note(
        format(" stream=%u pointer=0x%llx", stream->number, hex(pointer)));
    if (!pointer)
      return CUDA_SUCCESS;
    Block *block = findBlock(pointer, {Block::Device});
    if (!block || block->isFreeing)
      return CUDA_ERROR_INVALID_VALUE;
    block->isFreeing = true;
    driver.submit(stream, [&driver, pointer] { driver.release(pointer); });
    return driver.status();
  });
}

CUresult cuMemAllocManaged(CUdeviceptr *pointer, size_t bytes, unsigned flags) {
  Driver &driver = Driver::get();
  return driver.call("cuMemAllocManaged", format(" bytes=%zu", bytes), true,
                     [&]() -> CUresult {
                       if (!pointer || (flags != 1 && flags != 2))
                         return CUDA_ERROR_INVALID_VALUE;
                       if (!driver.settings.hasManaged)
                         return CUDA_ERROR_NOT_SUPPORTED;
                       uint64_t address = 0;
                       CUresult result =
                           allocate(address, bytes, Block::Managed);
                       if (!result)
                         *pointer = address;
                       return result;
                     });
}

static CUresult allocateHost(const char *name, void **pointer, size_t bytes,
                             unsigned flags) {
  return Driver::get().call(
      name, format(" bytes=%zu", bytes), true, [&]() -> CUresult {
        if (!pointer || flags & ~7u)
          return CUDA_ERROR_INVALID_VALUE;
        uint64_t address = 0;
        CUresult result = allocate(address, bytes, Block::Pinned);
        if (!result)
          *pointer = reinterpret_cast<void *>(address);
        return result;
      });
}

CUresult cuMemHostAlloc(void **pointer, size_t bytes, unsigned flags) {
  return allocateHost("cuMemHostAlloc", pointer, bytes, flags);
}

CUresult cuMemAllocHost_v2(void **pointer, size_t bytes) {
  return allocateHost("cuMemAllocHost", pointer, bytes, 0);
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *pointer, void *host,
                                      unsigned flags) {
  Driver &driver = Driver::get();
  return driver.call("cuMemHostGetDevicePointer", "", true, [&]() -> CUresult {
    auto address = reinterpret_cast<uint64_t>(host);
    Block *block = driver.memory.find(address);
    if (!pointer || flags || !block || block->kind != Block::Pinned)
      return CUDA_ERROR_INVALID_VALUE;
    *pointer = address;
    return CUDA_SUCCESS;
  });
}

/// Waits for nothing, as the driver does not promise to: memory that work to
/// come still uses is found when that work runs.
CUresult cuMemFreeHost(void *pointer) {
  Driver &driver = Driver::get();
  return driver.call("cuMemFreeHost", "", true, [&]() -> CUresult {
    if (!pointer)
      return CUDA_SUCCESS;
    auto address = reinterpret_cast<uint64_t>(pointer);
    if (!findBlock(address, {Block::Pinned}))
      return CUDA_ERROR_INVALID_VALUE;
    driver.release(address);
    return CUDA_SUCCESS;
  });
}

CUresult cuPointerGetAttribute(void *data, int attribute, CUdeviceptr pointer) {
  Driver &driver = Driver::get();
  return driver.call(
      "cuPointerGetAttribute", format(" attribute=%d", attribute), true,
      [&]() -> CUresult {
        Block *block = driver.memory.find(pointer);
        if (!data || !block)
          return CUDA_ERROR_INVALID_VALUE;
        bool isHost = block->kind == Block::Pinned;
        bool isManaged = block->kind == Block::Managed;
        switch (attribute) {
        case 1: // CONTEXT
          *static_cast<CUcontext *>(data) = currentContext();
          return CUDA_SUCCESS;
        case 2: // MEMORY_TYPE: host or device
          *static_cast<unsigned *>(data) = isHost ? 1 : 2;
          return CUDA_SUCCESS;
        case 3: // DEVICE_POINTER
          *static_cast<CUdeviceptr *>(data) = pointer;
          return CUDA_SUCCESS;
        case 4: // HOST_POINTER
          if (!isHost && !isManaged)
            return CUDA_ERROR_INVALID_VALUE;
          *static_cast<void **>(data) = reinterpret_cast<void *>(pointer);
          return CUDA_SUCCESS;
        case 7: // BUFFER_ID
          *static_cast<uint64_t *>(data) = block->begin;
          return CUDA_SUCCESS;
        case 8: // IS_MANAGED
          *static_cast<unsigned *>(data) = isManaged;
          return CUDA_SUCCESS;
        case 9: // DEVICE_ORDINAL
          *static_cast<int *>(data) = 0;
          return CUDA_SUCCESS;
        case 11: // RANGE_START_ADDR
          *static_cast<CUdeviceptr *>(data) = block->begin;
          return CUDA_SUCCESS;
        case 12: // RANGE_SIZE
          *static_cast<size_t *>(data) = block->end - block->begin;
          return CUDA_SUCCESS;
        case 13: // MAPPED
          *static_cast<unsigned *>(data) = 1;
          return CUDA_SUCCESS;
        default:
          return CUDA_ERROR_INVALID_VALUE;
        }
      });
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

namespace {

/// What each end of a copy has to be.
enum class End { Any, Host, Device };

bool fits(End end, uint64_t address, uint64_t bytes) {
  Driver &driver = Driver::get();
  Block *block = driver.memory.find(address);
  if (block)
    return address + bytes <= block->end;
  // The host's own memory; nothing is known about it.
  return end != End::Device && address &&
         !driver.memory.isDeviceAddress(address);
}

/// One end of a copy that waits to be executed.
struct CopyEnd {
  uint64_t address;
  bool isAllocated; ///< by this driver, else it is the program's own memory
};

void copy(CopyEnd to, CopyEnd from, uint64_t bytes,
          const std::shared_ptr<std::vector<uint8_t>> &staged) {
  Driver &driver = Driver::get();
  int toKind, fromKind;
  auto resolve = [&](CopyEnd end, int *kind) -> uint8_t * {
    if (end.isAllocated && !driver.memory.find(end.address))
      return nullptr;
    return driver.resolve(end.address, bytes, kind);
  };
  uint8_t *target = resolve(to, &toKind);
  uint8_t *source = resolve(from, &fromKind);
  if (!target || !source)
    return driver.fail(CUDA_ERROR_ILLEGAL_ADDRESS,
                       format("a copy of %llu bytes from 0x%llx to 0x%llx uses "
                              "memory that has been freed",
                              hex(bytes), hex(from.address), hex(to.address)));
  std::memmove(target, staged ? staged->data() : source, bytes);
  ++driver.statistics.copies[fromKind][toKind];
  driver.statistics.copied_bytes[fromKind][toKind] += bytes;
}

CUresult submitCopy(const char *name, uint64_t to, uint64_t from, size_t bytes,
                    CUstream handle, bool waits, End toEnd, End fromEnd) {
  Driver &driver = Driver::get();
  std::string details = format(" bytes=%zu", bytes);
  return driver.call(name, details, true, [&]() -> CUresult {
    auto stream = driver.findStream(handle);
    if (!stream)
      return CUDA_ERROR_INVALID_HANDLE;
    if (!waits)
      driver.note(format(" stream=%u", stream->number));
    if (!bytes)
      return CUDA_SUCCESS;
    if (!fits(toEnd, to, bytes) || !fits(fromEnd, from, bytes))
      return CUDA_ERROR_INVALID_VALUE;
    // The driver copies pageable memory aside before it returns; what it writes
    // there may come later on machines whose device reads such memory itself.
    std::shared_ptr<std::vector<uint8_t>> staged;
    if (!driver.memory.find(from)) {
      auto *bytesBegin = reinterpret_cast<const uint8_t *>(from);
      staged = std::make_shared<std::vector<uint8_t>>(bytesBegin,
                                                      bytesBegin + bytes);
    }
    CopyEnd target{to, driver.memory.find(to) != nullptr};
    CopyEnd source{from, driver.memory.find(from) != nullptr};
    driver.submit(stream, [=] { copy(target, source, bytes, staged); });
    if (waits)
      driver.runUntil(*stream, stream->submitted);
    return driver.status();
  });
}

uint64_t addressOf(const void *pointer) {
  return reinterpret_cast<uint64_t>(pointer);
}

} // namespace

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return submitCopy("cuMemcpy", to, from, bytes, nullptr, true, End::Any,
                    End::Any);
}
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes,
                       CUstream stream) {
  return submitCopy("cuMemcpyAsync", to, from, bytes, stream, false, End::Any,
                    End::Any);
}
CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes) {
  return submitCopy("cuMemcpyHtoD", to, addressOf(from), bytes, nullptr, true,
                    End::Device, End::Host);
}
CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes) {
  return submitCopy("cuMemcpyDtoH", addressOf(to), from, bytes, nullptr, true,
                    End::Host, End::Device);
}
CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return submitCopy("cuMemcpyDtoD", to, from, bytes, nullptr, true, End::Device,
                    End::Device);
}
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes,
                              CUstream stream) {
  return submitCopy("cuMemcpyHtoDAsync", to, addressOf(from), bytes, stream,
                    false, End::Device, End::Host);
}
CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes,
                              CUstream stream) {
  return submitCopy("cuMemcpyDtoHAsync", addressOf(to), from, bytes, stream,
                    false, End::Host, End::Device);
}
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes,
                              CUstream stream) {
  return submitCopy("cuMemcpyDtoDAsync", to, from, bytes, stream, false,
                    End::Device, End::Device);
}

static CUresult submitFill(const char *name, uint64_t to, unsigned value,
                           unsigned width, size_t count, CUstream handle,
                           bool waits) {
  Driver &driver = Driver::get();
  std::string details = format(" value=%u bytes=%zu", value, count * width);
  return driver.call(name, details, true, [&]() -> CUresult {
    auto stream = driver.findStream(handle);
    if (!stream)
      return CUDA_ERROR_INVALID_HANDLE;
    if (!waits)
      driver.note(format(" stream=%u", stream->number));
    if (!count)
      return CUDA_SUCCESS;
    if (to % width || !fits(End::Device, to, count * width))
      return CUDA_ERROR_INVALID_VALUE;
    driver.submit(stream, [=, &driver] {
      uint8_t *target = driver.resolve(to, count * width);
      if (!target)
        return driver.fail(
            CUDA_ERROR_ILLEGAL_ADDRESS,
            format("%s fills memory at 0x%llx that has been freed", name,
                   hex(to)));
      for (size_t i = 0; i != count * width; ++i)
        target[i] = uint8_t(value >> 8 * (i % width));
      ++driver.statistics.memsets;
    });
    if (waits)
      driver.runUntil(*stream, stream->submitted);
    return driver.status();
  });
}

CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t count) {
  return submitFill("cuMemsetD8", to, value, 1, count, nullptr, true);
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count,
                         CUstream stream) {
  return submitFill("cuMemsetD8Async", to, value, 1, count, stream, false);
}
CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count,
                          CUstream stream) {
  return submitFill("cuMemsetD32Async", to, value, 4, count, stream, false);
}

//===----------------------------------------------------------------------===//
// Hints
//===----------------------------------------------------------------------===//

static CUresult hint(const char *name, uint64_t pointer, size_t bytes,
                     CUstream stream) {
  Driver &driver = Driver::get();
  return driver.call(name, format(" bytes=%zu", bytes), true,
                     [&]() -> CUresult {
                       if (!driver.findStream(stream))
                         return CUDA_ERROR_INVALID_HANDLE;
                       Block *block = driver.memory.find(pointer);
                       if (!block || block->kind != Block::Managed ||
                           pointer + bytes > block->end)
                         return CUDA_ERROR_INVALID_VALUE;
                       return CUDA_SUCCESS;
                     });
}

CUresult cuMemPrefetchAsync(CUdeviceptr pointer, size_t bytes, CUdevice,
                            CUstream stream) {
  return hint("cuMemPrefetchAsync", pointer, bytes, stream);
}
CUresult cuMemPrefetchAsync_v2(CUdeviceptr pointer, size_t bytes, CUmemLocation,
                               unsigned, CUstream stream) {
  return hint("cuMemPrefetchAsync", pointer, bytes, stream);
}
CUresult cuMemAdvise(CUdeviceptr pointer, size_t bytes, int, CUdevice) {
  return hint("cuMemAdvise", pointer, bytes, nullptr);
}
CUresult cuMemAdvise_v2(CUdeviceptr pointer, size_t bytes, int, CUmemLocation) {
  return hint("cuMemAdvise", pointer, bytes, nullptr);
}
