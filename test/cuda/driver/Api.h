//===- Api.h - The part of the driver API that is there ------- -*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What cuda.h of the toolkit declares, as far as the compiler's runtime may
// call it: names, values and signatures are those of the driver.
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_TEST_CUDA_API_H
#define LOOPC_TEST_CUDA_API_H

#include <cstddef>
#include <cstdint>

extern "C" {

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = struct CUctx_st *;
using CUmodule = struct CUmod_st *;
using CUfunction = struct CUfunc_st *;
using CUstream = struct CUstream_st *;
using CUevent = struct CUevent_st *;
using CUmemoryPool = struct CUmemPoolHandle_st *;
using CUgraph = struct CUgraph_st *;
using CUgraphNode = struct CUgraphNode_st *;
using CUgraphExec = struct CUgraphExec_st *;
using CUgraphConditionalHandle = uint64_t;
struct CUuuid {
  char bytes[16];
};

enum : CUresult {
  CUDA_SUCCESS = 0,
  CUDA_ERROR_INVALID_VALUE = 1,
  CUDA_ERROR_OUT_OF_MEMORY = 2,
  CUDA_ERROR_NOT_INITIALIZED = 3,
  CUDA_ERROR_DEINITIALIZED = 4,
  CUDA_ERROR_NO_DEVICE = 100,
  CUDA_ERROR_INVALID_DEVICE = 101,
  CUDA_ERROR_INVALID_IMAGE = 200,
  CUDA_ERROR_INVALID_CONTEXT = 201,
  CUDA_ERROR_NO_BINARY_FOR_GPU = 209,
  CUDA_ERROR_INVALID_PTX = 218,
  CUDA_ERROR_UNSUPPORTED_PTX_VERSION = 222,
  CUDA_ERROR_INVALID_HANDLE = 400,
  CUDA_ERROR_NOT_FOUND = 500,
  CUDA_ERROR_NOT_READY = 600,
  CUDA_ERROR_ILLEGAL_ADDRESS = 700,
  CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES = 701,
  CUDA_ERROR_LAUNCH_TIMEOUT = 702,
  CUDA_ERROR_CONTEXT_IS_DESTROYED = 709,
  CUDA_ERROR_ASSERT = 710,
  CUDA_ERROR_ILLEGAL_INSTRUCTION = 715,
  CUDA_ERROR_MISALIGNED_ADDRESS = 716,
  CUDA_ERROR_INVALID_ADDRESS_SPACE = 717,
  CUDA_ERROR_INVALID_PC = 718,
  CUDA_ERROR_LAUNCH_FAILED = 719,
  CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE = 720,
  CUDA_ERROR_NOT_PERMITTED = 800,
  CUDA_ERROR_NOT_SUPPORTED = 801,
  CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED = 900,
  CUDA_ERROR_STREAM_CAPTURE_INVALIDATED = 901,
  CUDA_ERROR_INVALID_CLUSTER_SIZE = 912,
  CUDA_ERROR_UNKNOWN = 999,
};

/// A CUstreamCaptureStatus.
enum {
  CU_STREAM_CAPTURE_STATUS_NONE = 0,
  CU_STREAM_CAPTURE_STATUS_ACTIVE = 1,
  CU_STREAM_CAPTURE_STATUS_INVALIDATED = 2
};

/// A CUmemLocation of cuMemPrefetchAsync_v2 and cuMemAdvise_v2.
struct CUmemLocation {
  int type, id;
};

/// Attributes of launches that are there, of a CUlaunchAttributeID.
enum {
  CU_LAUNCH_ATTRIBUTE_COOPERATIVE = 2,
  CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION = 4
};
struct CUlaunchAttribute {
  int id;
  char pad[4];
  union {
    char reserved[64];
    int cooperative;
    struct {
      unsigned x, y, z;
    } clusterDim;
  } value;
};
struct CUlaunchConfig {
  unsigned gridDimX, gridDimY, gridDimZ;
  unsigned blockDimX, blockDimY, blockDimZ;
  unsigned sharedMemBytes;
  CUstream hStream;
  CUlaunchAttribute *attrs;
  unsigned numAttrs;
};

/// Kinds of nodes that are there, of a CUgraphNodeType.
enum { CU_GRAPH_NODE_TYPE_KERNEL = 0, CU_GRAPH_NODE_TYPE_CONDITIONAL = 13 };
/// Kinds of a CUgraphConditionalNodeType.
enum { CU_GRAPH_COND_TYPE_IF = 0, CU_GRAPH_COND_TYPE_WHILE = 1 };
inline constexpr unsigned CU_GRAPH_COND_ASSIGN_DEFAULT = 1;

struct CUDA_KERNEL_NODE_PARAMS {
  CUfunction func;
  unsigned gridDimX, gridDimY, gridDimZ;
  unsigned blockDimX, blockDimY, blockDimZ;
  unsigned sharedMemBytes;
  void **kernelParams;
  void **extra;
  void *kern;
  CUcontext ctx;
};
struct CUDA_CONDITIONAL_NODE_PARAMS {
  CUgraphConditionalHandle handle;
  int type;
  unsigned size;
  CUgraph *phGraph_out;
  CUcontext ctx;
};
struct CUgraphNodeParams {
  int type;
  int reserved0[3];
  union {
    long long reserved1[29];
    CUDA_KERNEL_NODE_PARAMS kernel;
    CUDA_CONDITIONAL_NODE_PARAMS conditional;
  };
  long long reserved2;
};
struct CUgraphEdgeData {
  unsigned char from_port, to_port, type, reserved[5];
};

#define FAKE_CUDA_API __attribute__((visibility("default"))) CUresult

FAKE_CUDA_API cuInit(unsigned flags);
FAKE_CUDA_API cuDriverGetVersion(int *version);
FAKE_CUDA_API cuGetErrorName(CUresult error, const char **name);
FAKE_CUDA_API cuGetErrorString(CUresult error, const char **text);
FAKE_CUDA_API cuGetProcAddress_v2(const char *symbol, void **function,
                                  int version, uint64_t flags, int *status);

FAKE_CUDA_API cuDeviceGetCount(int *count);
FAKE_CUDA_API cuDeviceGet(CUdevice *device, int ordinal);
FAKE_CUDA_API cuDeviceGetName(char *name, int length, CUdevice device);
FAKE_CUDA_API cuDeviceGetUuid(CUuuid *uuid, CUdevice device);
FAKE_CUDA_API cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device);
FAKE_CUDA_API cuDeviceTotalMem_v2(size_t *bytes, CUdevice device);
FAKE_CUDA_API cuDeviceGetAttribute(int *value, int attribute, CUdevice device);
FAKE_CUDA_API cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice device);
FAKE_CUDA_API cuMemPoolSetAttribute(CUmemoryPool pool, int attribute,
                                    void *value);
