//===- Border.cpp - Values on a GPU ---------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Border.h"

#include "../CPU/Strided.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

using namespace loopc::rt;
using namespace loopc::rt::cuda;

//===----------------------------------------------------------------------===//
// In a run
//===----------------------------------------------------------------------===//

int32_t loopc::rt::cuda::openForCaller(loopc_run &run) {
  auto *program = static_cast<loopc_cuda_program *>(run.deviceProgram);
  if (int32_t status = loopc_rt_cuda_begin(&run, program))
    return status;
  // Work on the caller's own stream comes in its order.
  if (run.stream)
    return LOOPC_OK;
  Gpu &gpu = *run.gpu;
  const Driver &driver = getDriver();
  CUresult result = CUDA_SUCCESS;
  if (!gpu.lane->event)
    result = driver.cuEventCreate(&gpu.lane->event, kEventDisableTiming);
  if (result == CUDA_SUCCESS)
    result = driver.cuEventRecord(gpu.lane->event, kDefaultStream);
  if (result == CUDA_SUCCESS)
    result = driver.cuStreamWaitEvent(gpu.stream, gpu.lane->event, 0);
  if (result != CUDA_SUCCESS)
    return recordResult(run, result, "waiting for the caller's inputs");
  gpu.isBusy = true;
  return LOOPC_OK;
}

int32_t loopc::rt::cuda::copyNow(loopc_run &run, void *dst, const void *src,
                                 size_t bytes) {
  int32_t status = copyAny(run, dst, src, bytes);
  return status || !run.gpu->isBusy ? status : waitForStream(run);
}

int32_t loopc::rt::cuda::addCallersInput(loopc_run &run, const void *host,
                                         void *device, int64_t bytes) {
  Mapping mapping = {static_cast<const char *>(host), bytes,
                     static_cast<char *>(device), LOOPC_CUDA_DEVICE,
                     /*isCallers=*/true};
  return addMapping(run, mapping) ? static_cast<int32_t>(LOOPC_OK)
                                  : getStatus(run);
}

bool loopc::rt::cuda::isOnDevice(const loopc_run &run, const void *data) {
  return findDeviceBlock(*run.gpu, data) != nullptr;
}

void *loopc::rt::cuda::allocateResult(loopc_run &run, int64_t bytes) {
  DeviceBlock *block = allocateDevice(run, bytes, /*byModel=*/false);
  return block ? reinterpret_cast<void *>(block->pointer) : nullptr;
}

/// Frees the memory of a result when the default stream, and with it the
/// streams that wait for it, are done with what was begun before.
static void freeResult(void *context, void *data) {
  auto &device = *static_cast<Device *>(context);
  ContextScope scope(device);
  if (scope.result == CUDA_SUCCESS)
    freePlain(device, reinterpret_cast<CUdeviceptr>(data), kDefaultStream);
}

static DeviceMemory describeOn(Device &device, void *data) {
  return {data, {kDLCUDA, device.ordinal}, freeResult, &device};
}

DeviceMemory loopc::rt::cuda::describeMemory(const loopc_run &run, void *data) {
  return describeOn(*run.gpu->device, data);
}

void loopc::rt::cuda::detachMemory(loopc_run &run, void *data) {
  detachDeviceBlock(run, findDeviceBlock(*run.gpu, data));
}

//===----------------------------------------------------------------------===//
// For programs
//===----------------------------------------------------------------------===//

/// Writes `failure` to the caller's error. \returns its status.
static int32_t report(const Failure &failure, loopc_error *error) {
  if (error) {
    static_assert(sizeof(failure.text) <= sizeof(error->message));
    error->status = failure.status;
    memcpy(error->message, failure.text, sizeof(failure.text));
  }
  return failure.status;
}

extern "C" int32_t loopc_rt_cuda_num_devices(loopc_error *error) {
  Failure failure;
  int count = 0;
  if (const Driver *driver = openDriver(failure)) {
    CUresult result = driver->cuDeviceGetCount(&count);
    if (result != CUDA_SUCCESS)
      failure.set(LOOPC_ERROR_DEVICE, "cuDeviceGetCount: %s",
                  ResultText(result).text);
    else if (count <= 0)
      failure.set(LOOPC_ERROR_DEVICE, "the CUDA driver has no devices");
  }
  return report(failure, error) ? 0 : count;
}

extern "C" int32_t loopc_rt_cuda_describe(int32_t device,
                                          loopc_cuda_device *result,
                                          loopc_error *error) {
  Failure failure;
  memset(result, 0, sizeof(*result));
  describeDevice(device, *result, failure);
  return report(failure, error);
}

/// Waits for the default stream.
static CUresult waitForDefaultStream() {
  for (;;) {
    CUresult result = getDriver().cuStreamQuery(kDefaultStream);
    if (result != CUDA_ERROR_NOT_READY)
      return result;
    sched_yield();
  }
}

