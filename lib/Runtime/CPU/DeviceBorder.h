//===- DeviceBorder.h - Values on a GPU, at the border ----------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What this library needs of the one for GPUs (../CUDA), which a program links
// only where it has a model for one.
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_LIB_RUNTIME_CPU_DEVICEBORDER_H
#define LOOPC_LIB_RUNTIME_CPU_DEVICEBORDER_H

#include "Border.h"
#include "Value.h"

namespace loopc::rt {

/// Functions of ../CUDA. Those that return a status, or null, have recorded the
/// error.
struct DeviceHooks {
  /// Opens the run's device. What the caller began before on the default
  /// stream, unless the run works on a stream of its own, comes before the
  /// run's work.
  int32_t (*open)(loopc_run &run);
  /// Waits for all work, and fails where a kernel did.
  int32_t (*wait)(loopc_run *run);
  /// Copies between any two kinds of memory; complete on return.
  int32_t (*copy)(loopc_run &run, void *dst, const void *src, size_t bytes);
  /// Lets kernels find the bytes that a model is given at `host` at `device`.
  int32_t (*addInput)(loopc_run &run, const void *host, void *device,
                      int64_t bytes);
  /// True where `data` is the beginning of the run's memory on the device.
  bool (*isOnDevice)(const loopc_run &run, const void *data);
  /// Memory of the run on the device.
  void *(*allocate)(loopc_run &run, int64_t bytes);
  /// Describes such memory.
  DeviceMemory (*describe)(const loopc_run &run, void *data);
  /// Takes such memory out of the run, which no longer frees it.
  void (*detach)(loopc_run &run, void *data);
};

/// True for memory that the host does not read as its own.
inline bool isOfDevice(const DLDevice &device) {
  return device.device_type == kDLCUDA || device.device_type == kDLCUDAManaged;
}

/// Opens the run's device where a value of the caller is there, or is to be.
int32_t openForValues(loopc_run &run, const loopc_model &model,
                      const loopc_value *inputs, const loopc_value *outputs);

/// The elements of a tensor on the device, as makeInnerElements() makes them.
int32_t fetchElements(loopc_run &run, const DLTensor &tensor,
                      InnerElements &inner);

/// The same for an input of the model, which kernels find where it is. `reads`:
/// the host reads the elements.
int32_t passDeviceElements(loopc_run &run, const DLTensor &tensor, bool reads,
                           InnerElements &inner);

/// Waits for the device, before the results are read.
int32_t waitForDevice(loopc_run &run);

/// True where the elements of `result` lie on the device.
bool isOnDevice(const loopc_run &run, const Result &result);

/// Makes the host have the elements of `result`.
int32_t fetchResult(loopc_run &run, Result &result);

/// Copies a result from or to the device, or both; complete on return.
int32_t copyDeviceResult(loopc_run &run, const Result &result, char *dst,
                         bool toDevice);

/// Makes `value`, all zero so far, a tensor on the device that has the elements
/// of `result`.
int32_t makeDeviceOutput(loopc_run &run, const PortName &port,
                         const loopc_type &type, Result &result,
                         loopc_value &value);

} // namespace loopc::rt

/// Defined by ../CUDA beside loopc_rt_cuda_begin(), which every model for GPUs
/// needs; null in programs without one.
extern "C" __attribute__((weak))
const loopc::rt::DeviceHooks loopc_rt_cuda_hooks;

#endif // LOOPC_LIB_RUNTIME_CPU_DEVICEBORDER_H
