//===- Products.h - Nests that are products of matrices ---------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_CODEGEN_GPU_REGIONS_PRODUCTS_H
#define LOOPC_CODEGEN_GPU_REGIONS_PRODUCTS_H

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace loopc {

/// One of the two that are multiplied.
struct ProductFactor {
  /// What tiles hold: `widen` is done when they are read.
  mlir::Value value;
  /// Makes it the operand of the multiplication; null where it is that.
  mlir::Operation *widen = nullptr;
  /// What computes `value`, in order: loads, and what has no effects.
  mlir::SmallVector<mlir::Operation *> slice;
  /// Whether neighbours along the sum are neighbours in memory.
  bool isAlongSum = false;
  /// The load that `value` is, where neighbours lie without a gap: along the
  /// sum, or along the last of the factor's own loops.
  mlir::memref::LoadOp dense;
  /// Axes, the last ones, that they go through: of weights of a convolution all
  /// that are summed up over.
  int64_t denseAxes = 1;
};

/// A nest whose elements are sums of products. Each of its loops says which
/// matrix of a batch, which row of the left or which column of the right factor
/// is meant; the last one is of the columns. A convolution is one, too.
struct Product {
  mlir::SmallVector<mlir::scf::ForOp> nest;
  /// The loops that sum up, outermost first.
  mlir::SmallVector<mlir::scf::ForOp> sums;
  mlir::SmallVector<mlir::scf::ForOp> batch, rows, columns;
  ProductFactor left, right;
  mlir::Operation *multiply = nullptr, *add = nullptr;

  mlir::Type sumType() const;
  /// Makes `left * right` and adds it to `sum`.
  mlir::Value accumulate(mlir::OpBuilder &b, mlir::Value left,
                         mlir::Value right, mlir::Value sum) const;
};

/// The product that the nest of `outer`, a shared loop (DeviceCode.h), is.
std::optional<Product> matchProduct(mlir::scf::ForOp outer);

} // namespace loopc

#endif // LOOPC_CODEGEN_GPU_REGIONS_PRODUCTS_H
