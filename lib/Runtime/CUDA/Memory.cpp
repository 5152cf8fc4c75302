//===- Memory.cpp - Memory of a run on a GPU ------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Device memory that a run freed is kept for its next allocation of the same
// class: all of the run's work is in the order of one stream, so that whoever
// gets it next comes after whoever had it. What is known of device memory is
// kept on the host, in a table by address.
//
//===----------------------------------------------------------------------===//

#include "Gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

using namespace loopc::rt;
using namespace loopc::rt::cuda;

//===----------------------------------------------------------------------===//
// The table of blocks
//===----------------------------------------------------------------------===//

static size_t getBucket(const Gpu &gpu, CUdeviceptr pointer) {
  // The low bits of addresses are zero; the multiplication mixes the others.
  return static_cast<size_t>((pointer >> 8) * 0x9E3779B97F4A7C15u >> 20) &
         (gpu.numBuckets - 1);
}

/// Room for one more block; false where there is no memory.
static bool growTable(Gpu &gpu) {
  if (gpu.numBlocks < gpu.numBuckets)
    return true;
  size_t oldCount = gpu.numBuckets;
  size_t newCount = oldCount ? oldCount * 2 : 64;
  auto **buckets =
      static_cast<DeviceBlock **>(calloc(newCount, sizeof(DeviceBlock *)));
  if (!buckets)
    return false;
  DeviceBlock **old = gpu.buckets;
  gpu.buckets = buckets;
  gpu.numBuckets = newCount;
  for (size_t k = 0; k < oldCount; ++k)
    while (DeviceBlock *block = old[k]) {
      old[k] = block->next;
      DeviceBlock *&bucket = buckets[getBucket(gpu, block->pointer)];
      block->next = bucket;
      bucket = block;
    }
  free(old);
  return true;
}

static void insertBlock(Gpu &gpu, DeviceBlock *block) {
  DeviceBlock *&bucket = gpu.buckets[getBucket(gpu, block->pointer)];
  block->next = bucket;
  bucket = block;
  ++gpu.numBlocks;
  gpu.heldBytes += block->capacity;
  if (gpu.heldBytes > gpu.peakBytes)
    gpu.peakBytes = gpu.heldBytes;
}

/// The link to the block that begins at `pointer`, or to null.
static DeviceBlock **findLink(Gpu &gpu, const void *pointer) {
  static DeviceBlock *none;
  if (gpu.numBuckets == 0)
    return &none;
  auto address = reinterpret_cast<CUdeviceptr>(pointer);
  DeviceBlock **link = &gpu.buckets[getBucket(gpu, address)];
  while (*link && (*link)->pointer != address)
    link = &(*link)->next;
  return link;
}

static void unlinkDeviceBlock(Gpu &gpu, DeviceBlock **link) {
  DeviceBlock *block = *link;
  *link = block->next;
  --gpu.numBlocks;
  gpu.heldBytes -= block->capacity;
}

DeviceBlock *loopc::rt::cuda::findDeviceBlock(Gpu &gpu, const void *pointer) {
  return *findLink(gpu, pointer);
}

//===----------------------------------------------------------------------===//
// Device memory
//===----------------------------------------------------------------------===//

/// What may be kept however little a run held.
static constexpr uint64_t kMinCachedBytes = 16 << 20;

static void freeCache(Gpu &gpu) {
  if (gpu.cachedBytes == 0)
    return;
  for (DeviceBlock *&list : gpu.cache)
    while (DeviceBlock *block = list) {
      list = block->next;
      freePlain(*gpu.device, block->pointer, gpu.stream);
      free(block);
    }
  gpu.cachedBytes = 0;
}

/// A block of the class: one that was freed, or a new one. Null with the reason
/// in `result`.
static DeviceBlock *obtainBlock(Gpu &gpu, const SizeClass &sizeClass,
                                CUresult &result) {
  if (sizeClass.index < kNumSizeClasses) {
    if (DeviceBlock *block = gpu.cache[sizeClass.index]) {
      gpu.cache[sizeClass.index] = block->next;
      gpu.cachedBytes -= block->capacity;
      return block;
    }
  }
  auto *block = static_cast<DeviceBlock *>(malloc(sizeof(DeviceBlock)));
  result = CUDA_ERROR_OUT_OF_MEMORY;
  if (!block)
    return nullptr;
  block->capacity = sizeClass.capacity;
  block->sizeClass = sizeClass.index;
  Device &device = *gpu.device;
  result = allocatePlain(device, block->capacity, gpu.stream, block->pointer);
  if (result == CUDA_ERROR_OUT_OF_MEMORY && gpu.cachedBytes != 0) {
    freeCache(gpu);
    result = allocatePlain(device, block->capacity, gpu.stream, block->pointer);
  }
  if (result == CUDA_SUCCESS)
    return block;
  free(block);
  return nullptr;
}

