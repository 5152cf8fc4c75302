//===- Gpu.h - What a run has on a GPU --------------------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Used by the thread of the run alone, except for `deferred`: compiled code may
// free shared memory within a parallel loop.
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_LIB_RUNTIME_CUDA_GPU_H
#define LOOPC_LIB_RUNTIME_CUDA_GPU_H

#include "Device.h"

namespace loopc::rt::cuda {

/// Memory of a run that kernels alone reach.
struct DeviceBlock {
  DeviceBlock *next; ///< in its bucket, or in the cache
  CUdeviceptr pointer;
  size_t bytes; ///< as asked for
  size_t capacity;
  uint32_t sizeClass; ///< kNumSizeClasses: not cached
  bool byModel;       ///< counted in the statistics
  bool isResult;      ///< what loopc_rt_cuda_output() returned
};

/// Memory of the host, and where kernels find the same bytes.
struct Mapping {
  const char *host;
  int64_t bytes;
  char *device;
  int32_t space;
  bool isCallers; ///< any part of it may be asked for
};

struct LoadedProgram;
struct GraphInstance;

} // namespace loopc::rt::cuda

namespace loopc::rt {
struct Gpu {
  cuda::Device *device;
  cuda::Lane *lane;
  cuda::CUstream stream;
  loopc_cuda_program *program; ///< whose kernels run; null before the first
  cuda::LoadedProgram *loaded; ///< the same on the device
  bool isBusy;                 ///< work was begun since the last wait
  bool isUnchecked; ///< kernels were begun since the control was read
  bool isUnknown;   ///< the driver could not say whether work is done
  bool isTimed;     ///< the lane's first event was recorded
  bool hasEnd;      ///< and its second one
  /// The kernel that was begun last, for messages: 1 + its number in `program`;
  /// 0: none.
  int32_t lastKernel;

  cuda::GraphInstance *graphs; ///< that the run has

  Block *deferred; ///< shared blocks that kernels may still use

  cuda::DeviceBlock **buckets; ///< live blocks by address
  size_t numBuckets;           ///< 0 or a power of two
  size_t numBlocks;
  cuda::DeviceBlock *cache[kNumSizeClasses];
  uint64_t cachedBytes;
  uint64_t heldBytes; ///< capacities of live blocks
  uint64_t peakBytes; ///< most of them

  cuda::Mapping *mappings;
  size_t numMappings;
  size_t mappingsRoom;
};
} // namespace loopc::rt

namespace loopc::rt::cuda {

/// Records a result of the driver as the run's error; `where` is what was done.
int32_t recordResult(loopc_run &run, CUresult result, const char *where);

/// Records `failure`.
int32_t recordFailure(loopc_run &run, const Failure &failure);

/// Waits until all that was begun is done, asking whether the run shall end.
/// \returns the status of the run.
int32_t waitForStream(loopc_run &run);

/// The same for what was begun before `event`.
int32_t waitForEvent(loopc_run &run, CUevent event);

//===----------------------------------------------------------------------===//
// Staging.cpp
//===----------------------------------------------------------------------===//

/// Makes the lane's pinned memory; false where there is none to be had, and
/// copies go as the driver does them.
bool prepareStaging(Gpu &gpu);

/// Copies by way of it. The source may be reused on return.
int32_t stageToDevice(loopc_run &run, void *dst, const void *src, size_t bytes);

/// Copies by way of it to memory of the host, where the bytes are on return.
int32_t stageToHost(loopc_run &run, void *dst, const void *src, size_t bytes);

//===----------------------------------------------------------------------===//
// Memory.cpp
//===----------------------------------------------------------------------===//

/// Device memory of the run, in the order of its stream; null after recording
/// an error.
DeviceBlock *allocateDevice(loopc_run &run, int64_t bytes, bool byModel);

/// The live block that begins at `pointer`, or null.
DeviceBlock *findDeviceBlock(Gpu &gpu, const void *pointer);

/// Takes a block out of the run, which no longer frees it; frees the record.
void detachDeviceBlock(loopc_run &run, DeviceBlock *block);

/// Gives shared blocks that were freed back to the device: nothing that was
/// begun uses them.
void releaseDeferred(Gpu &gpu);

/// Frees all device memory and mappings.
void releaseDeviceMemory(loopc_run &run);

/// Adds a mapping; false after recording an error.
bool addMapping(loopc_run &run, const Mapping &mapping);

/// Copies between any two kinds of memory. The source may be reused on return,
/// unless it is pinned or shared.
int32_t copyAny(loopc_run &run, void *dst, const void *src, size_t bytes);

//===----------------------------------------------------------------------===//
// Program.cpp
//===----------------------------------------------------------------------===//

struct Kernel {
  CUfunction function;   ///< null until it is needed
  uint64_t residentGrid; ///< threads in the high word, blocks in the low one
  /// The smallest cluster that the device refused; 0: none.
  uint32_t refusedCluster;
};

/// A weight of a program on a device.
struct Constant {
  const void *host;
  int64_t bytes;
  int32_t space;
  CUdeviceptr device;
  Block *shared; ///< where it lies, of LOOPC_CUDA_SHARED
};

/// The code of a program on one device.
struct LoadedProgram {
  LoadedProgram *next;
  Device *device;
  CUmodule module;
  Kernel *kernels;
  pthread_mutex_t lock; ///< of what follows
  Constant *constants;  ///< a hash table; `host` is null where one is free
  size_t numConstants;
  size_t constantsRoom;  ///< 0 or a power of two
  GraphInstance *graphs; ///< that no run has
  size_t numGraphs;
};

/// The program on the device, loaded by the first call; null after setting
/// `failure`.
LoadedProgram *loadProgram(loopc_cuda_program &program, Device &device,
                           Failure &failure);

/// The kernel, ready to be launched; null after setting `failure`.
Kernel *getKernel(loopc_cuda_program &program, LoadedProgram &loaded,
                  int32_t number, Failure &failure);

/// Where the weight lies on the device; null after recording an error.
void *getConstant(loopc_run &run, LoadedProgram &loaded, const void *host,
                  int64_t bytes, int32_t space);

//===----------------------------------------------------------------------===//
// Graph.cpp
//===----------------------------------------------------------------------===//

/// Gives the graphs of a run, whose work is done, back to their programs.
void releaseGraphs(Gpu &gpu);

/// Destroys the graphs that no run has. `isUsable`: the context was not lost.
void destroyGraphs(LoadedProgram &loaded, bool isUsable);

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// The run's part on the device, with the program's code; null after recording
/// an error. Every function but begin comes after it.
Gpu *getGpuFor(loopc_run &run, loopc_cuda_program &program);

/// "kernel 'main_0' of main/#3 Loop (opset 21)".
struct KernelText {
  KernelText(const loopc_cuda_program &program, int32_t number);
  char text[200];
};

/// Records that a kernel, or a graph that begins with it, could not be begun.
int32_t failLaunch(loopc_run &run, const loopc_cuda_program &program,
                   int32_t number, CUresult result);

} // namespace loopc::rt::cuda

#endif // LOOPC_LIB_RUNTIME_CUDA_GPU_H
