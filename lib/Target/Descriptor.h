//===- Descriptor.h - The table of a compiled model -------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_LIB_TARGET_DESCRIPTOR_H
#define LOOPC_LIB_TARGET_DESCRIPTOR_H

#include "Weights.h"
#include "loopc/Target/ModelInfo.h"

#include "llvm/IR/Module.h"

namespace loopc {

/// Adds to `module` the constant loopc_model of loopc_rt.h and the functions
/// NAME_model and NAME_run. `entry` is loopc_entry.
void addModelTable(llvm::Module &module, const ModelInfo &info,
                   const WeightSet &weights, llvm::Function *entry,
                   llvm::StringRef cpuFeatures);

} // namespace loopc

#endif // LOOPC_LIB_TARGET_DESCRIPTOR_H
