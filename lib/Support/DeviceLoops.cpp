//===- DeviceLoops.cpp - How loops and products run on a GPU --------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Support/DeviceLoops.h"
#include "loopc/Support/Cublas.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"

using namespace loopc;
using llvm::StringRef;

// In the order of the enumerations.
static constexpr StringRef kLoopNames[] = {"auto", "kernel", "cluster", "graph",
                                           "host"};
static constexpr StringRef kCublasNames[] = {"auto", "on", "off"};

template <typename EnumT>
static std::optional<EnumT> parse(llvm::ArrayRef<StringRef> names,
                                  StringRef name) {
  const StringRef *it = llvm::find(names, name);
  return it == names.end() ? std::nullopt
                           : std::optional(EnumT(it - names.begin()));
}

std::optional<DeviceLoops> loopc::parseDeviceLoops(StringRef name) {
  return parse<DeviceLoops>(kLoopNames, name);
}

StringRef loopc::getName(DeviceLoops loops) {
  return kLoopNames[static_cast<int>(loops)];
}

std::optional<Cublas> loopc::parseCublas(StringRef name) {
  return parse<Cublas>(kCublasNames, name);
}

StringRef loopc::getName(Cublas cublas) {
  return kCublasNames[static_cast<int>(cublas)];
}
