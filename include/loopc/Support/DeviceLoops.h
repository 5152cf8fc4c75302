//===- DeviceLoops.h - How loops run on a GPU -------------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_SUPPORT_DEVICELOOPS_H
#define LOOPC_SUPPORT_DEVICELOOPS_H

#include "llvm/ADT/StringRef.h"

#include <optional>

namespace loopc {

/// What becomes of a loop around nests that run on a GPU, where nothing in it
/// needs the host.
enum class DeviceLoops {
  Auto,    ///< a kernel or a graph, by a guess at which is faster
  Kernel,  ///< one kernel
  Cluster, ///< one kernel, whose blocks are one cluster from sm_90 on
  Graph,   ///< a graph of kernels; takes a driver of CUDA 12.4
  Host     ///< the host drives it
};

/// The one of this name, "auto"; nothing for others.
std::optional<DeviceLoops> parseDeviceLoops(llvm::StringRef name);
llvm::StringRef getName(DeviceLoops loops);

} // namespace loopc

#endif // LOOPC_SUPPORT_DEVICELOOPS_H
