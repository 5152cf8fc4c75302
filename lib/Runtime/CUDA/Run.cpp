//===- Run.cpp - Runs on a GPU --------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Waiting is asking the driver again and again, so that a run can be cancelled
// and ends by its deadline while a kernel computes: the kernel then finds a
// word of the host's memory changed.
//
//===----------------------------------------------------------------------===//

#include "Border.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

using namespace loopc::rt;
using namespace loopc::rt::cuda;

int32_t loopc::rt::cuda::recordFailure(loopc_run &run, const Failure &failure) {
  return recordError(run, failure.status, "%s", failure.text);
}

int32_t loopc::rt::cuda::recordResult(loopc_run &run, CUresult result,
                                      const char *where) {
  Failure failure;
  setFailure(failure, *run.gpu->device, result, where);
  return recordFailure(run, failure);
}

//===----------------------------------------------------------------------===//
// Waiting
//===----------------------------------------------------------------------===//

/// How long a thread looks for the end before it lets others run, and before it
/// sleeps.
static constexpr int64_t kAwakeNanoseconds = 50'000;
static constexpr int64_t kYieldNanoseconds = 1'000'000;
static constexpr int64_t kLongestSleep = 500'000;

/// Gives time to others: more, the longer it has taken already. At most an
/// eighth of the time is lost by sleeping too long.
static void backOff(int64_t waited) {
  if (waited < kAwakeNanoseconds)
    return;
  if (waited < kYieldNanoseconds) {
    sched_yield();
    return;
  }
  int64_t time = waited / 8 < kLongestSleep ? waited / 8 : kLongestSleep;
  timespec duration = {0, static_cast<long>(time)};
  nanosleep(&duration, nullptr);
}

KernelText::KernelText(const loopc_cuda_program &program, int32_t number) {
  const char *node = program.nodes ? program.nodes[number] : "";
  snprintf(text, sizeof(text), "kernel '%s'%s%s", program.kernels[number],
           *node ? " of " : "", node);
}

/// Records what the driver said of work that was begun earlier.
static int32_t recordLateResult(loopc_run &run, CUresult result) {
  int32_t last = run.gpu->lastKernel;
  char where[256];
  if (last)
    snprintf(where, sizeof(where), "%s, or one before it",
             KernelText(*run.gpu->program, last - 1).text);
  else
    snprintf(where, sizeof(where), "copying");
  return recordResult(run, result, where);
}

/// Asks until `query` says that the work is done, and ends it where the run
/// shall end.
template <typename Query>
static int32_t waitFor(loopc_run &run, const Query &query) {
  Gpu &gpu = *run.gpu;
  int64_t begin = readClock();
  bool isTold = false;
  for (;;) {
    CUresult result = query();
    if (result == CUDA_SUCCESS)
      return LOOPC_OK;
    if (result != CUDA_ERROR_NOT_READY) {
      gpu.isBusy = false;
      gpu.isUnknown = true;
      return recordLateResult(run, result);
    }
    // loop_cancel
    if (!isTold && loopc_rt_poll(&run)) {
      __atomic_store_n(gpu.lane->cancelWord, 1, __ATOMIC_RELEASE);
      isTold = true;
    }
    backOff(readClock() - begin);
  }
}

int32_t loopc::rt::cuda::waitForStream(loopc_run &run) {
  Gpu &gpu = *run.gpu;
  // The last of them counts.
  if (gpu.isTimed)
    gpu.hasEnd =
        getDriver().cuEventRecord(gpu.lane->end, gpu.stream) == CUDA_SUCCESS;
  int32_t status =
      waitFor(run, [&] { return getDriver().cuStreamQuery(gpu.stream); });
  if (status)
    return status;
  gpu.isBusy = false;
  releaseDeferred(gpu);
  return getStatus(run);
}

int32_t loopc::rt::cuda::waitForEvent(loopc_run &run, CUevent event) {
  int32_t status =
      waitFor(run, [&] { return getDriver().cuEventQuery(event); });
  return status ? status : getStatus(run);
}

