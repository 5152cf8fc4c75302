//===- DeviceLoops.cpp - How loops and products run on a GPU --------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Support/DeviceLoops.h"
#include "loopc/Support/Cublas.h"

#include "llvm/ADT/StringSwitch.h"

using namespace loopc;

std::optional<DeviceLoops> loopc::parseDeviceLoops(llvm::StringRef name) {
  return llvm::StringSwitch<std::optional<DeviceLoops>>(name)
      .Case("auto", DeviceLoops::Auto)
      .Case("kernel", DeviceLoops::Kernel)
      .Case("cluster", DeviceLoops::Cluster)
      .Case("graph", DeviceLoops::Graph)
      .Case("host", DeviceLoops::Host)
      .Default(std::nullopt);
}

std::optional<Cublas> loopc::parseCublas(llvm::StringRef name) {
  return llvm::StringSwitch<std::optional<Cublas>>(name)
      .Case("auto", Cublas::Auto)
      .Case("on", Cublas::On)
      .Case("off", Cublas::Off)
      .Default(std::nullopt);
}
