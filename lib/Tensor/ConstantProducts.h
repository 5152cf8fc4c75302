//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Contractions of constants, with a kernel of their own: a matrix product has
// so many points that to evaluate its body block by block takes too long.

#ifndef LOOPC_LIB_TENSOR_CONSTANTPRODUCTS_H
#define LOOPC_LIB_TENSOR_CONSTANTPRODUCTS_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <array>
#include <vector>

namespace loopc {

/// Where an operand's elements are.
struct ProductOperand {
  std::vector<double> elements;
  /// How far apart neighbours along each loop are.
  llvm::SmallVector<int64_t> strides;
};

/// The loops of a matrix product within a contraction.
struct ProductLoops {
  /// The input that has elements for each column, and the one that has not.
  unsigned columns, rows;
  /// The loop over columns, which is parallel, and the longest sum.
  unsigned column, depth;
  /// Inputs whose elements are integers without a sign.
  std::array<bool, 2> isUnsigned = {false, false};
};

/// The loops of `op`, if it adds up products of two inputs. Elements are floats
/// of 32 bits or less, whose products are exact in f64, are added in any order
/// and need not be rounded before; or integers of 16 bits or less that are
/// widened to 32, of which f64 holds up to 2^20 products exactly.
std::optional<ProductLoops> findProductLoops(mlir::linalg::GenericOp op);

/// Adds the sums of the products that `op` is made of to `sums`. Each sum is
/// made in the order of its loops, in f64, whatever the machine is.
void addProducts(mlir::linalg::GenericOp op, const ProductLoops &loops,
                 llvm::ArrayRef<ProductOperand> inputs, ProductOperand &sums);

} // namespace loopc

#endif // LOOPC_LIB_TENSOR_CONSTANTPRODUCTS_H