//===----------------------------------------------------------------------===//
// Beginning and end
//===----------------------------------------------------------------------===//

/// Writes the lane's control, in the order of the run's stream.
static CUresult writeControl(Gpu &gpu) {
  Lane &lane = *gpu.lane;
  *lane.cancelWord = 0;
  *lane.readback = {};
  lane.readback->cancel = const_cast<const int32_t *>(lane.cancelWord);
  return getDriver().cuMemcpyHtoDAsync_v2(
      lane.control, lane.readback, sizeof(loopc_cuda_control), gpu.stream);
}

/// Lets the clock begin, behind what is on the stream.
static CUresult beginTime(Gpu &gpu) {
  const Driver &driver = getDriver();
  CUevent *events[] = {&gpu.lane->begin, &gpu.lane->end};
  for (CUevent *event : events) {
    CUresult result =
        *event ? CUDA_SUCCESS : driver.cuEventCreate(event, kEventDefault);
    if (result != CUDA_SUCCESS) {
      *event = nullptr;
      return result;
    }
  }
  CUresult result = driver.cuEventRecord(gpu.lane->begin, gpu.stream);
  gpu.isTimed = result == CUDA_SUCCESS;
  gpu.isBusy |= gpu.isTimed;
  return result;
}

/// Hands the time out when all is done.
static void endTime(loopc_run &run) {
  Gpu &gpu = *run.gpu;
  float milliseconds = 0;
  if (gpu.hasEnd && !gpu.isUnknown &&
      getDriver().cuEventElapsedTime(&milliseconds, gpu.lane->begin,
                                     gpu.lane->end) == CUDA_SUCCESS)
    *run.deviceSeconds = static_cast<double>(milliseconds) / 1000;
}

/// Ends whatever still runs and gives everything back.
static void endGpu(loopc_run &run) {
  Gpu &gpu = *run.gpu;
  if (gpu.lane) {
    if (gpu.isBusy) {
      // The run failed: its kernels need not go on.
      if (getStatus(run))
        __atomic_store_n(gpu.lane->cancelWord, 1, __ATOMIC_RELEASE);
      waitForStream(run);
    }
    endTime(run);
    // Nothing of the run's memory goes while it may be written.
    if (gpu.isUnknown)
      getDriver().cuStreamSynchronize(gpu.stream);
    releaseGraphs(gpu);
    releaseAdoptedBlocks(run);
    releaseDeferred(gpu);
    releaseDeviceMemory(run);
    if (gpu.isUnchecked || getStatus(run))
      gpu.lane->isClean = false;
    returnLane(*gpu.device, gpu.lane);
  }
  CUcontext context;
  getDriver().cuCtxPopCurrent_v2(&context);
  run.gpu = nullptr;
  run.endGpu = nullptr;
  free(&gpu);
}

/// Refuses a stream of the caller's on which a run cannot work.
static int32_t checkStream(loopc_run &run, const Device &device) {
  const Driver &driver = getDriver();
  auto stream = static_cast<CUstream>(run.stream);
  CUcontext context = device.context;
  if (driver.cuStreamGetCtx &&
      (driver.cuStreamGetCtx(stream, &context) != CUDA_SUCCESS ||
       context != device.context))
    return recordError(run, LOOPC_ERROR_DEVICE,
                       "the stream is none of the primary context of device %d "
                       "('%s'), on which the run is",
                       device.ordinal, device.name);
  int capture = 0;
  if (driver.cuStreamIsCapturing) {
    CUresult result = driver.cuStreamIsCapturing(stream, &capture);
    if (capture != 0 || result == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT)
      return recordError(run, LOOPC_ERROR_DEVICE,
                         "the stream is being captured: a run waits for what "
                         "it begins, which a graph cannot");
  }
  return LOOPC_OK;
}

