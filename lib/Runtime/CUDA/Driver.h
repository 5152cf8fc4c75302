//===- Driver.h - The CUDA driver, opened by name ---------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The functions of libcuda.so.1 that the runtime calls. They are looked up when
// the first run needs them; neither a toolkit's header nor a library is needed
// to build or to link.
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_LIB_RUNTIME_CUDA_DRIVER_H
#define LOOPC_LIB_RUNTIME_CUDA_DRIVER_H

#include <stddef.h>
#include <stdint.h>

struct CUctx_st;
struct CUmod_st;
struct CUfunc_st;
struct CUstream_st;
struct CUevent_st;
struct CUmemPoolHandle_st;
struct CUgraph_st;
struct CUgraphNode_st;
struct CUgraphExec_st;

namespace loopc::rt::cuda {

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = CUctx_st *;
using CUmodule = CUmod_st *;
using CUfunction = CUfunc_st *;
using CUstream = CUstream_st *;
using CUevent = CUevent_st *;
using CUmemoryPool = CUmemPoolHandle_st *;
using CUgraph = CUgraph_st *;
using CUgraphNode = CUgraphNode_st *;
using CUgraphExec = CUgraphExec_st *;
using CUgraphHandle = unsigned long long; ///< of a condition

/// Results that are told apart.
enum : CUresult {
  CUDA_SUCCESS = 0,
  CUDA_ERROR_OUT_OF_MEMORY = 2,
  CUDA_ERROR_NO_DEVICE = 100,
  CUDA_ERROR_INVALID_CONTEXT = 201,
  CUDA_ERROR_ECC_UNCORRECTABLE = 214,
  CUDA_ERROR_NVLINK_UNCORRECTABLE = 220,
  CUDA_ERROR_CONTAINED = 226,
  CUDA_ERROR_NOT_READY = 600,
  CUDA_ERROR_ILLEGAL_ADDRESS = 700,
  CUDA_ERROR_LAUNCH_TIMEOUT = 702,
  CUDA_ERROR_CONTEXT_IS_DESTROYED = 709,
  CUDA_ERROR_ASSERT = 710,
  CUDA_ERROR_HARDWARE_STACK_ERROR = 714,
  CUDA_ERROR_LAUNCH_FAILED = 719,
  CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE = 720,
  CUDA_ERROR_TENSOR_MEMORY_LEAK = 721,
  CUDA_ERROR_MPS_CLIENT_TERMINATED = 810,
  CUDA_ERROR_STREAM_CAPTURE_IMPLICIT = 906,
  CUDA_ERROR_EXTERNAL_DEVICE = 911,
  CUDA_ERROR_INVALID_CLUSTER_SIZE = 912
};

/// Attributes of devices.
enum {
  kMultiprocessorCount = 16,
  kCapabilityMajor = 75,
  kCapabilityMinor = 76,
  kConcurrentManagedAccess = 89,
  kCooperativeLaunch = 95,
  kMemoryPoolsSupported = 115,
  kClusterLaunch = 120
};

/// The default stream, which blocking streams wait for.
inline constexpr CUstream kDefaultStream = nullptr;

inline constexpr unsigned kStreamNonBlocking = 1;
inline constexpr unsigned kEventDefault = 0;
inline constexpr unsigned kEventDisableTiming = 2;
inline constexpr unsigned kHostAllocPortable = 1;
inline constexpr unsigned kHostAllocDeviceMap = 2;
inline constexpr unsigned kAttachGlobal = 1;
inline constexpr int kPoolReleaseThreshold = 4;
inline constexpr int kPointerMemoryType = 2;
/// Options of cuModuleLoadDataEx.
inline constexpr int kJitErrorLog = 5;
inline constexpr int kJitErrorLogBytes = 6;

/// Conditional nodes of graphs came with CUDA 12.4.
inline constexpr int kGraphDriver = 12040;

/// Attribute of a launch.
inline constexpr int kClusterDimension = 4;

inline constexpr int kKernelNode = 0;
inline constexpr int kConditionalNode = 13;
inline constexpr int kIfNode = 0;
inline constexpr int kWhileNode = 1;

/// A CUgraphNodeParams. What a kind of node does not use is zero.
// NOLINTBEGIN(readability-identifier-naming)
struct CUgraphNodeParams {
  int type;
  int reserved0[3];
  union {
    long long reserved1[29];
    struct {
      CUfunction func;
      unsigned gridDimX, gridDimY, gridDimZ;
      unsigned blockDimX, blockDimY, blockDimZ;
      unsigned sharedMemBytes;
      void **kernelParams;
      void **extra;
      void *kern;
      CUcontext ctx;
    } kernel;
    struct {
      CUgraphHandle handle;
      int type;
      unsigned size;
      CUgraph *phGraph_out; ///< the driver's: the graph of the body
      CUcontext ctx;
    } conditional;
  };
  long long reserved2;
};
static_assert(sizeof(CUgraphNodeParams) == 256);

struct CUlaunchAttribute {
  int id;
  char pad[4];
  union {
    char reserved[64];
    struct {
      unsigned x, y, z;
    } clusterDim;
  } value;
};
static_assert(sizeof(CUlaunchAttribute) == 72);

struct CUlaunchConfig {
  unsigned gridDimX, gridDimY, gridDimZ;
  unsigned blockDimX, blockDimY, blockDimZ;
  unsigned sharedMemBytes;
  CUstream hStream;
  CUlaunchAttribute *attrs;
  unsigned numAttrs;
};
// NOLINTEND(readability-identifier-naming)
static_assert(sizeof(CUlaunchConfig) == 56);

// X(symbol, parameters)
#define LOOPC_CUDA_DRIVER(X)                                                   \
  X(cuInit, (unsigned flags))                                                  \
  X(cuGetErrorName, (CUresult result, const char **text))                      \
  X(cuGetErrorString, (CUresult result, const char **text))                    \
  X(cuDeviceGetCount, (int *count))                                            \
  X(cuDeviceGet, (CUdevice * device, int ordinal))                             \
  X(cuDeviceGetName, (char *name, int bytes, CUdevice device))                 \
  X(cuDeviceGetAttribute, (int *value, int attribute, CUdevice device))        \
  X(cuDevicePrimaryCtxRetain, (CUcontext * context, CUdevice device))          \
  X(cuCtxPushCurrent_v2, (CUcontext context))                                  \
  X(cuCtxPopCurrent_v2, (CUcontext * context))                                 \
  X(cuModuleLoadDataEx, (CUmodule * module, const void *image,                 \
                         unsigned numOptions, int *options, void **values))    \
  X(cuModuleUnload, (CUmodule module))                                         \
  X(cuModuleGetFunction,                                                       \
    (CUfunction * function, CUmodule module, const char *name))                \
  X(cuOccupancyMaxActiveBlocksPerMultiprocessor,                               \
    (int *blocks, CUfunction function, int threads, size_t sharedBytes))       \
  X(cuLaunchKernel,                                                            \
    (CUfunction function, unsigned gridX, unsigned gridY, unsigned gridZ,      \
     unsigned blockX, unsigned blockY, unsigned blockZ, unsigned sharedBytes,  \
     CUstream stream, void **arguments, void **extra))                         \
  X(cuLaunchCooperativeKernel,                                                 \
    (CUfunction function, unsigned gridX, unsigned gridY, unsigned gridZ,      \
     unsigned blockX, unsigned blockY, unsigned blockZ, unsigned sharedBytes,  \
     CUstream stream, void **arguments))                                       \
  X(cuStreamCreate, (CUstream * stream, unsigned flags))                       \
  X(cuStreamQuery, (CUstream stream))                                          \
  X(cuStreamSynchronize, (CUstream stream))                                    \
  X(cuStreamWaitEvent, (CUstream stream, CUevent event, unsigned flags))       \
  X(cuEventCreate, (CUevent * event, unsigned flags))                          \
  X(cuEventRecord, (CUevent event, CUstream stream))                           \
  X(cuEventQuery, (CUevent event))                                             \
  X(cuEventElapsedTime, (float *milliseconds, CUevent begin, CUevent end))     \
  X(cuEventDestroy_v2, (CUevent event))                                        \
  X(cuMemAlloc_v2, (CUdeviceptr * pointer, size_t bytes))                      \
  X(cuMemFree_v2, (CUdeviceptr pointer))                                       \
  X(cuMemHostAlloc, (void **pointer, size_t bytes, unsigned flags))            \
  X(cuMemFreeHost, (void *pointer))                                            \
  X(cuMemAllocManaged, (CUdeviceptr * pointer, size_t bytes, unsigned flags))  \
  X(cuMemcpyAsync,                                                             \
    (CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream))         \
  X(cuMemcpyHtoDAsync_v2,                                                      \
    (CUdeviceptr dst, const void *src, size_t bytes, CUstream stream))         \
  X(cuMemcpyDtoHAsync_v2,                                                      \
    (void *dst, CUdeviceptr src, size_t bytes, CUstream stream))               \
  X(cuMemcpyDtoDAsync_v2,                                                      \
    (CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream))         \
  X(cuMemsetD8Async,                                                           \
    (CUdeviceptr dst, unsigned char value, size_t count, CUstream stream))

/// The same, for what older drivers lack: null there.
#define LOOPC_CUDA_DRIVER_OPTIONAL(X)                                          \
  X(cuDeviceGetDefaultMemPool, (CUmemoryPool * pool, CUdevice device))         \
  X(cuMemPoolSetAttribute, (CUmemoryPool pool, int attribute, void *value))    \
  X(cuMemAllocAsync, (CUdeviceptr * pointer, size_t bytes, CUstream stream))   \
  X(cuMemFreeAsync, (CUdeviceptr pointer, CUstream stream))                    \
  X(cuMemPoolTrimTo, (CUmemoryPool pool, size_t bytes))                        \
  X(cuStreamGetCtx, (CUstream stream, CUcontext * context))                    \
  X(cuStreamIsCapturing, (CUstream stream, int *status))                       \
  X(cuPointerGetAttributes,                                                    \
    (unsigned count, int *attributes, void **values, CUdeviceptr pointer))     \
  X(cuDriverGetVersion, (int *version))                                        \
  X(cuLaunchKernelEx, (const CUlaunchConfig *config, CUfunction function,      \
                       void **arguments, void **extra))                        \
  X(cuGraphCreate, (CUgraph * graph, unsigned flags))                          \
  X(cuGraphAddNode_v2,                                                         \
    (CUgraphNode * node, CUgraph graph, const CUgraphNode *dependencies,       \
     const void *edges, size_t count, CUgraphNodeParams *parameters))          \
  X(cuGraphConditionalHandleCreate,                                            \
    (CUgraphHandle * handle, CUgraph graph, CUcontext context, unsigned value, \
     unsigned flags))                                                          \
  X(cuGraphInstantiateWithFlags,                                               \
    (CUgraphExec * exec, CUgraph graph, unsigned long long flags))             \
  X(cuGraphLaunch, (CUgraphExec exec, CUstream stream))                        \
  X(cuGraphExecDestroy, (CUgraphExec exec))                                    \
  X(cuGraphDestroy, (CUgraph graph))

/// The driver's functions by name.
// NOLINTBEGIN(readability-identifier-naming)
struct Driver {
#define LOOPC_CUDA_MEMBER(name, parameters) CUresult(*name) parameters;
  LOOPC_CUDA_DRIVER(LOOPC_CUDA_MEMBER)
  LOOPC_CUDA_DRIVER_OPTIONAL(LOOPC_CUDA_MEMBER)
#undef LOOPC_CUDA_MEMBER
};
// NOLINTEND(readability-identifier-naming)

/// Why something failed, where there is no run to record it in.
struct Failure {
  int32_t status = 0; ///< a loopc_status
  char text[1020] = {};

  /// Sets both; \returns the status.
  int32_t set(int32_t status, const char *format, ...)
      __attribute__((format(printf, 3, 4)));
};

/// The driver, opened and initialised; null after setting `failure`. The
/// environment variable LOOPC_CUDA_DRIVER names another library. A process that
/// was forked has nothing of the driver that the one before it initialised.
const Driver *openDriver(Failure &failure);

/// False after setting `failure` where another process opened the driver.
bool isOwnDriver(Failure &failure);

/// The driver where openDriver() succeeded before.
const Driver &getDriver();

/// True where graphs with conditions can be made; sets `failure` else.
bool checkGraphDriver(Failure &failure);

/// "CUDA_ERROR_OUT_OF_MEMORY (out of memory)".
struct ResultText {
  explicit ResultText(CUresult result);
  char text[256];
};

} // namespace loopc::rt::cuda

#endif // LOOPC_LIB_RUNTIME_CUDA_DRIVER_H
