//===- Accesses.h - What an operation reads or writes -----------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_DIALECT_NEST_ANALYSIS_ACCESSES_H
#define LOOPC_DIALECT_NEST_ANALYSIS_ACCESSES_H

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

namespace loopc {

/// A read or a write: the buffer, and the place in it.
struct Access {
  mlir::Value buffer = {}; ///< null for what does neither
  mlir::ValueRange place = {};
  mlir::VectorType vector = {}; ///< null for one element
  mlir::Value mask = {};        ///< of the vector's elements; null for all
  /// Which axes of the buffer those of `vector` are; null for the last ones.
  mlir::AffineMap permutation = {};
  bool writes = false;
  /// It may read any element; `place` is empty.
  bool isAnywhere = false;
  /// What reads or writes.
  mlir::Operation *op = nullptr;

  /// At most so many elements are accessed along `axis`, from `place` on.
  int64_t getExtent(size_t axis) const;
};

/// What `op` reads or writes at a place that its operands name, or reads of
/// places that a vector holds.
Access getAccess(mlir::Operation *op);

/// The place of `access`, an operand of what reads or writes its buffer, along
/// `axis` becomes `index`.
void setPlace(const Access &access, unsigned axis, mlir::Value index);

} // namespace loopc

#endif // LOOPC_DIALECT_NEST_ANALYSIS_ACCESSES_H
