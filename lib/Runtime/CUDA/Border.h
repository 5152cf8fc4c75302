//===- Border.h - Values on a GPU -------------------------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_LIB_RUNTIME_CUDA_BORDER_H
#define LOOPC_LIB_RUNTIME_CUDA_BORDER_H

#include "../CPU/DeviceBorder.h"
#include "Gpu.h"

namespace loopc::rt::cuda {

// What DeviceHooks says of each.
int32_t openForCaller(loopc_run &run);
int32_t copyNow(loopc_run &run, void *dst, const void *src, size_t bytes);
int32_t addCallersInput(loopc_run &run, const void *host, void *device,
                        int64_t bytes);
bool isOnDevice(const loopc_run &run, const void *data);
void *allocateResult(loopc_run &run, int64_t bytes);
DeviceMemory describeMemory(const loopc_run &run, void *data);
void detachMemory(loopc_run &run, void *data);

} // namespace loopc::rt::cuda

#endif // LOOPC_LIB_RUNTIME_CUDA_BORDER_H
