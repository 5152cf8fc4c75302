//===- GPUTarget.h - The GPU of a target ------------------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_SUPPORT_GPUTARGET_H
#define LOOPC_SUPPORT_GPUTARGET_H

#include "loopc/Support/Cublas.h"
#include "loopc/Support/DeviceLoops.h"

#include <string>

namespace loopc {

/// The GPU that kernels are made for and what may become of them, as in
/// #loopc.target (LoopcDialect.td).
struct GPUTarget {
  /// NVIDIA's name of it, as "sm_90"; empty: none.
  std::string chip;
  /// Operations up to which a nest stays on the host, where it can.
  unsigned minWork = 2048;
  /// Tensor cores may round what products of f32 multiply.
  bool allowTf32 = false;
  /// Functions of CUDA's libdevice may be called (Target/Cuda.h).
  bool hasLibdevice = false;
  /// What loops become.
  DeviceLoops loops = DeviceLoops::Auto;
  /// Products of matrices that cuBLAS may compute.
  Cublas cublas = Cublas::Off;
};

} // namespace loopc

#endif // LOOPC_SUPPORT_GPUTARGET_H
