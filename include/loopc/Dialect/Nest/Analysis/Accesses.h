//===- Accesses.h - What an operation reads or writes -----------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_DIALECT_NEST_ANALYSIS_ACCESSES_H
#define LOOPC_DIALECT_NEST_ANALYSIS_ACCESSES_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

namespace loopc {

/// A read or a write: the buffer, and the place in it.
struct Access {
  mlir::Value buffer; ///< null for what does neither
  mlir::ValueRange place;
  mlir::VectorType vector; ///< of the last axes; null for one element
  bool writes = false;
};

/// What `op` reads or writes at a place that its operands name.
Access getAccess(mlir::Operation *op);

} // namespace loopc

#endif // LOOPC_DIALECT_NEST_ANALYSIS_ACCESSES_H
