//===- Cuda.h - What is known of NVIDIA's toolkit ---------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_TARGET_CUDA_H
#define LOOPC_TARGET_CUDA_H

#include "loopc/Target/TargetOptions.h"

#include "mlir/IR/Location.h"
#include "mlir/Support/LLVM.h"

namespace loopc {

/// True where libdevice was found: the functions of f64, pow, sin and others of
/// which kernels have no other form. Looked for in CUDA_HOME, CUDA_PATH,
/// CUDA_ROOT and the usual places; LOOPC_LIBDEVICE names it, or says that there
/// is none where it is empty.
bool hasLibdevice();

/// Reports a chip that no code can be made for.
llvm::LogicalResult checkChip(const TargetOptions &options, mlir::Location loc);

} // namespace loopc

#endif // LOOPC_TARGET_CUDA_H
