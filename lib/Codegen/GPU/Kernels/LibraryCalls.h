//===- LibraryCalls.h - Products that cuBLAS computes --------- -*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_LIB_CODEGEN_GPU_KERNELS_LIBRARYCALLS_H
#define LOOPC_LIB_CODEGEN_GPU_KERNELS_LIBRARYCALLS_H

#include "loopc/Codegen/GPU/Regions/LibraryProducts.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace loopc {

/// Makes the call at `b`, in front of the nest, whose kernel is `kernel`.
/// \returns whether the kernel is to be launched: the library was not there, or
/// cannot do it.
mlir::Value callLibrary(mlir::ImplicitLocOpBuilder &b, LibraryProduct product,
                        mlir::ModuleOp module, llvm::StringRef kernel);

} // namespace loopc

#endif // LOOPC_LIB_CODEGEN_GPU_KERNELS_LIBRARYCALLS_H