FAKE_CUDA_API cuMemPoolGetAttribute(CUmemoryPool pool, int attribute,
                                    void *value);
FAKE_CUDA_API cuMemPoolTrimTo(CUmemoryPool pool, size_t bytes);

FAKE_CUDA_API cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device);
FAKE_CUDA_API cuDevicePrimaryCtxRelease_v2(CUdevice device);
FAKE_CUDA_API cuDevicePrimaryCtxReset_v2(CUdevice device);
FAKE_CUDA_API cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned flags);
FAKE_CUDA_API cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags,
                                         int *active);
FAKE_CUDA_API cuCtxSetCurrent(CUcontext context);
FAKE_CUDA_API cuCtxGetCurrent(CUcontext *context);
FAKE_CUDA_API cuCtxGetDevice(CUdevice *device);
FAKE_CUDA_API cuCtxPushCurrent_v2(CUcontext context);
FAKE_CUDA_API cuCtxPopCurrent_v2(CUcontext *context);
FAKE_CUDA_API cuCtxSynchronize();

FAKE_CUDA_API cuModuleLoadData(CUmodule *module, const void *image);
FAKE_CUDA_API cuModuleLoadDataEx(CUmodule *module, const void *image,
                                 unsigned count, int *options, void **values);
FAKE_CUDA_API cuModuleUnload(CUmodule module);
FAKE_CUDA_API cuModuleGetFunction(CUfunction *function, CUmodule module,
                                  const char *name);
FAKE_CUDA_API cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *bytes,
                                   CUmodule module, const char *name);
FAKE_CUDA_API cuFuncGetAttribute(int *value, int attribute,
                                 CUfunction function);
FAKE_CUDA_API cuFuncSetAttribute(CUfunction function, int attribute, int value);
FAKE_CUDA_API cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks,
                                                          CUfunction function,
                                                          int threads,
                                                          size_t sharedBytes);
FAKE_CUDA_API cuLaunchKernel(CUfunction function, unsigned gridX,
                             unsigned gridY, unsigned gridZ, unsigned blockX,
                             unsigned blockY, unsigned blockZ,
                             unsigned sharedBytes, CUstream stream,
                             void **params, void **extra);
FAKE_CUDA_API cuLaunchCooperativeKernel(CUfunction function, unsigned gridX,
                                        unsigned gridY, unsigned gridZ,
                                        unsigned blockX, unsigned blockY,
                                        unsigned blockZ, unsigned sharedBytes,
                                        CUstream stream, void **params);
FAKE_CUDA_API cuLaunchKernelEx(const CUlaunchConfig *config,
                               CUfunction function, void **params,
                               void **extra);
FAKE_CUDA_API cuLaunchHostFunc(CUstream stream, void (*function)(void *),
                               void *data);

