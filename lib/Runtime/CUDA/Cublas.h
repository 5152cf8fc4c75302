//===- Cublas.h - Products of matrices by cuBLAS ----------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_LIB_RUNTIME_CUDA_CUBLAS_H
#define LOOPC_LIB_RUNTIME_CUDA_CUBLAS_H

#include "loopc-rt/cuda.h"

namespace loopc::rt::cuda {

/// A matrix as cuBLAS has it: columns, `leading` elements from one to the next.
struct CublasMatrix {
  int64_t data = 0;
  int64_t leading = 0;
  int64_t step = 0;      ///< elements to the next of a batch
  bool isTurned = false; ///< its transpose is what is multiplied
};

/// A call of cublasGemmStridedBatchedEx: result = first * second.
struct CublasProduct {
  int rows = 0, columns = 0, depth = 0, batch = 0;
  CublasMatrix first, second, result;
  int factorType = 0, resultType = 0, sumType = 0;
};

/// The call that computes `product`; false where there is none.
bool describeProduct(const loopc_cuda_product &product, CublasProduct &result);

} // namespace loopc::rt::cuda

#endif // LOOPC_LIB_RUNTIME_CUDA_CUBLAS_H
