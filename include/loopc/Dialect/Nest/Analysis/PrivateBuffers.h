//===- PrivateBuffers.h - Is a buffer an iteration's own? -------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_DIALECT_NEST_ANALYSIS_PRIVATEBUFFERS_H
#define LOOPC_DIALECT_NEST_ANALYSIS_PRIVATEBUFFERS_H

#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace loopc {

/// What contradicts a mark: where, and in words that say it of the operation.
struct Obstacle {
  mlir::Operation *op = nullptr;
  std::string why;

  explicit operator bool() const { return op != nullptr; }
};

/// Why iterations of the parallel loops around the uses of `alloc`, which is
/// marked as private (Parallel.h), cannot each have memory of their own: one
/// may read what it has not written; nothing where they can.
Obstacle findPrivateObstacle(mlir::memref::AllocOp alloc);

} // namespace loopc

#endif // LOOPC_DIALECT_NEST_ANALYSIS_PRIVATEBUFFERS_H
