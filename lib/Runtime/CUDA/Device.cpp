//===- Device.cpp - GPUs and what runs leave on them ----------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

using namespace loopc::rt;
using namespace loopc::rt::cuda;

/// No machine has more.
static constexpr int kMaxDevices = 64;

static Device *devices[kMaxDevices]; ///< null until they are needed
static pthread_mutex_t devicesLock = PTHREAD_MUTEX_INITIALIZER;

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

bool loopc::rt::cuda::isSticky(CUresult result) {
  switch (result) {
  case CUDA_ERROR_INVALID_CONTEXT:
  case CUDA_ERROR_ECC_UNCORRECTABLE:
  case CUDA_ERROR_NVLINK_UNCORRECTABLE:
  case CUDA_ERROR_CONTAINED:
  case CUDA_ERROR_ILLEGAL_ADDRESS:
  case CUDA_ERROR_LAUNCH_TIMEOUT:
  case CUDA_ERROR_CONTEXT_IS_DESTROYED:
  case CUDA_ERROR_ASSERT:
  case CUDA_ERROR_MPS_CLIENT_TERMINATED:
  case CUDA_ERROR_EXTERNAL_DEVICE:
    return true;
  default:
    // Faults of a kernel: a broken stack, an illegal instruction, a misaligned
    // or foreign address, a bad program counter, and what has no name.
    return (result >= CUDA_ERROR_HARDWARE_STACK_ERROR &&
            result <= CUDA_ERROR_LAUNCH_FAILED) ||
           result == CUDA_ERROR_TENSOR_MEMORY_LEAK;
  }
}

void loopc::rt::cuda::noteResult(Device &device, CUresult result,
                                 const char *where) {
  if (!isSticky(result))
    return;
  pthread_mutex_lock(&device.lock);
  if (device.lost == CUDA_SUCCESS) {
    snprintf(device.lostIn, sizeof(device.lostIn), "%s", where);
    __atomic_store_n(&device.lost, result, __ATOMIC_RELEASE);
  }
  pthread_mutex_unlock(&device.lock);
}

int32_t loopc::rt::cuda::setFailure(Failure &failure, Device &device,
                                    CUresult result, const char *where) {
  noteResult(device, result, where);
  int32_t status = result == CUDA_ERROR_OUT_OF_MEMORY ? LOOPC_ERROR_MEMORY
                                                      : LOOPC_ERROR_DEVICE;
  return failure.set(status, "device %d ('%s'): %s: %s", device.ordinal,
                     device.name, where, ResultText(result).text);
}

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

static int getAttribute(CUdevice device, int attribute) {
  int value = 0;
  if (getDriver().cuDeviceGetAttribute(&value, attribute, device) !=
      CUDA_SUCCESS)
    return 0;
  return value;
}

/// The device's handle; false after setting `failure`.
static bool findDevice(int ordinal, CUdevice &handle, Failure &failure) {
  const Driver *driver = openDriver(failure);
  if (!driver)
    return false;
  int count = 0;
  CUresult result = driver->cuDeviceGetCount(&count);
  if (result != CUDA_SUCCESS) {
    failure.set(LOOPC_ERROR_DEVICE, "cuDeviceGetCount: %s",
                ResultText(result).text);
    return false;
  }
  if (ordinal < 0 || ordinal >= count || ordinal >= kMaxDevices) {
    failure.set(LOOPC_ERROR_DEVICE,
                "there is no CUDA device %d: this machine has %d", ordinal,
                count);
    return false;
  }
  result = driver->cuDeviceGet(&handle, ordinal);
  if (result == CUDA_SUCCESS)
    return true;
  failure.set(LOOPC_ERROR_DEVICE, "cuDeviceGet(%d): %s", ordinal,
              ResultText(result).text);
  return false;
}

static void readName(CUdevice handle, char *name, size_t bytes) {
  name[0] = 0;
  if (getDriver().cuDeviceGetName(name, static_cast<int>(bytes), handle) !=
      CUDA_SUCCESS)
    name[0] = 0;
  name[bytes - 1] = 0;
}

