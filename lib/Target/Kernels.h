//===- Kernels.h - Device code in an object ---------------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_LIB_TARGET_KERNELS_H
#define LOOPC_LIB_TARGET_KERNELS_H

#include "loopc/Codegen/GPU/Kernels/DeviceProgram.h"
#include "loopc/Target/TargetOptions.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

#include "llvm/IR/Module.h"

#include <string>
#include <vector>

namespace loopc {

/// Device code of a model.
struct DeviceCode {
  std::vector<std::string> kernels;
  /// For messages: the node that each comes from, or "".
  std::vector<std::string> nodes;
  std::string ptx;
  /// Machine code for one chip; empty where no ptxas was found.
  std::string cubin;
  std::vector<std::string> messages;
  /// Some of the kernels set conditions of graphs.
  bool hasGraphs = false;
};

/// The module of kernels in `module`; null where there is none.
mlir::gpu::GPUModuleOp findKernels(mlir::ModuleOp module);

/// Compiles kernels (in LLVM's dialect) for the chip of `options`.
mlir::FailureOr<DeviceCode> compileKernels(mlir::gpu::GPUModuleOp kernels,
                                           const TargetOptions &options);

/// Gives the variable of `module` that is named kProgramName its value, and
/// adds it where there is none.
void addProgram(llvm::Module &module, const DeviceCode &code,
                llvm::StringRef chip);

} // namespace loopc

#endif // LOOPC_LIB_TARGET_KERNELS_H