static int32_t recordNoMemory(loopc_run &run, CUresult result, size_t bytes) {
  if (result != CUDA_ERROR_OUT_OF_MEMORY)
    return recordResult(run, result, "allocating memory");
  const Device &device = *run.gpu->device;
  return recordError(run, LOOPC_ERROR_MEMORY,
                     "out of memory: device %d ('%s') has no %zu bytes: %s",
                     device.ordinal, device.name, bytes,
                     ResultText(result).text);
}

DeviceBlock *loopc::rt::cuda::allocateDevice(loopc_run &run, int64_t bytes,
                                             bool byModel) {
  Gpu &gpu = *run.gpu;
  if (!reserveMemory(run, bytes))
    return nullptr;
  size_t size = static_cast<size_t>(bytes);
  CUresult result = CUDA_ERROR_OUT_OF_MEMORY;
  DeviceBlock *block =
      growTable(gpu) ? obtainBlock(gpu, getSizeClass(size), result) : nullptr;
  if (!block) {
    unreserveMemory(run, size);
    recordNoMemory(run, result, size);
    return nullptr;
  }
  block->bytes = size;
  block->byModel = byModel;
  block->isResult = false;
  if (byModel)
    countModelMemory(run, size);
  insertBlock(gpu, block);
  return block;
}

static void uncount(loopc_run &run, const DeviceBlock &block) {
  if (block.byModel)
    uncountModelMemory(run, block.bytes);
  else
    unreserveMemory(run, block.bytes);
}

void loopc::rt::cuda::detachDeviceBlock(loopc_run &run, DeviceBlock *block) {
  Gpu &gpu = *run.gpu;
  unlinkDeviceBlock(gpu,
                    findLink(gpu, reinterpret_cast<void *>(block->pointer)));
  uncount(run, *block);
  free(block);
}

extern "C" void loopc_rt_cuda_free(loopc_run *run, void *pointer) {
  Gpu *gpu = run->gpu;
  if (!pointer || !gpu)
    return;
  DeviceBlock **link = findLink(*gpu, pointer);
  DeviceBlock *block = *link;
  // The model gives up its own claim to a result; the run returns it.
  if (!block || block->isResult)
    return;
  unlinkDeviceBlock(*gpu, link);
  uncount(*run, *block);
  uint64_t most = gpu->peakBytes + gpu->peakBytes / 4 + kMinCachedBytes;
  if (block->sizeClass < kNumSizeClasses &&
      gpu->heldBytes + gpu->cachedBytes + block->capacity <= most) {
    block->next = gpu->cache[block->sizeClass];
    gpu->cache[block->sizeClass] = block;
    gpu->cachedBytes += block->capacity;
    return;
  }
  freePlain(*gpu->device, block->pointer, gpu->stream);
  free(block);
}