bool loopc::rt::cuda::describeDevice(int ordinal, loopc_cuda_device &result,
                                     Failure &failure) {
  CUdevice handle;
  if (!findDevice(ordinal, handle, failure))
    return false;
  readName(handle, result.name, sizeof(result.name));
  int capability = getAttribute(handle, kCapabilityMajor) * 10 +
                   getAttribute(handle, kCapabilityMinor);
  snprintf(result.chip, sizeof(result.chip), "sm_%d", capability);
  result.multiprocessors = getAttribute(handle, kMultiprocessorCount);
  return true;
}

/// Memory that runs give back stays with the process instead of going to the
/// system and coming back for the next run.
static bool setUpPools(CUdevice handle, CUmemoryPool &pool) {
  const Driver &driver = getDriver();
  if (!driver.cuMemAllocAsync || !driver.cuMemFreeAsync ||
      !driver.cuDeviceGetDefaultMemPool || !driver.cuMemPoolSetAttribute ||
      !getAttribute(handle, kMemoryPoolsSupported))
    return false;
  if (driver.cuDeviceGetDefaultMemPool(&pool, handle) != CUDA_SUCCESS)
    return false;
  uint64_t threshold = UINT64_MAX;
  return driver.cuMemPoolSetAttribute(pool, kPoolReleaseThreshold,
                                      &threshold) == CUDA_SUCCESS;
}

static Device *createDevice(int ordinal, CUdevice handle, Failure &failure) {
  auto *device = static_cast<Device *>(calloc(1, sizeof(Device)));
  if (!device) {
    failure.set(LOOPC_ERROR_MEMORY, "out of memory");
    return nullptr;
  }
  device->ordinal = ordinal;
  device->handle = handle;
  readName(handle, device->name, sizeof(device->name));
  device->capability = getAttribute(handle, kCapabilityMajor) * 10 +
                       getAttribute(handle, kCapabilityMinor);
  device->numMultiprocessors = getAttribute(handle, kMultiprocessorCount);
  device->isCooperative = getAttribute(handle, kCooperativeLaunch) != 0;
  device->hasClusters =
      getDriver().cuLaunchKernelEx && getAttribute(handle, kClusterLaunch) != 0;
  device->isManagedShared = getAttribute(handle, kConcurrentManagedAccess) != 0;
  pthread_mutex_init(&device->lock, nullptr);
  CUresult result =
      getDriver().cuDevicePrimaryCtxRetain(&device->context, handle);
  if (result != CUDA_SUCCESS) {
    setFailure(failure, *device, result, "cuDevicePrimaryCtxRetain");
    pthread_mutex_destroy(&device->lock);
    free(device);
    return nullptr;
  }
  device->hasPools = setUpPools(handle, device->pool);
  return device;
}

