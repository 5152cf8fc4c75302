//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The passes from loops on buffers to kernels of a GPU, in their order.

#ifndef LOOPC_CODEGEN_GPU_PIPELINE_H
#define LOOPC_CODEGEN_GPU_PIPELINE_H

#include "loopc/Support/Cublas.h"
#include "loopc/Support/DeviceLoops.h"
#include "loopc/Support/PassAdder.h"

#include <string>

namespace loopc {

/// What the passes are told; see their options in Passes.td.
struct KernelOptions {
  std::string chip = "sm_80";
  unsigned minWork = 2048;
  bool allowTf32 = false;
  DeviceLoops loops = DeviceLoops::Auto;
  Cublas cublas = Cublas::Off;
  bool hasLibdevice = false;
};

/// From loops on buffers to a device.region for each part of the host's
/// function that runs on the GPU, all memory in its place.
void populateKernelSelection(PassAdder manager, const KernelOptions &options);

/// From there to kernels and their launches.
void populateKernels(PassAdder manager, const KernelOptions &options);

/// Registers `loopc-to-kernels`, which is both.
void registerKernelPipeline();

} // namespace loopc

#endif // LOOPC_CODEGEN_GPU_PIPELINE_H