/// Opens the device of the run, makes its context current and gets a stream.
static int32_t openRun(loopc_run &run) {
  Failure failure;
  Device *device = openDevice(run.deviceNumber, failure);
  if (!device)
    return recordFailure(run, failure);
  auto *gpu = static_cast<Gpu *>(calloc(1, sizeof(Gpu)));
  if (!gpu)
    return recordError(run, LOOPC_ERROR_MEMORY, "out of memory");
  gpu->device = device;
  CUresult result = getDriver().cuCtxPushCurrent_v2(device->context);
  if (result != CUDA_SUCCESS) {
    free(gpu);
    setFailure(failure, *device, result, "cuCtxPushCurrent");
    return recordFailure(run, failure);
  }
  run.gpu = gpu;
  run.endGpu = endGpu;
  if (int32_t status = run.stream ? checkStream(run, *device) : LOOPC_OK)
    return status;
  gpu->lane = takeLane(*device, /*needsStream=*/!run.stream, failure);
  if (!gpu->lane)
    return recordFailure(run, failure);
  gpu->stream =
      run.stream ? static_cast<CUstream>(run.stream) : gpu->lane->stream;
  if (run.deviceSeconds && (result = beginTime(*gpu)))
    return recordResult(run, result, "the events that time the run");
  if (gpu->lane->isClean)
    return LOOPC_OK;
  gpu->isBusy = true;
  if ((result = writeControl(*gpu)))
    return recordResult(run, result, "copying the control of the run");
  gpu->lane->isClean = true;
  return LOOPC_OK;
}

extern "C" int32_t loopc_rt_cuda_begin(loopc_run *run,
                                       loopc_cuda_program *program) {
  if (program->version != LOOPC_CUDA_VERSION)
    return recordError(*run, LOOPC_ERROR_ABI,
                       "the model's device code has version %u, this runtime "
                       "has %u",
                       program->version, unsigned{LOOPC_CUDA_VERSION});
  if (!run->gpu)
    if (int32_t status = openRun(*run))
      return status;
  Gpu &gpu = *run->gpu;
  if (gpu.program == program)
    return LOOPC_OK;
  Failure failure;
  gpu.loaded = loadProgram(*program, *gpu.device, failure);
  if (!gpu.loaded)
    return recordFailure(*run, failure);
  gpu.program = program;
  return LOOPC_OK;
}

// Here, so that programs have it that have a model for GPUs, and only these.
const DeviceHooks loopc_rt_cuda_hooks = {
    openForCaller, loopc_rt_cuda_sync, copyNow,        addCallersInput,
    isOnDevice,    allocateResult,     describeMemory, detachMemory};

