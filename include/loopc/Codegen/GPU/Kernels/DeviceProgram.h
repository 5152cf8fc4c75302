//===- DeviceProgram.h - Where a model's device code is ---------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_CODEGEN_GPU_KERNELS_DEVICEPROGRAM_H
#define LOOPC_CODEGEN_GPU_KERNELS_DEVICEPROGRAM_H

#include "llvm/ADT/StringRef.h"

namespace loopc {

/// The variable of an object that holds its device code, a loopc_cuda_program:
/// launches name it, the target defines it.
inline constexpr llvm::StringLiteral kProgramName = "loopc_cuda_program";

/// What kernels call to set one: a function of CUDA.
inline constexpr llvm::StringLiteral kSetConditionName =
    "cudaGraphSetConditional";

} // namespace loopc

#endif // LOOPC_CODEGEN_GPU_KERNELS_DEVICEPROGRAM_H