/// The elements of a checked host tensor at the border, in C order: its own, or
/// `flat`, which the caller frees. Null where there is no memory.
static const char *flatten(const DLTensor &tensor, const ElementLayout &layout,
                           int64_t count, uint64_t bytes, char *&flat) {
  const char *data =
      static_cast<const char *>(tensor.data) + tensor.byte_offset;
  flat = nullptr;
  if (count == 0 || isContiguous(tensor.ndim, tensor.shape, tensor.strides))
    return data;
  flat = static_cast<char *>(malloc(bytes));
  if (flat)
    copyStrided(layout.innerBytes, tensor.ndim, tensor.shape, data,
                tensor.strides, flat, nullptr);
  return flat;
}

/// Makes `result` a tensor with `bytes` bytes of the host.
static int32_t uploadBytes(Device &device, const DLTensor &tensor,
                           const char *data, uint64_t bytes,
                           loopc_value &result, Failure &failure) {
  ContextScope scope(device);
  if (scope.result != CUDA_SUCCESS)
    return setFailure(failure, device, scope.result, "cuCtxPushCurrent");
  CUdeviceptr pointer = 0;
  CUresult status = allocatePlain(device, bytes, kDefaultStream, pointer);
  if (status != CUDA_SUCCESS)
    return setFailure(failure, device, status, "allocating memory");
  if (bytes != 0) {
    status =
        getDriver().cuMemcpyHtoDAsync_v2(pointer, data, bytes, kDefaultStream);
    if (status == CUDA_SUCCESS)
      status = waitForDefaultStream();
  }
  if (status == CUDA_SUCCESS &&
      makeDeviceTensor(
          getDefaultAllocator(), tensor.dtype, tensor.ndim, tensor.shape,
          describeOn(device, reinterpret_cast<void *>(pointer)), result))
    return LOOPC_OK;
  freePlain(device, pointer, kDefaultStream);
  if (status == CUDA_SUCCESS)
    return failure.set(LOOPC_ERROR_MEMORY, "out of memory");
  return setFailure(failure, device, status, "copying a tensor");
}

extern "C" int32_t loopc_rt_cuda_upload(int32_t number,
                                        const loopc_value *value,
                                        loopc_value *result,
                                        loopc_error *error) {
  Failure failure;
  const DLTensor &tensor = value->as.tensor;
  ElementLayout layout;
  int64_t count = 0;
  bool isValid =
      value->kind == LOOPC_TENSOR && tensor.ndim >= 0 &&
      !isOfDevice(tensor.device) && getElementLayout(tensor.dtype, layout) &&
      getNumElements(tensor.ndim, tensor.shape, layout.innerBytes, count) &&
      (count == 0 || tensor.data) &&
      (!layout.isPacked ||
       isContiguous(tensor.ndim, tensor.shape, tensor.strides));
  if (!isValid) {
    failure.set(LOOPC_ERROR_INPUT, "the value is no tensor of the host that "
                                   "can be copied to a device");
    return report(failure, error);
  }
  if (Device *device = openDevice(number, failure)) {
    uint64_t bytes = layout.getBorderBytes(static_cast<uint64_t>(count));
    char *flat;
    const char *data = flatten(tensor, layout, count, bytes, flat);
    if (data || count == 0)
      uploadBytes(*device, tensor, data, bytes, *result, failure);
    else
      failure.set(LOOPC_ERROR_MEMORY, "out of memory");
    free(flat);
  }
  return report(failure, error);
}

extern "C" int32_t loopc_rt_cuda_download(const loopc_value *value, void *data,
                                          uint64_t bytes, loopc_error *error) {
  Failure failure;
  const DLTensor &tensor = value->as.tensor;
  ElementLayout layout;
  int64_t count = 0;
  bool isValid =
      value->kind == LOOPC_TENSOR && isOfDevice(tensor.device) &&
      getElementLayout(tensor.dtype, layout) &&
      getNumElements(tensor.ndim, tensor.shape, layout.innerBytes, count) &&
      isContiguous(tensor.ndim, tensor.shape, tensor.strides) &&
      bytes == layout.getBorderBytes(static_cast<uint64_t>(count));
  if (!isValid) {
    failure.set(LOOPC_ERROR_INPUT, "the value is no tensor of a device in C "
                                   "order with as many bytes");
    return report(failure, error);
  }
  Device *device = openDevice(tensor.device.device_id, failure);
  if (!device)
    return report(failure, error);
  ContextScope scope(*device);
  CUresult result = scope.result;
  if (result == CUDA_SUCCESS && bytes != 0) {
    const char *source =
        static_cast<const char *>(tensor.data) + tensor.byte_offset;
    result = getDriver().cuMemcpyDtoHAsync_v2(
        data, reinterpret_cast<CUdeviceptr>(source), bytes, kDefaultStream);
    if (result == CUDA_SUCCESS)
      result = waitForDefaultStream();
  }
  if (result != CUDA_SUCCESS)
    setFailure(failure, *device, result, "copying a tensor");
  return report(failure, error);
}