Device *loopc::rt::cuda::openDevice(int ordinal, Failure &failure) {
  Device *device = ordinal >= 0 && ordinal < kMaxDevices
                       ? __atomic_load_n(&devices[ordinal], __ATOMIC_ACQUIRE)
                       : nullptr;
  CUdevice handle;
  if (!device) {
    if (!findDevice(ordinal, handle, failure))
      return nullptr;
    pthread_mutex_lock(&devicesLock);
    device = devices[ordinal];
    if (!device && (device = createDevice(ordinal, handle, failure)))
      __atomic_store_n(&devices[ordinal], device, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&devicesLock);
    if (!device)
      return nullptr;
  }
  if (!isOwnDriver(failure))
    return nullptr;
  CUresult lost = __atomic_load_n(&device->lost, __ATOMIC_ACQUIRE);
  if (lost == CUDA_SUCCESS)
    return device;
  failure.set(LOOPC_ERROR_DEVICE,
              "device %d ('%s') cannot be used by this process any more: its "
              "context was lost by %s: %s",
              device->ordinal, device->name, device->lostIn,
              ResultText(lost).text);
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Lanes
//===----------------------------------------------------------------------===//

/// The part of a lane that the host reads and writes, in pinned memory.
namespace {
struct PinnedPart {
  loopc_cuda_control readback;
  volatile int32_t cancelWord;
};
} // namespace

static CUresult fillLane(Lane &lane) {
  const Driver &driver = getDriver();
  void *pinned = nullptr;
  CUresult result = driver.cuMemHostAlloc(
      &pinned, sizeof(PinnedPart), kHostAllocPortable | kHostAllocDeviceMap);
  if (result != CUDA_SUCCESS)
    return result;
  memset(pinned, 0, sizeof(PinnedPart));
  auto *part = static_cast<PinnedPart *>(pinned);
  lane.readback = &part->readback;
  lane.cancelWord = &part->cancelWord;
  result = driver.cuMemAlloc_v2(&lane.control, sizeof(loopc_cuda_control));
  if (result != CUDA_SUCCESS)
    driver.cuMemFreeHost(pinned);
  return result;
}

static Lane *popLane(Device &device) {
  pthread_mutex_lock(&device.lock);
  Lane *lane = device.lanes;
  if (lane)
    device.lanes = lane->next;
  pthread_mutex_unlock(&device.lock);
  return lane;
}

Lane *loopc::rt::cuda::takeLane(Device &device, bool needsStream,
                                Failure &failure) {
  Lane *lane = popLane(device);
  if (!lane) {
    lane = static_cast<Lane *>(calloc(1, sizeof(Lane)));
    if (!lane) {
      failure.set(LOOPC_ERROR_MEMORY, "out of memory");
      return nullptr;
    }
    if (CUresult result = fillLane(*lane)) {
      setFailure(failure, device, result, "memory for the control of a run");
      free(lane);
      return nullptr;
    }
  }
  if (needsStream && !lane->stream) {
    CUresult result =
        getDriver().cuStreamCreate(&lane->stream, kStreamNonBlocking);
    if (result != CUDA_SUCCESS) {
      lane->stream = nullptr;
      setFailure(failure, device, result, "cuStreamCreate");
      returnLane(device, lane);
      return nullptr;
    }
  }
  return lane;
}

void loopc::rt::cuda::returnLane(Device &device, Lane *lane) {
  pthread_mutex_lock(&device.lock);
  lane->next = device.lanes;
  device.lanes = lane;
  pthread_mutex_unlock(&device.lock);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

CUresult loopc::rt::cuda::allocatePlain(Device &device, size_t bytes,
                                        CUstream stream, CUdeviceptr &pointer) {
  // Nothing has an address of its own only where it has bytes.
  size_t size = bytes ? bytes : 1;
  return device.hasPools ? getDriver().cuMemAllocAsync(&pointer, size, stream)
                         : getDriver().cuMemAlloc_v2(&pointer, size);
}

void loopc::rt::cuda::freePlain(Device &device, CUdeviceptr pointer,
                                CUstream stream) {
  if (device.hasPools)
    getDriver().cuMemFreeAsync(pointer, stream);
  else
    getDriver().cuMemFree_v2(pointer);
}

CUresult loopc::rt::cuda::allocateLasting(Device &device, size_t bytes,
                                          CUdeviceptr &pointer) {
  const Driver &driver = getDriver();
  size_t size = bytes ? bytes : 1;
  CUresult result = driver.cuMemAlloc_v2(&pointer, size);
  if (result != CUDA_ERROR_OUT_OF_MEMORY || !device.hasPools)
    return result;
  trimPool(device);
  return driver.cuMemAlloc_v2(&pointer, size);
}

void loopc::rt::cuda::trimPool(Device &device) {
  const Driver &driver = getDriver();
  if (!device.hasPools || !driver.cuMemPoolTrimTo)
    return;
  // What was freed in the order of a stream counts when somebody has waited for
  // that. Nothing else is on the streams of runs that ended.
  pthread_mutex_lock(&device.lock);
  for (Lane *lane = device.lanes; lane; lane = lane->next)
    if (lane->stream)
      driver.cuStreamSynchronize(lane->stream);
  pthread_mutex_unlock(&device.lock);
  driver.cuMemPoolTrimTo(device.pool, 0);
}

/// Larger blocks are managed memory, whose pages move to who uses them; smaller
/// ones lie in pinned memory of the host: a page that moves costs more than
/// reading some of them over the bus.
static constexpr size_t kLargestPinned = 64 << 10;

/// Pinned memory is made in pieces of this size.
static constexpr size_t kSlabBytes = 1 << 20;

/// What a device keeps of shared memory that no run uses.
static constexpr uint64_t kMaxKeptBytes = 256 << 20;

/// Where data begin behind the beginning of their memory: managed ones on a
/// page of their own, for the host reads and writes the header while kernels
/// use the data.
static constexpr size_t kPinnedOffset = 256;
static constexpr size_t kManagedOffset = 4096;

static bool isManaged(const Device &device, size_t capacity) {
  return device.isManagedShared && capacity > kLargestPinned;
}

static size_t alignTo256(size_t bytes) {
  return (bytes + 255) & ~static_cast<size_t>(255);
}

/// Memory of a slab. The device's lock is held.
static CUresult cutFromSlab(Device &device, size_t bytes, void *&pointer) {
  if (device.slabRoom < bytes) {
    void *slab = nullptr;
    CUresult result = getDriver().cuMemHostAlloc(
        &slab, kSlabBytes, kHostAllocPortable | kHostAllocDeviceMap);
    if (result != CUDA_SUCCESS)
      return result;
    device.slab = static_cast<char *>(slab);
    device.slabRoom = kSlabBytes;
  }
  pointer = device.slab;
  device.slab += bytes;
  device.slabRoom -= bytes;
  return CUDA_SUCCESS;
}

static CUresult createShared(Device &device, size_t capacity, void *&raw,
                             size_t &offset) {
  offset = kPinnedOffset;
  if (isManaged(device, capacity)) {
    offset = kManagedOffset;
    CUdeviceptr pointer = 0;
    CUresult result = getDriver().cuMemAllocManaged(&pointer, capacity + offset,
                                                    kAttachGlobal);
    raw = reinterpret_cast<void *>(pointer);
    return result;
  }
  if (capacity > kLargestPinned)
    return getDriver().cuMemHostAlloc(&raw, capacity + offset,
                                      kHostAllocPortable | kHostAllocDeviceMap);
  pthread_mutex_lock(&device.lock);
  CUresult result = cutFromSlab(device, alignTo256(capacity) + offset, raw);
  pthread_mutex_unlock(&device.lock);
  return result;
}

/// Gives back what is no part of a slab.
static void destroyShared(Device &device, Block *block) {
  if (isManaged(device, block->capacity))
    getDriver().cuMemFree_v2(reinterpret_cast<CUdeviceptr>(block->raw));
  else
    getDriver().cuMemFreeHost(block->raw);
}

/// Gives all large blocks back that no run uses.
static void trimShared(Device &device) {
  Block *gone = nullptr;
  pthread_mutex_lock(&device.lock);
  for (Block *&list : device.shared)
    while (list && list->capacity > kLargestPinned) {
      Block *block = list;
      list = block->next;
      device.sharedBytes -= block->capacity;
      block->next = gone;
      gone = block;
    }
  pthread_mutex_unlock(&device.lock);
  while (Block *block = gone) {
    gone = block->next;
    destroyShared(device, block);
  }
}

Block *loopc::rt::cuda::takeShared(Device &device, size_t bytes,
                                   CUresult &result) {
  SizeClass sizeClass = getSizeClass(bytes);
  if (sizeClass.index < kNumSizeClasses) {
    pthread_mutex_lock(&device.lock);
    Block *block = device.shared[sizeClass.index];
    if (block) {
      device.shared[sizeClass.index] = block->next;
      device.sharedBytes -= block->capacity;
    }
    pthread_mutex_unlock(&device.lock);
    if (block)
      return block;
  }
  void *raw = nullptr;
  size_t offset;
  result = createShared(device, sizeClass.capacity, raw, offset);
  if (result == CUDA_ERROR_OUT_OF_MEMORY) {
    trimShared(device);
    result = createShared(device, sizeClass.capacity, raw, offset);
  }
  if (result != CUDA_SUCCESS)
    return nullptr;
  Block *block = Block::of(static_cast<char *>(raw) + offset);
  block->raw = raw;
  block->capacity = sizeClass.capacity;
  // Not for the cache of a run.
  block->sizeClass = kNumSizeClasses;
  return block;
}

void loopc::rt::cuda::returnShared(Device &device, Block *block) {
  uint32_t index = getSizeClass(block->capacity).index;
  bool isKept = false;
  if (index < kNumSizeClasses) {
    pthread_mutex_lock(&device.lock);
    isKept = block->capacity <= kLargestPinned ||
             device.sharedBytes + block->capacity <= kMaxKeptBytes;
    if (isKept) {
      block->next = device.shared[index];
      device.shared[index] = block;
      device.sharedBytes += block->capacity;
    }
    pthread_mutex_unlock(&device.lock);
  }
  if (!isKept)
    destroyShared(device, block);
}
