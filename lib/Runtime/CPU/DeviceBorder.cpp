//===- DeviceBorder.cpp - Values on a GPU, at the border ------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceBorder.h"
#include "Strided.h"

#include <string.h>

using namespace loopc::rt;

static const DeviceHooks &getHooks() { return loopc_rt_cuda_hooks; }

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

/// True where a tensor in `value`, or in an element of it, is on a device.
static bool hasDeviceTensor(const loopc_value &value) {
  if (value.kind == LOOPC_TENSOR)
    return isOfDevice(value.as.tensor.device);
  if (value.kind == LOOPC_OPTIONAL)
    return value.as.optional.value && hasDeviceTensor(*value.as.optional.value);
  if (value.kind != LOOPC_SEQUENCE)
    return false;
  for (size_t i = 0; i < value.as.sequence.count; ++i)
    if (hasDeviceTensor(value.as.sequence.items[i]))
      return true;
  return false;
}

int32_t loopc::rt::openForValues(loopc_run &run, const loopc_model &model,
                                 const loopc_value *inputs,
                                 const loopc_value *outputs) {
  if (!run.deviceProgram)
    return LOOPC_OK;
  bool isNeeded = run.returnsOnDevice;
  for (size_t k = 0; k < model.num_inputs && !isNeeded; ++k)
    isNeeded = hasDeviceTensor(inputs[k]);
  // The memory of one is written when it is at hand.
  run.keepsOnDevice = run.returnsOnDevice;
  for (size_t k = 0; k < model.num_outputs; ++k)
    if (outputs[k].kind == LOOPC_TENSOR &&
        isOfDevice(outputs[k].as.tensor.device))
      isNeeded = run.keepsOnDevice = true;
  if (!isNeeded)
    return LOOPC_OK;
  if (!&loopc_rt_cuda_hooks)
    return recordError(run, LOOPC_ERROR_ABI,
                       "the program was linked without libloopc_rt_cuda");
  return getHooks().open(run);
}

int32_t loopc::rt::fetchElements(loopc_run &run, const DLTensor &tensor,
                                 InnerElements &inner) {
  ElementLayout layout;
  getElementLayout(tensor.dtype, layout);
  int64_t count = 0;
  getNumElements(tensor.ndim, tensor.shape, layout.innerBytes, count);
  DLTensor fetched = tensor;
  fetched.device = {kDLCPU, 0};
  if (count == 0)
    return makeInnerElements(run, fetched, inner);
  const char *begin;
  uint64_t bytes;
  getSpan(tensor, layout, count, begin, bytes);
  char *copy = static_cast<char *>(
      allocate(run, static_cast<int64_t>(bytes), /*byModel=*/false));
  if (!copy)
    return getStatus(run);
  if (int32_t status = getHooks().copy(run, copy, begin, bytes))
    return status;
  const char *data = static_cast<const char *>(tensor.data);
  fetched.data = copy + (data + tensor.byte_offset - begin);
  fetched.byte_offset = 0;
  if (int32_t status = makeInnerElements(run, fetched, inner))
    return status;
  // Nobody else's memory, so that an owner of it is a count of the block.
  if (inner.copy)
    loopc_rt_free(&run, copy);
  else
    inner.copy = copy;
  return LOOPC_OK;
}

int32_t loopc::rt::passDeviceElements(loopc_run &run, const DLTensor &tensor,
                                      bool reads, InnerElements &inner) {
  ElementLayout layout;
  getElementLayout(tensor.dtype, layout);
  char *data = static_cast<char *>(tensor.data) + tensor.byte_offset;
  // Kernels read elements as they lie inside a model.
  bool isAsInside = !layout.isBool && !layout.isPacked &&
                    reinterpret_cast<uintptr_t>(data) % layout.alignment == 0 &&
                    isContiguous(tensor.ndim, tensor.shape, tensor.strides);
  if (reads || !isAsInside) {
    if (int32_t status = fetchElements(run, tensor, inner))
      return status;
  } else {
    getNumElements(tensor.ndim, tensor.shape, layout.innerBytes, inner.count);
    inner.bytes = inner.count * layout.innerBytes;
    inner.copy = nullptr;
    inner.data = data;
  }
  if (!isAsInside || inner.count == 0)
    return LOOPC_OK;
  return getHooks().addInput(run, inner.data, data, inner.bytes);
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

int32_t loopc::rt::waitForDevice(loopc_run &run) {
  return run.gpu ? getHooks().wait(&run) : static_cast<int32_t>(LOOPC_OK);
}

bool loopc::rt::isOnDevice(const loopc_run &run, const Result &result) {
  return run.gpu && result.count != 0 &&
         getHooks().isOnDevice(run, result.data);
}

int32_t loopc::rt::fetchResult(loopc_run &run, Result &result) {
  int64_t bytes = result.count * result.layout.innerBytes;
  void *copy = allocate(run, bytes, /*byModel=*/false);
  if (!copy)
    return getStatus(run);
  if (int32_t status =
          getHooks().copy(run, copy, result.data, static_cast<size_t>(bytes)))
    return status;
  result.data = static_cast<const char *>(copy);
  result.block = Block::of(copy);
  result.onDevice = false;
  return LOOPC_OK;
}

int32_t loopc::rt::copyDeviceResult(loopc_run &run, const Result &result,
                                    char *dst, bool toDevice) {
  if (result.count == 0)
    return LOOPC_OK;
  const char *source = result.data;
  // What lies on the device is in C order and as it is at the border.
  if (toDevice && !result.onDevice &&
      (result.layout.isPacked ||
       !isContiguous(result.memoryRank, result.memoryShape,
                     result.memoryStrides))) {
    char *flat = static_cast<char *>(
        allocate(run, static_cast<int64_t>(result.bytes), /*byModel=*/false));
    if (!flat)
      return getStatus(run);
    copyResult(run, result, flat);
    source = flat;
  }
  return getHooks().copy(run, dst, source, result.bytes);
}

int32_t loopc::rt::makeDeviceOutput(loopc_run &run, const PortName &port,
                                    const loopc_type &type, Result &result,
                                    loopc_value &value) {
  result.isDone = true;
  const DeviceHooks &hooks = getHooks();
  void *data = const_cast<char *>(result.data);
  // One block is the memory of one output.
  bool isOwn = result.onDevice && hooks.isOnDevice(run, data);
  if (!isOwn &&
      !(data = hooks.allocate(run, static_cast<int64_t>(result.bytes))))
    return getStatus(run);
  if (!isOwn)
    if (int32_t status =
            copyDeviceResult(run, result, static_cast<char *>(data),
                             /*toDevice=*/true))
      return status;
  if (!makeDeviceTensor(run.allocator, type.dtype, result.rank, result.shape,
                        hooks.describe(run, data), value))
    return recordPortError(run, LOOPC_ERROR_MEMORY, port,
                           "out of memory: the allocator has no memory for "
                           "shape %s",
                           ShapeText(result.rank, result.shape).text);
  hooks.detach(run, data);
  return LOOPC_OK;
}
