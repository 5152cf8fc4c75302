//===- DeviceInputs.h - Inputs that only kernels read -----------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_LIB_TARGET_DEVICEINPUTS_H
#define LOOPC_LIB_TARGET_DEVICEINPUTS_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Function.h"

namespace loopc {

/// For each of the first `count` inputs of `entry`, the function loopc_entry, 1
/// where its elements go to loopc_rt_cuda_input() and nowhere else, so that an
/// input which lies on the device is not needed in the host's memory. 0 where
/// that is not seen.
llvm::SmallVector<uint8_t> findDeviceInputs(const llvm::Function &entry,
                                            size_t count);

} // namespace loopc

#endif // LOOPC_LIB_TARGET_DEVICEINPUTS_H