void loopc::rt::cuda::releaseDeviceMemory(loopc_run &run) {
  Gpu &gpu = *run.gpu;
  for (size_t k = 0; k < gpu.numBuckets; ++k)
    while (DeviceBlock *block = gpu.buckets[k]) {
      gpu.buckets[k] = block->next;
      freePlain(*gpu.device, block->pointer, gpu.stream);
      free(block);
    }
  free(gpu.buckets);
  gpu.buckets = nullptr;
  gpu.numBuckets = gpu.numBlocks = 0;
  freeCache(gpu);
  free(gpu.mappings);
  gpu.mappings = nullptr;
  gpu.numMappings = 0;
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

/// What `destroy` of shared blocks is. Any thread of the run may call it, so
/// the block waits until the run's own thread knows that no kernel uses it.
static void deferBlock(loopc_run &run, Block *block) {
  Block **list = &run.gpu->deferred;
  Block *first = __atomic_load_n(list, __ATOMIC_RELAXED);
  do
    block->next = first;
  while (!__atomic_compare_exchange_n(list, &first, block, true,
                                      __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}

void loopc::rt::cuda::releaseDeferred(Gpu &gpu) {
  Block *block = __atomic_exchange_n(&gpu.deferred, nullptr, __ATOMIC_ACQUIRE);
  while (block) {
    Block *next = block->next;
    returnShared(*gpu.device, block);
    block = next;
  }
}

static void *allocateShared(loopc_run &run, int64_t bytes, bool byModel) {
  Gpu &gpu = *run.gpu;
  if (!gpu.isBusy)
    releaseDeferred(gpu);
  if (!reserveMemory(run, bytes))
    return nullptr;
  size_t size = static_cast<size_t>(bytes);
  CUresult result = CUDA_SUCCESS;
  Block *block = takeShared(*gpu.device, size, result);
  if (!block) {
    unreserveMemory(run, size);
    recordNoMemory(run, result, size);
    return nullptr;
  }
  block->destroy = deferBlock;
  adoptBlock(run, block, size, byModel);
  return block->data();
}

static void *allocateIn(loopc_run &run, int64_t bytes, int32_t space,
                        bool byModel) {
  if (space == LOOPC_CUDA_SHARED)
    return allocateShared(run, bytes, byModel);
  DeviceBlock *block = allocateDevice(run, bytes, byModel);
  return block ? reinterpret_cast<void *>(block->pointer) : nullptr;
}

/// Every function but begin comes after it.
static bool isOpen(loopc_run &run) {
  if (run.gpu)
    return true;
  recordError(run, LOOPC_ERROR_ABI,
              "the model uses a device that it did not open");
  return false;
}

extern "C" void *loopc_rt_cuda_alloc(loopc_run *run, int64_t bytes,
                                     int32_t space) {
  return isOpen(*run) ? allocateIn(*run, bytes, space, /*byModel=*/true)
                      : nullptr;
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// From and to memory that is not pinned the driver copies by way of its own:
/// at once up to this size, else waiting for what was begun before, in which a
/// run could not be cancelled. Larger copies go through pinned memory here.
static constexpr size_t kLargestAtOnce = 64 << 10;

/// True for memory that neither the runtime nor the driver knows.
static bool isPageable(Gpu &gpu, const void *pointer) {
  if (findDeviceBlock(gpu, pointer))
    return false;
  const Driver &driver = getDriver();
  if (!driver.cuPointerGetAttributes)
    return true;
  // 0 where the driver does not know it; the function for one attribute would
  // fail then.
  unsigned kind = 0;
  int attribute = kPointerMemoryType;
  void *value = &kind;
  CUresult result = driver.cuPointerGetAttributes(
      1, &attribute, &value, reinterpret_cast<CUdeviceptr>(pointer));
  return result != CUDA_SUCCESS || kind == 0;
}

/// Waits for what was begun before where the driver would.
static int32_t waitBeforeCopy(loopc_run &run, bool fromHost, bool toHost,
                              size_t bytes) {
  if (!run.gpu->isBusy || (!toHost && (!fromHost || bytes <= kLargestAtOnce)))
    return LOOPC_OK;
  return waitForStream(run);
}

static int32_t recordCopy(loopc_run &run, CUresult result, size_t bytes) {
  if (result == CUDA_SUCCESS) {
    run.gpu->isBusy = true;
    countCopy(run, bytes);
    return LOOPC_OK;
  }
  char where[64];
  snprintf(where, sizeof(where), "copying %zu bytes", bytes);
  return recordResult(run, result, where);
}

static CUdeviceptr toAddress(const void *pointer) {
  return reinterpret_cast<CUdeviceptr>(pointer);
}

/// Counts a copy by way of pinned memory that ended with `status`.
static int32_t countStaged(loopc_run &run, int32_t status, size_t bytes) {
  if (status == LOOPC_OK)
    countCopy(run, bytes);
  return status;
}

/// From the host's memory to where kernels read it.
static int32_t copyToDevice(loopc_run &run, void *dst, const void *src,
                            size_t bytes) {
  if (bytes == 0)
    return LOOPC_OK;
  if (bytes > kLargestAtOnce && isPageable(*run.gpu, src) &&
      prepareStaging(*run.gpu))
    return countStaged(run, stageToDevice(run, dst, src, bytes), bytes);
  if (int32_t status = waitBeforeCopy(run, true, false, bytes))
    return status;
  return recordCopy(run,
                    getDriver().cuMemcpyHtoDAsync_v2(toAddress(dst), src, bytes,
                                                     run.gpu->stream),
                    bytes);
}

int32_t loopc::rt::cuda::copyAny(loopc_run &run, void *dst, const void *src,
                                 size_t bytes) {
  if (bytes == 0 || dst == src)
    return LOOPC_OK;
  Gpu &gpu = *run.gpu;
  bool isLarge = bytes > kLargestAtOnce;
  if (gpu.isBusy || isLarge) {
    bool toHost = isPageable(gpu, dst);
    bool fromHost = isLarge && !toHost && isPageable(gpu, src);
    if (isLarge && (fromHost || toHost) && prepareStaging(gpu))
      return countStaged(run,
                         toHost ? stageToHost(run, dst, src, bytes)
                                : stageToDevice(run, dst, src, bytes),
                         bytes);
    if (int32_t status = waitBeforeCopy(run, fromHost, toHost, bytes))
      return status;
  }
  return recordCopy(run,
                    getDriver().cuMemcpyAsync(toAddress(dst), toAddress(src),
                                              bytes, gpu.stream),
                    bytes);
}

extern "C" int32_t loopc_rt_cuda_copy(loopc_run *run, void *dst,
                                      const void *src, int64_t bytes) {
  if (!isOpen(*run))
    return getStatus(*run);
  return copyAny(*run, dst, src, static_cast<size_t>(bytes > 0 ? bytes : 0));
}

//===----------------------------------------------------------------------===//
// Inputs and results
//===----------------------------------------------------------------------===//

bool loopc::rt::cuda::addMapping(loopc_run &run, const Mapping &mapping) {
  Gpu &gpu = *run.gpu;
  if (gpu.numMappings == gpu.mappingsRoom) {
    size_t room = gpu.mappingsRoom ? gpu.mappingsRoom * 2 : 16;
    auto *grown =
        static_cast<Mapping *>(realloc(gpu.mappings, room * sizeof(Mapping)));
    if (!grown) {
      recordError(run, LOOPC_ERROR_MEMORY, "out of memory");
      return false;
    }
    gpu.mappings = grown;
    gpu.mappingsRoom = room;
  }
  gpu.mappings[gpu.numMappings++] = mapping;
  return true;
}

/// Where kernels find the bytes, or null where nothing is known of them; then
/// `callers` is where the caller has them on the device, or null.
static char *findMapping(const Gpu &gpu, const char *host, int64_t bytes,
                         int32_t space, char *&callers) {
  callers = nullptr;
  for (size_t k = 0; k < gpu.numMappings; ++k) {
    const Mapping &known = gpu.mappings[k];
    if (!known.isCallers) {
      if (known.host == host && known.bytes == bytes && known.space == space)
        return known.device;
      continue;
    }
    if (host < known.host || host - known.host > known.bytes - bytes)
      continue;
    callers = known.device + (host - known.host);
    if (space == LOOPC_CUDA_DEVICE)
      return callers;
  }
  return nullptr;
}

extern "C" void *loopc_rt_cuda_input(loopc_run *run,
                                     loopc_cuda_program *program,
                                     const void *host, int64_t bytes,
                                     int32_t space, int32_t isConstant) {
  if (!isOpen(*run) || loopc_rt_cuda_begin(run, program))
    return nullptr;
  if (isConstant)
    return getConstant(*run, *run->gpu->loaded, host, bytes, space);
  auto *source = static_cast<const char *>(host);
  char *callers;
  if (char *known = findMapping(*run->gpu, source, bytes, space, callers))
    return known;
  void *copy = allocateIn(*run, bytes, space, /*byModel=*/false);
  if (!copy)
    return nullptr;
  size_t size = static_cast<size_t>(bytes);
  if (callers) {
    if (copyAny(*run, copy, callers, size))
      return nullptr;
  } else if (space == LOOPC_CUDA_SHARED) {
    // A block that no kernel has seen yet.
    memcpy(copy, host, size);
    countCopy(*run, size);
  } else if (copyToDevice(*run, copy, host, size)) {
    return nullptr;
  }
  Mapping mapping = {source, bytes, static_cast<char *>(copy), space, false};
  return addMapping(*run, mapping) ? copy : nullptr;
}

extern "C" void *loopc_rt_cuda_output(loopc_run *run, void *device,
                                      int64_t bytes) {
  if (!isOpen(*run))
    return nullptr;
  Gpu &gpu = *run->gpu;
  if (!run->keepsOnDevice) {
    void *host = loopc_rt_alloc(run, bytes);
    if (!host || copyAny(*run, host, device, static_cast<size_t>(bytes)))
      return nullptr;
    return host;
  }
  // A block becomes one result; what is returned twice is copied.
  DeviceBlock *whole = findDeviceBlock(gpu, device);
  if (whole && !whole->isResult) {
    whole->isResult = true;
    return device;
  }
  DeviceBlock *copy = allocateDevice(*run, bytes, /*byModel=*/true);
  if (!copy)
    return nullptr;
  copy->isResult = true;
  void *pointer = reinterpret_cast<void *>(copy->pointer);
  return copyAny(*run, pointer, device, static_cast<size_t>(bytes)) ? nullptr
                                                                    : pointer;
}
