//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_LIB_CONVERSION_ONNXTOLINALG_NN_FOLDQUANTIZED_H
#define LOOPC_LIB_CONVERSION_ONNXTOLINALG_NN_FOLDQUANTIZED_H

namespace mlir {
class Operation;
} // namespace mlir

namespace loopc {

/// Makes products (MatMul, Gemm, Conv) of what DequantizeLinear yields of
/// integers of 8 bits, with scales that are constants, products of integers.
void foldQuantizedProducts(mlir::Operation *root);

} // namespace loopc

#endif // LOOPC_LIB_CONVERSION_ONNXTOLINALG_NN_FOLDQUANTIZED_H