FAKE_CUDA_API cuMemGetInfo_v2(size_t *free, size_t *total);
FAKE_CUDA_API cuMemAlloc_v2(CUdeviceptr *pointer, size_t bytes);
FAKE_CUDA_API cuMemFree_v2(CUdeviceptr pointer);
FAKE_CUDA_API cuMemAllocAsync(CUdeviceptr *pointer, size_t bytes,
                              CUstream stream);
FAKE_CUDA_API cuMemFreeAsync(CUdeviceptr pointer, CUstream stream);
FAKE_CUDA_API cuMemAllocManaged(CUdeviceptr *pointer, size_t bytes,
                                unsigned flags);
FAKE_CUDA_API cuMemHostAlloc(void **pointer, size_t bytes, unsigned flags);
FAKE_CUDA_API cuMemAllocHost_v2(void **pointer, size_t bytes);
FAKE_CUDA_API cuMemHostGetDevicePointer_v2(CUdeviceptr *pointer, void *host,
                                           unsigned flags);
FAKE_CUDA_API cuMemFreeHost(void *pointer);
FAKE_CUDA_API cuPointerGetAttribute(void *data, int attribute,
                                    CUdeviceptr pointer);
FAKE_CUDA_API cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes);
FAKE_CUDA_API cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes,
                            CUstream stream);
FAKE_CUDA_API cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes);
FAKE_CUDA_API cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes);
FAKE_CUDA_API cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes);
FAKE_CUDA_API cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from,
                                   size_t bytes, CUstream stream);
FAKE_CUDA_API cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes,
                                   CUstream stream);
FAKE_CUDA_API cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from,
                                   size_t bytes, CUstream stream);
FAKE_CUDA_API cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t count);
FAKE_CUDA_API cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count,
                              CUstream stream);
FAKE_CUDA_API cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count,
                               CUstream stream);
FAKE_CUDA_API cuMemPrefetchAsync(CUdeviceptr pointer, size_t bytes,
                                 CUdevice device, CUstream stream);
FAKE_CUDA_API cuMemPrefetchAsync_v2(CUdeviceptr pointer, size_t bytes,
                                    CUmemLocation location, unsigned flags,
                                    CUstream stream);
FAKE_CUDA_API cuMemAdvise(CUdeviceptr pointer, size_t bytes, int advice,
                          CUdevice device);
FAKE_CUDA_API cuMemAdvise_v2(CUdeviceptr pointer, size_t bytes, int advice,
                             CUmemLocation location);

FAKE_CUDA_API cuStreamCreate(CUstream *stream, unsigned flags);
FAKE_CUDA_API cuStreamCreateWithPriority(CUstream *stream, unsigned flags,
                                         int priority);
FAKE_CUDA_API cuStreamDestroy_v2(CUstream stream);
FAKE_CUDA_API cuStreamSynchronize(CUstream stream);
FAKE_CUDA_API cuStreamQuery(CUstream stream);
FAKE_CUDA_API cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags);
FAKE_CUDA_API cuStreamGetCtx(CUstream stream, CUcontext *context);
FAKE_CUDA_API cuStreamBeginCapture_v2(CUstream stream, int mode);
FAKE_CUDA_API cuStreamEndCapture(CUstream stream, CUgraph *graph);
FAKE_CUDA_API cuStreamIsCapturing(CUstream stream, int *status);
FAKE_CUDA_API cuEventCreate(CUevent *event, unsigned flags);
FAKE_CUDA_API cuEventRecord(CUevent event, CUstream stream);
FAKE_CUDA_API cuEventSynchronize(CUevent event);
FAKE_CUDA_API cuEventQuery(CUevent event);
FAKE_CUDA_API cuEventElapsedTime(float *milliseconds, CUevent begin,
                                 CUevent end);
FAKE_CUDA_API cuEventElapsedTime_v2(float *milliseconds, CUevent begin,
                                    CUevent end);
FAKE_CUDA_API cuEventDestroy_v2(CUevent event);

FAKE_CUDA_API cuGraphCreate(CUgraph *graph, unsigned flags);
FAKE_CUDA_API cuGraphAddNode_v2(CUgraphNode *node, CUgraph graph,
                                const CUgraphNode *dependencies,
                                const CUgraphEdgeData *edges, size_t count,
                                CUgraphNodeParams *params);
FAKE_CUDA_API cuGraphConditionalHandleCreate(CUgraphConditionalHandle *handle,
                                             CUgraph graph, CUcontext context,
                                             unsigned value, unsigned flags);
FAKE_CUDA_API cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph,
                                          unsigned long long flags);
FAKE_CUDA_API cuGraphLaunch(CUgraphExec exec, CUstream stream);
FAKE_CUDA_API cuGraphExecDestroy(CUgraphExec exec);
FAKE_CUDA_API cuGraphDestroy(CUgraph graph);

} // extern "C"

#endif // LOOPC_TEST_CUDA_API_H