Gpu *loopc::rt::cuda::getGpuFor(loopc_run &run, loopc_cuda_program &program) {
  if (!run.gpu) {
    recordError(run, LOOPC_ERROR_ABI,
                "the model uses a device that it did not open");
    return nullptr;
  }
  return loopc_rt_cuda_begin(&run, &program) ? nullptr : run.gpu;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

int32_t loopc::rt::cuda::failLaunch(loopc_run &run,
                                    const loopc_cuda_program &program,
                                    int32_t number, CUresult result) {
  char where[256];
  snprintf(where, sizeof(where), "%s could not be begun",
           KernelText(program, number).text);
  return recordResult(run, result, where);
}

/// Blocks of the kernel that the device holds at a time; 0 after recording an
/// error.
static int64_t countResident(loopc_run &run, Kernel &kernel,
                             const loopc_cuda_program &program, int32_t number,
                             int32_t threads) {
  uint64_t known = __atomic_load_n(&kernel.residentGrid, __ATOMIC_RELAXED);
  if (known >> 32 == static_cast<uint32_t>(threads))
    return static_cast<uint32_t>(known);
  const Device &device = *run.gpu->device;
  int perMultiprocessor = 0;
  CUresult result = getDriver().cuOccupancyMaxActiveBlocksPerMultiprocessor(
      &perMultiprocessor, kernel.function, threads, 0);
  if (result != CUDA_SUCCESS) {
    failLaunch(run, program, number, result);
    return 0;
  }
  // More threads hide little more, and more blocks arrive at each barrier.
  constexpr int kEnoughThreads = 1024;
  int enough = kEnoughThreads / threads > 1 ? kEnoughThreads / threads : 1;
  if (perMultiprocessor > enough)
    perMultiprocessor = enough;
  // Without cooperative launches no two blocks are sure to run together.
  int64_t blocks =
      device.isCooperative
          ? static_cast<int64_t>(perMultiprocessor) * device.numMultiprocessors
          : perMultiprocessor > 0;
  if (blocks < 1) {
    recordError(run, LOOPC_ERROR_DEVICE,
                "device %d ('%s'): a block of %d threads of %s needs more than "
                "a multiprocessor has",
                device.ordinal, device.name, threads,
                KernelText(program, number).text);
    return 0;
  }
  __atomic_store_n(&kernel.residentGrid,
                   static_cast<uint64_t>(threads) << 32 |
                       static_cast<uint64_t>(blocks),
                   __ATOMIC_RELAXED);
  return blocks;
}

/// Sets the count of arrivals at the grid's barrier to 0.
static CUresult clearArrivals(Gpu &gpu) {
  return getDriver().cuMemsetD8Async(
      gpu.lane->control + offsetof(loopc_cuda_control, arrived), 0,
      sizeof(loopc_cuda_control::arrived), gpu.stream);
}

namespace {
/// A kernel with what a launch of it takes.
struct LaunchShape {
  Kernel &kernel;
  int64_t blocks;
  int32_t threads;
  void **arguments;
};
} // namespace

/// Begins the blocks as one cluster; CUDA_ERROR_INVALID_CLUSTER_SIZE where they
/// cannot be one, for whatever reason: a part of a device may hold fewer.
static CUresult launchCluster(const Gpu &gpu, const LaunchShape &shape) {
  auto blocks = static_cast<unsigned>(shape.blocks);
  uint32_t refused =
      __atomic_load_n(&shape.kernel.refusedCluster, __ATOMIC_RELAXED);
  if (!gpu.device->hasClusters || shape.blocks > LOOPC_CUDA_MAX_CLUSTER ||
      (refused && blocks >= refused))
    return CUDA_ERROR_INVALID_CLUSTER_SIZE;
  CUlaunchAttribute attribute = {};
  attribute.id = kClusterDimension;
  attribute.value.clusterDim = {blocks, 1, 1};
  CUlaunchConfig config = {};
  config.gridDimX = blocks;
  config.blockDimX = static_cast<unsigned>(shape.threads);
  config.gridDimY = config.gridDimZ = 1;
  config.blockDimY = config.blockDimZ = 1;
  config.hStream = gpu.stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  CUresult result = getDriver().cuLaunchKernelEx(&config, shape.kernel.function,
                                                 shape.arguments, nullptr);
  if (result == CUDA_SUCCESS || isSticky(result))
    return result;
  if (result != CUDA_ERROR_OUT_OF_MEMORY)
    __atomic_store_n(&shape.kernel.refusedCluster, blocks, __ATOMIC_RELAXED);
  return CUDA_ERROR_INVALID_CLUSTER_SIZE;
}

/// Begins at most so many blocks, which may wait for one another where there is
/// more than one of them.
static CUresult launchGrid(Gpu &gpu, const LaunchShape &shape,
                           bool isCooperative) {
  const Driver &driver = getDriver();
  auto grid = static_cast<unsigned>(shape.blocks);
  auto block = static_cast<unsigned>(shape.threads);
  if (!isCooperative || grid == 1)
    return driver.cuLaunchKernel(shape.kernel.function, grid, 1, 1, block, 1, 1,
                                 0, gpu.stream, shape.arguments, nullptr);
  CUresult result = clearArrivals(gpu);
  if (result != CUDA_SUCCESS)
    return result;
  result =
      driver.cuLaunchCooperativeKernel(shape.kernel.function, grid, 1, 1, block,
                                       1, 1, 0, gpu.stream, shape.arguments);
  if (result != CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE)
    return result;
  // Others have a part of the device, or a tool watches it. Any number will do.
  return launchGrid(
      gpu, {shape.kernel, shape.blocks / 2, shape.threads, shape.arguments},
      isCooperative);
}

extern "C" int32_t loopc_rt_cuda_launch(loopc_run *run,
                                        loopc_cuda_program *program,
                                        int32_t number, int64_t blocks,
                                        int32_t threads, int32_t flags,
                                        void **arguments) {
  Gpu *gpu = getGpuFor(*run, *program);
  if (!gpu)
    return getStatus(*run);
  Failure failure;
  Kernel *kernel = getKernel(*program, *gpu->loaded, number, failure);
  if (!kernel)
    return recordFailure(*run, failure);
  constexpr int64_t kMaxGrid = INT32_MAX;
  if (blocks < 1 || blocks > kMaxGrid || threads < 1)
    return recordError(*run, LOOPC_ERROR_DEVICE,
                       "%s cannot be begun with %lld blocks of %d threads",
                       KernelText(*program, number).text,
                       static_cast<long long>(blocks), threads);
  arguments[0] = &gpu->lane->control;
  bool waitsForItself = (flags & LOOPC_CUDA_COOPERATIVE) && blocks > 1;
  LaunchShape shape{*kernel, blocks, threads, arguments};
  CUresult result = CUDA_ERROR_INVALID_CLUSTER_SIZE;
  if (waitsForItself && (flags & LOOPC_CUDA_CLUSTER))
    result = launchCluster(*gpu, shape);
  if (result == CUDA_ERROR_INVALID_CLUSTER_SIZE) {
    if (waitsForItself) {
      int64_t most = countResident(*run, *kernel, *program, number, threads);
      if (most == 0)
        return getStatus(*run);
      shape.blocks = blocks < most ? blocks : most;
    }
    result = launchGrid(*gpu, shape, waitsForItself);
  }
  // What was begun before may still run where this was not.
  gpu->isBusy = true;
  if (result != CUDA_SUCCESS)
    return failLaunch(*run, *program, number, result);
  gpu->isUnchecked = true;
  gpu->lastKernel = 1 + number;
  return LOOPC_OK;
}

/// Records the check that failed in a kernel.
static int32_t recordCheck(loopc_run &run, const loopc_cuda_program &program,
                           const loopc_cuda_control &control) {
  bool isKnown = control.message >= 0 &&
                 static_cast<uint32_t>(control.message) < program.num_messages;
  int64_t numValues = control.num_values;
  if (numValues < 0 || numValues > LOOPC_CUDA_MAX_VALUES)
    numValues = 0;
  return loopc_rt_fail(&run,
                       isKnown ? program.messages[control.message]
                               : "a check in a kernel failed",
                       control.iteration, control.values, numValues);
}

extern "C" int32_t loopc_rt_cuda_sync(loopc_run *run) {
  Gpu *gpu = run->gpu;
  if (!gpu || !gpu->isBusy)
    return getStatus(*run);
  const loopc_cuda_program *program = gpu->program;
  bool reads = gpu->isUnchecked && program && program->num_messages != 0;
  Lane &lane = *gpu->lane;
  if (reads) {
    CUresult result = getDriver().cuMemcpyDtoHAsync_v2(
        lane.readback, lane.control, offsetof(loopc_cuda_control, arrived),
        gpu->stream);
    if (result != CUDA_SUCCESS)
      return recordLateResult(*run, result);
  }
  if (int32_t status = waitForStream(*run))
    return status;
  gpu->isUnchecked = false;
  if (reads && lane.readback->failed)
    return recordCheck(*run, *program, *lane.readback);
  return LOOPC_OK;
}
