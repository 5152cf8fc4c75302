//===- LibraryProducts.h - Products that cuBLAS computes --------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_CODEGEN_GPU_REGIONS_LIBRARYPRODUCTS_H
#define LOOPC_CODEGEN_GPU_REGIONS_LIBRARYPRODUCTS_H

#include "loopc/Codegen/GPU/Regions/Products.h"

namespace loopc {

/// A nest that is a product of matrices and nothing else.
struct LibraryProduct {
  Product product;
  mlir::memref::LoadOp left, right;
  mlir::memref::StoreOp store;
  int32_t kind; ///< LOOPC_CUDA_...; see loopc_cuda_product
};

/// All loops of a product, with what they are: LOOPC_CUDA_BATCH, ..._ROWS,
/// ..._COLUMNS or ..._SUM.
llvm::SmallVector<std::pair<mlir::scf::ForOp, int64_t>>
getProductLoops(const Product &product);

/// The nest of `outer`, a shared loop (DeviceCode.h), where it is one that the
/// library may compute (#loopc.target).
std::optional<LibraryProduct> matchLibraryProduct(mlir::scf::ForOp outer);

} // namespace loopc

#endif // LOOPC_CODEGEN_GPU_REGIONS_LIBRARYPRODUCTS_H
