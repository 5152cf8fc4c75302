//===- LibraryProducts.h - Products that cuBLAS computes --------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_LIB_CODEGEN_GPU_LIBRARYPRODUCTS_H
#define LOOPC_LIB_CODEGEN_GPU_LIBRARYPRODUCTS_H

#include "Products.h"
#include "loopc/Dialect/Loopc/IR/LibraryCalls.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace loopc {

/// A nest that is a product of matrices and nothing else.
struct LibraryProduct {
  Product product;
  mlir::memref::LoadOp left, right;
  mlir::memref::StoreOp store;
  int32_t kind; ///< LOOPC_CUDA_...; see loopc_cuda_product
};

/// The nest of `outer`, a shared loop (DeviceCode.h), where it is one that the
/// library may compute (#loopc.target).
std::optional<LibraryProduct> matchLibraryProduct(mlir::scf::ForOp outer);

/// Makes the call at `b`, in front of the nest, whose kernel is `kernel`.
/// \returns whether the kernel is to be launched: the library was not there, or
/// cannot do it.
mlir::Value callLibrary(mlir::ImplicitLocOpBuilder &b, LibraryProduct product,
                        mlir::ModuleOp module, llvm::StringRef kernel);

} // namespace loopc

#endif // LOOPC_LIB_CODEGEN_GPU_LIBRARYPRODUCTS_H
