//===- Device.h - GPUs and what runs leave on them --------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Streams, controls and shared memory are slow to make: a device keeps those of
// runs that ended for the next. The primary context is retained once and never
// released, so that it does not go while other users of the driver in this
// process, or results on the device, need it.
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_LIB_RUNTIME_CUDA_DEVICE_H
#define LOOPC_LIB_RUNTIME_CUDA_DEVICE_H

#include "../CPU/Run.h"
#include "Driver.h"

#include "loopc-rt/cuda.h"

#include <pthread.h>

namespace loopc::rt::cuda {

/// Pinned memory that copies from and to other memory of the host go through,
/// in pieces: what a lane has of it is bounded, and made when it is needed.
inline constexpr size_t kStagingPieces = 4;
inline constexpr size_t kStagingBytes = 512 << 10;

struct StagingPiece {
  char *data;
  CUevent event;  ///< behind its last copy
  bool isPending; ///< which may still be under way
};

struct Staging {
  StagingPiece pieces[kStagingPieces];
  size_t next; ///< whose turn it is
};

/// What a run needs beside memory; used by one run at a time.
struct Lane {
  Lane *next;
  CUstream stream;              ///< null until a run without one needs it
  CUevent event;                ///< null until a run needs it
  CUdeviceptr control;          ///< a loopc_cuda_control
  loopc_cuda_control *readback; ///< pinned: where it is copied to
  volatile int32_t *cancelWord; ///< pinned: what it points to
  bool isClean;                 ///< the control is as a run needs it
  Staging staging;
  CUevent begin, end; ///< of a run that is timed; null until there is one
  void *cublas;       ///< its handle; null until a run needs it
  bool hasNoCublas;   ///< it could not be made
};

struct Device {
  int ordinal;
  CUdevice handle;
  CUcontext context;
  char name[128];
  int32_t capability; ///< 90 for 9.0
  int32_t numMultiprocessors;
  bool hasPools;        ///< cuMemAllocAsync
  CUmemoryPool pool;    ///< where that takes it from
  bool isCooperative;   ///< a grid may wait for itself
  bool hasClusters;     ///< of blocks, which a launch can ask for
  bool isManagedShared; ///< host and kernels may touch managed memory at once
  CUresult lost;        ///< why nothing works any more; CUDA_SUCCESS if it does
  char lostIn[256];     ///< what found that out

  pthread_mutex_t lock; ///< of what follows
  Lane *lanes;          ///< that no run uses
  /// Blocks of shared memory that no run uses, by size class.
  Block *shared[kNumSizeClasses];
  uint64_t sharedBytes; ///< their capacities
  char *slab;           ///< pinned memory that small blocks are cut from
  size_t slabRoom;
};

/// Device `ordinal`, opened by the first call for it; null after setting
/// `failure`. A device whose context was lost is refused.
Device *openDevice(int ordinal, Failure &failure);

/// Facts about a device without making a context.
bool describeDevice(int ordinal, loopc_cuda_device &result, Failure &failure);

/// True for results after which the context cannot be used any more.
bool isSticky(CUresult result);

/// Notes the results after which a context is of no more use. `where` is what
/// was done.
void noteResult(Device &device, CUresult result, const char *where);

/// Sets `failure`: "device 0: cuMemAlloc: CUDA_ERROR_... (...)".
int32_t setFailure(Failure &failure, Device &device, CUresult result,
                   const char *where);

/// Makes the device's context current for the calling thread while it lives.
class ContextScope {
public:
  explicit ContextScope(Device &device)
      : result(getDriver().cuCtxPushCurrent_v2(device.context)) {}
  ~ContextScope() {
    CUcontext context;
    if (result == CUDA_SUCCESS)
      getDriver().cuCtxPopCurrent_v2(&context);
  }
  ContextScope(const ContextScope &) = delete;
  ContextScope &operator=(const ContextScope &) = delete;

  const CUresult result;
};

/// A lane that no run uses, or a new one; with a stream where `needsStream`.
/// The context is current, here and below. Null after setting `failure`.
Lane *takeLane(Device &device, bool needsStream, Failure &failure);
void returnLane(Device &device, Lane *lane);

/// Memory of the device in the order of a stream: that of runs, results.
CUresult allocatePlain(Device &device, size_t bytes, CUstream stream,
                       CUdeviceptr &pointer);
/// Frees such memory, and that of runs, when what was begun on `stream` is
/// done.
void freePlain(Device &device, CUdeviceptr pointer, CUstream stream);

/// Memory that stays until cuMemFree: constants, what graphs work on.
CUresult allocateLasting(Device &device, size_t bytes, CUdeviceptr &pointer);

/// Gives what the pool keeps of memory that nobody has back to the system:
/// nobody else in this process or another gets it before.
void trimPool(Device &device);

/// A block of at least `bytes` bytes that host and kernels reach, aligned to
/// 256 bytes; null with the reason in `result`.
Block *takeShared(Device &device, size_t bytes, CUresult &result);
/// Nothing that was begun uses the block any more.
void returnShared(Device &device, Block *block);

} // namespace loopc::rt::cuda

#endif // LOOPC_LIB_RUNTIME_CUDA_DEVICE_H
