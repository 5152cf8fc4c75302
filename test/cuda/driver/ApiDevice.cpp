//===- ApiDevice.cpp - Devices, contexts and errors -----------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver.h"

#include <cstdio>
#include <dlfcn.h>

using namespace fakecuda;

namespace {

struct ErrorText {
  CUresult error;
  const char *name, *text;
};

constexpr ErrorText errorTexts[] = {
    {CUDA_SUCCESS, "CUDA_SUCCESS", "no error"},
    {CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {CUDA_ERROR_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED",
     "initialization error"},
    {CUDA_ERROR_DEINITIALIZED, "CUDA_ERROR_DEINITIALIZED",
     "driver shutting down"},
    {CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE",
     "no CUDA-capable device is detected"},
    {CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE",
     "invalid device ordinal"},
    {CUDA_ERROR_INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE",
     "device kernel image is invalid"},
    {CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT",
     "invalid device context"},
    {CUDA_ERROR_NO_BINARY_FOR_GPU, "CUDA_ERROR_NO_BINARY_FOR_GPU",
     "no kernel image is available for execution on the device"},
    {214, "CUDA_ERROR_ECC_UNCORRECTABLE",
     "uncorrectable ECC error encountered"},
    {CUDA_ERROR_INVALID_PTX, "CUDA_ERROR_INVALID_PTX",
     "a PTX JIT compilation failed"},
    {CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
     "the provided PTX was compiled with an unsupported toolchain."},
    {CUDA_ERROR_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE",
     "invalid resource handle"},
    {CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {CUDA_ERROR_NOT_READY, "CUDA_ERROR_NOT_READY", "device not ready"},
    {CUDA_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS",
     "an illegal memory access was encountered"},
    {CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
     "too many resources requested for launch"},
    {CUDA_ERROR_LAUNCH_TIMEOUT, "CUDA_ERROR_LAUNCH_TIMEOUT",
     "the launch timed out and was terminated"},
    {CUDA_ERROR_CONTEXT_IS_DESTROYED, "CUDA_ERROR_CONTEXT_IS_DESTROYED",
     "context is destroyed"},
    {CUDA_ERROR_ASSERT, "CUDA_ERROR_ASSERT", "device-side assert triggered"},
    {CUDA_ERROR_ILLEGAL_INSTRUCTION, "CUDA_ERROR_ILLEGAL_INSTRUCTION",
     "an illegal instruction was encountered"},
    {CUDA_ERROR_MISALIGNED_ADDRESS, "CUDA_ERROR_MISALIGNED_ADDRESS",
     "misaligned address"},
    {CUDA_ERROR_INVALID_ADDRESS_SPACE, "CUDA_ERROR_INVALID_ADDRESS_SPACE",
     "operation not supported on global/shared address space"},
    {CUDA_ERROR_INVALID_PC, "CUDA_ERROR_INVALID_PC", "invalid program counter"},
    {CUDA_ERROR_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED",
     "unspecified launch failure"},
    {CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
     "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE",
     "too many blocks in cooperative launch"},
    {CUDA_ERROR_NOT_PERMITTED, "CUDA_ERROR_NOT_PERMITTED",
     "operation not permitted"},
    {CUDA_ERROR_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED",
     "operation not supported"},
    {CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
     "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
     "operation not permitted when stream is capturing"},
    {CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
     "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
     "operation failed due to a previous error during capture"},
    {CUDA_ERROR_UNKNOWN, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

const ErrorText *findError(CUresult error) {
  for (const ErrorText &entry : errorTexts)
    if (entry.error == error)
      return &entry;
  return nullptr;
}

bool isDevice(CUdevice device) {
  return device >= 0 && device < Driver::get().settings.devices;
}

/// What of a chip depends on its compute capability.
struct Chip {
  const char *name;
  int sharedPerBlock, sharedPerMultiprocessor, threadsPerMultiprocessor, blocks;
};

Chip chipOf(unsigned capability) {
  switch (capability) {
  case 80:
    return {"Fake A100", 163 << 10, 164 << 10, 2048, 32};
  case 86:
  case 89:
    return {"Fake L40", 99 << 10, 100 << 10, 1536, 24};
  case 90:
    return {"Fake H100", 227 << 10, 228 << 10, 2048, 32};
  case 100:
    return {"Fake B200", 227 << 10, 228 << 10, 2048, 32};
  case 120:
    return {"Fake RTX 5090", 99 << 10, 100 << 10, 1536, 24};
  default:
    return {"Fake GPU", 96 << 10, 96 << 10, 1024, 16};
  }
}

CUcontext contextOf(CUdevice device) {
  std::vector<CUctx_st *> &contexts = Driver::get().contexts;
  while (contexts.size() <= size_t(device)) {
    contexts.push_back(new CUctx_st);
    contexts.back()->device = CUdevice(contexts.size()) - 1;
  }
  contexts[device]->device = device;
  return contexts[device];
}

bool isContext(CUcontext context) {
  const auto &contexts = Driver::get().contexts;
  return std::find(contexts.begin(), contexts.end(), context) != contexts.end();
}

/// What a context owned goes with it, once no other device has one.
void destroyContext(CUcontext context) {
  Driver &driver = Driver::get();
  context->retained = 0;
  context->error = CUDA_SUCCESS;
  for (CUctx_st *other : driver.contexts)
    if (other->retained)
      return;
  driver.defaultStream = std::make_shared<CUstream_st>();
  driver.streams.clear();
  driver.orphans.clear();
  driver.events.clear();
  driver.functions.clear();
  driver.modules.clear();
  driver.memory.clear();
}

} // namespace

unsigned fakecuda::occupancy(uint64_t threads, uint64_t sharedBytes) {
  Chip chip = chipOf(Driver::get().settings.capability);
  uint64_t warps = (threads + 31) / 32;
  uint64_t shared = (sharedBytes + 1024 + 127) / 128 * 128;
  if (warps == 0 || sharedBytes > uint64_t(chip.sharedPerBlock))
    return 0;
  uint64_t blocks = std::min<uint64_t>(
      chip.blocks, chip.threadsPerMultiprocessor / (warps * 32));
  return unsigned(
      std::min<uint64_t>(blocks, chip.sharedPerMultiprocessor / shared));
}

int fakecuda::mostShared() {
  return chipOf(Driver::get().settings.capability).sharedPerBlock;
}

//===----------------------------------------------------------------------===//
// Initialisation and errors
//===----------------------------------------------------------------------===//

CUresult cuInit(unsigned flags) {
  Driver &driver = Driver::get();
  return driver.call("cuInit", "", false, [&]() -> CUresult {
    if (flags)
      return CUDA_ERROR_INVALID_VALUE;
    if (driver.settings.devices == 0)
      return CUDA_ERROR_NO_DEVICE;
    driver.isInitialized = true;
    return CUDA_SUCCESS;
  });
}

CUresult cuDriverGetVersion(int *version) {
  Driver &driver = Driver::get();
  return driver.call("cuDriverGetVersion", "", false, [&]() -> CUresult {
    if (!version)
      return CUDA_ERROR_INVALID_VALUE;
    *version = driver.settings.version;
    return CUDA_SUCCESS;
  });
}

CUresult cuGetErrorName(CUresult error, const char **name) {
  if (!name)
    return CUDA_ERROR_INVALID_VALUE;
  const ErrorText *found = findError(error);
  *name = found ? found->name : nullptr;
  return found ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult error, const char **text) {
  if (!text)
    return CUDA_ERROR_INVALID_VALUE;
  const ErrorText *found = findError(error);
  *text = found ? found->text : nullptr;
  return found ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetProcAddress_v2(const char *symbol, void **function, int, uint64_t,
                             int *status) {
  if (!symbol || !function)
    return CUDA_ERROR_INVALID_VALUE;
  // This library, by the address of one of its functions.
  static void *self = [] {
    Dl_info info;
    dladdr(reinterpret_cast<void *>(&cuInit), &info);
    return dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  }();
  std::string name = symbol;
  *function = nullptr;
  // The newest version, as the real one gives to programs of today.
  for (const char *suffix : {"_v2", ""})
    if (!*function && name.rfind("cu", 0) == 0)
      *function = dlsym(self, (name + suffix).c_str());
  if (status)
    *status = *function ? 0 : 1;
  return *function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

CUresult cuDeviceGetCount(int *count) {
  Driver &driver = Driver::get();
  return driver.call("cuDeviceGetCount", "", false, [&]() -> CUresult {
    if (!count)
      return CUDA_ERROR_INVALID_VALUE;
    *count = driver.settings.devices;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGet(CUdevice *device, int ordinal) {
  return Driver::get().call("cuDeviceGet", format(" ordinal=%d", ordinal),
                            false, [&]() -> CUresult {
                              if (!device)
                                return CUDA_ERROR_INVALID_VALUE;
                              if (!isDevice(ordinal))
                                return CUDA_ERROR_INVALID_DEVICE;
                              *device = ordinal;
                              return CUDA_SUCCESS;
                            });
}

CUresult cuDeviceGetName(char *name, int length, CUdevice device) {
  Driver &driver = Driver::get();
  return driver.call("cuDeviceGetName", "", false, [&]() -> CUresult {
    if (!name || length <= 0)
      return CUDA_ERROR_INVALID_VALUE;
    if (!isDevice(device))
      return CUDA_ERROR_INVALID_DEVICE;
    std::snprintf(name, length, "%s", chipOf(driver.settings.capability).name);
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device) {
  return Driver::get().call("cuDeviceGetUuid", "", false, [&]() -> CUresult {
    if (!uuid)
      return CUDA_ERROR_INVALID_VALUE;
    if (!isDevice(device))
      return CUDA_ERROR_INVALID_DEVICE;
    std::memcpy(uuid->bytes, "loopc fake GPU ", 15);
    uuid->bytes[15] = char('0' + device);
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device) {
  return cuDeviceGetUuid(uuid, device);
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device) {
  Driver &driver = Driver::get();
  return driver.call("cuDeviceTotalMem", "", false, [&]() -> CUresult {
    if (!bytes)
      return CUDA_ERROR_INVALID_VALUE;
    if (!isDevice(device))
      return CUDA_ERROR_INVALID_DEVICE;
    *bytes = driver.memory.getTotal();
    return CUDA_SUCCESS;
  });
}

/// Attributes that are the same on all chips.
static const std::map<int, int> fixedAttributes = {
    {1, 1024},        // MAX_THREADS_PER_BLOCK
    {2, 1024},        // MAX_BLOCK_DIM_X
    {3, 1024},        // MAX_BLOCK_DIM_Y
    {4, 64},          // MAX_BLOCK_DIM_Z
    {5, 0x7FFFFFFF},  // MAX_GRID_DIM_X
    {6, 65535},       // MAX_GRID_DIM_Y
    {7, 65535},       // MAX_GRID_DIM_Z
    {8, 48 << 10},    // MAX_SHARED_MEMORY_PER_BLOCK
    {9, 64 << 10},    // TOTAL_CONSTANT_MEMORY
    {10, 32},         // WARP_SIZE
    {11, 0x7FFFFFFF}, // MAX_PITCH
    {12, 64 << 10},   // MAX_REGISTERS_PER_BLOCK
    {13, 1000000},    // CLOCK_RATE
    {17, 0},          // KERNEL_EXEC_TIMEOUT
    {18, 0},          // INTEGRATED
    {19, 1},          // CAN_MAP_HOST_MEMORY
    {20, 0},          // COMPUTE_MODE
    {31, 1},          // CONCURRENT_KERNELS
    {32, 0},          // ECC_ENABLED
    {33, 0},          // PCI_BUS_ID
    {34, 0},          // PCI_DEVICE_ID
    {36, 1000000},    // MEMORY_CLOCK_RATE
    {37, 1024},       // GLOBAL_MEMORY_BUS_WIDTH
    {38, 50 << 20},   // L2_CACHE_SIZE
    {40, 2},          // ASYNC_ENGINE_COUNT
    {41, 1},          // UNIFIED_ADDRESSING
    {50, 0},          // PCI_DOMAIN_ID
    {78, 1},          // STREAM_PRIORITIES_SUPPORTED
    {82, 64 << 10},   // MAX_REGISTERS_PER_MULTIPROCESSOR
    {88, 0},          // PAGEABLE_MEMORY_ACCESS
    {90, 1},          // COMPUTE_PREEMPTION_SUPPORTED
    {91, 1},          // CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM
    {99, 0},          // HOST_REGISTER_SUPPORTED
    {100, 0},         // PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES
    {101, 0},         // DIRECT_MANAGED_MEM_ACCESS_FROM_HOST
    {111, 1024},      // RESERVED_SHARED_MEMORY_PER_BLOCK
};

static std::optional<int> deviceAttribute(int attribute) {
  const Settings &settings = Driver::get().settings;
  Chip chip = chipOf(settings.capability);
  switch (attribute) {
  case 16: // MULTIPROCESSOR_COUNT
    return int(settings.limits.multiprocessors);
  case 39: // MAX_THREADS_PER_MULTIPROCESSOR
    return chip.threadsPerMultiprocessor;
  case 75: // COMPUTE_CAPABILITY_MAJOR
    return int(settings.capability / 10);
  case 76: // COMPUTE_CAPABILITY_MINOR
    return int(settings.capability % 10);
  case 81: // MAX_SHARED_MEMORY_PER_MULTIPROCESSOR
    return chip.sharedPerMultiprocessor;
  case 83: // MANAGED_MEMORY
  case 89: // CONCURRENT_MANAGED_ACCESS
    return settings.hasManaged;
  case 95: // COOPERATIVE_LAUNCH
    return settings.hasCooperative;
  case 97: // MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
    return chip.sharedPerBlock;
  case 106: // MAX_BLOCKS_PER_MULTIPROCESSOR
    return chip.blocks;
  case 115: // MEMORY_POOLS_SUPPORTED
    return settings.hasPools;
  case 120: // CLUSTER_LAUNCH
    return settings.capability >= 90 && settings.mostInCluster;
  default:
    break;
  }
  auto found = fixedAttributes.find(attribute);
  if (found == fixedAttributes.end())
    return std::nullopt;
  return found->second;
}

CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice device) {
  return Driver::get().call(
      "cuDeviceGetAttribute", format(" attribute=%d", attribute), false,
      [&]() -> CUresult {
        if (!isDevice(device))
          return CUDA_ERROR_INVALID_DEVICE;
        std::optional<int> known = deviceAttribute(attribute);
        if (!value || !known)
          return CUDA_ERROR_INVALID_VALUE;
        *value = *known;
        return CUDA_SUCCESS;
      });
}

//===----------------------------------------------------------------------===//
// Memory pools
//===----------------------------------------------------------------------===//

static const CUmemoryPool kPool = reinterpret_cast<CUmemoryPool>(0x900150);

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice device) {
  Driver &driver = Driver::get();
  return driver.call("cuDeviceGetDefaultMemPool", "", false, [&]() -> CUresult {
    if (!pool)
      return CUDA_ERROR_INVALID_VALUE;
    if (!isDevice(device))
      return CUDA_ERROR_INVALID_DEVICE;
    if (!driver.settings.hasPools)
      return CUDA_ERROR_NOT_SUPPORTED;
    *pool = kPool;
    return CUDA_SUCCESS;
  });
}

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, int attribute, void *value) {
  Driver &driver = Driver::get();
  return driver.call(
      "cuMemPoolSetAttribute", format(" attribute=%d", attribute), false,
      [&]() -> CUresult {
        if (pool != kPool || !value || attribute < 1 || attribute > 8)
          return CUDA_ERROR_INVALID_VALUE;
        if (attribute == 4) { // RELEASE_THRESHOLD
          std::memcpy(&driver.poolThreshold, value, sizeof(uint64_t));
          driver.memory.setPoolLimit(driver.poolThreshold);
        }
        return CUDA_SUCCESS;
      });
}

CUresult cuMemPoolGetAttribute(CUmemoryPool pool, int attribute, void *value) {
  Driver &driver = Driver::get();
  return driver.call("cuMemPoolGetAttribute", "", false, [&]() -> CUresult {
    if (pool != kPool || !value || attribute != 4)
      return CUDA_ERROR_INVALID_VALUE;
    std::memcpy(value, &driver.poolThreshold, sizeof(uint64_t));
    return CUDA_SUCCESS;
  });
}

CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t bytes) {
  Driver &driver = Driver::get();
  return driver.call("cuMemPoolTrimTo", format(" bytes=%zu", bytes), false,
                     [&]() -> CUresult {
                       if (pool != kPool)
                         return CUDA_ERROR_INVALID_VALUE;
                       driver.memory.trimPool(bytes);
                       return CUDA_SUCCESS;
                     });
}

//===----------------------------------------------------------------------===//
// Contexts
//===----------------------------------------------------------------------===//

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
  return Driver::get().call("cuDevicePrimaryCtxRetain",
                            format(" device=%d", device), false,
                            [&]() -> CUresult {
                              if (!context)
                                return CUDA_ERROR_INVALID_VALUE;
                              if (!isDevice(device))
                                return CUDA_ERROR_INVALID_DEVICE;
                              *context = contextOf(device);
                              ++(*context)->retained;
                              return CUDA_SUCCESS;
                            });
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  Driver &driver = Driver::get();
  return driver.call("cuDevicePrimaryCtxRelease", format(" device=%d", device),
                     false, [&]() -> CUresult {
                       if (!isDevice(device))
                         return CUDA_ERROR_INVALID_DEVICE;
                       CUcontext context = contextOf(device);
                       if (!context->retained)
                         return CUDA_ERROR_INVALID_CONTEXT;
                       if (context->retained > 1) {
                         --context->retained;
                         return CUDA_SUCCESS;
                       }
                       driver.runAll();
                       destroyContext(context);
                       return CUDA_SUCCESS;
                     });
}

CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) {
  return Driver::get().call("cuDevicePrimaryCtxReset", "", false,
                            [&]() -> CUresult {
                              if (!isDevice(device))
                                return CUDA_ERROR_INVALID_DEVICE;
                              destroyContext(contextOf(device));
                              return CUDA_SUCCESS;
                            });
}

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned flags) {
  return Driver::get().call("cuDevicePrimaryCtxSetFlags",
                            format(" flags=%u", flags), false,
                            [&]() -> CUresult {
                              if (!isDevice(device))
                                return CUDA_ERROR_INVALID_DEVICE;
                              if (flags & ~0x1Fu)
                                return CUDA_ERROR_INVALID_VALUE;
                              contextOf(device)->flags = flags;
                              return CUDA_SUCCESS;
                            });
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags,
                                    int *active) {
  return Driver::get().call("cuDevicePrimaryCtxGetState", "", false,
                            [&]() -> CUresult {
                              if (!isDevice(device))
                                return CUDA_ERROR_INVALID_DEVICE;
                              if (!flags || !active)
                                return CUDA_ERROR_INVALID_VALUE;
                              *flags = contextOf(device)->flags;
                              *active = contextOf(device)->retained != 0;
                              return CUDA_SUCCESS;
                            });
}

CUresult cuCtxSetCurrent(CUcontext context) {
  return Driver::get().call("cuCtxSetCurrent", context ? "" : " null", false,
                            [&]() -> CUresult {
                              if (context && !isContext(context))
                                return CUDA_ERROR_INVALID_CONTEXT;
                              currentContext() = context;
                              return CUDA_SUCCESS;
                            });
}

CUresult cuCtxGetCurrent(CUcontext *context) {
  return Driver::get().call("cuCtxGetCurrent", "", false, [&]() -> CUresult {
    if (!context)
      return CUDA_ERROR_INVALID_VALUE;
    *context = currentContext();
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetDevice(CUdevice *device) {
  return Driver::get().call("cuCtxGetDevice", "", true, [&]() -> CUresult {
    if (!device)
      return CUDA_ERROR_INVALID_VALUE;
    *device = currentContext()->device;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxPushCurrent_v2(CUcontext context) {
  return Driver::get().call("cuCtxPushCurrent", "", false, [&]() -> CUresult {
    if (!isContext(context))
      return CUDA_ERROR_INVALID_CONTEXT;
    contextsOfThread().push_back(context);
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxPopCurrent_v2(CUcontext *context) {
  return Driver::get().call("cuCtxPopCurrent", "", false, [&]() -> CUresult {
    if (contextsOfThread().empty())
      return CUDA_ERROR_INVALID_CONTEXT;
    if (context)
      *context = contextsOfThread().back();
    contextsOfThread().pop_back();
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxSynchronize() {
  Driver &driver = Driver::get();
  return driver.call("cuCtxSynchronize", "", true, [&]() -> CUresult {
    ++driver.statistics.synchronizations;
    driver.runAll();
    return driver.status();
  });
}
